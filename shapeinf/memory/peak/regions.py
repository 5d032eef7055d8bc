"""Which term of a peak wins where, along one dim."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shapeinf.algebra import Dim, Dimension, evaluate
from shapeinf.algebra.long_sums import canonical
from shapeinf.errors import LimitError, MissingSizeError, ShapeInferenceError
from shapeinf.lattice import ShapeFacts
from shapeinf.memory.peak.answers import Region
from shapeinf.memory.peak.asked import Asked
from shapeinf.memory.peak.terms import PeakTerm
from shapeinf.memory.timeline import Timeline

MAX_SIZES = 1 << 20


def regions_of(
    terms: Sequence[PeakTerm], facts: ShapeFacts, asked: Asked, name: str, timeline: Timeline
) -> tuple[Region, ...]:
    """Ranges of sizes of a dim, with the term that is the largest there; the first one of those that are equal."""
    symbol = asked.followed(name, facts)
    bounds = facts.interval(symbol)
    if bounds.hi is None:
        raise MissingSizeError([asked.labels[asked.symbol(name)]], "give it a range")
    low = bounds.lo or 0
    if not terms or bounds.hi < low:
        return ()
    dims = [only(canonical(facts, term.size), symbol, facts, asked) for term in terms]
    values = np.stack([values_along(d, symbol, low, bounds.hi) for d in dims])
    winners = np.argmax(values, axis=0)
    starts = [0, *(np.flatnonzero(np.diff(winners)) + 1).tolist()]
    ends = [*starts[1:], bounds.hi - low + 1]
    return tuple(
        Region(low + start, low + end - 1, terms[winners[start]], timeline.moments[terms[winners[start]].moments[0]])
        for start, end in zip(starts, ends, strict=True)
    )


def only(d: Dim, symbol: Dimension, facts: ShapeFacts, asked: Asked) -> Dim:
    """A dim of one symbol. Raises MissingSizeError for another one in it."""
    inside = d.symbols() if isinstance(d, Dimension) else frozenset()
    others = inside - {symbol}
    if others:
        raise MissingSizeError(sorted(asked.labels.get(s, s.name) for s in others), "give it")
    return d


def values_along(d: Dim, symbol: Dimension, low: int, high: int) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """The exact values of a dim of one symbol for all its sizes. Raises LimitError for too many."""
    if high - low >= MAX_SIZES:
        raise LimitError(f"{high - low + 1} sizes of {symbol} are more than can be tried: give a smaller range")
    sizes = np.array(range(low, high + 1), dtype=object)
    try:
        return np.broadcast_to(np.asarray(evaluate(d, {symbol.name: sizes}), dtype=object), sizes.shape)
    except ZeroDivisionError as error:
        raise ShapeInferenceError(f"{error} in this range") from None
