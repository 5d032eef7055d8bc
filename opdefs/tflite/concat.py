"""Concatenation, stacking, splitting and repetition."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.parts import split_axis
from opdefs.rules.repetition import concat as concat_tensors
from opdefs.rules.repetition import tile as tile_axes
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import axis_of, merge_shapes, scalar_value
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tflite("CONCATENATION")
def concatenation(c: TensorFlowContext, *values: Value, axis: int = 0) -> PartialTensor:
    """[*P, n, *Q], [*P, m, *Q]... -> [*P, n + m + ..., *Q]."""
    return _concatenate(c, values, axis)


@tflite("STABLEHLO_CONCATENATE")
def stablehlo_concatenate(c: TensorFlowContext, *values: Value, dimension: int = 0) -> PartialTensor:
    """[*P, n, *Q], [*P, m, *Q]... -> [*P, n + m + ..., *Q]."""
    return _concatenate(c, values, dimension)


def _concatenate(c: TensorFlowContext, values: tuple[PartialTensor, ...], axis: int) -> PartialTensor:
    if not values:
        c.fail("takes at least 1 input, got 0")
    return concat_tensors(c, values, axis_of(c, axis, len(values[0].shape)))


@tflite("PACK")
def pack(c: TensorFlowContext, *values: Value, values_count: int = 0, axis: int = 0) -> PartialTensor:
    """[*P, *Q]... -> [*P, n, *Q]: n inputs stacked along a new axis."""
    if len(values) != values_count:
        c.fail("values_count must be the number of inputs", values_count, len(values))
    if not values:
        c.fail("takes at least 1 input, got 0")
    shape = merge_shapes(c, [value.shape for value in values], "the inputs must have equal shapes")
    at = axis_of(c, axis, len(shape) + 1)
    unit = Shape((*shape[:at], 1, *shape[at:]))
    units = [reshape_elements(PartialTensor(v.dtype, shape, None) if v.contents is None else v, unit) for v in values]
    return concat_tensors(c, units, at)


@tflite("UNPACK")
def unpack(c: TensorFlowContext, value: Value, *, num: int = 0, axis: int = 0) -> tuple[PartialTensor, ...]:
    """[*P, num, *Q] -> [*P, *Q]...: the slices along an axis."""
    at = axis_of(c, axis, len(value.shape))
    for size in value.shape:
        if c.prove_le(1, size) is not True:
            c.at_least(size, 1, "the input must have elements")
    c.merge(value.shape[at], num, "num must be the size of the axis")
    shape = Shape((*value.shape[:at], *value.shape[at + 1 :]))
    return tuple(reshape_elements(part, shape) for part in split_axis(value, at, [1] * min(num, c.num_outputs)))


@tflite("SPLIT")
def split(c: TensorFlowContext, axis: Value, value: Value, *, num_splits: int = 0) -> tuple[PartialTensor, ...]:
    """Axis [], [*P, n, *Q] -> [*P, n / num_splits, *Q]..."""
    if num_splits != c.num_outputs or num_splits < 1:
        c.fail("num_splits must be the number of outputs", num_splits, c.num_outputs)
    at = scalar_value(c, axis, "axis")
    if not isinstance(at, int):
        return _any_parts(c, value)
    at = axis_of(c, at, len(value.shape))
    c.divisible(value.shape[at], num_splits, "the axis must be a multiple of num_splits")
    return split_axis(value, at, [value.shape[at] // num_splits] * num_splits)


@tflite("SPLIT_V")
def split_v(
    c: TensorFlowContext, value: Value, sizes: Value, axis: Value, *, num_splits: int = 0
) -> tuple[PartialTensor, ...]:
    """[*P, n, *Q], sizes [S], axis [] -> [*P, size, *Q]...; one of the sizes may be -1: the rest of the axis."""
    c.merge(c.numel(sizes.shape), num_splits, "num_splits must be the number of sizes")
    if num_splits != c.num_outputs:
        c.fail("num_splits must be the number of outputs", num_splits, c.num_outputs)
    at, wanted = scalar_value(c, axis, "axis"), known_dims(sizes)
    if not isinstance(at, int):
        return _any_parts(c, value)
    at = axis_of(c, at, len(value.shape))
    return split_axis(value, at, _part_sizes(c, value.shape[at], wanted or (None,) * num_splits))


def _any_parts(c: TensorFlowContext, value: PartialTensor) -> tuple[PartialTensor, ...]:
    """Parts along an unknown axis: each at most as large as the value along each."""
    return tuple(
        PartialTensor(
            value.dtype, Shape(c.fresh_at_most(d, f"split{i}.{axis}") for axis, d in enumerate(value.shape)), None
        )
        for i in range(c.num_outputs)
    )


def _part_sizes(c: TensorFlowContext, total: DimSize, wanted: tuple[DimSize | None, ...]) -> list[DimSize]:
    """The sizes of the parts of an axis: -1 is the rest of it, None an unknown. Requires that they add up to it."""
    rests = [i for i, size in enumerate(wanted) if size == -1]
    if len(rests) > 1:
        c.fail("at most one size may be -1", wanted)
    unknown = [i for i, size in enumerate(wanted) if size is None]
    known: DimSize = sum(size for i, size in enumerate(wanted) if size is not None and i not in rests)
    message = "the sizes of the parts must add up to the axis"
    if not rests and not unknown:
        c.merge(known, total, message)
    else:
        c.at_most(known, total, message)
    free = rests + unknown
    parts: list[DimSize] = []
    for i, size in enumerate(wanted):
        if i in free or size is None:
            size = total - known if len(free) == 1 else c.fresh_at_most(total - known, f"split.{i}")
        elif c.prove_le(0, size) is not True:
            c.at_least(size, 0, "a size must be at least 0")
        parts.append(c.store.canon(size))
    return parts


@tflite("TILE")
def tile(c: TensorFlowContext, x: Value, multiples: Value) -> PartialTensor:
    """[*S], multiples [R] -> [*S * multiples]."""
    rank = len(x.shape)
    c.merge(c.require_rank(multiples.shape, 1, "the multipliers")[0], rank, "each axis must have one multiplier")
    return tile_axes(c, x, known_dims(multiples) or (None,) * rank)
