"""Slices of one axis with known, symbolic or unknown ends (Python's and ONNX's clamping)."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.elements import moved
from shapeinf.expr import Dim, ceildiv, maximum, minimum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext

HUGE = 2**31 - 1
"""Ends from here on mean "to the end"."""


def clamped(c: InferenceContext, index: Dim, size: Dim, lowest: Dim, highest: Dim) -> Dim | None:
    """An index counted from the front and clamped to lowest..highest; None where its sign is not known."""
    if isinstance(index, int) and index >= HUGE:
        return highest
    if isinstance(index, int) and index <= -HUGE:
        return lowest if c.prove_le(lowest, highest) is True else minimum(lowest, highest)
    if c.prove_le(0, index) is True:
        position = index
    elif c.prove_le(index, -1) is True:
        position = index + size
    else:
        return None
    if c.prove_le(lowest, position) is not True:  # the lower end first: an empty axis has no position at all
        position = lowest if c.prove_le(position, lowest) is True else maximum(position, lowest)
    if c.prove_le(position, highest) is True:
        return position
    return highest if c.prove_le(highest, position) is True else minimum(position, highest)


def slice_size(c: InferenceContext, size: Dim, start: Dim | None, end: Dim | None, step: int) -> Dim:
    """The number of elements of `start:end:step`; bounded by 0..size where an end is not known."""
    lowest, highest = (0, size) if step > 0 else (-1, size - 1)
    first = None if start is None else clamped(c, start, size, 0, highest)
    last = None if end is None else clamped(c, end, size, lowest, highest)
    if step < 0 and isinstance(end, int) and end <= -HUGE:
        last = -1
    if first is None or last is None:
        return c.fresh_at_most(size, "slice")
    span = last - first if step > 0 else first - last
    count = span if abs(step) == 1 else ceildiv(span, abs(step))
    return count if c.prove_le(0, count) is True else maximum(count, 0)


def first_of(c: InferenceContext, size: Dim, start: Dim | None, step: int) -> Dim | None:
    """The index of the first element of a slice that has one; None where it is not known."""
    return None if start is None else clamped(c, start, size, 0, size if step > 0 else size - 1)


def sliced(x: PartialTensor, shape: Shape, index: Sequence[slice | None]) -> PartialTensor:
    """The tensor of `shape` with the contents at these slices of all axes (None is not known)."""
    known = [i for i in index if i is not None]
    if len(known) < len(index) or x.elements is None:
        return PartialTensor(x.dtype, shape, None)
    if len(known) == 1:
        return PartialTensor(x.dtype, shape, x.elements[known[0]])
    return moved(x, shape, lambda array: array[tuple(known)])


def part(x: PartialTensor, shape: Shape, axis: int, offset: Dim, size: Dim) -> PartialTensor:
    """The tensor of `shape` that is `offset:offset + size` of an axis."""
    if not isinstance(offset, int) or not isinstance(size, int):
        return PartialTensor(x.dtype, shape, None)
    return sliced(
        x, shape, [slice(None)] * axis + [slice(offset, offset + size)] + [slice(None)] * (len(shape) - axis - 1)
    )
