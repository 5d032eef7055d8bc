"""Laws that many of these operators share."""

from __future__ import annotations

from opdefs.rules.elements import as_dim
from shapeinf.algebra import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext, Value


def vector(c: InferenceContext, v: Shape | None, size: Dim, law: str) -> None:
    """Tell that an input is a vector of this size; nothing for an input that is left out."""
    if v is not None:
        c.merge(c.require_rank(v, 1, "a vector")[0], size, law)


def holds(c: InferenceContext, v: Shape | None, count: Dim, law: str) -> None:
    """Tell that an input of any rank holds so many values, where the runtime does not ask for a vector."""
    if v is not None and v.dims is not None:
        c.merge(c.numel(v), count, law)


def equal(c: InferenceContext, a: Shape, b: Shape | None, law: str) -> Shape:
    """The shape of two inputs that must be of equal shape; the second may be left out."""
    return a if b is None else c.merge(a, b, law)


def part(c: InferenceContext, size: Dim, parts: int, law: str) -> Dim:
    """One of several equal parts of an axis, such as the width of a head; the law is that they fill it."""
    if parts < 1:
        c.fail("the number of heads or parts must be at least 1", parts)
    c.divisible(size, parts, law)
    return size // parts


def length(c: InferenceContext, value: Value) -> Dim | None:
    """The size that the one element of an input says, None when it is not known."""
    known = as_dim(value.elements[0]) if value.elements else None
    return None if known is None or c.prove_le(0, known) is not True else known


def length_or_open(c: InferenceContext, value: Value, what: str) -> Dim:
    """The size that the one element of an input says, else an unknown."""
    known = length(c, value)
    return c.fresh(what) if known is None else known
