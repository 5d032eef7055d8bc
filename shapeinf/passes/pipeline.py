"""Runs of passes over a model: a pass whose result cannot be proved to be the same model is undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import onnx_ir as ir

from shapeinf.errors import LimitError, ShapeInferenceError, UnknownNameError
from shapeinf.passes.bn_to_conv import bn_to_conv
from shapeinf.passes.constant_to_initializer import constant_to_initializer
from shapeinf.passes.deduplicate import deduplicate
from shapeinf.passes.deduplicate_nodes import deduplicate_nodes
from shapeinf.passes.editor import Editor
from shapeinf.passes.fold_cast import fold_cast
from shapeinf.passes.fold_constants import fold_constants
from shapeinf.passes.fold_shapes import fold_shapes
from shapeinf.passes.fuse_bias_add import fuse_bias_add
from shapeinf.passes.fuse_bn import fuse_bn
from shapeinf.passes.merge_nodes import merge_nodes
from shapeinf.passes.normalize_forms import normalize_forms
from shapeinf.passes.proof import Snapshot, differences
from shapeinf.passes.remove_dead import remove_dead
from shapeinf.passes.remove_identity import remove_identity
from shapeinf.passes.report import CleanReport, PassReport
from shapeinf.passes.split_parameters import split_parameters

Pass = Callable[[Editor], None]
"""A pass edits a model."""

PASSES: Mapping[str, Pass] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            constant_to_initializer,
            fold_cast,
            remove_identity,
            normalize_forms,
            fuse_bias_add,
            fuse_bn,
            bn_to_conv,
            remove_dead,
            fold_shapes,
            fold_constants,
            merge_nodes,
            deduplicate_nodes,
            split_parameters,
            deduplicate,
        )
    }
)
"""All passes by name."""

ON_REQUEST = ("split_parameters", "deduplicate")
"""The passes that run only when they are named."""

DEFAULT_ORDER = tuple(name for name in PASSES if name not in ON_REQUEST)
"""The passes that run by default, in order."""

MAX_RUNS = 16
"""The most runs of one pass, or of all passes, until they change nothing."""


def run_passes(model: ir.Model, names: Sequence[str] = DEFAULT_ORDER) -> tuple[ir.Model, CleanReport]:
    """Run passes in order, each until it changes nothing, and all of them until they change nothing.

    With both of `ON_REQUEST`, which undo each other, all passes run in order once. `model` is edited in place unless a
    pass is undone.

    Raises UnknownNameError for an unknown pass, and what `infer_shapes` raises for the original model.
    """
    for name in names:
        if name not in PASSES:
            raise UnknownNameError("pass", name, PASSES)
    current, copy = Snapshot.take(model), model.clone()
    before = Editor(model).opset
    reports: list[PassReport] = []
    for _ in range(1 if len(names) == 1 or set(ON_REQUEST) <= set(names) else MAX_RUNS):
        runs, current, copy = _run_each(names, current, copy)
        reports += runs
        # A pass may enable an earlier one: a dead node was a reader, an Add follows a removed normalization.
        if not any(run.outcome == "changed" for run in runs):
            break
    return current.model, CleanReport(tuple(reports), before, Editor(current.model).opset)


def _run_each(names: Sequence[str], current: Snapshot, copy: ir.Model) -> tuple[list[PassReport], Snapshot, ir.Model]:
    """Run each pass until it changes nothing or is undone: the reports, the model after all runs, and a copy of it."""
    reports = []
    for name in names:
        for _ in range(MAX_RUNS):
            report, current = _run(name, current, copy)
            reports.append(report)
            if report.outcome == "unchanged":
                break
            copy = current.model.clone()
            if report.outcome == "undone":
                break
        else:
            raise LimitError(f"{name} still changes the model after {MAX_RUNS} runs")
    return reports, current, copy


def _run(name: str, before: Snapshot, copy: ir.Model) -> tuple[PassReport, Snapshot]:
    """One run of a pass: its report and the model after it; the copy of the model before where the proof fails."""
    editor = Editor(before.model)
    editor.start(name, before.types)
    try:
        PASSES[name](editor)
    except Exception as error:  # a bug of a pass or of onnx-ir: continue with the model before the pass
        reason = f"the pass failed: {type(error).__name__}: {' '.join(str(error).split())}"
        return PassReport(name, tuple(editor.changes), tuple(editor.skipped), "undone", reason), Snapshot.take(copy)
    changes, skipped = tuple(editor.changes), tuple(editor.skipped)
    if not changes:
        return PassReport(name, (), skipped), before
    try:
        after = Snapshot.take(before.model)
        reason = next(differences(before, after), "")
    except ShapeInferenceError as error:
        reason = str(error)
    if reason:
        return PassReport(name, changes, skipped, "undone", reason), Snapshot.take(copy)
    return PassReport(name, changes, skipped, "changed"), after
