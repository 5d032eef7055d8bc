"""Einstein summation: an equation and operands, the shape of the result."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

ELLIPSIS = "..."


def einsum(c: InferenceContext, equation: str, operands: Sequence[Shape], *, new_axes: bool = False) -> Shape:
    """The result's shape. Axes of one letter broadcast, as runtimes let them; `...` stands for any leading axes.

    With `new_axes` a letter of the result alone is an axis of extent 1.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        c.fail("the equation must have a term for each operand", equation, f"{len(operands)} operands")
    sizes: dict[str, Dim] = {}
    spread = Shape(())
    for term, operand in zip(terms, operands, strict=True):
        spread = _read(c, term, operand, sizes, spread)
    if not arrow:
        right = _implied(terms)
    missing = [letter for letter in right.replace(ELLIPSIS, "") if letter not in sizes]
    if new_axes:
        sizes.update(dict.fromkeys(missing, 1))
    elif missing:
        c.fail("every letter of the result must be one of an operand", equation, missing[0])
    head, dots, tail = right.partition(ELLIPSIS)
    middle = spread.require() if dots else ()
    return Shape((*(sizes[letter] for letter in head), *middle, *(sizes[letter] for letter in tail)))


def _read(c: InferenceContext, term: str, operand: Shape, sizes: dict[str, Dim], spread: Shape) -> Shape:
    """Enter the sizes of one operand; the broadcast of what its ellipsis stands for with that of earlier ones."""
    head, dots, tail = term.partition(ELLIPSIS)
    letters = [*head, *tail]
    if not all(letter.isalpha() for letter in letters):
        c.fail("a term must be letters and at most one ellipsis", term)
    dims = operand.dims
    if dims is None:
        for letter in letters:
            sizes.setdefault(letter, c.fresh(f"einsum.{letter}"))
        return c.unknown_shape() if dots else spread
    if len(dims) < len(letters) or (not dots and len(dims) > len(letters)):
        c.fail("a term must have a letter for each axis of its operand", term, operand)
    end = len(dims) - len(tail)
    for letter, size in zip(letters, (*dims[: len(head)], *dims[end:]), strict=True):
        sizes[letter] = c.broadcast_dim(sizes[letter], size) if letter in sizes else size
    return c.broadcast(spread, Shape(dims[len(head) : end])) if dots else spread


def _implied(terms: Sequence[str]) -> str:
    """Without `->`: the ellipsis, then the letters that occur once, in alphabetical order."""
    every = "".join(terms).replace(ELLIPSIS, "")
    once = sorted(letter for letter in set(every) if every.count(letter) == 1)
    return (ELLIPSIS if any(ELLIPSIS in term for term in terms) else "") + "".join(once)
