"""Points at which all constraints hold: witnesses that a bound is attained, and that a term can win."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf

from shapeinf.constraints.records import Constraint, try_evaluate
from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.dimension import Dimension, DimSize
from shapeinf.solver.long_dims import canonical_form

STEPS_PER_CONSTRAINT = 40
"""The cost of evaluating a constraint at one point, in the steps of a budget."""


def find_violation(store: ConstraintStore, values: Mapping[str, int]) -> Constraint | None:
    """The first disjunction of the store that these values of symbols, by name, violate; None where all hold."""
    for disjunction in store.disjunctions:
        if disjunction.operands:
            operands = [value_at(store, d, values) for d in disjunction.operands]
            if disjunction.holds_for(operands) is False:
                return disjunction
    return None


def holds_at(store: ConstraintStore, values: Mapping[str, int]) -> bool:
    """Whether all constraints hold for certain at these values of symbols, by name.

    Symbols without a value are at their lower bounds. Constraints in words, which are about data, count as held.
    """
    point = _complete(store, values)
    if point is None:
        return False
    return all(_holds(store, constraint, point) for constraint in store.pending()) and _satisfies_ranges(store, point)


def _holds(store: ConstraintStore, constraint: Constraint, point: Mapping[str, int]) -> bool:
    if constraint.kind == "disjunction":
        operands = [value_at(store, d, point) for d in constraint.operands]
        return None not in operands and constraint.holds_for(operands) is not False
    values = [(value_at(store, clause.expression, point), clause.zero) for clause in constraint.clauses]
    return any(value is not None and (value == 0 if zero else value >= 0) for value, zero in values)


def _complete(store: ConstraintStore, values: Mapping[str, int]) -> dict[str, int] | None:
    """The values, and lower bounds for the other symbols of pending constraints."""
    point = dict(values)
    for symbol in _pending_symbols(store):
        if symbol.name not in point:
            low = store.bounds(symbol)[0]
            if low == -inf:
                return None
            point[symbol.name] = int(low)
    return point


def _pending_symbols(store: ConstraintStore) -> Iterator[Dimension]:
    for constraint in store.pending():
        for form in map(store.canon, (constraint.expression, *constraint.operands)):
            if isinstance(form, Dimension):
                yield from form.symbols()


def _satisfies_ranges(store: ConstraintStore, point: Mapping[str, int]) -> bool:
    """Whether each value lies in the bounds of its symbol, and satisfies its congruence."""
    for name, value in point.items():
        symbol = store.scope.symbol(name)
        low, high = store.bounds(symbol)
        congruence = store.congruences.find(symbol)
        if not low <= value <= high or (congruence is not None and (value - congruence.rest) % congruence.modulus):
            return False
    return True


def value_at(store: ConstraintStore, d: DimSize, values: Mapping[str, int]) -> int | None:
    """The value of a dim at a point; None where a symbol has no value, or it divides by zero."""
    return try_evaluate(canonical_form(store, d), values)
