"""Broadcasting from the first axis, and shapes of equal rank."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.formats.nnef.versions import PROVISIONAL
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def broadcast(c: InferenceContext, *shapes: Shape) -> Shape:
    """NNEF's broadcasting, which aligns shapes at their first axis; unknown when any rank is."""
    if any(s.dims is None for s in shapes):
        return c.broadcast(*shapes)
    longest = max(len(s) for s in shapes)
    return c.broadcast(*(s if len(s) == longest else ones_behind(s, longest) for s in shapes))


def broadcast_onto(c: InferenceContext, target: Shape, shape: Shape, what: str) -> None:
    """Tell that a shape broadcasts to another one and leaves it as it is."""
    if target.dims is None or shape.dims is None:
        return
    message = f"{what} must broadcast to the shape of the input"
    if len(shape) > len(target) and any(d != 1 for d in shape[len(target) :]):
        c.fail(message, shape, target)
    for d, size in zip(shape, target, strict=False):
        if d != 1 and c.prove_le(2, d) is True:
            c.merge(d, size, message)


def ones_behind(shape: Shape, rank: int) -> Shape:
    """The shape with ones behind its last extent, up to a rank."""
    return Shape((*shape, *(1 for _ in range(rank - len(shape)))))


def extended(c: InferenceContext, shape: Shape, rank: int) -> Shape:
    """The shape; in the provisional dialect, where every shape goes on with ones, of this rank at least."""
    if c.version != PROVISIONAL or shape.dims is None or len(shape) >= rank:
        return shape
    return ones_behind(shape, rank)


def fitted(c: InferenceContext, shape: Shape, rank: int) -> Shape:
    """The shape; in the provisional dialect of this rank, if ones behind its last extent are all that differs."""
    if c.version != PROVISIONAL or shape.dims is None or any(d != 1 for d in shape[rank:]):
        return shape
    return ones_behind(Shape(shape[:rank]), rank)


def of_rank(c: InferenceContext, shape: Shape, rank: int, what: str) -> Shape:
    """The shape, which must have this rank; an unknown one is learned."""
    return c.require_rank(fitted(c, shape, rank), rank, what)


def of_one_rank(c: InferenceContext, shapes: Sequence[Shape], what: str) -> list[Shape]:
    """The shapes, which must be of equal rank; an unknown one is learned from the others."""
    known = [len(s) for s in shapes if s.dims is not None]
    if not known:
        raise c.unknowable(f"the ranks of {what} are not known")
    ranked = [extended(c, s, max(known)) for s in shapes]
    if len({len(s) for s in ranked if s.dims is not None}) > 1:
        c.fail(f"{what} must be of equal rank", *shapes)
    return [c.require_rank(s, max(known), what) for s in ranked]


def equal_shapes(c: InferenceContext, a: Shape, b: Shape, message: str) -> Shape:
    """Both shapes are one."""
    if c.version == PROVISIONAL and a.dims is not None and b.dims is not None:
        rank = max(len(a), len(b))
        a, b = ones_behind(a, rank), ones_behind(b, rank)
    return c.merge(a, b, message)
