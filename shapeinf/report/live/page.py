"""The live page as text: the static part in HTML, the data as JSON, and the scripts."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from string import Template

import attrs

from shapeinf.cost import Cost
from shapeinf.diagnostics import Diagnostic, Diagnostics
from shapeinf.explain.unknowns import UnknownGroup
from shapeinf.html import escape_html, script_json
from shapeinf.memory.runtimes.planned_arena import PlannedArena
from shapeinf.memory.runtimes.runtime_memory import RuntimeMemory
from shapeinf.report.kv_cache_report import report_kv_caches, tokens_text
from shapeinf.report.live.data import LiveData, LiveSource
from shapeinf.report.live.fields import Field
from shapeinf.report.live.names import MAX_NAME
from shapeinf.report.runtime_report import ArenaRecord, arena_record
from shapeinf.texts import format_bytes, qualify, shorten_text

MAX_ARENA = 1000
"""Limit on the characters of the formulas of an arena."""
SCRIPTS = (
    "program.js",
    "format.js",
    "dom.js",
    "fields.js",
    "memory.js",
    "cost.js",
    "table.js",
    "embedding.js",
    "page.js",
)
"""The scripts that are the same for all models, in their order in the page."""

MAX_ROWS = 300
"""Rows of a static table; the others are counted in one row."""

MAX_MESSAGE = 2000
"""Characters of a message."""

MAX_TERMS = 100
"""Terms of the formula of a total; the others are counted."""


@attrs.frozen
class StaticReport:
    """The part of the page that needs no scripts.

    Args:
        title: the model.
        data: its live part.
        diagnostics: the findings of `check`, or those of the inference.
        unknowns: the unknown sizes by cause.
    """

    title: str
    data: LiveData
    diagnostics: Sequence[Diagnostic]
    unknowns: Sequence[UnknownGroup]


def render_page(report: StaticReport) -> str:
    """The page as text."""
    data, evaluation = report.data.tables()
    script = "\n".join([evaluation, *map(read_asset, SCRIPTS)])
    style = read_style()
    sections = (_requirements(report.data), _diagnostics(report.diagnostics), _unknowns(report.unknowns))
    return Template(read_asset("page.html")).substitute(
        policy=_policy(script, style),
        title=_text(report.title),
        subtitle=_text(_subtitle(report)),
        style=style,
        summary=_summary(report, data["tensors"]["shape"], data["caches"]),
        **_memory_texts(report.data.source),
        cost="\n".join(_cost(report.data.source.result.cost())),
        sections="\n".join("\n".join(section) for section in sections),
        footer="Made by shapeinf. Exact integers; no network.",
        data=script_json(data),
        script=script,
    )


def _memory_texts(source: LiveSource) -> dict[str, str]:
    """The titles of the totals of memory; for a runtime those of the plain tensors, and the arena that it plans."""
    memory = source.memory
    uncounted = "Weights" if "input" in memory.planned else "Weights and inputs"
    texts = {"peak_title": "Peak memory", "runtime_totals": "", "uncounted": uncounted}
    if not isinstance(memory, RuntimeMemory):
        return texts
    totals = [
        '<div><dt>Peak of tensors</dt><dd id="total-tensors"></dd><dd id="exact-tensors" class="soft"></dd></div>'
    ]
    if isinstance(memory, PlannedArena):
        amount, exact = _arena_texts(arena_record(memory, source.sizes), source.sizes)
        exact = _text(exact, MAX_ARENA)
        totals.append(f'<div><dt>Arena in {memory.name}</dt><dd>{amount}</dd><dd class="soft">{exact}</dd></div>')
    return {**texts, "peak_title": f"Peak in {memory.name}", "runtime_totals": "\n".join(totals)}


def _arena_texts(arena: ArenaRecord, sizes: Mapping[str, int]) -> tuple[str, str]:
    """The bytes of an arena, and for which sizes; it does not follow the fields of the page."""
    where = "upper bounds" if arena.at_bounds else ", ".join(f"{name}={size}" for name, size in sizes.items())
    if arena.bytes is not None:
        amount = qualify(format_bytes(arena.bytes), bool(arena.unplaced), False)
        exact = f"{arena.bytes:,} bytes" + (f" at {where}" if where else "")
    elif arena.at_most is not None:
        amount, exact = f"at most {format_bytes(arena.at_most)}", f"{arena.at_most:,} bytes"
    else:
        missing = "upper bounds" if arena.at_bounds else "sizes"
        amount, exact = "no bound", f"specify {missing} of {', '.join(arena.unbounded)}"
    return amount, "; ".join([exact, *map(str, arena.formulas)])


def read_asset(name: str) -> str:
    """A file of the page in this package."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def read_style() -> str:
    """The style of every report."""
    return read_asset("colors.css") + read_asset("page.css")


def _policy(script: str, style: str) -> str:
    """Only this script and this style; nothing from a network."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _text(text: str, limit: int = MAX_NAME) -> str:
    return escape_html(shorten_text(text, limit))


def _subtitle(report: StaticReport) -> str:
    graph = report.data.source.result.graph
    opsets = ", ".join(f"{domain or 'opset'} {version}" for domain, version in graph.opsets.items())
    parts = (graph.dialect.upper(), opsets, graph.name)
    return " · ".join(filter(None, parts))


def _section(title: str, key: str, body: Iterable[str]) -> Iterator[str]:
    yield f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{title}</h2>'
    yield from body
    yield "</section>"


def _table(headers: Sequence[tuple[str, str]], rows: Sequence[str], total: int) -> Iterator[str]:
    """A table of rows that are HTML; headers are texts with a class."""
    cells = "".join(f'<th scope="col" class="{style}">{text}</th>' for text, style in headers)
    yield f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>'
    yield from rows
    if total > len(rows):
        yield f'<tr><td colspan="{len(headers)}" class="soft">and {total - len(rows):,} more</td></tr>'
    yield "</tbody></table></div>"


# -- summary -----------------------------------------------------------------------------------------------------------


def _summary(report: StaticReport, shapes: Sequence[int], caches: Sequence[Sequence[int]]) -> str:
    result = report.data.source.result
    coverage = result.coverage
    counts = Diagnostics(report.diagnostics).counts if report.diagnostics else "none"
    lines = [f"<p>{_text(str(coverage), MAX_MESSAGE)}.</p>", f"<p>Findings: {counts}.</p>"]
    if report.data.own_fields:
        lines.append(f'<p class="soft">Assumed: {_text(result.policy, MAX_MESSAGE)}.</p>')
    lines += [*_inputs_and_outputs(report.data, shapes), *_kv_caches(report.data, caches)]
    return "\n".join(_section("Summary", "summary", lines))


def _inputs_and_outputs(data: LiveData, shapes: Sequence[int]) -> Iterator[str]:
    result = data.source.result
    numbers = dict(zip(result.tensors, shapes, strict=True))
    graph = result.graph
    names = [(name, "input") for name in graph.inputs if name not in graph.constants]
    names += [(name, "output") for name in graph.outputs]
    rows = []
    for name, role in names[:MAX_ROWS]:
        live = f'<td class="now" data-shape="{numbers[name]}"></td>' if name in numbers else "<td></td>"
        type_ = _text(str(result.tensor(name)), MAX_MESSAGE)
        cells = f'<td class="role">{role}</td><td class="name">{_text(name)}</td><td class="formula">{type_}</td>'
        rows.append(f"<tr>{cells}{live}</tr>")
    headers = (("", "role"), ("Name", ""), ("Type", ""), ("At these sizes", ""))
    yield from _table(headers, rows, len(names))


def _kv_caches(data: LiveData, amounts: Sequence[Sequence[int]]) -> Iterator[str]:
    """The caches of keys and values, with amounts at the sizes of the page; nothing for a model without one."""
    caches = report_kv_caches(data.source.memory, data.source.sizes)
    if not caches:
        return
    rows = [
        f'<tr><td class="name">{_text(cache.pairs[0].past)}</td><td class="number">{len(cache.pairs):,}</td>'
        f'<td class="formula">{_text(tokens_text(cache), MAX_MESSAGE)}</td>'
        f'<td class="formula">{_text(cache.bytes_per_token, MAX_MESSAGE)}</td>'
        + "".join(f'<td class="number now" data-amount="{number}"></td>' for number in numbers)
        + "</tr>"
        for cache, numbers in list(zip(caches, amounts, strict=True))[:MAX_ROWS]
    ]
    yield "<h3>Caches of keys and values</h3>"
    headers = (("First input", ""), ("Pairs", "number"), ("Tokens", ""), ("Bytes a token", ""))
    now = (("A token at these sizes", "number"), ("Tokens", "number"), ("All bytes", "number"))
    yield from _table((*headers, *now), rows, len(caches))


# -- cost --------------------------------------------------------------------------------------------------------------


def _cost(cost: Cost) -> Iterator[str]:
    total = cost.total
    amounts = (
        ("Multiply-accumulates", total.macs),
        ("Other operations", total.operations),
        ("Parameters", total.parameters),
        ("Bytes read", total.bytes_read),
        ("Bytes written", total.bytes_written),
    )
    body = ["<details><summary>As formulas of the dims</summary>"]
    formulas = [(name, _text(cost.format(amount, MAX_TERMS), MAX_MESSAGE)) for name, amount in amounts]
    rows = [f'<tr><th scope="row">{name}</th><td class="formula">{text}</td></tr>' for name, text in formulas]
    body += [*_table((("Amount", ""), ("Formula", "")), rows, len(rows)), "</details>", *_uncounted_nodes(cost)]
    yield from _section("Cost", "cost", [read_asset("cost.html"), *body])


def _uncounted_nodes(cost: Cost) -> Iterator[str]:
    """The nodes that no sum counts, by operator and reason."""
    groups = Counter((item.op, item.amount, item.reason) for item in cost.uncounted)
    if not groups:
        return
    yield f"<h3>Not counted: {len(cost.uncounted):,}</h3>"
    rows = [
        f'<tr><td>{_text(op)}</td><td class="number">{count:,}</td><td>{_text(amount or "all")}</td>'
        f"<td>{_text(reason, MAX_MESSAGE)}</td></tr>"
        for (op, amount, reason), count in groups.most_common(MAX_ROWS)
    ]
    headers = (("Operator", ""), ("Nodes", "number"), ("Amount", ""), ("Reason", ""))
    yield from _table(headers, rows, len(groups))


# -- requirements, findings, unknowns ----------------------------------------------------------------------------------


def _requirements(data: LiveData) -> Iterator[str]:
    yield from _section("Requirements", "requirements", [*_legal_sizes(data.own_fields), *_preconditions(data)])


def _legal_sizes(fields: Sequence[Field]) -> Iterator[str]:
    if not fields:
        return
    rows = [
        f'<tr><td class="name">{_text(field.label)}</td><td>{_text(_range_text(field))}</td>'
        f"<td>{_text(field.legal or 'not computed within the budget')}</td></tr>"
        for field in fields[:MAX_ROWS]
    ]
    yield from _table(
        (("Dim", ""), ("Sizes", ""), ("Legal sizes, for some sizes of the others", "")), rows, len(fields)
    )


def _range_text(field: Field) -> str:
    low = field.low if field.least is None else field.least
    text = f"at least {low}" if field.high is None else f"{low} to {field.high}"
    if field.step > 1:
        text += f", multiples of {field.step}" + (f" plus {field.rest}" if field.rest else "")
    return text if field.least is None else f"{text}; this report covers {field.low} and more"


def _preconditions(data: LiveData) -> Iterator[str]:
    preconditions = data.source.result.contract.preconditions
    if not preconditions:
        yield "<p>The graph requires nothing else of the sizes of its inputs.</p>"
        return
    rows = [
        f'<tr><td class="formula">{_text(p.legal)}</td><td class="name">{_text(f"{p.op} {p.node}".strip())}</td>'
        f"<td>{_text(p.message, MAX_MESSAGE)}{_text(f' (where {p.where} runs)') if p.where else ''}</td></tr>"
        for p in preconditions[:MAX_ROWS]
    ]
    yield from _table((("Condition", ""), ("Required by", ""), ("Rule", "")), rows, len(preconditions))


def _diagnostics(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    body: list[str] = []
    if not diagnostics:
        body.append("<p>No errors, warnings or notes.</p>")
    else:
        rows = [_diagnostic(diagnostic) for diagnostic in sorted(diagnostics, key=lambda d: d.weight)[:MAX_ROWS]]
        headers = (("Severity", ""), ("Code", ""), ("Subject", ""), ("Message", ""))
        body += _table(headers, rows, len(diagnostics))
    yield from _section("Findings", "findings", body)


def _diagnostic(diagnostic: Diagnostic) -> str:
    details = [*diagnostic.operands]
    details += [f"because {diagnostic.reason}"] if diagnostic.reason else []
    details += [f"help: {diagnostic.help}"] if diagnostic.help else []
    details += [f"at {diagnostic.location}"] if diagnostic.location else []
    more = "\n".join(_text(line, MAX_MESSAGE) for line in details)
    return (
        f'<tr><td class="{diagnostic.severity}">{diagnostic.severity}</td><td>{_text(diagnostic.code)}</td>'
        f'<td class="name">{_text(f"{diagnostic.op} {diagnostic.subject}".strip())}</td>'
        f"<td>{_text(diagnostic.message, MAX_MESSAGE)}{f'<pre>{more}</pre>' if more else ''}</td></tr>"
    )


def _unknowns(groups: Sequence[UnknownGroup]) -> Iterator[str]:
    if not groups:
        yield from _section("Unknown sizes", "unknowns", ["<p>None: every size is a formula of the inputs' dims.</p>"])
        return
    rows = [
        f'<tr><td class="number">{group.count:,}</td><td>{_text("; ".join(map(str, group.causes)), MAX_MESSAGE)}</td>'
        f'<td class="name">{_text(", ".join(map(str, group.unknowns[:4])), MAX_MESSAGE)}'
        f"{f' and {group.count - 4:,} more' if group.count > 4 else ''}</td></tr>"
        for group in groups[:MAX_ROWS]
    ]
    headers = (("Sizes", "number"), ("Cause", ""), ("Such as", ""))
    yield from _section("Unknown sizes", "unknowns", _table(headers, rows, len(groups)))
