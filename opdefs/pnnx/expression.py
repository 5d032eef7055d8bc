"""`pnnx.Expression`: arithmetic on tensors, on sizes and on numbers, written as one expression."""

from __future__ import annotations

import re

from opdefs.pnnx.dialect import own_types
from opdefs.pnnx.expression_contents import contents
from opdefs.pnnx.expression_types import Form, Operand, common_form, result_type
from opdefs.pnnx.promotion import TYPES_OF_NUMBERS
from opdefs.rules.sequences import tracked_items
from shapeinf.errors import ModelError, ShapeError
from shapeinf.formats.pnnx.expression import Argument, Call, Expression, ExpressionError, ListOf, Literal, parse, walk
from shapeinf.lattice import OptionalType, PartialTensor, SequenceType, Shape, Type
from shapeinf.lattice.dtypes import NUMBER_TYPES
from shapeinf.ops import InferenceContext, Value

_TEXT = re.compile(r"[A-Za-z_]+", re.ASCII)
"""An argument that is a text, such as `indexing` of `aten::meshgrid`: pnnx writes an expression for it."""

Result = Operand | SequenceType
"""The value of a subexpression; a list of tensors or lists is a sequence."""

NOTHING = OptionalType(PartialTensor(None, Shape.unknown(), None))
"""The value of `None`, as in a list of indices for an axis without one."""


@own_types("pnnx.Expression")
def expression(c: InferenceContext, *inputs: Value | None, expr: str) -> Type:
    """The value of an expression over the inputs @0, @1, ..., by torch's broadcasting and promotion, Python's integers.

    `size(@0,1)` and what is computed from it are numbers, and `[...]` of numbers is a vector of int64.
    """
    result = _evaluate(c, _parse(c, expr, is_constant=not inputs), inputs)
    if result is NOTHING:
        raise c.unknowable("the expression is None")
    return result if isinstance(result, SequenceType) else result.value


def _parse(c: InferenceContext, text: str, *, is_constant: bool) -> Expression:
    """The tree. Raises ShapeError with the position for a malformed expression, NotKnown for a text."""
    try:
        return parse(text)
    except ExpressionError as error:
        if is_constant and _TEXT.fullmatch(text):
            raise c.unknowable("the expression is a text") from None
        message = f"the expression is malformed: {error}"
        raise ShapeError(message, operands=(repr(error.excerpt()[0]),), help=_repair(error)) from None
    except ModelError as error:
        raise ShapeError(str(error)) from None


def _repair(error: ExpressionError) -> str | None:
    """A help text for what pnnx writes for `torch.add(x, y, alpha=2)` without optimization; None otherwise."""
    return "convert with optlevel=2: pnnx writes empty arguments at optlevel=1" if ",," in error.text else None


def _evaluate(c: InferenceContext, tree: Expression, inputs: tuple[PartialTensor | None, ...]) -> Result:
    """The value of a tree, computed node by node in postorder."""
    stack: list[Result] = []
    for node in walk(tree):
        count = len(node.items)
        items = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        if isinstance(node, Call):
            stack.append(_call(c, node, items))
        elif isinstance(node, ListOf):
            stack.append(_list_of(items))
        elif isinstance(node, Argument):
            stack.append(_input(c, node.index, inputs))
        else:
            assert isinstance(node, Literal)
            stack.append(NOTHING if node.value is None else _number(node.value))
    return stack.pop()


def _input(c: InferenceContext, index: int, inputs: tuple[PartialTensor | None, ...]) -> Operand:
    if index >= len(inputs):
        c.fail(f"the expression refers to @{index}, but the node has {len(inputs)} inputs")
    value = inputs[index]
    return Operand.from_input(PartialTensor(None, Shape.unknown(), None) if value is None else value)


def _number(value: bool | int | float | complex) -> Operand:
    """A literal number."""
    dtype = NUMBER_TYPES[type(value)]
    known = isinstance(value, (int, float)) and (dtype != "int64" or -(2**63) <= value.real < 2**63)
    return Operand(PartialTensor(dtype, Shape(()), (value,) if known else None), Form.NUMBER)


def _call(c: InferenceContext, node: Call, items: list[Result]) -> Operand:
    operands = []
    for item in items:
        if isinstance(item, SequenceType) or _is_list(item):
            c.fail(f"{node.function} takes tensors and numbers, not {'None' if item is NOTHING else 'a list'}")
        operands.append(item)
    if node.function == "size":
        return _size(c, node, operands)
    shape = _common_shape(c, node.function, operands)
    dtype = result_type(c, node.function, tuple(operands))
    form = Form.NUMBER if node.function == "int" else common_form(*operands)
    return Operand(contents(c, node.function, dtype, shape, tuple(operands)), form)


def _is_list(item: Operand) -> bool:
    """Whether a value is a list of numbers: no number has axes."""
    return item.form is Form.NUMBER and item.value.shape.dims != ()


def _common_shape(c: InferenceContext, function: str, operands: list[Operand]) -> Shape:
    """The broadcast of all operands; a scalar for `int`, whose operand has one element."""
    if function == "int":
        c.same_count(c.numel(operands[0].value.shape), 1, "int takes a number or a tensor of one element")
        return Shape(())
    return c.broadcast(*(operand.value.shape for operand in operands))


def _size(c: InferenceContext, node: Call, operands: list[Operand]) -> Operand:
    """`size(x)` is the list of all sizes, `size(x,axis)` that of an axis; a negative axis counts from the end."""
    tensor = operands[0]
    if tensor.form is Form.NUMBER:
        c.fail("size takes a tensor, not a number")
    dims = tensor.value.shape.dims
    if len(operands) == 1:
        length = c.fresh("rank") if dims is None else len(dims)
        return Operand(PartialTensor("int64", Shape((length,)), dims), Form.NUMBER)
    axis = (operands[1].value.elements or (None,))[0]
    if type(axis) is not int:
        if operands[1].dtype not in (None, "int64"):
            c.fail("the axis of size must be an integer", operands[1].dtype)
        return Operand(PartialTensor("int64", Shape(()), (c.fresh("size"),)), Form.NUMBER)
    if dims is None:
        return Operand(PartialTensor("int64", Shape(()), (c.fresh(f"size{axis}"),)), Form.NUMBER)
    if not -len(dims) <= axis < len(dims):
        c.fail(_out_of_range(axis, len(dims)), tensor.value.shape)
    return Operand(PartialTensor("int64", Shape(()), (dims[axis],)), Form.NUMBER)


def _out_of_range(axis: int, rank: int) -> str:
    if not rank:
        return f"size has no axis {axis} of a tensor of rank 0"
    return f"the axis of size must lie in {-rank}..{rank - 1}, not be {axis}"


def _list_of(items: list[Result]) -> Result:
    """A list: a vector of numbers, or a sequence of tensors and lists."""
    operands = [item for item in items if isinstance(item, Operand)]
    if len(operands) < len(items) or any(item.value.shape.dims != () for item in operands):
        types = tuple(item.value if isinstance(item, Operand) else item for item in items)
        return SequenceType(PartialTensor(None, Shape.unknown(), None), len(items), items=tracked_items(types))
    elements = [(item.value.elements or (None,))[0] for item in operands]
    return Operand(PartialTensor(_type_of_list(operands), Shape((len(items),)), elements), Form.NUMBER)


def _type_of_list(operands: list[Operand]) -> str | None:
    """The element type of a list of numbers: the widest; None if items differ and not all have types of numbers."""
    types = {item.dtype for item in operands}
    if not types <= set(TYPES_OF_NUMBERS):
        return types.pop() if len(types) == 1 else None
    widest = max((TYPES_OF_NUMBERS.index(str(dtype)) for dtype in types), default=1)
    return TYPES_OF_NUMBERS[widest]
