"""The memory planner of TensorFlow Lite Micro: the lifetimes of tensors, and their offsets in the head of the arena.

Read in tflite-micro (micro_allocation_info.cc, memory_planner/greedy_memory_planner.cc, October 2026). All subgraphs
are in one arena. Each node has a point in time, and so has the begin of each subgraph that it runs. Buffers are placed
by falling size, of equal ones the last first, each into the lowest gap between those in use at the same time. Offsets
that the file states are stored, and their buffers placed before all others.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from operator import attrgetter

import attrs

from shapeinf.memory.runtimes.guarded_sizes import Bytes, round_up, value_of

ALIGNMENT = 16
"""Sizes are rounded up to it (`MicroArenaBufferAlignment`)."""
ONLINE = -1
"""Stands for the offset of a tensor that the interpreter places."""


@attrs.frozen
class MicroNode:
    """A node, with indices of tensors; the bytes of its scratch buffers, and the subgraphs that it runs."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    scratch: tuple[Bytes, ...] = ()
    bodies: tuple[int, ...] = ()


@attrs.frozen
class MicroSubgraph:
    """A subgraph.

    Args:
        sizes: the bytes of each tensor; 0 for constants and variables, which are not in the head.
    """

    sizes: tuple[Bytes, ...]
    nodes: tuple[MicroNode, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@attrs.frozen
class MicroBuffer:
    """A tensor or a scratch buffer in the head, in use from `first` to `last`, both included.

    Args:
        subgraph: the subgraph of the tensor, or of the node of the scratch buffer.
        tensor: the index of the tensor; None for a scratch buffer.
        size: bytes, rounded up.
        offset: where it is.
    """

    subgraph: int
    tensor: int | None
    size: Bytes
    first: int
    last: int
    offset: Bytes = ONLINE

    @property
    def end(self) -> Bytes:
        """The byte after it."""
        return self.offset + self.size

    def overlaps(self, other: MicroBuffer) -> bool:
        """Whether both are in use at one point in time."""
        return self.first <= other.last and other.first <= self.last


def find_buffers(subgraphs: Sequence[MicroSubgraph]) -> list[MicroBuffer]:
    """The buffers in the head, in the order in which the interpreter lists them: tensors, then scratch buffers."""
    return Lifetimes(subgraphs).buffers()


class Lifetimes:
    """Walks the nodes of the main subgraph, and of the subgraphs that they run.

    `points` has the subgraph and the node of each point in time; no node at the begin of a subgraph.
    """

    def __init__(self, subgraphs: Sequence[MicroSubgraph]) -> None:
        self.subgraphs = subgraphs
        self.points: list[tuple[int, int | None]] = [(0, None)]
        self.spans: dict[tuple[int, int], tuple[int, int]] = {}
        """By subgraph and tensor, its first and last point in time."""
        self.scratch: dict[tuple[int, int], tuple[int, int]] = {}
        """By subgraph and node, those of its scratch buffers."""

    def buffers(self) -> list[MicroBuffer]:
        """All buffers, on the first call. A tensor that nothing refers to is in use before the first point."""
        if self.subgraphs:
            self.walk(0)
        tensors = [
            MicroBuffer(number, index, round_up(size, ALIGNMENT), *self.spans.get((number, index), (-1, -1)))
            for number, subgraph in enumerate(self.subgraphs)
            for index, size in enumerate(subgraph.sizes)
            if size
        ]
        return [*tensors, *self._scratch_buffers()]

    def _scratch_buffers(self) -> Iterator[MicroBuffer]:
        for (number, position), (first, last) in sorted(self.scratch.items()):
            for size in self.subgraphs[number].nodes[position].scratch:
                yield MicroBuffer(number, None, round_up(size, ALIGNMENT), first, last)

    @property
    def now(self) -> int:
        """The point in time."""
        return len(self.points) - 1

    def walk(self, number: int) -> None:
        """The lifetimes of a subgraph."""
        subgraph = self.subgraphs[number]
        for index in (*subgraph.inputs, *subgraph.outputs):
            self.create(number, index)
        for position, node in enumerate(subgraph.nodes):
            self.points.append((number, position))
            for index in node.outputs:
                self.create(number, index)
            start = self.now
            for body in node.bodies:
                self.points.append((body, None))
                self.walk(body)
            for index in (*node.inputs, *node.outputs):
                self.use(number, index)
            self.scratch[number, position] = (start, self.now)
        for index in subgraph.outputs:
            self.use(number, index)

    def create(self, number: int, index: int) -> None:
        """A tensor begins now."""
        self.spans[number, index] = (self.now, self.now)

    def use(self, number: int, index: int) -> None:
        """A tensor is in use until now."""
        first, _ = self.spans.get((number, index), (-1, -1))
        self.spans[number, index] = (first, self.now)


def find_offsets(buffers: Sequence[MicroBuffer]) -> list[MicroBuffer]:
    """The buffers with their offsets, in the same order.

    >>> buffers = [MicroBuffer(0, 0, 32, 0, 1), MicroBuffer(0, 1, 64, 1, 2), MicroBuffer(0, 2, 16, 2, 2)]
    >>> [buffer.offset for buffer in find_offsets(buffers)]
    [64, 0, 64]
    """
    online = sorted(
        (i for i in reversed(range(len(buffers))) if buffers[i].offset == ONLINE), key=lambda i: -buffers[i].size
    )
    placed: dict[int, MicroBuffer] = {i: buffer for i, buffer in enumerate(buffers) if buffer.offset != ONLINE}
    by_offset: list[MicroBuffer] = sorted(placed.values(), key=attrgetter("offset"))
    for i in online:
        offset: Bytes = 0
        for other in by_offset:
            if other.overlaps(buffers[i]):
                if other.offset - offset >= buffers[i].size:
                    break
                offset = max(offset, other.end)
        placed[i] = attrs.evolve(buffers[i], offset=offset)
        insort(by_offset, placed[i], key=attrgetter("offset"))
    return [placed[i] for i in range(len(buffers))]


def head_of(placed: Sequence[MicroBuffer]) -> int:
    """The bytes of the head of the arena."""
    return max([value_of(buffer.end) for buffer in placed], default=0)
