"""The integers for which conditions on one symbol hold: exactly, as congruence classes.

A floor of `a*x + b` over `c` is linear on each class of the integers `x` modulo `c`, and so is a sum of such floors on
each class modulo a common period. With maxima it is linear between a few integers of each class. So the integers of
each class for which a condition holds are a few ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, lcm

import attrs

from shapeinf.constraints.piecewise import ClassPieces, NotLinearError, Piece, join_ranges, piece_ranges
from shapeinf.constraints.records import Clause
from shapeinf.expr.dimension import Dimension, DimSize
from shapeinf.expr.evaluation import evaluate
from shapeinf.expr.interval import Bound, Bounds
from shapeinf.expr.periods import count_terms, find_period
from shapeinf.solver.budget import Budget

MAX_STEPS = 500_000
"""Steps of one question: two for each term of the conditions, in each class."""

Group = Sequence[Clause]
"""Clauses of which one must hold."""


@attrs.frozen
class PeriodicSet:
    """A set of integers, in classes modulo a number: that of `first`, of `first + 1`, and so on.

    Each class has ranges of the numbers `n` for which `first + i + n * modulus` is in the set, where `i` is its index.

    >>> evens = PeriodicSet(1, 2, ((), ((0, inf),)))
    >>> 8 in evens, 9 in evens, evens.least, evens.greatest, evens.interval
    (True, False, 2, inf, None)
    """

    first: int
    modulus: int
    classes: tuple[tuple[tuple[int, Bound], ...], ...]

    def __bool__(self) -> bool:
        """Whether there is an integer in it."""
        return any(self.classes)

    def __contains__(self, size: int) -> bool:
        """Whether an integer is in it."""
        step, index = divmod(size - self.first, self.modulus)
        return any(low <= step <= high for low, high in self.classes[index])

    @property
    def least(self) -> int:
        """The least integer of a set that is not empty."""
        return min(start + self.modulus * r[0][0] for start, r in enumerate(self.classes, self.first) if r)

    @property
    def greatest(self) -> Bound:
        """The greatest integer of a set that is not empty; infinity where there is none."""
        ends = [(start, r[-1][1]) for start, r in enumerate(self.classes, self.first) if r]
        return inf if any(end == inf for _, end in ends) else max(start + self.modulus * end for start, end in ends)

    @property
    def interval(self) -> tuple[int, int | None] | None:
        """The ends of the set where it is an interval; None for the upper one where there is none."""
        if not self:
            return None
        least, greatest = self.least, self.greatest
        for start, ranges in enumerate(self.classes, self.first):
            low = -((start - least) // self.modulus)
            high = greatest if greatest == inf else (int(greatest) - start) // self.modulus
            if ranges != (((low, high),) if low <= high else ()):
                return None
        return least, None if greatest == inf else int(greatest)


def solve_periodic(groups: Sequence[Group], symbol: Dimension, bounds: Bounds, budget: Budget) -> PeriodicSet | None:
    """The values of a symbol within its bounds for which a clause of each group holds.

    None where a dim has another symbol, where they are not quasi-affine in an unbounded range, and past the limit of
    steps.

    >>> from shapeinf.expr import Scope
    >>> h = Scope().symbol("H")
    >>> equal_halves = [Clause((h + 15) // 16 - 2 * ((h + 31) // 32), True)]
    >>> [n for n in range(50) if n in solve_periodic([equal_halves], h, (1, inf), Budget())]
    [17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 49]
    """
    low, high = bounds
    if low == -inf or low > high:
        return None if low == -inf else PeriodicSet(int(low), 1, ((),))
    dims = [c.expression for group in groups for c in group if isinstance(c.expression, Dimension)]
    if any(other != symbol for d in dims for other in d.symbols()):
        return None
    period, count = lcm(*map(find_period, dims)), high if high == inf else int(high) - int(low) + 1
    if count != inf and (not period or count < period):
        period = int(count)  # each class has one integer, where any function can be evaluated
    steps = period * (1 + 2 * count_terms(dims))
    if not period or steps > MAX_STEPS or not budget.take(steps):
        return None
    classes = _Classes(groups, symbol, period)
    try:
        return PeriodicSet(int(low), period, tuple(classes.solve(int(low) + i, high) for i in range(period)))
    except (NotLinearError, ZeroDivisionError):
        return None


class _Classes:
    """The solutions in each class of integers modulo a period."""

    def __init__(self, groups: Sequence[Group], symbol: Dimension, period: int) -> None:
        self.groups = groups
        self.symbol = symbol
        self.period = period
        self.slopes: dict[DimSize, int] = {}
        """By how much dims without maxima grow in a period, by dim."""

    def solve(self, start: int, last: Bound) -> tuple[tuple[int, Bound], ...]:
        """The ranges of the numbers of periods from `start` for which the conditions hold, up to the integer `last`."""
        end = inf if last == inf else (int(last) - start) // self.period
        ranges: list[tuple[int, Bound]] = [(0, end)]
        for group in self.groups:
            holds = [r for c in group for r in piece_ranges(self._pieces(c.expression, start, end), c.zero, end)]
            common = [(max(a, c), min(b, d)) for a, b in ranges for c, d in join_ranges(holds)]
            ranges = [(low, high) for low, high in common if low <= high]
            if not ranges:
                break
        return tuple(ranges)

    def _pieces(self, d: DimSize, start: int, end: Bound) -> Sequence[Piece]:
        if isinstance(d, Dimension) and d.has_maximum and end:
            return ClassPieces(self.symbol, start, self.period).dim_pieces(d)
        value = int(evaluate(d, {self.symbol.name: start}))
        if end and d not in self.slopes:
            self.slopes[d] = int(evaluate(d, {self.symbol.name: start + self.period})) - value
        return [Piece(0, self.slopes[d] if end else 0, value)]
