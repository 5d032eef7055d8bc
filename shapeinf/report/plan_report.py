"""Reports of plans and of their checks, as text and as records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import LimitError
from shapeinf.memory import Memory
from shapeinf.memory.planning import Plan, Slot
from shapeinf.memory.planning.verification import UNBOUNDED
from shapeinf.report.model import named_dims
from shapeinf.report.text import dims_text
from shapeinf.result import Result
from shapeinf.schemas import json_record
from shapeinf.solver.budget import cut_text
from shapeinf.texts import exact_bytes, format_count

MAX_PROBLEMS = 10
"""Limit on the listed problems of a plan of one code; the JSON has all."""


def plan_lines(plan: Plan, result: Result, memory: Memory, top: int) -> Iterator[str]:
    """The arena, its `top` largest slots from its bottom to its top, and the sizes for which the plan is valid."""
    tensors = format_count(len(plan.slots), "tensor")
    yield (
        f"arena {exact_bytes(plan.arena)} for {tensors} with the planner {plan.planner}; "
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
