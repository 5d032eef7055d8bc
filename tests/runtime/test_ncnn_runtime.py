"""ncnn agrees on outputs of networks that PNNX wrote for it. Needs the extra `ncnn`, fresh networks need pnnx too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shapeinf import InferenceOptions
from shapeinf.api import as_graph
from shapeinf.cli import main
from shapeinf.errors import MissingPackageError, ModelError
from shapeinf.inputs.options import DEFAULT_OPTIONS
from shapeinf.runtime import Verification, verify
from tests.differential.pnnx.case import parse_types
from tests.differential.pnnx.cases_networks import CASES
from tests.differential.pnnx.record import run_pnnx
from tests.runtime.test_torch_runtime import CONV, param

NOT_IN_NCNN = {
    "CrossAttention": ["nn.MultiheadAttention"],
    "Encoder": ["Tensor.to", "pnnx.Expression"],
    "Decoder": ["torch.argmax", "pnnx.Expression"],
    "VisionTransformer": ["Tensor.reshape", "pnnx.Expression"],
    "Windows": ["Tensor.reshape", "pnnx.Expression"],
    "GruTagger": ["torch.ne"],
    "Audio": ["torch.std"],
    "PointNet": ["torch.topk", "pnnx.Expression"],
    "Gated": ["torch.gt"],
    "Yolo": ["pnnx.Expression"],
    "Style": ["pnnx.Expression"],
    "Rotary": ["pnnx.Expression"],
}
"""Layers that PNNX could not translate, statically or with two sizes: ncnn does not load these networks."""

RELU = "7767517\n2 2\nInput in0 0 1 in0\nReLU relu 1 1 in0 out0\n"
AXES = 'ex.input("in0", ncnn.Mat(in0.numpy(), batch_index=0).clone())\nout.append(out0.numpy(batch_index=0))\n'


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A network with the files that PNNX writes for ncnn, by hand."""
    path = tmp_path / "net.pnnx.param"
    path.write_text(param("F.relu r 1 1 0 1 $input=0"), encoding="utf-8")
    (tmp_path / "net.ncnn.param").write_text(RELU, encoding="utf-8")
    (tmp_path / "net.ncnn.bin").write_bytes(b"")
    (tmp_path / "net_ncnn.py").write_text(AXES, encoding="utf-8")
    return path


def ncnn_verify(path: Path, *shapes: list[int]) -> Verification:
    pytest.importorskip("ncnn", reason="ncnn is not installed: nothing is compared with it")
    names = as_graph(path, DEFAULT_OPTIONS).inputs
    inputs: dict[str, Any] = dict(zip(names, shapes, strict=False))
    return verify(path, runtime="ncnn", timeout=60, options=InferenceOptions(inputs=inputs))


def test_outputs_have_the_batch_axis_that_pnnx_removed(files: Path) -> None:
    verification = ncnn_verify(files, [1, 3, 5, 7])
    assert verification.ok, str(verification)
    assert (verification.runs[0].tensors, verification.runs[0].exact) == (1, 1)
    assert verification.runtime.startswith("ncnn 1")


def test_another_shape_is_a_mismatch(files: Path) -> None:
    """A network of ncnn that flattens where that of PNNX does not."""
    (files.parent / "net.ncnn.param").write_text(RELU.replace("ReLU relu", "Flatten flat"), encoding="utf-8")
    mismatches = ncnn_verify(files, [1, 3, 5, 7]).mismatches
    assert {m.tensor for m in mismatches} == {"1"} and "?[1, 105]" in str(mismatches[0])


@pytest.mark.parametrize("name", ["net.ncnn.param", "net.ncnn.bin", "net_ncnn.py"])
def test_a_missing_file_is_named(files: Path, name: str) -> None:
    (files.parent / name).unlink()
    refused = ncnn_verify(files).runs[0].refused
    assert f"{name} does not exist: PNNX writes it into the folder of the network" in refused


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("net.ncnn.param", RELU.replace("ReLU", "torch.gt"), "torch.gt not exists or registered"),
        ("net.ncnn.param", "", "ncnn does not load net.ncnn.param"),
        ("net.ncnn.param", RELU.replace("in0", "a"), "the network of ncnn has no input in0"),
        ("net.ncnn.param", RELU.replace("2 2", "2 99999999999"), "n"),
        ("net_ncnn.py", AXES + AXES.replace("in0", "in1"), "has 2 inputs, that of PNNX has 1"),
        ("net_ncnn.py", "raise SystemExit", "has 0 inputs, that of PNNX has 1"),
    ],
)
def test_damaged_files_are_refused(files: Path, name: str, text: str, message: str) -> None:
    (files.parent / name).write_text(text, encoding="utf-8")
    verification = ncnn_verify(files, [1, 3, 5, 7])
    assert message in verification.runs[0].refused, str(verification)
    assert verification.refused and not verification.mismatches


def test_only_networks_in_files_are_run() -> None:
    pytest.importorskip("ncnn")
    with pytest.raises(ModelError, match=r"only a network in a file NAME\.pnnx\.param can be run in ncnn"):
        verify(param(CONV), runtime="ncnn")


def test_without_the_package_the_error_has_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ncnn", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'shapeinf\[ncnn\]'"):
        verify(param(CONV), runtime="ncnn")


def test_on_the_command_line(files: Path) -> None:
    pytest.importorskip("ncnn")
    result = CliRunner().invoke(main, ["verify", str(files), "--runtime", "ncnn", "--input-shapes", "0=[1,3,8,8]"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("ncnn 1") and result.output.endswith("verified\n")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("kind", ["static", "dynamic"])
def test_fresh_networks(case: Any, kind: str, tmp_path: Path) -> None:
    pytest.importorskip("pnnx")
    pytest.importorskip("torch")
    texts = [case.inputs] if kind == "static" else [case.inputs, case.others]
    path = run_pnnx(case, texts, tmp_path)
    for text in texts if kind == "static" else [*texts, case.third]:
        verification = ncnn_verify(path, *(shape for _, shape in parse_types(text)))
        assert not verification.mismatches, str(verification)
        run = verification.runs[0]
        if run.refused:
            assert any(layer in run.refused for layer in NOT_IN_NCNN.get(str(case), [])), run.refused
        else:
            assert run.exact == run.tensors == len(as_graph(path, DEFAULT_OPTIONS).outputs), str(verification)
