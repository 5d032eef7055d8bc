"""Fresh exports of torch, which nobody has damaged: no error and no warning."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check

torch = pytest.importorskip("torch", reason="exports need torch")
pytest.importorskip("onnxscript", reason="exports need onnxscript")

from tests.checks import fresh_models  # noqa: E402  (it needs torch)

NOT_EXPORTED = {
    "audio": "torch.export fixes the samples",
    "fixed_image": "torch.export fixes the batch",
    "recurrent": "torch declares the length of the example behind the LSTM",
}
"""Networks that `torch.onnx.export(dynamo=True)` of torch 2.13 refuses, or damages."""


@pytest.mark.slow
@pytest.mark.parametrize("dynamo", [False, True], ids=["TorchScript", "dynamo"])
@pytest.mark.parametrize("name", fresh_models.NETWORKS)
def test_an_export_has_no_failing_diagnostic(name: str, dynamo: bool, tmp_path: Path) -> None:
    if dynamo and name in NOT_EXPORTED:
        pytest.skip(NOT_EXPORTED[name])
    path = tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fresh_models.export(fresh_models.NETWORKS[name](), str(path), dynamo)
    assert [str(d) for d in check(infer_shapes(path, declared="check")) if d.fails] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", fresh_models.TRANSFORMERS)
def test_an_export_of_transformers_has_no_failing_diagnostic(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the networks are of transformers")
    path = tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fresh_models.export(fresh_models.transformers_network(name), str(path), dynamo=False)
    assert [str(d) for d in check(infer_shapes(path, declared="check")) if d.fails] == []
