"""Parts of tensors: slices of an axis (with the clamping of Python and ONNX), concatenation and repetition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opdefs.rules.elements import (
    Elements,
    clamp_at_zero,
    concatenate_elements,
    element_array,
    is_listable,
    move_elements,
)
from shapeinf.expr import Dim, ceildiv, maximum, minimum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext

HUGE = 2**31 - 1
"""Ends from here on mean "to the end"."""


def clamp_index(c: InferenceContext, index: Dim, size: Dim, lowest: Dim, highest: Dim) -> Dim | None:
    """An index counted from the front and clamped to lowest..highest; None if its sign is unknown."""
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
    """The number of elements of `start:end:step`; bounded by 0..size where an end is unknown."""
    lowest, highest = (0, size) if step > 0 else (-1, size - 1)
    first = None if start is None else clamp_index(c, start, size, 0, highest)
    last = None if end is None else clamp_index(c, end, size, lowest, highest)
    if step < 0 and isinstance(end, int) and end <= -HUGE:
        last = -1
    if first is None or last is None:
        return c.fresh_at_most(size, "slice")
    span = last - first if step > 0 else first - last
    count = span if abs(step) == 1 else ceildiv(span, abs(step))
    return clamp_at_zero(c, count)


def first_index(c: InferenceContext, size: Dim, start: Dim | None, step: int) -> Dim | None:
    """The index of the first element of a non-empty slice; None if unknown."""
    return None if start is None else clamp_index(c, start, size, 0, size if step > 0 else size - 1)


def slice_elements(x: PartialTensor, shape: Shape, index: Sequence[slice | None]) -> PartialTensor:
    """The tensor of `shape` with the contents at these slices of all axes (None is unknown)."""
    known = [i for i in index if i is not None]
    if len(known) < len(index) or x.elements is None:
        return PartialTensor(x.dtype, shape, None)
    if len(known) == 1:
        return PartialTensor(x.dtype, shape, x.elements[known[0]])
    return move_elements(x, shape, lambda array: array[tuple(known)])


def split_axis(x: PartialTensor, axis: int, sizes: Sequence[Dim]) -> tuple[PartialTensor, ...]:
    """Consecutive parts of these sizes along an axis."""
    parts = []
    offset: Dim = 0
    for size in sizes:
        shape = Shape((*x.shape[:axis], size, *x.shape[axis + 1 :]))
        parts.append(_axis_range(x, shape, axis, offset, size))
        offset = offset + size
    return tuple(parts)


def _axis_range(x: PartialTensor, shape: Shape, axis: int, offset: Dim, size: Dim) -> PartialTensor:
    """The tensor of `shape` that is `offset:offset + size` of an axis."""
    if not isinstance(offset, int) or not isinstance(size, int):
        return PartialTensor(x.dtype, shape, None)
    return slice_elements(
        x, shape, [slice(None)] * axis + [slice(offset, offset + size)] + [slice(None)] * (len(shape) - axis - 1)
    )


def concat(c: InferenceContext, xs: Sequence[PartialTensor], axis: int) -> PartialTensor:
    """The sizes along `axis` add up; all other axes are equal."""
    shapes = _align_ranks(c, [x.shape for x in xs])
    rank = c.same_rank(*shapes)
    at = c.axis(axis, rank)
    dims = list(shapes[0].require())
    for each in shapes[1:]:
        for i, d in enumerate(each.require()):
            if i == at:
                dims[i] = dims[i] + d
            elif d is not dims[i]:
                dims[i] = c.merge(dims[i], d, f"axis {i} must be equal in all inputs of a concatenation")
    shape = Shape(dims)
    known = is_listable(shape) and all(isinstance(each[at], int) for each in shapes)
    if not known or all(x.elements is None for x in xs):
        return PartialTensor(xs[0].dtype, shape, None)
    if rank == 1:
        rows = (x.elements or (None,) * int(each[0]) for x, each in zip(xs, shapes, strict=True))  # type: ignore[arg-type]
        return PartialTensor(xs[0].dtype, shape, [e for row in rows for e in row])
    parts = [
        _elements_or_unknown(x, [*dims[:at], each[at], *dims[at + 1 :]]) for x, each in zip(xs, shapes, strict=True)
    ]
    return PartialTensor(xs[0].dtype, shape, concatenate_elements(parts, at).reshape(-1).tolist())


def _align_ranks(c: InferenceContext, shapes: Sequence[Shape]) -> Sequence[Shape]:
    """The shapes; those of unknown rank get the rank of the others."""
    if all(s.dims is not None for s in shapes):
        return shapes
    rank = next((len(s.dims) for s in shapes if s.dims is not None), None)
    return shapes if rank is None else [c.require_rank(s, rank) if s.dims is None else s for s in shapes]


def _elements_or_unknown(x: PartialTensor, sizes: Sequence[Dim]) -> Elements:
    """The elements; `sizes` is the shape after merging with the other inputs."""
    array = element_array(x)
    return array if array is not None else np.full([d for d in sizes if isinstance(d, int)], None, dtype=object)


def repeat_size(c: InferenceContext, size: Dim, count: Dim | None, axis: int) -> Dim:
    """The size of a repeated axis; a count of None is unknown."""
    if isinstance(count, int) and count < 0:
        c.fail("the number of repeats must be at least 0", count)
    return c.fresh(f"tile.{axis}") if count is None or c.prove_le(0, count) is not True else size * count
