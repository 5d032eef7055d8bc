"""Points at which all facts hold: witnesses that a bound is attained, and that a term can win."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import inf

from shapeinf.constraints.records import Disjunction
from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.dimension import Dim, Dimension
from shapeinf.expr.evaluation import evaluate
from shapeinf.solver.budget import Budget
from shapeinf.solver.long_sums import canonical_form

SAMPLES = 24
STEPS_PER_CONSTRAINT = 40
"""What it takes to look at a fact at one point, in the steps of a budget."""
_SPREAD = 4096


def violated_at(store: ConstraintStore, values: Mapping[str, int]) -> Disjunction | None:
    """The first alternative of the facts that does not hold where symbols have these values; None for none."""
    for disjunction in store.disjunctions:
        if disjunction.equation is None and disjunction.operands:
            operands = [value_at(store, d, values) for d in disjunction.operands]
            if disjunction.holds(operands) is False:
                return disjunction
    return None


def holds_at(store: ConstraintStore, values: Mapping[str, int]) -> bool:
    """Whether all facts are sure to hold for some sizes of the symbols that have no value here.

    Those are tried at their lower bounds. Facts in words alone, which are about data, count as held.
    """
    point = _completed(store, values)
    if point is None:
        return False
    at_least_zero = [value_at(store, r.expression, point) for r in store.relations]
    zero = [value_at(store, g.equation, point) for g in store.disjunctions if g.equation is not None]
    zero += [value_at(store, d.expression % d.divisor, point) for d in store.divisibilities]
    alternatives = [value_at(store, d, point) for g in store.disjunctions for d in g.operands]
    return (
        all(n is not None and n >= 0 for n in at_least_zero)
        and all(n == 0 for n in zero)
        and None not in alternatives
        and _in_ranges(store, point)
        and violated_at(store, point) is None
    )


def sample_points(store: ConstraintStore, symbols: Iterable[Dimension], budget: Budget) -> list[dict[str, int]]:
    """Some points at which all facts hold, the same at every call; none where they are hard to hit."""
    ordered = sorted(symbols, key=lambda s: s.atom)
    found = []
    for number in range(SAMPLES):
        if not budget.take(STEPS_PER_CONSTRAINT * (store.count + len(ordered))):
            break
        values = _sample(store, ordered, random.Random(number), number)
        if holds_at(store, values):
            found.append(values)
    return found


def _sample(store: ConstraintStore, symbols: Iterable[Dimension], source: random.Random, number: int) -> dict[str, int]:
    """Sizes of all magnitudes; the first two samples are all small and all large."""
    values = {}
    for symbol in symbols:
        low, high = store.bounds(symbol)
        least = int(low) if low != -inf else 0
        most = int(high) if high != inf else least + _SPREAD
        width = most - least
        reach = min(width, 1 << source.randrange(1 + width.bit_length()))
        step = (0, width)[number] if number < 2 else source.randint(0, reach)
        congruence = store.congruences.by_symbol(symbol)
        value = least + step
        values[symbol.name] = value - (value - congruence.rest) % congruence.modulus if congruence else value
    return values


def _completed(store: ConstraintStore, values: Mapping[str, int]) -> dict[str, int] | None:
    """The values, and lower bounds for the other symbols that facts are about."""
    point = dict(values)
    for symbol in _mentioned(store):
        if symbol.name not in point:
            low = store.bounds(symbol)[0]
            if low == -inf:
                return None
            point[symbol.name] = int(low)
    return point


def _mentioned(store: ConstraintStore) -> Iterator[Dimension]:
    expressions = chain(
        (r.expression for r in store.relations),
        (d.expression for d in store.divisibilities),
        (g.equation for g in store.disjunctions if g.equation is not None),
        (d for g in store.disjunctions for d in g.operands),
    )
    for expression in expressions:
        found = store.canon(expression)
        if isinstance(found, Dimension):
            yield from found.symbols()


def _in_ranges(store: ConstraintStore, point: Mapping[str, int]) -> bool:
    """Whether each value lies in the bounds of its symbol, and has its residue."""
    for name, value in point.items():
        symbol = store.scope.symbol(name)
        low, high = store.bounds(symbol)
        congruence = store.congruences.by_symbol(symbol)
        if not low <= value <= high or (congruence is not None and (value - congruence.rest) % congruence.modulus):
            return False
    return True


def value_at(store: ConstraintStore, d: Dim, values: Mapping[str, int]) -> int | None:
    """The value of a dim at a point; None where a symbol of it has none, or it divides by zero."""
    try:
        return int(evaluate(canonical_form(store, d), values))
    except (KeyError, ZeroDivisionError):
        return None
