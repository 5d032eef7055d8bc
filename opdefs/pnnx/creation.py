"""Tensors of requested sizes: constants, random numbers, ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence

from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import read_type
from opdefs.pnnx.promotion import DEFAULT_FLOAT, default_type
from opdefs.rules.contents.constants import constant_tensor, number_of
from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.elements import INDEX_TYPES, MAX_RANK, is_float, to_dim
from opdefs.rules.contents.float_formats import FLOAT64
from opdefs.rules.contents.floats import FloatArithmetic
from opdefs.rules.contents.progressions import arithmetic_range
from opdefs.rules.numbers import read_dims
from opdefs.rules.operands import require_count
from opdefs.rules.ranges import require_order, step_sign
from opdefs.rules.reshaping import shape_of_sizes
from shapeinf.expr import DimSize
from shapeinf.lattice import SCALAR, Element, PartialTensor, Shape
from shapeinf.lattice.dtypes import NUMBER_TYPES
from shapeinf.ops import InferenceContext, Value


def read_shape(c: InferenceContext, size: object) -> Shape:
    """The shape with the sizes in the argument `size`."""
    sizes = read_dims(c, size, "size")
    if len(sizes) > MAX_RANK:
        c.fail(f"size must have at most {MAX_RANK} items", len(sizes))
    return shape_of_sizes(c, sizes, "size")


@own_types("torch.zeros", "torch.ones", "torch.empty", "torch.randn")
def create(c: InferenceContext, *, size: object, dtype: str | None = None) -> PartialTensor:
    """The sizes in `size`; the contents of zeros and ones are known."""
    return _create(c, read_type(c, dtype) or DEFAULT_FLOAT, read_shape(c, size))


@pnnx("torch.zeros_like", "torch.ones_like", "torch.empty_like", "torch.randn_like")
def create_like(
    c: InferenceContext, input: Shape, *, dtype: str | None = None, memory_format: object = None
) -> PartialTensor:
    """[*S] -> [*S] in the type `dtype`, by default that of the input."""
    return _create(c, read_type(c, dtype) or c.dtype(0), input)


@own_types("Tensor.new_zeros", "Tensor.new_ones", "Tensor.new_empty")
def create_new(c: InferenceContext, input: Shape, *, size: object, dtype: str | None = None) -> PartialTensor:
    """The sizes in `size`, in the type `dtype`, by default that of the input."""
    return _create(c, read_type(c, dtype) or c.dtype(0), read_shape(c, size))


_NUMBERS = {"zeros": 0, "ones": 1}


def _create(c: InferenceContext, dtype: str | None, shape: Shape) -> PartialTensor:
    """A tensor of zeros or ones, if the name of the operator contains that, else of unknown contents."""
    number = next((n for name, n in _NUMBERS.items() if name in function_name(c.op_def.name)), None)
    return constant_tensor(dtype, shape, None if number is None else number_of(dtype, number))


@own_types("torch.full")
def full(
    c: InferenceContext,
    fill_value: Value | None = None,
    *,
    size: object,
    fill_value_: object = None,
    dtype: str | None = None,
) -> PartialTensor:
    """The sizes in `size`, in the type `dtype`, by default that of the value."""
    value = _number(c, fill_value, fill_value_, "fill_value")
    return _fill(c, value, read_type(c, dtype) or default_type(value.dtype), read_shape(c, size))


@own_types("torch.full_like")
def full_like(
    c: InferenceContext,
    input: Shape,
    fill_value: Value | None = None,
    *,
    fill_value_: object = None,
    dtype: str | None = None,
    memory_format: object = None,
) -> PartialTensor:
    """[*S] -> [*S] in the type `dtype`, by default that of the input."""
    return _fill(c, _number(c, fill_value, fill_value_, "fill_value"), read_type(c, dtype) or c.dtype(0), input)


@pnnx("Tensor.fill", in_place=(0,))
def fill(c: InferenceContext, input: Shape, value: Value | None = None, *, value_: object = None) -> PartialTensor:
    """[*S] -> [*S]."""
    return _fill(c, _number(c, value, value_, "value"), c.dtype(0), input)


def _fill(c: InferenceContext, value: PartialTensor, dtype: str | None, shape: Shape) -> PartialTensor:
    """The tensor with this value everywhere; its contents are unknown for a value that is not finite."""
    if value.elements is None or isinstance(value.elements[0], complex) or not _is_finite(value.elements[0]):
        return PartialTensor(dtype, shape, None)
    converted = convert(c, value, dtype)
    return constant_tensor(dtype, shape, None if converted.elements is None else converted.elements[0])


def _is_finite(element: Element) -> bool:
    return not isinstance(element, float) or math.isfinite(element)


def _number(c: InferenceContext, computed: PartialTensor | None, written: object, name: str) -> PartialTensor:
    """A number that is an input or a literal, as a scalar tensor of its Python type."""
    if computed is not None:
        require_count(c, computed.shape, 1, f"{name} must be a number")
        return PartialTensor(computed.dtype, SCALAR, computed.elements)
    if isinstance(written, str):
        written = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}.get(written, written)
    if not isinstance(written, (bool, int, float, complex)):
        c.fail(f"{name} must be a number", written)
    return PartialTensor(NUMBER_TYPES[type(written)], SCALAR, (written,))


@pnnx("torch.normal")
def normal(
    c: InferenceContext, input: Shape, *, mean: object = 0.0, std: object = 1.0, generator: object = None
) -> Shape:
    """[*S] -> [*S]."""
    return input


@own_types("torch.arange")
def arange(
    c: InferenceContext,
    start: Value | None = None,
    end: Value | None = None,
    step: Value | None = None,
    *,
    start_: object = 0,
    end_: object = None,
    step_: object = 1,
    dtype: str | None = None,
) -> PartialTensor:
    """`ceil((end - start) / step)` numbers: integers, or floats if one of the three is a float."""
    arguments = ((start, start_, "start"), (end, end_, "end"), (step, step_, "step"))
    numbers = [_number(c, *argument) for argument in arguments]
    fractions = any(is_float(number.dtype) for number in numbers)
    result = read_type(c, dtype) or (DEFAULT_FLOAT if fractions else "int64")
    if fractions and result == "int64":
        numbers = [convert(c, number, "int64") for number in numbers]
        fractions = False
    _require_direction(c, numbers)
    if fractions or any(number.dtype not in INDEX_TYPES for number in numbers):
        return PartialTensor(result, Shape((_float_count(c, numbers),)), None)
    return convert(c, arithmetic_range(c, *numbers), result)


def _require_direction(c: InferenceContext, numbers: Sequence[PartialTensor]) -> None:
    """Require a step that is not 0 and whose sign leads from the start to the end."""
    first, last, step = (None if number.elements is None else number.elements[0] for number in numbers)
    direction = step_sign(c, step)
    if direction == 0:
        c.fail("step must not be 0")
    if direction is not None:
        require_order(c, first, last, direction, "step must lead from start to end", first, last, step)


def _float_count(c: InferenceContext, numbers: Sequence[PartialTensor]) -> DimSize:
    """The number of steps, which torch computes in float64."""
    first, last, step = (None if number.elements is None else number.elements[0] for number in numbers)
    if all(isinstance(number, (int, float)) for number in (first, last, step)):
        quotient = (float(last) - float(first)) / float(step)  # type: ignore[arg-type]
        return (
            math.ceil(quotient)
            if math.isfinite(quotient)
            else c.fail("the length of the range must be finite", first, last, step)
        )
    floats = FloatArithmetic(c, FLOAT64)
    count = to_dim(floats.ceil(floats.divide(floats.subtract(last, first), step)))
    return c.fresh("range") if count is None or c.prove_le(0, count) is not True else count
