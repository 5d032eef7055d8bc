"""The diagnostics of a check for a pull request: a Markdown table, and workflow commands of GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from shapeinf.diagnostics import Diagnostic
from shapeinf.report.text import count_checks, severity_counts
from shapeinf.texts import escape_unprintable

if TYPE_CHECKING:
    from shapeinf.checks import ModelCheck

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def as_markdown(model: str, diagnostics: Sequence[Diagnostic]) -> str:
    r"""A table for the comment of a pull request.

    >>> print(as_markdown("m.onnx", [Diagnostic("note", "C140", "a | b", "n")]))
    ### `m.onnx`: 1 note
    <BLANKLINE>
    | severity | code | subject | message |
    |---|---|---|---|
    | note | C140 | `n` | a \| b |
    """
    lines = [f"### {_code(model)}: {severity_counts(diagnostics)}"]
    if diagnostics:
        lines += ["", "| severity | code | subject | message |", "|---|---|---|---|"]
        lines += [_row(diagnostic) for diagnostic in diagnostics]
    return "\n".join(lines)


def checks_as_markdown(checks: Sequence[ModelCheck], notes: Sequence[str] = ()) -> str:
    """A table for each model with diagnostics, under the total of all."""
    parts = [f"## {count_checks(checks)}"]
    parts += [as_markdown(check.path, check.diagnostics) for check in checks if check.diagnostics]
    parts += [f"Note: {_plain(note)}" for note in notes]
    return "\n\n".join(parts)


def checks_as_github_commands(checks: Sequence[ModelCheck], notes: Sequence[str] = ()) -> str:
    """One workflow command for each diagnostic of several models, and for each note."""
    lines = [as_github_commands(check.path, check.diagnostics) for check in checks if check.diagnostics]
    return "\n".join([*lines, *(f"::notice title=shapeinf::{_data(note)}" for note in notes)])


def _row(diagnostic: Diagnostic) -> str:
    subject = _code(diagnostic.subject).replace("|", "\\|") if diagnostic.subject else ""
    where = " ".join(filter(None, (subject, _plain(diagnostic.op))))
    text = diagnostic.message
    if diagnostic.reason:
        text += f". Because {diagnostic.reason}"
    if diagnostic.help:
        text += f". {diagnostic.help}"
    return f"| {diagnostic.severity} | {diagnostic.code} | {where} | {_plain(text)} |"


def _code(text: str) -> str:
    """Text as code; with backquotes inside, the fence is longer than any row of them."""
    text = escape_unprintable(" ".join(text.split()))
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


def _plain(text: str) -> str:
    """Text that stays in its cell without markup: no emphasis, code, link, picture, tag or mention."""
    text = re.sub(r"([\\`*\[\]])", r"\\\1", escape_unprintable(" ".join(text.split())))
    return text.replace("|", "\\|").replace("<", "&lt;").replace("@", "@<!-- -->")


def as_github_commands(model: str, diagnostics: Iterable[Diagnostic]) -> str:
    r"""One workflow command for each diagnostic; GitHub shows it at the file.

    >>> print(as_github_commands("a,b.onnx", [Diagnostic("warning", "C101", "50% is\nodd")]))
    ::warning file=a%2Cb.onnx,title=C101::50%25 is%0Aodd
    """
    return "\n".join(_command(model, diagnostic) for diagnostic in diagnostics)


def _command(model: str, diagnostic: Diagnostic) -> str:
    title = f"{diagnostic.code} {diagnostic.subject}".strip()
    lines = [diagnostic.message]
    if diagnostic.reason:
        lines.append(f"because {diagnostic.reason}")
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    command = f"::{_COMMANDS[diagnostic.severity]} file={_property(model)},title={_property(title)}"
    return f"{command}::{_data(chr(10).join(lines))}"


def _data(text: str) -> str:
    """A text escaped for the message of a workflow command, as GitHub's runner reads it."""
    return "%0A".join(escape_unprintable(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    """A text escaped for a property of a workflow command, as GitHub's runner reads it."""
    return escape_unprintable(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
