"""Broadcasting from the first axis, and shapes of equal rank."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.operands import prove_unit
from shapeinf.formats.nnef.versions import PROVISIONAL
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def broadcast(c: InferenceContext, *shapes: Shape) -> Shape:
    """NNEF's broadcasting, which aligns shapes at their first axis; unknown if the rank of a shape is."""
    if any(s.dims is None for s in shapes):
        return c.broadcast(*shapes)
    longest = max(len(s) for s in shapes)
    return c.broadcast(*(s if len(s) == longest else pad_rank(s, longest) for s in shapes))


def pad_rank(shape: Shape, rank: int) -> Shape:
    """The shape with trailing ones up to a rank."""
    return Shape((*shape, *(1 for _ in range(rank - len(shape)))))


def extend_rank(c: InferenceContext, shape: Shape, rank: int) -> Shape:
    """The shape; in the provisional dialect, where shapes have implicit trailing ones, of at least this rank."""
    if c.version != PROVISIONAL or shape.dims is None or len(shape) >= rank:
        return shape
    return pad_rank(shape, rank)


def fit_rank(c: InferenceContext, shape: Shape, rank: int) -> Shape:
    """The shape; in the provisional dialect with this rank: trailing ones are added, or removed.

    Symbolic sizes that are removed must be 1; a shape with other sizes there is returned as it is.
    """
    if c.version != PROVISIONAL or shape.dims is None or any(prove_unit(c, d) is False for d in shape[rank:]):
        return shape
    for d in shape[rank:]:
        c.merge(d, 1, f"an operand of rank {rank} may have more axes of extent 1 only")
    return pad_rank(Shape(shape[:rank]), rank)


def require_equal_ranks(c: InferenceContext, shapes: Sequence[Shape], name: str) -> list[Shape]:
    """The shapes, which must have the same rank; an unknown rank is inferred from the others."""
    known = [len(s) for s in shapes if s.dims is not None]
    if not known:
        raise c.unknowable(f"the ranks of {name} are not known")
    ranked = [extend_rank(c, s, max(known)) for s in shapes]
    if len({len(s) for s in ranked if s.dims is not None}) > 1:
        c.fail(f"{name} must have the same rank", *shapes)
    return [c.require_rank(s, max(known), name) for s in ranked]


def merge_shapes(c: InferenceContext, a: Shape, b: Shape, message: str) -> Shape:
    """The common shape of both; in the provisional dialect they may differ in trailing ones."""
    if c.version == PROVISIONAL and a.dims is not None and b.dims is not None:
        rank = max(len(a), len(b))
        a, b = pad_rank(a, rank), pad_rank(b, rank)
    return c.merge(a, b, message)
