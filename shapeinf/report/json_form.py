"""Reports as JSON-ready data; the field `schema` of each names its form, which `shapeinf/schemas` describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shapeinf.diagnostics import SEVERITIES, Diagnostic, code_title
from shapeinf.explain.unknowns import UnknownGroup
from shapeinf.report.model import (
    DimRecord,
    ModelReport,
    PreconditionRecord,
    TensorRecord,
    build_report,
)
from shapeinf.report.summary import Amount, Summary
from shapeinf.result import Result
from shapeinf.schemas import CHECK, CHECK_MANY, DIFF, INFER, SUMMARY, UNKNOWNS, VERIFY

if TYPE_CHECKING:
    from shapeinf.checks import ModelCheck
    from shapeinf.edit.comparison import Difference
    from shapeinf.runtime import Mismatch, Run, Verification


def as_json(result: Result) -> dict[str, Any]:
    """An inference as JSON-ready data."""
    return report_as_json(build_report(result))


def report_as_json(report: ModelReport, model: str | None = None) -> dict[str, Any]:
    """The report of an inference; `model` is the path of its file, which a result does not have."""
    return {
        "schema": INFER,
        **({} if model is None else {"model": model}),
        "policy": report.policy,
        **({"assumptions": list(report.assumptions)} if report.assumptions else {}),
        "inputs": list(report.inputs),
        "outputs": list(report.outputs),
        "tensors": _tensors(report.tensors),
        **({"bodies": _tensors(report.bodies)} if report.bodies else {}),
        **({"omitted": report.omitted} if report.omitted else {}),
        "contract": [_precondition(precondition) for precondition in report.preconditions],
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in report.diagnostics],
        "coverage": {
            "nodes": report.coverage.nodes,
            "values": report.coverage.values,
            "ranked": report.coverage.ranked,
            "known": report.coverage.known,
            "unknown_ops": dict(report.coverage.unknown_ops),
        },
    }


def _tensors(tensors: Mapping[str, TensorRecord]) -> dict[str, Any]:
    return {
        name: {
            "kind": tensor.kind,
            "dtype": tensor.dtype,
            "shape": None if tensor.dims is None else [_dim(dim) for dim in tensor.dims],
            "producer": tensor.producer or None,
            "node": tensor.node or None,
        }
        for name, tensor in tensors.items()
    }


def _dim(dim: DimRecord) -> int | dict[str, Any]:
    if dim.size is not None:
        return dim.size
    name = {} if dim.name is None else {"name": dim.name}
    return {"expr": dim.expression, **name, "min": dim.bounds.lo, "max": dim.bounds.hi}


def _precondition(precondition: PreconditionRecord) -> dict[str, Any]:
    return {
        "kind": precondition.kind,
        "text": precondition.text,
        "symbols": list(precondition.symbols),
        "node": precondition.node,
        "op": precondition.op,
        "law": precondition.message,
        **({"where": precondition.where} if precondition.where else {}),
        **({} if precondition.sizes is None else {"sizes": list(precondition.sizes)}),
    }


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "node": diagnostic.node,
        "op": diagnostic.op,
        "inputs": list(diagnostic.operands),
        "because": diagnostic.because,
        "help": diagnostic.help,
        "location": diagnostic.location or None,
    }


def summaries_as_json(models: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The summaries of some models, each as `summary_as_json`."""
    return {"schema": SUMMARY, "models": list(models)}


def summary_as_json(model: str, summary: Summary) -> dict[str, Any]:
    """The summary of the model in a file."""
    coverage = summary.coverage
    return {
        "model": model,
        "format": summary.format,
        "file_version": summary.file_version,
        "producer": summary.producer,
        "name": summary.name,
        "opsets": dict(summary.opsets),
        "inputs": [_named_tensor(tensor) for tensor in summary.inputs],
        "outputs": [_named_tensor(tensor) for tensor in summary.outputs],
        "dims": [
            {
                "name": d.name,
                "min": d.bounds.lo,
                "max": d.bounds.hi,
                "modulus": d.modulus,
                "remainder": d.remainder,
                "assumed": None if d.assumed is None else {"min": d.assumed.lo, "max": d.assumed.hi},
            }
            for d in summary.dims
        ],
        "contract": [_precondition(record) for record in summary.preconditions],
        "legal_sizes": dict(summary.legal_sizes),
        "nodes": summary.nodes,
        "inner_nodes": summary.inner_nodes,
        "operators": [{"op": item.op, "domain": item.domain, "count": item.count} for item in summary.operators],
        "sizes": dict(summary.sizes),
        "parameters": _amount_as_json(summary.parameters),
        "weight_bytes": _amount_as_json(summary.weight_bytes),
        "macs": _amount_as_json(summary.macs),
        "peak_bytes": _amount_as_json(summary.peak_bytes),
        "uncounted": dict(summary.uncounted),
        "unknowns": [{"count": group.count, "causes": list(group.causes)} for group in summary.unknowns],
        "diagnostics": {name: summary.diagnostics.get(name, 0) for name in SEVERITIES},
        "coverage": {"values": coverage.values, "ranked": coverage.ranked, "known": coverage.known},
    }


def _named_tensor(tensor: TensorRecord) -> dict[str, Any]:
    dims = None if tensor.dims is None else [_dim(dim) for dim in tensor.dims]
    return {"name": tensor.name, "kind": tensor.kind, "dtype": tensor.dtype, "shape": dims}


def _amount_as_json(amount: Amount) -> dict[str, Any]:
    return {"formula": amount.formula, "value": amount.value, "note": amount.note}


def unknowns_as_json(model: str, groups: Iterable[UnknownGroup]) -> dict[str, Any]:
    """The unknown sizes and ranks of the model in a file, by first cause."""
    return {
        "schema": UNKNOWNS,
        "model": model,
        "groups": [
            {
                "count": group.count,
                "causes": [
                    {
                        "kind": cause.kind,
                        "node": cause.node,
                        "op": cause.op,
                        "reason": cause.reason,
                        "values": list(cause.values),
                        "location": cause.location,
                    }
                    for cause in group.causes
                ],
                "unknowns": [{"tensor": unknown.tensor, "axis": unknown.axis} for unknown in group.unknowns],
            }
            for group in groups
        ],
    }


def check_as_json(model: str, diagnostics: Sequence[Diagnostic]) -> dict[str, Any]:
    """The diagnostics of a check."""
    failed = any(diagnostic.fails for diagnostic in diagnostics)
    return {"schema": CHECK, "model": model, "ok": not failed, "findings": [_check(d) for d in diagnostics]}


def checks_as_json(checks: Sequence[ModelCheck], notes: Sequence[str] = ()) -> dict[str, Any]:
    """The checks of several models."""
    models = [
        {
            "model": check.path,
            "ok": not check.fails,
            "checked": check.checked,
            "findings": [_check(diagnostic) for diagnostic in check.diagnostics],
            "known": len(check.known),
        }
        for check in checks
    ]
    ok = not any(check.fails for check in checks)
    return {"schema": CHECK_MANY, "ok": ok, "models": models, "notes": list(notes)}


def _check(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "node": diagnostic.node,
        "op": diagnostic.op,
        "tensor": diagnostic.tensor,
        "because": diagnostic.because,
        "help": diagnostic.help,
        "location": diagnostic.location,
        "inputs": list(diagnostic.operands),
        "cause": diagnostic.cause,
        "title": code_title(diagnostic.code),
    }


def diff_as_json(before: str, after: str, differences: Iterable[Difference]) -> dict[str, Any]:
    """The differences of two models, which are named by `before` and `after`."""
    records = [
        {"how": d.how, "what": d.part, "name": d.name, "before": d.before, "after": d.after} for d in differences
    ]
    return {"schema": DIFF, "before": before, "after": after, "differences": records}


def verification_as_json(model: str, verification: Verification) -> dict[str, Any]:
    """The runs of a verification of the model in a file."""
    return {
        "schema": VERIFY,
        "model": model,
        "runtime": verification.runtime,
        "ok": verification.ok,
        "verdict": verification.verdict,
        "runs": [_run(run) for run in verification.runs],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "sizes": dict(run.sizes),
        "chosen": dict(run.chosen),
        "inputs": dict(run.inputs),
        "values": run.values,
        "tensors": run.tensors,
        "exact": run.exact,
        "bounded": run.bounded,
        "unknown": run.unknown,
        "bound": run.bound,
        "bound_bytes": run.bound_bytes,
        "redeclared": list(run.redeclared),
        "mismatches": [_mismatch(mismatch) for mismatch in run.mismatches],
        "skipped": [{"tensor": item.tensor, "reason": item.reason} for item in run.skipped],
        "unbound": [{"tensor": item.tensor, "reason": item.reason} for item in run.unbound],
        "refused": run.refused,
    }


def _mismatch(mismatch: Mismatch) -> dict[str, Any]:
    return {
        "tensor": mismatch.tensor,
        "node": mismatch.node,
        "op": mismatch.op,
        "said": mismatch.inferred,
        "real": mismatch.observed,
        "by": mismatch.by,
    }
