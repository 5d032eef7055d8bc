"""Results as reports: records (`model`), and their text, JSON, Markdown and pictures.

`docs/dev/add-a-report.md` shows how to add a form.
"""

from typing import TYPE_CHECKING

from shapeinf import import_on_first_use

if TYPE_CHECKING:
    from shapeinf.report.check_report import render_checks
    from shapeinf.report.explanations import explain_tensor, explanation_as_json, explanation_lines
    from shapeinf.report.json_form import (
        as_json,
        check_as_json,
        checks_as_json,
        diff_as_json,
        report_as_json,
        summaries_as_json,
        summary_as_json,
        unknowns_as_json,
        verification_as_json,
    )
    from shapeinf.report.model import ModelReport, build_report
    from shapeinf.report.pull_request import (
        as_github_commands,
        as_markdown,
        checks_as_github_commands,
        checks_as_markdown,
    )
    from shapeinf.report.sarif import checks_as_sarif
    from shapeinf.report.summary import Summary, summarize
    from shapeinf.report.text import (
        check_lines,
        check_total,
        count_checks,
        severity_counts,
        summary_lines,
        tensor_cells,
        unknown_lines,
    )

__all__ = [
    "ModelReport",
    "Summary",
    "as_github_commands",
    "as_json",
    "as_markdown",
    "build_report",
    "check_as_json",
    "check_lines",
    "check_total",
    "checks_as_github_commands",
    "checks_as_json",
    "checks_as_markdown",
    "checks_as_sarif",
    "count_checks",
    "diff_as_json",
    "explain_tensor",
    "explanation_as_json",
    "explanation_lines",
    "render_checks",
    "report_as_json",
    "severity_counts",
    "summaries_as_json",
    "summarize",
    "summary_as_json",
    "summary_lines",
    "tensor_cells",
    "unknown_lines",
    "unknowns_as_json",
    "verification_as_json",
]

_MODULES = {
    "ModelReport": "shapeinf.report.model",
    "Summary": "shapeinf.report.summary",
    "as_github_commands": "shapeinf.report.pull_request",
    "as_json": "shapeinf.report.json_form",
    "as_markdown": "shapeinf.report.pull_request",
    "build_report": "shapeinf.report.model",
    "check_as_json": "shapeinf.report.json_form",
    "check_lines": "shapeinf.report.text",
    "check_total": "shapeinf.report.text",
    "checks_as_github_commands": "shapeinf.report.pull_request",
    "checks_as_json": "shapeinf.report.json_form",
    "checks_as_markdown": "shapeinf.report.pull_request",
    "checks_as_sarif": "shapeinf.report.sarif",
    "count_checks": "shapeinf.report.text",
    "diff_as_json": "shapeinf.report.json_form",
    "explain_tensor": "shapeinf.report.explanations",
    "explanation_as_json": "shapeinf.report.explanations",
    "explanation_lines": "shapeinf.report.explanations",
    "render_checks": "shapeinf.report.check_report",
    "report_as_json": "shapeinf.report.json_form",
    "severity_counts": "shapeinf.report.text",
    "summaries_as_json": "shapeinf.report.json_form",
    "summarize": "shapeinf.report.summary",
    "summary_as_json": "shapeinf.report.json_form",
    "summary_lines": "shapeinf.report.text",
    "tensor_cells": "shapeinf.report.text",
    "unknown_lines": "shapeinf.report.text",
    "unknowns_as_json": "shapeinf.report.json_form",
    "verification_as_json": "shapeinf.report.json_form",
}
"""The module of each public name: a command needs few of them."""

if not TYPE_CHECKING:
    __getattr__ = import_on_first_use(__name__, _MODULES)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
