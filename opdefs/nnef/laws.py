"""What the rules of many NNEF operations share: broadcasting from the front, ranks, axes and lists of integers."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.elements import as_dim
from shapeinf.errors import ShapeError
from shapeinf.expr import Dim
from shapeinf.formats.nnef.versions import PROVISIONAL, TRACT
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

Listed = tuple[object, ...]
"""A list of integers as an attribute holds it: in place of one may be the contents of a tensor, of rank 0 or 1."""


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


def axis_of(c: InferenceContext, axis: object, rank: int, what: str = "axis") -> int:
    """An axis, from 0 to rank - 1: NNEF does not count from the end.

    Neither does tract, but its exporters write what torch means by a negative axis: a warning.
    """
    at = int_of(c, axis, what)
    if c.version == TRACT and -rank <= at < 0:
        message = f"{what} is {at}, taken to count from the end as in torch; tract itself refuses it"
        c.warnings = (*c.warnings, ShapeError(message))
        return at + rank
    if not 0 <= at < rank:
        c.fail(f"{what} must lie in 0..{rank - 1}, but is {at}")
    return at


def axes_of(c: InferenceContext, axes: object, rank: int, what: str = "axes") -> tuple[int, ...]:
    """Several axes, none named twice."""
    if not isinstance(axes, tuple):
        axes = (axes,)
    found = tuple(axis_of(c, axis, rank, f"an item of {what}") for axis in axes)
    if len(set(found)) != len(found):
        c.fail(f"{what} must name no axis twice", found)
    return found


def dims_of(c: InferenceContext, values: object, what: str) -> tuple[Dim | None, ...]:
    """A list of integers, each known, symbolic, or None."""
    if not isinstance(values, tuple):
        values = (values,)
    elif c.version == TRACT:  # there a tensor of several integers gives them all
        values = in_a_row(values)
    return tuple(value if type(value) is int else _dim(c, value, what) for value in values)


def is_computed(c: InferenceContext, attribute: str, index: int) -> bool:
    """Whether an item of a list is the contents of a tensor, no literal."""
    written = c.written.get(attribute)
    if not isinstance(written, tuple):
        return written is not None
    return index >= len(written) or not isinstance(written[index], int)


def in_a_row(values: Listed) -> Listed:
    """The items of nested lists, in order."""
    found: list[object] = []
    pending = list(reversed(values))
    while pending:
        one = pending.pop()
        if isinstance(one, tuple):
            pending += reversed(one)
        else:
            found.append(one)
    return tuple(found)


def _dim(c: InferenceContext, value: object, what: str) -> Dim | None:
    while isinstance(value, tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, tuple):
        c.fail(f"{what} must be a list of integers", value)
    return as_dim(value)  # type: ignore[arg-type]


def int_of(c: InferenceContext, value: object, what: str) -> int:
    """A known integer; NotKnown where it is symbolic."""
    if type(value) is int:
        return value
    found = _dim(c, value, what)
    known = None if found is None else c.concrete(found)
    if known is None:
        raise c.unknowable(f"{what} is not known")
    return known


def ints_of(
    c: InferenceContext,
    values: object,
    what: str,
    least: int | None = None,
    count: int | None = None,
    each: str = "axis of the input",
) -> tuple[int, ...]:
    """A list of known integers, at least `least`, and so many of them; NotKnown where one is symbolic."""
    listed = values if isinstance(values, tuple) else (values,)
    found = tuple(int_of(c, value, f"an item of {what}") for value in listed)
    if count is not None:
        check_count(c, found, what, count, each)
    if least is not None and found and min(found) < least:
        c.fail(f"the items of {what} must be at least {least}", found)
    return found


def check_count(
    c: InferenceContext, values: Sequence[object], what: str, count: int, each: str = "axis of the input"
) -> None:
    """Tell that a list has so many items, one for each of something."""
    if len(values) != count:
        c.fail(f"{what} must have {count} items, one for each {each}", tuple(values))


def one_of(c: InferenceContext, value: str, choices: Sequence[str], what: str) -> None:
    """Tell that an attribute is one of these words."""
    if value not in choices:
        c.fail(f"{what} must be one of {', '.join(choices)}", value)
