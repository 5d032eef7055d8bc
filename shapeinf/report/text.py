"""Reports as text for a terminal: the table of tensors, and lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from shapeinf.diagnostics import Diagnostic, Diagnostics
from shapeinf.report.table import Column
from shapeinf.texts import escape_unprintable, format_count, shell_word

if TYPE_CHECKING:
    from shapeinf.checks import ModelCheck
    from shapeinf.explain.unknowns import UnknownGroup
    from shapeinf.report.model import ModelReport, NamedDimRecord, TensorRecord

MAX_ITEMS = 8
"""Limit on the listed items of a sequence; for a longer one, the shape of all items."""
MAX_UNKNOWNS = 8
"""Limit on the listed unknowns of one cause; the others are counted."""

MARGIN = 10
"""The columns of the headings of lines below a table."""
_VALUE = Column("value", 16, turn=3)


def tensor_columns(values: bool = False) -> tuple[Column, ...]:
    """The columns of a tensor: name, element type, shape, its range where dims are bounded, contents, and operator."""
    return (
        Column("tensor", 16),
        Column("type"),
        Column("shape", 16, turn=1, wraps=True),
        Column("range", optional=True),
        *([_VALUE] if values else []),
        Column("producer", 8, turn=2),
    )


def tensor_cells(tensors: Iterable[TensorRecord], values: bool = False) -> Iterator[tuple[str, ...]]:
    """The cells of `tensor_columns` of each tensor; a sequence has a further row for each item."""
    for tensor in tensors:
        producer = f"{tensor.producer or 'constant'}{', output' if tensor.output else ''}"
        first, *items = [tensor.shape_text] if tensor.kind == "tensor" else _shape_lines(tensor)
        value = (tensor.value_text,) if values else ()
        yield tensor.name, tensor.dtype or "?", first, tensor.bounds_text, *value, producer
        yield from (("", "", item, "", *("" for _ in value), "") for item in items)


def _shape_lines(tensor: TensorRecord) -> list[str]:
    """The type of a sequence: a line for each item, or one for all where the items are not known one by one."""
    if tensor.items is not None and len(tensor.items) <= MAX_ITEMS:
        return [f"{tensor.kind} of", *tensor.items] if tensor.items else [f"empty {tensor.kind}"]
    return [f"{tensor.kind} of {tensor.shape_text}"]


def summary_lines(report: ModelReport) -> Iterator[str]:
    """The lines below the table: dims, contract, guards (its conditions on data and branches), policy, coverage."""
    if report.dims:
        yield f"{'dims':{MARGIN}}{dims_text(report.dims)}"
    yield from _section("contract", [p.line for p in report.preconditions if p.kind != "guard"])
    yield from _section("guards", _guard_lines(report))
    yield f"{'policy':{MARGIN}}{report.policy}"
    yield f"{'coverage':{MARGIN}}{report.coverage}"


def _guard_lines(report: ModelReport) -> Iterator[str]:
    """The first guard of each rule of each node, and the number of the others: an index of many elements has many."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for guard in report.preconditions:
        if guard.kind == "guard":
            groups.setdefault((guard.node, guard.message, guard.where), []).append(guard.line)
    for first, *others in groups.values():
        yield f"{first} (and {len(others)} more)" if others else first


def _section(heading: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{'' if number else heading:{MARGIN}}{line}"


def dims_text(dims: Iterable[NamedDimRecord]) -> str:
    """Named dims with their bounds: `batch 1.., H 1..512 (a multiple of 32); formulas hold for H 32..512`."""
    listed = list(dims)
    text = ", ".join(f"{dim.name} {dim.bounds}{_congruence(dim)}" for dim in listed)
    assumed = ", ".join(f"{dim.name} {dim.assumed}" for dim in listed if dim.assumed is not None)
    return f"{text}; formulas hold for {assumed}" if assumed else text


def _congruence(dim: NamedDimRecord) -> str:
    if dim.modulus == 1:
        return ""
    return f" ({dim.remainder} modulo {dim.modulus})" if dim.remainder else f" (a multiple of {dim.modulus})"


def unknown_lines(groups: Sequence[UnknownGroup]) -> Iterator[str]:
    """Each group of unknowns: its causes, then the first of them."""
    if not groups:
        yield "nothing is unknown"
    for group in groups:
        yield str(group)
        names = [str(unknown) for unknown in group.unknowns[:MAX_UNKNOWNS]]
        more = f" and {group.count - MAX_UNKNOWNS} more" if group.count > MAX_UNKNOWNS else ""
        yield f"  {', '.join(names)}{more}"
        if group.inputs:
            yield f"  {value_hint(group.inputs)}"


def value_hint(inputs: Sequence[str]) -> str:
    """How to make known what the values of inputs decide.

    >>> value_hint(["sr"])
    'sr decides it: try --value sr=...'
    """
    options = " ".join(f"--value {shell_word(f'{name}=...')}" for name in inputs)
    return f"{' and '.join(inputs)} decide{'' if inputs[1:] else 's'} it: try {options}"


def severity_counts(diagnostics: Iterable[Diagnostic]) -> str:
    """The number of diagnostics by severity: `1 error, 2 warnings`.

    >>> severity_counts([])
    'no diagnostics'
    """
    return Diagnostics(diagnostics).counts


def check_total(checks: Sequence[ModelCheck], *, single: bool = False) -> str:
    """The last line of a report in text: the diagnostics of the only check, else the total of all."""
    if not single:
        return count_checks(checks)
    (check,) = checks
    known = f" ({len(check.known)} of the baseline not shown)" if check.known else ""
    return severity_counts(check.diagnostics) + known


def check_lines(check: ModelCheck, single: bool = False) -> list[str]:
    """The diagnostics of a model as text; unless it is the only one, under its path."""
    if not check.diagnostics:
        return []
    heading = [] if single else [escape_unprintable(f"{check.path}: {severity_counts(check.diagnostics)}")]
    return [*heading, *(f"{diagnostic.render()}\n" for diagnostic in check.diagnostics)]


def count_checks(checks: Sequence[ModelCheck]) -> str:
    """The total of several checks.

    >>> from shapeinf.checks import ModelCheck
    >>> count_checks([ModelCheck("a.onnx"), ModelCheck("b.onnx", checked=False)])
    '2 models checked: 1 without findings, 1 cannot be checked'
    >>> count_checks([ModelCheck("a.onnx", diagnostics=(Diagnostic("note", "C140", "has no upper bound"),))])
    '1 model checked: 1 without findings, 1 note'
    """
    failing = [check for check in checks if check.checked and check.fails]
    unchecked = sum(not check.checked for check in checks)
    known = sum(len(check.known) for check in checks)
    parts = [f"{len(checks) - len(failing) - unchecked} without findings"]
    if failing:
        counts = severity_counts([d for check in failing for d in check.diagnostics if d.fails])
        parts.append(f"{len(failing)} with findings ({counts})")
    if unchecked:
        parts.append(f"{unchecked} cannot be checked")
    if known:
        parts.append(f"{format_count(known, 'finding')} of the baseline not shown")
    notes = sum(not diagnostic.fails for check in checks for diagnostic in check.diagnostics)
    if notes:
        parts.append(format_count(notes, "note"))
    return f"{format_count(len(checks), 'model')} checked: {', '.join(parts)}"
