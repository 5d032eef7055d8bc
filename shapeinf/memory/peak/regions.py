"""The largest term of a peak along one dim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shapeinf.errors import LimitError, MissingSizeError, ShapeInferenceError
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.exact_runs import run_exactly
from shapeinf.expr.straight_line import StraightLine, lower
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.answers import Region
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.peak.terms import PeakTerm
from shapeinf.memory.sizes import too_long
from shapeinf.memory.timeline import Timeline
from shapeinf.solver.budget import Budget
from shapeinf.solver.long_dims import canonical_form

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from shapeinf.expr.many_bindings import Values

MAX_SIZES = 1 << 20
MAX_NUMBERS = 1 << 22
"""Limit on the values that are in memory at one time."""
NUMBERS_PER_STEP = 500


def regions_of(
    terms: Sequence[PeakTerm], store: ShapeStore, query: SizeQuery, name: str, timeline: Timeline, budget: Budget
) -> tuple[Region, ...]:
    """Ranges of sizes of a dim, each with its largest term; of equal ones the first."""
    symbol = query.representative(name, store)
    bounds = store.interval(symbol)
    if bounds.hi is None:
        raise MissingSizeError([query.labels[query.symbol(name)]], "specify a range")
    low = bounds.lo or 0
    if not terms or bounds.hi < low:
        return ()
    import numpy as np  # the peak at one binding does not need numpy, which takes long to import

    dims = [univariate(canonical_form(store, term.size), symbol, query) for term in terms]
    parts = [np.argmax(values, axis=0) for values in values_along(dims, symbol, low, bounds.hi, budget)]
    winners = np.concatenate(parts)
    starts = [0, *(np.flatnonzero(np.diff(winners)) + 1).tolist()]
    ends = [*starts[1:], bounds.hi - low + 1]
    return tuple(
        Region(low + start, low + end - 1, terms[winners[start]], timeline.points[terms[winners[start]].points[0]])
        for start, end in zip(starts, ends, strict=True)
    )


def univariate(d: DimSize, symbol: Dimension, query: SizeQuery) -> DimSize:
    """The dim, if it has no other symbol than this one. Raises MissingSizeError."""
    symbols = d.symbols() if isinstance(d, Dimension) else frozenset()
    others = symbols - {symbol}
    if too_long(others):
        raise LimitError(too_long(others))
    if others:
        raise MissingSizeError(sorted(query.labels.get(s, s.name) for s in others), "bind it")
    return d


def values_along(
    dims: Sequence[DimSize], symbol: Dimension, low: int, high: int, budget: Budget
) -> Iterator[npt.NDArray[np.int64] | npt.NDArray[np.object_]]:
    """The exact values of univariate dims at all sizes: a row for each dim, in blocks of columns.

    Raises LimitError for too many.
    """
    import numpy as np

    from shapeinf.expr.many_bindings import run

    count = high - low + 1
    program = lower(dims)
    steps = count * len(program.instructions) // NUMBERS_PER_STEP
    if count > MAX_SIZES or not budget.take(steps):
        raise LimitError(f"{count} sizes of {symbol} are too many to evaluate: specify a smaller range")
    width = max(1, MAX_NUMBERS // max(len(dims), len(program.instructions)))
    for start in range(low, high + 1, width):
        sizes = np.arange(start, min(start + width, high + 1), dtype=np.int64)
        evaluated = run(program, [sizes] * len(program.symbols), len(sizes))
        if evaluated.undefined:
            dim = dims[next(iter(evaluated.undefined))]
            raise ShapeInferenceError(f"{dim} divides by zero in this range")
        yield _exact(evaluated, program, sizes, budget) if evaluated.overflow else evaluated.matrix


def _exact(
    evaluated: Values, program: StraightLine, sizes: npt.NDArray[np.int64], budget: Budget
) -> npt.NDArray[np.object_]:
    """Compute the values that do not fit 64 bits again, as Python ints. Raises LimitError for too many."""
    import numpy as np

    matrix = evaluated.matrix.astype(object)
    wide = np.flatnonzero(np.logical_or.reduce(list(evaluated.overflow.values())))
    if not budget.take(len(wide) * len(program.instructions)):
        raise LimitError(f"{len(wide)} of these sizes need more bytes than fit 64 bits: specify a smaller range")
    for column in wide:
        matrix[:, column] = run_exactly(program, [int(sizes[column])] * len(program.symbols))
    return matrix
