"""Parts of tensors: slices and splits of axes, with the clamping of Python and ONNX."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import clamp_at_zero, is_listable, select_elements
from opdefs.rules.contents.progressions import reshape_elements, slice_progression
from opdefs.rules.operands import is_unit
from shapeinf.expr import DimSize, ceildiv, maximum, minimum
from shapeinf.lattice import PartialTensor, Progression, Shape
from shapeinf.ops import InferenceContext

HUGE = 2**31 - 1
"""Ends of slices from here on mean the end of the axis."""


def count_from_front(c: InferenceContext, index: DimSize | None, size: DimSize) -> DimSize | None:
    """An index counted from the front of an axis of this size; None if it or its sign is unknown."""
    if index is None or c.prove_le(0, index) is True:
        return index
    return index + size if c.prove_le(index, -1) is True else None


def clamp_index(
    c: InferenceContext, index: DimSize, size: DimSize, lowest: DimSize, highest: DimSize
) -> DimSize | None:
    """An index of an axis, counted from its front and clamped to lowest..highest; None if its sign is unknown."""
    if isinstance(index, int):
        if index >= HUGE:
            return highest
        if index <= -HUGE:
            return lowest if c.prove_le(lowest, highest) is True else minimum(lowest, highest)
        position = index if index >= 0 else index + size
    elif c.prove_le(0, index) is True:
        position = index
    elif c.prove_le(index, -1) is True:
        position = index + size
    else:
        return None
    if isinstance(position, int) and isinstance(lowest, int) and isinstance(highest, int):
        return min(max(position, lowest), highest)
    if c.prove_le(lowest, position) is not True:  # the lower end first: the ends of an empty axis cross
        position = lowest if c.prove_le(position, lowest) is True else maximum(position, lowest)
    if c.prove_within_limits(position, highest):
        return position
    return highest if c.prove_le(highest, position) is True else minimum(position, highest)


def slice_size(
    c: InferenceContext,
    size: DimSize,
    start: DimSize | None,
    end: DimSize | None,
    step: int,
    *,
    as_python: bool = False,
) -> DimSize:
    """The number of elements of `start:end:step`; an unknown of at most `size` where an end is unknown.

    A backward slice that starts before the axis starts at 0, as in ONNX; with `as_python` it is empty.
    """
    if start == 0 and step == 1 and isinstance(end, int) and end >= HUGE and c.store.bounds(size)[0] >= 0:
        return size
    lowest, highest = (0, size) if step > 0 else (-1, size - 1)
    first = None if start is None else clamp_index(c, start, size, lowest if as_python else 0, highest)
    last = None if end is None else clamp_index(c, end, size, lowest, highest)
    if step < 0 and isinstance(end, int) and end <= -HUGE:
        last = -1
    if first is None or last is None:
        return c.fresh_at_most(size, "slice")
    span = (last - first if first != 0 else last) if step > 0 else first - last
    if abs(step) == 1:
        return clamp_at_zero(c, span)
    count = clamp_at_zero(c, ceildiv(span, abs(step)))
    least, most = c.store.bounds(count)
    return int(least) if least == most else count  # 1 for a step that is larger than the axis


def first_index(c: InferenceContext, size: DimSize, start: DimSize | None, step: int) -> DimSize | None:
    """The index of the first element of a slice that is not empty; None if unknown."""
    return None if start is None else clamp_index(c, start, size, 0, size if step > 0 else size - 1)


def slice_elements(x: PartialTensor, shape: Shape, index: Sequence[slice | None]) -> PartialTensor:
    """The tensor of `shape` with the contents of `x` at a slice of each axis (None: unknown)."""
    known = [i for i in index if i is not None]
    if len(known) < len(index) or x.elements is None:
        return x.rearranged(shape)
    if len(known) == 1:
        return PartialTensor(x.dtype, shape, x.elements[known[0]])
    sizes = [size for size in x.shape if isinstance(size, int)]
    if len(sizes) < len(known) or not is_listable(shape):
        return PartialTensor(x.dtype, shape, None)
    indices = [range(size)[part] for size, part in zip(sizes, known, strict=True)]
    return PartialTensor(x.dtype, shape, select_elements(x.elements, sizes, indices))


def slice_axes(
    c: InferenceContext,
    x: PartialTensor,
    axes: Sequence[int],
    starts: Sequence[DimSize | None],
    ends: Sequence[DimSize | None],
    steps: Sequence[int | None],
    *,
    as_python: bool = False,
) -> PartialTensor:
    """The tensor sliced along distinct axes, counted from the front; a start, end or step of None is unknown.

    See `slice_size` for `as_python`.
    """
    dims = list(x.shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        if step is None:
            dims[axis] = c.fresh_at_most(dims[axis], f"slice.{axis}")
        else:
            dims[axis] = slice_size(c, dims[axis], start, end, step, as_python=as_python)
    shape = Shape(dims)
    if x.contents is None:
        return PartialTensor(x.dtype, shape, None)
    index: list[slice | None] = [slice(None)] * len(dims)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        index[axis] = _python_slice(start, end, step, x.shape[axis], as_python)
    if isinstance(x, Progression) or None in index:
        return _slice_progression(c, x, shape, axes, starts, steps)
    return slice_elements(x, shape, index)


def _slice_progression(
    c: InferenceContext,
    x: PartialTensor,
    shape: Shape,
    axes: Sequence[int],
    starts: Sequence[DimSize | None],
    steps: Sequence[int | None],
) -> PartialTensor:
    """The slice of evenly spaced contents, of `shape`; the axes are counted from the front."""
    firsts: list[DimSize | None] = [0] * len(x.shape)
    strides = [1] * len(x.shape)
    for axis, start, step in zip(axes, starts, steps, strict=True):
        if step is None:
            firsts[axis] = None
        else:
            firsts[axis], strides[axis] = first_index(c, x.shape[axis], start, step), step
    return slice_progression(x, shape, firsts, strides)


def _python_slice(
    start: DimSize | None, end: DimSize | None, step: int | None, size: DimSize, as_python: bool
) -> slice | None:
    """A slice of known ends as Python has it; None where an end, the step or the size is unknown.

    An end of None is that of a backward slice up to the front of the axis.
    """
    if step is None or not (isinstance(start, int) and isinstance(end, int) and isinstance(size, int)):
        return None
    first = start if as_python or step > 0 or not size else max(start, -size)
    return slice(first, None if step < 0 and end < -size else end, step)


def complete_sizes(c: InferenceContext, total: DimSize, sizes: Sequence[DimSize | None]) -> list[DimSize]:
    """The sizes of parts of an axis, with an unknown for each None. Requires that none is negative, and their sum."""
    complete = [c.fresh_at_most(total, f"split.{i}") if s is None else s for i, s in enumerate(sizes)]
    for size in complete:
        if c.prove_le(0, size) is not True:
            c.at_least(size, 0, "the size of a part must not be negative")
    c.same_count(total, sum(complete), "the sizes of the parts must add up to the axis")
    return [c.store.canon(size) for size in complete]


def split_axis(x: PartialTensor, axis: int, sizes: Sequence[DimSize]) -> tuple[PartialTensor, ...]:
    """The consecutive parts of a tensor, of these sizes along an axis."""
    parts = []
    offset: DimSize = 0
    for size in sizes:
        shape = Shape((*x.shape[:axis], size, *x.shape[axis + 1 :]))
        parts.append(_axis_range(x, shape, axis, offset, size))
        offset = offset + size
    return tuple(parts)


def _axis_range(x: PartialTensor, shape: Shape, axis: int, offset: DimSize, size: DimSize) -> PartialTensor:
    """The slice `offset:offset + size` of an axis, of `shape`."""
    if not isinstance(offset, int) or not isinstance(size, int):
        return x.rearranged(shape)
    return slice_elements(
        x, shape, [slice(None)] * axis + [slice(offset, offset + size)] + [slice(None)] * (len(shape) - axis - 1)
    )


def select_index(c: InferenceContext, x: PartialTensor, axis: int, index: DimSize | None) -> PartialTensor:
    """[*P, n, *Q] -> [*P, *Q]: the slice at one index inside an axis, counted from its end if negative."""
    rest = Shape((*x.shape[:axis], *x.shape[axis + 1 :]))
    if x.contents is None or index is None:
        return x.rearranged(rest)
    end = HUGE if index == -1 else index + 1
    part = slice_axes(c, x, [axis], [index], [end], [1], as_python=True)
    return reshape_elements(part, rest) if is_unit(part.shape[axis]) else x.rearranged(rest)
