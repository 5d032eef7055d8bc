"""What was told between two states of the facts: to tell it to others, or to see whether others imply it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

import attrs

from shapeinf.constraints.records import Disjunction, Divisibility, Range
from shapeinf.errors import Source
from shapeinf.expr import Dim, Dimension
from shapeinf.expr.interval import as_interval
from shapeinf.lattice import ShapeStore

States = tuple[ShapeStore, ShapeStore]
"""The facts before and after something."""


@attrs.frozen
class Told:
    """One thing that was told: how to tell it to other facts (raises Contradiction), and whether these imply it."""

    tell: Callable[[ShapeStore], object]
    implied: Callable[[ShapeStore], bool]


def added_between(before: ShapeStore, after: ShapeStore) -> Iterator[Told]:
    """What nodes have told the later facts beyond the earlier ones."""
    for symbol, value in after.solved.items():
        if symbol not in before.solved:
            yield _equal(symbol, value, after.sources[symbol])
    known = {id(one) for told in before.ranges.values() for one in told.steps()}
    for atom, told in after.ranges.items():
        for one in told.steps():
            if id(one) not in known and one.source.node:
                yield _bounded(after.scope.atom_dim(atom), one)
    for relation in after.relations[len(before.relations) :]:
        yield _at_least_zero(relation.expression, relation.source)
    yield from map(_divided, after.divisibilities[len(before.divisibilities) :])
    for disjunction in after.disjunctions:
        if disjunction.equation is not None:
            yield _equal(disjunction.equation, 0, disjunction.source)
        elif disjunction not in before.disjunctions:
            yield _guarded(disjunction)


def add_common(store: ShapeStore, one: States, other: States, source: Source) -> None:
    """Tell what two alternatives have told both: one of them holds. `source` says what only both together say."""
    for mine, others in ((one, other), (other, one)):
        for told in (*added_between(*mine), *_equals(*mine)):
            if told.implied(others[1]):
                told.tell(store)
    for symbol in _narrowed(*one) & _narrowed(*other):
        (low, high), (least, most) = one[1].bounds(symbol), other[1].bounds(symbol)
        within = as_interval((min(low, least), max(high, most)))
        store.add_range(symbol, within.lo, within.hi, source)


def _narrowed(before: ShapeStore, after: ShapeStore) -> set[Dimension]:
    """The symbols that have tighter bounds."""
    changed = {after.scope.atom_dim(atom) for atom, told in after.ranges.items() if before.ranges.get(atom) is not told}
    changed.update(symbol for symbol in after.solved if symbol not in before.solved)
    return {symbol for symbol in changed if after.bounds(symbol) not in (before.bounds(symbol), (-inf, inf))}


def _equals(before: ShapeStore, after: ShapeStore) -> Iterator[Told]:
    """That symbols are equal which have become one number or one dim, whatever that is."""
    first: dict[Dim, Dimension] = {}
    for symbol, value in after.solved.items():
        if symbol not in before.solved and first.setdefault(value, symbol) is not symbol:
            yield _equal(first[value], symbol, after.sources[first[value]])


def _equal(left: Dim, right: Dim, source: Source) -> Told:
    return Told(lambda store: store.add_equal(left, right, source), lambda store: store.prove_eq(left, right) is True)


def _bounded(d: Dim, told: Range) -> Told:
    (low, high), within = told.bounds, as_interval(told.bounds)

    def implied(store: ShapeStore) -> bool:
        least, most = store.bounds(d)
        return least >= low and most <= high

    return Told(lambda store: store.add_range(d, within.lo, within.hi, told.source), implied)


def _at_least_zero(d: Dim, source: Source) -> Told:
    return Told(lambda store: store.add_le(0, d, source), lambda store: store.prove_le(0, d) is True)


def _divided(fact: Divisibility) -> Told:
    return Told(
        lambda store: store.add_divisible(fact.expression, fact.divisor, fact.source),
        lambda store: store.divides(fact.divisor, fact.expression) is True,
    )


def _guarded(disjunction: Disjunction) -> Told:
    def implied(store: ShapeStore) -> bool:
        if any((g.template, g.operands) == (disjunction.template, disjunction.operands) for g in store.disjunctions):
            return True
        return any(store.prove_eq(clause.expression, 0) is True for clause in disjunction.clauses(store.canon))

    return Told(
        lambda store: store.add_disjunction(disjunction.template, disjunction.source, *disjunction.operands), implied
    )
