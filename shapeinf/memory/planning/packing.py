"""Buffers placed one after the other, each into a gap that those placed before leave it."""

from __future__ import annotations

from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from shapeinf.memory.planning.problem import Problem

Ints = NDArray[np.int64]
Fit = Literal["first", "best"]
"""Into the lowest gap that is large enough, or the smallest one."""


@attrs.frozen(eq=False)
class Blocks:
    """A problem as arrays: lifetimes as ranks of the moments that matter, sizes in units of the alignment.

    An offset that is a multiple of the alignment is free for a size exactly when it is free for the size rounded up.
    """

    lower: Ints
    upper: Ints
    units: Ints
    size: Ints
    alignment: int

    @classmethod
    def of(cls, problem: Problem) -> Blocks:
        """The arrays of a problem."""
        requests = problem.requests
        points = sorted({t for r in requests for t in (r.lower, r.upper)})
        rank = {t: i for i, t in enumerate(points)}
        size = _array(r.size for r in requests)
        return cls(
            _array(rank[r.lower] for r in requests),
            _array(rank[r.upper] for r in requests),
            -(-size // problem.alignment),
            size,
            problem.alignment,
        )

    def __len__(self) -> int:
        """The number of buffers."""
        return len(self.units)

    def arena(self, places: Ints) -> int:
        """The bytes that places (in units) take."""
        return int((places * self.alignment + self.size).max(initial=0))


def _array(values: Any) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def pack(blocks: Blocks, order: Ints, fit: Fit) -> Ints:
    """The place of every block, in units, when they are placed in this order."""
    places = np.zeros(len(blocks), dtype=np.int64)
    placed = np.empty((4, len(blocks)), dtype=np.int64)
    lower, upper, bottom, top = placed
    starts, ends, sizes = blocks.lower.tolist(), blocks.upper.tolist(), blocks.units.tolist()
    count = 0
    for i in order.tolist():
        size = sizes[i]
        if not size:
            continue
        met = np.flatnonzero((lower[:count] < ends[i]) & (upper[:count] > starts[i]))
        place = _gap(bottom[met], top[met], size, fit) if met.size else 0
        at = int(bottom[:count].searchsorted(place, side="right"))
        placed[:, at + 1 : count + 1] = placed[:, at:count]
        placed[:, at] = starts[i], ends[i], place, place + size
        places[i] = place
        count += 1
    return places


def _gap(bottom: Ints, top: Ints, size: int, fit: Fit) -> int:
    """Where a block goes between others, sorted by their bottom; above all when no gap is large enough."""
    tops = np.maximum.accumulate(top)
    room = bottom.copy()
    room[1:] -= tops[:-1]
    large = np.flatnonzero(room >= size)
    if not large.size:
        return int(tops[-1])
    chosen = int(large[0] if fit == "first" else large[room[large].argmin()])
    return int(tops[chosen - 1]) if chosen else 0
