"""Problems and plans: requests for memory over time, and the slots that a planner assigns them."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import accumulate
from reprlib import repr as abridged
from typing import Any

import attrs

from shapeinf.errors import LimitError, PlanError, UnknownNameError
from shapeinf.html import html_block, html_rows
from shapeinf.schemas import json_record
from shapeinf.texts import exact_bytes, format_count, object_text

MAX_BUFFERS = 200_000
"""Limit on the requests of a problem: planners take quadratic time."""

MAX_BYTES = 2**62
"""Limit on the sum of all sizes: offsets are 64-bit in every format."""

MAX_ALIGNMENT = 2**30
PLAN_SCHEMA = "shapeinf.plan/1"


def _check_int(owner: Any, attribute: attrs.Attribute[int], value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise PlanError(f"{attribute.name} of {abridged(owner.name)} must be an int, not {abridged(value)}")
    if not -(1 << 63) <= value < 1 << 63:
        raise PlanError(f"{attribute.name} of {abridged(owner.name)} must be an int of 64 bits")


def _check_not_negative(owner: Any, attribute: attrs.Attribute[int], value: Any) -> None:
    _check_int(owner, attribute, value)
    if value < 0:
        raise PlanError(f"{attribute.name} of {abridged(owner.name)} must not be negative: {value}")


def _check_upper(owner: Any, attribute: attrs.Attribute[int], value: Any) -> None:
    _check_int(owner, attribute, value)
    if value <= owner.lower:
        raise PlanError(f"{abridged(owner.name)} has an empty lifetime: [{owner.lower}, {value})")


@attrs.frozen
class Request:
    """A buffer that needs `size` bytes at the program points `lower <= t < upper`.

    Args:
        name: the tensor.
        lower: the first node, counted from 0.
        upper: the node after the last.
        size: bytes.
    """

    name: str
    lower: int = attrs.field(validator=_check_int)
    upper: int = attrs.field(validator=_check_upper)
    size: int = attrs.field(validator=_check_not_negative)


@attrs.frozen
class Slot(Request):
    """A buffer in the arena: the bytes `offset` to `offset + size`.

    Args:
        offset: bytes.

    >>> Slot("x", 0, 2, 100, 64).top
    164
    """

    offset: int = attrs.field(validator=_check_not_negative)

    def __attrs_post_init__(self) -> None:
        """Refuse an end past 64 bits."""
        if self.top >= 1 << 63:
            raise PlanError(f"{abridged(self.name)} ends at a byte that does not fit 64 bits")

    @property
    def top(self) -> int:
        """The first byte after the buffer."""
        return self.offset + self.size


@attrs.frozen
class Unplaced:
    """A tensor without a slot in a plan, and the cause."""

    name: str
    cause: str


def check_alignment(alignment: int) -> int:
    """The alignment, if it is valid. Raises PlanError."""
    if isinstance(alignment, bool) or not isinstance(alignment, int) or not 1 <= alignment <= MAX_ALIGNMENT:
        raise PlanError(f"an alignment must be an int from 1 to {MAX_ALIGNMENT}, not {abridged(alignment)}")
    return alignment


def _as_requests(requests: Iterable[Request]) -> tuple[Request, ...]:
    return tuple(requests)


def _as_slots(slots: Iterable[Slot]) -> tuple[Slot, ...]:
    return tuple(slots)


def _as_unplaced(unplaced: Iterable[Unplaced]) -> tuple[Unplaced, ...]:
    return tuple(unplaced)


@attrs.frozen
class Problem:
    """Buffers to place, each at a multiple of `alignment`. Raises PlanError and LimitError.

    >>> Problem([Request("x", 0, 2, 100), Request("y", 1, 3, 50), Request("z", 2, 4, 20)]).most_alive
    150
    """

    requests: tuple[Request, ...] = attrs.field(converter=_as_requests)
    alignment: int = 1

    def __attrs_post_init__(self) -> None:
        """Refuse duplicate names, an invalid alignment and sizes past the limits."""
        check_alignment(self.alignment)
        if len(self.requests) > MAX_BUFFERS:
            raise LimitError(f"{len(self.requests)} buffers are more than the limit of {MAX_BUFFERS}")
        seen: set[str] = set()
        for request in self.requests:
            if request.name in seen:
                raise PlanError(f"two buffers are named {abridged(request.name)}")
            seen.add(request.name)
        if sum(request.size + self.alignment for request in self.requests) >= MAX_BYTES:
            raise LimitError(f"the sizes of all buffers are together more than the limit of {MAX_BYTES} bytes")

    @property
    def most_alive(self) -> int:
        """The most bytes in use at one program point: a lower bound for the arena."""
        changes: dict[int, int] = {}
        for r in self.requests:
            changes[r.lower] = changes.get(r.lower, 0) + r.size
            changes[r.upper] = changes.get(r.upper, 0) - r.size
        return max(accumulate(changes[t] for t in sorted(changes)), default=0)

    @property
    def least_arena(self) -> int:
        """A lower bound for the arena: the bytes in use, each size but the highest rounded up to the alignment.

        >>> Problem([Request("x", 0, 2, 100), Request("y", 1, 3, 50)], 64).least_arena
        164
        """
        least = total = 0
        step = self.alignment
        requests = self.requests
        events = sorted((t, begins, i) for i, r in enumerate(requests) for t, begins in ((r.lower, 1), (r.upper, 0)))
        waste: list[tuple[int, int]] = []
        for t, begins, i in events:
            request = requests[i]
            rounded = -(-request.size // step) * step
            if not begins:
                total -= rounded
                continue
            total += rounded
            heappush(waste, (request.size - rounded, request.upper))
            while waste[0][1] <= t:
                heappop(waste)
            least = max(least, total + waste[0][0])
        return least

    def plan(self, offsets: Iterable[int], planner: str = "") -> Plan:
        """The plan with these offsets, in the order of the requests."""
        pairs = zip(self.requests, offsets, strict=True)
        slots = tuple(Slot(r.name, r.lower, r.upper, r.size, int(offset)) for r, offset in pairs)
        return Plan(slots, max((s.top for s in slots), default=0), self.alignment, planner)


@json_record(PLAN_SCHEMA, omit=("cut",))
@attrs.frozen
class Plan:
    """The offset of each buffer in one arena: the output of `shapeinf plan --json`, which `plan verify` reads.

    Args:
        slots: the buffers with their offsets; names are unique.
        arena: bytes.
        alignment: every offset is a multiple of it.
        planner: the name of the planner.
        unplaced: tensors without a slot.
        cut: the work budget was reached; with more, upper bounds of sizes, and so the arena, may be smaller.

    Raises PlanError for an invalid arena or alignment.
    """

    slots: tuple[Slot, ...] = attrs.field(converter=_as_slots)
    arena: int
    alignment: int = 1
    planner: str = ""
    unplaced: tuple[Unplaced, ...] = attrs.field(default=(), converter=_as_unplaced)
    cut: bool = False

    def __attrs_post_init__(self) -> None:
        """Refuse an invalid arena or alignment."""
        check_alignment(self.alignment)
        if isinstance(self.arena, bool) or not isinstance(self.arena, int) or not 0 <= self.arena < 1 << 63:
            raise PlanError(f"the arena of a plan must be an int of 64 bits, not {abridged(self.arena)}")

    def __repr__(self) -> str:
        """The arena, and the first slots from its bottom to its top."""
        return object_text(f"Plan: {self._headline}", (f"{slot.offset} {slot.name}" for slot in self._sorted_slots))

    def _repr_html_(self) -> str:
        """A table of the slots, from the bottom of the arena to its top."""
        rows = [(f"{s.offset:,}", f"{s.size:,}", f"{s.lower}..{s.upper - 1}", s.name) for s in self._sorted_slots]
        slots = html_rows(["offset", "bytes", "points", "tensor"], rows) if rows else ""
        unplaced = html_rows(["unplaced", "cause"], [(u.name, u.cause) for u in self.unplaced]) if self.unplaced else ""
        return html_block(f"Plan: {self._headline}", slots, unplaced)

    @property
    def _headline(self) -> str:
        unplaced = f", {len(self.unplaced)} unplaced" if self.unplaced else ""
        planner = f" by {self.planner}" if self.planner else ""
        return f"{format_count(len(self.slots), 'tensor')} in an arena of {exact_bytes(self.arena)}{planner}{unplaced}"

    @property
    def _sorted_slots(self) -> list[Slot]:
        return sorted(self.slots, key=lambda slot: (slot.offset, slot.lower))

    def __getitem__(self, name: str) -> Slot:
        """The slot of a tensor."""
        for slot in self.slots:
            if slot.name == name:
                return slot
        raise UnknownNameError("slot", name, (s.name for s in self.slots))

    @property
    def problem(self) -> Problem:
        """The problem that the plan solves."""
        return Problem(tuple(Request(s.name, s.lower, s.upper, s.size) for s in self.slots), self.alignment)
