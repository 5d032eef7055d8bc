"""Operators, subscripts and `shape_of` of values that are unknown when the graph is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from shapeinf.formats.nnef.evaluation.emitter import Emitter, Target
from shapeinf.formats.nnef.evaluation.forms import Form
from shapeinf.formats.nnef.evaluation.operation import Operation
from shapeinf.formats.nnef.evaluation.values import AxisOf, BadValue, Symbol, Tensor, Value, literal_shape
from shapeinf.formats.nnef.language.ast import Fragment, Invocation
from shapeinf.formats.nnef.versions import DialectName
from shapeinf.graph import InputContents

ShapeOf = Callable[[Sequence[Operation], str], "Sequence[int | None] | None"]
"""Returns the extents of a tensor after some operations: None for an unknown extent, and for an unknown rank."""

_DIMENSION_OPERATORS = {"+": "+", "-": "-", "*": "*", "/": "//"}


def apply_operator(emitter: Emitter, op: str, operands: Sequence[Value], target: Target, base: str, at: int) -> Value:
    """The result of an operator with an unknown operand: an operation of the graph, or an expression of extents."""
    if op in _DIMENSION_OPERATORS and all(type(operand) in (Symbol, int) for operand in operands):
        return _symbolic(_DIMENSION_OPERATORS[op], operands)
    if op == "*" and isinstance(operands[0], (tuple, str)) and emitter.dialect != "tract":
        raise BadValue("the number of repetitions must be known when the graph is built", 1, "N502")
    return emitter.add_operator(op, operands, target, base, at)


def _symbolic(op: str, operands: Sequence[Value]) -> Symbol:
    texts = [operand.text if isinstance(operand, Symbol) else str(operand) for operand in operands]
    if len(texts) == 1:
        texts.insert(0, "0")
    wrapped = [text if text.isidentifier() or text.isdigit() else f"({text})" for text in texts]
    expression = f" {op} ".join(wrapped)
    if len(expression) > 1000:
        raise BadValue("the expression of an extent is too long", code="N902")
    return Symbol(expression)


def part_of_tensor(
    emitter: Emitter,
    value: Tensor,
    begin: Value,
    ends: tuple[Value] | None,
    target: Target,
    base: str,
    at: int,
) -> Tensor:
    """An item (if `ends` is None) or a range of a tensor along its first axis, as tract allows."""
    last: Value
    if ends is not None:
        last = ends[0]
    elif isinstance(begin, int):
        last = begin + 1
    else:
        last = emitter.add_operator("+", (begin, 1), None, base, at)
    inputs: list[Value | None] = [emitter.operand(value, at)]
    attributes: dict[str, object] = {"axes": (0,), "stride": (1,)}
    for name, bound in (("begin", begin), ("end", last)):
        if isinstance(bound, int):
            attributes[name] = (bound,)
        else:
            inputs.append(emitter.operand(bound, at))
            attributes[name] = (InputContents(len(inputs) - 1),)
    part = emitter.add_simple("slice", tuple(inputs), attributes, value.of, target if ends else None, base, at)
    return part if ends else emitter.add_simple("squeeze", (part,), {"axes": (0,)}, value.of, target, base, at)


def extents_of(value: Value, emitter: Emitter, shape_of: ShapeOf, dialect: DialectName) -> tuple[Value, ...]:
    """The result of `shape_of`: integers for known extents, `AxisOf` for the others."""
    if not isinstance(value, Tensor):
        shape: list[Value] = []  # a literal has no axes, unless it stands for a tensor (1.0.1)
    elif value.literal is not None:
        shape = list(literal_shape(value.literal))
    else:
        extents = shape_of(emitter.operations, value.name)
        if extents is None:
            raise BadValue(f"the rank of {value.name} is not known here, so shape_of has no length", 0, "N502")
        shape = [AxisOf(value.name, axis) if extent is None else extent for axis, extent in enumerate(extents)]
    if dialect == "provisional":
        shape += [1] * (2 - len(shape))
    return tuple(shape)


def array_length(
    form: Form, values: Sequence[Value], target: Target, emitter: Emitter, shape_of: ShapeOf
) -> int | None:
    """The number of tensors in a resulting array, from the arguments; None if only the target determines it."""
    op = form.fragment.name
    if op not in ("copy_n", "split", "unstack"):
        return None
    arguments: dict[str, Value] = {slot.name: value for slot, value in zip(form.slots, values, strict=True)}
    if op == "copy_n":
        times = arguments.get("times")
        return times if isinstance(times, int) else None
    if op == "split":
        ratios = arguments.get("ratios")
        return len(ratios) if isinstance(ratios, tuple) else None
    value, axis = arguments.get("value"), arguments.get("axis")
    if target is not None and not isinstance(target, str):
        return None
    if not isinstance(value, Tensor) or not value.name or not isinstance(axis, int):
        return None
    extents = shape_of(emitter.operations, value.name)
    return extents[axis] if extents is not None and 0 <= axis < len(extents) else None


def invoked_operations(fragment: Fragment) -> Iterator[str]:
    """The operations that the body of a fragment invokes."""
    pending: list[Any] = list(fragment.body or ())
    while pending:
        node = pending.pop()
        if isinstance(node, Invocation):
            yield node.name
        if isinstance(node, tuple):
            pending += node
        elif attrs.has(type(node)):
            pending += [getattr(node, field.name) for field in attrs.fields(type(node))]
