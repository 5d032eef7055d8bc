"""Which term of a peak wins where, along one dim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from shapeinf.errors import LimitError, MissingSizeError, ShapeInferenceError
from shapeinf.expr import Dim, Dimension
from shapeinf.expr.many_bindings import Values, run, run_exactly
from shapeinf.expr.straight_line import StraightLine, lower
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.answers import Region
from shapeinf.memory.peak.query import Asked
from shapeinf.memory.peak.terms import PeakTerm
from shapeinf.memory.sizes import too_long
from shapeinf.memory.timeline import Timeline
from shapeinf.solver.budget import Budget
from shapeinf.solver.long_sums import canonical_form

MAX_SIZES = 1 << 20
MAX_NUMBERS = 1 << 22
"""Numbers at one time."""
NUMBERS_A_STEP = 500


def regions_of(
    terms: Sequence[PeakTerm], store: ShapeStore, asked: Asked, name: str, timeline: Timeline, budget: Budget
) -> tuple[Region, ...]:
    """Ranges of sizes of a dim, with the term that is the largest there; the first one of those that are equal."""
    symbol = asked.followed(name, store)
    bounds = store.interval(symbol)
    if bounds.hi is None:
        raise MissingSizeError([asked.labels[asked.symbol(name)]], "give it a range")
    low = bounds.lo or 0
    if not terms or bounds.hi < low:
        return ()
    dims = [only(canonical_form(store, term.size), symbol, store, asked) for term in terms]
    parts = [np.argmax(values, axis=0) for values in values_along(dims, symbol, low, bounds.hi, budget)]
    winners = np.concatenate(parts)
    starts = [0, *(np.flatnonzero(np.diff(winners)) + 1).tolist()]
    ends = [*starts[1:], bounds.hi - low + 1]
    return tuple(
        Region(low + start, low + end - 1, terms[winners[start]], timeline.moments[terms[winners[start]].moments[0]])
        for start, end in zip(starts, ends, strict=True)
    )


def only(d: Dim, symbol: Dimension, store: ShapeStore, asked: Asked) -> Dim:
    """A dim of one symbol. Raises MissingSizeError for another one in it."""
    inside = d.symbols() if isinstance(d, Dimension) else frozenset()
    others = inside - {symbol}
    if too_long(others):
        raise LimitError(too_long(others))
    if others:
        raise MissingSizeError(sorted(asked.labels.get(s, s.name) for s in others), "give it")
    return d


def values_along(
    dims: Sequence[Dim], symbol: Dimension, low: int, high: int, budget: Budget
) -> Iterator[npt.NDArray[np.int64] | npt.NDArray[np.object_]]:
    """The exact values of dims of one symbol for all its sizes: a row a dim, some columns at a time.

    Raises LimitError for too many.
    """
    count = high - low + 1
    program = lower(dims)
    steps = count * len(program.instructions) // NUMBERS_A_STEP
    if count > MAX_SIZES or not budget.take(steps):
        raise LimitError(f"{count} sizes of {symbol} are more than can be tried: give a smaller range")
    width = max(1, MAX_NUMBERS // max(len(dims), len(program.instructions)))
    for start in range(low, high + 1, width):
        sizes = np.arange(start, min(start + width, high + 1), dtype=np.int64)
        found = run(program, [sizes] * len(program.symbols), len(sizes))
        if found.undefined:
            dim = dims[next(iter(found.undefined))]
            raise ShapeInferenceError(f"{dim} divides by zero in this range")
        yield _exact(found, program, sizes, budget) if found.overflow else found.matrix


def _exact(
    found: Values, program: StraightLine, sizes: npt.NDArray[np.int64], budget: Budget
) -> npt.NDArray[np.object_]:
    """The values where some do not fit 64 bits. Raises LimitError for too many."""
    matrix = found.matrix.astype(object)
    wide = np.flatnonzero(np.logical_or.reduce(list(found.overflow.values())))
    if not budget.take(len(wide) * len(program.instructions)):
        raise LimitError(f"{len(wide)} of these sizes need more bytes than 64 bits can say: give a smaller range")
    for column in wide:
        matrix[:, column] = run_exactly(program, [int(sizes[column])] * len(program.symbols))
    return matrix
