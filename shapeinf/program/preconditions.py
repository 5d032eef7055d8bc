"""What facts demand of sizes, as expressions that a program can evaluate."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import attrs

from shapeinf.constraints.records import Clause
from shapeinf.errors import Source
from shapeinf.expr import Dim, Dimension, format_dim, substitute
from shapeinf.expr.interval import as_interval, finite_bound
from shapeinf.expr.straight_line import Lowering, StraightLine
from shapeinf.lattice import ShapeStore


@attrs.frozen
class Demand:
    """A condition: one of the clauses must hold."""

    text: str
    source: Source | None
    clauses: tuple[Clause, ...]

    @property
    def symbols(self) -> frozenset[Dimension]:
        """The symbols that must have a size for it to be looked at."""
        parts = [c.expression.symbols() for c in self.clauses if isinstance(c.expression, Dimension)]
        return frozenset().union(*parts)


class Demands:
    """All demands of some facts."""

    def __init__(self, store: ShapeStore, labels: Mapping[Dimension, str]) -> None:
        """`labels` say what symbols are called in messages."""
        self.store = store
        self.labels = labels
        self.unreadable: list[str] = []
        """Conditions that are words only: no program can look at them."""
        self.all = [*self._relations(), *self._limits(), *self._divisible(), *self._guards()]
        self._programs: dict[frozenset[Dimension], tuple[list[Demand], StraightLine, list[range]]] = {}

    def add_sizes(self, owners: Iterable[tuple[Dim, str]]) -> None:
        """Demand of canonical dims, given with the tensors that have them, that they are no less than 0.

        Where bounds do not exclude it, a size below 0 is one with which the graph does not run.
        """
        for d, name in dict(reversed(list(owners))).items():
            if self.store.bounds(d)[0] < 0:
                text = f"{self.shown(d)} >= 0 (a size of {name!r})"
                self.all.append(Demand(text, None, (Clause(d, False),)))

    def about(
        self, values: Collection[Dimension], given: Collection[Dimension]
    ) -> tuple[list[Demand], StraightLine, list[range]]:
        """The demands about symbols that have a value, and the rows of a program that has their clauses."""
        key = frozenset(values)
        found = self._programs.get(key)
        if found is None:
            demands = [d for symbol in given for d in self._solved(symbol)]
            demands += [d for symbol in values if symbol not in self.store.solved for d in self._bounds(symbol)]
            demands += self.all
            demands = [d for d in demands if d.symbols <= key]
            lowering = Lowering()
            outputs: list[int] = []
            spans = []
            for demand in demands:
                spans.append(range(len(outputs), len(outputs) + len(demand.clauses)))
                outputs += [lowering.dim(clause.expression) for clause in demand.clauses]
            found = self._programs[key] = (demands, lowering.program(outputs), spans)
        return found

    def unchecked(self, values: Collection[Dimension]) -> list[str]:
        """The conditions of facts that nobody looks at when only these symbols have a size."""
        known = frozenset(values)
        return [*(d.text for d in self.all if d.source is not None and not d.symbols <= known), *self.unreadable]

    def shown(self, d: Dim) -> str:
        """A dim as text, in the labels of its symbols."""
        return format_dim(d, labels=self.labels)

    def _plain(self, d: Dim) -> Dim:
        """With equalities put in; not the canonical form, which is right only where the facts hold."""
        return substitute(d, self.store.solved)

    def _bounds(self, symbol: Dimension) -> Iterator[Demand]:
        bounds = self.store.bounds(symbol)
        atom = symbol.atom
        told = self.store.ranges.get(atom)
        clauses = []
        low, high = finite_bound(bounds[0]), finite_bound(bounds[1])
        if low is not None:
            clauses.append(symbol - low)
        if high is not None:
            clauses.append(high - symbol)
        text = f"{self.shown(symbol)} in {as_interval(bounds)}"
        for expression in clauses:
            yield Demand(text, told.source if told else None, (Clause(expression, False),))

    def _solved(self, symbol: Dimension) -> Iterator[Demand]:
        if symbol in self.store.solved:
            value = self.store.solved[symbol]
            text = f"{self.shown(symbol)} == {self.shown(value)}"
            yield Demand(text, self.store.sources.get(symbol), (Clause(symbol - value, True),))

    def _relations(self) -> Iterator[Demand]:
        for relation in self.store.relations:
            expression = self._plain(relation.expression)
            yield Demand(f"{self.shown(expression)} >= 0", relation.source, (Clause(expression, False),))

    def _limits(self) -> Iterator[Demand]:
        for symbol, most in self.store.scope.limits.items():
            expression = self._plain(most - symbol)
            yield Demand(f"{self.shown(expression)} >= 0", None, (Clause(expression, False),))

    def _divisible(self) -> Iterator[Demand]:
        for fact in self.store.divisibilities:
            expression = self._plain(fact.expression)
            text = self.shown(expression)
            text = text if isinstance(expression, Dimension) and expression.is_symbol else f"({text})"
            clause = Clause(expression % fact.divisor, True)
            yield Demand(f"{text} % {fact.divisor} == 0", fact.source, (clause,))

    def _guards(self) -> Iterator[Demand]:
        for disjunction in self.store.disjunctions:
            clauses = disjunction.clauses(self._plain)
            if not clauses:
                self.unreadable.append(disjunction.text)
            elif disjunction.equation is not None:
                yield Demand(f"{self.shown(clauses[0].expression)} == 0", disjunction.source, clauses)
            else:
                text = disjunction.template.format(*map(self.shown, map(self._plain, disjunction.operands)))
                yield Demand(text, disjunction.source, clauses)
