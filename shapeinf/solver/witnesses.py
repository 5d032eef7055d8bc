"""Points at which all facts hold: witnesses that a bound is attained, and that a term can win."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import inf

from shapeinf.constraints.records import Guard
from shapeinf.constraints.store import Facts
from shapeinf.expr.dimension import Dim, Dimension
from shapeinf.expr.evaluation import evaluate
from shapeinf.solver.budget import Budget
from shapeinf.solver.long_sums import canonical

SAMPLES = 24
STEPS_A_FACT = 40
"""What it takes to look at a fact at one point, in the steps of a budget."""
_SPREAD = 4096


def broken_at(facts: Facts, values: Mapping[str, int]) -> Guard | None:
    """The first alternative of the facts that does not hold where symbols have these values; None for none."""
    for guard in facts.guards:
        if guard.equation is None and guard.operands:
            operands = [value_at(facts, d, values) for d in guard.operands]
            if guard.holds(operands) is False:
                return guard
    return None


def holds_at(facts: Facts, values: Mapping[str, int]) -> bool:
    """Whether all facts are sure to hold for some sizes of the symbols that have no value here.

    Those are tried at their lower bounds. Facts in words alone, which are about data, count as held.
    """
    point = _completed(facts, values)
    if point is None:
        return False
    at_least_zero = [value_at(facts, r.expression, point) for r in facts.relations]
    zero = [value_at(facts, g.equation, point) for g in facts.guards if g.equation is not None]
    zero += [value_at(facts, d.expression % d.divisor, point) for d in facts.divisibilities]
    alternatives = [value_at(facts, d, point) for g in facts.guards for d in g.operands]
    return (
        all(n is not None and n >= 0 for n in at_least_zero)
        and all(n == 0 for n in zero)
        and None not in alternatives
        and _in_ranges(facts, point)
        and broken_at(facts, point) is None
    )


def sample_points(facts: Facts, symbols: Iterable[Dimension], budget: Budget) -> list[dict[str, int]]:
    """Some points at which all facts hold, the same at every call; none where they are hard to hit."""
    ordered = sorted(symbols, key=lambda s: s.terms[0][0][0])
    found = []
    for number in range(SAMPLES):
        if not budget.take(STEPS_A_FACT * (facts.count + len(ordered))):
            break
        values = _sample(facts, ordered, random.Random(number), number)
        if holds_at(facts, values):
            found.append(values)
    return found


def _sample(facts: Facts, symbols: Iterable[Dimension], source: random.Random, number: int) -> dict[str, int]:
    """Sizes of all magnitudes; the first two samples are all small and all large."""
    values = {}
    for symbol in symbols:
        low, high = facts.bounds(symbol)
        least = int(low) if low != -inf else 0
        most = int(high) if high != inf else least + _SPREAD
        width = most - least
        reach = min(width, 1 << source.randrange(1 + width.bit_length()))
        step = (0, width)[number] if number < 2 else source.randint(0, reach)
        residue = facts.residues.by_symbol(symbol)
        value = least + step
        values[symbol.name] = value - (value - residue.rest) % residue.modulus if residue else value
    return values


def _completed(facts: Facts, values: Mapping[str, int]) -> dict[str, int] | None:
    """The values, and lower bounds for the other symbols that facts are about."""
    point = dict(values)
    for symbol in _mentioned(facts):
        if symbol.name not in point:
            low = facts.bounds(symbol)[0]
            if low == -inf:
                return None
            point[symbol.name] = int(low)
    return point


def _mentioned(facts: Facts) -> Iterator[Dimension]:
    expressions = chain(
        (r.expression for r in facts.relations),
        (d.expression for d in facts.divisibilities),
        (g.equation for g in facts.guards if g.equation is not None),
        (d for g in facts.guards for d in g.operands),
    )
    for expression in expressions:
        found = facts.canon(expression)
        if isinstance(found, Dimension):
            yield from found.symbols()


def _in_ranges(facts: Facts, point: Mapping[str, int]) -> bool:
    """Whether each value lies in the bounds of its symbol, and has its residue."""
    for name, value in point.items():
        symbol = facts.scope.symbol(name)
        low, high = facts.bounds(symbol)
        residue = facts.residues.by_symbol(symbol)
        if not low <= value <= high or (residue is not None and (value - residue.rest) % residue.modulus):
            return False
    return True


def value_at(facts: Facts, d: Dim, values: Mapping[str, int]) -> int | None:
    """The value of a dim at a point; None where a symbol of it has none, or it divides by zero."""
    try:
        return int(evaluate(canonical(facts, d), values))
    except (KeyError, ZeroDivisionError):
        return None
