"""JSON of symbols, buffers, peak and plan; `shapeinf/schemas/memory-1.json` is its schema."""

from __future__ import annotations

import json
from typing import Any

from shapeinf.expr import Dim, Dimension, format_dim, quote_name
from shapeinf.memory.exports.memory_export import MemoryExport
from shapeinf.memory.planning import Plan
from shapeinf.memory.timeline import Buffer
from shapeinf.program.requirements import Requirements
from shapeinf.schemas import MEMORY, load_schema

MAX_EXPRESSION = 1_000_000
"""Limit on the characters of an expression."""


def schema() -> dict[str, Any]:
    """The JSON Schema of the result of `as_json`.

    >>> schema()["properties"]["schema"]
    {'const': 'shapeinf.memory/1'}
    """
    return load_schema(MEMORY)


def json_text(subject: MemoryExport) -> str:
    """The JSON text, with a line end."""
    return json.dumps(as_json(subject), indent=1, ensure_ascii=True) + "\n"


def as_json(subject: MemoryExport) -> dict[str, Any]:
    """The export as plain values; an expression is an int, or a text that `parse_dim` reads."""
    peak, plan = subject.peak, subject.plan
    requirements = Requirements(subject.store, {})
    return {
        "schema": MEMORY,
        "model": subject.name,
        "symbols": [
            *(_symbol(subject, symbol, "input") for symbol in subject.dims),
            *(_symbol(subject, symbol, "data") for symbol in subject.data_dependent),
        ],
        "conditions": [*(requirement.text for requirement in requirements.all), *requirements.unreadable],
        "moments": [{"node": point.node, "op": point.op} for point in subject.timeline.points],
        "tensors": [_tensor(subject, buffer) for buffer in subject.timeline.buffers],
        "peak": {
            "terms": [{"bytes": _expression(t.size), "moments": list(t.points)} for t in peak.terms],
            "at_least": peak.at_least,
            "at_most": peak.at_most,
        },
        "unknowns": [
            {"name": buffer.name, "cause": subject.why_unbounded(buffer)}
            for buffer in subject.timeline.buffers
            if subject.upper_bound(buffer) is None
        ],
        "plan": None if plan is None else _plan(plan),
    }


def _plan(plan: Plan) -> dict[str, Any]:
    unplaced = [{"name": tensor.name, "cause": tensor.cause} for tensor in plan.unplaced]
    return {"arena": plan.arena, "alignment": plan.alignment, "unplaced": unplaced}


def _symbol(subject: MemoryExport, symbol: Dimension, role: str) -> dict[str, Any]:
    bounds = subject.store.interval(symbol)
    label = subject.binder.labels[symbol]
    return {"name": quote_name(symbol.name), "label": label, "role": role, "min": bounds.lo, "max": bounds.hi}


def _tensor(subject: MemoryExport, buffer: Buffer) -> dict[str, Any]:
    dims = subject.store.canon_shape(buffer.shape).dims
    size, slot = subject.size(buffer), subject.slots.get(buffer.name)
    return {
        "name": buffer.name,
        "values": list(buffer.values),
        "role": buffer.role,
        "dtype": buffer.dtype,
        "dims": None if dims is None else [_expression(subject.store.canon(d)) for d in dims],
        "layout": None if buffer.layout is None else str(buffer.layout),
        "bytes": None if size is None else _expression(size),
        "birth": buffer.birth,
        "death": buffer.death,
        "offset": None if slot is None else slot.offset,
        "planned_bytes": None if slot is None else slot.size,
    }


def _expression(d: Dim) -> int | str:
    return d if isinstance(d, int) else format_dim(d, longest=MAX_EXPRESSION)
