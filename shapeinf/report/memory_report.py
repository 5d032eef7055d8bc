"""Reports of the memory of a model, as text and as records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import attrs

from shapeinf.expr import DimSize, evaluate
from shapeinf.memory import Memory, Role
from shapeinf.memory.peak import PeakAt, PeakBound, Unbounded
from shapeinf.memory.runtimes.onnxruntime.session_memory import SessionMemory
from shapeinf.memory.runtimes.protocol import TEMPORARIES
from shapeinf.memory.runtimes.runtime_memory import RuntimeMemory
from shapeinf.report.kv_cache_report import KvCacheRecord, kv_cache_lines
from shapeinf.report.memory_summary import MemorySummary, Total
from shapeinf.report.runtime_report import (
    ArenaRecord,
    RuntimeRecord,
    arena_lines,
    note_of,
    runtime_lines,
    runtime_record,
)
from shapeinf.schemas import json_record
from shapeinf.texts import exact_bytes, format_bytes, qualify

MAX_UNCOUNTED = 4
"""Limit on the listed tensors without a size of one cause; the JSON has all."""
NOT_COUNTED = "alignment, temporaries of kernels, and the arena of a runtime (--runtime counts them)"
"""What the plain peak leaves out."""
MAX_FORMULA = 400
"""Characters of a symbolic peak in the text; the JSON has all of it."""


def memory_lines(summary: MemorySummary, top: int) -> Iterator[str]:
    """The peak with the `top` largest tensors in use at it, the totals by role, caches, and the limit."""
    memory = summary.memory
    yield f"peak         {_shorten(str(memory.peak))} bytes"
    yield from (
        _peak_at_lines(summary, summary.peak, top) if isinstance(summary.peak, PeakAt) else [_bound_line(summary)]
    )
    unsized = {buffer.role for buffer in memory.unsized}
    for role, amount in _roles(memory).items():
        yield f"{role + 's':<13}{'at least ' if role in unsized else ''}{_total(summary, amount)}"
    if memory.bodies != 0:
        yield f"  in bodies  {_total(summary, memory.bodies)}"
    if isinstance(memory, SessionMemory):
        yield from runtime_lines(memory, summary.run)
    if summary.arena is not None:
        yield from arena_lines(summary.arena)
    total = summary.total
    if total is not None:
        first = "peak" if summary.arena is None else "arena"
        yield f"total        {qualify(exact_bytes(total.bytes), total.at_least, total.at_most)}: {_parts(total, first)}"
    for cache in summary.kv_caches:
        first, *rest = kv_cache_lines(cache)
        yield f"kv cache     {first}"
        yield from rest
    yield from _uncounted_lines(summary)
    if not isinstance(memory, RuntimeMemory):
        yield f"excluded     {NOT_COUNTED}"
    if summary.limit is not None:
        verdict = "fits" if summary.fits else "is not known to fit" if summary.peak.at_least else "does not fit"
        part = "peak" if summary.arena is None else "arena"
        yield f"limit        {exact_bytes(summary.limit)}: the {part} {verdict}"


def _peak_at_lines(summary: MemorySummary, peak: PeakAt, top: int) -> Iterator[str]:
    size = qualify(exact_bytes(peak.bytes), peak.at_least, peak.at_most)
    node = f" at {peak.point.op} '{peak.point.node}' (#{peak.index})" if peak.point else ""
    yield f"  {summary.binding or 'always'}: {size}{node}"
    uncounted = {buffer.name for buffer in summary.bound.peak.unbounded}
    for buffer, count in peak.alive[:top]:
        least = " (at least)" if buffer.name in uncounted else ""
        kind = "" if buffer.role == "scratch" else f": {buffer.dtype or '?'}{buffer.shape}"
        note = "" if summary.run is None else note_of(buffer, summary.run)
        yield f"{_share(count, peak)}{buffer.name}{kind}{least}{note}"
    if len(peak.alive) > top:
        yield f"{_share(sum(size for _, size in peak.alive[top:]), peak)}{len(peak.alive) - top} more"


def _parts(total: Total, first: str) -> str:
    """What the total is the sum of, and how much of it is weights."""
    share = 100 * total.weights / max(total.bytes, 1)
    parts = f"{first} {format_bytes(total.peak)}, weights {format_bytes(total.weights)} ({share:.1f}%)"
    return f"{parts}, inputs {format_bytes(total.inputs)}"


def _uncounted_lines(summary: MemorySummary) -> Iterator[str]:
    """The tensors without a size, a line for all of one cause."""
    groups: dict[str, list[str]] = {}
    for buffer in summary.bound.peak.unbounded:
        if not buffer.name.startswith(TEMPORARIES):  # those of kernels have lines of their own
            groups.setdefault(buffer.cause, []).append(buffer.name)
    for cause, names in groups.items():
        more = f" and {len(names) - MAX_UNCOUNTED} more" if len(names) > MAX_UNCOUNTED else ""
        yield f"not counted  {', '.join(names[:MAX_UNCOUNTED])}{more}: {cause}"


def _share(size: int, peak: PeakAt) -> str:
    return f"  {size:>16,}  {100 * size / max(peak.bytes, 1):5.1f}%  "


def _bound_line(summary: MemorySummary) -> str:
    assert isinstance(summary.peak, PeakBound)
    return f"  for all sizes{' with ' + summary.binding if summary.binding else ''}: {_bound_text(summary.peak)}"


def _bound_text(peak: PeakBound) -> str:
    if peak.cause:
        return f"no bound: {peak.cause}"
    if peak.value is None:
        return f"no bound: specify upper bounds of {', '.join(peak.unbounded)} with --dim"
    reached = ", ".join(f"{name}={size}" for name, size in peak.sizes.items())
    proof = f"{'' if peak.at_most else 'reached '}at {reached}" if peak.tight and reached else peak.engine
    return f"{qualify(exact_bytes(peak.value), peak.at_least, peak.at_most)}, {proof}"


def _roles(memory: Memory) -> dict[str, DimSize]:
    return {
        "weight": memory.weights,
        "input": memory.inputs,
        "output": memory.outputs,
        "activation": memory.activations,
    }


def _total(summary: MemorySummary, total: DimSize) -> str:
    """The bytes of all tensors of a role, whether or not they are in use at one time."""
    if isinstance(total, int):
        return exact_bytes(total)
    try:
        return f"{exact_bytes(int(evaluate(total, summary.sizes)))} of {_shorten(str(total))}"
    except KeyError:
        return f"{_shorten(str(total))} bytes"


def _shorten(formula: str) -> str:
    return formula if len(formula) <= MAX_FORMULA else f"{formula[:MAX_FORMULA]} ... (--json has all of it)"


@attrs.frozen
class TensorBytes:
    """A tensor in use at the peak."""

    name: str
    bytes: int


@attrs.frozen
class UnsizedTensor:
    """A tensor without a size.

    Args:
        name: of the tensor.
        role: what it is for.
        cause: why its size is not known, or has no upper bound.
    """

    name: str
    role: Role
    cause: str


@attrs.frozen
class PeakRecord:
    """A peak of memory.

    Args:
        formula: in the dims of the inputs.
        sizes: those of `--bind`.
        bytes: the peak; None where it has no bound.
        holds_for: what the bytes hold for.
        node: the node at which it is reached; None where there is none.
        op: the operator of the node.
        at_least: tensors without an upper bound are not counted.
        at_most: buffers are counted with upper bounds: their size depends on data, or a run may need less.
        alive: the tensors in use at the peak of these sizes, the largest first; None for all sizes.
    """

    formula: str
    sizes: Mapping[str, int]
    bytes: int | None
    holds_for: Literal["these sizes", "all sizes"]
    node: str | None
    op: str | None
    at_least: bool
    at_most: bool
    alive: tuple[TensorBytes, ...] | None


@json_record("shapeinf.memory.summary/1")
@attrs.frozen
class MemoryReport:
    """The memory of a model: the output of `shapeinf memory --json`. Formulas are texts in the grammar of dims.

    Args:
        model: the path of the model.
        peak: the most bytes of activations and outputs in use at once.
        roles: the bytes of all weights, inputs, outputs and activations.
        bodies: the bytes in bodies of loops and branches.
        unsized: the tensors whose size is not known.
        uncounted: the tensors that the peak does not count.
        total: the peak with all weights and inputs, at these sizes or as a bound over all; None without a bound.
        kv_caches: the caches of keys and values.
        limit: bytes; None without one.
        fits: whether the peak is known to fit into the limit; true without one.
        runtime: what a session of a runtime allocates besides the peak of a first run; None without one.
        arena: what a runtime plans before a model runs; None without one.
    """

    model: str
    peak: PeakRecord
    roles: Mapping[str, str]
    bodies: str
    unsized: tuple[UnsizedTensor, ...]
    uncounted: tuple[Unbounded, ...]
    total: Total | None
    kv_caches: tuple[KvCacheRecord, ...]
    limit: int | None
    fits: bool
    runtime: RuntimeRecord | None
    arena: ArenaRecord | None


def report_memory(model: str, summary: MemorySummary) -> MemoryReport:
    """The summary of a model's memory as plain data."""
    memory = summary.memory
    return MemoryReport(
        model,
        _peak_record(summary),
        {f"{role}s": str(total) for role, total in _roles(memory).items()},
        str(memory.bodies),
        tuple(UnsizedTensor(b.name, b.role, b.cause) for b in memory.unsized),
        tuple(summary.bound.peak.unbounded),
        summary.total,
        summary.kv_caches,
        summary.limit,
        summary.fits,
        runtime_record(memory, summary.run) if isinstance(memory, SessionMemory) else None,
        summary.arena,
    )


def _peak_record(summary: MemorySummary) -> PeakRecord:
    peak, node = summary.peak, summary.peak.point
    return PeakRecord(
        str(summary.memory.peak),
        summary.sizes,
        summary.bytes,
        "these sizes" if isinstance(peak, PeakAt) else "all sizes",
        node.node if node else None,
        node.op if node else None,
        peak.at_least,
        peak.at_most,
        tuple(TensorBytes(b.name, size) for b, size in peak.alive) if isinstance(peak, PeakAt) else None,
    )
