"""The graph at certain sizes of its inputs: whether a claim holds there is shown by an inference with numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

from shapeinf.checks.sampling import Binding, legality_test, solve_clause, try_evaluate
from shapeinf.checks.subject import CheckedModel
from shapeinf.contract import Precondition
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.inference import Inference, certain_violations
from shapeinf.engine.session import rerun
from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dimension

PRIMES = (37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)
"""Sizes that nothing in a graph is a multiple of, and that are no table's end."""
_FACTORS = (1, 2, 4, 8, 16, 32, 64)
_MOST_COMBINATIONS = 256


def generic(subject: CheckedModel, count: int) -> Iterator[Binding]:
    """Sizes of all dims of the inputs that are alike in nothing: such as user, file and nodes leave them."""
    symbols = sorted(subject.axes, key=list(subject.axes).index)
    required = [one for one in subject.demands if one.clauses]
    fits = legality_test(subject.initial_store, {symbol.name for symbol in symbols})
    columns = [_column(subject, symbol, place, required) for place, symbol in enumerate(symbols)]
    rows = (dict(zip([s.name for s in symbols], row, strict=True)) for row in _rows(columns))
    combinations = (_solved(row, required) for row in rows)
    fitting = (one for one in combinations if fits(one) and all(c.holds(one) is not False for c in required))
    yield from itertools.islice(fitting, count)


def _solved(binding: Binding, required: Iterable[Precondition]) -> Binding:
    """A binding with the size that an equation leaves for one dim: `total == past + seq`."""
    for condition in required:
        solution = solve_clause(condition.clauses[0]) if len(condition.clauses) == 1 else None
        if solution is not None and condition.holds(binding) is False:
            size = try_evaluate(solution[1], binding)
            binding = binding if size is None or size < 0 else {**binding, solution[0].name: size}
    return binding


def _column(subject: CheckedModel, symbol: Dimension, place: int, required: Iterable[Precondition]) -> list[int]:
    """Sizes of one dim within its bounds that fit what is required of it alone, generic ones first."""
    bounds = subject.initial_store.interval(symbol)
    low, high = bounds.lo or 0, bounds.hi
    primes = [*PRIMES[place % len(PRIMES) :], *PRIMES[: place % len(PRIMES)]]
    wanted = [factor * prime for factor in _FACTORS for prime in primes[:4]]
    near = [] if high is None else [high - place % (high - low + 1), high]
    sizes = [*wanted, *near, *(low + n for n in (7 + place, 3 + place, 2, 1, 0))]
    alone = [one for one in required if one.free_symbols == {symbol}]
    fitting = (
        size
        for size in dict.fromkeys(sizes)
        if size >= low
        and (high is None or size <= high)
        and all(one.holds({symbol.name: size}) is not False for one in alone)
    )
    return list(fitting)


def _rows(columns: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Rows of sizes: all first ones, all second ones, and so on; then other combinations of the first few."""
    if all(columns):
        longest = max(map(len, columns), default=1)
        for place in range(longest):
            yield tuple(column[min(place, len(column) - 1)] for column in columns)
        yield from itertools.islice(itertools.product(*(column[:6] for column in columns)), _MOST_COMBINATIONS)


def violated_at(
    inference: Inference, binding: Binding, prepare: Callable[[Inference], None] | None = None
) -> list[Diagnostic] | None:
    """What is sure to break where the dims of the inputs have these sizes; None where they cannot have them."""
    store = inference.initial_store.copy()
    try:
        for name, size in binding.items():
            store.add_equal(store.scope.symbol(name), size, Source("", f"{name} is tried as {size}"))
    except ShapeError:
        return None
    return certain_violations(rerun(inference, store, prepare))
