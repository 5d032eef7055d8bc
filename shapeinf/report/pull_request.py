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
    subject = code_cell(diagnostic.subject) if diagnostic.subject else ""
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


def code_cell(text: str) -> str:
    """Text as code in a cell. A backslash is itself in code but not before a `|`, where only HTML is unambiguous."""
    if "|" in text and "\\" in text:
        return f"<code>{_plain(text)}</code>"
    return _code(text).replace("|", "\\|")


_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<!\w)_|_(?!\w)|(?<=www)\.", re.IGNORECASE)
"""Characters of Markdown's markup, and the dot of an address without a scheme."""

_LINKED = re.compile(r"@|#(?=\w)|:(?=//)|(?<=\bGH)-(?=\d)|:(?=\w)", re.IGNORECASE)
"""The first characters of what GitHub links or replaces in any text: names, issues, addresses, emoji."""


def _plain(text: str) -> str:
    r"""Text that stays in its cell without markup: no emphasis, code, link, picture, tag, mention or reference.

    >>> print(_plain("see www.x.org, https://x.org or #12 of *a*"))
    see www\.x.org, https:<!-- -->//x.org or #<!-- -->12 of \*a\*
    """
    text = escape_unprintable(" ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;")
    return _LINKED.sub(r"\g<0><!-- -->", _MARKUP.sub(r"\\\g<0>", text))


def as_github_commands(model: str, diagnostics: Iterable[Diagnostic]) -> str:
    r"""One workflow command for each diagnostic; GitHub shows it at the file.

    >>> print(as_github_commands("a,b.onnx", [Diagnostic("warning", "C101", "50% is\nodd")]))
    ::warning file=a%2Cb.onnx,title=C101::50%25 is\nodd
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
    return f"{command}::{'%0A'.join(map(_data, lines))}"


def _data(text: str) -> str:
    """A line escaped for the message of a workflow command, as GitHub's runner reads it."""
    return escape_unprintable(text).replace("%", "%25")


def _property(text: str) -> str:
    """A text escaped for a property of a workflow command, as GitHub's runner reads it."""
    return escape_unprintable(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
