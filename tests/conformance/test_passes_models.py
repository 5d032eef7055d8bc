"""Real models cleaned up: the same numbers in onnxruntime, the same shapes, and a second run that changes nothing."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.passes import DEFAULT_ORDER, PASSES, clean
from tests.vectors import ROOT

MODELS = sorted(ROOT.glob("models/*/*.onnx"), key=lambda path: path.stat().st_size)
SMALL = [path for path in MODELS if path.stat().st_size < 1 << 18]
HANDFUL = random.Random(17).sample(SMALL, min(4, len(SMALL)))

ALL = tuple(PASSES)
"""Every pass; the last two undo each other."""


@pytest.mark.skipif(not MODELS, reason="the conformance models are not here")
def test_models_are_here() -> None:
    assert HANDFUL


@pytest.mark.parametrize("path", HANDFUL, ids=lambda path: path.stem)
def test_some_models(path: Path) -> None:
    _check(path, DEFAULT_ORDER)


@pytest.mark.slow
@pytest.mark.parametrize("passes", [DEFAULT_ORDER, ALL], ids=["default", "all"])
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_all_models(path: Path, passes: tuple[str, ...]) -> None:
    _check(path, passes)


def _check(path: Path, passes: tuple[str, ...]) -> None:
    pytest.importorskip("onnxruntime")
    cleaned = clean(path, passes, verify=True)
    assert not [run.reason for run in cleaned.report.passes if run.outcome == "undone"]
    assert cleaned.comparison is not None and not cleaned.comparison.differences
    if cleaned.comparison.refused:
        warnings.warn(f"{path.stem} is not run: {cleaned.comparison.refused}", stacklevel=2)
    result = cleaned.to_proto()
    _check_shapes(path, result)
    assert not clean(result, DEFAULT_ORDER).report.changes


def _check_shapes(path: Path, result: onnx.ModelProto) -> None:
    """Each tensor of both models has the same type in both."""
    before, after = infer_shapes(path).tensors, infer_shapes(result).tensors
    common = [name for name in after if name in before and before[name].kind == "tensor"]
    assert common
    for name in common:
        assert after[name].dtype == before[name].dtype, name
        known = [str(size) for size in before[name].shape.dims or ()]
        if before[name].shape.dims is not None and not any("?" in size for size in known):
            assert [str(size) for size in after[name].shape.dims or ()] == known, name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_models_of_the_onnx_package() -> None:
    """No case of onnx's backend tests crashes a pass, changes its diagnostics, or changes its numbers."""
    from onnx.backend.test.loader import load_model_tests

    changed = 0
    for case in load_model_tests(kind="node"):
        before = case.model.SerializeToString()
        cleaned = clean(case.model)
        assert case.model.SerializeToString() == before, case.name
        assert not [run.reason for run in cleaned.report.passes if run.outcome == "undone"], case.name
        if cleaned.report.changes:
            changed += 1
            _check_numbers(case, cleaned.to_proto())
    assert changed


def _check_numbers(case: Any, result: onnx.ModelProto) -> None:
    """Compare the outputs for the inputs of the case, if onnxruntime has kernels for the original."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4

    def run(model: onnx.ModelProto) -> list[Any]:
        session = runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        return session.run(None, dict(zip([v.name for v in session.get_inputs()], case.data_sets[0][0], strict=True)))

    try:
        expected = run(case.model)
    except Exception:
        return
    for a, b in zip(expected, run(result), strict=True):
        if isinstance(a, np.ndarray) and a.dtype.kind in "fc":
            np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-5, err_msg=case.name)
        else:
            np.testing.assert_equal(b, a, err_msg=case.name)
