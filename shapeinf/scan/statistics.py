"""The report of a dataset, in one pass over each of its tables."""

from __future__ import annotations

import heapq
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from shapeinf.report.scan_report import (
    DiagnosticRecord,
    ModelRecord,
    OperatorRecord,
    ProblemRecord,
    ScanReport,
)
from shapeinf.scan.dataset import list_parts
from shapeinf.scan.records import OUTCOMES, PROBLEMS
from shapeinf.scan.tables import MODELS, iterate_part

TOP = 20
"""Rows of each list of models."""
MAX_PROBLEMS = 200
"""Paths without a result that are listed."""

_MODEL_COLUMNS = ["path", "outcome", "message", "format", "nodes", "tensors", "known"]
_AMOUNTS = ("seconds", "size", "parameters", "macs", "peak_bytes")


def read_report(folder: str) -> ScanReport:
    """The report of the dataset in a folder. Raises ScanError where there is none, or a file of it is damaged."""
    report = _read_models(folder)
    report.diagnostics.extend(_read_diagnostics(folder))
    report.operators_without_rule.extend(_read_operators(folder))
    return report


def _records(folder: str, table: str, columns: list[str]) -> Iterator[dict[str, Any]]:
    for part in list_parts(folder):
        if table == MODELS or os.path.exists(part.file(table)):
            yield from iterate_part(part.file(table), columns)


class _Largest:
    """The models with the largest values of a column."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._heap: list[tuple[Any, str, ModelRecord]] = []

    def add(self, record: dict[str, Any]) -> None:
        amount = record[self._column]
        if amount and (len(self._heap) < TOP or amount > self._heap[0][0]):
            model = ModelRecord(record["path"], record["format"] or "", record["nodes"] or 0, amount)
            push = heapq.heappush if len(self._heap) < TOP else heapq.heappushpop
            push(self._heap, (amount, record["path"], model))

    def records(self) -> list[ModelRecord]:
        return [model for _, _, model in sorted(self._heap, key=lambda item: (-item[0], item[1]))]


def _read_models(folder: str) -> ScanReport:
    outcomes: Counter[str] = Counter()
    formats: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    seconds = 0.0
    largest = {name: _Largest(name) for name in _AMOUNTS}
    problems: list[ProblemRecord] = []
    common: str | None = None
    for record in _records(folder, MODELS, [*_MODEL_COLUMNS, *_AMOUNTS]):
        outcomes[record["outcome"]] += 1
        seconds += record["seconds"]
        common = _common_folder(common, record["path"])
        if record["format"]:
            formats[record["format"]] += 1
            totals.update({name: record[name] or 0 for name in ("nodes", "tensors", "known")})
        if record["outcome"] in PROBLEMS and len(problems) < MAX_PROBLEMS:
            problems.append(ProblemRecord(record["path"], record["outcome"], record["message"]))
        for each in largest.values():
            each.add(record)
    return ScanReport(
        dataset=folder,
        folder=common or "",
        outcomes={name: outcomes[name] for name in OUTCOMES if outcomes[name]},
        formats=dict(formats.most_common()),
        nodes=totals["nodes"],
        tensors=totals["tensors"],
        known=totals["known"],
        seconds=seconds,
        problems=problems,
        most={name: each.records() for name, each in largest.items()},
    )


def _common_folder(common: str | None, path: str) -> str:
    """The folder of all paths so far."""
    if common is None:
        return path.rpartition("/")[0]
    while common and not path.startswith(common + "/"):
        common = common.rpartition("/")[0]
    return common


class _Group:
    """Records of one kind: their number, the number of models that have them, and the path of the first model."""

    def __init__(self, path: str) -> None:
        self.count = 0
        self.models = 0
        self.example = path
        self._last = ""

    def add(self, path: str, count: int) -> None:
        """Count records of a model; those of one model must follow one another."""
        self.count += count
        self.models += path != self._last
        self._last = path


def _groups(records: Iterable[dict[str, Any]], keys: tuple[str, ...], count: str | None) -> dict[Any, _Group]:
    groups: dict[Any, _Group] = {}
    for record in records:
        key = tuple(record[name] for name in keys)
        group = groups.setdefault(key, _Group(record["path"]))
        group.add(record["path"], 1 if count is None else record[count])
    return dict(sorted(groups.items(), key=lambda item: (-item[1].models, -item[1].count, str(item[0]))))


def _read_diagnostics(folder: str) -> Iterator[DiagnosticRecord]:
    records = _records(folder, "diagnostics", ["path", "severity", "code"])
    for (severity, code), group in _groups(records, ("severity", "code"), None).items():
        yield DiagnosticRecord(code, severity, group.count, group.models, group.example)


def _read_operators(folder: str) -> Iterator[OperatorRecord]:
    records = _records(folder, "operators", ["path", "op", "domain", "nodes", "has_rule"])
    without = (record for record in records if not record["has_rule"])
    for (op, domain), group in _groups(without, ("op", "domain"), "nodes").items():
        yield OperatorRecord(op, domain, group.count, group.models, group.example)
