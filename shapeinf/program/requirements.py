"""The constraints of a store as expressions that a program can evaluate at many bindings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import attrs

from shapeinf.constraints.records import Clause, Constraint
from shapeinf.errors import Source
from shapeinf.expr import Dimension, DimSize, format_dim, format_start, substitute
from shapeinf.expr.interval import as_interval, finite_bound
from shapeinf.expr.straight_line import Lowering, StraightLine
from shapeinf.lattice import ShapeStore


@attrs.frozen
class Requirement:
    """A condition on sizes: at least one of the clauses must hold. `source` is None for bounds by definition."""

    text: str
    source: Source | None
    clauses: tuple[Clause, ...]

    @property
    def symbols(self) -> frozenset[Dimension]:
        """The symbols whose sizes its evaluation needs."""
        parts = [c.expression.symbols() for c in self.clauses if isinstance(c.expression, Dimension)]
        return frozenset().union(*parts)


class Requirements:
    """All requirements of a store."""

    def __init__(self, store: ShapeStore, labels: Mapping[Dimension, str]) -> None:
        """`labels` are the names of symbols in messages."""
        self.store = store
        self.labels = labels
        self.unreadable: list[str] = []
        """Texts of the constraints that have no clauses, which no program can evaluate."""
        pending = list(store.pending())
        relations = [c for c in pending if c.kind == "relation"]
        others = [c for c in pending if c.kind != "relation"]
        self.all = [*self._read(relations), *self._read_limits(), *self._read(others)]
        self._programs: dict[frozenset[Dimension], tuple[list[Requirement], StraightLine, list[range]]] = {}

    def add_sizes(self, owners: Iterable[tuple[DimSize, str]]) -> None:
        """Require that dims are at least 0; `owners` are canonical dims, each with the name of a tensor that has it.

        A dim whose bounds exclude sizes below 0 adds nothing.
        """
        for d, name in dict(reversed(list(owners))).items():
            if self.store.bounds(d)[0] < 0:
                text = f"{self.format(d)} >= 0 (a size of {name!r})"
                self.all.append(Requirement(text, None, (Clause(d, False),)))

    def compile(
        self, values: Collection[Dimension], inputs: Collection[Dimension]
    ) -> tuple[list[Requirement], StraightLine, list[range]]:
        """The requirements on symbols that have a value, a program of their clauses, and the rows of each in it.

        `inputs` are the symbols whose values the user specifies, also those that equal others.
        """
        key = frozenset(values)
        compiled = self._programs.get(key)
        if compiled is None:
            requirements = [r for symbol in inputs for r in self._read_equality(symbol)]
            requirements += [
                r for symbol in values if symbol not in self.store.solved for r in self._read_bounds(symbol)
            ]
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
        """The texts of the requirements that no call evaluates when only these symbols have a size."""
        known = frozenset(values)
        return [*(r.text for r in self.all if r.source is not None and not r.symbols <= known), *self.unreadable]

    def format(self, d: DimSize, most: int | None = None) -> str:
        """A dim as text, with the labels of its symbols; of longer sums and maxima the first `most` parts."""
        return format_dim(d, labels=self.labels) if most is None else format_start(d, most, self.labels)

    def _plain(self, d: DimSize) -> DimSize:
        """The dim with solved symbols replaced; its canonical form would be right only where the constraints hold."""
        return substitute(d, self.store.solved)

    def _read_bounds(self, symbol: Dimension) -> Iterator[Requirement]:
        bounds = self.store.bounds(symbol)
        narrowed = self.store.ranges.get(symbol.atom)
        low, high = finite_bound(bounds[0]), finite_bound(bounds[1])
        text = f"{self.format(symbol)} in {as_interval(bounds)}"
        ends = [] if low is None else [symbol - low]
        ends += [] if high is None else [high - symbol]
        for expression in ends:
            yield Requirement(text, narrowed.source if narrowed else None, (Clause(expression, False),))

    def _read_equality(self, symbol: Dimension) -> Iterator[Requirement]:
        if symbol in self.store.solved:
            value = self.store.solved[symbol]
            text = f"{self.format(symbol)} == {self.format(value)}"
            yield Requirement(text, self.store.sources.get(symbol), (Clause(symbol - value, True),))

    def _read_limits(self) -> Iterator[Requirement]:
        for symbol, most in self.store.scope.limits.items():
            expression = self._plain(most - symbol)
            yield Requirement(f"{self.format(expression)} >= 0", None, (Clause(expression, False),))

    def _read(self, constraints: Iterable[Constraint]) -> Iterator[Requirement]:
        for constraint in constraints:
            plain = constraint.rewrite(self._plain)
            clauses = plain.clauses
            if clauses:
                yield Requirement(self._format(plain, clauses), constraint.source, clauses)
            else:
                self.unreadable.append(constraint.text)

    def _format(self, constraint: Constraint, clauses: Iterable[Clause]) -> str:
        if constraint.kind == "disjunction":
            return constraint.template.format(*map(self.format, constraint.operands))
        if constraint.kind == "divisibility":
            d = constraint.expression
            text = self.format(d)
            text = text if isinstance(d, Dimension) and d.is_symbol else f"({text})"
            return f"{text} % {constraint.divisor} == 0"
        return " or ".join(f"{self.format(c.expression)} {'==' if c.zero else '>='} 0" for c in clauses)
