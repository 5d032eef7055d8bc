"""Findings for those who read them: JSON for programs, a table for a pull request, lines for GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from shapeinf.checks import Finding, title_of
from shapeinf.texts import escape_unprintable

SCHEMA = "shapeinf.check/1"

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def findings_as_json(model: str, findings: Sequence[Finding]) -> dict[str, Any]:
    """JSON-ready data; `schema` names the version of this form."""
    listed = [{**attrs.asdict(one), "inputs": list(one.inputs), "title": title_of(one.code)} for one in findings]
    failed = any(one.fails for one in findings)
    return {"schema": SCHEMA, "model": model, "ok": not failed, "findings": listed}


def findings_as_markdown(model: str, findings: Sequence[Finding]) -> str:
    r"""A table for the comment of a pull request.

    >>> print(findings_as_markdown("m.onnx", [Finding("note", "C140", "a | b", "n")]))
    ### `m.onnx`: 1 note
    <BLANKLINE>
    | severity | code | where | what |
    |---|---|---|---|
    | note | C140 | `n` | a \| b |
    """
    lines = [f"### {_code(model)}: {summary(findings)}"]
    if findings:
        lines += ["", "| severity | code | where | what |", "|---|---|---|---|"]
        lines += [_row(one) for one in findings]
    return "\n".join(lines)


def _row(one: Finding) -> str:
    where = " ".join(filter(None, (_code(one.place).replace("|", "\\|") if one.place else "", _plain(one.op))))
    what = one.message + (f". Because {one.reason}" if one.reason else "") + (f". {one.help}" if one.help else "")
    return f"| {one.severity} | {one.code} | {where} | {_plain(what)} |"


def _code(text: str) -> str:
    """Text as code; with backquotes inside, the fence is longer than any row of them."""
    text = escape_unprintable(" ".join(text.split()))
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


def _plain(text: str) -> str:
    """Text that stays in its cell and is no markup: no emphasis, code, link, picture, tag, and nobody is mentioned."""
    text = re.sub(r"([\\`*\[\]])", r"\\\1", escape_unprintable(" ".join(text.split())))
    return text.replace("|", "\\|").replace("<", "&lt;").replace("@", "@<!-- -->")


def findings_as_github(model: str, findings: Iterable[Finding]) -> str:
    r"""One workflow command a finding; GitHub shows it at the file.

    >>> print(findings_as_github("a,b.onnx", [Finding("warning", "C101", "50% is\nodd")]))
    ::warning file=a%2Cb.onnx,title=C101::50%25 is%0Aodd
    """
    return "\n".join(
        f"::{_COMMANDS[one.severity]} file={_property(model)},title={_property(_title(one))}::{_data(_text(one))}"
        for one in findings
    )


def _title(one: Finding) -> str:
    return f"{one.code} {one.place}".strip()


def _text(one: Finding) -> str:
    lines = [one.message, f"because {one.reason}" if one.reason else "", f"help: {one.help}" if one.help else ""]
    return "\n".join(filter(None, lines))


def _data(text: str) -> str:
    """Escaped as GitHub's runner reads the message of a workflow command."""
    return "%0A".join(escape_unprintable(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    """Escaped as GitHub's runner reads a property of a workflow command."""
    return escape_unprintable(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


def summary(findings: Iterable[Finding]) -> str:
    """How many of each severity: `1 error, 2 warnings`.

    >>> summary([])
    'nothing found'
    """
    severities = [one.severity for one in findings]
    counts = ((name, severities.count(name)) for name in ("error", "warning", "note"))
    return ", ".join(f"{n} {name}{'s' if n > 1 else ''}" for name, n in counts if n) or "nothing found"
