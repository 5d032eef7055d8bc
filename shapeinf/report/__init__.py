"""A result as text for people and as JSON for programs."""

from shapeinf.report.findings import findings_as_github, findings_as_json, findings_as_markdown, summary
from shapeinf.report.reasons import explanations, unknowns_as_json
from shapeinf.report.views import as_json, as_table

__all__ = [
    "as_json",
    "as_table",
    "explanations",
    "findings_as_github",
    "findings_as_json",
    "findings_as_markdown",
    "summary",
    "unknowns_as_json",
]
