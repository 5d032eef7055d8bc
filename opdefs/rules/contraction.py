"""Matrix products and Einstein summation: the shapes of sums of products."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.products import ELLIPSIS
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def matmul(c: InferenceContext, a: Shape, b: Shape) -> Shape:
    """[*A, M, K], [*B, K, N] -> [*broadcast(A, B), M, N], as `numpy.matmul`; the axis of a vector [K] is removed."""
    left, right = a.require(), b.require()
    if not left or not right:
        c.fail("the operands of a matrix product must have rank 1 or more", a, b)
    inner_right = right[-2] if len(right) > 1 else right[0]
    c.merge(left[-1], inner_right, "the inner dimensions of a matrix product must be equal")
    lead = c.broadcast(Shape(left[:-2]), Shape(right[:-2]))
    rows = left[-2:-1]
    columns = right[-1:] if len(right) > 1 else ()
    return Shape((*lead, *rows, *columns))


def einsum(
    c: InferenceContext,
    equation: str,
    operands: Sequence[Shape],
    *,
    new_axes: bool = False,
    repeats_broadcast: bool = True,
) -> Shape:
    """The shape of the result. Axes of one letter broadcast, as in runtimes; `...` stands for any number of axes.

    With `new_axes`, a letter that occurs only in the result is an axis of size 1. Without `repeats_broadcast`, axes of
    one letter in the same operand must be equal.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        c.fail("the equation must have a term for each operand", equation, f"{len(operands)} operands")
    sizes: dict[str, DimSize] = {}
    spread = Shape(())
    for term, operand in zip(terms, operands, strict=True):
        spread = _read_term(c, term, operand, sizes, spread, repeats_broadcast)
    if not arrow:
        right = _implicit_output(terms)
    named = right.replace(ELLIPSIS, "", 1)
    if len(set(named)) != len(named):
        c.fail("the result must name each axis once", equation)
    missing = [letter for letter in named if letter not in sizes]
    if new_axes:
        sizes.update(dict.fromkeys(missing, 1))
    elif missing:
        c.fail("every letter of the result must occur in an operand", equation, missing[0])
    head, dots, tail = right.partition(ELLIPSIS)
    middle = spread.require() if dots else ()
    return Shape((*(sizes[letter] for letter in head), *middle, *(sizes[letter] for letter in tail)))


def _read_term(
    c: InferenceContext, term: str, operand: Shape, sizes: dict[str, DimSize], spread: Shape, repeats_broadcast: bool
) -> Shape:
    """Record the sizes of an operand's letters in `sizes`; returns `spread` broadcast with its ellipsis axes."""
    head, dots, tail = term.partition(ELLIPSIS)
    letters = [*head, *tail]
    if not all(letter.isalpha() for letter in letters):
        c.fail("a term must consist of letters and at most one ellipsis", term)
    if operand.dims is None and not dots:
        operand = c.require_rank(operand, len(letters), f"the operand of {term}")
    dims = operand.dims
    if dims is None:
        for letter in letters:
            unknown = c.fresh(f"einsum.{letter}")
            sizes[letter] = c.broadcast_dim(sizes[letter], unknown) if letter in sizes else unknown
        return c.unknown_shape()
    if len(dims) < len(letters) or (not dots and len(dims) > len(letters)):
        c.fail("a term must have a letter for each axis of its operand", term, operand)
    end = len(dims) - len(tail)
    extents = list(zip(letters, (*dims[: len(head)], *dims[end:]), strict=True))
    if not repeats_broadcast:
        extents = _merge_repeats(c, extents)
    for letter, size in extents:
        sizes[letter] = c.broadcast_dim(sizes[letter], size) if letter in sizes else size
    return c.broadcast(spread, Shape(dims[len(head) : end])) if dots else spread


def _merge_repeats(c: InferenceContext, extents: Sequence[tuple[str, DimSize]]) -> list[tuple[str, DimSize]]:
    """Each letter of an operand once, with the merged size of its axes."""
    merged: dict[str, DimSize] = {}
    for letter, size in extents:
        merged[letter] = c.merge(merged.get(letter, size), size, f"the axes {letter} of an operand must be equal")
    return list(merged.items())


def _implicit_output(terms: Sequence[str]) -> str:
    """The result of an equation without `->`: the ellipsis, then the letters that occur once, in alphabetical order."""
    every = "".join(terms).replace(ELLIPSIS, "")
    once = sorted(letter for letter in set(every) if every.count(letter) == 1)
    return (ELLIPSIS if any(ELLIPSIS in term for term in terms) else "") + "".join(once)
