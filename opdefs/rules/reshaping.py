"""Reshapes: the same elements under other dims, and axes of size 1 put in or taken out at places that are not known."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.joining import any_dim
from shapeinf.expr import Dim, exact_quotient
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

COUNT = "the element count must not change"


def reshaped(
    c: InferenceContext, x: Shape, wanted: Sequence[Dim | None], zero_copies: bool, message: str = COUNT
) -> Shape:
    """The dims that `wanted` asks for: -1 takes what is left, 0 copies an axis (if so), None is not known.

    `message` says in the operator's words that there must be as many elements as before.
    """
    dims = [_wanted(c, x, i, d, zero_copies) for i, d in enumerate(wanted)]
    open_axes = [i for i, d in enumerate(dims) if d is None]
    inferred = [i for i, d in enumerate(wanted) if isinstance(d, int) and d == -1]
    if len(inferred) > 1:
        c.fail("only one dimension may be -1", list(wanted))
    if len(open_axes) > 1 or x.dims is None:
        high = None if x.dims is None else _largest_part(c, c.numel(x))
        return Shape(c.fresh(f"reshape.{i}", 0, high) if d is None else d for i, d in enumerate(dims))
    known = c.numel(d for d in dims if d is not None)
    total = c.numel(x)
    if open_axes:
        dims[open_axes[0]] = _left(c, total, known, bool(inferred), message)
    else:
        c.same_count(total, known, message)
    return Shape(d for d in dims if d is not None)


def _largest_part(c: InferenceContext, total: Dim) -> int | None:
    """The largest axis that a tensor with so many elements may have: without elements, any size is possible."""
    bounds = c.interval(total)
    return bounds.hi if bounds.lo is not None and bounds.lo >= 1 else None


def _wanted(c: InferenceContext, x: Shape, index: int, d: Dim | None, zero_copies: bool) -> Dim | None:
    """The dim that an element asks for, None where it is left open."""
    if d is None or (isinstance(d, int) and d == -1) or (x.dims is None and zero_copies and d == 0):
        return None
    if isinstance(d, int):
        if d < -1:
            c.fail("a dimension must be -1 or at least 0", d)
        if d == 0 and zero_copies:
            if index >= len(x):
                c.fail(f"dimension {index} copies an axis that the input does not have", x)
            return x[index]
        return d
    if c.prove_le(0, d) is not True:  # it may be -1, which is no size
        return None
    return d if not zero_copies or _never_copies(c, x, index, d) else None


def _never_copies(c: InferenceContext, x: Shape, index: int, d: Dim) -> bool:
    """Whether a symbolic size stands for itself: it is not 0, or the axis that it would copy is then 0 too."""
    if c.prove_le(1, d) is True:
        return True
    if x.dims is None:
        return False
    if index >= len(x.dims):
        c.at_least(d, 1, f"dimension {index} would copy an axis that the input does not have")
        return True
    return exact_quotient(x[index], d) is not None


def _left(c: InferenceContext, total: Dim, known: Dim, inferred: bool, message: str) -> Dim:
    """What is left for the one open axis; where that is asked for by -1, the others must have elements to tell it."""
    if inferred and known == 0:
        c.fail("no size can be told for -1 where another one is 0")
    if known == 0 or (not inferred and c.prove_le(1, known) is not True):
        return c.fresh("reshape")  # of no elements, any size is what is left
    if isinstance(total, int) and isinstance(known, int):
        if total % known:
            c.fail(message, f"{total} elements", f"a multiple of {known}")
        return total // known
    exact = exact_quotient(total, known)
    if exact is None and isinstance(known, int):
        c.divisible(total, known, message)
    elif exact is None and c.prove_le(1, known) is True:
        c.merge(total // known * known, total, message)
    return total // known


def with_ones(c: InferenceContext, x: Shape, count: int) -> Shape:
    """A shape with so many axes of size 1 put in anywhere: each is one of these, or moves back by at most `count`."""
    dims = x.require()
    new = (1,) if count else ()
    return Shape(
        any_dim(c, (*new, *dims[max(at - count, 0) : at + 1]), f"unsqueeze.{at}") for at in range(len(dims) + count)
    )


def only_ones(c: InferenceContext, x: Shape, count: int) -> tuple[int, ...] | None:
    """The axes of size 1 where so many are to be taken out: None where there are more than that."""
    places = tuple(i for i, d in enumerate(x.require()) if c.prove_eq(d, 1) is not False)
    if len(places) < count:
        c.fail(f"there must be {count} axes of size 1 to be squeezed", x)
    return places if len(places) == count else None


def without_ones(c: InferenceContext, x: Shape, count: int) -> Shape:
    """A shape with so many axes of size 1 taken out anywhere: each axis comes from one at most `count` behind it."""
    dims = x.require()
    before = [0]
    for d in dims:
        before.append(before[-1] + (c.prove_eq(d, 1) is not False))

    def may_move(source: int, by: int) -> bool:
        return by <= before[source] and count - by <= before[-1] - before[source + 1]

    return Shape(
        any_dim(c, [dims[at + by] for by in range(count + 1) if may_move(at + by, by)], f"squeeze.{at}")
        for at in range(len(dims) - count)
    )
