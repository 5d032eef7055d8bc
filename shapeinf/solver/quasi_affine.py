"""Questions about the integers for which conditions hold, without isl: by congruence classes and by elimination.

A condition is a group of clauses, one of which has to hold; the bounds of symbols in a store hold, too. Conditions on
one symbol are solved by `periodic_sets`, those that connect several symbols by `linear_systems`: there a floor and a
maximum are variables of their own, and so is a product, without the conditions on its factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from math import inf

from shapeinf.constraints.records import Clause
from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.atoms import Floor, Maximum, Symbol
from shapeinf.expr.dimension import Dimension, DimSize, Monomial, terms_of
from shapeinf.expr.interval import Bound
from shapeinf.solver.answers import UndecidedError
from shapeinf.solver.budget import Budget
from shapeinf.solver.linear_systems import CONSTANT, Row, Steps, System, combine, has_point
from shapeinf.solver.periodic_sets import Group, PeriodicSet, solve_periodic

MAX_TRIED = 4096
"""Sizes of one symbol that are tried one by one, 50 us each, where others are connected with it."""


class Conditions:
    """Conditions that share symbols with each other, directly or through others."""

    def __init__(
        self, store: ConstraintStore, groups: Sequence[Group], budget: Budget, symbols: Iterable[Dimension] = ()
    ) -> None:
        """The conditions of these groups, and the congruences of their symbols and further ones."""
        self.store = store
        self.symbols = _symbols(groups).union(symbols)
        self._budget = budget
        known = (store.congruences.find(symbol) for symbol in sorted(self.symbols, key=str))
        congruences = ((Clause((c.symbol - c.rest) % c.modulus, True),) for c in known if c is not None)
        self._groups = [*groups, *congruences]
        self._writer: _SystemWriter | None = None

    def _system_writer(self) -> _SystemWriter:
        if self._writer is None:
            self._writer = _SystemWriter(self.store, self._groups)
        return self._writer

    def hold(self, *more: Clause, exactly: bool = False) -> bool:
        """Whether integers satisfy the conditions and further clauses on their symbols. Raises UndecidedError.

        Unless `exactly`, a product counts as a variable of its own.
        """
        if len(self.symbols) == 1:
            (symbol,) = self.symbols
            solved = self.solve(symbol, more=more)
            if solved is not None:
                return bool(solved)
        writer = self._system_writer()
        answer = has_point(writer.system_with(more), Steps(self._budget))
        if answer is None or (answer and exactly and writer.has_product):
            raise UndecidedError
        return answer

    def solve(
        self, symbol: Dimension, low: Bound = -inf, high: Bound = inf, more: Sequence[Clause] = ()
    ) -> PeriodicSet | None:
        """The values of the only symbol, in a range; None where there are others, and where they are not decided."""
        least, most = self.store.bounds(symbol)
        groups = [*self._groups, *((clause,) for clause in more)]
        bounds = max(low, least), min(high, most)
        return solve_periodic(groups, symbol, bounds, self._budget) if self.symbols <= {symbol} else None

    def select(self, symbol: Dimension, sizes: Sequence[int]) -> list[int]:
        """The sorted sizes that a symbol may have where the conditions hold. Raises UndecidedError."""
        solved = self.solve(symbol, sizes[0], sizes[-1])
        if solved is not None:
            return [size for size in sizes if size in solved]
        if len(sizes) > MAX_TRIED:
            raise UndecidedError
        return [size for size in sizes if self.hold(Clause(symbol - size, True), exactly=True)]

    def ends(self, symbol: Dimension) -> tuple[Bound, Bound] | None:
        """The least and the greatest value of a symbol; None for no value at all. Raises UndecidedError."""
        solved = self.solve(symbol)
        if solved is not None:
            return (solved.least, solved.greatest) if solved else None
        if not self.hold():
            return None
        low, high = self.store.bounds(symbol)
        return self._end(symbol, low, high, -1), self._end(symbol, high, low, 1)

    def _end(self, symbol: Dimension, bound: Bound, opposite: Bound, sign: int) -> Bound:
        """The last value of a symbol in a direction, that of a bound, by bisection; an infinity where there is none."""
        writer = self._system_writer()
        number = writer.variable(symbol.terms[0][0])

        def has_value(last: int) -> bool:
            """Whether there is a value from `last` on."""
            row = {number: sign, CONSTANT: -sign * last}
            answer = has_point(writer.system.joined(System([], [row])), Steps(self._budget))
            if answer is None:
                raise UndecidedError
            return answer

        if has_value(sign * writer.system.reach() if abs(bound) == inf else int(bound)):
            return bound
        if abs(bound) != inf:
            return bound - sign * _first(lambda distance: has_value(int(bound) - sign * distance))
        if abs(opposite) == inf:
            raise UndecidedError
        return opposite + sign * (_first(lambda distance: not has_value(int(opposite) + sign * distance)) - 1)


def _first(holds: Callable[[int], bool]) -> int:
    """The least number above 0 for which a condition holds, as for all larger ones."""
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def connected(store: ConstraintStore, groups: Sequence[Group], budget: Budget) -> list[Conditions]:
    """The conditions in parts that share no symbol. Raises UndecidedError past the budget."""
    if not budget.take(len(groups) ** 2 // 4):
        raise UndecidedError
    parts: list[tuple[set[Dimension], list[Group]]] = []
    for group in groups:
        joined, symbols = [group], _symbols([group])
        for part in [part for part in parts if not part[0].isdisjoint(symbols)]:
            parts.remove(part)
            joined, symbols = part[1] + joined, part[0] | symbols
        parts.append((symbols, joined))
    return [Conditions(store, joined, budget) for _, joined in parts]


def _symbols(groups: Sequence[Group]) -> set[Dimension]:
    dims = (clause.expression for group in groups for clause in group)
    return {symbol for d in dims if isinstance(d, Dimension) for symbol in d.symbols()}


class _SystemWriter:
    """Writes conditions as a linear system; of each atom and product with the conditions that define or bound it."""

    def __init__(self, store: ConstraintStore, groups: Sequence[Group]) -> None:
        self.store = store
        self.has_product = False
        self.numbers: dict[Monomial, int] = {}
        self.system = System()
        for group in groups:
            parts = [self._part(clause) for clause in group]
            if len(parts) > 1:
                self.system.disjunctions.append(parts)
            else:
                self.system = self.system.joined(parts[0])

    def system_with(self, clauses: Sequence[Clause]) -> System:
        """The system with further clauses, all of which have to hold."""
        parts = [self._part(clause) for clause in clauses]  # first, since they may define variables
        return reduce(System.joined, parts, self.system)

    def _part(self, clause: Clause) -> System:
        row = self._row(clause.expression)
        return System([row]) if clause.zero else System([], [row])

    def _row(self, d: DimSize) -> Row:
        return {self.variable(monomial): c for monomial, c in terms_of(self.store.scope, d)}

    def variable(self, monomial: Monomial) -> int:
        """The number of a monomial."""
        if not monomial:
            return CONSTANT
        if monomial not in self.numbers:
            number = self.numbers[monomial] = len(self.numbers) + 1
            atom = self.store.scope.only_atom(monomial)
            if isinstance(atom, Floor) and isinstance(atom.denominator, int) and atom.denominator > 0:
                rest = combine(1, self._row(atom.numerator), -atom.denominator, {number: 1})
                self.system.at_least += [rest, combine(-1, rest, atom.denominator - 1, {CONSTANT: 1})]
            elif isinstance(atom, Maximum):
                excess = [combine(-1, self._row(arg), 1, {number: 1}) for arg in atom.args]
                self.system.at_least += excess
                self.system.disjunctions.append([System([row]) for row in excess])
            else:
                self.has_product = self.has_product or not isinstance(atom, Symbol)
                low, high = self.store.bounds(self.store.scope.monomial_dim(monomial))
                self.system.at_least += [{number: 1, CONSTANT: -int(low)}] if low > -inf else []
                self.system.at_least += [{number: -1, CONSTANT: int(high)}] if high < inf else []
        return self.numbers[monomial]
