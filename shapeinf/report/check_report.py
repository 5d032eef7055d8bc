"""The report of a check in each of its forms: text, JSON, Markdown, workflow commands of GitHub, and SARIF."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from shapeinf.checks.many import CheckReport, ModelCheck
from shapeinf.report.pull_request import as_github_commands, as_markdown, checks_as_github_commands, checks_as_markdown
from shapeinf.report.sarif import checks_as_sarif
from shapeinf.report.text import check_lines, check_total
from shapeinf.schemas import json_text

Form = Literal["text", "json", "markdown", "github", "sarif"]


def render_checks(form: Form, checks: Sequence[ModelCheck], notes: Sequence[str] = (), *, single: bool = False) -> str:
    """The report of checks, without a line end at its end; empty where a form has nothing to report.

    With `single`, the report of the only check, which has notes in JSON and SARIF only.
    """
    if form == "text":
        return "\n".join(
            [*(line for check in checks for line in check_lines(check, single)), check_total(checks, single=single)]
        )
    if form == "sarif":
        return json_text(checks_as_sarif(checks, notes))
    if form == "json":
        return json_text(CheckReport(tuple(checks), tuple(notes)))
    if single:
        (check,) = checks
        render = as_markdown if form == "markdown" else as_github_commands
        return render(check.path, check.diagnostics)
    return (checks_as_markdown if form == "markdown" else checks_as_github_commands)(checks, notes)
