"""Conditions of a contract, read from the facts that nodes have told.

What user and file say is no condition; neither is what only names an unknown of a node, an output whose size was
learned later. What a node demands of an unknown that another node has made is a condition on data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Literal

import attrs

from shapeinf.constraints.records import Clause, Disjunction, one_holds
from shapeinf.contract.origins import Places
from shapeinf.engine.inference import Inference
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.errors import Source
from shapeinf.expr import Dim, Dimension
from shapeinf.expr.interval import Bounds
from shapeinf.expr.printing import format_dim
from shapeinf.lattice import ShapeStore
from shapeinf.solver.budget import Budget

Kind = Literal["value", "equality", "divisibility", "range", "relation", "alternative", "guard", "assumption"]
"""`guard` holds for one branch or body, or depends on data. `assumption` is none:
the graph may run without it, but then some shapes are others than those that were inferred."""


@attrs.frozen(eq=False)
class Precondition:
    """One condition under which the graph runs.

    Args:
        kind: what it is.
        text: the condition, in the names of the inputs' dims; an axis without a name is `input.shape[axis]`.
        symbols: those names; none where it depends on data only.
        node: the node that demands it; empty for none.
        op: its operator.
        law: the rule of the operator, in words.
        location: the node's place in a source text, where the format has one.
        terms: the dims that the condition is about; of a range the dim, and those of an equation that comes to it.
        clauses: the same as expressions: one of them must be 0 (or at least 0); none for words, and in a body.
        least: the lower bound of a range.
        weaker: of a range, what other nodes demand of the same dim, which this one implies; each of them as tight as
            the one before it, or tighter.
        where: the body of a loop or branch that demands it, where that runs; empty for what is always demanded.
    """

    kind: Kind
    text: str
    symbols: tuple[str, ...]
    node: str
    op: str
    message: str
    location: str
    terms: tuple[Dim, ...]
    _chain: Callable[[str, Sequence[Dim]], tuple[str, ...]] = attrs.field(repr=False)
    clauses: tuple[Clause, ...] = attrs.field(default=(), repr=False)
    least: int | None = attrs.field(default=None, repr=False)
    weaker: tuple[Precondition, ...] = attrs.field(default=(), repr=False)
    where: str = ""

    def holds(self, sizes: Mapping[str, int]) -> bool | None:
        """Whether it does where its symbols have these sizes, by name; None where that cannot be told."""
        return one_holds(self.clauses, sizes) if self.clauses else None

    def follows(self, store: ShapeStore) -> bool:
        """Whether one of its alternatives holds by these facts."""
        return any(
            (store.prove_eq(clause.expression, 0) if clause.zero else store.prove_le(0, clause.expression)) is True
            for clause in self.clauses
        )

    @property
    def bound(self) -> int | None:
        """The number of a bound of one dim, upper or (where `least` has it) lower; None for another condition."""
        clause = self.clauses[0] if len(self.clauses) == 1 else None
        if clause is None or clause.zero:
            return None
        most = clause.expression + self.terms[0] if self.least is None else self.least
        return most if isinstance(most, int) else None

    @property
    def free(self) -> frozenset[Dimension]:
        """The symbols of its terms."""
        return frozenset(s for d in self.terms if isinstance(d, Dimension) for s in d.symbols())

    @property
    def chain(self) -> tuple[str, ...]:
        """From an axis that the node reads back to the input, one line a step; empty where no axis leads there."""
        return self._chain(self.node, self.terms)

    def __str__(self) -> str:
        """The condition and who demands it, on one line."""
        who = f"{self.op} '{self.node}'" if self.node else "the model"
        place = f" at {self.location}" if self.location else ""
        verb = "assumed at" if self.kind == "assumption" else "demanded by"
        body = f" (where the {self.where} runs)" if self.where else ""
        return f"{self.text}, {verb} {who}{place}{body}: {self.message}"


class Reader:
    """Reads conditions from the facts of a finished inference."""

    def __init__(
        self,
        inference: Inference,
        budget: Budget,
        before: ShapeStore | None = None,
        store: ShapeStore | None = None,
    ) -> None:
        """`inference` is that of the whole graph; read is what its facts (or those given) say beyond those before.

        What the budget is not enough for is listed as it was told.
        """
        self.inference = inference
        self.budget = budget
        self.store: ShapeStore = inference.store if store is None else store
        self.before = inference.setup if before is None else before
        self.labels = input_symbols(inference)
        self._places_of_labels = {symbol: place for place, symbol in enumerate(self.labels)}
        self.places = Places(inference)

    def preconditions(self) -> list[Precondition]:
        """All conditions, in the order in which the facts were told, one kind after the other."""
        found = [
            *self._solved(),
            *self._divisible(),
            *self._ranges(),
            *self._relations(),
            *self._guards(),
            *self._advice(),
        ]
        return list(_tightest(found))

    def condition(
        self,
        kind: Kind,
        text: str,
        source: Source,
        *terms: Dim,
        clauses: tuple[Clause, ...],
        least: int | None = None,
    ) -> Precondition | None:
        """A condition, if it is a node that says it, and if the given ranges do not make it true anyway."""
        if not source.node or any(self._holds_anyway(clause) for clause in clauses):
            return None
        place = self.places.find(source.node)
        if source.assumed and place is None:
            return None  # a declaration of the file
        symbols = {s for d in terms if isinstance(d, Dimension) for s in d.symbols()}
        known = sorted(filter(self.labels.__contains__, symbols), key=self._places_of_labels.__getitem__)
        names = tuple(map(self.labels.__getitem__, known))
        if len(known) < len(symbols):
            kind = "guard"  # it depends on data, or on what a node does not know
        if source.assumed:
            kind = "assumption"
        op, location = (place.op, place.location) if place else ("", "")
        chain = self.places.chain
        return Precondition(kind, text, names, source.node, op, source.reason, location, terms, chain, clauses, least)

    def _holds_anyway(self, clause: Clause) -> bool:
        """Whether an alternative is true for all sizes that user and file leave."""
        low, high = self.before.bounds(clause.expression)
        return low == high == 0 if clause.zero else low >= 0

    def shown(self, d: Dim) -> str:
        """A dim as text, with the labels of axes that have no name."""
        return format_dim(d, labels=self.labels)

    def _solved(self) -> Iterator[Precondition]:
        for symbol, value in self.store.solved.items():
            source = self.store.sources[symbol]
            if symbol in self.before.solved or self._names(source, symbol) or self._learns(symbol, value):
                continue
            kind: Kind = "value" if isinstance(value, int) else "equality"
            text = f"{self.shown(symbol)} == {self.shown(value)}"
            clauses = (Clause(symbol - value, True),)
            found = self.condition(kind, text, source, symbol, value, clauses=clauses)
            if found is not None:
                yield found

    def _names(self, source: Source, symbol: Dimension) -> bool:
        """Whether a node says what its own unknown is: that demands nothing."""
        return symbol not in self.labels and symbol.symbol.name.startswith(f"{source.node}.")

    def _learns(self, symbol: Dimension, value: Dim) -> bool:
        """Whether an equation with an unknown of a node only says what that is.

        It does where an input has the other name, and where all that was known of an unknown was that there is one:
        nothing limits what it counts.
        """
        if isinstance(value, int) or value.symbols() <= self.labels.keys():
            return False
        limits = self.store.scope.limits
        return symbol in self.labels or not (symbol in limits and value in limits)

    def _divisible(self) -> Iterator[Precondition]:
        known = {(d.expression, d.divisor) for d in self.before.divisibilities}
        for fact in self.store.divisibilities:
            expression = self.store.canon(fact.expression)
            if (fact.expression, fact.divisor) in known or expression % fact.divisor == 0:
                continue
            text = f"{_product(self.shown(expression))} % {fact.divisor} == 0"
            clauses = (Clause(expression % fact.divisor, True),)
            found = self.condition("divisibility", text, fact.source, expression, clauses=clauses)
            if found is not None:
                yield found

    def _ranges(self) -> Iterator[Precondition]:
        for atom, told in self.store.ranges.items():
            symbol = self.store.scope.atom_dim(atom)
            solved = symbol in self.store.solved
            known = self.before.bounds(symbol)
            for bounds, source, _ in told.steps():
                # what is assumed may be why a size is solved for
                if source.assumed or not (solved or self._names(source, symbol)):
                    yield from self._bounded(symbol, bounds, source, known)
                known = bounds

    def _bounded(
        self, symbol: Dimension, bounds: Bounds, source: Source, known: Bounds, about: tuple[Dim, ...] = ()
    ) -> Iterator[Precondition]:
        """What bounds of a symbol say beyond those that are known."""
        low, high = known
        found = []
        if -inf < bounds[0] > low:
            least = int(bounds[0])
            text, clauses = f"{self.shown(symbol)} >= {least}", (Clause(symbol - least, False),)
            found.append(self.condition("range", text, source, symbol, *about, clauses=clauses, least=least))
        if inf > bounds[1] < high:
            most = int(bounds[1])
            text, clauses = f"{self.shown(symbol)} <= {most}", (Clause(most - symbol, False),)
            found.append(self.condition("range", text, source, symbol, *about, clauses=clauses))
        yield from (one for one in found if one is not None)

    def _relations(self) -> Iterator[Precondition]:
        known = {relation.expression for relation in self.before.relations}
        for relation in self.store.relations:
            expression = self.store.canon(relation.expression)
            if relation.source.assumed and isinstance(expression, int):
                expression = relation.expression
            if relation.expression in known or self.store.bounds(expression)[0] >= 0:
                continue
            yield from self._at_least_zero(expression, relation.source)

    def _at_least_zero(self, expression: Dim, source: Source) -> Iterator[Precondition]:
        """Bounds of the one symbol that it is about, or a relation."""
        within = self._interval(Disjunction("{0} >= 0", source, None, (expression,)), (expression,))
        clauses = (Clause(expression, False),)
        one = self.condition("relation", self._compared(expression, "<="), source, expression, clauses=clauses)
        yield from within if within is not None else [one] if one is not None else []

    def _compared(self, expression: Dim, sign: Literal["<=", "=="]) -> str:
        """`expression >= 0` (or `== 0`) with what is subtracted on the other side."""
        less: Dim = 0
        more: Dim = 0
        if isinstance(expression, int):
            return f"{expression} {'>=' if sign == '<=' else sign} 0"
        for monomial, coefficient in expression.terms:
            part = expression.scope.make({monomial: abs(coefficient)})
            less, more = (less + part, more) if coefficient < 0 else (less, more + part)
        if isinstance(less, int):
            return f"{self.shown(more)} {'>=' if sign == '<=' else sign} {less}"
        return f"{self.shown(less)} {sign} {self.shown(more)}"

    def _guards(self) -> Iterator[Precondition]:
        known = set(self.before.disjunctions)
        for disjunction in self.store.disjunctions:
            if disjunction in known:
                continue
            operands = tuple(map(self.store.canon, disjunction.operands))
            within = self._interval(
                disjunction, operands, operands if disjunction.equation is None else (disjunction.equation,)
            )
            if within is not None:
                yield from within
                continue
            found = self._kept(disjunction, operands)
            if found is not None:
                yield found

    def _kept(self, disjunction: Disjunction, operands: tuple[Dim, ...]) -> Precondition | None:
        """A guard as it was told, but for alternatives that cannot be; None where one of them is so anyway."""
        clauses = disjunction.clauses(self.store.canon)
        if disjunction.equation is not None:
            equation = clauses[0].expression
            return self.condition(
                "equality", self._compared(equation, "=="), disjunction.source, equation, clauses=clauses
            )
        if not clauses:
            return self.condition("guard", disjunction.text, disjunction.source, *operands, clauses=())
        verdicts = [self.store.prove_eq(clause.expression, 0) for clause in clauses]
        if True in verdicts:
            return None
        open_ones = [i for i, verdict in enumerate(verdicts) if verdict is None] or range(len(clauses))
        parts = disjunction.template.split(" or ")
        text = " or ".join(parts[i] for i in open_ones).format(*map(self.shown, operands))
        left = tuple(clauses[i] for i in open_ones)
        return self.condition("alternative", text, disjunction.source, *operands, clauses=left)

    def _advice(self) -> Iterator[Precondition]:
        for disjunction in self.store.advice:
            low, high = map(self.store.canon, disjunction.operands)
            if self.store.prove_le(low, high) is None:
                yield from self._at_least_zero(high - low, disjunction.source)

    def unheeded(self) -> Iterator[Precondition]:
        """Advice that is surely not followed: the graph is legal, but some runtimes refuse it."""
        for disjunction in self.store.advice:
            low, high = map(self.store.canon, disjunction.operands)
            if self.store.prove_le(low, high) is False:
                text = f"not {self.shown(low)} <= {self.shown(high)}"
                found = self.condition("relation", text, disjunction.source, low, high, clauses=())
                yield from () if found is None else (found,)

    def _interval(
        self, disjunction: Disjunction, operands: tuple[Dim, ...], about: tuple[Dim, ...] = ()
    ) -> list[Precondition] | None:
        """The bounds that a guard about one symbol comes to, if it comes to some; they are `about` dims, too."""
        equation = None if disjunction.equation is None else self.store.canon(disjunction.equation)
        terms = operands if equation is None else (equation,)
        symbols = {s for d in terms if isinstance(d, Dimension) for s in d.symbols()}
        if len(symbols) != 1 or not symbols <= self.labels.keys():
            return None
        from shapeinf.solver.integer_sets import solution_interval

        (symbol,) = symbols
        simple = attrs.evolve(disjunction, equation=equation, operands=operands)
        found = solution_interval(self.before, symbol, simple, self.budget)
        if found is None:
            return None
        bounds = found[0], inf if found[1] is None else found[1]
        return list(self._bounded(symbol, bounds, disjunction.source, self.before.bounds(symbol), about))


def _tightest(preconditions: Sequence[Precondition]) -> Iterator[Precondition]:
    """The conditions; of bounds of one dim on one side the tightest one, the first told of those that are as tight.

    Where that is an assumption, the tightest demand besides.
    """
    sides: dict[tuple[Dim, bool], list[Precondition]] = {}
    for one in preconditions:
        if one.bound is not None:
            sides.setdefault((one.terms[0], one.least is None), []).append(one)
    kept: dict[int, Precondition] = {}
    for (_, upper), group in sides.items():
        found = sorted(reversed(group), key=lambda one: -(one.bound or 0) if upper else one.bound or 0)
        demands = [i for i, one in enumerate(found) if one.kind != "assumption"]
        for i in {len(found) - 1, *demands[-1:]}:
            kept[id(found[i])] = attrs.evolve(found[i], weaker=tuple(found[:i]))
    for one in preconditions:
        if one.bound is None or id(one) in kept:
            yield kept.get(id(one), one)


def _product(text: str) -> str:
    return f"({text})" if " " in text else text
