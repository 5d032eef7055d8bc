"""The report of a clean-up: what was done where, and what was left alone and why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from shapeinf.schemas import CLEAN

if TYPE_CHECKING:
    from shapeinf.passes import Cleaned

MAX_LISTED = 20
"""Changes and reasons of one pass that the text lists; the JSON has all."""


def clean_as_text(cleaned: Cleaned) -> str:
    """The report as lines: per pass the changes, then the reasons."""
    report = cleaned.report
    lines = []
    for run in report.passes:
        if run.outcome == "undone":
            lines.append(f"{run.name}: undone, {len(run.changes)} changes could not be proved: {run.reason}")
        elif run.changes:
            lines.append(f"{run.name}: {len(run.changes)} done")
            lines += _listed([f"{change.where}: {change.text}" for change in run.changes])
    reasons = Counter((item.pass_name, item.reason) for item in report.left)
    first = {(item.pass_name, item.reason): item.where for item in reversed(report.left)}
    if reasons:
        lines.append("left alone:")
        texts = [
            f"{name}: {first[name, reason]}{f' and {count - 1} more' if count > 1 else ''}: {reason}"
            for (name, reason), count in reasons.items()
        ]
        lines += _listed(texts)
    if report.opset_after != report.opset_before:
        lines.append(f"opset {report.opset_before} is now {report.opset_after}")
    counts = report.counts()
    lines.append(f"{sum(counts.values())} changes" if counts else "nothing to do")
    return "\n".join([*lines, *_comparison_lines(cleaned)])


def _listed(texts: list[str]) -> list[str]:
    more = [f"  ... and {len(texts) - MAX_LISTED} more"] if len(texts) > MAX_LISTED else []
    return [f"  {text}" for text in texts[:MAX_LISTED]] + more


def _comparison_lines(cleaned: Cleaned) -> list[str]:
    comparison = cleaned.comparison
    if comparison is None:
        return []
    if comparison.refused:
        return [f"not verified: {comparison.refused}"]
    if comparison.differences:
        return ["the numbers differ:", *_listed(list(comparison.differences))]
    count = len(comparison.bindings)
    return [f"verified: the numbers of {count} run{'s' * (count != 1)} agree"]


def clean_as_json(cleaned: Cleaned) -> dict[str, object]:
    """The report as JSON (schema `shapeinf.clean/1`)."""
    report, comparison = cleaned.report, cleaned.comparison
    return {
        "schema": CLEAN,
        "opset": {"before": report.opset_before, "after": report.opset_after},
        "changes": [{"pass": c.pass_name, "where": c.where, "text": c.text} for c in report.changes],
        "left": [{"pass": item.pass_name, "where": item.where, "reason": item.reason} for item in report.left],
        "undone": [{"pass": run.name, "reason": run.reason} for run in report.passes if run.outcome == "undone"],
        "verification": None
        if comparison is None
        else {
            "equal": comparison.equal,
            "bindings": [dict(sizes) for sizes in comparison.bindings],
            "differences": list(comparison.differences),
            "refused": comparison.refused,
        },
    }
