"""The sampler of sizes: bindings of symbols under which constraints hold, for trials and as examples."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf, lcm

from shapeinf.constraints.records import Clause, Constraint, any_holds, try_evaluate
from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr import Dimension, DimSize, Interval
from shapeinf.expr.atoms import Floor, Maximum
from shapeinf.expr.equations import pivot
from shapeinf.expr.interval import as_interval
from shapeinf.solver.budget import Budget
from shapeinf.solver.witnesses import STEPS_PER_CONSTRAINT, holds_at

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 32, 48, 64, 96, 128, 224, 256, 384, 512)
FEW = (1, 2, 3, 8, 16, 32, 64, 224, 256)
SPREAD = (2, 3, 5, 7, 33, 65)
"""Sizes between the ends of ranges."""
MAX_TRIED = 4096
MOST = 1024
"""The largest size that is tried, unless ranges start above it."""
LARGE = 32
"""Sizes from here on are not small; of a single symbol every one is tried."""
FAR = 512
"""A condition that holds up to here has no end."""
_MULTIPLE = 2**6 * 3**2 * 5**2 * 7 * 11
"""A multiple of the divisors that real models require."""
_LONGEST_STEP = 128
MAX_PERIOD = 4096
MAX_OFFSETS = 8
MAX_DRAWN = 512
"""Legal bindings from which the distinct ones are chosen."""
PRIMES = (37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)
"""Sizes that numbers of a graph rarely divide, and at which tables rarely end."""
MAX_ROOTS = 64
"""The usual number of samples for which equations are solved numerically."""
_FARTHEST = 2**20
"""The distance up to which a root is searched."""
_USUAL = (64, 224, 256, 96, 128, 512, 32, 16, 640, 8, 4, 2, 1)
"""Sizes of images and sequences that people use."""
_FACTORS = (1, 2, 4, 8, 16, 32, 64)
_MAX_COMBINATIONS = 256
STARTS = (6, 4, 8, 12, 3, 5, 2, 16, 24, 32, 64, 7, 1)
"""The first sizes of consecutive bindings."""
RANDOM_POINTS = 24
_RANDOM_WIDTH = 4096

Binding = dict[str, int]
Box = Mapping[Dimension, tuple[int, int]]
"""The least and the largest size of each symbol."""


# -- candidates --------------------------------------------------------------------------------------------------------


def combine_sizes(sizes: Mapping[Dimension, Iterable[int]]) -> Iterator[Binding]:
    """The bindings of all combinations of the sizes of each symbol, up to a limit."""
    names = [symbol.name for symbol in sizes]
    for values in itertools.islice(itertools.product(*sizes.values()), MAX_TRIED):
        yield dict(zip(names, values, strict=True))


def sample_bindings(
    store: ConstraintStore, symbols: Iterable[Dimension], least: int = 0, about: Iterable[DimSize] = ()
) -> Iterator[Binding]:
    """Bindings of symbols within their ranges (and at least `least`), small sizes and powers of two first.

    Among the sizes are those at which the divisions of the dims that it is `about` are exact.
    """
    chosen = sorted(symbols, key=str)
    few, alone = SIZES if len(chosen) < 3 else FEW, len(chosen) == 1
    period, offsets = _steps(about)
    columns = {}
    for symbol in chosen:
        bounds = store.interval(symbol)
        lo = max(least, bounds.lo or 0)
        sizes = {size for size in few if size >= lo} | {lo, lo + 1, lo + 7}
        sizes.update(lo + (-lo - offset) % period + more for offset in offsets for more in (0, period))
        sizes.update(range(least, MOST + 1) if alone and least >= LARGE else ())
        columns[symbol] = sorted(size for size in sizes if bounds.hi is None or size <= bounds.hi)
    return combine_sizes(columns)


def sample_solutions(
    store: ConstraintStore,
    symbols: Iterable[Dimension],
    least: int,
    clauses: Iterable[Clause],
    about: Iterable[DimSize],
    roots: int = 0,
) -> Iterator[Binding]:
    """Bindings as `sample_bindings`, each followed by those in which one symbol is changed so that a clause holds.

    For the first bindings, `roots` of them, equations are solved numerically too.
    """
    symbols, clauses = sorted(symbols, key=str), list(clauses)
    pivots = [solution for clause in clauses if (solution := solve_clause(clause)) is not None]
    equations = [clause.expression for clause in clauses if clause.zero]
    for number, binding in enumerate(sample_bindings(store, symbols, least, about)):
        yield binding
        for symbol, value in pivots:
            size, bounds = try_evaluate(value, binding), store.interval(symbol)
            if size is not None and max(least, bounds.lo or 0) <= size and (bounds.hi is None or size <= bounds.hi):
                yield {**binding, symbol.name: size}
        for equation, symbol in itertools.product(equations, symbols) if number < roots else ():
            bounds = store.interval(symbol)
            size = find_root(equation, symbol, binding, max(least, bounds.lo or 0), bounds.hi)
            if size is not None:
                yield {**binding, symbol.name: size}


def find_root(equation: DimSize, symbol: Dimension, binding: Binding, low: int, high: int | None) -> int | None:
    """The least size from `low` on at which an expression that grows or shrinks with a symbol is 0; None for none.

    The other symbols have the sizes of the binding.
    """
    if not isinstance(equation, Dimension) or symbol not in equation.symbols():
        return None

    def value(size: int) -> int | None:
        return try_evaluate(equation, {**binding, symbol.name: size})

    first = value(low)
    if first is None or first == 0:
        return None if first is None else low
    step = 1
    while (last := value(low + step)) is not None and (last < 0) == (first < 0) and last != 0:
        step *= 2
        if step > _FARTHEST:
            return None
    below, above = low + step // 2, low + step
    while above - below > 1:
        middle = (below + above) // 2
        at = value(middle)
        if at is None:
            return None
        below, above = (middle, above) if at != 0 and (at < 0) == (first < 0) else (below, middle)
    return above if value(above) == 0 and (high is None or above <= high) else None


def solve_clause(clause: Clause) -> tuple[Dimension, DimSize] | None:
    """A symbol of an equation and its value; None for a clause that is not an equation, or not linear in a symbol."""
    solved = pivot(clause.expression) if clause.zero and isinstance(clause.expression, Dimension) else None
    return None if solved is None else (solved[0], solved[0] - solved[1] * clause.expression)


def spread_bindings(box: Box) -> Iterator[Binding]:
    """Bindings within a box: its ends, sizes near them, and some between."""
    return combine_sizes({symbol: _spread(low, high) for symbol, (low, high) in box.items()})


def _spread(low: int, high: int) -> list[int]:
    near = {low, low + 1, low + 2, low + 3, (low + high) // 2, high - 1, high}
    return sorted(size for size in near.union(SPREAD) if low <= size <= high)


def central_bindings(box: Box) -> Iterator[Binding]:
    """The middle of a box, then bindings with one symbol at an end or next to it."""
    middle = {symbol.name: sum(ends) // 2 for symbol, ends in box.items()}
    yield middle
    for symbol, (low, high) in box.items():
        for size in {min(low + 1, high), max(high - 1, low), low, high}:
            yield {**middle, symbol.name: size}


def _steps(dims: Iterable[DimSize]) -> tuple[int, set[int]]:
    """The least common multiple of the divisors of dims (1 where that is large), and the constants added before."""
    period, offsets = 1, {0}
    for divisor, offset in _divisions(dims):
        period = lcm(period, divisor)
        offsets.add(offset % divisor)
        if period > MAX_PERIOD or len(offsets) > MAX_OFFSETS:
            return 1, {0}
    return period, offsets


def _divisions(dims: Iterable[DimSize]) -> Iterator[tuple[int, int]]:
    """The divisors of dims, those of nested divisions multiplied, and the constant that is added before.

    A part that several dims share is visited once for each number that it is divided by outside.
    """
    seen: set[tuple[DimSize, int]] = set()
    pending = [(d, 1) for d in dims]
    while pending:
        d, outer = pending.pop()
        if not isinstance(d, Dimension) or (d, outer) in seen:
            continue
        seen.add((d, outer))
        for atom in (d.scope.atoms[number] for monomial, _ in d.terms for number in monomial):
            if isinstance(atom, Floor) and isinstance(atom.denominator, int) and isinstance(atom.numerator, Dimension):
                by = outer * atom.denominator
                yield by, atom.numerator.constant
                pending.append((atom.numerator, by))
            elif isinstance(atom, Maximum):
                pending += [(arg, outer) for arg in atom.args]


# -- legal bindings ----------------------------------------------------------------------------------------------------


def legal_bindings(
    store: ConstraintStore, symbols: Iterable[Dimension], later: ConstraintStore | None = None
) -> Iterator[Binding]:
    """Bindings under which all constraints on these symbols hold; constraints that involve other symbols are omitted.

    Of the constraints of a `later` state only those count that leave a dim many sizes: bounds, multiples.
    """
    chosen = set(symbols)
    names = {symbol.name for symbol in chosen}
    tests = [*_tests(store, names), *([] if later is None else _limits(later, chosen))]
    return (binding for binding in sample_bindings(store, chosen) if all(test(binding) for test in tests))


def typical_bindings(
    store: ConstraintStore, symbols: Iterable[Dimension], later: ConstraintStore | None = None
) -> Iterator[Binding]:
    """Legal bindings, at which operands that broadcast are equal where they can be, and sizes that solve equations.

    A size of 1 that another operand broadcasts is legal, but no file that declares names means it.
    """
    chosen = set(symbols)
    names = {symbol.name for symbol in chosen}
    bindings = _solving_bindings(store, chosen, later)
    operands = (_equal_operands(store, disjunction) for disjunction in store.disjunctions)
    equal = [clauses for clauses in operands if clauses and _names(clauses) <= names]
    if not equal:
        yield from bindings
        return
    drawn = list(itertools.islice(bindings, MAX_DRAWN))
    yield from [b for b in drawn if all(_may_hold(clauses, b) for clauses in equal)] or drawn


def _solving_bindings(
    store: ConstraintStore, symbols: Collection[Dimension], later: ConstraintStore | None
) -> Iterator[Binding]:
    """The legal bindings; without any, those in which equations are solved."""
    bindings = legal_bindings(store, symbols, later)
    first = next(bindings, None)
    if first is not None:
        yield first
        yield from bindings
        return
    names = {symbol.name for symbol in symbols}
    clauses = [c for constraint in store.pending() for c in constraint.clauses_in(store.canon) if _names([c]) <= names]
    is_legal = legality_test(store, names)
    about = [clause.expression for clause in clauses]
    yield from filter(is_legal, sample_solutions(store, symbols, 0, clauses, about, MAX_ROOTS))


def _equal_operands(store: ConstraintStore, disjunction: Constraint) -> tuple[Clause, ...]:
    """The clauses of two operands that broadcast which make them equal; none for other disjunctions."""
    alternatives = disjunction.alternatives or ()
    if not any(right is None and number == 1 for _, right, number in alternatives):
        return ()
    clauses = zip(alternatives, disjunction.clauses_in(store.canon), strict=False)
    return tuple(clause for (_, right, _), clause in clauses if right is not None and len(_names([clause])) > 1)


def distinct_bindings(store: ConstraintStore, symbols: Iterable[Dimension], count: int) -> list[Binding]:
    """Small legal bindings: without sizes of 1 (they broadcast) and without equal sizes, where possible."""
    drawn = itertools.islice(legal_bindings(store, symbols), MAX_DRAWN)

    def rank(binding: Binding) -> tuple[int, int, int]:
        sizes = list(binding.values())
        return sum(size < 2 for size in sizes), len(sizes) - len(set(sizes)), sum(sizes)

    return sorted(drawn, key=rank)[:count]


def legality_test(store: ConstraintStore, names: set[str]) -> Callable[[Binding], bool]:
    """A test whether a binding of these names may satisfy all constraints that involve only these names."""
    tests = _tests(store, names)
    return lambda binding: all(test(binding) for test in tests)


def _tests(store: ConstraintStore, names: set[str]) -> list[Callable[[Binding], bool]]:
    """Tests whether a binding may satisfy the constraints that involve only these names, without duplicates."""
    tests: dict[tuple[Clause, ...], Callable[[Binding], bool]] = {}
    for constraint in store.pending():
        clauses = constraint.clauses_in(_identity if constraint.kind in ("relation", "divisibility") else store.canon)
        if set() < _names(clauses) <= names:
            tests[clauses] = partial(_may_hold, clauses)
    return list(tests.values())


def _limits(store: ConstraintStore, symbols: Collection[Dimension]) -> list[Callable[[Binding], bool]]:
    """Tests of the constraints on these symbols, without equations of several dims."""
    names = {symbol.name for symbol in symbols}
    tests: dict[object, Callable[[Binding], bool]] = {}
    for constraint in store.pending():
        clauses = constraint.clauses
        used = _names(clauses)
        if constraint.kind in ("relation", "divisibility"):
            counts = used <= names
        else:
            here = used & names
            counts = len(here) == 1 and not _leaves_a_rest(clauses, *here)
        if counts:
            tests[clauses] = partial(_may_hold, clauses)
    for symbol in symbols:
        bounds = store.interval(symbol)
        if symbol in store.solved:  # the bounds that it had before
            known = store.ranges.get(symbol.atom)
            bounds = as_interval(known.bounds) if known is not None else Interval(None, None)
        if bounds.lo is None or bounds.lo != bounds.hi:
            tests[symbol] = partial(_is_within, symbol.name, bounds)
    return list(tests.values())


def _leaves_a_rest(clauses: tuple[Clause, ...], name: str) -> bool:
    """Whether a dim must be a multiple plus a rest, which no model intends, and cannot be a plain multiple."""
    if any_holds(clauses, {name: _MULTIPLE}) is not False:
        return False
    return any(any_holds(clauses, {name: _MULTIPLE + rest}) for rest in range(1, _LONGEST_STEP))


def _is_within(name: str, bounds: Interval, binding: Binding) -> bool:
    return (bounds.lo or 0) <= binding[name] and (bounds.hi is None or binding[name] <= bounds.hi)


def _may_hold(clauses: tuple[Clause, ...], binding: Binding) -> bool:
    return any_holds(clauses, binding) is not False


def _names(clauses: Iterable[Clause]) -> set[str]:
    dims = (clause.expression for clause in clauses)
    return {symbol.name for d in dims if isinstance(d, Dimension) for symbol in d.symbols()}


def _identity(d: DimSize) -> DimSize:
    return d


# -- bindings of many symbols ------------------------------------------------------------------------------------------


def consecutive_bindings(store: ConstraintStore, symbols: Sequence[Dimension]) -> Iterator[Binding]:
    """Small legal bindings of symbols: consecutive sizes from some n on in their order, or n for all of them."""
    names = [symbol.name for symbol in symbols]
    is_legal = legality_test(store, set(names))
    bounds = [(symbol.name, store.interval(symbol)) for symbol in symbols]
    for start, step in itertools.product(STARTS, (1, 0)):
        binding = {name: start + step * index for index, name in enumerate(names)}
        if is_legal(binding) and all(_is_within(name, interval, binding) for name, interval in bounds):
            yield binding


def generic_bindings(
    store: ConstraintStore, symbols: Iterable[Dimension], conditions: Iterable[tuple[Clause, ...]]
) -> Iterator[Binding]:
    """Bindings under which constraints and conditions hold, and whose sizes have as little in common as possible."""
    return _bindings_of_rows(store, list(symbols), list(conditions), _rows)


def skewed_bindings(
    store: ConstraintStore, symbols: Iterable[Dimension], conditions: Iterable[tuple[Clause, ...]]
) -> Iterator[Binding]:
    """Bindings under which constraints and conditions hold, and each symbol in turn is much larger than the others.

    They show requirements that no constraint states, such as that a mask is as long as the tokens and the past.
    """
    return _bindings_of_rows(store, list(symbols), list(conditions), _skewed_rows)


def usual_bindings(
    store: ConstraintStore,
    symbols: Iterable[Dimension],
    conditions: Iterable[tuple[Clause, ...]],
    batch: Collection[Dimension] = (),
) -> Iterator[Binding]:
    """Bindings under which constraints and conditions hold, of sizes that people use: one for all but `batch`.

    Powers of two and multiples of 32 among them satisfy requirements of divisibility that no constraint states.
    """
    symbols, conditions = list(symbols), list(conditions)
    is_legal = legality_test(store, {symbol.name for symbol in symbols})
    bounds = [(symbol.name, store.interval(symbol)) for symbol in symbols]
    for size, count, step in itertools.product(_USUAL, (2, 1), (0, 1)):
        others = itertools.count(1)
        sizes = {s.name: count if s in batch else size * (1 + step * (next(others) % 2)) for s in symbols}
        binding = _solve_equations(sizes, conditions)
        within = all(_is_within(name, interval, binding) for name, interval in bounds)
        if within and is_legal(binding) and all(_may_hold(clauses, binding) for clauses in conditions):
            yield binding


def _bindings_of_rows(
    store: ConstraintStore,
    symbols: list[Dimension],
    conditions: list[tuple[Clause, ...]],
    rows: Callable[[list[list[int]]], Iterable[tuple[int, ...]]],
) -> Iterator[Binding]:
    """The legal bindings of rows of sizes, which `rows` combines from the candidates of each symbol."""
    names = [symbol.name for symbol in symbols]
    is_legal = legality_test(store, set(names))
    columns = [_generic_sizes(store, symbol, index, conditions) for index, symbol in enumerate(symbols)]
    bindings = (_solve_equations(dict(zip(names, row, strict=True)), conditions) for row in rows(columns))
    return (b for b in bindings if is_legal(b) and all(_may_hold(clauses, b) for clauses in conditions))


def _generic_sizes(
    store: ConstraintStore, symbol: Dimension, index: int, conditions: Iterable[tuple[Clause, ...]]
) -> list[int]:
    """Sizes of one symbol within its bounds that satisfy the conditions on it alone, multiples of primes first."""
    bounds = store.interval(symbol)
    low, high = bounds.lo or 0, bounds.hi
    primes = [*PRIMES[index % len(PRIMES) :], *PRIMES[: index % len(PRIMES)]]
    multiples = [factor * prime for factor in _FACTORS for prime in primes[:4]]
    near_the_end = [] if high is None else [high - index % (high - low + 1), high]
    sizes = dict.fromkeys([*multiples, *near_the_end, *(low + n for n in (7 + index, 3 + index, 2, 1, 0))])
    alone = [clauses for clauses in conditions if _names(clauses) == {symbol.name}]
    return [
        size
        for size in sizes
        if size >= low
        and (high is None or size <= high)
        and all(_may_hold(clauses, {symbol.name: size}) for clauses in alone)
    ]


def _solve_equations(binding: Binding, conditions: Iterable[tuple[Clause, ...]]) -> Binding:
    """The binding, changed so that equations hold that can be solved for a symbol, such as `total == past + seq`.

    Of operands that broadcast the first alternative counts, which makes them equal.
    """
    for clauses in conditions:
        if _may_hold(clauses, binding):
            continue
        solution = solve_clause(clauses[0])
        size = None if solution is None else try_evaluate(solution[1], binding)
        if solution is not None and size is not None and size >= 0:
            binding = {**binding, solution[0].name: size}
            continue
        equation = clauses[0].expression if clauses[0].zero else 0
        for symbol in sorted(equation.symbols(), key=str) if isinstance(equation, Dimension) else ():
            size = find_root(equation, symbol, binding, 1, None)
            if size is not None:
                binding = {**binding, symbol.name: size}
                break
    return binding


def _rows(columns: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Rows of sizes: the first of each column, the second ones, and so on; then combinations of the first six."""
    if all(columns):
        longest = max(map(len, columns), default=1)
        for index in range(longest):
            yield tuple(column[min(index, len(column) - 1)] for column in columns)
        yield from itertools.islice(itertools.product(*(column[:6] for column in columns)), _MAX_COMBINATIONS)


def _skewed_rows(columns: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Rows of the first sizes, with the largest one of each column in turn."""
    if all(columns):
        for index, column in enumerate(columns):
            yield tuple(max(column) if other == index else sizes[0] for other, sizes in enumerate(columns))


# -- random points -----------------------------------------------------------------------------------------------------


def sample_points(store: ConstraintStore, symbols: Iterable[Dimension], budget: Budget) -> list[Binding]:
    """Some random bindings at which all constraints hold, the same at every call; none where they are hard to hit."""
    ordered = sorted(symbols, key=lambda s: s.atom)
    points = []
    for number in range(RANDOM_POINTS):
        if not budget.take(STEPS_PER_CONSTRAINT * (store.count + len(ordered))):
            break
        point = _random_point(store, ordered, random.Random(number), number)
        if holds_at(store, point):
            points.append(point)
    return points


def _random_point(
    store: ConstraintStore, symbols: Iterable[Dimension], generator: random.Random, number: int
) -> Binding:
    """A binding of sizes of any magnitude; with the numbers 0 and 1 all are the least or the greatest."""
    point = {}
    for symbol in symbols:
        low, high = store.bounds(symbol)
        least = int(low) if low != -inf else 0
        most = int(high) if high != inf else least + _RANDOM_WIDTH
        width = most - least
        reach = min(width, 1 << generator.randrange(1 + width.bit_length()))
        step = (0, width)[number] if number < 2 else generator.randint(0, reach)
        congruence = store.congruences.find(symbol)
        size = least + step
        point[symbol.name] = size - (size - congruence.rest) % congruence.modulus if congruence else size
    return point
