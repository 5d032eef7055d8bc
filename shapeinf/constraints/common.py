"""Constraints that two alternatives have in common, such as two branches of which one runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from shapeinf.constraints.records import Constraint, Range
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
    for states, (_, other) in ((first, second), (second, first)):
        added = new_constraints(*states)
        for constraint in (*added, *_equal_symbols(added)):
            if other.implies(constraint) and not store.implies(constraint):
                store.add(constraint)
    for symbol in _narrowed_symbols(store, first[1]) & _narrowed_symbols(store, second[1]):
        (low, high), (least, most) = first[1].bounds(symbol), second[1].bounds(symbol)
        within = as_interval((min(low, least), max(high, most)))
        store.add_range(symbol, within.lo, within.hi, source)


def _narrowed_symbols(before: ConstraintStore, after: ConstraintStore) -> set[Dimension]:
    """The symbols that have tighter bounds."""
    scope, earlier = after.scope, before.ranges.get
    scope.work += len(after.ranges) + len(after.solved)
    changed = [scope.atom_dim(a) for a, known in after.ranges.items() if _is_new(known, earlier(a))]
    changed += [symbol for symbol in after.solved if symbol not in before.solved]
    return {symbol for symbol in changed if after.bounds(symbol) not in (before.bounds(symbol), (-inf, inf))}


def _is_new(known: Range, earlier: Range | None) -> bool:
    """Whether a range has other bounds than an earlier one, which are not all implied by another constraint."""
    if known is earlier or (earlier is not None and known.bounds == earlier.bounds):
        return False
    return not all(step.implied for step in known.steps())


def _equal_symbols(constraints: Sequence[Constraint]) -> Iterator[Constraint]:
    """Equalities of symbols that are solved by the same number or dim."""
    first: dict[DimSize, Constraint] = {}
    for solved in constraints:
        if solved.is_solved:
            same = first.setdefault(solved.sides[1], solved)
            if same is not solved:
                yield Constraint("equality", same.source, operands=(same.symbol, solved.symbol))
