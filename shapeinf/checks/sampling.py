"""Sizes to try: bindings of symbols under which everything known holds, to show a claim by an example."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from math import lcm

from shapeinf.constraints.records import Clause, one_holds
from shapeinf.expr import Dim, Dimension, Interval, evaluate
from shapeinf.expr.atoms import Floor, Maximum
from shapeinf.expr.equations import pivot
from shapeinf.lattice import ShapeStore

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 32, 48, 64, 96, 128, 224, 256, 384, 512)
FEW = (1, 2, 3, 8, 16, 32, 64, 224, 256)
MAX_TRIED = 4096
MOST = 1024
"""The largest size that is tried, unless ranges start above it."""
LARGE = 32
"""From here on a single size is tried at every number, and sizes are not small any more."""
FAR = 512
"""What has not ended here has no end."""
_MULTIPLE = 2**6 * 3**2 * 5**2 * 7 * 11
"""A multiple of what real models need multiples of."""
_LONGEST_STEP = 128
MAX_PERIOD = 4096
MAX_OFFSETS = 8

Binding = dict[str, int]


def value(dim: Dim, binding: Mapping[str, int]) -> int | None:
    """The size under a binding; None where it has none."""
    try:
        return int(evaluate(dim, binding))
    except (KeyError, ZeroDivisionError, OverflowError):
        return None


def bindings(
    store: ShapeStore, symbols: Iterable[Dimension], least: int = 0, about: Iterable[Dim] = ()
) -> Iterator[Binding]:
    """Bindings of symbols within their ranges (and at least `least`), small sizes and powers of two first.

    Among the sizes are those at which the divisions of the dims that it is `about` leave nothing.
    """
    chosen = sorted(symbols, key=str)
    few, alone = SIZES if len(chosen) < 3 else FEW, len(chosen) == 1
    period, offsets = _steps(about)
    sizes = []
    for symbol in chosen:
        bounds = store.interval(symbol)
        lo = max(least, bounds.lo or 0)
        found = {size for size in few if size >= lo} | {lo, lo + 1, lo + 7}
        found.update(lo + (-lo - offset) % period + more for offset in offsets for more in (0, period))
        found.update(range(least, MOST + 1) if alone and least >= LARGE else ())
        sizes.append(sorted(size for size in found if bounds.hi is None or size <= bounds.hi))
    for values in itertools.islice(itertools.product(*sizes), MAX_TRIED):
        yield dict(zip((symbol.name for symbol in chosen), values, strict=True))


def solving(
    store: ShapeStore, symbols: Iterable[Dimension], least: int, clauses: Iterable[Clause], about: Iterable[Dim]
) -> Iterator[Binding]:
    """Such bindings, each followed by those in which one symbol is what makes a clause true, where that is a size."""
    symbols = list(symbols)
    pivots = [found for clause in clauses if (found := solution_of(clause)) is not None]
    for binding in bindings(store, symbols, least, about):
        yield binding
        for symbol, solution in pivots:
            size, bounds = value(solution, binding), store.interval(symbol)
            if size is not None and max(least, bounds.lo or 0) <= size and (bounds.hi is None or size <= bounds.hi):
                yield {**binding, symbol.name: size}


def solution_of(clause: Clause) -> tuple[Dimension, Dim] | None:
    """A symbol of an equation, and what it must be."""
    found = pivot(clause.expression) if clause.zero and isinstance(clause.expression, Dimension) else None
    return None if found is None else (found[0], found[0] - found[1] * clause.expression)


def _steps(dims: Iterable[Dim]) -> tuple[int, set[int]]:
    """The least common multiple of the numbers that dims divide by (1 where that is large); what they add before."""
    period, offsets = 1, {0}
    for divisor, offset in _divisions(dims):
        period = lcm(period, divisor)
        offsets.add(offset % divisor)
        if period > MAX_PERIOD or len(offsets) > MAX_OFFSETS:
            return 1, {0}
    return period, offsets


def _divisions(dims: Iterable[Dim]) -> Iterator[tuple[int, int]]:
    """What dims divide by, one division inside of another together, and the constant that is added before.

    A part that several dims share is visited once for each number that it is divided by outside.
    """
    seen: set[tuple[Dim, int]] = set()
    left = [(d, 1) for d in dims]
    while left:
        d, outer = left.pop()
        if not isinstance(d, Dimension) or (d, outer) in seen:
            continue
        seen.add((d, outer))
        for atom in (d.scope.atoms[number] for number in d.atom_numbers()):
            if isinstance(atom, Floor) and isinstance(atom.denominator, int) and isinstance(atom.numerator, Dimension):
                by = outer * atom.denominator
                yield by, atom.numerator.constant
                left.append((atom.numerator, by))
            elif isinstance(atom, Maximum):
                left += [(arg, outer) for arg in atom.args]


def legal(store: ShapeStore, symbols: Iterable[Dimension], later: ShapeStore | None = None) -> Iterator[Binding]:
    """Bindings under which all that is known of these symbols holds; what is about others too is left out.

    Of facts that were told `later` only those count that leave a dim many sizes: bounds, multiples.
    """
    wanted = set(symbols)
    names = {symbol.name for symbol in wanted}
    tests = [*_tests(store, names), *([] if later is None else _limits(later, wanted))]
    for binding in bindings(store, wanted):
        if all(test(binding) for test in tests):
            yield binding


def possible(store: ShapeStore, names: set[str]) -> Callable[[Binding], bool]:
    """Whether a binding of these names may fulfil all that is known of nothing else."""
    tests = _tests(store, names)
    return lambda binding: all(test(binding) for test in tests)


def _tests(store: ShapeStore, names: set[str]) -> list[Callable[[Binding], bool]]:
    """Whether a binding may fulfil what is known of nothing but these names: a test for each fact, none twice."""
    found = _inequalities(store, names)
    for disjunction in store.disjunctions:
        clauses = disjunction.clauses(store.canon)
        if set() < {name for clause in clauses for name in _names(clause.expression)} <= names:
            found[clauses] = partial(_may_hold, clauses)
    return list(found.values())


def _limits(store: ShapeStore, symbols: Collection[Dimension]) -> list[Callable[[Binding], bool]]:
    """The same of what is no equation of several dims."""
    names = {symbol.name for symbol in symbols}
    found = _inequalities(store, names)
    for disjunction in store.disjunctions:
        clauses = disjunction.clauses(lambda dim: dim)
        here = {name for clause in clauses for name in _names(clause.expression)} & names
        if len(here) == 1 and not _leaves_a_rest(clauses, *here):
            found[clauses] = partial(_may_hold, clauses)
    for symbol in symbols:
        if symbol not in store.solved:
            found[symbol] = partial(_within, symbol.name, store.interval(symbol))
    return list(found.values())


def _leaves_a_rest(clauses: tuple[Clause, ...], name: str) -> bool:
    """Whether a dim must be no multiple, but one of those and a rest: that is nothing people mean by a dim."""
    if one_holds(clauses, {name: _MULTIPLE}) is not False:
        return False
    return any(one_holds(clauses, {name: _MULTIPLE + rest}) for rest in range(1, _LONGEST_STEP))


def _inequalities(store: ShapeStore, names: set[str]) -> dict[object, Callable[[Binding], bool]]:
    found: dict[object, Callable[[Binding], bool]] = {}
    for relation in store.relations:
        if _names(relation.expression) <= names:
            found[relation.expression] = partial(_not_negative, relation.expression)
    for one in store.divisibilities:
        if _names(one.expression) <= names:
            found[one.expression, one.divisor] = partial(_divides, one.divisor, one.expression)
    return found


def _within(name: str, bounds: Interval, binding: Binding) -> bool:
    return (bounds.lo or 0) <= binding[name] and (bounds.hi is None or binding[name] <= bounds.hi)


def ends_at_a_switch(dims: Iterable[Dim], symbol: Dimension, last: int) -> bool:
    """Whether another argument of a maximum is the largest from the next size on: there a table ends, or begins to."""
    return any(_winners(atom, {symbol.name: last}) != _winners(atom, {symbol.name: last + 1}) for atom in maxima(dims))


def _winners(atom: Maximum, binding: Binding) -> list[bool]:
    sizes = [value(arg, binding) for arg in atom.args]
    known = [size for size in sizes if size is not None]
    return [size == max(known, default=None) for size in sizes]


def maxima(dims: Iterable[Dim]) -> Iterator[Maximum]:
    """All maxima in dims, also those inside of divisions and of each other; each once."""
    seen: set[int] = set()
    left = list(dims)
    while left:
        d = left.pop()
        numbers = {} if isinstance(d, int) else {n: d.scope.atoms[n] for n in d.atom_numbers()}
        for number, atom in numbers.items():
            if number in seen:
                continue
            seen.add(number)
            if isinstance(atom, Maximum):
                yield atom
                left += atom.args
            elif isinstance(atom, Floor):
                left.append(atom.numerator)


def _not_negative(dim: Dim, binding: Binding) -> bool:
    return (value(dim, binding) or 0) >= 0


def _divides(divisor: int, dim: Dim, binding: Binding) -> bool:
    return (value(dim, binding) or 0) % divisor == 0


def _may_hold(clauses: tuple[Clause, ...], binding: Binding) -> bool:
    return one_holds(clauses, binding) is not False


def _names(dim: Dim) -> set[str]:
    return set() if isinstance(dim, int) else {s.name for s in dim.symbols()}
