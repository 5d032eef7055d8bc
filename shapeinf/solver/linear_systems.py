"""Integer points of systems of linear constraints, by exact elimination of variables in the manner of the Omega test.

An equality is solved for a variable whose factor is 1 or -1, after changes of variables that are one-to-one on the
integers. A variable of inequalities is eliminated by all pairs of a lower and an upper bound. That keeps the integer
points where a factor of each pair is 1, or where an integer always lies between its bounds; else it may only show that
there is no point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

import attrs

from shapeinf.solver.answers import UndecidedError
from shapeinf.solver.budget import Budget

CONSTANT = 0
MAX_ROWS = 256
MAX_STEPS = 200_000
"""Steps of one question: a step is a factor that is computed."""

Row = dict[int, int]
"""A linear expression: the factor of each variable by its number, and the constant at `CONSTANT`."""


class Steps:
    """The remaining steps of one question."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._remaining = MAX_STEPS

    def take(self, steps: int) -> None:
        """Take steps before they are done. Raises UndecidedError where too few remain."""
        self._remaining -= steps
        if self._remaining < 0 or not self._budget.take(steps):
            raise UndecidedError


@attrs.define
class System:
    """Rows that are 0, rows that are at least 0, and disjunctions: of each, one of its systems has to hold."""

    equal: list[Row] = attrs.field(factory=list)
    at_least: list[Row] = attrs.field(factory=list)
    disjunctions: list[list[System]] = attrs.field(factory=list)

    def joined(self, part: System) -> System:
        """The system with the rows of a part without disjunctions."""
        return System(self.equal + part.equal, self.at_least + part.at_least, self.disjunctions)

    def reach(self) -> int:
        """A number that exceeds all coordinates of vertices: the product of the rows' norms exceeds each determinant.

        Where a variable can be as large, it has no bound.
        """
        parts = [self, *(part for disjunction in self.disjunctions for part in disjunction)]
        rows = (row for part in parts for row in (*part.equal, *part.at_least))
        return 1 << sum(abs(c).bit_length() for row in rows for c in row.values())


def has_point(system: System, steps: Steps) -> bool | None:
    """Whether integers satisfy a system; None where elimination does not decide it. Raises UndecidedError.

    >>> x, y = 1, 2
    >>> six_x_is_four_y, x_is_1 = {x: 6, y: -4}, {x: 1, CONSTANT: -1}
    >>> has_point(System([six_x_is_four_y, x_is_1]), Steps(Budget()))
    False
    """
    answer = _has_point(system.equal, system.at_least, steps)
    if answer is False or not system.disjunctions:
        return answer
    others = System(system.equal, system.at_least, system.disjunctions[1:])
    answers = []
    for part in system.disjunctions[0]:
        answers.append(has_point(others.joined(part), steps))
        if answers[-1]:
            return True
    return None if None in answers else False


def combine(a: int, first: Row, b: int, second: Row) -> Row:
    """The sum of multiples of two rows."""
    return {v: a * first.get(v, 0) + b * second.get(v, 0) for v in {**first, **second}}


def _has_point(equal: Sequence[Row], at_least: Sequence[Row], steps: Steps) -> bool | None:
    """Whether integers satisfy equalities and inequalities."""
    exact = True
    while True:
        rows = _solve_equalities(equal, at_least, steps)
        tightened = None if rows is None else _tighten(rows)
        if tightened is None:
            return False
        equal, at_least = tightened
        variables = sorted({v for row in at_least for v in row if v != CONSTANT})
        if not equal and not variables:
            return exact or None
        if not equal:
            steps.take(sum(map(len, at_least)) * len(variables))
            inexact, _, best = min((*_cost(at_least, v, steps), v) for v in variables)
            exact = exact and not inexact
            at_least = _eliminate(at_least, best, steps)


def _solve_equalities(equal: Sequence[Row], rows: Sequence[Row], steps: Steps) -> Sequence[Row] | None:
    """The rows after each equality is solved for a variable; None where an equality has no solution."""
    pending = list(equal)
    while pending:
        factor, constant, row = _primitive(pending.pop())
        if not factor or constant % factor:
            if constant:
                return None
            continue
        row[CONSTANT] = constant // factor
        variable = min((v for v in row if v != CONSTANT), key=lambda v: (abs(row[v]), v))
        value = {v: -(c // row[variable]) for v, c in row.items() if v != variable}
        if abs(row[variable]) > 1:  # this changes the variable, so that the other factors get smaller
            value[variable] = 1
            pending.append(row)
        change = combine(1, value, -1, {variable: 1})
        steps.take(len(change) * (1 + len(pending) + len(rows)))
        pending, rows = (
            [combine(1, r, r[variable], change) if r.get(variable) else r for r in part] for part in (pending, rows)
        )
    return rows


def _primitive(row: Row) -> tuple[int, int, Row]:
    """The common factor of the variables, the constant, and the factors of the variables without it."""
    factors = {v: c for v, c in row.items() if c and v != CONSTANT}
    factor = gcd(*factors.values())
    return factor, row.get(CONSTANT, 0), {v: c // factor for v, c in factors.items()}


def _tighten(rows: Iterable[Row]) -> tuple[list[Row], list[Row]] | None:
    """The equalities among inequalities, and the tightest of those that differ in the constant; None for no point."""
    least: dict[tuple[tuple[int, int], ...], int] = {}
    for factor, constant, row in map(_primitive, rows):
        if factor:
            key = tuple(sorted(row.items()))
            least[key] = min(constant // factor, least.get(key, constant // factor))
        elif constant < 0:
            return None
    slacks = {key: c + least.get(tuple((v, -f) for v, f in key), 1 - c) for key, c in least.items()}
    if any(slack < 0 for slack in slacks.values()):
        return None
    tightest = [(slacks[key], {**dict(key), CONSTANT: c}) for key, c in least.items()]
    return [row for slack, row in tightest if not slack], [row for _, row in tightest]


def _pairs(rows: Sequence[Row], variable: int) -> tuple[list[tuple[Row, Row]], int]:
    """The pairs of a lower and an upper bound of a variable, and the number of its bounds."""
    lower = [row for row in rows if row.get(variable, 0) > 0]
    upper = [row for row in rows if row.get(variable, 0) < 0]
    return [(a, b) for a in lower for b in upper], len(lower) + len(upper)


def _cost(rows: Sequence[Row], variable: int, steps: Steps) -> tuple[bool, int]:
    """Whether the elimination of a variable may not keep the integer points, and the number of rows that it adds."""
    pairs, bounds = _pairs(rows, variable)
    steps.take(len(pairs))
    return not all(_is_exact(a, b, variable) for a, b in pairs), len(pairs) - bounds


def _is_exact(lower: Row, upper: Row, variable: int) -> bool:
    """Whether an integer lies between two bounds of a variable wherever a rational number does."""
    a, b = lower[variable], -upper[variable]
    if a == 1 or b == 1:
        return True
    factor, distance, _ = _primitive(combine(b, lower, a, upper))
    return not factor and distance >= (a - 1) * (b - 1)


def _eliminate(rows: Sequence[Row], variable: int, steps: Steps) -> list[Row]:
    """The rows without a variable. Raises UndecidedError for too many."""
    pairs, _ = _pairs(rows, variable)
    if len(pairs) + len(rows) > MAX_ROWS:
        raise UndecidedError
    steps.take(sum(len(a) + len(b) for a, b in pairs))
    others = [row for row in rows if not row.get(variable)]
    return others + [combine(-b[variable], a, a[variable], b) for a, b in pairs]
