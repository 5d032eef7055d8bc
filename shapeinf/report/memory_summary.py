"""The memory of a model at the user's sizes, else its bound over all sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import attrs

from shapeinf.errors import MissingSizeError
from shapeinf.expr import DimSize, evaluate
from shapeinf.memory import Memory, Role
from shapeinf.memory.peak import PeakAt, PeakBound
from shapeinf.memory.runtimes.onnxruntime.session_memory import RunAt, SessionMemory
from shapeinf.memory.runtimes.planned_arena import PlannedArena
from shapeinf.pickling import versioned_pickle
from shapeinf.report.kv_cache_report import KvCacheRecord, report_kv_caches
from shapeinf.report.memory_view import MemoryView, PlannedSlot, view_of_memory
from shapeinf.report.runtime_report import ArenaRecord, arena_record
from shapeinf.schemas import json_record


@json_record(add=("bytes",))
@attrs.frozen
class Total:
    """The memory of a run in bytes: the peak, or an arena, with all weights and inputs that it does not count."""

    peak: int
    weights: int
    inputs: int
    at_least: bool
    at_most: bool

    @property
    def bytes(self) -> int:
        """The sum."""
        return self.peak + self.weights + self.inputs


@versioned_pickle
@attrs.frozen
class MemorySummary:
    """The memory of a model: the peak at the user's sizes, else its bound over all sizes.

    Args:
        memory: with symbols for all dims.
        bound: the memory of which `peak` is the peak: the same, or one inferred with the sizes bound.
        sizes: the user's sizes.
        peak: the peak at these sizes; its bound over all sizes where some are missing.
        limit: bytes.
        run: the memory of a session of a runtime at these sizes; None without one, and where sizes are missing.
        arena: what a runtime plans ahead, at these sizes and for all sizes of other dims; None without one.
        kv_caches: the caches of keys and values.
    """

    memory: Memory
    bound: Memory
    sizes: dict[str, int]
    peak: PeakAt | PeakBound
    limit: int | None
    run: RunAt | None = None
    arena: ArenaRecord | None = None
    kv_caches: tuple[KvCacheRecord, ...] = ()

    @property
    def bytes(self) -> int | None:
        """The peak or the arena, or its bound; None where there is none."""
        if self.run is not None:
            return self.run.bytes
        if self.arena is not None:
            return self.arena.at_most if self.arena.bytes is None else self.arena.bytes
        return self.peak.bytes if isinstance(self.peak, PeakAt) else self.peak.value

    @property
    def total(self) -> Total | None:
        """The peak with weights and inputs, at the user's sizes or as a bound over all; None where there is none."""
        peak = self.bytes
        counts_inputs = "input" in self.bound.planned
        weights = self._upper_bound("weight", self.bound.weights)
        inputs = 0 if counts_inputs else self._upper_bound("input", self.bound.inputs)
        if peak is None or weights is None or inputs is None:
            return None
        unsized = any(buffer.role in ("weight", "input") for buffer in self.bound.unsized)
        at_most = isinstance(self.peak, PeakBound) or self.peak.at_most
        if self.arena is not None and counts_inputs:
            at_most = self.arena.bytes is None  # else the arena is that of these sizes, or of all
        return Total(peak, weights, inputs, self.peak.at_least or unsized, at_most)

    def _upper_bound(self, role: Role, amount: DimSize) -> int | None:
        """The amount at the user's sizes, or its upper bound over all; None without one."""
        if isinstance(amount, int):
            return amount
        try:
            return int(evaluate(amount, self.sizes))
        except KeyError:
            return self.bound.upper_bounds[role]

    @property
    def fits(self) -> bool:
        """Whether the peak is known to fit into the limit; True without one."""
        known = self.bytes is not None and not self.peak.at_least
        return self.limit is None or (known and (self.bytes or 0) <= self.limit)

    @property
    def binding(self) -> str:
        """The user's sizes as text."""
        return ", ".join(f"{name}={size}" for name, size in self.sizes.items())


def summarize_memory(
    memory: Memory, sizes: dict[str, int], limit: int | None, infer_bound: Callable[[], Memory]
) -> MemorySummary:
    """The peak at these sizes; `infer_bound` infers with them bound, which bounds more data-dependent sizes."""
    summary = _peak_summary(memory, sizes, limit, infer_bound)
    return attrs.evolve(summary, kv_caches=report_kv_caches(memory, sizes, limit))


def _peak_summary(
    memory: Memory, sizes: dict[str, int], limit: int | None, infer_bound: Callable[[], Memory]
) -> MemorySummary:
    try:
        peak: PeakAt | PeakBound = memory.peak.at(sizes)
        if memory.peak.exact or not sizes:
            return MemorySummary(memory, memory, sizes, peak, limit, _run_at(memory, sizes), _arena_at(memory, sizes))
    except MissingSizeError:
        if not sizes:
            return MemorySummary(memory, memory, sizes, memory.peak.over(), limit, arena=_arena_at(memory, {}))
    bound = infer_bound()
    try:
        peak = bound.peak.at()
    except MissingSizeError:
        return MemorySummary(memory, bound, sizes, bound.peak.over(), limit, arena=_arena_at(bound, {}))
    return MemorySummary(memory, bound, sizes, peak, limit, _run_at(bound, {}), _arena_at(bound, {}))


def _run_at(memory: Memory, sizes: Mapping[str, int]) -> RunAt | None:
    """The memory of a run in a session; None without one."""
    return memory.at(sizes) if isinstance(memory, SessionMemory) else None


def _arena_at(memory: Memory, sizes: Mapping[str, int]) -> ArenaRecord | None:
    """The arena that a runtime plans; None without one."""
    return arena_record(memory, sizes) if isinstance(memory, PlannedArena) else None


def view_of_summary(summary: MemorySummary, title: str, slots: Iterable[PlannedSlot] = ()) -> MemoryView:
    """The view of the memory at the user's sizes, for pictures. Raises MissingSizeError where some are missing."""
    sizes = {} if summary.bound is not summary.memory else summary.sizes
    return attrs.evolve(view_of_memory(summary.bound, sizes, title, slots), sizes=summary.binding)
