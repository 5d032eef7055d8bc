"""Constraints that two alternatives have in common, such as two branches of which one runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from shapeinf.constraints.records import Constraint
from shapeinf.constraints.store import ConstraintStore
from shapeinf.errors import Source
from shapeinf.expr.dimension import Dimension, DimSize
from shapeinf.expr.interval import as_interval

States = tuple[ConstraintStore, ConstraintStore]
"""A store before and after an alternative."""


def new_constraints(before: ConstraintStore, after: ConstraintStore) -> list[Constraint]:
    """The constraints of `after` that `before` does not have; of ranges only those that nodes have narrowed."""
    return [c for c in after.constraints(beyond=before) if c.kind != "range" or c.source.node]


def add_common(store: ConstraintStore, first: States, second: States, source: Source) -> None:
    """Add the constraints that hold in both alternatives; `source` is that of a range that contains both ranges."""
    added = new_constraints(*first), new_constraints(*second)
    for constraints, (_, other) in zip(added, (second, first), strict=True):
        for constraint in (*constraints, *_equal_symbols(constraints)):
            if other.implies(constraint) and not store.implies(constraint):
                store.add(constraint)
    for symbol in _bounded_symbols(added[0]) & _bounded_symbols(added[1]):
        (low, high), (least, most) = first[1].bounds(symbol), second[1].bounds(symbol)
        if (-inf, inf) not in ((low, high), (least, most)):
            within = as_interval((min(low, least), max(high, most)))
            store.add_range(symbol, within.lo, within.hi, source)


def _bounded_symbols(constraints: Sequence[Constraint]) -> set[Dimension]:
    """The symbols with a range or a value."""
    return {c.symbol for c in constraints if c.kind == "range" or c.is_solved}


def _equal_symbols(constraints: Sequence[Constraint]) -> Iterator[Constraint]:
    """Equalities of symbols that are solved by the same number or dim."""
    first: dict[DimSize, Constraint] = {}
    for solved in constraints:
        if solved.is_solved:
            same = first.setdefault(solved.sides[1], solved)
            if same is not solved:
                yield Constraint("equality", same.source, operands=(same.symbol, solved.symbol))
