"""Results as reports: records (`model`), and their text, JSON, Markdown and pictures.

`docs/dev/add-a-report.md` shows how to add a form.
"""

from typing import TYPE_CHECKING

from shapeinf.lazy_names import import_on_first_use

if TYPE_CHECKING:
    from shapeinf.report.check_report import render_checks as render_checks
    from shapeinf.report.explanations import explain_tensor as explain_tensor
    from shapeinf.report.explanations import explanation_lines as explanation_lines
    from shapeinf.report.model import ModelReport as ModelReport
    from shapeinf.report.model import as_json as as_json
    from shapeinf.report.model import build_report as build_report
    from shapeinf.report.pull_request import as_github_commands as as_github_commands
    from shapeinf.report.pull_request import as_markdown as as_markdown
    from shapeinf.report.pull_request import checks_as_github_commands as checks_as_github_commands
    from shapeinf.report.pull_request import checks_as_markdown as checks_as_markdown
    from shapeinf.report.sarif import checks_as_sarif as checks_as_sarif
    from shapeinf.report.summary import Summary as Summary
    from shapeinf.report.summary import SummaryReport as SummaryReport
    from shapeinf.report.summary import summarize as summarize
    from shapeinf.report.text import check_lines as check_lines
    from shapeinf.report.text import check_total as check_total
    from shapeinf.report.text import count_checks as count_checks
    from shapeinf.report.text import severity_counts as severity_counts
    from shapeinf.report.text import summary_lines as summary_lines
    from shapeinf.report.text import tensor_cells as tensor_cells
    from shapeinf.report.text import unknown_lines as unknown_lines
    from shapeinf.schemas import to_json as to_json

_MODULES = {
    "ModelReport": "shapeinf.report.model",
    "Summary": "shapeinf.report.summary",
    "SummaryReport": "shapeinf.report.summary",
    "as_github_commands": "shapeinf.report.pull_request",
    "as_json": "shapeinf.report.model",
    "as_markdown": "shapeinf.report.pull_request",
    "build_report": "shapeinf.report.model",
    "check_lines": "shapeinf.report.text",
    "check_total": "shapeinf.report.text",
    "checks_as_github_commands": "shapeinf.report.pull_request",
    "checks_as_markdown": "shapeinf.report.pull_request",
    "checks_as_sarif": "shapeinf.report.sarif",
    "count_checks": "shapeinf.report.text",
    "explain_tensor": "shapeinf.report.explanations",
    "explanation_lines": "shapeinf.report.explanations",
    "render_checks": "shapeinf.report.check_report",
    "severity_counts": "shapeinf.report.text",
    "summarize": "shapeinf.report.summary",
    "summary_lines": "shapeinf.report.text",
    "tensor_cells": "shapeinf.report.text",
    "to_json": "shapeinf.schemas",
    "unknown_lines": "shapeinf.report.text",
}
"""The module of each public name: a command needs few of them."""

if not TYPE_CHECKING:
    __all__ = list(_MODULES)
    __getattr__ = import_on_first_use(__name__, _MODULES)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
