"""The two algorithms of ExecuTorch that choose offsets in the arena: greedy and naive.

Read in ExecuTorch 1.5.1 (exir/memory_planning.py, commit 3b606839).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from shapeinf.memory.planning import Request

SORTED_BY = 16
"""Tensors are sorted by their sizes rounded up to this, whatever the alignment of the arena."""

Placement = tuple[list[int], int]
"""An offset for each request, in their order, and the bytes of the arena."""


@attrs.define(eq=False)
class _Segment:
    """A part of the arena as large as its first tensor, and the tensors in it: lifetime, offset, and size."""

    size: int
    tensors: list[tuple[Request, int, int]]

    def place(self, request: Request, size: int, *, beside: bool) -> int | None:
        """The offset of one more tensor: above all tensors that are in use with it; None where it does not fit.

        Without `beside` it fits only where no other tensor is in use with it.
        """
        others = [at + other for tensor, at, other in self.tensors if _live_together(tensor, request)]
        offset = max(others, default=0)
        if beside != (offset > 0) or (others and not beside) or offset + size > self.size:
            return None
        self.tensors.append((request, offset, size))
        return offset


def greedy(requests: Sequence[Request], alignment: int) -> Placement:
    """The largest tensors first, of equal ones the last; each into the first segment in which it fits.

    A segment in which no tensor is in use at the same time is preferred to one with room beside others; where none
    fits, the tensor starts a segment. Segments lie one behind the other.

    >>> greedy([Request("x", 0, 2, 100), Request("y", 1, 3, 50), Request("z", 2, 4, 90)], 16)
    ([0, 112, 0], 176)
    """
    segments: list[_Segment] = []
    places: list[tuple[int, int]] = [(0, 0)] * len(requests)
    for index in reversed(sorted(range(len(requests)), key=lambda i: _round_up(requests[i].size, SORTED_BY))):
        request, size = requests[index], _round_up(requests[index].size, alignment)
        places[index] = _find(segments, request, size)
    starts, total = [], 0
    for segment in segments:
        starts.append(total)
        total += segment.size
    return [starts[number] + offset for number, offset in places], total


def _find(segments: list[_Segment], request: Request, size: int) -> tuple[int, int]:
    """The number of the segment of a tensor, and the offset in it."""
    for beside in (False, True):
        for number, segment in enumerate(segments):
            offset = segment.place(request, size, beside=beside)
            if offset is not None:
                return number, offset
    segments.append(_Segment(size, [(request, 0, size)]))
    return len(segments) - 1, 0


def naive(requests: Sequence[Request], alignment: int) -> Placement:
    """One tensor behind the other.

    >>> naive([Request("x", 0, 2, 100), Request("y", 1, 3, 50)], 16)
    ([0, 112], 176)
    """
    offsets, total = [], 0
    for request in requests:
        offsets.append(total)
        total += _round_up(request.size, alignment)
    return offsets, total


def _round_up(size: int, step: int) -> int:
    return -(-size // step) * step


def _live_together(a: Request, b: Request) -> bool:
    return a.lower < b.upper and b.lower < a.upper


ALGORITHMS: dict[str, Callable[[Sequence[Request], int], Placement]] = {"greedy": greedy, "naive": naive}
