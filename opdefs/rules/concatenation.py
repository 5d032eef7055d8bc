"""Tensors put one behind the other, and repeated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opdefs.rules.elements import Elements, concatenated, elements_of, fits
from shapeinf.algebra import Dim
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext


def concat(c: InferenceContext, xs: Sequence[PartialTensor], axis: int) -> PartialTensor:
    """The sizes along `axis` add up; all other axes are equal."""
    rank = c.same_rank(*(x.shape for x in xs))
    at = c.axis(axis, rank)
    dims = list(xs[0].shape.require())
    for x in xs[1:]:
        for i, d in enumerate(x.shape.dims or ()):
            if i == at:
                dims[i] = dims[i] + d
            elif d is not dims[i]:
                dims[i] = c.merge(dims[i], d, f"axis {i} must be equal in all inputs of a concatenation")
    shape = Shape(dims)
    known = fits(shape) and all(isinstance(x.shape[at], int) for x in xs)
    if not known or all(x.elements is None for x in xs):
        return PartialTensor(xs[0].dtype, shape, None)
    if rank == 1:
        rows = (x.elements or (None,) * int(x.shape[0]) for x in xs)  # type: ignore[arg-type]
        return PartialTensor(xs[0].dtype, shape, [e for row in rows for e in row])
    parts = [_elements_or_unknown(x, [*dims[:at], x.shape[at], *dims[at + 1 :]]) for x in xs]
    return PartialTensor(xs[0].dtype, shape, concatenated(parts, at).reshape(-1).tolist())


def _elements_or_unknown(x: PartialTensor, sizes: Sequence[Dim]) -> Elements:
    """The elements; `sizes` are what the shape has become, since the other inputs may have told some of it."""
    found = elements_of(x)
    return found if found is not None else np.full([d for d in sizes if isinstance(d, int)], None, dtype=object)


def repeated(c: InferenceContext, size: Dim, count: Dim | None, axis: int) -> Dim:
    """The size of an axis repeated so many times (None is not known)."""
    if isinstance(count, int) and count < 0:
        c.fail("an axis cannot be repeated a negative number of times", count)
    return c.fresh(f"tile.{axis}") if count is None or c.prove_le(0, count) is not True else size * count
