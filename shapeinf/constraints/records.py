"""What facts are made of: relations, divisibilities, and conditions that could only be kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import attrs

from shapeinf.errors import Source
from shapeinf.expr.dimension import Dim
from shapeinf.expr.evaluation import evaluate
from shapeinf.expr.interval import Bounds


class Range(NamedTuple):
    """Bounds of one symbol, and who tightened them to these."""

    bounds: Bounds
    source: Source
    earlier: Range | None = None
    """What was told before that."""

    def steps(self) -> Iterator[Range]:
        """All that was told of the symbol, this last."""
        told: list[Range] = []
        one: Range | None = self
        while one is not None:
            told.append(one)
            one = one.earlier
        return reversed(told)


@attrs.frozen
class Relation:
    """`expression >= 0`."""

    expression: Dim
    source: Source


@attrs.frozen
class Divisibility:
    """`divisor` divides `expression`."""

    expression: Dim
    divisor: int
    source: Source


@attrs.frozen
class Clause:
    """An expression that must be 0, or at least 0."""

    expression: Dim
    zero: bool

    def holds(self, sizes: Mapping[str, int]) -> bool | None:
        """Whether it does where symbols have these sizes, by name; None where one has none."""
        try:
            value = int(evaluate(self.expression, sizes))
        except (KeyError, ZeroDivisionError, OverflowError):
            return None
        return value == 0 if self.zero else value >= 0


def any_holds(clauses: Iterable[Clause], sizes: Mapping[str, int]) -> bool | None:
    """Whether one of the clauses holds; None where that is not known."""
    unknown = False
    for clause in clauses:
        holds = clause.holds(sizes)
        if holds:
            return True
        unknown = unknown or holds is None
    return None if unknown else False


class Equation(NamedTuple):
    """An operand that must equal another one, or a number."""

    left: int
    right: int | None
    number: int


_EQUATION = re.compile(r"\{(\d+)\} == (?:\{(\d+)\}|(\d+))")


@lru_cache(maxsize=256)
def equations(template: str) -> tuple[Equation, ...] | None:
    """The alternatives of a text such as `{0} == {1} or {0} == 1`; None for any other text."""
    found = []
    for part in template.split(" or "):
        match = _EQUATION.fullmatch(part)
        if match is None:
            return None
        left, right, number = match.groups()
        found.append(Equation(int(left), None if right is None else int(right), int(number or 0)))
    return tuple(found)


@attrs.frozen
class Disjunction:
    """A condition that could only be kept: `equation == 0`, or a text about `operands` where it is no one equation."""

    template: str
    source: Source
    equation: Dim | None = None
    operands: tuple[Dim, ...] = ()

    @property
    def text(self) -> str:
        """The condition as text; `{0}`, `{1}`... in the template are its operands."""
        return self.template.format(*self.operands) if self.operands else self.template

    @property
    def alternatives(self) -> tuple[Equation, ...] | None:
        """The equations between operands of which one must hold; None for a condition in words."""
        return equations(self.template) if self.operands else None

    def clauses(self, canon: Callable[[Dim], Dim]) -> tuple[Clause, ...]:
        """What must be true of the canonical forms of the dims, one of it; none for a condition in words."""
        if self.equation is not None:
            return (Clause(canon(self.equation), True),)
        dims = [canon(d) for d in self.operands]
        return tuple(
            Clause(dims[left] - (number if right is None else dims[right]), True)
            for left, right, number in self.alternatives or ()
        )

    def holds(self, values: Sequence[int | None]) -> bool | None:
        """Whether one of the alternatives is true where the operands have these values; None where one has none.

        >>> one = Disjunction("{0} == {1} or {0} == 1 or {1} == 1", Source("add", "broadcast"), None, (3, 1))
        >>> one.holds((3, 1)), one.holds((3, 2))
        (True, False)
        """
        found = self.alternatives
        if found is None or None in values:
            return None
        return any(values[left] == (number if right is None else values[right]) for left, right, number in found)
