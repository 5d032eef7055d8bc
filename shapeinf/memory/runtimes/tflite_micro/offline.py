"""Offsets of tensors that a file states for TensorFlow Lite Micro: the metadata `OfflineMemoryAllocation`.

The interpreter keeps these offsets, and places scratch buffers around them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import attrs

from shapeinf.memory.planning import Problem, Request
from shapeinf.memory.planning.planners import find_planner
from shapeinf.memory.runtimes.guarded_sizes import value_of
from shapeinf.memory.runtimes.tflite_micro.planner import ALIGNMENT, ONLINE, MicroBuffer, find_offsets, head_of

METADATA = "OfflineMemoryAllocation"
VERSION = 1


@attrs.frozen
class OfflinePlan:
    """Offsets of tensors in the head of the arena.

    Args:
        planner: the planner that chose them.
        head: the bytes of the head with them.
        greedy_head: its bytes as the interpreter plans it.
        buffers: all buffers as the interpreter then places them.
    """

    planner: str
    head: int
    greedy_head: int
    buffers: tuple[MicroBuffer, ...]

    def metadata(self, tensors: int) -> bytes:
        """The contents of the metadata for the main subgraph, which has this number of tensors."""
        offsets = [ONLINE] * tensors
        for buffer in self.buffers:
            if buffer.tensor is not None:
                offsets[buffer.tensor] = value_of(buffer.offset)
        return struct.pack(f"<{3 + tensors}i", VERSION, 0, tensors, *offsets)


def plan_offline(buffers: Sequence[MicroBuffer], planner: str = "best") -> OfflinePlan:
    """Offsets by a planner, or those of the interpreter where these need less.

    `buffers` have no offsets yet. No plan is larger than that of the interpreter.
    """
    greedy = find_offsets(buffers)
    candidates = {"tflite-micro greedy": greedy, planner: _replace(buffers, planner)}
    heads = {name: head_of(placed) for name, placed in candidates.items()}
    best = min(candidates, key=lambda name: heads[name])
    return OfflinePlan(best, heads[best], head_of(greedy), tuple(candidates[best]))


def _replace(buffers: Sequence[MicroBuffer], planner: str) -> list[MicroBuffer]:
    """The buffers at the offsets of a planner for tensors; the interpreter places scratch buffers around them."""
    plan = find_planner(planner)(Problem(tuple(_requests(buffers)), ALIGNMENT))
    offsets = {slot.name: slot.offset for slot in plan.slots}
    return find_offsets(
        [
            buffer if buffer.tensor is None else attrs.evolve(buffer, offset=offsets[str(number)])
            for number, buffer in enumerate(buffers)
        ]
    )


def _requests(buffers: Sequence[MicroBuffer]) -> Iterator[Request]:
    for number, buffer in enumerate(buffers):
        first = max(buffer.first, 0)
        yield Request(str(number), first, max(buffer.last, first) + 1, value_of(buffer.size))
