"""One type for several tensors, such as the elements of a sequence: what is equal in all stays, the rest is open."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.expr import Dim, maximum
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def any_of(c: InferenceContext, shapes: Sequence[Shape]) -> Shape:
    """A shape that covers all of these; an unknown rank when the ranks differ."""
    ranked = [s.dims for s in shapes if s.dims is not None]
    if len(ranked) < len(shapes) or len({len(dims) for dims in ranked}) != 1:
        return c.unknown_shape()
    return Shape(any_dim(c, axis, f"any.{i}") for i, axis in enumerate(zip(*ranked, strict=True)))


def any_dim(c: InferenceContext, dims: Sequence[Dim], hint: str = "any") -> Dim:
    """A dim that covers all of these (one at least): itself when all are equal, else a new unknown with their hull."""
    if all(d == dims[0] or c.prove_eq(d, dims[0]) is True for d in dims):
        return dims[0]
    bounds = [c.interval(d) for d in dims]
    low = min(0 if b.lo is None else b.lo for b in bounds)
    highs = [b.hi for b in bounds if b.hi is not None]
    found = c.fresh(hint, low, max(highs) if len(highs) == len(bounds) else None)
    c.limit(found, maximum(*dims))
    return found


def one_of(c: InferenceContext, shape: Shape) -> Shape:
    """The shape of one element: where elements may differ it gets unknowns of its own, since two need not be equal."""
    if shape.dims is None:
        return c.unknown_shape()
    return Shape(_own(c, d, i) for i, d in enumerate(shape.dims))


def _own(c: InferenceContext, d: Dim, axis: int) -> Dim:
    if isinstance(d, int) or not d.is_anonymous:
        return d
    bounds = c.interval(d)
    found = c.fresh(f"element.{axis}", bounds.lo, bounds.hi)
    most = c.limit_of(d)
    if most is not None:
        c.limit(found, most)
    return found
