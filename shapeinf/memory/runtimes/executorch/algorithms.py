"""The two algorithms of ExecuTorch that choose offsets in the arena: greedy and naive.

Read in ExecuTorch 1.5.1 (exir/memory_planning.py, commit 3b606839).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from shapeinf.memory.planning import Request
from shapeinf.memory.runtimes.guarded_sizes import round_up

SORTED_BY = 16
"""Tensors are sorted by their sizes rounded up to this, whatever the alignment of the arena."""

Offsets = tuple[list[int], int]
"""An offset for each request, in their order, and the bytes of the arena."""


@attrs.define(eq=False)
class _Segment:
    """A part of the arena as large as its first tensor, and the tensors in it, each with the byte after its end."""

    size: int
    tensors: list[tuple[Request, int]]

    def is_free(self, request: Request) -> bool:
        """Whether no tensor is in use at the same time."""
        return not any(_live_together(tensor, request) for tensor, _ in self.tensors)

    def end(self, request: Request) -> int:
        """The byte after all tensors that are in use at the same time."""
        return max((end for tensor, end in self.tensors if _live_together(tensor, request)), default=0)


def greedy(requests: Sequence[Request], alignment: int) -> Offsets:
    """The largest tensors first, of equal ones the last; each in the first segment with room for it.

    A segment that no tensor uses at the same time is preferred to one with bytes behind its tensors; a tensor for which
    there is neither begins a new segment. Segments lie one behind the other.

    >>> greedy([Request("x", 0, 2, 100), Request("y", 1, 3, 50), Request("z", 2, 4, 90)], 16)
    ([0, 112, 0], 176)
    """
    segments: list[_Segment] = []
    slots: list[tuple[int, int]] = [(0, 0)] * len(requests)
    for index in reversed(sorted(range(len(requests)), key=lambda i: round_up(requests[i].size, SORTED_BY))):
        request, size = requests[index], round_up(requests[index].size, alignment)
        number, offset = _find(segments, request, size)
        if number == len(segments):
            segments.append(_Segment(size, []))
        segments[number].tensors.append((request, offset + size))
        slots[index] = number, offset
    starts, total = [], 0
    for segment in segments:
        starts.append(total)
        total += segment.size
    return [starts[number] + offset for number, offset in slots], total


def _find(segments: Sequence[_Segment], request: Request, size: int) -> tuple[int, int]:
    """The number of the segment for a tensor, and the offset in it; the number of segments for a new one."""
    for number, segment in enumerate(segments):
        if size <= segment.size and segment.is_free(request):
            return number, 0
    for number, segment in enumerate(segments):
        offset = segment.end(request)
        if offset and offset + size <= segment.size:
            return number, offset
    return len(segments), 0


def naive(requests: Sequence[Request], alignment: int) -> Offsets:
    """One tensor behind the other.

    >>> naive([Request("x", 0, 2, 100), Request("y", 1, 3, 50)], 16)
    ([0, 112], 176)
    """
    offsets, total = [], 0
    for request in requests:
        offsets.append(total)
        total += round_up(request.size, alignment)
    return offsets, total


def _live_together(a: Request, b: Request) -> bool:
    return a.lower < b.upper and b.lower < a.upper


ALGORITHMS: dict[str, Callable[[Sequence[Request], int], Offsets]] = {"greedy": greedy, "naive": naive}
