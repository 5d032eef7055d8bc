"""Verification of a memory plan of any tool against a model: whether it is valid at every legal size."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import get_args

import attrs

from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.errors import UnknownNameError
from shapeinf.expr import Dimension
from shapeinf.lattice import ShapeStore
from shapeinf.memory.planning.from_timeline import PLANNED, end_of, required_bytes
from shapeinf.memory.planning.problem import Plan, Slot, check_alignment
from shapeinf.memory.timeline import Buffer, Role, Timeline
from shapeinf.solver.budget import WORK, Budget, cut_text

MAX_NAMES_MATCHED = 50
"""Limit on the unknown names for which near names are searched: each is compared with all names of the model."""

MAX_OVERLAPS = 1000
"""Limit on the overlapping pairs that are reported."""

OVERLAP = register_code(
    "P101", "error", "two tensors of a plan share memory", "At a point of the model, or of the plan's own lifetimes."
)
TOO_SMALL = register_code("P102", "error", "a slot has fewer bytes than its tensor can need")
MISALIGNED = register_code("P103", "error", "an offset is not a multiple of the alignment")
MISSING = register_code("P104", "error", "a tensor has no slot")
UNKNOWN = register_code("P105", "error", "a slot of a tensor that the model does not have")
ARENA = register_code("P106", "error", "a slot ends after the arena")
LIFETIME = register_code("P107", "error", "a slot is in use for a shorter time than its tensor")
APART = register_code("P108", "error", "values of one buffer have different offsets")
UNBOUNDED = register_code("P109", "error", "no slot is large enough for a tensor", "Its size has no upper bound.")
TOO_MANY = register_code("P110", "error", "more overlaps than are listed")


def verify_plan(
    plan: Plan,
    timeline: Timeline,
    store: ShapeStore,
    sizes: Mapping[str, int] | None = None,
    *,
    alignment: int | None = None,
    roles: Collection[Role] = PLANNED,
    labels: Mapping[Dimension, str] | None = None,
    work: int = WORK,
) -> list[Diagnostic]:
    """The violations of a plan; an empty list means that it is valid at every binding that the constraints allow.

    A slot must be as large as its tensor can be: at `sizes`, or over the full range of the dims. A slot may have the
    name of any value of a buffer. Lifetimes are those of the model, extended by those of the plan; both count program
    points from 0. The diagnostic of an overlap has the other tensor in `operands`.

    Args:
        plan: a plan of any tool.
        timeline: the buffers of the model.
        store: the constraints on the dims.
        sizes: as in `plan`.
        alignment: every offset must be a multiple of it; by default the alignment of the plan.
        roles: the roles of buffers that need a slot; others may have one.
        labels: as in `plan`.
        work: the budget, in steps. Past it bounds are rougher, and messages about slots that are too small state it.

    Raises UnknownNameError and Contradiction as `plan` does.
    """
    budget = Budget(work)
    needs = required_bytes(timeline, store, sizes, get_args(Role), labels, budget)
    verifier = _Verifier(plan, timeline, needs, budget.cut)
    step = plan.alignment if alignment is None else check_alignment(alignment)
    return [
        *_check_slots(plan, step),
        *verifier.check_names(),
        *(d for buffer, need in needs for d in verifier.check_buffer(buffer, need, buffer.role in roles)),
        *verifier.check_overlaps(),
    ]


def _violation(code: str, tensor: str, message: str, *others: str) -> Diagnostic:
    return Diagnostic("error", code, message, operands=others, tensor=tensor)


def _check_slots(plan: Plan, step: int) -> Iterator[Diagnostic]:
    """Report misaligned slots, and a slot that ends after the arena."""
    for slot in plan.slots:
        if slot.size and slot.offset % step:
            yield _violation(MISALIGNED, slot.name, f"its offset {slot.offset} is not a multiple of {step}")
    highest = max(plan.slots, key=lambda slot: slot.top, default=None)
    if highest is not None and highest.top > plan.arena:
        message = f"it ends at byte {highest.top}, after the end of the arena of {plan.arena} bytes"
        yield _violation(ARENA, highest.name, message)


class _Verifier:
    """A plan and the buffers of its model."""

    def __init__(self, plan: Plan, timeline: Timeline, needs: list[tuple[Buffer, int | str]], cut: bool) -> None:
        self.plan = plan
        self.rough = f" at most ({cut_text('memory(work=...) or --work')})" if cut else ""
        self.need_of = {buffer.name: need for buffer, need in needs}
        self.buffer_of = {value: buffer for buffer in timeline.buffers for value in (*buffer.values, buffer.name)}
        self.slots_of: dict[str, list[Slot]] = defaultdict(list)
        for slot in plan.slots:
            if slot.name in self.buffer_of:
                self.slots_of[self.buffer_of[slot.name].name].append(slot)
        self.causes = {tensor.name: tensor.cause for tensor in plan.unplaced}

    def check_names(self) -> Iterator[Diagnostic]:
        """Report names that the model does not have."""
        names = (*(slot.name for slot in self.plan.slots), *self.causes)
        for count, name in enumerate(name for name in names if name not in self.buffer_of):
            matched = count < MAX_NAMES_MATCHED
            message = (
                str(UnknownNameError("tensor", name, self.buffer_of)) if matched else f"no tensor is named {name!r}"
            )
            yield _violation(UNKNOWN, name, message)

    def check_buffer(self, buffer: Buffer, need: int | str, required: bool) -> Iterator[Diagnostic]:
        """Check the slots of one buffer."""
        slots = self.slots_of.get(buffer.name, [])
        if isinstance(need, str) and (slots or required):
            yield _violation(UNBOUNDED, buffer.name, f"no slot is large enough for all sizes: {need}")
        if not slots:
            if required and need != 0 and isinstance(need, int):
                cause = self.causes.get(buffer.name, "")
                suffix = f"; cause in the plan: {cause}" if cause else ""
                yield _violation(MISSING, buffer.name, f"it has no slot, and needs {need} bytes{suffix}")
            return
        first = slots[0]
        for slot in slots:
            if isinstance(need, int) and slot.size < need:
                message = f"its slot has {slot.size} bytes, it needs {need}{self.rough}"
                yield _violation(TOO_SMALL, slot.name, message)
            if slot.offset != first.offset:
                message = f"it is one buffer with {first.name}, but has offset {slot.offset} and not {first.offset}"
                yield _violation(APART, slot.name, message)
        begin, end = min(slot.lower for slot in slots), max(slot.upper for slot in slots)
        if begin > buffer.birth or end < end_of(buffer):
            live = f"[{buffer.birth}, {end_of(buffer)})"
            message = f"its live range is [{begin}, {end}) in the plan, {live} in the model"
            yield _violation(LIFETIME, first.name, message)

    def check_overlaps(self) -> Iterator[Diagnostic]:
        """Report pairs of slots that share bytes at some program point."""
        seen: set[tuple[str, str]] = set()
        for of_plan in (False, True):
            for a, b in overlaps(self._blocks(of_plan)):
                if (a.name, b.name) in seen:
                    continue
                seen.add((a.name, b.name))
                if len(seen) > MAX_OVERLAPS:
                    message = f"more than {MAX_OVERLAPS} pairs overlap; the rest is not listed"
                    yield _violation(TOO_MANY, "", message)
                    return
                suffix = ", by the lifetimes of the plan" if of_plan else ""
                yield _violation(OVERLAP, a.name, f"{a.extent} and {b.name}: {b.extent} share memory{suffix}", b.name)

    def _blocks(self, of_plan: bool) -> list[OccupiedBlock]:
        """The slots as blocks; those of one buffer that begin at the same byte are merged."""
        merged: dict[tuple[str, int], OccupiedBlock] = {}
        for block in (self._block(slot, of_plan) for slot in self.plan.slots):
            key = block.owner, block.bottom
            other = merged.get(key, block)
            lower, upper = min(other.lower, block.lower), max(other.upper, block.upper)
            merged[key] = attrs.evolve(other, lower=lower, upper=upper, top=max(other.top, block.top))
        return list(merged.values())

    def _block(self, slot: Slot, of_plan: bool) -> OccupiedBlock:
        """A slot, as large as its tensor needs where that is exact, over the lifetime in the plan or in the model."""
        buffer = self.buffer_of.get(slot.name)
        if buffer is None:
            return OccupiedBlock(slot.name, slot.name, slot.lower, slot.upper, slot.offset, slot.top)
        need = self.need_of[buffer.name]
        size = max(slot.size, need if isinstance(need, int) and not self.rough else 0)
        lower, upper = (slot.lower, slot.upper) if of_plan else (buffer.birth, end_of(buffer))
        return OccupiedBlock(slot.name, buffer.name, lower, upper, slot.offset, slot.offset + size)


@attrs.frozen
class OccupiedBlock:
    """Bytes `bottom <= b < top` at the program points `lower <= t < upper`; blocks of one owner may overlap."""

    name: str
    owner: str
    lower: int
    upper: int
    bottom: int
    top: int

    @property
    def extent(self) -> str:
        """The bytes and program points as text."""
        return f"bytes [{self.bottom}, {self.top}) at program points [{self.lower}, {self.upper})"


def overlaps(blocks: Sequence[OccupiedBlock]) -> Iterator[tuple[OccupiedBlock, OccupiedBlock]]:
    """The pairs of blocks of different owners that share a byte at some point, at most MAX_OVERLAPS + 1.

    A sweep over time. Live blocks that overlap no other stay sorted, so that only neighbors are compared. The
    others are few, and are compared with every new block.
    """
    events = sorted(
        event
        for i, block in enumerate(blocks)
        if block.top > block.bottom and block.upper > block.lower
        for event in ((block.upper, 0, i), (block.lower, 1, i))
    )
    disjoint: list[tuple[int, int]] = []
    overlapping: set[int] = set()
    remaining = MAX_OVERLAPS + 1
    for _, begins, i in events:
        entry = (blocks[i].bottom, i)
        if not begins:
            if i in overlapping:
                overlapping.remove(i)
            else:
                del disjoint[bisect_left(disjoint, entry)]
            continue
        others = [*_neighbors(disjoint, blocks, i), *(k for k in overlapping if _share_bytes(blocks[k], blocks[i]))]
        for k in others:
            if blocks[k].owner != blocks[i].owner:
                yield (blocks[k], blocks[i]) if k < i else (blocks[i], blocks[k])
            remaining -= 1
            if not remaining:
                return
        if others:
            overlapping.add(i)
        else:
            insort(disjoint, entry)


def _share_bytes(a: OccupiedBlock, b: OccupiedBlock) -> bool:
    return a.bottom < b.top and b.bottom < a.top


def _neighbors(disjoint: list[tuple[int, int]], blocks: Sequence[OccupiedBlock], i: int) -> list[int]:
    """The blocks of `disjoint` that share a byte with block i."""
    block = blocks[i]
    at = bisect_left(disjoint, (block.bottom, -1))
    neighbors = [disjoint[at - 1][1]] if at and blocks[disjoint[at - 1][1]].top > block.bottom else []
    while at < len(disjoint) and disjoint[at][0] < block.top:
        neighbors.append(disjoint[at][1])
        at += 1
    return neighbors
