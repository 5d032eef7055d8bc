"""The second source of a contradiction, for its message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapeinf.errors import Source
from shapeinf.expr.dimension import Dimension, DimSize

if TYPE_CHECKING:
    from shapeinf.constraints.store import ConstraintStore

_MAX_SOLVED_SEARCHED = 64
"""With more solved symbols than this, no source is guessed from a number."""


def conflict_source(store: ConstraintStore, *dims: DimSize | str) -> Source | None:
    """The source of a constraint on the symbols of these dims; None if there is none.

    A dim that is a number by now names no symbol: it is the one that equals this number, if only one does.
    """
    for symbol in sorted({s for d in dims if isinstance(d, Dimension) for s in d.symbols()}, key=lambda s: s.terms):
        atom = symbol.atom
        if symbol in store.sources:
            return store.sources[symbol]
        if atom in store.ranges:
            return store.ranges[atom].source
        if atom in store.congruences:
            return store.congruences[atom].source
        if symbol in store.origins:
            return store.origins[symbol]
        if not symbol.symbol.anonymous:
            return Source("", f"{symbol} lies in {store.interval(symbol)}")
    few = store.solved.items() if len(store.solved) <= _MAX_SOLVED_SEARCHED else ()
    same = [symbol for symbol, value in few if isinstance(value, int) and value in dims]
    return store.sources[same[0]] if len(same) == 1 else None
