"""A plan of any tool against a model: is it true at every size that the model may have?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Literal, get_args

import attrs

from shapeinf.errors import UnknownNameError
from shapeinf.expr import Dimension
from shapeinf.lattice import ShapeStore
from shapeinf.memory.planning.from_timeline import PLANNED, end_of, needs
from shapeinf.memory.planning.overlaps import MAX_OVERLAPS, Block, overlaps
from shapeinf.memory.planning.problem import Plan, Slot, check_alignment
from shapeinf.memory.timeline import Buffer, Role, Timeline
from shapeinf.solver.budget import WORK, Budget, cut_text

MOST_NEAR_NAMES = 50
"""Unknown names for which the nearest one is looked for: each is compared with all names of the model."""

Kind = Literal[
    "apart", "arena", "lifetime", "missing", "misaligned", "overlap", "too many", "too small", "unbounded", "unknown"
]


@attrs.frozen
class PlanFinding:
    """Something that is wrong with a plan.

    Args:
        kind: `overlap` (in time and space), `too small`, `misaligned`, `missing` (a tensor without a slot), `unknown`
            (a slot without a tensor), `arena` (smaller than what lies in it), `lifetime` (shorter than in the model),
            `apart` (values of one buffer that lie at two places), `unbounded` (a tensor whose size has no bound, so
            that no slot is large enough) or `too many` (overlaps; the rest is not listed).
        tensor: the tensor that it is about.
        cause: what is wrong, with the numbers.
        other: the other tensor of an overlap.
    """

    kind: Kind
    tensor: str
    cause: str
    other: str = ""

    def __str__(self) -> str:
        """One line."""
        return f"{self.kind}: {self.tensor}{': ' if self.tensor else ''}{self.cause}"


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
) -> list[PlanFinding]:
    """All that is wrong with a plan; nothing means that it is valid at every binding that the facts allow.

    A slot must be as large as its tensor can be: at `sizes` where they are given, else at the worst of the whole range.
    A slot may stand for any value that the buffer holds. Lifetimes are those of the model, and those of the plan where
    they say more; both count from 0 in the order of the model's nodes.

    Args:
        plan: of any tool.
        timeline: the buffers of the model.
        store: what is known about the dims.
        sizes: as in `plan`.
        alignment: what every offset must be a multiple of; what the plan itself says by default.
        roles: which buffers need a slot; others may have one.
        labels: as in `plan`.
        work: the budget of the question, in steps. Past it bounds are rougher: what is too small by them says so.

    Raises UnknownNameError and Contradiction as `plan` does.
    """
    budget = Budget(work)
    subject = _Subject(plan, timeline, needs(timeline, store, sizes, get_args(Role), labels, budget), budget.cut)
    step = plan.alignment if alignment is None else check_alignment(alignment)
    return [
        *_places(plan, step),
        *subject.unknown(),
        *(finding for buffer, need in subject.needs for finding in subject.buffer(buffer, need, buffer.role in roles)),
        *subject.overlaps(),
    ]


def _places(plan: Plan, step: int) -> Iterator[PlanFinding]:
    """What is wrong with single slots."""
    for slot in plan.slots:
        if slot.size and slot.offset % step:
            yield PlanFinding("misaligned", slot.name, f"its offset {slot.offset} is no multiple of {step}")
    highest = max(plan.slots, key=lambda slot: slot.top, default=None)
    if highest is not None and highest.top > plan.arena:
        cause = f"it ends at byte {highest.top}, after the end of the arena of {plan.arena} bytes"
        yield PlanFinding("arena", highest.name, cause)


class _Subject:
    """A plan beside the buffers of its model."""

    def __init__(self, plan: Plan, timeline: Timeline, needed: list[tuple[Buffer, int | str]], cut: bool) -> None:
        self.plan = plan
        self.rough = f" at most ({cut_text('memory(work=...) or --work')})" if cut else ""
        self.needs = needed
        self.need_of = {buffer.name: need for buffer, need in self.needs}
        self.buffer_of = {value: buffer for buffer in timeline.buffers for value in (*buffer.values, buffer.name)}
        self.slots_of: dict[str, list[Slot]] = defaultdict(list)
        for slot in plan.slots:
            if slot.name in self.buffer_of:
                self.slots_of[self.buffer_of[slot.name].name].append(slot)
        self.reasons = {one.name: one.cause for one in plan.unplaced}

    def unknown(self) -> Iterator[PlanFinding]:
        """Names that the model does not have."""
        strange = [n for n in (*(slot.name for slot in self.plan.slots), *self.reasons) if n not in self.buffer_of]
        for place, name in enumerate(strange):
            near = place < MOST_NEAR_NAMES
            cause = str(UnknownNameError("tensor", name, self.buffer_of)) if near else f"no tensor is named {name!r}"
            yield PlanFinding("unknown", name, cause)

    def buffer(self, buffer: Buffer, need: int | str, wanted: bool) -> Iterator[PlanFinding]:
        """What is wrong with the slots of one buffer."""
        slots = self.slots_of.get(buffer.name, [])
        if isinstance(need, str) and (slots or wanted):
            yield PlanFinding("unbounded", buffer.name, f"no slot is large enough for all sizes: {need}")
        if not slots:
            if wanted and need != 0 and isinstance(need, int):
                why = self.reasons.get(buffer.name, "")
                cause = f"it has no slot, and needs {need} bytes" + (f"; the plan says: {why}" if why else "")
                yield PlanFinding("missing", buffer.name, cause)
            return
        for slot in slots:
            if isinstance(need, int) and slot.size < need:
                cause = f"its slot has {slot.size} bytes, it needs {need}{self.rough}"
                yield PlanFinding("too small", slot.name, cause)
            if slot.offset != slots[0].offset:
                first = slots[0]
                cause = f"it is one buffer with {first.name}, but lies at {slot.offset} and that at {first.offset}"
                yield PlanFinding("apart", slot.name, cause)
        begin, end = min(slot.lower for slot in slots), max(slot.upper for slot in slots)
        if begin > buffer.birth or end < end_of(buffer):
            cause = f"the plan keeps it at moments [{begin}, {end}), the model at [{buffer.birth}, {end_of(buffer)})"
            yield PlanFinding("lifetime", slots[0].name, cause)

    def overlaps(self) -> Iterator[PlanFinding]:
        """Pairs of slots that share bytes at some moment."""
        seen: set[tuple[str, str]] = set()
        for of_plan in (False, True):
            for a, b in overlaps(self._blocks(of_plan)):
                if (a.name, b.name) in seen:
                    continue
                seen.add((a.name, b.name))
                if len(seen) > MAX_OVERLAPS:
                    yield PlanFinding("too many", "", f"more than {MAX_OVERLAPS} pairs overlap; the rest is not listed")
                    return
                told = ", as the plan says itself" if of_plan else ""
                cause = f"{a.extent} and {b.name}: {b.extent} share memory{told}"
                yield PlanFinding("overlap", a.name, cause, b.name)

    def _blocks(self, of_plan: bool) -> list[Block]:
        """The slots; those of one buffer that begin at the same byte are one."""
        found: dict[tuple[str, int], Block] = {}
        for block in (self._block(slot, of_plan) for slot in self.plan.slots):
            one = found.setdefault((block.owner, block.bottom), block)
            lower, upper = min(one.lower, block.lower), max(one.upper, block.upper)
            found[one.owner, one.bottom] = attrs.evolve(one, lower=lower, upper=upper, top=max(one.top, block.top))
        return list(found.values())

    def _block(self, slot: Slot, of_plan: bool) -> Block:
        """A slot as large as its tensor needs, if that is known exactly, at the moments of the plan or of the model."""
        buffer = self.buffer_of.get(slot.name)
        if buffer is None:
            return Block(slot.name, slot.name, slot.lower, slot.upper, slot.offset, slot.top)
        need = self.need_of[buffer.name]
        size = max(slot.size, need if isinstance(need, int) and not self.rough else 0)
        lower, upper = (slot.lower, slot.upper) if of_plan else (buffer.birth, end_of(buffer))
        return Block(slot.name, buffer.name, lower, upper, slot.offset, slot.offset + size)
