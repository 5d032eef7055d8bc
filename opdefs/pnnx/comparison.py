"""Comparisons, connectives, limits, and selection by a condition."""

from __future__ import annotations

from collections.abc import Callable

from opdefs.pnnx.dialect import own_types
from opdefs.pnnx.operands import (
    TensorOrNumber,
    as_tensor,
    convert_operands,
    require_kind,
    require_operand,
    result_type,
    tensor_or_number,
)
from opdefs.rules.contents.arithmetic import extreme, limit_elements, numpy_broadcast
from opdefs.rules.contents.conditions import select_by_condition
from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.elements import INDEX_TYPES, known_dims, logical_not, logical_or, map_elements
from opdefs.rules.contents.logic import (
    EQUAL,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    NOT_EQUAL,
    Comparison,
    compare,
    conjunction_rule,
    connective_rule,
    logical_xor,
)
from opdefs.rules.contents.truth import nonzero_flags, nonzero_positions
from opdefs.rules.unknowns import nonzero_count
from shapeinf.lattice import ChosenIndices, PartialTensor, SequenceType, Shape, TensorType
from shapeinf.ops import InferenceContext, Operand, Value

COMPARISONS = {
    "eq": EQUAL,
    "ne": NOT_EQUAL,
    "gt": GREATER,
    "ge": GREATER_EQUAL,
    "lt": LESS,
    "le": LESS_EQUAL,
}


def _comparison_rule(comparison: Comparison) -> Callable[..., PartialTensor]:
    def rule(
        c: InferenceContext, input: Operand, other: Operand | None = None, *, other_: object = None
    ) -> PartialTensor:
        """Numpy broadcasting of two tensors, or of a tensor and a number; booleans."""
        second = as_tensor(require_operand(c, other, other_, "other"))
        if comparison not in (EQUAL, NOT_EQUAL):
            for dtype in (input.dtype, second.dtype):
                require_kind(c, dtype, "complex numbers have no order", "bool", "integer", "float")
        return compare(c, c.broadcast(input.shape, second.shape), comparison, input, second)

    return rule


for _name, _comparison in COMPARISONS.items():
    own_types(f"torch.{_name}", f"aten::{_name}")(_comparison_rule(_comparison))


def _connective_of_numbers(rule: Callable[..., object]) -> Callable[..., object]:
    def convert_and_connect(c: InferenceContext, input: Value, other: Value) -> object:
        """Numpy broadcasting; numbers other than 0 are true."""
        return rule(c, convert(c, input, "bool"), convert(c, other, "bool"))

    return convert_and_connect


own_types("torch.logical_and", "aten::logical_and")(_connective_of_numbers(conjunction_rule(numpy_broadcast)))
own_types("torch.logical_or", "aten::logical_or")(_connective_of_numbers(connective_rule(numpy_broadcast, logical_or)))
own_types("torch.logical_xor", "aten::logical_xor")(
    _connective_of_numbers(connective_rule(numpy_broadcast, logical_xor))
)


@own_types("torch.logical_not", "aten::logical_not")
def negation(c: InferenceContext, input: Value) -> PartialTensor:
    """[*S] -> [*S] booleans; 0 becomes true."""
    return map_elements("bool", input.shape, logical_not, convert(c, input, "bool"))


def extreme_of_pairs(c: InferenceContext, name: str, input: PartialTensor, other: PartialTensor) -> TensorType:
    """The larger or smaller (`Max`, `Min`) of the elements of two tensors at each position, in the promoted type."""
    dtype = result_type(input, other)
    require_kind(c, dtype, "complex numbers have no order", "bool", "integer", "float")
    shape = c.broadcast(input.shape, other.shape)
    return extreme(c, name, shape, *convert_operands(c, dtype, input, other)).with_type(dtype, shape)


@own_types("torch.clamp", "aten::clamp")
def clamp(
    c: InferenceContext,
    input: Operand,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    min_: object = None,
    max_: object = None,
) -> PartialTensor:
    """Numpy broadcasting of the input and of limits that are tensors, in the promoted type of all."""
    low, high = tensor_or_number(c, min, min_, "min"), tensor_or_number(c, max, max_, "max")
    limits = [limit for limit in (low, high) if limit is not None]
    if not limits:
        c.fail("one of the arguments min and max is required")
    dtype = result_type(input, *limits)
    require_kind(c, dtype, "complex numbers have no order", "bool", "integer", "float")
    x = convert_operands(c, dtype, input)[0]
    bounds = [None if limit is None else convert_operands(c, dtype, limit)[0] for limit in (low, high)]
    shape = c.broadcast(input.shape, *(as_tensor(limit).shape for limit in limits))
    if any(bound is not None and bound.shape.dims != () for bound in bounds):
        return PartialTensor(dtype, shape, None)
    return _limited_indices(c, limit_elements(c, x, *bounds), *bounds)


def _limited_indices(
    c: InferenceContext, x: PartialTensor, low: PartialTensor | None, high: PartialTensor | None
) -> PartialTensor:
    """Integers of unknown contents between 0 or more and a known limit: indices that data chooses."""
    (least,), (most,) = known_dims(low) or (None,), known_dims(high) or (None,)
    if x.contents is not None or x.dtype not in INDEX_TYPES or least is None or most is None:
        return x
    is_index = c.prove_le(0, least) is True and c.prove_le(0, most) is True
    return ChosenIndices(x.dtype, x.shape, most + 1) if is_index else x


@own_types("torch.where", "aten::where")
def where(
    c: InferenceContext,
    condition: Operand,
    input: Operand | None = None,
    other: Operand | None = None,
    *,
    input_: object = None,
    other_: object = None,
) -> PartialTensor | SequenceType:
    """Broadcasting of all three, in the promoted type of both choices; for a condition alone, its true positions."""
    first, second = tensor_or_number(c, input, input_, "input"), tensor_or_number(c, other, other_, "other")
    if first is None and second is None:
        return positions(c, condition)
    if first is None or second is None:
        c.fail("the arguments input and other must be present together")
    require_boolean(c, condition.dtype)
    return _select(c, condition, first, second)


def require_boolean(c: InferenceContext, dtype: str | None) -> None:
    """Require a condition of booleans; torch still takes those of uint8."""
    if dtype not in (None, "bool", "uint8"):
        c.fail("the condition must have element type bool", dtype)


def _select(
    c: InferenceContext, condition: PartialTensor, first: TensorOrNumber, second: TensorOrNumber
) -> PartialTensor:
    dtype = result_type(first, second)
    choices = convert_operands(c, dtype, first, second)
    shape = c.broadcast(condition.shape, *(choice.shape for choice in choices))
    if dtype is None:
        return PartialTensor(None, shape, None)
    return select_by_condition(c, dtype, shape, convert(c, condition, "bool"), *choices)


def positions(c: InferenceContext, x: PartialTensor) -> SequenceType:
    """The indices of the elements that are not 0: one vector for each axis, all of the same length."""
    if x.shape.dims is None:
        return SequenceType(TensorType("int64", Shape((c.fresh("count"),))), None)
    count = max(len(x.shape), 1)
    known = nonzero_positions(x, nonzero_flags(c, x)) if x.shape.dims else None
    if known is not None and known.elements is not None:
        length = Shape((len(known.elements) // count,))
        columns = [PartialTensor("int64", length, known.elements[axis::count]) for axis in range(count)]
        return SequenceType(TensorType("int64", length), count, tuple(columns))
    vector = TensorType("int64", Shape((nonzero_count(c, x),)))
    return SequenceType(vector, count, (vector,) * count)
