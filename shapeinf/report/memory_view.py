"""What a picture of memory over time shows: blocks with sizes, the total at every moment, the peak."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Protocol

import attrs

from shapeinf.expr import evaluate
from shapeinf.memory import Buffer, Memory, ProgramPoint, Role, Timeline
from shapeinf.memory.peak.answers import qualified
from shapeinf.memory.peak.query import Asked
from shapeinf.memory.peak.terms import sizes_of
from shapeinf.sharing import cached_property, hold_locks
from shapeinf.solver.budget import Budget
from shapeinf.texts import format_bytes

COUNTED: tuple[Role, ...] = ("activation", "output")
"""What nodes make. Inputs and weights are apart: their sums are said, not drawn."""

NAMED = 10
"""Tensors with a colour and a name of their own; all others are one area."""

LEAST_NAMED = 0.005
"""The least part of the peak that can be seen: smaller tensors need no colour."""


class Placed(Protocol):
    """A place of a plan: bytes `offset` to `offset + size` at the moments `lower <= t < upper`."""

    @property
    def name(self) -> str:
        """The tensor."""

    @property
    def lower(self) -> int:
        """The first moment."""

    @property
    def upper(self) -> int:
        """The moment after the last."""

    @property
    def size(self) -> int:
        """Bytes."""

    @property
    def offset(self) -> int:
        """The first byte."""


@attrs.frozen
class Block:
    """A buffer of known size: `size` bytes at the moments `birth <= t < death`."""

    name: str
    what: str
    size: int
    birth: int
    death: int
    role: Role
    at_least: bool = False
    """Whether its size has no upper bound: then it is the least that it can be."""


@attrs.frozen(eq=False, slots=False)
class MemoryView:
    """Everything that the pictures show.

    Args:
        title: what it is a picture of.
        sizes: the sizes of the dims, as text.
        moments: the nodes in the order in which they run.
        blocks: the buffers that nodes make, of known size.
        apart: bytes of weights and inputs, by role.
        unknown: the buffers without a size or an upper bound of it, with the cause: they come on top.
        slots: a plan; empty without one.
        at_most: whether sizes that depend on data stand with their upper bounds.
    """

    title: str
    sizes: str
    moments: tuple[ProgramPoint, ...]
    blocks: tuple[Block, ...]
    apart: Mapping[str, int]
    unknown: tuple[tuple[str, str], ...] = ()
    slots: tuple[Placed, ...] = ()
    at_most: bool = False

    @cached_property
    def totals(self) -> list[int]:
        """Bytes in use at every moment."""
        change = [0] * (len(self.moments) + 1)
        for block in self.blocks:
            change[block.birth] += block.size
            change[block.death] -= block.size
        return list(accumulate(change))[:-1]

    @cached_property
    def peak(self) -> int:
        """The first moment at which most is in use."""
        return max(range(len(self.totals)), key=self.totals.__getitem__, default=0)

    @property
    def peak_bytes(self) -> int:
        """Bytes in use at the peak."""
        return self.totals[self.peak] if self.totals else 0

    @property
    def arena(self) -> int:
        """Bytes that the plan needs."""
        return max((slot.offset + slot.size for slot in self.slots), default=0)

    def alive(self, moment: int) -> list[Block]:
        """What is in use at a moment, the largest first."""
        return sorted((b for b in self.blocks if b.birth <= moment < b.death), key=lambda b: (-b.size, b.birth))

    @cached_property
    def named(self) -> tuple[Block, ...]:
        """The tensors to name: first the largest of those alive at the peak, then the largest of all."""
        largest = sorted(self.blocks, key=lambda b: (-b.size, b.birth))
        alive = self.alive(self.peak)[: NAMED * 2 // 3]
        found = {id(block): block for block in (*alive, *largest[: NAMED + len(alive)])}
        least = max(1, self.peak_bytes * LEAST_NAMED)
        return tuple(block for block in found.values() if block.size >= least)[:NAMED]

    @cached_property
    def stacked(self) -> tuple[Block, ...]:
        """The named tensors from the bottom up: what lives long lies low."""
        return tuple(sorted(self.named, key=lambda b: (b.birth - b.death, b.birth)))

    @property
    def headline(self) -> str:
        """The peak in a few words."""
        return f"peak {self.peak_as(format_bytes)} at {self.at(self.peak)}"

    def peak_as(self, text: Callable[[int], str]) -> str:
        """The bytes of the peak as a text, which says where they are no exact number."""
        return qualified(text(self.peak_bytes), bool(self.unknown), self.at_most)

    def at(self, moment: int) -> str:
        """A moment as text."""
        node = self.moments[moment]
        return f"#{moment} {node.op} '{node.node}'"


def memory_view(
    timeline: Timeline,
    sizes: Mapping[str, int],
    *,
    bytes_of: Callable[[Buffer], int | None] | None = None,
    title: str = "",
    slots: Iterable[Placed] = (),
    roles: Sequence[Role] = COUNTED,
) -> MemoryView:
    """What a picture of a timeline shows at these sizes of its symbols.

    `bytes_of` says how many bytes a buffer has, None where that is not known; by default its size is evaluated.

    >>> from shapeinf.expr import Scope
    >>> from shapeinf.lattice import Shape
    >>> n = Scope().symbol("n")
    >>> buffer = Buffer("y", 4 * n, 0, 1, "output", "float32", Shape([n]), ("y",))
    >>> view = memory_view(Timeline((ProgramPoint("relu", "Relu"),), (buffer,)), {"n": 8})
    >>> view.peak_bytes, view.at(view.peak)
    (32, "#0 Relu 'relu'")
    """
    bytes_of = bytes_of or _at(sizes)
    last = len(timeline.moments)
    blocks, unknown, apart = [], [], {"weight": 0, "input": 0}
    for buffer in timeline.buffers:
        size = bytes_of(buffer)
        if size is None:
            unknown.append((buffer.name, buffer.cause or f"its size is {buffer.size}"))
        elif buffer.role not in roles:
            apart[buffer.role] = apart.get(buffer.role, 0) + size
        elif last:
            birth = min(buffer.birth, last - 1)
            death = min(max(buffer.death, birth + 1), last)  # what nobody reads is there while it is made
            what = f"{buffer.dtype or '?'}{buffer.shape}"
            blocks.append(Block(buffer.name, what, size, birth, death, buffer.role))
    shown = ", ".join(f"{name}={size}" for name, size in sizes.items())
    return MemoryView(title, shown, timeline.moments, tuple(blocks), apart, tuple(unknown), tuple(slots))


def view_of_memory(
    memory: Memory, sizes: Mapping[str, int], title: str = "", slots: Iterable[Placed] = ()
) -> MemoryView:
    """What a picture shows of the memory of a model: every buffer with the bytes that the peak counts it with.

    Sizes that depend on data stand with their upper bounds. Raises UnknownNameError, MissingSizeError and Contradiction
    as `Peak.at` does.
    """
    with hold_locks(memory):
        asked = Asked(memory.store, memory.labels)
        found = sizes_of(memory.timeline.buffers, memory.store, asked.kept, Budget(memory.work))
        values = asked.evaluate(found.upper, asked.bound(sizes))
    counted = {id(buffer): value for buffer, value in zip(found.buffers, values, strict=True)}
    view = memory_view(memory.timeline, sizes, bytes_of=lambda buffer: counted[id(buffer)], title=title, slots=slots)
    unknown = {one.name: one.cause for one in found.unbounded}
    blocks = tuple(attrs.evolve(block, at_least=block.name in unknown) for block in view.blocks)
    at_most = bool(found.bounded)
    return attrs.evolve(view, blocks=blocks, unknown=tuple(unknown.items()), at_most=at_most)


def _at(sizes: Mapping[str, int]) -> Callable[[Buffer], int | None]:
    known: dict[object, int | None] = {}

    def bytes_of(buffer: Buffer) -> int | None:
        if buffer.size is None:
            return None
        if buffer.size not in known:
            try:
                known[buffer.size] = max(0, int(evaluate(buffer.size, sizes)))
            except (KeyError, ZeroDivisionError):
                known[buffer.size] = None
        return known[buffer.size]

    return bytes_of
