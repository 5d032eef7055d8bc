"""The report of a clean-up: the changes of each pass, and the reasons for what it skipped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from shapeinf.report.table import Column

if TYPE_CHECKING:
    from shapeinf.passes import Cleaned, CleanReport

MAX_LISTED = 20
"""Kinds of changes or reasons of one pass that the table lists; the JSON has all."""

Row = tuple[str, str, str]
"""A pass, a place, and the change or the reason."""

_NAME = re.compile(r"'[^']*'")


CLEAN_COLUMNS = (Column("pass"), Column("where", 20), Column("done or skipped"))


def clean_rows(cleaned: Cleaned) -> list[Row]:
    """A row for each kind of change of a pass, then one for each reason why it skipped places.

    Changes with the same text are one row, and so are reasons that differ in names only.
    """
    report = cleaned.report
    changes = [(change.pass_name, change.where, change.text) for change in report.changes]
    undone = [(run.name, f"{len(run.changes)} changes", f"undone: {run.reason}") for run in report.undone]
    skipped = [(item.pass_name, item.where, f"skipped: {item.reason}") for item in report.skipped]
    return [*_limit_rows(_group_rows(changes)), *undone, *_limit_rows(_group_rows(skipped, without_names=True))]


def _group_rows(rows: Iterable[Row], *, without_names: bool = False) -> list[Row]:
    """One row for all rows of a pass with the same text: the first of them, and the number of the others."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row[0], _NAME.sub("", row[2]) if without_names else row[2]), []).append(row)
    firsts = ((group[0], len(group) - 1) for group in groups.values())
    return [(name, where + (f" and {more} more" if more else ""), text) for (name, where, text), more in firsts]


def _limit_rows(rows: list[Row]) -> Iterator[Row]:
    """The first rows of each pass, and a row with the number of the others."""
    for name, group in groupby(rows, key=lambda row: row[0]):
        listed = list(group)
        yield from listed[:MAX_LISTED]
        if len(listed) > MAX_LISTED:
            yield name, f"... {len(listed) - MAX_LISTED} more lines", "--json has all"


def clean_summary(cleaned: Cleaned) -> Iterator[str]:
    """The lines below the table: the counts, the opset, and the comparison of numbers."""
    report = cleaned.report
    counts = report.counts()
    total = sum(counts.values())
    listed = ", ".join(f"{count} {name}" for name, count in counts.items())
    yield f"{total} change{'s' * (total != 1)}: {listed}" if total else "nothing to do"
    if report.opset_after != report.opset_before:
        yield f"opset {report.opset_before} is now {report.opset_after}{_reason_of_opset(report)}"
    comparison = cleaned.comparison
    if comparison is None:
        return
    if comparison.refused:
        yield f"not verified: {comparison.refused}"
    elif comparison.differences:
        yield "the numbers differ:"
        yield from (f"  {text}" for text in comparison.differences[:MAX_LISTED])
    else:
        count = len(comparison.bindings)
        yield f"verified: the numbers of {count} run{'s' * (count != 1)} agree"


def _reason_of_opset(report: CleanReport) -> str:
    """The pass that raised the opset, and the nodes whose form requires it."""
    text = f"converted to opset {report.opset_after}"
    changes = [change for change in report.changes if change.text == text]
    if not changes:
        return ""
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    return f": {changes[0].pass_name} needs it for {changes[0].where}{more}"
