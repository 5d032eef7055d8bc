"""Sizes at which equations of a contract hold, such as multiples of 32, or one size of two dims.

No box of more than one size of a dim satisfies an equation everywhere, so the corners of a profile are solutions of the
equations, and the sizes between them that are none are refused when the graph runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Literal

from shapeinf.contract import Precondition
from shapeinf.expr import Dimension
from shapeinf.solver.sampling import Binding, Box

MAX_TRIED = 4096
"""The most sizes of a dim, and sizes of all dims of an equation, that are tried for a solution."""

MAX_STEPS = 64
"""The most changes of sizes on the way to a solution."""

Way = Literal["up", "down", "nearest"]
"""Which sizes are tried: larger ones, smaller ones, or both, by their distance."""


def is_equation(precondition: Precondition) -> bool:
    """Whether a precondition is an equation, a divisibility, or alternatives that are all such."""
    return bool(precondition.clauses) and all(clause.zero for clause in precondition.clauses)


def solve_equations(
    equations: Sequence[Precondition], box: Box, start: Binding, way: Way, fixed: Iterable[Dimension] = ()
) -> Binding | None:
    """Sizes in a box at which all equations hold, near `start`; None where none are found.

    Args:
        equations: preconditions.
        box: the least and the largest size of each symbol.
        start: the sizes to begin at, which are in the box.
        way: the sizes to try from there.
        fixed: the symbols whose sizes stay.
    """
    constant = frozenset(fixed)
    current = dict(start)
    for _ in range(MAX_STEPS):
        broken = next((equation for equation in equations if equation.holds(current) is False), None)
        if broken is None:
            return current
        symbols = [symbol for symbol in box if symbol in broken.free_symbols and symbol not in constant]
        change = _change_of_single(broken, box, symbols, current, way) or _change_of_all(
            broken, box, symbols, current, way
        )
        if change is None:
            return None
        current.update(change)
    return None


def _change_of_single(
    equation: Precondition, box: Box, symbols: Sequence[Dimension], current: Binding, way: Way
) -> Binding | None:
    """The smallest change of one size with which an equation holds."""
    changes = []
    for symbol in symbols:
        for size in itertools.islice(_sizes(box[symbol], current[symbol.name], way), MAX_TRIED):
            if equation.holds({**current, symbol.name: size}):
                changes.append((abs(size - current[symbol.name]), symbol.name, size))
                break
    if not changes:
        return None
    _, name, size = min(changes, key=lambda change: change[0])
    return {name: size}


def _change_of_all(
    equation: Precondition, box: Box, symbols: Sequence[Dimension], current: Binding, way: Way
) -> Binding | None:
    """The smallest change of all sizes with which an equation holds, where these are few."""
    ranges = [list(itertools.islice(_sizes(box[symbol], current[symbol.name], way), MAX_TRIED)) for symbol in symbols]
    if len(symbols) < 2 or prod(map(len, ranges)) > MAX_TRIED:
        return None
    names = [symbol.name for symbol in symbols]
    bindings = (dict(zip(names, sizes, strict=True)) for sizes in itertools.product(*ranges))
    solutions = [binding for binding in bindings if equation.holds({**current, **binding})]
    return min(solutions, key=lambda sizes: sum(abs(sizes[n] - current[n]) for n in names), default=None)


def _sizes(ends: tuple[int, int], start: int, way: Way) -> Iterator[int]:
    """The sizes of a range, from one of them on."""
    low, high = ends
    if way == "up":
        return iter(range(start, high + 1))
    if way == "down":
        return iter(range(start, low - 1, -1))
    pairs = ((start + step, start - step) for step in range(max(high - start, start - low) + 1))
    return (size for pair in pairs for size in dict.fromkeys(pair) if low <= size <= high)
