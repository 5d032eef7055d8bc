"""Laws that many of these operators share."""

from __future__ import annotations

from shapeinf.algebra import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def vector(c: InferenceContext, v: Shape | None, size: Dim, law: str) -> None:
    """Tell that an input is a vector of this size; nothing for an input that is left out."""
    if v is not None:
        c.merge(c.require_rank(v, 1, "a vector")[0], size, law)


def equal(c: InferenceContext, a: Shape, b: Shape | None, law: str) -> Shape:
    """The shape of two inputs that must be of equal shape; the second may be left out."""
    return a if b is None else c.merge(a, b, law)


def part(c: InferenceContext, size: Dim, parts: int, law: str) -> Dim:
    """One of several equal parts of an axis, such as the width of a head; the law is that they fill it."""
    if parts < 1:
        c.fail("the number of heads or parts must be at least 1", parts)
    c.divisible(size, parts, law)
    return size // parts
