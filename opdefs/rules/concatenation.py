"""Tensors put one behind the other, and repeated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opdefs.rules.elements import Elements, concatenated, elements_of, fits
from shapeinf.expr import Dim
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext


def concat(c: InferenceContext, xs: Sequence[PartialTensor], axis: int) -> PartialTensor:
    """The sizes along `axis` add up; all other axes are equal."""
    shapes = _of_one_rank(c, [x.shape for x in xs])
    rank = c.same_rank(*shapes)
    at = c.axis(axis, rank)
    dims = list(shapes[0].require())
    for one in shapes[1:]:
        for i, d in enumerate(one.require()):
            if i == at:
                dims[i] = dims[i] + d
            elif d is not dims[i]:
                dims[i] = c.merge(dims[i], d, f"axis {i} must be equal in all inputs of a concatenation")
    shape = Shape(dims)
    known = fits(shape) and all(isinstance(one[at], int) for one in shapes)
    if not known or all(x.elements is None for x in xs):
        return PartialTensor(xs[0].dtype, shape, None)
    if rank == 1:
        rows = (x.elements or (None,) * int(one[0]) for x, one in zip(xs, shapes, strict=True))  # type: ignore[arg-type]
        return PartialTensor(xs[0].dtype, shape, [e for row in rows for e in row])
    parts = [_elements_or_unknown(x, [*dims[:at], one[at], *dims[at + 1 :]]) for x, one in zip(xs, shapes, strict=True)]
    return PartialTensor(xs[0].dtype, shape, concatenated(parts, at).reshape(-1).tolist())


def _of_one_rank(c: InferenceContext, shapes: Sequence[Shape]) -> Sequence[Shape]:
    """The shapes; one of unknown rank has that of the others."""
    if all(s.dims is not None for s in shapes):
        return shapes
    rank = next((len(s.dims) for s in shapes if s.dims is not None), None)
    return shapes if rank is None else [c.require_rank(s, rank) if s.dims is None else s for s in shapes]


def _elements_or_unknown(x: PartialTensor, sizes: Sequence[Dim]) -> Elements:
    """The elements; `sizes` are what the shape has become, since the other inputs may have told some of it."""
    found = elements_of(x)
    return found if found is not None else np.full([d for d in sizes if isinstance(d, int)], None, dtype=object)


def repeated(c: InferenceContext, size: Dim, count: Dim | None, axis: int) -> Dim:
    """The size of an axis repeated so many times (None is not known)."""
    if isinstance(count, int) and count < 0:
        c.fail("an axis cannot be repeated a negative number of times", count)
    return c.fresh(f"tile.{axis}") if count is None or c.prove_le(0, count) is not True else size * count
