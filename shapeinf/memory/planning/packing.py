"""Two ways to place blocks in a given order: each into a gap between earlier ones, or along a rising skyline."""

from __future__ import annotations

from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from shapeinf.memory.planning.problem import Problem

Ints = NDArray[np.int64]
Fit = Literal["first", "best"]
"""The lowest gap that is large enough, or the smallest."""


@attrs.frozen(eq=False)
class Blocks:
    """A problem as arrays: lifetimes as ranks of their end points, sizes in units of the alignment.

    An offset that is a multiple of the alignment is free for a size exactly when it is free for the size rounded up.
    """

    lower: Ints
    upper: Ints
    units: Ints
    size: Ints
    alignment: int

    @classmethod
    def from_problem(cls, problem: Problem) -> Blocks:
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

    def arena(self, offsets: Ints) -> int:
        """The bytes of an arena with these offsets (in units)."""
        return int((offsets * self.alignment + self.size).max(initial=0))


def _array(values: Any) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def pack(blocks: Blocks, order: Ints, fit: Fit) -> Ints:
    """The offset of every block, in units, when they are placed in this order."""
    offsets = np.zeros(len(blocks), dtype=np.int64)
    placed = np.empty((4, len(blocks)), dtype=np.int64)
    lower, upper, bottom, top = placed
    starts, ends, sizes = blocks.lower.tolist(), blocks.upper.tolist(), blocks.units.tolist()
    count = 0
    for i in order.tolist():
        size = sizes[i]
        if not size:
            continue
        live = np.flatnonzero((lower[:count] < ends[i]) & (upper[:count] > starts[i]))
        offset = _gap(bottom[live], top[live], size, fit) if live.size else 0
        at = int(bottom[:count].searchsorted(offset, side="right"))
        placed[:, at + 1 : count + 1] = placed[:, at:count]
        placed[:, at] = starts[i], ends[i], offset, offset + size
        offsets[i] = offset
        count += 1
    return offsets


def _gap(bottom: Ints, top: Ints, size: int, fit: Fit) -> int:
    """The offset of a block between others, sorted by their bottom; above all where no gap is large enough."""
    tops = np.maximum.accumulate(top)
    room = bottom.copy()
    room[1:] -= tops[:-1]
    large = np.flatnonzero(room >= size)
    if not large.size:
        return int(tops[-1])
    chosen = int(large[0] if fit == "first" else large[room[large].argmin()])
    return int(tops[chosen - 1]) if chosen else 0


def pack_skyline(blocks: Blocks, order: Ints) -> Ints:
    """The offset of every block, in units: each at the lowest free one, by priority among those that fit there.

    The skyline is the top of the placed blocks at each point. Its lowest segment is filled with blocks that are live
    only there; when none is left, it is raised to its lower neighbor, and the space below is lost.
    """
    offsets = np.zeros(len(blocks), dtype=np.int64)
    order = order[blocks.units[order] > 0]
    lower, upper = blocks.lower[order], blocks.upper[order]
    units, waiting = blocks.units[order].tolist(), len(order)
    skyline = Skyline(int(upper.max(initial=0)))
    while waiting:
        at, begin, end, height = skyline.lowest()
        fits = (lower >= begin) & (upper <= end)
        k = int(fits.argmax())
        if fits[k]:
            offsets[order[k]] = height
            skyline.fill(at, int(lower[k]), int(upper[k]), height + units[k])
            lower[k] = -1
            waiting -= 1
        else:
            skyline.lift(at)
    return offsets


class Skyline:
    """Heights over time, as segments of equal height; neighbors differ.

    >>> skyline = Skyline(10)
    >>> skyline.fill(0, 2, 4, 7)
    >>> skyline.edges, skyline.heights
    ([0, 2, 4, 10], [0, 7, 0])
    >>> skyline.lift(0)
    >>> skyline.edges, skyline.heights
    ([0, 4, 10], [7, 0])
    """

    def __init__(self, end: int) -> None:
        """Flat, from 0 to `end`."""
        self.edges = [0, end]
        self.heights = [0]

    def lowest(self) -> tuple[int, int, int, int]:
        """The lowest segment, the first of several: its index, begin, end and height."""
        height = min(self.heights)
        at = self.heights.index(height)
        return at, self.edges[at], self.edges[at + 1], height

    def fill(self, at: int, begin: int, end: int, top: int) -> None:
        """Raise a part of one segment to `top`."""
        height, left, right = self.heights[at], self.edges[at], self.edges[at + 1]
        before, after = begin > left, end < right
        self.heights[at : at + 1] = [height] * before + [top] + [height] * after
        self.edges[at + 1 : at + 1] = [begin] * before + [end] * after
        self._join(at + before)

    def lift(self, at: int) -> None:
        """Raise a segment to the lower one of its neighbors."""
        self.heights[at] = min(self.heights[max(at - 1, 0) : at] + self.heights[at + 1 : at + 2])
        self._join(at)

    def _join(self, at: int) -> None:
        """Merge a segment with its neighbors of the same height."""
        for first in (at, at - 1):
            if first >= 0 and first + 1 < len(self.heights) and self.heights[first] == self.heights[first + 1]:
                del self.heights[first + 1], self.edges[first + 1]
