"""The records that a store is made of: constraints, their clauses, and the ranges of symbols."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import Literal, NamedTuple

import attrs

from shapeinf.errors import Source
from shapeinf.expr.dimension import Dimension, DimSize
from shapeinf.expr.evaluation import evaluate
from shapeinf.expr.interval import Bounds, declared_bounds

ConstraintKind = Literal["equality", "range", "relation", "divisibility", "disjunction"]


def try_evaluate(d: DimSize, sizes: Mapping[str, int]) -> int | None:
    """The value of a dim for these sizes of symbols, by name; None where a size is missing or it divides by zero."""
    try:
        return int(evaluate(d, sizes))
    except (KeyError, ZeroDivisionError, OverflowError):
        return None


@attrs.frozen
class Clause:
    """An expression that must be 0, or at least 0."""

    expression: DimSize
    zero: bool

    def holds(self, sizes: Mapping[str, int]) -> bool | None:
        """Whether it holds for these sizes of symbols, by name; None where `try_evaluate` has no value."""
        value = try_evaluate(self.expression, sizes)
        if value is None:
            return None
        return value == 0 if self.zero else value >= 0


def any_holds(clauses: Iterable[Clause], sizes: Mapping[str, int]) -> bool | None:
    """Whether one of the clauses holds for these sizes; None where that is not known."""
    unknown = False
    for clause in clauses:
        holds = clause.holds(sizes)
        if holds:
            return True
        unknown = unknown or holds is None
    return None if unknown else False


class Alternative(NamedTuple):
    """The index of an operand that must equal another one, or a number."""

    left: int
    right: int | None
    number: int


_ALTERNATIVE = re.compile(r"\{(\d+)\} == (?:\{(\d+)\}|(\d+))")


@lru_cache(maxsize=256)
def parse_alternatives(template: str) -> tuple[Alternative, ...] | None:
    """The alternatives of a text such as `{0} == {1} or {0} == 1`; None for any other text."""
    alternatives = []
    for part in template.split(" or "):
        match = _ALTERNATIVE.fullmatch(part)
        if match is None:
            return None
        left, right, number = match.groups()
        alternatives.append(Alternative(int(left), None if right is None else int(right), int(number or 0)))
    return tuple(alternatives)


@attrs.frozen(cache_hash=True)
class Constraint:
    """A statement about dims: one of its clauses holds.

    Args:
        kind: an equality is solved (then its operands are a symbol and its value) or pending.
        source: its provenance.
        expression: the dim that must be 0 (a pending equality), at least 0 (a relation, one end of a range) or a
            multiple of the divisor.
        divisor: of a divisibility.
        template: the text of a pending equality or disjunction; `{0}`, `{1}`... are its operands.
        operands: the dims of a disjunction as they were added, the symbol and value of a solved equality, the symbol of
            a range, the two sides of an advised relation.
        bounds: of a range, what its source has narrowed the symbol to, both ends.
    """

    kind: ConstraintKind
    source: Source
    expression: DimSize = 0
    divisor: int = 1
    template: str = ""
    operands: tuple[DimSize, ...] = ()
    bounds: Bounds = (-inf, inf)

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses, of which one must hold; none for a condition in words, which is about data."""
        return self.clauses_in(lambda d: d)

    def clauses_in(self, form: Callable[[DimSize], DimSize]) -> tuple[Clause, ...]:
        """The clauses over another form of the dims, such as the canonical one."""
        if self.kind == "disjunction":
            dims = [form(d) for d in self.operands]
            return tuple(
                Clause(dims[left] - (number if right is None else dims[right]), True)
                for left, right, number in self.alternatives or ()
            )
        if self.kind == "divisibility":
            return (Clause(form(self.expression) % self.divisor, True),)
        if self.kind == "equality" and self.operands:
            left, right = map(form, self.operands)
            return (Clause(left - right, True),)
        return (Clause(form(self.expression), self.kind == "equality"),)

    def rewrite(self, form: Callable[[DimSize], DimSize]) -> Constraint:
        """The constraint with another form of its dims."""
        return attrs.evolve(self, expression=form(self.expression), operands=tuple(map(form, self.operands)))

    @property
    def is_solved(self) -> bool:
        """Whether it is an equality that was solved for a symbol."""
        return self.kind == "equality" and bool(self.operands)

    @property
    def equation(self) -> DimSize | None:
        """The expression of a pending equality; None for any other constraint."""
        return self.expression if self.kind == "equality" and not self.operands else None

    @property
    def sides(self) -> tuple[DimSize, DimSize]:
        """The two sides of an equality."""
        return (self.operands[0], self.operands[1]) if self.operands else (self.expression, 0)

    @property
    def symbol(self) -> Dimension:
        """The symbol of a solved equality or a range."""
        assert isinstance(self.operands[0], Dimension)
        return self.operands[0]

    @property
    def text(self) -> str:
        """The text of a pending equality or disjunction."""
        return self.template.format(*self.operands) if self.operands else self.template

    @property
    def alternatives(self) -> tuple[Alternative, ...] | None:
        """The equations between operands of which one must hold; None for a condition in words."""
        return parse_alternatives(self.template) if self.operands else None

    def holds_for(self, values: Sequence[int | None]) -> bool | None:
        """Whether an alternative is true for these values of the operands; None where one is None.

        >>> broadcast = Constraint("disjunction", Source("add", "broadcast"), template="{0} == {1} or {0} == 1",
        ...                        operands=(3, 2))
        >>> broadcast.holds_for((3, 3)), broadcast.holds_for((3, 2)), broadcast.holds_for((3, None))
        (True, False, None)
        """
        alternatives = self.alternatives
        if alternatives is None or None in values:
            return None
        return any(values[left] == (number if right is None else values[right]) for left, right, number in alternatives)


class Range(NamedTuple):
    """The bounds of one symbol, and what narrowed it to these."""

    bounds: Bounds
    source: Source
    earlier: Range | None = None
    """The bounds before that."""
    implied: bool = False
    """Whether another constraint of the same source states more: then the bounds are none of their own."""

    def steps(self) -> Iterator[Range]:
        """All ranges that the symbol has had, this one last."""
        steps: list[Range] = []
        step: Range | None = self
        while step is not None:
            steps.append(step)
            step = step.earlier
        return reversed(steps)

    def constraints(self, symbol: Dimension, beyond: Range | None = None) -> Iterator[Constraint]:
        """A constraint for each end that a step has moved; without the steps that `beyond` has, too."""
        known = set() if beyond is None else set(map(id, beyond.steps()))
        low, high = declared_bounds(0, symbol.symbol)
        for step in self.steps():
            least, most = step.bounds
            ends: list[DimSize] = [symbol - int(least)] if -inf < least > low else []
            ends += [int(most) - symbol] if inf > most < high else []
            for end in ends if id(step) not in known and not step.implied else ():
                yield Constraint("range", step.source, end, operands=(symbol,), bounds=step.bounds)
            low, high = step.bounds
