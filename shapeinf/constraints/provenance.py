"""Who is to be named beside the one that a fact contradicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapeinf.errors import Source
from shapeinf.expr.dimension import Dim, Dimension

if TYPE_CHECKING:
    from shapeinf.constraints.store import ConstraintStore

MAX_SOLVED = 64
"""With more symbols than these nobody is guessed from a number."""


def conflict_source(store: ConstraintStore, *about: Dim | str) -> Source | None:
    """A source of what is known about the symbols of these dims.

    Dims that are numbers by now do not say of what symbol: it is the one that is such a number, if there is one only.
    """
    for symbol in sorted({s for d in about if isinstance(d, Dimension) for s in d.symbols()}, key=lambda s: s.terms):
        atom = symbol.atom
        if symbol in store.sources:
            return store.sources[symbol]
        if atom in store.ranges:
            return store.ranges[atom].source
        if atom in store.congruences:
            return store.congruences[atom].source
        if not symbol.symbol.anonymous:
            return Source("", f"{symbol} lies in {store.interval(symbol)}")
    few = store.solved.items() if len(store.solved) <= MAX_SOLVED else ()
    same = [symbol for symbol, value in few if isinstance(value, int) and value in about]
    return store.sources[same[0]] if len(same) == 1 else None
