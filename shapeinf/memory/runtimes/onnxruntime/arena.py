"""The arena of onnxruntime: regions that it takes from the system as a run needs them, and never returns.

A request is rounded up to 256 bytes. It gets the smallest free chunk of the first bin of sizes that has one, and the
rest of a chunk of twice the request stays free. Without a chunk the arena extends by a region, of a power of two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import attrs

from shapeinf.memory.runtimes.trace import Event

UNIT = 256
"""The bytes that all chunks are multiples of."""
BINS = 21
"""The number of bins of sizes; the last one has all larger chunks."""
FIRST_REGION = 1 << 20
MAX_WASTE = 128 << 20
"""The rest of a chunk that is split off whatever the request."""

Strategy = Literal["next power of two", "same as requested"]
"""How the arena extends, as `OrtArenaCfg` names it."""


@attrs.define(eq=False)
class _Chunk:
    """A part of a region; `start` counts over all regions."""

    region: int
    start: int
    size: int
    free: bool = True


@attrs.define
class Arena:
    """An arena over some runs; `regions` are the bytes that it took from the system."""

    strategy: Strategy = "next power of two"
    regions: list[int] = attrs.Factory(list)
    _next: int = FIRST_REGION
    _chunks: list[_Chunk] = attrs.Factory(list)
    _used: dict[int, _Chunk] = attrs.Factory(dict)

    def run(self, events: Iterable[Event]) -> None:
        """Allocate and free; what remains at the end is freed then."""
        for event in events:
            if event.frees:
                self._release(event.buffer)
            elif event.size:
                self._allocate(event.buffer, -(-event.size // UNIT) * UNIT)
        for buffer in list(self._used):
            self._release(buffer)

    def _allocate(self, buffer: int, size: int) -> None:
        chunk = self._find(size) or self._extend(size)
        if chunk.size >= 2 * size or chunk.size - size >= MAX_WASTE:
            self._chunks.insert(
                self._chunks.index(chunk) + 1, _Chunk(chunk.region, chunk.start + size, chunk.size - size)
            )
            chunk.size = size
        chunk.free = False
        self._used[buffer] = chunk

    def _find(self, size: int) -> _Chunk | None:
        """The smallest free chunk that fits of the first bin with one; of equal ones the lowest."""
        fitting = (chunk for chunk in self._chunks if chunk.free and chunk.size >= size)
        return min(fitting, key=lambda chunk: (_bin(chunk.size), chunk.size, chunk.start), default=None)

    def _extend(self, size: int) -> _Chunk:
        taken = self._region_size(size)
        chunk = _Chunk(len(self.regions), sum(self.regions), taken)
        self.regions.append(taken)
        self._chunks.append(chunk)
        return chunk

    def _region_size(self, size: int) -> int:
        if self.strategy == "same as requested":
            return size
        doubled = False
        while size > self._next:
            self._next *= 2
            doubled = True
        taken = self._next
        self._next *= 1 if doubled else 2
        return taken

    def _release(self, buffer: int) -> None:
        """Free a chunk, merged with its free neighbours in the region."""
        chunk = self._used.pop(buffer, None)
        if chunk is None:
            return
        chunk.free = True
        index = self._chunks.index(chunk)
        for left, right in ((index, index + 1), (index - 1, index)):
            if left >= 0 and right < len(self._chunks):
                a, b = self._chunks[left], self._chunks[right]
                if a.free and b.free and a.region == b.region:
                    a.size += b.size
                    del self._chunks[right]


def regions_of(runs: Iterable[Iterable[Event]]) -> list[tuple[int, ...]]:
    """The regions that the arena takes from the system in each of these runs, one after the other."""
    arena, taken = Arena(), []
    for events in runs:
        before = len(arena.regions)
        arena.run(events)
        taken.append(tuple(arena.regions[before:]))
    return taken


def _bin(size: int) -> int:
    return min((size // UNIT).bit_length() - 1, BINS - 1)
