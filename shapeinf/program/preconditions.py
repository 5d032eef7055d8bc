"""The constraints on sizes as expressions that a program can evaluate."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import attrs

from shapeinf.constraints.records import Clause, Constraint
from shapeinf.errors import Source
from shapeinf.expr import Dim, Dimension, format_dim, substitute
from shapeinf.expr.interval import as_interval, finite_bound
from shapeinf.expr.straight_line import Lowering, StraightLine
from shapeinf.lattice import ShapeStore


@attrs.frozen
class Requirement:
    """A condition on sizes: one of the clauses must hold."""

    text: str
    source: Source | None
    clauses: tuple[Clause, ...]

    @property
    def symbols(self) -> frozenset[Dimension]:
        """The symbols that must have a size for it to be evaluated."""
        parts = [c.expression.symbols() for c in self.clauses if isinstance(c.expression, Dimension)]
        return frozenset().union(*parts)


class Requirements:
    """All requirements of a store."""

    def __init__(self, store: ShapeStore, labels: Mapping[Dimension, str]) -> None:
        """`labels` are the names of symbols in messages."""
        self.store = store
        self.labels = labels
        self.unreadable: list[str] = []
        """Conditions in words, which no program can evaluate."""
        pending = list(store.pending())
        relations = [c for c in pending if c.kind == "relation"]
        others = [c for c in pending if c.kind != "relation"]
        self.all = [*self._read(relations), *self._limits(), *self._read(others)]
        self._programs: dict[frozenset[Dimension], tuple[list[Requirement], StraightLine, list[range]]] = {}

    def add_sizes(self, owners: Iterable[tuple[Dim, str]]) -> None:
        """Require of canonical dims, each with a tensor that has it, to be no less than 0.

        Where bounds do not exclude it, a size below 0 is one with which the graph does not run.
        """
        for d, name in dict(reversed(list(owners))).items():
            if self.store.bounds(d)[0] < 0:
                text = f"{self.format(d)} >= 0 (a size of {name!r})"
                self.all.append(Requirement(text, None, (Clause(d, False),)))

    def compile(
        self, values: Collection[Dimension], inputs: Collection[Dimension]
    ) -> tuple[list[Requirement], StraightLine, list[range]]:
        """The requirements on symbols that have a value, and the rows of a program that has their clauses.

        `inputs` are those whose value the user gives, also of symbols that equal others.
        """
        key = frozenset(values)
        compiled = self._programs.get(key)
        if compiled is None:
            requirements = [r for symbol in inputs for r in self._solved(symbol)]
            requirements += [r for symbol in values if symbol not in self.store.solved for r in self._bounds(symbol)]
            requirements += self.all
            requirements = [r for r in requirements if r.symbols <= key]
            lowering = Lowering()
            outputs: list[int] = []
            spans = []
            for requirement in requirements:
                spans.append(range(len(outputs), len(outputs) + len(requirement.clauses)))
                outputs += [lowering.dim(clause.expression) for clause in requirement.clauses]
            compiled = self._programs[key] = (requirements, lowering.program(outputs), spans)
        return compiled

    def unchecked(self, values: Collection[Dimension]) -> list[str]:
        """The requirements that no call evaluates when only these symbols have a size."""
        known = frozenset(values)
        return [*(r.text for r in self.all if r.source is not None and not r.symbols <= known), *self.unreadable]

    def format(self, d: Dim) -> str:
        """A dim as text, in the labels of its symbols."""
        return format_dim(d, labels=self.labels)

    def _plain(self, d: Dim) -> Dim:
        """With equalities put in; not the canonical form, which is right only where the constraints hold."""
        return substitute(d, self.store.solved)

    def _bounds(self, symbol: Dimension) -> Iterator[Requirement]:
        bounds = self.store.bounds(symbol)
        narrowed = self.store.ranges.get(symbol.atom)
        low, high = finite_bound(bounds[0]), finite_bound(bounds[1])
        text = f"{self.format(symbol)} in {as_interval(bounds)}"
        ends = [] if low is None else [symbol - low]
        ends += [] if high is None else [high - symbol]
        for expression in ends:
            yield Requirement(text, narrowed.source if narrowed else None, (Clause(expression, False),))

    def _solved(self, symbol: Dimension) -> Iterator[Requirement]:
        if symbol in self.store.solved:
            value = self.store.solved[symbol]
            text = f"{self.format(symbol)} == {self.format(value)}"
            yield Requirement(text, self.store.sources.get(symbol), (Clause(symbol - value, True),))

    def _limits(self) -> Iterator[Requirement]:
        for symbol, most in self.store.scope.limits.items():
            expression = self._plain(most - symbol)
            yield Requirement(f"{self.format(expression)} >= 0", None, (Clause(expression, False),))

    def _read(self, constraints: Iterable[Constraint]) -> Iterator[Requirement]:
        for constraint in constraints:
            plain = constraint.rewrite(self._plain)
            clauses = plain.clauses
            if clauses:
                yield Requirement(self._text(plain, clauses), constraint.source, clauses)
            else:
                self.unreadable.append(constraint.text)

    def _text(self, constraint: Constraint, clauses: Iterable[Clause]) -> str:
        if constraint.kind == "disjunction":
            return constraint.template.format(*map(self.format, constraint.operands))
        if constraint.kind == "divisibility":
            d = constraint.expression
            text = self.format(d)
            text = text if isinstance(d, Dimension) and d.is_symbol else f"({text})"
            return f"{text} % {constraint.divisor} == 0"
        return " or ".join(f"{self.format(c.expression)} {'==' if c.zero else '>='} 0" for c in clauses)
