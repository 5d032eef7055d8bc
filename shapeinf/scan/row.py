"""The row of one model: the inference, checks and summary of `shapeinf check` and `shapeinf summary`."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

import attrs

from shapeinf.checks import ModelChecker, check
from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import LimitError, ModelError, ShapeError, ShapeInferenceError
from shapeinf.formats import FORMATS, FormatOptions
from shapeinf.formats.files import open_regular
from shapeinf.inputs.config import Config, read_config
from shapeinf.report import Summary, summarize
from shapeinf.report.tensor_rows import TensorQuery, TensorRows
from shapeinf.result import Result
from shapeinf.scan.records import MAX_RECORDS, Candidate, DiagnosticRow, ModelRow, ScanOptions, clean_int, clean_text
from shapeinf.solver.budget import total_budget

_OUT_OF_MEMORY = re.compile(r"the rule of this operator failed: \w*MemoryError\b")
"""The diagnostic of a rule whose allocation failed: inference goes on without it, a scan reports the limit."""
_CHUNK = 1 << 20
"""Bytes that are hashed at a time."""


@total_budget()
def scan_model(candidate: Candidate, options: ScanOptions, file: str | None = None) -> ModelRow:
    """The row of a model; an error of the file is its outcome. Raises MemoryError.

    `file` is a local copy of a candidate that is a URL. Names in the options that are no dims or inputs of the
    model are ignored. Declared types of node outputs are checked, not trusted.
    """
    start = time.perf_counter()
    try:
        row = _scan(candidate, options, file or candidate.path)
    except LimitError as error:
        row = ModelRow.from_candidate(candidate, "limit", str(error))
    except (ModelError, OSError) as error:
        row = ModelRow.from_candidate(candidate, "unreadable", _reason(error, file or candidate.path))
    except ShapeInferenceError as error:  # the options fit no file of this format, or contradict it
        row = ModelRow.from_candidate(candidate, "unreadable", str(error))
    except MemoryError:
        raise
    except Exception as error:
        row = ModelRow.from_candidate(
            candidate, "crash", f"this is a bug of shapeinf, not of the model: {_bug_text(error)}"
        )
    row.seconds = time.perf_counter() - start
    return row


def _reason(error: ModelError | OSError, file: str) -> str:
    """The message of an error, without the path where that is the file: the row has it."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return error.cause if error.node == file else str(error)


def _bug_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@lru_cache(maxsize=4)
def _assumptions(config: str, format_options: str) -> tuple[Config, FormatOptions | None]:
    """The options of a scan, which are the same for all its models."""
    return read_config(json.loads(config)), FORMATS.options(json.loads(format_options))


def _scan(candidate: Candidate, options: ScanOptions, file: str) -> ModelRow:
    row = ModelRow.from_candidate(candidate, "ok")
    if options.checksum:
        row.sha256 = _sha256(file)
    config, format_options = _assumptions(json.dumps(options.config), json.dumps(options.format_options))
    accepted = format_options if FORMATS.accepts(file, format_options) else None
    symbolic = ModelChecker(options=attrs.evolve(config, bind={}), format_options=accepted)
    result, used = symbolic.infer(file)
    if any(d.code == "S301" and _OUT_OF_MEMORY.match(d.message) for d in result.diagnostics):
        raise MemoryError
    # Formulas are evaluated at the sizes of --bind; the check at these sizes is another inference.
    sizes = {name: size for name, size in config.bind.items() if result.engine.find_dim(name) is not None}
    diagnostics = _diagnostics(result, used, sizes)
    try:
        summary = summarize(result, sizes)
    except ShapeError:  # the model does not run with these sizes: `diagnostics` has the reason
        summary = summarize(result)
    _fill(row, result, summary)
    _add_records(row, result, summary, diagnostics, options.tensors)
    return row


def _sha256(file: str) -> str:
    digest = hashlib.sha256()
    with open_regular(file) as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _diagnostics(result: Result, used: Config, sizes: dict[str, int]) -> list[Diagnostic]:
    """The diagnostics of a check, at the sizes of `--bind` where there are some."""
    if not sizes:
        return list(check(result, used.dims))
    checker = ModelChecker(options=attrs.evolve(used, bind=sizes), read=lambda _, __: result.graph)
    try:
        bound, _ = checker.infer(result.graph.name)
    except ShapeError as error:
        return [error.as_diagnostic(error.node or "", error.op or "")]
    return list(check(bound, {**used.dims, **sizes}))


def _fill(row: ModelRow, result: Result, summary: Summary) -> None:
    row.format = summary.format
    row.file_version = clean_text(summary.file_version)
    row.producer = clean_text(summary.producer)
    row.opsets = [{"domain": clean_text(d), "version": clean_int(v)} for d, v in summary.opsets.items()]
    row.nodes, row.inner_nodes = summary.nodes, summary.inner_nodes
    row.tensors, row.ranked, row.known = summary.coverage.values, summary.coverage.ranked, summary.coverage.known
    row.parameters = clean_int(summary.parameters.value)
    row.weight_bytes = clean_int(summary.weight_bytes.value)
    macs, peak = summary.macs, summary.peak_bytes
    row.macs_formula, row.macs, row.macs_note = clean_text(macs.formula), clean_int(macs.value), clean_text(macs.note)
    row.peak_formula, row.peak_bytes = clean_text(peak.formula), clean_int(peak.value)
    row.peak_note = clean_text(peak.note)
    row.unknowns = sum(group.count for group in summary.unknowns)
    causes = dict.fromkeys(clean_text(cause) for group in summary.unknowns for cause in group.causes)
    row.unknown_causes = list(islice(causes, MAX_RECORDS))
    row.requirements = [clean_text(record.text) for record in summary.preconditions[:MAX_RECORDS]]


def _add_records(
    row: ModelRow, result: Result, summary: Summary, diagnostics: Iterable[Diagnostic], tensors: bool
) -> None:
    counts = {"error": 0, "warning": 0, "note": 0}
    for diagnostic in diagnostics:
        counts[diagnostic.severity] += 1
        if len(row.diagnostics) < MAX_RECORDS:
            row.diagnostics.append(_diagnostic_row(diagnostic))
    row.errors, row.warnings, row.notes = counts["error"], counts["warning"], counts["note"]
    if row.errors or row.warnings:
        row.outcome = "findings"
    without_rule = result.coverage.unknown_ops
    for item in summary.operators[:MAX_RECORDS]:
        known = item.op not in without_rule and f"{item.domain}.{item.op}" not in without_rule
        row.operators.append(
            {"op": clean_text(item.op), "domain": clean_text(item.domain), "nodes": item.count, "has_rule": known}
        )
    if tensors:
        for record in islice(TensorRows(result, TensorQuery(constants=True)), MAX_RECORDS):
            row.tensor_rows.append(
                {
                    "name": clean_text(record.name),
                    "kind": record.kind,
                    "dtype": record.dtype,
                    "shape": clean_text(record.shape_text),
                    "producer": clean_text(record.producer),
                    "node": clean_text(record.node),
                    "output": record.output,
                }
            )


def _diagnostic_row(diagnostic: Diagnostic) -> DiagnosticRow:
    return {
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "message": clean_text(diagnostic.message),
        "node": clean_text(diagnostic.node),
        "op": clean_text(diagnostic.op),
        "tensor": clean_text(diagnostic.tensor),
        "location": clean_text(diagnostic.location),
    }
