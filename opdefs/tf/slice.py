"""Slices with begins and sizes, and strided slices with TensorFlow's masks."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.rules.contents.elements import broadcast_list, known_dims, known_ints, move_elements
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.contents.updates import replace_element, update_elements
from opdefs.rules.operands import require_broadcast_to
from opdefs.rules.parts import HUGE, slice_axes
from opdefs.rules.reshaping import shape_from_sizes
from opdefs.tf.common import warn
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.shapes import variable
from shapeinf.errors import ShapeError
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import Value


@tf("Slice")
def slice_(c: TensorFlowContext, x: Value, begin: Value, size: Value) -> PartialTensor:
    """[*S], begin [R], size [R] -> [*size]; a size of -1 extends to the end of the axis."""
    count = c.concrete(c.merge(c.with_rank(begin.shape, 1)[0], c.with_rank(size.shape, 1)[0]))
    shape = x.shape
    if count is None:
        count = len(shape)
    elif shape.dims is None or len(shape) != count:
        shape = c.with_rank(shape, count)
    starts = known_dims(begin) or (None,) * count
    sizes = known_dims(size) or (None,) * count
    along = zip(shape, starts, sizes, strict=True)
    dims = [_slice_dim(c, d, start, length, axis) for axis, (d, start, length) in enumerate(along)]
    return _slice_contents(c, x, shape, starts, dims)


def _slice_dim(c: TensorFlowContext, d: DimSize, start: DimSize | None, size: DimSize | None, axis: int) -> DimSize:
    """The size of one axis of a slice. Requires that the axis holds the slice."""
    if isinstance(start, int) and start < 0:
        c.fail(f"begin[{axis}] must be at least 0", start)
    if isinstance(size, int) and size < -1:
        c.fail(f"size[{axis}] cannot be < -1", size)
    if size == -1:
        return c.fresh_at_most(d, f"slice.{axis}") if start is None else _rest(c, d, start)
    if size is None or c.prove_le(0, size) is not True:
        return c.fresh_at_most(d, f"slice.{axis}")
    end = size if start is None else start + size
    if isinstance(end, int) and isinstance(d, int):
        if end > d:
            warn(c, f"axis {axis} of the input is too small for the slice", d, start, size)
    elif c.prove_le(end, d) is not True and (start is None or c.prove_le(0, start) is True):
        c.at_most(end, d, f"the slice must lie inside axis {axis} of the input")
    return size


def _rest(c: TensorFlowContext, d: DimSize, start: DimSize) -> DimSize:
    """The size of a slice from `start` to the end of an axis."""
    return c.subtract(d, start) if c.prove_le(0, start) is True else c.fresh_at_most(d, "slice")


def _slice_contents(
    c: TensorFlowContext, x: PartialTensor, shape: Shape, starts: Sequence[DimSize | None], dims: Sequence[DimSize]
) -> PartialTensor:
    """The slice of shape `dims`, with its contents where the begins are known."""
    firsts = [start for start in starts if start is not None]
    if x.contents is None or len(firsts) < len(starts) or c.warnings:
        return PartialTensor(x.dtype, Shape(dims), None)
    ends = [start + size for start, size in zip(firsts, dims, strict=True)]
    result = slice_axes(c, x, range(len(dims)), firsts, ends, [1] * len(dims))
    return result if result.shape == Shape(dims) else PartialTensor(x.dtype, Shape(dims), None)


@attrs.frozen
class Masks:
    """The masks of a strided slice: bit i belongs to entry i of begin, end and strides."""

    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0


@attrs.frozen
class _Range:
    """The range along an axis of the input; a begin, end or stride of None is unknown."""

    begin: DimSize | None = 0
    end: DimSize | None = HUGE
    stride: int | None = 1
    shrinks: bool = False


@attrs.frozen
class _Spec:
    """A strided slice by axis: the range of each axis of the input, and the axes of the result.

    An item of `axes` is the axis of the input, or None for a new one.
    """

    ranges: tuple[_Range, ...]
    axes: tuple[int | None, ...]


MAX_ENTRIES = 32
"""The masks have this number of bits."""


def _spec(
    c: TensorFlowContext, rank: int, begin: PartialTensor, end: PartialTensor, strides: PartialTensor, masks: Masks
) -> _Spec:
    """The specification of a strided slice of a tensor of this rank, with the ellipsis expanded."""
    count = _entries(c, begin, end, strides)
    begins, ends = (known_dims(v) or (None,) * count for v in (begin, end))
    steps = known_dims(strides) or (None,) * count
    ellipsis = _ellipsis(c, masks.ellipsis_mask, count)
    ranges: list[_Range] = []
    axes: list[int | None] = []
    for i in range(count + 1):
        if i == ellipsis:
            following = sum(not _bit(masks.new_axis_mask, j) for j in range(i + 1, count))
            new = range(len(ranges), max(rank - following, len(ranges)))
            ranges += [_Range()] * len(new)
            axes += new
        elif i == count:
            continue
        elif _bit(masks.new_axis_mask, i):
            axes.append(None)
        else:
            _check_axis(c, len(ranges), rank)
            shrinks = _bit(masks.shrink_axis_mask, i)
            if not shrinks:
                axes.append(len(ranges))
            ranges.append(_range(c, i, begins[i], ends[i], steps[i], masks, shrinks))
    return _Spec(tuple(ranges), tuple(axes))


def _entries(c: TensorFlowContext, *vectors: PartialTensor) -> int:
    """The length of begin, end and strides. Raises NotKnown if it is unknown."""
    lengths = [c.with_rank(v.shape, 1)[0] for v in vectors]
    length = c.concrete(c.merge(c.merge(lengths[0], lengths[1]), lengths[2]))
    if length is None:
        raise c.unknowable("the length of begin, end and strides is unknown")
    if length > MAX_ENTRIES:
        c.fail(f"begin, end and strides have at most {MAX_ENTRIES} entries", length)
    return length


def _ellipsis(c: TensorFlowContext, mask: int, count: int) -> int:
    """The entry that is an ellipsis; the number of entries if there is none."""
    positions = [i for i in range(count) if _bit(mask, i)]
    if len(positions) > 1:
        c.fail("Multiple ellipses in slice spec not allowed")
    return positions[0] if positions else count


def _check_axis(c: TensorFlowContext, axis: int, rank: int) -> None:
    """Raise ShapeError, with TensorFlow's text, for more entries than axes."""
    if axis >= rank:
        c.fail(
            f"Index out of range using input dim {axis}; input has only {rank} dims"
            if rank
            else "Attempting to slice scalar input."
        )


def _range(
    c: TensorFlowContext,
    i: int,
    begin: DimSize | None,
    end: DimSize | None,
    stride: DimSize | None,
    masks: Masks,
    shrinks: bool,
) -> _Range:
    """The range of one entry; a masked end is that of the axis."""
    if stride == 0:
        c.fail(f"strides[{i}] must be non-zero")
    step = stride if isinstance(stride, int) else None
    if shrinks:
        return _Range(begin, None, step, True)
    first, last = (0, HUGE) if step is None or step > 0 else (HUGE, -HUGE)
    return _Range(first if _bit(masks.begin_mask, i) else begin, last if _bit(masks.end_mask, i) else end, step, False)


def _bit(mask: int, position: int) -> bool:
    """Whether bit `position` of a mask is set."""
    return bool(mask >> position & 1)


@tf("StridedSlice")
def strided_slice(
    c: TensorFlowContext, x: Value, begin: Value, end: Value, strides: Value, *, masks: Masks
) -> PartialTensor:
    """[*S], [R], [R], [R] -> a slice as in Python; masks mark open ends, an ellipsis, new axes and dropped axes."""
    if x.shape.dims is None:
        _entries(c, begin, end, strides)
    spec = _spec(c, len(x.shape), begin, end, strides, masks)
    for axis, (size, along) in enumerate(zip(x.shape, spec.ranges, strict=True)):
        if along.shrinks:
            _check_index(c, axis, size, along)
    part = slice_axes(
        c,
        x,
        range(len(spec.ranges)),
        [along.begin for along in spec.ranges],
        [_end(along) for along in spec.ranges],
        [1 if along.shrinks else along.stride for along in spec.ranges],
        as_python=True,
    )
    sizes = [1 if along.shrinks else size for size, along in zip(part.shape, spec.ranges, strict=True)]
    result = Shape(1 if axis is None else sizes[axis] for axis in spec.axes)
    return reshape_elements(part, result) if part.shape == Shape(sizes) else PartialTensor(x.dtype, result, None)


def _end(along: _Range) -> DimSize | None:
    """The end of a range; that of an index is the next one."""
    if not along.shrinks:
        return along.end
    return None if along.begin is None else HUGE if along.begin == -1 else along.begin + 1


def _check_index(c: TensorFlowContext, axis: int, size: DimSize, along: _Range) -> None:
    """Require that the index that drops an axis lies inside it."""
    index = along.begin
    if isinstance(size, int) and along.stride is not None:
        if along.stride < 0:
            c.fail("only stride 1 allowed on non-range indexing.")
        if isinstance(index, int) and not -size <= index < size:
            c.fail(f"slice index {index} of dimension {axis} out of bounds.")
    if isinstance(size, int) and isinstance(index, int):
        if not -size <= index < size:
            warn(c, f"slice index {index} of dimension {axis} out of bounds.")
        return
    message = f"the index must lie inside axis {axis}"
    if isinstance(index, int):
        least = index + 1 if index >= 0 else -index
        if c.prove_le(least, size) is not True:
            c.at_least(size, least, message)
    elif isinstance(index, Dimension) and c.prove_le(0, index) is True and c.prove_le(index + 1, size) is not True:
        c.at_most(index, size - 1, message)


@tf("StridedSliceGrad")
def strided_slice_grad(
    c: TensorFlowContext, shape: Value, begin: Shape, end: Shape, strides: Shape, dy: Shape
) -> Shape:
    """[S], [R], [R], [R], [*T] -> the shape in the first input."""
    c.with_rank(shape.shape, 1)
    for vector in (begin, end, strides):
        c.with_rank(vector, 1)
    return shape_from_sizes(c, shape, "shape")


@tf("StridedSliceAssign", "TensorStridedSliceUpdate", in_place=(0,))
def strided_slice_update(
    c: TensorFlowContext, x: Value, begin: Value, end: Value, strides: Value, value: Value, *, masks: Masks
) -> PartialTensor:
    """[*S], [R], [R], [R], a value that broadcasts to the slice -> [*S]."""
    _check_update(c, PartialTensor(None, x.shape, None), (begin, end, strides), value.shape, masks)
    if x.elements is None or value.elements is None:
        return PartialTensor(x.dtype, x.shape, None)
    numbered = PartialTensor("int64", x.shape, range(len(x.elements)))
    chosen = strided_slice(c, numbered, begin, end, strides, masks=masks)
    positions = known_ints(chosen)
    if positions is None or len(value.shape) > len(chosen.shape):
        return PartialTensor(x.dtype, x.shape, None)
    updates = broadcast_list(value, chosen.shape)
    return move_elements(x, x.shape, lambda array: update_elements(array, positions, updates, replace_element))


@tf("ResourceStridedSliceAssign")
def assign_strided_slice(
    c: TensorFlowContext, ref: TensorType, begin: Value, end: Value, strides: Value, value: Shape, *, masks: Masks
) -> tuple[Shape, ...]:
    """A variable [*S], [R], [R], [R], a value that broadcasts to the slice -> no outputs."""
    _check_update(c, PartialTensor(None, variable(c, ref).shape, None), (begin, end, strides), value, masks)
    return ()


def _check_update(
    c: TensorFlowContext, x: PartialTensor, ends: Sequence[PartialTensor], value: Shape, masks: Masks
) -> None:
    """Require that a value broadcasts to a slice."""
    begin, end, strides = ends
    if x.shape.dims is None or value.dims is None or known_ints(strides) is None:
        return
    if c.concrete(c.with_rank(begin.shape, 1)[0]) is None:
        return
    target = strided_slice(c, x, begin, end, strides, masks=masks).shape
    lead = len(target) - len(value.dims)
    sizes = zip(value.dims, target[max(lead, 0) :], strict=False)
    misfits = (isinstance(a, int) and isinstance(b, int) and a not in (1, b) for a, b in sizes)
    if lead < 0 or any(misfits):
        raise ShapeError("the value must broadcast to the slice", operands=(str(value), str(target)))
    require_broadcast_to(c, value, target, "the value must broadcast to the slice")
