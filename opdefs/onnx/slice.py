"""Parts of tensors: slices and splits."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import known_dims, known_ints
from opdefs.rules.operands import require_vector
from opdefs.rules.parts import complete_sizes, slice_axes, split_axis
from shapeinf.expr import DimSize, ceildiv
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Ints, Value


@onnx("Slice", since=10)
def slice_(
    c: InferenceContext, x: Value, starts: Value, ends: Value, axes: Value | None = None, steps: Value | None = None
) -> PartialTensor:
    """Slices as in Python; starts and ends outside an axis are clamped."""
    (length,) = c.require_rank(starts.shape, 1, "starts")
    for values, name in ((ends, "ends"), (axes, "axes"), (steps, "steps")):
        if values is not None and values.shape.dims != starts.shape.dims:
            require_vector(c, values.shape, length, f"{name} must be as long as starts")
    count = length if isinstance(length, int) else c.concrete(length)
    if count is not None and count > len(x.shape):
        c.fail("starts must have at most one item per axis of the input", f"{count} starts", x.shape)
    named = known_ints(axes) if axes is not None else None if count is None else tuple(range(count))
    if named is None or count is None:
        return _slice_unknown_axes(c, x)
    firsts = known_dims(starts) or (None,) * count
    lasts = known_dims(ends) or (None,) * count
    strides = known_ints(steps) if steps is not None else (1,) * count
    return _slice(c, x, named, firsts, lasts, strides)


@onnx("Slice")
def slice_by_attribute(
    c: InferenceContext, x: Value, *, starts: Ints, ends: Ints, axes: Ints | None = None
) -> PartialTensor:
    """Before opset 10 starts, ends and axes are attributes."""
    named = tuple(range(len(starts))) if axes is None else axes
    return _slice(c, x, named, starts, ends, (1,) * len(starts))


def _slice_unknown_axes(c: InferenceContext, x: PartialTensor) -> PartialTensor:
    """The input sliced along unknown axes: the rank is unchanged, and no axis grows."""
    dims = (c.fresh_at_most(d, f"slice.{i}") for i, d in enumerate(x.shape))
    return PartialTensor(x.dtype, Shape(dims), None)


def _slice(
    c: InferenceContext,
    x: PartialTensor,
    axes: Ints,
    starts: Sequence[DimSize | None],
    ends: Sequence[DimSize | None],
    steps: Ints | None,
) -> PartialTensor:
    if not len(axes) == len(starts) == len(ends) == len(axes if steps is None else steps):
        c.fail("starts, ends, axes and steps must have the same length")
    if steps is not None and 0 in steps:
        c.fail("the items of steps must not be 0")
    return slice_axes(c, x, c.axes(axes, len(x.shape)), starts, ends, (None,) * len(axes) if steps is None else steps)


@onnx("Split", since=13)
def split(
    c: InferenceContext, x: Value, split: Value | None = None, *, axis: int = 0, num_outputs: int = 0
) -> tuple[PartialTensor, ...]:
    """[*A, d, *B] -> parts [*A, p, *B] of the sizes in `split`, else of equal size with a smaller last one."""
    at = c.axis(axis, len(x.shape))
    if num_outputs and num_outputs != c.num_outputs:
        c.fail("num_outputs must equal the number of outputs of the node", num_outputs, c.num_outputs)
    count = c.num_outputs
    if split is None:
        return _split(c, x, at, _equal_parts(c, x.shape[at], count, num_outputs > 0))
    require_vector(c, split.shape, c.num_outputs, "split must have one item per output")
    sizes = known_dims(split) or (None,) * c.num_outputs
    return _split(c, x, at, sizes)


@onnx("Split")
def split_by_attribute(
    c: InferenceContext, x: Value, sizes: Shape | None = None, *, axis: int = 0, split: Ints | None = None
) -> tuple[PartialTensor, ...]:
    """Before opset 13 the sizes are an attribute."""
    at = c.axis(axis, len(x.shape))
    return _split(c, x, at, split or _equal_parts(c, x.shape[at], c.num_outputs, False))


def _equal_parts(c: InferenceContext, size: DimSize, count: int, uneven: bool) -> list[DimSize]:
    if not uneven:
        part = size // count
        c.merge(part * count, size, f"the axis must be divisible by {count}, the number of outputs")
        return [part] * count
    part = ceildiv(size, count)
    last = size - part * (count - 1)
    c.at_least(last, 0, f"{count} parts, all but the last of equal size, must not exceed the axis")
    return [part] * (count - 1) + [last]


def _split(
    c: InferenceContext, x: PartialTensor, axis: int, sizes: Sequence[DimSize | None]
) -> tuple[PartialTensor, ...]:
    if len(sizes) != c.num_outputs:
        c.fail(f"split must have {c.num_outputs} items, one per output", tuple(sizes))
    return split_axis(x, axis, complete_sizes(c, x.shape[axis], sizes))
