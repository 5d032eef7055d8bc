"""Slices (chapter 4.5).

The specification rounds the extent of a slice with a stride down. All engines round it up, so that the last element is
included, and so does this rule. Empty results and ranges past the end are not specified: a begin behind the end is
rejected.
"""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, is_computed, read_flat_dims, read_front_axes
from opdefs.nnef.dialect import nnef
from opdefs.rules.numbers import check_count, read_ints
from opdefs.rules.parts import HUGE, count_from_front, slice_elements
from shapeinf.expr import DimSize, ceildiv, maximum, minimum
from shapeinf.formats.nnef.versions import TRACT
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value

FORWARD = "begin must be at most end and lie inside the input"
BACKWARD = "with a negative stride, end must be at most begin, and begin must lie inside the input"


@nnef("slice")
def slice_(
    c: InferenceContext, input: Value, *, axes: Listed, begin: Listed, end: Listed, stride: Listed = ()
) -> PartialTensor:
    """`begin:end:stride` of the named axes; negative positions count from the end."""
    named = read_front_axes(c, axes, len(input.shape))
    firsts, lasts = read_flat_dims(c, begin, "begin"), read_flat_dims(c, end, "end")
    check_count(c, firsts, "begin", len(named), "item of axes")
    check_count(c, lasts, "end", len(named), "item of axes")
    steps = read_ints(c, stride, "stride", None, len(named), "item of axes") if stride else (1,) * len(named)
    if 0 in steps:
        c.fail("the items of stride must not be 0", steps)
    dims = list(input.shape)
    index: list[slice | None] = [slice(None)] * len(dims)
    for i, (axis, first, last, step) in enumerate(zip(named, firsts, lasts, steps, strict=True)):
        if last == 0 and not is_computed(c, "end", i):  # a 0 that a tensor holds is a position
            last = _resolve_zero_end(c, first, step)
        slice_axis = _slice_forward if step > 0 else _slice_backward
        dims[axis], index[axis] = slice_axis(c, dims[axis], first, last, step)
    return slice_elements(input, Shape(dims), index)


def _resolve_zero_end(c: InferenceContext, first: DimSize | None, step: int) -> DimSize | None:
    """An end that is written as 0: with a stride of 1, deprecated for "to the end".

    tract reads it so with any positive stride, but not from 0 on, where the slice is empty.
    """
    if c.version != TRACT:
        return HUGE if step == 1 else 0
    if step < 0 or first is None:
        return 0 if step < 0 else None
    known = c.prove_eq(first, 0)
    return None if known is None else 0 if known else HUGE


def _slice_forward(
    c: InferenceContext, size: DimSize, first: DimSize | None, last: DimSize | None, step: int
) -> tuple[DimSize, slice | None]:
    """The extent of a slice with a positive stride, and the slice if it is known."""
    begin = count_from_front(c, first, size)
    end = size if isinstance(last, int) and last >= HUGE else count_from_front(c, last, size)
    if begin is None or end is None:
        return c.fresh("slice", 0, c.interval(size).hi), None
    for low, high in ((0, begin), (begin, end), (begin, size)):
        if c.prove_le(low, high) is not True:
            c.at_most(low, high, FORWARD)
    if c.prove_le(end, size) is not True:
        end = _clamp_end(c, end, size)
    count = end - begin if step == 1 else ceildiv(end - begin, step)
    return count, slice(begin, end, step) if isinstance(begin, int) and isinstance(end, int) else None


def _clamp_end(c: InferenceContext, end: DimSize, size: DimSize) -> DimSize:
    """An end clamped to the axis; tract does not clamp, so a symbolic axis must be at least as long."""
    if c.version != TRACT or (isinstance(end, int) and isinstance(size, int)):
        return minimum(end, size)
    c.at_most(end, size, "end must be at most the size of the axis")
    return end


def _slice_backward(
    c: InferenceContext, size: DimSize, first: DimSize | None, last: DimSize | None, step: int
) -> tuple[DimSize, slice | None]:
    """The extent of a slice with a negative stride, and the slice if it is known; an end before the front is -1."""
    begin = count_from_front(c, first, size)
    end = -1 if isinstance(last, int) and last <= -HUGE else count_from_front(c, last, size)
    if begin is None or end is None:
        return c.fresh("slice", 0, c.interval(size).hi), None
    if c.prove_le(-1, end) is not True:
        end = maximum(end, -1)
    for low, high in ((end, begin), (begin, size - 1)):
        if c.prove_le(low, high) is not True:
            c.at_most(low, high, BACKWARD)
    known = isinstance(begin, int) and isinstance(end, int)
    index = slice(begin, None if end == -1 else end, step) if known else None
    return ceildiv(begin - end, -step), index
