"""Conditions on dims: whether they hold for sizes, and whether constraints decide them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, product
from math import gcd
from typing import NamedTuple

from shapeinf.constraints.records import try_evaluate
from shapeinf.errors import DimSyntaxError
from shapeinf.expr import Dimension, DimSize, Scope, parse_dim
from shapeinf.graph.guards import Condition, Connective, InputGuards
from shapeinf.inputs.assumptions import Comparison
from shapeinf.lattice import ShapeStore
from shapeinf.solver.budget import Budget
from shapeinf.solver.integer_sets import decide_le, decide_ne

Ways = list[list[Comparison]]
"""Ways in which something holds, each as relations that hold together."""

MOST_WAYS = 8
"""The ways in which a condition does not hold that are examined."""


class DimRelation(NamedTuple):
    """A comparison of two dims by `==`, `!=` or `<=`."""

    left: DimSize
    operator: str
    right: DimSize

    def holds(self, sizes: Mapping[str, int]) -> bool | None:
        """Whether it holds for sizes of symbols by name; None where a side has no value."""
        left, right = try_evaluate(self.left, sizes), try_evaluate(self.right, sizes)
        if left is None or right is None:
            return None
        return {"==": left == right, "!=": left != right}.get(self.operator, left <= right)

    def decide(self, store: ShapeStore, budget: Budget) -> bool | None:
        """Whether it holds under all constraints: always (True), never (False) or undecided (None)."""
        if self.operator == "<=":
            return decide_le(store, self.left, self.right, budget).value
        unequal = decide_ne(store, self.left, self.right, budget).value
        return unequal if unequal is None or self.operator == "!=" else not unequal

    def key(self) -> object:
        """Equal for relations with the same solutions by the symmetry and the common factors of their sides."""
        e = self.left - self.right
        if isinstance(e, int):
            return e, self.operator
        factor = gcd(*(c for _, c in e.terms))
        e = e // factor if factor > 1 else e
        other = -e
        return (min(e, other, key=str) if self.operator != "<=" else e), self.operator

    def negations(self) -> Ways:
        """The ways in which it does not hold, each as relations that hold together."""
        if self.operator == "!=":
            return [[Comparison("==", self.left, self.right)]]
        more = [[Comparison("<=", self.right + 1, self.left)]]
        return [*more, [Comparison("<=", self.left + 1, self.right)]] if self.operator == "==" else more

    def ways(self) -> Ways:
        """The ways in which it holds."""
        opposite = {"!=": "==", "==": "!="}.get(self.operator)
        if opposite is not None:
            return DimRelation(self.left, opposite, self.right).negations()
        return [[Comparison("<=", self.left, self.right)]]

    def symbols(self) -> set[Dimension]:
        """The symbols of both sides."""
        return {s for side in (self.left, self.right) if isinstance(side, Dimension) for s in side.symbols()}


class DimCondition(NamedTuple):
    """Relations joined by `and`, `or` or `not`; a single relation by `and`."""

    operator: str
    parts: tuple[DimRelation | DimCondition, ...]

    def holds(self, sizes: Mapping[str, int]) -> bool | None:
        """As that of relations."""
        return self._join([part.holds(sizes) for part in self.parts])

    def decide(self, store: ShapeStore, budget: Budget) -> bool | None:
        """As that of relations; each part is decided for itself."""
        return self._join([part.decide(store, budget) for part in self.parts])

    def _join(self, values: list[bool | None]) -> bool | None:
        if self.operator == "not":
            return None if values[0] is None else not values[0]
        decisive = self.operator == "or"
        return decisive if decisive in values else None if None in values else not decisive

    def negations(self) -> Ways:
        """As that of relations; only the first MOST_WAYS and one, where there are more."""
        if self.operator == "not":
            return self.parts[0].ways()
        parts = [part.negations() for part in self.parts]
        return _all_of(parts) if self.operator == "or" else _any_of(parts)

    def ways(self) -> Ways:
        """As that of relations; limited as `negations` is."""
        if self.operator == "not":
            return self.parts[0].negations()
        parts = [part.ways() for part in self.parts]
        return _any_of(parts) if self.operator == "or" else _all_of(parts)

    def key(self) -> object:
        """Equal for conditions of the same relations in the same order."""
        parts = tuple([part.key() for part in self.parts])
        return parts[0] if len(parts) == 1 and self.operator != "not" else (self.operator, parts)

    def comparisons(self) -> list[Comparison]:
        """What holds whenever the condition does, as far as constraints can express it."""
        parts = [part.ways() for part in self.parts] if self.operator == "and" else [self.ways()]
        return [comparison for ways in parts if len(ways) == 1 for comparison in ways[0]]

    def symbols(self) -> set[Dimension]:
        """The symbols of all relations."""
        return {symbol for part in self.parts for symbol in part.symbols()}


def read_guards(inputs: InputGuards, scope: Scope) -> list[DimCondition | None]:
    """The condition of each guard in the dims of a scope; None for one that is no condition on sizes."""
    conditions: list[DimCondition | None] = []
    for guard in inputs.guards:
        try:
            conditions.append(None if guard.condition is None else read_condition(guard.condition, scope))
        except DimSyntaxError:
            conditions.append(None)
    return conditions


def _any_of(parts: list[Ways]) -> Ways:
    return [way for part in parts for way in part][: MOST_WAYS + 1]


def _all_of(parts: list[Ways]) -> Ways:
    combined = islice(product(*parts), MOST_WAYS + 1)
    return [[comparison for way in ways for comparison in way] for ways in combined]


def read_condition(condition: Condition, scope: Scope) -> DimCondition:
    """A condition whose texts are dims of a scope. Raises DimSyntaxError."""
    if isinstance(condition, Connective):
        return DimCondition(condition.operator, tuple(read_condition(part, scope) for part in condition.parts))
    left, right = parse_dim(condition.left, scope), parse_dim(condition.right, scope)
    if condition.operator in (">", ">="):
        left, right = right, left
    if condition.operator in ("<", ">"):
        left = left + 1
    operator = condition.operator if condition.operator in ("==", "!=") else "<="
    return DimCondition("and", (DimRelation(left, operator, right),))
