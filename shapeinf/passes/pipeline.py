"""Runs passes over a model, each with a proof: what cannot be proved to be the same model is undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import onnx_ir as ir

from shapeinf.errors import LimitError, ShapeInferenceError, UnknownNameError
from shapeinf.passes.bn_to_conv import bn_to_conv
from shapeinf.passes.constant_to_initializer import constant_to_initializer
from shapeinf.passes.deduplicate import deduplicate
from shapeinf.passes.editor import Editor
from shapeinf.passes.fold_cast import fold_cast
from shapeinf.passes.fuse_bias_add import fuse_bias_add
from shapeinf.passes.fuse_bn import fuse_bn
from shapeinf.passes.normalise_forms import normalise_forms
from shapeinf.passes.proof import Snapshot, differences
from shapeinf.passes.remove_dead import remove_dead
from shapeinf.passes.remove_identity import remove_identity
from shapeinf.passes.report import CleanReport, PassReport
from shapeinf.passes.split_parameters import split_parameters

Pass = Callable[[Editor], None]

PASSES: Mapping[str, Pass] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            constant_to_initializer,
            fold_cast,
            remove_identity,
            normalise_forms,
            fuse_bias_add,
            fuse_bn,
            bn_to_conv,
            remove_dead,
            split_parameters,
            deduplicate,
        )
    }
)
"""All passes by name."""

ON_REQUEST = ("split_parameters", "deduplicate")
"""The passes that run only when they are named."""

DEFAULT_ORDER = tuple(name for name in PASSES if name not in ON_REQUEST)

MAX_RUNS = 16
"""Runs of one pass until it changes nothing; each run but the last removes a node or a constant."""


def run_passes(model: ir.Model, names: Sequence[str] = DEFAULT_ORDER) -> tuple[ir.Model, CleanReport]:
    """Run passes in order, each until it changes nothing, and all of them until they change nothing.

    Those that undo each other (`ON_REQUEST`) run in turn once.

    `model` itself is edited unless a pass is undone.

    Raises UnknownNameError for a pass that there is not, and what `infer_shapes` raises for the model as it is.
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
        # A pass may make a place for one before it: a dead node was a reader, an Add follows a normalization that went.
        if not any(run.outcome == "changed" for run in runs):
            break
    return current.model, CleanReport(tuple(reports), before, Editor(current.model).opset)


def _run_each(names: Sequence[str], current: Snapshot, copy: ir.Model) -> tuple[list[PassReport], Snapshot, ir.Model]:
    """The runs of each pass until it changes nothing or is undone, the model after them, and a copy of it."""
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
    """One run of a pass: its report, and the model after it, or its copy from before where the proof fails."""
    editor = Editor(before.model)
    editor.start(name, before.types)
    try:
        PASSES[name](editor)
    except Exception as error:  # the model before the pass is at hand: no fault of ours or of onnx-ir loses it
        reason = f"the pass failed: {type(error).__name__}: {' '.join(str(error).split())}"
        return PassReport(name, tuple(editor.changes), tuple(editor.left), "undone", reason), Snapshot.take(copy)
    changes, left = tuple(editor.changes), tuple(editor.left)
    if not changes:
        return PassReport(name, (), left), before
    try:
        after = Snapshot.take(before.model)
        reason = next(differences(before, after), "")
    except ShapeInferenceError as error:
        reason = str(error)
    if reason:
        return PassReport(name, changes, left, "undone", reason), Snapshot.take(copy)
    return PassReport(name, changes, left, "changed"), after
