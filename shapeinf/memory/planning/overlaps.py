"""Which blocks share memory at some moment."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

import attrs

MAX_OVERLAPS = 1000
"""Pairs that are looked for at most."""


@attrs.frozen
class Block:
    """Bytes `bottom <= b < top` at the moments `lower <= t < upper`; blocks of one owner may lie on each other."""

    name: str
    owner: str
    lower: int
    upper: int
    bottom: int
    top: int

    @property
    def extent(self) -> str:
        """As people read it."""
        return f"bytes [{self.bottom}, {self.top}) at moments [{self.lower}, {self.upper})"


def overlaps(blocks: Sequence[Block]) -> Iterator[tuple[Block, Block]]:
    """All pairs of blocks of different owners that share a byte at some moment; it ends after MAX_OVERLAPS + 1 pairs.

    A sweep over time. Blocks that share nothing with any other are kept sorted, so that only neighbours are looked at;
    the others, few, are looked at one by one.
    """
    events = sorted(
        event
        for i, block in enumerate(blocks)
        if block.top > block.bottom and block.upper > block.lower
        for event in ((block.upper, 0, i), (block.lower, 1, i))
    )
    apart: list[tuple[int, int]] = []
    crowd: set[int] = set()
    left = MAX_OVERLAPS + 1
    for _, begins, i in events:
        entry = (blocks[i].bottom, i)
        if not begins:
            if i in crowd:
                crowd.remove(i)
            else:
                del apart[bisect_left(apart, entry)]
            continue
        met = [*_neighbours(apart, blocks, i), *(k for k in crowd if _share(blocks[k], blocks[i]))]
        for k in met:
            if blocks[k].owner != blocks[i].owner:
                yield (blocks[k], blocks[i]) if k < i else (blocks[i], blocks[k])
            left -= 1
            if not left:
                return
        if not met:
            insort(apart, entry)
            continue
        crowd.add(i)


def _share(a: Block, b: Block) -> bool:
    return a.bottom < b.top and b.bottom < a.top


def _neighbours(apart: list[tuple[int, int]], blocks: Sequence[Block], i: int) -> list[int]:
    """Those of `apart`, of which no two share a byte, that share one with block i."""
    block = blocks[i]
    at = bisect_left(apart, (block.bottom, -1))
    found = [apart[at - 1][1]] if at and blocks[apart[at - 1][1]].top > block.bottom else []
    while at < len(apart) and apart[at][0] < block.top:
        found.append(apart[at][1])
        at += 1
    return found
