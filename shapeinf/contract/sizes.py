"""Legal sizes of one dim: which they are, in as few ranges and arithmetic progressions as there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import gcd, lcm
from typing import Literal

import attrs

from shapeinf.expr import Dim, Dimension, evaluate
from shapeinf.expr.atoms import Floor, Maximum
from shapeinf.solver.budget import Budget, cut_text

Engine = Literal["isl", "evaluation"]

MAX_PERIOD = 4096


@attrs.frozen
class LegalSizes:
    """The sizes of a dim with which the graph runs, of those that were asked about.

    Args:
        name: the dim.
        values: the legal sizes, in order.
        engine: "isl" when they were solved for, "evaluation" when each size was tried.
        untried: sizes that were asked about and not tried: the budget of work was reached.

    >>> print(LegalSizes("H", (32, 64, 96, 128), "isl"))
    H in 32, 64, ..., 128
    """

    name: str
    values: tuple[int, ...]
    engine: Engine
    untried: tuple[int, ...] = ()

    @property
    def pieces(self) -> tuple[range, ...]:
        """The sizes as ranges with steps, as few as a walk from the least to the greatest finds."""
        return tuple(pieces(self.values))

    def __contains__(self, size: object) -> bool:
        """Whether a size is legal."""
        return size in self.values

    def __len__(self) -> int:
        """How many there are."""
        return len(self.values)

    def __iter__(self) -> Iterator[int]:
        """All of them."""
        return iter(self.values)

    def __str__(self) -> str:
        """The pieces as text."""
        left = (
            f" ({', '.join(map(_shown, pieces(self.untried)))} not tried: {cut_text('solve(work=...)')})"
            if self.untried
            else ""
        )
        return f"{self.name} in " + (", ".join(map(_shown, self.pieces)) or "nothing") + left


def pieces(values: Sequence[int]) -> Iterator[range]:
    """Sorted values as ranges with steps; a step counts from three values on.

    >>> list(pieces([1, 2, 3, 8, 16, 24, 100]))
    [range(1, 4), range(8, 25, 8), range(100, 101)]
    """
    start = 0
    while start < len(values):
        stop = start + 1
        step = values[stop] - values[start] if stop < len(values) else 1
        while stop < len(values) and values[stop] - values[stop - 1] == step:
            stop += 1
        if stop - start < 3 and step != 1:
            stop, step = start + 1, 1
        yield range(values[start], values[stop - 1] + 1, step)
        start = stop


def _shown(piece: range) -> str:
    first, last = piece[0], piece[-1]
    if len(piece) == 1:
        return str(first)
    if piece.step == 1:
        return f"{first}..{last}"
    return ", ".join(map(str, piece)) if len(piece) <= 3 else f"{first}, {piece[1]}, ..., {last}"


def congruence(
    symbol: Dimension, zero: Sequence[Dim], low: int, budget: Budget | None = None
) -> tuple[int, int] | None:
    """(m, r) when the expressions of one symbol are all 0 for exactly the values from `low` on that are r modulo m.

    None where that is not so, or where the expressions grow other than by steps of constant length: what is periodic
    in its differences over two periods is so for ever. None, too, where the budget is not enough to look at these.

    >>> from shapeinf.expr import Scope
    >>> h = Scope().symbol("H")
    >>> congruence(h, [2 * (h // 2) - h, 4 * (h // 4) - 2 * (h // 2)], 1)
    (4, 0)
    """
    period = lcm(*(_period(e) for e in zero))
    if not 1 < period <= MAX_PERIOD:
        return None
    steps = 2 * period * sum(len(e.terms) * (1 + e.depth) for e in zero if isinstance(e, Dimension))
    if budget is not None and not budget.take(steps):
        return None
    name = symbol.symbol.name
    rows = [[evaluate(e, {name: v}) for e in zero] for v in range(low, low + 2 * period)]
    if rows[:period] != rows[period:]:
        return None
    legal = [low + i for i, row in enumerate(rows[:period]) if not any(row)]
    if not legal:
        return None
    modulus = gcd(period, *(v - legal[0] for v in legal)) if len(legal) > 1 else period
    if len(legal) != period // modulus or modulus == 1:
        return None
    return modulus, legal[0] % modulus


def _period(d: Dim, known: dict[int, int] | None = None) -> int:
    """A number of steps after which a quasi-affine expression of one symbol has grown by a constant; 0 for others."""
    if isinstance(d, int):
        return 1
    found, known = 1, {} if known is None else known
    for monomial, _ in d.terms:
        if len(monomial) > 1:
            return 0
        for atom in monomial:
            if atom not in known:
                known[atom] = _period_of(d.scope.atoms[atom], known)
            found = lcm(found, known[atom])
    return found


def _period_of(atom: object, known: dict[int, int]) -> int:
    if isinstance(atom, Maximum):
        return 0
    if isinstance(atom, Floor):
        return atom.denominator * _period(atom.numerator, known) if isinstance(atom.denominator, int) else 0
    return 1


def in_range(values: Iterable[int]) -> list[int]:
    """The sizes that are asked about: in order, each once, none below 0."""
    return sorted({v for v in values if v >= 0})
