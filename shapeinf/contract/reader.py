"""`PreconditionReader`: the preconditions in the constraints that nodes have added.

What user and file specify is no precondition; nor is an equality that only defines an unknown of a node, such as an
output whose size was inferred later. A requirement on an unknown of another node is a guard, since it depends on data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd, inf
from typing import Literal

import attrs

from shapeinf.constraints.piecewise import MAX_PIECES, solution_ranges
from shapeinf.constraints.records import Clause, Constraint
from shapeinf.contract.preconditions import Kind, Origins, Precondition, symbols_of
from shapeinf.engine.declarations import is_declaration
from shapeinf.engine.inference import Inference
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.errors import Source
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.printing import format_dim
from shapeinf.lattice import ShapeStore
from shapeinf.solver.budget import Budget
from shapeinf.solver.periodic_sets import solve_periodic

_WORK_PER_PRECONDITION = 100
"""The work of one precondition: its texts, names and origin."""

_ORDER = ("divisibility", "range", "relation")
"""The kinds that follow solved equalities in a contract, in this order; all others are the last."""


class PreconditionReader:
    """Reads preconditions from the constraints of a finished inference."""

    def __init__(
        self,
        inference: Inference,
        budget: Budget,
        before: ShapeStore | None = None,
        store: ShapeStore | None = None,
    ) -> None:
        """Reads the constraints in `store` beyond those in `before`: by default all that the inference has added.

        Constraints that the budget is not enough for are read as they were added, not simplified.
        """
        self.inference = inference
        self.budget = budget
        self.store: ShapeStore = inference.store if store is None else store
        self.before = inference.initial_store if before is None else before
        self.labels = input_symbols(inference)
        self._label_order = {symbol: index for index, symbol in enumerate(self.labels)}
        self._origins = Origins(inference)

    def read(self) -> Iterator[Precondition]:
        """The preconditions; equations and divisibilities of one symbol as one divisibility if they amount to that."""
        preconditions = self._read_tightest()
        groups: dict[Dimension, list[Precondition]] = {}
        for precondition in preconditions:
            if _is_zero(precondition) and len(precondition.free_symbols) == 1 and precondition.kind != "assumption":
                groups.setdefault(next(iter(precondition.free_symbols)), []).append(precondition)
        merged: dict[int, Precondition | None] = {}
        least: dict[Dimension, int] = {}
        for symbol, group in groups.items():
            zero = [clause.expression for precondition in group for clause in precondition.clauses]
            low = max(0, int(max(-1, self.before.bounds(symbol)[0])))
            congruence = find_congruence(symbol, zero, low, self.budget)
            if congruence is None:
                continue
            modulus, rest = congruence
            text = f"{self.format(symbol)} % {modulus} == {rest}"
            clauses = (Clause((symbol - rest) % modulus, True),)
            merged.update({id(c): None for c in group})
            merged[id(group[0])] = attrs.evolve(
                group[0], kind="divisibility", text=text, terms=(symbol,), clauses=clauses
            )
            least[symbol] = low + (rest - low) % modulus
        for precondition in preconditions:
            replaced = merged.get(id(precondition), precondition)
            if replaced is not None and not _is_below(replaced, least):
                yield replaced

    def format(self, d: DimSize) -> str:
        """A dim as text, with the labels of axes that have no name."""
        return format_dim(d, labels=self.labels)

    def ignored_advice(self) -> Iterator[Precondition]:
        """The advice that is violated for certain: the graph is legal, but some runtimes refuse it."""
        for relation in self.store.advice:
            low, high = map(self.store.canon, relation.operands)
            if self.store.prove_le(low, high) is False:
                text = f"not {self.format(low)} <= {self.format(high)}"
                yield from self._precondition("relation", text, relation.source, low, high, clauses=())

    def _read_tightest(self) -> list[Precondition]:
        """All preconditions, kind by kind, in the order added; only the tightest lower and upper bound of each dim.

        Of equal bounds it is the first; where the tightest is an assumption, the tightest requirement is also there.
        """
        preconditions = [*self.read_each(), *self._read_advice()]
        sides: dict[tuple[DimSize, bool], list[Precondition]] = {}
        for precondition in preconditions:
            if precondition.bound is not None:
                sides.setdefault((precondition.terms[0], precondition.least is None), []).append(precondition)
        tightest: dict[int, Precondition] = {}
        for (_, upper), group in sides.items():
            ordered = sorted(reversed(group), key=lambda c: -(c.bound or 0) if upper else c.bound or 0)
            required = [i for i, precondition in enumerate(ordered) if precondition.kind != "assumption"]
            for i in {len(ordered) - 1, *required[-1:]}:
                tightest[id(ordered[i])] = attrs.evolve(ordered[i], weaker=tuple(ordered[:i]))
        return [tightest.get(id(c), c) for c in preconditions if c.bound is None or id(c) in tightest]

    def read_each(self) -> Iterator[Precondition]:
        """Solved equalities, then the kinds in `_ORDER`, then all others as they were added."""
        groups: dict[str, list[Constraint]] = {kind: [] for kind in ("", *_ORDER, "pending")}
        for constraint in self.store.constraints(beyond=self.before):
            key = "" if constraint.is_solved else constraint.kind
            groups.get(key, groups["pending"]).append(constraint)
        for constraint in (c for group in groups.values() for c in group):
            yield from self._read(constraint)

    def _read(self, constraint: Constraint) -> Iterator[Precondition]:
        if constraint.is_solved:
            return self._read_equality(constraint)
        if constraint.kind == "divisibility":
            return self._read_divisibility(constraint)
        if constraint.kind == "range":
            return self._read_range(constraint)
        return self._read_relation(constraint) if constraint.kind == "relation" else self._read_pending(constraint)

    def _precondition(
        self,
        kind: Kind,
        text: str,
        source: Source,
        *terms: DimSize,
        clauses: tuple[Clause, ...],
        least: int | None = None,
    ) -> Iterator[Precondition]:
        """A precondition; nothing where no node requires it, or where user and file already imply it."""
        if not source.node or any(self._holds_before(clause) for clause in clauses):
            return
        self.store.scope.work += _WORK_PER_PRECONDITION * max(1, len(clauses))
        origin = self._origins.find(source.node)
        if source.assumed and (origin is None or is_declaration(source)):
            return
        symbols = symbols_of(terms)
        known = sorted(filter(self.labels.__contains__, symbols), key=self._label_order.__getitem__)
        names = tuple(map(self.labels.__getitem__, known))
        if len(known) < len(symbols):
            kind = "guard"  # it depends on data, or on an unknown of a node
        if source.assumed:
            kind = "assumption"
        op, location = (origin.op, origin.location) if origin else ("", "")
        chain = self._origins.chain
        yield Precondition(kind, text, names, source.node, op, source.reason, location, terms, chain, clauses, least)

    def _holds_before(self, clause: Clause) -> bool:
        """Whether a clause holds for all sizes that user and file allow."""
        low, high = self.before.bounds(clause.expression)
        return low == high == 0 if clause.zero else low >= 0

    def _read_equality(self, constraint: Constraint) -> Iterator[Precondition]:
        symbol, value = constraint.symbol, constraint.operands[1]
        if self._names_unknown(constraint.source, symbol) or self._only_defines_unknown(symbol, value):
            return
        kind: Kind = "value" if isinstance(value, int) else "equality"
        text = f"{self.format(symbol)} == {self.format(value)}"
        yield from self._precondition(kind, text, constraint.source, symbol, value, clauses=constraint.clauses)

    def _names_unknown(self, source: Source, symbol: Dimension) -> bool:
        """Whether a constraint only defines an unknown of its own node, and so requires nothing."""
        return symbol not in self.labels and symbol.symbol.name.startswith(f"{source.node}.")

    def _only_defines_unknown(self, symbol: Dimension, value: DimSize) -> bool:
        """Whether an equation with an unknown of a node only defines that unknown.

        It does where the other side is a symbol of an input, and where one of both has no symbolic limit.
        """
        if isinstance(value, int) or value.symbols() <= self.labels.keys():
            return False
        limits = self.store.scope.limits
        return symbol in self.labels or not (symbol in limits and value in limits)

    def _read_divisibility(self, constraint: Constraint) -> Iterator[Precondition]:
        canonical = constraint.rewrite(self.store.canon)
        (clause,) = canonical.clauses
        if clause.expression == 0:
            return
        text = self.format(canonical.expression)
        text = f"({text})" if " " in text else text
        yield from self._precondition(
            "divisibility",
            f"{text} % {constraint.divisor} == 0",
            constraint.source,
            canonical.expression,
            clauses=(clause,),
        )

    def _read_range(self, constraint: Constraint) -> Iterator[Precondition]:
        symbol, source = constraint.symbol, constraint.source
        # an assumption may be the reason for which a size is solved
        if source.assumed or not (symbol in self.store.solved or self._names_unknown(source, symbol)):
            yield from self._read_bound(symbol, constraint.clauses, source)

    def _read_bound(
        self, symbol: Dimension, clauses: tuple[Clause, ...], source: Source, about: tuple[DimSize, ...] = ()
    ) -> Iterator[Precondition]:
        """A bound of a symbol: `symbol - least >= 0` or `most - symbol >= 0`; `about` are further terms."""
        least = symbol - clauses[0].expression
        if isinstance(least, int):
            text = f"{self.format(symbol)} >= {least}"
            yield from self._precondition("range", text, source, symbol, *about, clauses=clauses, least=least)
        else:
            text = f"{self.format(symbol)} <= {clauses[0].expression + symbol}"
            yield from self._precondition("range", text, source, symbol, *about, clauses=clauses)

    def _read_relation(self, constraint: Constraint) -> Iterator[Precondition]:
        expression = self.store.canon(constraint.expression)
        if constraint.source.assumed and isinstance(expression, int):
            expression = constraint.expression
        if self.store.bounds(expression)[0] < 0:
            yield from self._read_nonnegative(expression, constraint.source)

    def _read_nonnegative(self, expression: DimSize, source: Source) -> Iterator[Precondition]:
        """`expression >= 0`: as bounds, if it has one symbol and is equivalent to bounds of it, else as a relation."""
        constraint = Constraint("relation", source, expression)
        bounds = self._read_interval(constraint)
        if bounds is None:
            text = self._compare(expression, "<=")
            return self._precondition("relation", text, source, expression, clauses=constraint.clauses)
        return iter(bounds)

    def _compare(self, expression: DimSize, sign: Literal["<=", "=="]) -> str:
        """`expression >= 0`, or `== 0`, as text, with the subtracted terms on the other side."""
        less: DimSize = 0
        more: DimSize = 0
        if isinstance(expression, int):
            return f"{expression} {'>=' if sign == '<=' else sign} 0"
        for monomial, coefficient in expression.terms:
            part = expression.scope.make({monomial: abs(coefficient)})
            less, more = (less + part, more) if coefficient < 0 else (less, more + part)
        if isinstance(less, int):
            return f"{self.format(more)} {'>=' if sign == '<=' else sign} {less}"
        return f"{self.format(less)} {sign} {self.format(more)}"

    def _read_pending(self, constraint: Constraint) -> Iterator[Precondition]:
        """A disjunction or an unsolved equality: as bounds, if it is equivalent to bounds of one symbol."""
        canonical = constraint.rewrite(self.store.canon)
        about = canonical.operands if constraint.equation is None else (constraint.equation,)
        bounds = self._read_interval(canonical, about)
        if bounds is not None:
            return iter(bounds)
        if constraint.equation is not None:
            e = canonical.expression
            return self._precondition(
                "equality", self._compare(e, "=="), constraint.source, e, clauses=canonical.clauses
            )
        return self._read_disjunction(constraint, canonical)

    def _read_disjunction(self, constraint: Constraint, canonical: Constraint) -> Iterator[Precondition]:
        """A disjunction without the clauses that cannot hold; nothing where a clause always holds."""
        operands, clauses = canonical.operands, canonical.clauses
        if not clauses:
            yield from self._precondition("guard", constraint.text, constraint.source, *operands, clauses=())
            return
        verdicts = [self.store.prove_eq(clause.expression, 0) for clause in clauses]
        if True in verdicts:
            return
        undecided = [i for i, verdict in enumerate(verdicts) if verdict is None] or range(len(clauses))
        parts = constraint.template.split(" or ")
        text = " or ".join(parts[i] for i in undecided).format(*map(self.format, operands))
        remaining = tuple(clauses[i] for i in undecided)
        yield from self._precondition("alternative", text, constraint.source, *operands, clauses=remaining)

    def _read_advice(self) -> Iterator[Precondition]:
        for relation in self.store.advice:
            low, high = map(self.store.canon, relation.operands)
            if self.store.prove_le(low, high) is None:
                yield from self._read_nonnegative(high - low, relation.source)

    def _read_interval(self, canonical: Constraint, about: tuple[DimSize, ...] = ()) -> list[Precondition] | None:
        """The bounds that a constraint on one symbol is equivalent to, with the further terms `about`; else None."""
        symbols = symbols_of([canonical.expression, *canonical.operands])
        if len(symbols) != 1 or not symbols <= self.labels.keys():
            return None
        (symbol,) = symbols
        interval = self._solution_interval(symbol, canonical)
        if interval is None:
            return None
        least, most = interval
        low, high = self.before.bounds(symbol)
        ends: list[DimSize] = [symbol - least] if least > low else []
        ends += [most - symbol] if most is not None and most < high else []
        clauses = [(Clause(end, False),) for end in ends]
        return [c for clause in clauses for c in self._read_bound(symbol, clause, canonical.source, about)]

    def _solution_interval(self, symbol: Dimension, constraint: Constraint) -> tuple[int, int | None] | None:
        """The interval of sizes for which a constraint on one symbol holds; None where they are no interval."""
        if not self.budget.take(MAX_PIECES):
            return None
        bounds = self.before.interval(symbol)
        ranges = None if bounds.lo is None else solution_ranges(constraint.clauses, symbol, bounds.lo, bounds.hi)
        if ranges is not None:
            return ranges[0] if len(ranges) == 1 else None
        from shapeinf.solver.integer_sets import solution_interval  # loading isl takes tens of milliseconds

        return solution_interval(self.before, symbol, constraint, self.budget)


def _is_zero(precondition: Precondition) -> bool:
    return len(precondition.clauses) == 1 and precondition.clauses[0].zero


def _is_below(precondition: Precondition, least: Mapping[Dimension, int]) -> bool:
    """Whether a lower bound is no more than the least size that a divisibility allows."""
    symbol = precondition.terms[0] if precondition.terms else 0
    known = least.get(symbol) if isinstance(symbol, Dimension) else None
    return precondition.least is not None and known is not None and known >= precondition.least


def find_congruence(
    symbol: Dimension, zero: Sequence[DimSize], low: int, budget: Budget | None = None
) -> tuple[int, int] | None:
    """(m, r) such that all expressions of one symbol are 0 for exactly the values from `low` on that are r modulo m.

    None where there is none, where the expressions are not quasi-affine, and past the limits of `solve_periodic`.

    >>> from shapeinf.expr import Scope
    >>> h = Scope().symbol("H")
    >>> find_congruence(h, [2 * (h // 2) - h, 4 * (h // 4) - 2 * (h // 2)], 1)
    (4, 0)
    """
    solved = solve_periodic([(Clause(e, True),) for e in zero], symbol, (low, inf), budget or Budget())
    legal = [] if solved is None else [low + i for i, ranges in enumerate(solved.classes) if ranges]
    if solved is None or not legal or any(ranges not in ((), ((0, inf),)) for ranges in solved.classes):
        return None
    modulus = gcd(solved.modulus, *(v - legal[0] for v in legal))
    if len(legal) != solved.modulus // modulus or modulus == 1:
        return None
    return modulus, legal[0] % modulus
