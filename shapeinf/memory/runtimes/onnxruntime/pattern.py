"""The memory pattern of onnxruntime: later runs with the input shapes of a first run place its buffers in one block.

Each body has a block of its own, in use while the body runs. A trip of a loop is a run of its body.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence

from shapeinf.lattice import Shape
from shapeinf.memory.runtimes.onnxruntime.blocks import Block
from shapeinf.memory.runtimes.trace import Event, trace
from shapeinf.memory.timeline import Buffer

SizedBuffer = tuple[Buffer, int]
"""A buffer and its bytes."""

MODEL_BLOCK = "block of "
"""The name of the block of a model; for that of a body, its path follows."""
ALIGNMENT = 256
"""Offsets in a block are multiples of it."""


def block_size(events: Iterable[Event]) -> int:
    """The bytes of the block in which these buffers are placed, in the order of their allocation.

    Each is placed into the smallest gap that fits, the first of equal ones; the space from the last block to the
    highest end that was ever reached is the last gap. Where nothing fits, the block grows.

    >>> block_size([Event(0, 256), Event(1, 512), Event(0, 256, frees=True), Event(2, 200)])
    768
    """
    placed: list[tuple[int, int, int]] = []
    where: dict[int, tuple[int, int, int]] = {}
    total = 0
    for event in events:
        if event.size == 0:
            continue
        if event.frees:
            placed.remove(where.pop(event.buffer))
            continue
        size = -(-event.size // ALIGNMENT) * ALIGNMENT
        offset = _best_offset(placed, size, total)
        where[event.buffer] = (offset, offset + size, event.buffer)
        insort(placed, where[event.buffer])
        total = max(total, offset + size)
    return total


def fill_blocks(buffers: Sequence[SizedBuffer], blocks: Sequence[Block]) -> list[SizedBuffer]:
    """The buffers of a run in which these blocks are in place of the buffers in them, in the order of allocation."""
    owner = {key: block for block in blocks for key in block.buffers}
    members: dict[Block, list[SizedBuffer]] = {}
    for buffer, size in buffers:
        block = owner.get((buffer.name, buffer.birth))
        if block is not None:
            members.setdefault(block, []).append((buffer, size))
    placed: list[SizedBuffer] = []
    for buffer, size in buffers:
        block = owner.get((buffer.name, buffer.birth))
        if block is None:
            placed.append((buffer, size))
            continue
        if block in members:  # its first buffer
            placed.append(_block_of(block, members.pop(block)))
        if (buffer.name, buffer.birth) in block.varying:
            placed.append((buffer, size))
    return placed


def _block_of(block: Block, members: Sequence[SizedBuffer]) -> SizedBuffer:
    """A block as a buffer, with the path of its graph and the values in it."""
    values = tuple([buffer.name for buffer, _ in members])
    name, size = MODEL_BLOCK + block.path, block_size(trace(members))
    return Buffer(name, size, block.birth, block.death, "activation", None, Shape.unknown(), values), size


def _best_offset(placed: list[tuple[int, int, int]], size: int, total: int) -> int:
    """The start of the smallest gap that fits, else the end of the last buffer."""
    end, best, least = 0, None, 0
    for start, stop, _ in placed:
        if start - end >= size and (best is None or start - end < least):
            best, least = end, start - end
        end = stop
    if total - end >= size and (best is None or total - end < least):
        best = end
    return end if best is None else best
