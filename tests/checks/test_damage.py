"""Damage to real models is found where it is, and undamaged ones are quiet."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check
from tests.conformance.conftest import ROOT as CONFORMANCE

ROOT = Path(__file__).resolve().parents[2]
MODELS = CONFORMANCE / "models" / "dev"
SLICE = ("bert.ts", "gru.ts", "lstm_bi.dyn", "misc_ops.ts", "resnet18.dyn", "t5.ts", "unet_transpose.dyn")

pytestmark = pytest.mark.skipif(not MODELS.exists(), reason=f"no models in {MODELS}: set SHAPEINF_CONFORMANCE")


@pytest.fixture(scope="module")
def tool():
    """tools/measure_damage.py"""
    spec = importlib.util.spec_from_file_location("measure_damage", ROOT / "tools" / "measure_damage.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def shares(cases):
    return [sum(map(bool, kind)) / len(cases) for kind in ([c.findings for c in cases], [c.hit for c in cases])]


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.name)
def test_undamaged_models_are_quiet(path) -> None:
    """They run in onnxruntime at three bindings, so there is nothing to find."""
    assert [str(one) for one in check(infer_shapes(path, declared="check")) if one.fails] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.name)
def test_undamaged_models_run_at_three_bindings(tool, path, tmp_path) -> None:
    """onnxruntime runs what is quiet, and makes what is declared."""
    p = next(tool.patients([path], 0, "onnx", tmp_path))[1]
    declared = {one.name: one for one in [*p.model.graph.output, *p.model.graph.value_info]}
    runs = tool.observed(p.model, p, tmp_path)
    assert len(runs) >= 3
    for binding, run in enumerate(runs):
        assert run is not None
        assert not [name for name, shape in run.items() if tool.contradicts(declared[name], shape, p, binding)]


@pytest.mark.parametrize("declared", ["onnx", "shapeinf"])
def test_damage_is_found_in_a_few_models(tool, declared) -> None:
    """Some 70 cases, of which one is missed as measured: four of them are too many."""
    cases = list(tool.measured([MODELS / f"{name}.onnx" for name in SLICE], 1, 1, declared))
    assert len({case.damage.kind for case in cases}) >= 12
    assert min(shares(cases)) >= 0.95


@pytest.mark.parametrize(("declared", "least"), [("bare", 0.92), ("shapeinf", 0.97)])
def test_damage_is_found_in_our_own_models(tool, declared, least) -> None:
    """Some 90 cases: three of them fewer than measured fail."""
    cases = list(tool.measured([], 2, 1, declared, own=True))
    assert len({case.model for case in cases}) >= 12
    assert min(shares(cases)) >= least


@pytest.mark.slow
def test_damage_is_found_in_all_models(tool) -> None:
    """What is measured (docs/check.md) less three standard deviations of a share of so many cases, and no kind left."""
    cases = list(tool.measured(sorted(MODELS.glob("*.onnx")), 2, 1, "shapeinf", own=True))
    assert len({case.model for case in cases}) >= 100
    assert min(shares(cases)) >= 0.98
    kinds = {kind: [case for case in cases if case.damage.kind == kind] for kind in tool.KINDS}
    assert {kind: min(shares(these)) for kind, these in kinds.items() if min(shares(these)) < 0.9} == {}


@pytest.mark.slow
@pytest.mark.parametrize(("declared", "least", "least_first"), [("bare", 0.925, 0.735), ("onnx", 0.945, 0.91)])
def test_damage_is_found_where_less_is_declared(tool, declared, least, least_first) -> None:
    """The same of every fourth model."""
    cases = list(tool.measured(sorted(MODELS.glob("*.onnx"))[::4], 2, 1, declared, own=True))
    seen, first = shares(cases)
    assert seen >= least
    assert first >= least_first
