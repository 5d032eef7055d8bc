"""Constraints that two alternatives have in common, such as two branches of which one runs."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from shapeinf.constraints.records import Constraint
from shapeinf.constraints.store import ConstraintStore
from shapeinf.errors import Source
from shapeinf.expr.dimension import Dimension, DimSize
from shapeinf.expr.interval import as_interval

States = tuple[ConstraintStore, ConstraintStore]
"""A store before and after an alternative."""


def new_constraints(before: ConstraintStore, after: ConstraintStore) -> Iterator[Constraint]:
    """The constraints of `after` that `before` does not have; of ranges only those that nodes have narrowed."""
    return (c for c in after.constraints(beyond=before) if c.kind != "range" or c.source.node)


def add_common(store: ConstraintStore, first: States, second: States, source: Source) -> None:
    """Add the constraints that hold in both alternatives; `source` is that of a range that contains both ranges."""
    for states, (_, other) in ((first, second), (second, first)):
        for constraint in (*new_constraints(*states), *_equal_symbols(*states)):
            if other.implies(constraint) and not store.implies(constraint):
                store.add(constraint)
    for symbol in _narrowed_symbols(store, first[1]) & _narrowed_symbols(store, second[1]):
        (low, high), (least, most) = first[1].bounds(symbol), second[1].bounds(symbol)
        within = as_interval((min(low, least), max(high, most)))
        store.add_range(symbol, within.lo, within.hi, source)


def _narrowed_symbols(before: ConstraintStore, after: ConstraintStore) -> set[Dimension]:
    """The symbols that have tighter bounds."""
    changed = {c.symbol for c in after.constraints(beyond=before) if c.kind == "range" or c.is_solved}
    return {symbol for symbol in changed if after.bounds(symbol) not in (before.bounds(symbol), (-inf, inf))}


def _equal_symbols(before: ConstraintStore, after: ConstraintStore) -> Iterator[Constraint]:
    """Equalities of symbols that are solved by the same number or dim."""
    first: dict[DimSize, Constraint] = {}
    for solved in after.constraints(beyond=before):
        if solved.is_solved:
            same = first.setdefault(solved.sides[1], solved)
            if same is not solved:
                yield Constraint("equality", same.source, operands=(same.symbol, solved.symbol))
