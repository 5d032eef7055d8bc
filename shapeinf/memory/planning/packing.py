"""Two ways to place blocks in a given order: each into a gap between earlier ones, or along a rising skyline."""

from __future__ import annotations

from bisect import bisect_left
from heapq import heappop, heappush
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from shapeinf.memory.planning.problem import Problem

Ints = NDArray[np.int64]
Fit = Literal["first", "best"]
"""The lowest gap that is large enough, or the smallest."""

MIN_POINTS = 64
"""The least number of points in a part of the timeline."""


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
    placed = PlacedBlocks(blocks)
    starts, ends, sizes = blocks.lower.tolist(), blocks.upper.tolist(), blocks.units.tolist()
    for i in order.tolist():
        size = sizes[i]
        if size:
            bottom, top = placed.live(starts[i], ends[i])
            offset = _gap(bottom, top, size, fit) if bottom.size else 0
            placed.add(starts[i], ends[i], offset, offset + size)
            offsets[i] = offset
    return offsets


class PlacedBlocks:
    """Blocks with offsets, listed for each part of the timeline that they are live in.

    A block is live in two parts on average, so that adding and searching all takes time linear in their number, times
    that of blocks live at once.
    """

    def __init__(self, blocks: Blocks) -> None:
        """No block is placed; `blocks` are those that will be."""
        points = int(blocks.upper.max(initial=0))
        live = int((blocks.upper - blocks.lower).sum()) // max(points, 1)
        self.width = max(MIN_POINTS, 2 * live)
        self._parts = [_Part() for _ in range(points // self.width + 1)]

    def add(self, start: int, end: int, bottom: int, top: int) -> None:
        """Place a block that is live from `start` to before `end`."""
        for part in self._parts[start // self.width : (end - 1) // self.width + 1]:
            part.add(start, end, bottom, top)

    def live(self, start: int, end: int) -> tuple[Ints, Ints]:
        """The bottoms and tops of the blocks that are live between two points, sorted by their bottoms."""
        first, last = start // self.width, (end - 1) // self.width
        bottom, top = self._parts[first].live(start, end)
        if first == last:
            return bottom, top
        bottoms, tops = [bottom], [top]
        for number in range(first + 1, last + 1):  # a block is counted in the first part that both are live in
            bottom, top = self._parts[number].live(start, end, number * self.width)
            bottoms.append(bottom)
            tops.append(top)
        bottom, top = np.concatenate(bottoms), np.concatenate(tops)
        order = bottom.argsort(kind="stable")
        return bottom[order], top[order]


class _Part:
    """The blocks that are live in one part of the timeline, by bottom: rows of start, end, bottom and top."""

    def __init__(self) -> None:
        self.count = 0
        self.rows = np.empty((4, 16), dtype=np.int64)

    def add(self, start: int, end: int, bottom: int, top: int) -> None:
        if self.count == self.rows.shape[1]:
            self.rows = np.concatenate((self.rows, np.empty_like(self.rows)), axis=1)
        rows, count = self.rows, self.count
        at = int(rows[2, :count].searchsorted(bottom, side="right"))
        rows[:, at + 1 : count + 1] = rows[:, at:count]
        rows[:, at] = start, end, bottom, top
        self.count += 1

    def live(self, start: int, end: int, earliest: int = 0) -> tuple[Ints, Ints]:
        """The bottoms and tops of the blocks that are live between two points and start at `earliest` or later."""
        starts, ends, bottoms, tops = self.rows[:, : self.count]
        live = (starts < end) & (ends > start)
        if earliest:
            live &= starts >= earliest
        columns = np.flatnonzero(live)
        return bottoms[columns], tops[columns]


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
    waiting = _WaitingBlocks(blocks, order[blocks.units[order] > 0])
    skyline = Skyline(waiting.end)
    while waiting.count:
        at, begin, end, height = skyline.lowest()
        i = waiting.take(begin, end)
        if i is None:
            skyline.lift(at)
        else:
            offsets[i] = height
            skyline.fill(at, int(blocks.lower[i]), int(blocks.upper[i]), height + int(blocks.units[i]))
    return offsets


class _WaitingBlocks:
    """Blocks that have no offset yet, sorted by the start of their lifetime."""

    def __init__(self, blocks: Blocks, order: Ints) -> None:
        """The blocks of `order`, which is that of their priority."""
        self.priority = blocks.lower[order].argsort(kind="stable")
        self.order = order
        self.starts = blocks.lower[order][self.priority]
        self.ends = blocks.upper[order][self.priority]
        self.end = int(self.ends.max(initial=0))
        self.count = len(order)

    def take(self, begin: int, end: int) -> int | None:
        """The first block by priority that is live only between two points, removed; None where there is none."""
        first, last = self.starts.searchsorted((begin, end))
        fitting = np.flatnonzero(self.ends[first:last] <= end)
        if not fitting.size:
            return None
        chosen = first + fitting[self.priority[first:last][fitting].argmin()]
        self.ends[chosen] = self.end + 1
        self.count -= 1
        return int(self.order[self.priority[chosen]])


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
        self._queue = [(0, 0)]
        """A heap of heights and begins of segments, with those of earlier ones."""

    def lowest(self) -> tuple[int, int, int, int]:
        """The lowest segment, the first of several: its index, begin, end and height."""
        while True:
            height, begin = self._queue[0]
            at = bisect_left(self.edges, begin)
            if at < len(self.heights) and self.edges[at] == begin and self.heights[at] == height:
                return at, begin, self.edges[at + 1], height
            heappop(self._queue)

    def fill(self, at: int, begin: int, end: int, top: int) -> None:
        """Raise a part of one segment to `top`."""
        height, left, right = self.heights[at], self.edges[at], self.edges[at + 1]
        before, after = begin > left, end < right
        self.heights[at : at + 1] = [height] * before + [top] + [height] * after
        self.edges[at + 1 : at + 1] = [begin] * before + [end] * after
        heappush(self._queue, (top, begin))
        if after:
            heappush(self._queue, (height, end))
        self._join(at + before)

    def lift(self, at: int) -> None:
        """Raise a segment to the lower one of its neighbors."""
        self.heights[at] = min(self.heights[max(at - 1, 0) : at] + self.heights[at + 1 : at + 2])
        heappush(self._queue, (self.heights[at], self.edges[at]))
        self._join(at)

    def _join(self, at: int) -> None:
        """Merge a segment with its neighbors of the same height."""
        for first in (at, at - 1):
            if first >= 0 and first + 1 < len(self.heights) and self.heights[first] == self.heights[first + 1]:
                del self.heights[first + 1], self.edges[first + 1]
