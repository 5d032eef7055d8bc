"""JSON of symbols, buffers, peak and plan."""

from __future__ import annotations

import json
from typing import Literal

import attrs

from shapeinf.expr import Dimension, DimSize, format_dim, quote_name
from shapeinf.memory.exports.memory_export import MemoryExport
from shapeinf.memory.peak import Unbounded
from shapeinf.memory.planning import Unplaced
from shapeinf.memory.timeline import Buffer, ProgramPoint, Role
from shapeinf.program.requirements import Requirements
from shapeinf.schemas import json_record, to_json

MAX_EXPRESSION = 1_000_000
"""Limit on the characters of an expression."""


@attrs.frozen
class SymbolRecord:
    """A symbol of the expressions.

    Args:
        name: as in expressions.
        label: as users write it: an axis without a name is `input.shape[axis]`.
        role: "data" for a size that depends on values, not on the sizes of inputs.
        min, max: its bounds; None where there is none.
    """

    name: str
    label: str
    role: Literal["input", "data"]
    min: int | None
    max: int | None


@attrs.frozen
class BufferRecord:
    """A buffer, which is in use at the program points `birth <= t < death`.

    Args:
        name: the first value in it.
        values: all values that it holds.
        role: what it is for.
        dtype: the element type; None where it is unknown.
        dims: the shape; None where the rank is unknown.
        layout: the layout that the bytes count, as in XLA; None without one.
        bytes: None where they are not known.
        birth: the program point of its producer.
        death: the program point after its last consumer.
        offset: in the arena of the plan; None without a slot.
        planned_bytes: the size of the slot.
    """

    name: str
    values: tuple[str, ...]
    role: Role
    dtype: str | None
    dims: tuple[int | str, ...] | None
    layout: str | None
    bytes: int | str | None
    birth: int
    death: int
    offset: int | None
    planned_bytes: int | None


@attrs.frozen
class TermRecord:
    """The bytes in use at some program points, which can be the peak."""

    bytes: int | str
    program_points: tuple[int, ...]


@attrs.frozen
class PeakRecord:
    """The peak.

    Args:
        terms: the peak is the largest of them, 0 for none.
        at_least: tensors without an upper bound are not counted.
        at_most: buffers are counted with upper bounds: their size depends on data, or a run may need less.
    """

    terms: tuple[TermRecord, ...]
    at_least: bool
    at_most: bool


@attrs.frozen
class ArenaRecord:
    """The arena of the plan; the buffers have their offsets."""

    arena: int
    alignment: int
    unplaced: tuple[Unplaced, ...]


@json_record("shapeinf.memory/1")
@attrs.frozen
class MemoryDocument:
    """The memory of a model, as `shapeinf memory --export OUT.json` writes it.

    Args:
        model: its name.
        symbols: those of the expressions. An expression is a number, or a text with + - * // % max min and names; odd
            names are in backquotes.
        requirements: the conditions on the symbols, as texts.
        program_points: the nodes in the order in which they run; others refer to them by their numbers.
        tensors: the buffers.
        peak: the most bytes in use at once.
        unknowns: the buffers that have no upper bound.
        plan: None without a plan.
    """

    model: str
    symbols: tuple[SymbolRecord, ...]
    requirements: tuple[str, ...]
    program_points: tuple[ProgramPoint, ...]
    tensors: tuple[BufferRecord, ...]
    peak: PeakRecord
    unknowns: tuple[Unbounded, ...]
    plan: ArenaRecord | None


def json_text(subject: MemoryExport) -> str:
    """The JSON text, with a line end."""
    return json.dumps(to_json(memory_document(subject)), indent=1, ensure_ascii=True) + "\n"


def memory_document(subject: MemoryExport) -> MemoryDocument:
    """The export as plain values; an expression is an int, or a text that `parse_dim` reads."""
    peak, plan, buffers = subject.peak, subject.plan, subject.timeline.buffers
    requirements = Requirements(subject.store, {})
    return MemoryDocument(
        subject.name,
        (
            *(_symbol(subject, symbol, "input") for symbol in subject.dims),
            *(_symbol(subject, symbol, "data") for symbol in subject.data_dependent),
        ),
        (*(requirement.text for requirement in requirements.all), *requirements.unreadable),
        subject.timeline.points,
        tuple(_buffer(subject, buffer) for buffer in buffers),
        PeakRecord(
            tuple(TermRecord(_expression(term.size), tuple(term.points)) for term in peak.terms),
            peak.at_least,
            peak.at_most,
        ),
        tuple(Unbounded(b.name, subject.why_unbounded(b)) for b in buffers if subject.upper_bound(b) is None),
        None if plan is None else ArenaRecord(plan.arena, plan.alignment, plan.unplaced),
    )


def _symbol(subject: MemoryExport, symbol: Dimension, role: Literal["input", "data"]) -> SymbolRecord:
    bounds = subject.store.interval(symbol)
    return SymbolRecord(quote_name(symbol.name), subject.binder.labels[symbol], role, bounds.lo, bounds.hi)


def _buffer(subject: MemoryExport, buffer: Buffer) -> BufferRecord:
    dims = subject.store.canon_shape(buffer.shape).dims
    size, slot = subject.size(buffer), subject.slots.get(buffer.name)
    return BufferRecord(
        buffer.name,
        buffer.values,
        buffer.role,
        buffer.dtype,
        None if dims is None else tuple(_expression(subject.store.canon(d)) for d in dims),
        None if buffer.layout is None else str(buffer.layout),
        None if size is None else _expression(size),
        buffer.birth,
        buffer.death,
        None if slot is None else slot.offset,
        None if slot is None else slot.size,
    )


def _expression(d: DimSize) -> int | str:
    return d if isinstance(d, int) else format_dim(d, longest=MAX_EXPRESSION)
