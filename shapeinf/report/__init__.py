"""Results as reports: records (`model`), and their text, JSON, Markdown and pictures.

`docs/dev/add-a-report.md` shows how to add a form.
"""

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
    check_lines,
    checks_as_github_commands,
    checks_as_markdown,
    count_checks,
)
from shapeinf.report.sarif import checks_as_sarif
from shapeinf.report.summary import Summary, summarize
from shapeinf.report.text import (
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
    "checks_as_github_commands",
    "checks_as_json",
    "checks_as_markdown",
    "checks_as_sarif",
    "count_checks",
    "diff_as_json",
    "explain_tensor",
    "explanation_as_json",
    "explanation_lines",
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
