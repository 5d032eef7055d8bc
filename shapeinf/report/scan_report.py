"""The report of a scan of many models: records, text, JSON and one HTML page without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files

import attrs

from shapeinf.diagnostics import code_title
from shapeinf.html import escape_html, html_table
from shapeinf.report.table import Column, table_lines
from shapeinf.schemas import json_record
from shapeinf.texts import exact_count, format_bytes, format_count


@attrs.frozen
class ModelRecord:
    """A model in a list of `ScanReport.most`; `amount` is its value there."""

    path: str
    format: str
    nodes: int
    amount: float


@attrs.frozen
class ProblemRecord:
    """A path without a result."""

    path: str
    outcome: str
    message: str


@attrs.frozen
class DiagnosticRecord:
    """The diagnostics of one code: their number, the number of models that have them, and the first of these models."""

    code: str
    severity: str
    count: int
    models: int
    example: str


@attrs.frozen
class OperatorRecord:
    """An operator without a rule: the number of its nodes and of the models that have it, and the first of these."""

    op: str
    domain: str
    nodes: int
    models: int
    example: str


@json_record("shapeinf.scan/1", add=("paths",))
@attrs.frozen(kw_only=True)
class ScanReport:
    """The contents of the dataset of a scan: the output of `shapeinf scan report --json`.

    Args:
        dataset: its folder.
        folder: the folder of all scanned paths; empty where they have none in common.
        outcomes: the number of paths by outcome.
        formats: the number of models by format.
        nodes: the number of nodes of all models.
        tensors: the number of their values.
        known: the number of values of which every dim is known.
        seconds: the sum of the times of all models.
        problems: paths without a result.
        most: the models with the most "seconds", "size", "parameters", "macs" and "peak_bytes".
        diagnostics: the diagnostics of all models by code, those of the most models first.
        operators_without_rule: the operators without a rule, those of the most models first.
    """

    dataset: str
    folder: str
    outcomes: Mapping[str, int]
    formats: Mapping[str, int]
    nodes: int
    tensors: int
    known: int
    seconds: float
    problems: Sequence[ProblemRecord]
    most: Mapping[str, Sequence[ModelRecord]]
    diagnostics: list[DiagnosticRecord] = attrs.Factory(list)
    operators_without_rule: list[OperatorRecord] = attrs.Factory(list)

    @property
    def paths(self) -> int:
        """The number of scanned paths."""
        return sum(self.outcomes.values())

    def short_path(self, path: str) -> str:
        """A path without the folder of all paths."""
        return path.removeprefix(f"{self.folder}/") if self.folder else path


_MOST: Mapping[str, tuple[str, str, Callable[[float], str]]] = {
    "seconds": ("Slowest", "seconds", lambda amount: f"{amount:.2f}"),
    "size": ("Largest files", "size", lambda amount: format_bytes(int(amount))),
    "parameters": ("Most parameters", "parameters", lambda amount: exact_count(int(amount))),
    "macs": ("Most multiply-accumulates", "MACs", lambda amount: exact_count(int(amount))),
    "peak_bytes": ("Highest peak of memory", "peak", lambda amount: format_bytes(int(amount))),
}
"""Title, heading of the column and format of each list of `ScanReport.most`."""


@attrs.frozen
class _Table:
    """A table of the report: its title, headings and rows; the last heading is that of the text of variable length."""

    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def _tables(report: ScanReport) -> Iterator[_Table]:
    """All tables that are not empty."""
    short = report.short_path
    tables = [
        _Table("Outcomes", ("outcome", "paths"), [(name, f"{n:,}") for name, n in report.outcomes.items()]),
        _Table("Formats", ("format", "models"), [(name, f"{n:,}") for name, n in report.formats.items()]),
        _Table(
            "Paths without a result",
            ("outcome", "path", "message"),
            [(p.outcome, short(p.path), p.message.partition("\n")[0]) for p in report.problems],
        ),
        _Table(
            "Findings",
            ("code", "severity", "models", "count", "title", "for example"),
            [
                (f.code, f.severity, f"{f.models:,}", f"{f.count:,}", code_title(f.code), short(f.example))
                for f in report.diagnostics
            ],
        ),
        _Table(
            "Operators without a rule",
            ("operator", "models", "nodes", "for example"),
            [
                (f"{o.domain}.{o.op}" if o.domain else o.op, f"{o.models:,}", f"{o.nodes:,}", short(o.example))
                for o in report.operators_without_rule
            ],
        ),
    ]
    for name, (title, heading, as_text) in _MOST.items():
        rows = [(as_text(m.amount), f"{m.nodes:,}", m.format, short(m.path)) for m in report.most[name]]
        tables.append(_Table(title, (heading, "nodes", "format", "path"), rows))
    return (table for table in tables if table.rows)


def _headline(report: ScanReport) -> str:
    share = f", {report.known / report.tensors:.1%} of them fully known" if report.tensors else ""
    return (
        f"{format_count(report.paths, 'path')}, {report.nodes:,} nodes, {report.tensors:,} tensors{share}; "
        f"{report.seconds:,.1f} s one after the other"
    )


def scan_report_lines(report: ScanReport, width: int | None = None) -> Iterator[str]:
    """The report as lines of text."""
    yield _headline(report)
    if report.folder:
        yield f"paths are below {report.folder}"
    for table in _tables(report):
        yield ""
        yield table.title
        columns = [Column(heading) for heading in table.headings]
        yield from table_lines(columns, table.rows, width=width)


def scan_report_html(report: ScanReport) -> str:
    """The report as one page, for light and dark screens and for paper; all text is escaped."""
    style = files("shapeinf.report").joinpath("scan_report.css").read_text(encoding="utf-8")
    folder = f"<p>Paths are below <code>{escape_html(report.folder)}</code>.</p>" if report.folder else ""
    body = "".join(
        f"<section><h2>{escape_html(table.title)}</h2>"
        f'<div class="scroll">{html_table(table.headings, table.rows)}</div></section>'
        for table in _tables(report)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Scan of {report.paths:,} models</title><style>{style}</style></head><body>"
        f"<h1>Scan of {report.paths:,} models</h1><p>{escape_html(_headline(report))}</p>{folder}{body}</body></html>\n"
    )
