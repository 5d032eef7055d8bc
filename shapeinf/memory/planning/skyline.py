"""Buffers placed from the bottom up: always at the lowest free place, by priority among those that fit it."""

from __future__ import annotations

import numpy as np

from shapeinf.memory.planning.packing import Blocks, Ints


def rise(blocks: Blocks, order: Ints) -> Ints:
    """The place of every block, in units; among those that fit a place, the first of `order` gets it.

    The skyline is the top of what is placed at each moment. Its lowest part is filled with blocks that live only there;
    when none is left that does, it is raised to its lower neighbour, and what is below is lost.
    """
    places = np.zeros(len(blocks), dtype=np.int64)
    order = order[blocks.units[order] > 0]
    lower, upper = blocks.lower[order], blocks.upper[order]
    units, waiting = blocks.units[order].tolist(), len(order)
    skyline = Skyline(int(upper.max(initial=0)))
    while waiting:
        at, begin, end, height = skyline.lowest()
        fits = (lower >= begin) & (upper <= end)
        k = int(fits.argmax())
        if fits[k]:
            places[order[k]] = height
            skyline.fill(at, int(lower[k]), int(upper[k]), height + units[k])
            lower[k] = -1
            waiting -= 1
        else:
            skyline.lift(at)
    return places


class Skyline:
    """Heights over time, as stretches of equal height; neighbours differ.

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
        """The lowest stretch, the first of several: its index, begin, end and height."""
        height = min(self.heights)
        at = self.heights.index(height)
        return at, self.edges[at], self.edges[at + 1], height

    def fill(self, at: int, begin: int, end: int, top: int) -> None:
        """Put something up to `top` on a part of one stretch."""
        height, left, right = self.heights[at], self.edges[at], self.edges[at + 1]
        before, after = begin > left, end < right
        self.heights[at : at + 1] = [height] * before + [top] + [height] * after
        self.edges[at + 1 : at + 1] = [begin] * before + [end] * after
        self._join(at + before)

    def lift(self, at: int) -> None:
        """Raise a stretch to the lower one of its neighbours."""
        self.heights[at] = min(self.heights[max(at - 1, 0) : at] + self.heights[at + 1 : at + 2])
        self._join(at)

    def _join(self, at: int) -> None:
        """Make one stretch of this one and its neighbours of the same height."""
        for left in (at, at - 1):
            if left >= 0 and left + 1 < len(self.heights) and self.heights[left] == self.heights[left + 1]:
                del self.heights[left + 1], self.edges[left + 1]
