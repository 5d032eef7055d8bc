"""torch agrees on networks of PNNX: the types of all blobs. Needs the extra `torch`; fresh networks need pnnx too."""

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
from tests.differential.pnnx.random_networks import random_case
from tests.differential.pnnx.record import network, run_pnnx, tensors_of
from tests.engine.runtime import parsed
from tests.runtime.cases import MATMUL

CONV = (
    "nn.Conv2d conv 1 1 0 1 bias=True dilation=(1,1) groups=1 in_channels=3 kernel_size=(3,3) out_channels=4 "
    "padding=(1,1) padding_mode=zeros stride=(2,2) @bias=(4)f32 @weight=(4,3,3,3)f32"
)


def param(*lines: str, inputs: str = "(?,3,?,?)f32", output: str = "1") -> str:
    """The text of a network with one input."""
    whole = [f"pnnx.Input pnnx_input_0 0 1 0 #0={inputs}", *lines, f"pnnx.Output pnnx_output_0 1 0 {output}"]
    return "\n".join(["7767517", f"{len(whole)} {len(whole)}", *whole]) + "\n"


def torch_verify(model: Any, **options: Any) -> Verification:
    pytest.importorskip("torch", reason="torch is not installed: no runtime agrees on networks of PNNX")
    return verify(model, runtime="torch", **options)


@pytest.mark.parametrize(
    ("text", "shape", "count"),
    [
        pytest.param(param(CONV), [2, 3, 9, 10], 1, id="a module"),
        pytest.param(param("torch.cat c 2 1 0 0 1 dim=1"), [2, 3, 4, 5], 1, id="an input twice"),
    ],
)
def test_networks_are_verified(text: str, shape: list[int], count: int) -> None:
    verification = torch_verify(text, options=InferenceOptions(inputs={"0": shape}))
    assert verification.ok, str(verification)
    run = verification.runs[0]
    assert (run.tensors, run.exact) == (count, count), str(verification)
    assert verification.runtime.startswith("torch 2")
    assert "torch writes no outputs into buffers" in run.unbound[0].reason


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("models.yolo.Detect d 1 1 0 1", "models.yolo.Detect is not run in torch here"),
        ("torch.load d 1 1 0 1", "torch.load is not run in torch here"),
        ("torch.os.system d 1 1 0 1", "torch.os.system is not run in torch here"),
        ("nn.Module d 1 1 0 1", "nn.Module is not run in torch here"),
        ("nn.ReLU d 1 1 0 1 color=red", "torch does not construct it"),
        (
            "nn.RNN d 1 1 0 1 hidden_size=3 input_size=4 num_layers=2147483647",
            "num_layers=2147483647 is above the limit of 1024",
        ),
        ("Tensor.to d 1 1 0 1 dtype=torch.load", "torch has no torch.load"),
        ("pnnx.Expression d 1 1 0 1 expr=add(@0,,@0)", "its expression does not parse"),
    ],
)
def test_operators_that_cannot_run_are_not_compared(line: str, reason: str) -> None:
    """Nor are those that need their outputs: that is no agreement."""
    verification = torch_verify(param(line, "torch.cat c 2 1 1 0 2 dim=1", output="2"))
    run = verification.runs[0]
    assert [item.tensor for item in run.skipped] == ["1", "2"], str(verification)
    assert reason in run.skipped[0].reason and run.skipped[1].reason == "its input 1 is not computed"
    assert run.tensors == 0 and verification.verdict == "not verified: no tensor was compared"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (param(CONV.replace("@weight=(4,3,3,3)", "@weight=(4,3,3,1)")), "size mismatch for weight"),
        (param(CONV.replace("@weight=(4,3,3,3)", "@weight=(400000,300000,3,3)")), "its weights would take"),
        (param("nn.Linear l 1 1 0 1 bias=False in_features=300000 out_features=300000"), "the weights of l would take"),
        (param("pnnx.Expression e 1 1 0 1 expr=pow(2,pow(2,30))"), "has more than 4096 bits"),
        (param("pnnx.Expression e 1 1 0 1 expr=@7"), "@7 is not an input of the expression"),
        (param("Tensor.slice s 1 1 0 1 dim=9 end=2 start=0 step=1 $input=0"), "there is no axis 9"),
        (param("torch.unsqueeze s 1 1 0 1 dim=9 $input=0"), "Dimension out of range"),
    ],
)
def test_what_torch_refuses_is_not_verified(text: str, message: str) -> None:
    verification = torch_verify(text)
    assert message in verification.runs[0].refused, str(verification)
    assert not verification.ok


def test_on_the_command_line(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "net.pnnx.param"
    path.write_text(param(CONV), encoding="utf-8")
    result = CliRunner().invoke(main, ["verify", str(path), "--runtime", "torch", "--input-shapes", "0=[1,3,8,8]"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("torch 2") and result.output.endswith("verified\n")


def test_without_the_package_the_error_has_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'shapeinf\[torch\]'"):
        verify(param(CONV), runtime="torch")


def test_the_runtime_must_run_the_format() -> None:
    with pytest.raises(ModelError, match="torch does not run models of this format: choose onnxruntime or openvino"):
        verify(parsed(MATMUL), runtime="torch")
    with pytest.raises(ModelError, match="onnxruntime does not run models of this format: choose torch or ncnn"):
        verify(param(CONV), runtime="onnxruntime")


def test_torch_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingPackageError, match=r"verify --runtime torch"):
        verify(param(CONV))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("kind", ["static", "dynamic"])
def test_fresh_networks(case: Any, kind: str, tmp_path: Path) -> None:
    """Every blob, at the traced sizes and at one that was never traced."""
    pytest.importorskip("torch")
    pytest.importorskip("pnnx")
    texts = [case.inputs] if kind == "static" else [case.inputs, case.others]
    path = run_pnnx(case, texts, tmp_path)
    for text in texts if kind == "static" else [*texts, case.third]:
        shapes = [shape for _, shape in parse_types(text)]
        names = as_graph(path, DEFAULT_OPTIONS).inputs
        options = InferenceOptions(inputs=dict(zip(names, shapes, strict=True)))
        verification = torch_verify(path, options=options, timeout=60)
        assert verification.ok, str(verification)
        run = verification.runs[0]
        assert not run.skipped and not run.unknown and run.exact == run.tensors, str(verification)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_outputs_are_those_of_the_module(case: Any, tmp_path: Path) -> None:
    """With the weights of the file: the runtime calls torch as the module did before it was converted."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("pnnx")
    from shapeinf.runtime.torch_runtime import runtime

    path = run_pnnx(case, [case.inputs], tmp_path)
    inputs = tensors_of(case.inputs)
    graph = as_graph(path, DEFAULT_OPTIONS)
    outputs = runtime().open(graph, None).outputs(dict(zip(graph.inputs, inputs, strict=True)))
    with torch.no_grad():
        expected = network(case)(*inputs)
    expected = list(expected) if isinstance(expected, tuple) else [expected]
    assert len(outputs) == len(expected)
    for output, true in zip(outputs, expected, strict=True):
        torch.testing.assert_close(output, true, rtol=1e-3, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", ["static", "dynamic"])
def test_random_networks(seed: int, kind: str, tmp_path: Path) -> None:
    """No blob has another type, whatever pnnx made of the network; what torch cannot run is not compared."""
    pytest.importorskip("torch")
    pytest.importorskip("pnnx")
    case = random_case(seed)
    if case is None:
        pytest.skip("no operator runs")
    texts = [case.inputs] if kind == "static" else [case.inputs, case.others]
    try:
        path = run_pnnx(case, texts, tmp_path)
    except RuntimeError:
        pytest.skip("pnnx does not convert it")
    for text in texts if kind == "static" else [*texts, case.third]:
        names = as_graph(path, DEFAULT_OPTIONS).inputs
        shapes = dict(zip(names, (shape for _, shape in parse_types(text)), strict=True))
        verification = torch_verify(path, options=InferenceOptions(inputs=shapes, declared="ignore"), timeout=60)
        assert not verification.mismatches, str(verification)
        assert not verification.runs[0].unknown, str(verification)
