"""Reports of memory: the peak of a model at the user's sizes, plans, and checks of plans; as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import LimitError, MissingSizeError
from shapeinf.expr import DimSize, evaluate
from shapeinf.memory import Memory, Role
from shapeinf.memory.peak import PeakAt, PeakBound, Unbounded
from shapeinf.memory.planning import Plan, Slot
from shapeinf.memory.planning.verification import UNBOUNDED
from shapeinf.pickling import versioned_pickle
from shapeinf.report.memory_view import MemoryView, PlannedSlot, view_of_memory
from shapeinf.report.model import named_dims
from shapeinf.report.text import dims_text
from shapeinf.result import Result
from shapeinf.schemas import json_record
from shapeinf.solver.budget import cut_text
from shapeinf.texts import exact_bytes, format_bytes, format_count, qualify

MAX_UNCOUNTED = 4
"""Limit on the listed tensors without a size of one cause; the JSON has all."""
MAX_PROBLEMS = 10
"""Limit on the listed problems of a plan of one code; the JSON has all."""
MAX_FORMULA = 400
"""Characters of a symbolic peak in the text; the JSON has all of it."""


@json_record(add=("bytes",))
@attrs.frozen
class Total:
    """The memory of a run in bytes: the peak, with all weights and inputs in memory."""

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
    """

    memory: Memory
    bound: Memory
    sizes: dict[str, int]
    peak: PeakAt | PeakBound
    limit: int | None

    @property
    def bytes(self) -> int | None:
        """The peak, or its bound; None where there is none."""
        return self.peak.bytes if isinstance(self.peak, PeakAt) else self.peak.value

    @property
    def total(self) -> Total | None:
        """The peak with weights and inputs, at the user's sizes or as a bound over all; None where there is none."""
        peak = self.bytes
        weights, inputs = self._upper_bound("weight", self.bound.weights), self._upper_bound("input", self.bound.inputs)
        if peak is None or weights is None or inputs is None:
            return None
        unsized = any(buffer.role in ("weight", "input") for buffer in self.bound.unsized)
        at_most = isinstance(self.peak, PeakBound) or self.peak.at_most
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
    try:
        peak: PeakAt | PeakBound = memory.peak.at(sizes)
        if memory.peak.exact or not sizes:
            return MemorySummary(memory, memory, sizes, peak, limit)
    except MissingSizeError:
        if not sizes:
            return MemorySummary(memory, memory, sizes, memory.peak.over(), limit)
    bound = infer_bound()
    try:
        peak = bound.peak.at()
    except MissingSizeError:
        peak = bound.peak.over()
    return MemorySummary(memory, bound, sizes, peak, limit)


def view_of_summary(summary: MemorySummary, title: str, slots: Iterable[PlannedSlot] = ()) -> MemoryView:
    """The view of the memory at the user's sizes, for pictures. Raises MissingSizeError where some are missing."""
    sizes = {} if summary.bound is not summary.memory else summary.sizes
    return attrs.evolve(view_of_memory(summary.bound, sizes, title, slots), sizes=summary.binding)


def memory_lines(summary: MemorySummary, top: int) -> Iterator[str]:
    """The peak with the `top` largest tensors in use at it, the totals by role, and the limit."""
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
    total = summary.total
    if total is not None:
        yield f"total        {qualify(exact_bytes(total.bytes), total.at_least, total.at_most)}: {_parts(total)}"
    yield from _uncounted_lines(summary)
    if summary.limit is not None:
        verdict = "fits" if summary.fits else "is not known to fit" if summary.peak.at_least else "does not fit"
        yield f"limit        {exact_bytes(summary.limit)}: the peak {verdict}"


def _peak_at_lines(summary: MemorySummary, peak: PeakAt, top: int) -> Iterator[str]:
    size = qualify(exact_bytes(peak.bytes), peak.at_least, peak.at_most)
    node = f" at {peak.point.op} '{peak.point.node}' (#{peak.index})" if peak.point else ""
    yield f"  {summary.binding or 'always'}: {size}{node}"
    uncounted = {buffer.name for buffer in summary.bound.peak.unbounded}
    for buffer, count in peak.alive[:top]:
        least = " (at least)" if buffer.name in uncounted else ""
        yield f"{_share(count, peak)}{buffer.name}: {buffer.dtype or '?'}{buffer.shape}{least}"
    if len(peak.alive) > top:
        yield f"{_share(sum(size for _, size in peak.alive[top:]), peak)}{len(peak.alive) - top} more"


def _parts(total: Total) -> str:
    """What the total is the sum of, and how much of it is weights."""
    share = 100 * total.weights / max(total.bytes, 1)
    parts = f"peak {format_bytes(total.peak)}, weights {format_bytes(total.weights)} ({share:.1f}%)"
    return f"{parts}, inputs {format_bytes(total.inputs)}"


def _uncounted_lines(summary: MemorySummary) -> Iterator[str]:
    """The tensors without a size, a line for all of one cause."""
    groups: dict[str, list[str]] = {}
    for buffer in summary.bound.peak.unbounded:
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
    proof = f"reached at {reached}" if peak.tight and reached else peak.engine
    return f"{qualify(exact_bytes(peak.value), peak.at_least, False)}, {proof}"


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
        at_most: sizes that depend on data have their upper bounds.
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
        limit: bytes; None without one.
        fits: whether the peak is known to fit into the limit; true without one.
    """

    model: str
    peak: PeakRecord
    roles: Mapping[str, str]
    bodies: str
    unsized: tuple[UnsizedTensor, ...]
    uncounted: tuple[Unbounded, ...]
    total: Total | None
    limit: int | None
    fits: bool


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
        summary.limit,
        summary.fits,
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


def plan_lines(plan: Plan, result: Result, memory: Memory, top: int) -> Iterator[str]:
    """The arena, its `top` largest slots from its bottom to its top, and the sizes for which the plan is valid."""
    yield (
        f"arena {exact_bytes(plan.arena)} for {format_count(len(plan.slots), 'tensor')} by {plan.planner}, "
        f"offsets are multiples of {plan.alignment}; no plan needs less than {exact_bytes(plan.problem.least_arena)}"
    )
    dims = dims_text(named_dims(result))
    if dims:
        yield f"valid for {dims}"
    if plan.slots:
        yield from _slot_table(sorted(plan.slots, key=lambda slot: -slot.size)[:top])
    if len(plan.slots) > top:
        yield f"  {len(plan.slots) - top:,} smaller slots (--top)"
    if plan.cut:
        yield f"upper bounds of sizes, and so the arena, may be too large: {cut_text('--work')}"
    for tensor in plan.unplaced[:top]:
        yield f"unplaced {tensor.name}: {tensor.cause}"
    if len(plan.unplaced) > top:
        yield f"unplaced {format_count(len(plan.unplaced) - top, 'more tensor')} (--top)"
    if plan.unplaced:
        yield from _unbounded_lines(memory)


def _slot_table(slots: Iterable[Slot]) -> Iterator[str]:
    rows = [("offset", "bytes", "points", "tensor")]
    for slot in sorted(slots, key=lambda slot: (slot.offset, slot.lower)):
        rows.append((str(slot.offset), str(slot.size), f"{slot.lower}..{slot.upper - 1}", slot.name))
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    for row in rows:
        yield "  ".join([*(row[k].rjust(widths[k]) for k in range(3)), row[3]])


def _unbounded_lines(memory: Memory) -> Iterator[str]:
    """How to bound the dims without an upper bound; nothing where too many formulas would have to be bounded."""
    try:
        unbounded = memory.peak.over().unbounded
    except LimitError:
        return
    if unbounded:
        yield f"--bind sets sizes and --dim upper bounds for {', '.join(unbounded)}"


def plan_check_lines(plan: Plan, diagnostics: Sequence[Diagnostic], memory: Memory) -> Iterator[str]:
    """The problems of a plan, the first of each code, or that it is valid."""
    by_code: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        by_code.setdefault(diagnostic.code, []).append(diagnostic)
    for code, group in by_code.items():
        yield from (line for diagnostic in group[:MAX_PROBLEMS] for line in diagnostic.render().splitlines())
        if len(group) > MAX_PROBLEMS:
            yield f"and {len(group) - MAX_PROBLEMS} more of {code} (--json has all)"
    if UNBOUNDED in by_code:
        yield from _unbounded_lines(memory)
    if not diagnostics:
        yield f"valid: {format_count(len(plan.slots), 'slot')}, an arena of {exact_bytes(plan.arena)}"


@json_record("shapeinf.plan.verify/1")
@attrs.frozen
class PlanCheck:
    """The check of a plan: the output of `shapeinf plan verify --json`.

    Args:
        plan: the path of the plan.
        model: the path of the model.
        diagnostics: the violations; that of an overlap has the other tensor in its operands.
    """

    plan: str
    model: str
    diagnostics: tuple[Diagnostic, ...]
