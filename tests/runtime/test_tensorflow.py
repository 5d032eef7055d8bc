"""TensorFlow agrees on its own graphs: the types of all nodes that run. Needs the extra `tensorflow`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from shapeinf import InferenceOptions
from shapeinf.cli import main
from shapeinf.errors import MissingPackageError, ModelError
from shapeinf.runtime import Verification, verify
from tests.engine.runtime import parsed
from tests.runtime.cases import MATMUL
from tests.vectors import ROOT

CORPUS = ROOT / "tf_graphs"
TRUTHS = sorted(CORPUS.glob("*.truth.json"))
DEVIATIONS = {
    # placeholders for statistics: declared as [0] and so with oneDNN, a scalar without it
    "v1_lenet_train_adam_resource": {
        f"{scope}/FusedBatchNormV3_grad/FusedBatchNormGradV3:{k}"
        for scope in ("gradients", "gradients_1")
        for k in (3, 4)
    },
}
"""Outputs whose shapes depend on the build of TensorFlow."""


def node(name: str, op: str, *inputs: str, **attributes: str) -> str:
    """A NodeDef in text form; attributes are values in text form."""
    parts = [f'name: "{name}" op: "{op}"', *(f'input: "{value}"' for value in inputs)]
    parts += [f'attr {{ key: "{key}" value {{ {value} }} }}' for key, value in attributes.items()]
    return f"node {{ {' '.join(parts)} }}\n"


def placeholder(name: str, dtype: str, *sizes: int) -> str:
    dims = " ".join(f"dim {{ size: {size} }}" for size in sizes)
    return node(name, "Placeholder", dtype=f"type: {dtype}", shape=f"shape {{ {dims} }}")


FLOAT = {"T": "type: DT_FLOAT"}
VERSIONS = "versions { producer: 2474 }"
X = placeholder("x", "DT_FLOAT", -1, 4)
PRODUCT = (
    X + placeholder("w", "DT_FLOAT", 4, -1) + node("y", "MatMul", "x", "w", **FLOAT) + node("z", "Relu", "y", **FLOAT)
)
VARIABLE = (
    node("v", "VarHandleOp", dtype="type: DT_FLOAT", shape="shape { dim { size: 4 } }", shared_name='s: "v"')
    + node("r", "ReadVariableOp", "v", dtype="type: DT_FLOAT")
    + X
    + node("y", "AddV2", "x", "r", **FLOAT)
)
CHOICE = X + node("w", "Where", "x", **FLOAT)


def tensorflow_verify(text: str, **options: Any) -> Verification:
    pytest.importorskip("tensorflow", reason="tensorflow is not installed: no runtime agrees on its graphs")
    return verify(text + VERSIONS, runtime="tensorflow", **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "expected"),  # tensors, exact, bounded
    [
        pytest.param(PRODUCT, (2, 2, 0), id="plain"),
        pytest.param(VARIABLE, (3, 3, 0), id="a variable"),
        pytest.param(CHOICE, (1, 0, 1), id="a size that depends on data"),
    ],
)
def test_graphs_are_verified(text: str, expected: tuple[int, int, int]) -> None:
    verification = tensorflow_verify(text)
    assert verification.ok, str(verification)
    run = verification.runs[0]
    assert (run.tensors, run.exact, run.bounded) == expected, str(verification)
    assert verification.runtime.startswith("tensorflow 2")
    assert run.bound == 0 and "writes no outputs into buffers" in run.unbound[0].reason


@pytest.mark.slow
def test_nodes_that_do_not_run_are_skipped() -> None:
    branch = node("p", "Placeholder", dtype="type: DT_BOOL", shape="shape { }")
    switch = node("s", "Switch", "x", "p", **FLOAT) + node("a", "Neg", "s", **FLOAT) + node("b", "Relu", "s:1", **FLOAT)
    verification = tensorflow_verify(X + branch + switch, arrays={"p:0": np.array(True)})
    assert verification.ok, str(verification)
    skipped = {item.tensor: item.reason for item in verification.runs[0].skipped}
    assert skipped.get("a:0") == "the run does not execute its node"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            placeholder("x", "DT_RESOURCE") + node("y", "Identity", "x", T="type: DT_RESOURCE"),
            "input x:0 is a resource",
        ),
        (
            node("v", "VarHandleOp", dtype="type: DT_FLOAT", shape="shape { unknown_rank: true }", shared_name='s: "v"')
            + node("y", "ReadVariableOp", "v", dtype="type: DT_FLOAT"),
            "the variable v has no value, and its shape is not declared",
        ),
    ],
)
def test_what_cannot_run_is_refused(text: str, message: str) -> None:
    verification = tensorflow_verify(text)
    assert message in verification.runs[0].refused
    assert not verification.ok and not verification.mismatches


@pytest.mark.slow
def test_the_message_of_a_kernel_is_short() -> None:
    text = X + placeholder("i", "DT_INT32", 1) + node("y", "Reshape", "x", "i", Tshape="type: DT_INT32", **FLOAT)
    verification = tensorflow_verify(text, arrays={"i:0": np.array([5], np.int32), "x:0": np.ones((2, 4), np.float32)})
    refused = verification.runs[0].refused
    assert refused.startswith("Input to reshape is a tensor with 8 values") and refused.endswith("(node 'y')")


@pytest.mark.slow
def test_on_the_command_line(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    path = tmp_path / "graph.pbtxt"
    path.write_text(PRODUCT + VERSIONS, encoding="utf-8")
    result = CliRunner().invoke(main, ["verify", str(path), "--runtime", "tensorflow", "--input-shapes", "x:0=[2,4]"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("tensorflow 2") and result.output.endswith("verified\n")


def test_without_the_package_the_error_has_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'shapeinf\[tensorflow\]'"):
        verify(X + VERSIONS, runtime="tensorflow")


def test_other_runtimes_run_onnx_models_only() -> None:
    with pytest.raises(ModelError, match="onnxruntime does not run models of this format: choose tensorflow"):
        verify(PRODUCT + VERSIONS, runtime="onnxruntime")


@pytest.mark.slow
def test_an_onnx_model_is_not_imported() -> None:
    pytest.importorskip("tensorflow")
    with pytest.raises(ModelError, match="tensorflow does not run models of this format: choose onnxruntime"):
        verify(parsed(MATMUL), runtime="tensorflow")


@pytest.mark.slow
@pytest.mark.parametrize("path", TRUTHS, ids=lambda path: path.name.removesuffix(".truth.json"))
def test_real_graphs(path: Path) -> None:
    """Random values: some graphs refuse them, none has a tensor of another type than the inferred one."""
    pytest.importorskip("tensorflow")
    truth = json.loads(path.read_text(encoding="utf-8"))
    model = CORPUS / truth["file"]
    for index, binding in enumerate(truth["bindings"]):
        shapes = {}
        for item in truth["inputs"]:
            dims = item["dims"] if item["dims"] is not None else item["shapes"][index]
            shapes[item["name"]] = [binding[dim] if isinstance(dim, str) else dim for dim in dims]
        verification = verify(model, runtime="tensorflow", timeout=60, options=InferenceOptions(inputs=shapes))
        expected = DEVIATIONS.get(truth["name"], set())
        assert {mismatch.tensor for mismatch in verification.mismatches} <= expected, str(verification)
