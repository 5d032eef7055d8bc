"""Summaries of models as text for a terminal: a screen for each, or a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from shapeinf.diagnostics import SEVERITIES
from shapeinf.report.formula_text import formula_lines
from shapeinf.report.kv_cache_report import kv_cache_lines
from shapeinf.report.model import TensorRecord
from shapeinf.report.summary import Amount, Summary, UnknownCount
from shapeinf.report.table import Column
from shapeinf.report.text import dims_text, value_hint
from shapeinf.texts import (
    AT_LEAST,
    AT_MOST,
    BOUNDS,
    PARTLY,
    exact_bytes,
    exact_count,
    format_bytes,
    format_count,
    shorten_end,
    shorten_text,
)

MAX_ROWS = 6
"""Limit on the listed inputs, outputs, preconditions and causes; the others are counted."""
MAX_OPERATORS = 10
MAX_NAME = 60
MAX_FORMULA = 160
"""Characters of a formula; the JSON has all."""
MARGIN = 12
"""The columns of the headings."""


def summary_as_lines(summary: Summary) -> Iterator[str]:
    """The summary on one screen."""
    for heading, lines in _sections(summary):
        for number, line in enumerate(lines):
            yield f"{'' if number else heading:{MARGIN}}{line}"


def _sections(summary: Summary) -> Iterator[tuple[str, list[str]]]:
    """The headings with their lines; a heading without lines is omitted."""
    yield "format", [_format_line(summary)]
    yield "producer", [summary.producer] if summary.producer else []
    yield "inputs", _limit([_tensor_line(tensor) for tensor in summary.inputs]) or ["none"]
    yield "outputs", _limit([_tensor_line(tensor) for tensor in summary.outputs]) or ["none"]
    yield "dims", [dims_text(summary.dims)] if summary.dims else []
    yield "contract", _contract_lines(summary)
    yield "operators", [_operator_line(summary)]
    yield "parameters", [_parameter_line(summary)]
    yield "MACs", _amount_lines(summary, summary.macs, exact_count)
    yield "", [_uncounted_line(summary.uncounted)] if summary.uncounted else []
    yield "peak", _amount_lines(summary, summary.peak_bytes, exact_bytes, " bytes")
    for cache in summary.kv_caches:
        yield "kv cache", list(kv_cache_lines(cache))
    yield "unknown", _unknown_lines(summary)
    yield "diagnostics", [_diagnostics_line(summary.diagnostics)]


def _limit(lines: Sequence[str]) -> list[str]:
    """The first lines, and the number of the others."""
    if len(lines) <= MAX_ROWS + 1:
        return list(lines)
    return [*lines[:MAX_ROWS], f"... and {len(lines) - MAX_ROWS} more"]


def _format_line(summary: Summary) -> str:
    opsets = [f"{domain} {version}" if domain else f"opset {version}" for domain, version in summary.opsets.items()]
    return ", ".join(filter(None, [summary.format, summary.file_version, *opsets]))


def _tensor_line(tensor: TensorRecord) -> str:
    shape = shorten_end(f"{tensor.dtype or '?'}{tensor.shape_text}", MAX_FORMULA)
    return f"{shorten_text(tensor.name, MAX_NAME)}: {shape if tensor.kind == 'tensor' else f'{tensor.kind} of {shape}'}"


def _contract_lines(summary: Summary) -> list[str]:
    legal = [f"legal: {text}" for text in summary.legal_sizes.values()]
    lines = [record.line for record in summary.preconditions if record.kind != "guard"]
    guards = len(summary.preconditions) - len(lines)
    data = [f"{format_count(guards, 'condition')} on data or branches: shapeinf infer lists them"] if guards else []
    return [*_limit(lines), *legal, *data] or ["no preconditions on the inputs"]


def _operator_line(summary: Summary) -> str:
    nodes = format_count(summary.nodes, "node")
    inner = f" and {summary.inner_nodes:,} in bodies" if summary.inner_nodes else ""
    listed = ", ".join(map(str, summary.operators[:MAX_OPERATORS]))
    more = len(summary.operators) - MAX_OPERATORS
    return f"{nodes}{inner}: {listed or 'none'}" + (f", {format_count(more, 'other operator')}" if more > 0 else "")


def _parameter_line(summary: Summary) -> str:
    return f"{_amount_text(summary.parameters, exact_count)}, weights {_amount_text(summary.weight_bytes, exact_bytes)}"


def _amount_text(amount: Amount, display: Callable[[int], str]) -> str:
    """The number, else the formula."""
    text = shorten_end(amount.formula, MAX_FORMULA) if amount.value is None else display(amount.value)
    return f"{amount.note} {text}" if amount.note in BOUNDS else text


def _amount_lines(summary: Summary, amount: Amount, display: Callable[[int], str], unit: str = "") -> list[str]:
    """The formula, and the number at the sizes of the summary; one line where it is a number at all sizes."""
    if not amount.formula:
        return [amount.note]
    formula = formula_lines(amount.formula, MAX_FORMULA, unit)
    if amount.value is None:
        return [*formula, *([f"  {amount.note}"] if summary.sizes else [])]
    number = _amount_text(amount, display)
    if amount.formula.isdigit():
        return [number]
    sizes = ", ".join(f"{name}={size}" for name, size in summary.sizes.items())
    return [*formula, f"  {sizes or 'always'}: {number}"]


def _uncounted_line(uncounted: Mapping[str, int]) -> str:
    listed = ", ".join(f"{count} {op}" for op, count in list(uncounted.items())[:MAX_OPERATORS])
    more = len(uncounted) - MAX_OPERATORS
    return f"not counted: {listed}" + (f" and {format_count(more, 'other operator')}" if more > 0 else "")


def _unknown_lines(summary: Summary) -> list[str]:
    return _limit(list(map(_unknown_line, summary.unknowns))) or ["nothing"]


def _unknown_line(group: UnknownCount) -> str:
    hint = f"; {value_hint(group.inputs)}" if group.inputs else ""
    return f"{group.count} because of {'; and of '.join(group.causes)}{hint}"


def _diagnostics_line(counts: Mapping[str, int]) -> str:
    listed = ", ".join(format_count(counts[name], name) for name in SEVERITIES if counts.get(name))
    return f"{listed}: shapeinf infer prints them" if listed else "none"


SUMMARY_COLUMNS = (
    Column("model", 20),
    *map(Column, ("format", "nodes", "parameters", "weights")),
    *map(Column, ("MACs", "peak", "unknown", "errors", "warnings")),
)
"""The table of several models."""


def summary_cells(model: str, summary: Summary) -> list[str]:
    """The row of a model."""
    return [model, *_cells(summary)]


def _cells(summary: Summary) -> Iterator[str]:
    yield summary.format
    yield f"{summary.nodes:,}"
    yield _cell(summary.parameters, "{:,}".format)
    yield _cell(summary.weight_bytes, format_bytes)
    yield _cell(summary.macs, "{:,}".format)
    yield _cell(summary.peak_bytes, format_bytes)
    yield str(sum(group.count for group in summary.unknowns))
    yield str(summary.diagnostics.get("error", 0))
    yield str(summary.diagnostics.get("warning", 0))


def _cell(amount: Amount, display: Callable[[int], str]) -> str:
    """A number, with a mark where it is a bound; "symbolic" where it is a formula."""
    if amount.value is None:
        return "symbolic" if amount.formula else "?"
    return {AT_LEAST: ">= ", AT_MOST: "<= ", PARTLY: "~ "}.get(amount.note, "") + display(amount.value)
