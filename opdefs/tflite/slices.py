"""Slices, and updates of slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import attrs

from opdefs.rules.contents.elements import Elements, element_array, known_dims, known_ints, move_elements
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.parts import HUGE, slice_axes
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from shapeinf.expr import DimSize, ceildiv
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tflite("SLICE")
def slice_(c: TensorFlowContext, x: Value, begin: Value, size: Value) -> PartialTensor:
    """[*S], begin [R], size [R] -> [*size]; a size of -1 extends to the end of the axis."""
    rank = len(x.shape)
    for vector, name in ((begin, "begin"), (size, "size")):
        c.merge(c.require_rank(vector.shape, 1, name)[0], rank, f"{name} must have one value for each axis")
    starts, sizes = (known_dims(v) or (None,) * rank for v in (begin, size))
    along = zip(x.shape, starts, sizes, strict=True)
    dims = [_slice_size(c, d, start, wanted, axis) for axis, (d, start, wanted) in enumerate(along)]
    firsts = [start for start in starts if start is not None]
    if x.contents is None or len(firsts) < rank:
        return PartialTensor(x.dtype, Shape(dims), None)
    ends = [start + wanted for start, wanted in zip(firsts, dims, strict=True)]
    part = slice_axes(c, x, range(rank), firsts, ends, [1] * rank)
    return part if part.shape == Shape(dims) else PartialTensor(x.dtype, Shape(dims), None)


def _slice_size(c: TensorFlowContext, d: DimSize, start: DimSize | None, wanted: DimSize | None, axis: int) -> DimSize:
    """The size of one axis of a slice. Requires that the axis holds it."""
    inside = f"the slice must lie inside axis {axis} of the input"
    if start is not None and c.prove_le(0, start) is not True:
        if isinstance(start, int):
            c.fail("begin must be at least 0", start)
        return c.fresh_at_most(d, f"slice.{axis}")
    if isinstance(wanted, int) and wanted < -1:
        c.fail("a size must be at least -1", wanted)
    if wanted == -1:
        if start is None:
            return c.fresh_at_most(d, f"slice.{axis}")
        c.at_most(start, d, inside)
        return d - start
    if wanted is None or c.prove_le(0, wanted) is not True:
        return c.fresh_at_most(d, f"slice.{axis}")
    c.at_most(wanted if start is None else start + wanted, d, inside)
    return wanted


@attrs.frozen
class SliceMasks:
    """The options of a strided slice: bit i belongs to entry i. With `offset` the ends are sizes."""

    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0
    offset: bool = False


MAX_ENTRIES = 31


class _Along(NamedTuple):
    """What a strided slice does along one axis, of the input or a new one, by the entry for it (None: all of it)."""

    entry: int | None = None
    is_new: bool = False


@tflite("STRIDED_SLICE")
def strided_slice(
    c: TensorFlowContext, x: Value, begin: Value, end: Value, strides: Value, *, masks: SliceMasks
) -> PartialTensor:
    """[*S], [R], [R], [R] -> a slice as in Python; masks mark open ends, an ellipsis, new axes and dropped axes.

    The index of a dropped axis is clamped, as other ends are.
    """
    count = _entry_count(c, begin, end, strides)
    begins, ends, steps = (known_dims(v) or (None,) * count for v in (begin, end, strides))
    plan = _plan(len(x.shape), count, masks)
    own_axes = [along for along in plan if not along.is_new]
    ranges = [_range(c, along, begins, ends, steps, masks) for along in own_axes]
    axes = range(len(own_axes))
    part = slice_axes(
        c, x, axes, [r[0] for r in ranges], [r[1] for r in ranges], [r[2] for r in ranges], as_python=True
    )
    sizes = list(part.shape)
    if masks.offset:
        sizes = [_stated_size(c, along, size, ends, steps, masks) for along, size in zip(own_axes, sizes, strict=True)]
        part = PartialTensor(x.dtype, Shape(sizes), None)
    return _with_new_axes(part, plan, masks)


def _entry_count(c: TensorFlowContext, *vectors: PartialTensor) -> int:
    """The length of begin, end and strides. Raises NotKnown if it is unknown."""
    lengths = [c.require_rank(v.shape, 1, "begin, end and strides")[0] for v in vectors]
    length = c.merge(lengths[0], lengths[1], "begin and end must have equal lengths")
    count = c.concrete(length)
    if count is None:
        raise c.unknowable("the length of begin, end and strides is unknown")
    c.at_least(lengths[2], count, "strides must be as long as begin")
    if count > MAX_ENTRIES:
        c.fail(f"begin, end and strides have at most {MAX_ENTRIES} entries", count)
    return count


def _bit(mask: int, position: int) -> bool:
    return bool(mask >> position & 1)


def _plan(rank: int, count: int, masks: SliceMasks) -> list[_Along]:
    """What happens along each axis of the input and each new axis, in order; entries beyond the axes are ignored."""
    added = sum(_bit(masks.new_axis_mask, i) and not _bit(masks.ellipsis_mask, i) for i in range(count))
    total, expanded = rank + added, 0
    plan: list[_Along] = []
    while len(plan) < total:
        at = len(plan)
        if _bit(masks.ellipsis_mask, at):
            stop = max(at + 1, min(at + 1 + added + rank - count, total))
            expanded = stop - at - 1
            plan += [_Along()] * (stop - at)
        elif _bit(masks.new_axis_mask, at - expanded):
            plan.append(_Along(None, True))
        elif at >= count + expanded:
            plan.append(_Along())
        else:
            plan.append(_Along(at - expanded))
    return plan


def _range(
    c: TensorFlowContext,
    along: _Along,
    begins: Sequence[DimSize | None],
    ends: Sequence[DimSize | None],
    steps: Sequence[DimSize | None],
    masks: SliceMasks,
) -> tuple[DimSize | None, DimSize | None, int | None]:
    """The begin, end and step along an axis of the input; None is unknown."""
    i = along.entry
    if i is None:
        return 0, HUGE, 1
    if steps[i] == 0:
        c.fail("a stride must not be 0")
    step = steps[i]
    known = step if isinstance(step, int) else None
    if _bit(masks.shrink_axis_mask, i):
        return _index(begins[i], _bit(masks.begin_mask, i), known)
    first, last = (0, HUGE) if known is None or known > 0 else (HUGE, -HUGE)
    start = first if _bit(masks.begin_mask, i) else begins[i]
    return start, last if _bit(masks.end_mask, i) else ends[i], known


def _index(begin: DimSize | None, masked: bool, step: int | None) -> tuple[DimSize | None, DimSize | None, int | None]:
    """The range of a dropped axis."""
    if masked:
        return (0, 1, 1) if step is None or step > 0 else (-1, HUGE, 1)
    return begin, None if begin is None else HUGE if begin == -1 else begin + 1, 1


def _stated_size(
    c: TensorFlowContext,
    along: _Along,
    size: DimSize,
    ends: Sequence[DimSize | None],
    steps: Sequence[DimSize | None],
    masks: SliceMasks,
) -> DimSize:
    """The size of an axis where the ends are sizes."""
    i = along.entry
    if i is None or _bit(masks.shrink_axis_mask, i):
        return size
    end, step = ends[i], steps[i]
    if end is None or not isinstance(step, int) or step < 1 or c.prove_le(0, end) is not True:
        return c.fresh(f"slice.{i}")
    return ceildiv(end, step)


def _with_new_axes(part: PartialTensor, plan: Sequence[_Along], masks: SliceMasks) -> PartialTensor:
    """The part of the input with new axes, and without dropped ones."""
    sizes = iter(part.shape)
    full: list[DimSize] = []
    result: list[DimSize] = []
    for along in plan:
        size = 1 if along.is_new else next(sizes)
        dropped = along.entry is not None and _bit(masks.shrink_axis_mask, along.entry)
        if not along.is_new:
            full.append(1 if dropped else size)
        if not dropped:
            result.append(size)
    shape = Shape(result)
    return reshape_elements(part, shape) if part.shape == Shape(full) else PartialTensor(part.dtype, shape, None)


@tflite("DYNAMIC_UPDATE_SLICE", in_place=(0,))
def dynamic_update_slice(c: TensorFlowContext, x: Value, update: Value, start: Value) -> PartialTensor:
    """[*S], [*T] not larger, [R] -> [*S]; the start is moved so that the update lies inside."""
    rank = len(c.require_rank(update.shape, len(x.shape), "the update"))
    c.merge(c.require_rank(start.shape, 1, "the start")[0], rank, "the start must have one value for each axis")
    for axis, (part, size) in enumerate(zip(update.shape, x.shape, strict=True)):
        c.at_most(part, size, f"the update must not be larger than axis {axis}")
    first, written = known_ints(start), element_array(update)
    if first is None or written is None or x.elements is None:
        return PartialTensor(x.dtype, x.shape, None)

    def write(array: Elements) -> Elements:
        result = array.copy()
        ends = zip(first, array.shape, written.shape, strict=True)
        starts = [min(max(at, 0), size - length) for at, size, length in ends]
        result[tuple(slice(at, at + length) for at, length in zip(starts, written.shape, strict=True))] = written
        return result

    return move_elements(x, x.shape, write)


@tflite("STABLEHLO_DYNAMIC_UPDATE_SLICE", in_place=(0,))
def stablehlo_dynamic_update_slice(c: TensorFlowContext, x: Shape, update: Shape, *starts: Shape) -> Shape:
    """[*S], [*T] not larger, [] for each axis -> [*S]."""
    return x


@tflite("STABLEHLO_DYNAMIC_SLICE")
def stablehlo_dynamic_slice(c: TensorFlowContext, x: Shape, *starts: Shape, slice_sizes: tuple[int, ...] = ()) -> Shape:
    """[*S], [] for each axis -> the sizes of the option."""
    if len(slice_sizes) != len(x):
        c.fail("slice_sizes must have one value for each axis", slice_sizes)
    return Shape(slice_sizes)


@tflite("STABLEHLO_SLICE")
def stablehlo_slice(
    c: TensorFlowContext,
    x: Value,
    *,
    start_indices: tuple[int, ...] = (),
    limit_indices: tuple[int, ...] = (),
    strides: tuple[int, ...] = (),
) -> PartialTensor:
    """[*S] -> the slice from start to limit along each axis."""
    rank = len(x.shape)
    if not len(start_indices) == len(limit_indices) == len(strides) == rank:
        c.fail("start, limit and strides must have one value for each axis", start_indices)
    return slice_axes(c, x, range(rank), start_indices, limit_indices, strides, as_python=True)
