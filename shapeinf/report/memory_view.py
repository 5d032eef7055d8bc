"""The data of a picture of memory over time: blocks with sizes, totals, the peak, and areas column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Protocol

import attrs

from shapeinf.expr import evaluate
from shapeinf.memory import Buffer, Memory, ProgramPoint, Role, Timeline
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.peak.terms import count_buffers
from shapeinf.sharing import cached_property
from shapeinf.solver.budget import Budget
from shapeinf.texts import format_bytes, qualify

COUNTED: tuple[Role, ...] = ("activation", "output", "scratch")
"""The roles of the outputs of nodes, and of temporaries of kernels; inputs and weights are totals only."""

MAX_NAMED = 10
"""The tensors with a color and a name; all others are one area."""

MIN_NAMED_SHARE = 0.005
"""The least part of the peak that is visible: smaller tensors have no color."""


class PlannedSlot(Protocol):
    """A slot of a plan: bytes `offset` to `offset + size` at the program points `lower <= t < upper`."""

    @property
    def name(self) -> str:
        """The tensor."""

    @property
    def lower(self) -> int:
        """The first point."""

    @property
    def upper(self) -> int:
        """The point after the last."""

    @property
    def size(self) -> int:
        """Bytes."""

    @property
    def offset(self) -> int:
        """The first byte."""


@attrs.frozen
class Block:
    """A buffer of known size: `size` bytes at the program points `birth <= t < death`."""

    name: str
    type: str
    size: int
    birth: int
    death: int
    role: Role
    at_least: bool = False
    """Whether the size has no upper bound and is the minimum."""


@attrs.frozen(eq=False, slots=False)
class MemoryView:
    """The data of a picture.

    Args:
        title: the model.
        sizes: the sizes of the dims, as text.
        points: the nodes in execution order.
        blocks: the outputs of nodes, of known size.
        apart: bytes of weights and inputs, by role.
        unknown: the names of the buffers without an upper bound, with causes; no total counts them.
        slots: a plan; empty without one.
        at_most: whether buffers are counted with upper bounds.
    """

    title: str
    sizes: str
    points: tuple[ProgramPoint, ...]
    blocks: tuple[Block, ...]
    apart: Mapping[str, int]
    unknown: tuple[tuple[str, str], ...] = ()
    slots: tuple[PlannedSlot, ...] = ()
    at_most: bool = False

    @cached_property
    def totals(self) -> list[int]:
        """Bytes in use at every point."""
        change = [0] * (len(self.points) + 1)
        for block in self.blocks:
            change[block.birth] += block.size
            change[block.death] -= block.size
        return list(accumulate(change))[:-1]

    @cached_property
    def peak(self) -> int:
        """The first point with most bytes in use."""
        return max(range(len(self.totals)), key=self.totals.__getitem__, default=0)

    @property
    def peak_bytes(self) -> int:
        """Bytes in use at the peak."""
        return self.totals[self.peak] if self.totals else 0

    @property
    def arena(self) -> int:
        """Bytes that the plan needs."""
        return max((slot.offset + slot.size for slot in self.slots), default=0)

    def alive(self, point: int) -> list[Block]:
        """The blocks in use at a point, largest first."""
        return sorted((b for b in self.blocks if b.birth <= point < b.death), key=lambda b: (-b.size, b.birth))

    @cached_property
    def named_blocks(self) -> tuple[Block, ...]:
        """The blocks with a color and a name: the largest at the peak, then the largest of all."""
        largest = sorted(self.blocks, key=lambda b: (-b.size, b.birth))
        alive = self.alive(self.peak)[: MAX_NAMED * 2 // 3]
        candidates = {id(block): block for block in (*alive, *largest[: MAX_NAMED + len(alive)])}
        least = max(1, self.peak_bytes * MIN_NAMED_SHARE)
        return tuple(block for block in candidates.values() if block.size >= least)[:MAX_NAMED]

    @cached_property
    def stacked_blocks(self) -> tuple[Block, ...]:
        """The named blocks from the bottom up, the longest lifetimes first."""
        return tuple(sorted(self.named_blocks, key=lambda b: (b.birth - b.death, b.birth)))

    @property
    def headline(self) -> str:
        """The peak and its node."""
        return f"peak {self.peak_as(format_bytes)} at {self.at(self.peak)}"

    def peak_as(self, text: Callable[[int], str]) -> str:
        """The bytes of the peak as text, with `at least` or `at most` where they are a bound."""
        return qualify(text(self.peak_bytes), bool(self.unknown), self.at_most)

    def at(self, point: int) -> str:
        """A point as text."""
        node = self.points[point]
        return f"#{point} {node.op} '{node.node}'"


def memory_view(
    timeline: Timeline,
    sizes: Mapping[str, int],
    *,
    bytes_of: Callable[[Buffer], int | None] | None = None,
    title: str = "",
    slots: Iterable[PlannedSlot] = (),
    roles: Sequence[Role] = COUNTED,
) -> MemoryView:
    """The view of a timeline at these sizes of its symbols.

    `bytes_of` returns the bytes of a buffer, None for an unknown size; by default its size is evaluated.

    >>> from shapeinf.expr import Scope
    >>> from shapeinf.lattice import Shape
    >>> n = Scope().symbol("n")
    >>> buffer = Buffer("y", 4 * n, 0, 1, "output", "float32", Shape([n]), ("y",))
    >>> view = memory_view(Timeline((ProgramPoint("relu", "Relu"),), (buffer,)), {"n": 8})
    >>> view.peak_bytes, view.at(view.peak)
    (32, "#0 Relu 'relu'")
    """
    bytes_of = bytes_of or _evaluator(sizes)
    last = len(timeline.points)
    blocks, unknown, apart = [], [], {"weight": 0, "input": 0}
    for buffer in timeline.buffers:
        size = bytes_of(buffer)
        if size is None:
            unknown.append((buffer.name, buffer.cause or f"its size is {buffer.size}"))
        elif buffer.role not in roles:
            apart[buffer.role] = apart.get(buffer.role, 0) + size
        elif last:
            birth = min(buffer.birth, last - 1)
            death = min(max(buffer.death, birth + 1), last)  # an unread output is in use at its own node
            type_ = f"{buffer.dtype or '?'}{buffer.shape}"
            blocks.append(Block(buffer.name, type_, size, birth, death, buffer.role))
    binding = ", ".join(f"{name}={size}" for name, size in sizes.items())
    return MemoryView(title, binding, timeline.points, tuple(blocks), apart, tuple(unknown), tuple(slots))


def view_of_memory(
    memory: Memory, sizes: Mapping[str, int], title: str = "", slots: Iterable[PlannedSlot] = ()
) -> MemoryView:
    """The view of the memory of a model: every buffer with the bytes that the peak counts for it.

    Sizes that depend on data have their upper bounds. Raises UnknownNameError, MissingSizeError and Contradiction
    as `Peak.at` does.
    """
    with memory.store.scope.lock:
        query = SizeQuery(memory.store, memory.labels)
        buffers = count_buffers(memory.timeline.buffers, memory.store, query.is_bindable, Budget(memory.work))
        values = query.evaluate(buffers.upper, query.bind(sizes))
    sized = {id(buffer): value for buffer, value in zip(buffers.buffers, values, strict=True)}
    view = memory_view(memory.timeline, sizes, bytes_of=lambda buffer: sized[id(buffer)], title=title, slots=slots)
    unknown = {buffer.name: buffer.cause for buffer in buffers.unbounded}
    blocks = tuple(attrs.evolve(block, at_least=block.name in unknown) for block in view.blocks)
    at_most = bool(buffers.bounded)
    return attrs.evolve(view, blocks=blocks, unknown=tuple(unknown.items()), at_most=at_most)


def _evaluator(sizes: Mapping[str, int]) -> Callable[[Buffer], int | None]:
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


MAX_COLUMNS = 1200
"""Limit on the columns of a drawing; a column of several points has the values of the one with most bytes in use."""


@attrs.frozen
class Column:
    """The points `first <= t < last`, drawn with the values of the point `at`."""

    first: int
    last: int
    at: int


@attrs.frozen
class AreaStep:
    """A piece of an area: from `low` to `high` bytes at the points `first <= t < last`."""

    first: int
    last: int
    low: int
    high: int


def columns(view: MemoryView, window: range, limit: int = MAX_COLUMNS) -> list[Column]:
    """At most `limit` columns for the points of a window."""
    width = max(1, -(-len(window) // limit))
    return [
        Column(first, end, max(range(first, end), key=view.totals.__getitem__))
        for first in window[::width]
        for end in (min(first + width, window.stop),)
    ]


def areas(view: MemoryView, drawn: Sequence[Column]) -> tuple[list[tuple[Block, list[AreaStep]]], list[AreaStep]]:
    """The steps of each named tensor, from the bottom up, and those of all others together on top."""
    heights = [0] * len(drawn)
    named = []
    for block in view.stacked_blocks:
        steps: list[AreaStep] = []
        for i, column in enumerate(drawn):
            if block.birth <= column.at < block.death:
                _append(steps, AreaStep(column.first, column.last, heights[i], heights[i] + block.size))
                heights[i] += block.size
        named.append((block, steps))
    rest: list[AreaStep] = []
    for i, column in enumerate(drawn):
        if view.totals[column.at] > heights[i]:
            _append(rest, AreaStep(column.first, column.last, heights[i], view.totals[column.at]))
    return named, rest


def outline(view: MemoryView, drawn: Sequence[Column]) -> list[AreaStep]:
    """The steps of the total."""
    steps: list[AreaStep] = []
    for column in drawn:
        _append(steps, AreaStep(column.first, column.last, 0, view.totals[column.at]))
    return steps


def _append(steps: list[AreaStep], step: AreaStep) -> None:
    """Append a step, or extend the last one where the heights are equal."""
    last = steps[-1] if steps else None
    if last is not None and (last.last, last.low, last.high) == (step.first, step.low, step.high):
        steps[-1] = attrs.evolve(last, last=step.last)
    else:
        steps.append(step)


def runs(steps: Sequence[AreaStep]) -> list[list[AreaStep]]:
    """The steps in groups without gaps."""
    groups: list[list[AreaStep]] = []
    for step in steps:
        if groups and groups[-1][-1].last == step.first:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups
