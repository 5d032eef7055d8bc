"""Sizes to try: bindings of symbols under which everything known holds, to show a claim by an example."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import lcm

from shapeinf.algebra import Dim, Dimension, evaluate
from shapeinf.algebra.dimension import Floor, Maximum
from shapeinf.algebra.told import Clause, one_holds
from shapeinf.lattice import ShapeFacts

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 32, 48, 64, 96, 128, 224, 256, 384, 512)
FEW = (1, 2, 3, 8, 16, 32, 64, 224, 256)
MAX_TRIED = 4096
MOST = 1024
"""The largest size that is tried, unless ranges start above it."""
LARGE = 32
"""From here on a single size is tried at every number, and sizes are not small any more."""
FAR = 512
"""What has not ended here has no end."""
MAX_PERIOD = 4096

Binding = dict[str, int]


def value(dim: Dim, binding: Mapping[str, int]) -> int | None:
    """The size under a binding; None where it has none."""
    try:
        return int(evaluate(dim, binding))
    except (KeyError, ZeroDivisionError, OverflowError):
        return None


def bindings(
    facts: ShapeFacts, symbols: Iterable[Dimension], least: int = 0, about: Iterable[Dim] = ()
) -> Iterator[Binding]:
    """Bindings of symbols within their ranges (and at least `least`), small sizes and powers of two first.

    Multiples of what the dims that it is `about` divide by are among the sizes.
    """
    chosen = sorted(symbols, key=str)
    few, alone, period = SIZES if len(chosen) < 3 else FEW, len(chosen) == 1, _period(about)
    sizes = [_sizes(facts, symbol, least, few, alone, period) for symbol in chosen]
    for values in itertools.islice(itertools.product(*sizes), MAX_TRIED):
        yield dict(zip((symbol.name for symbol in chosen), values, strict=True))


def _sizes(
    facts: ShapeFacts, symbol: Dimension, least: int, sizes: tuple[int, ...], alone: bool, period: int
) -> list[int]:
    bounds = facts.interval(symbol)
    lo = max(least, bounds.lo or 0)
    found = {size for size in sizes if size >= lo} | {lo, lo + 1, lo + 7}
    found.update(range(-(-lo // period) * period, lo + 2 * period, period))
    if alone and least >= LARGE:
        found.update(range(least, MOST + 1))
    return sorted(size for size in found if bounds.hi is None or size <= bounds.hi)


def _period(dims: Iterable[Dim]) -> int:
    """The least common multiple of the numbers that dims divide by; 1 where that is large."""
    found = 1
    for d in dims:
        for monomial, _ in d.terms if isinstance(d, Dimension) else ():
            for atom in (d.scope.atoms[number] for number in monomial):  # type: ignore[union-attr]
                if isinstance(atom, Floor):
                    by = atom.denominator if isinstance(atom.denominator, int) else 1
                    found = lcm(found, by * _period([atom.numerator]))
                elif isinstance(atom, Maximum):
                    found = lcm(found, _period(atom.args))
    return found if found <= MAX_PERIOD else 1


def legal(facts: ShapeFacts, symbols: Iterable[Dimension]) -> Iterator[Binding]:
    """Bindings under which all that is known of these symbols holds; what is about others too is left out."""
    wanted = set(symbols)
    tests = _tests(facts, {symbol.name for symbol in wanted})
    for binding in bindings(facts, wanted):
        if all(test(binding) for test in tests):
            yield binding


def _tests(facts: ShapeFacts, names: set[str]) -> list[Callable[[Binding], bool]]:
    """Whether a binding may fulfil what is known of nothing but these names: a test for each fact, none twice."""
    found: dict[object, Callable[[Binding], bool]] = {}
    for relation in facts.relations:
        if _names(relation.expression) <= names:
            found[relation.expression] = partial(_not_negative, relation.expression)
    for one in facts.divisibilities:
        if _names(one.expression) <= names:
            found[one.expression, one.divisor] = partial(_divides, one.divisor, one.expression)
    for guard in facts.guards:
        clauses = guard.clauses(facts.canon)
        if set() < {name for clause in clauses for name in _names(clause.expression)} <= names:
            found[clauses] = partial(_may_hold, clauses)
    return list(found.values())


def _not_negative(dim: Dim, binding: Binding) -> bool:
    return (value(dim, binding) or 0) >= 0


def _divides(divisor: int, dim: Dim, binding: Binding) -> bool:
    return (value(dim, binding) or 0) % divisor == 0


def _may_hold(clauses: tuple[Clause, ...], binding: Binding) -> bool:
    return one_holds(clauses, binding) is not False


def _names(dim: Dim) -> set[str]:
    return set() if isinstance(dim, int) else {s.name for s in dim.symbols()}
