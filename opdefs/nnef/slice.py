"""Slices (chapter 4.5).

The text rounds the extent of a slice with a stride down; all engines round it up, as it must be for the last element
to be there. It asks for neither an empty result nor anything past the end: a begin behind the end is refused.
"""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import Listed, axes_of, check_count, dims_of, ints_of, is_computed
from opdefs.rules.slicing import HUGE, sliced
from shapeinf.expr import Dim, ceildiv, maximum, minimum
from shapeinf.formats.nnef.versions import TRACT
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value

FORWARD = "begin must not lie behind end, nor outside of the input"
BACKWARD = "with a negative stride end must not lie behind begin, nor begin outside of the input"


@nnef("slice")
def slice_(
    c: InferenceContext, input: Value, *, axes: Listed, begin: Listed, end: Listed, stride: Listed = ()
) -> PartialTensor:
    """`begin:end:stride` of the named axes; negative positions count from the end."""
    named = axes_of(c, axes, len(input.shape))
    firsts, lasts = dims_of(c, begin, "begin"), dims_of(c, end, "end")
    check_count(c, firsts, "begin", len(named), "item of axes")
    check_count(c, lasts, "end", len(named), "item of axes")
    steps = ints_of(c, stride, "stride", None, len(named), "item of axes") if stride else (1,) * len(named)
    if 0 in steps:
        c.fail("the items of stride must not be 0", steps)
    dims = list(input.shape)
    index: list[slice | None] = [slice(None)] * len(dims)
    for i, (axis, first, last, step) in enumerate(zip(named, firsts, lasts, steps, strict=True)):
        if last == 0 and not is_computed(c, "end", i):  # a 0 that a tensor gives is one
            last = _end_of_zero(c, first, step)
        one = _forward if step > 0 else _backward
        dims[axis], index[axis] = one(c, dims[axis], first, last, step)
    return sliced(input, Shape(dims), index)


def _end_of_zero(c: InferenceContext, first: Dim | None, step: int) -> Dim | None:
    """An end that is written as 0: a deprecated form of "to the end" with a stride of 1.

    tract has it with any stride forward, but not from 0 on: there it is an empty slice.
    """
    if c.version != TRACT:
        return HUGE if step == 1 else 0
    if step < 0 or first is None:
        return 0 if step < 0 else None
    known = c.prove_eq(first, 0)
    return None if known is None else 0 if known else HUGE


def _forward(
    c: InferenceContext, size: Dim, first: Dim | None, last: Dim | None, step: int
) -> tuple[Dim, slice | None]:
    begin = None if first is None else _from_front(c, first, size)
    to_the_end = isinstance(last, int) and last >= HUGE
    end = size if to_the_end else None if last is None else _from_front(c, last, size)
    if begin is None or end is None:
        return c.fresh("slice", 0, c.interval(size).hi), None
    for low, high in ((0, begin), (begin, end), (begin, size)):
        if c.prove_le(low, high) is not True:
            c.at_most(low, high, FORWARD)
    if c.prove_le(end, size) is not True:
        end = _last_end(c, end, size)
    count = end - begin if step == 1 else ceildiv(end - begin, step)
    return count, slice(begin, end, step) if isinstance(begin, int) and isinstance(end, int) else None


def _last_end(c: InferenceContext, end: Dim, size: Dim) -> Dim:
    """An end clamped to the axis; tract does not clamp, so there a symbolic axis reaches as far as the end."""
    if c.version != TRACT or (isinstance(end, int) and isinstance(size, int)):
        return minimum(end, size)
    c.at_most(end, size, "end must not lie outside of the input")
    return end


def _backward(
    c: InferenceContext, size: Dim, first: Dim | None, last: Dim | None, step: int
) -> tuple[Dim, slice | None]:
    """An end before the front is just before it."""
    begin = None if first is None else _from_front(c, first, size)
    to_the_front = isinstance(last, int) and last <= -HUGE
    end = -1 if to_the_front else None if last is None else _from_front(c, last, size)
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


def _from_front(c: InferenceContext, index: Dim, size: Dim) -> Dim | None:
    """A position counted from the front; None where its sign is not known."""
    if c.prove_le(0, index) is True:
        return index
    return index + size if c.prove_le(index, -1) is True else None
