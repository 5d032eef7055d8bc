"""A result as text for people and as JSON for programs."""

from shapeinf.report.reasons import explanations, unknowns_as_json
from shapeinf.report.views import as_json, as_table

__all__ = ["as_json", "as_table", "explanations", "unknowns_as_json"]
