"""A model of more than 2 GB is cleaned in little memory: weights that no pass computes with are not loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

ROOT = Path(__file__).parents[2]
LAYERS, WIDTH = 10, 8192
MOST_MORE = 300 << 10  # KiB: a tenth of the weights


def large_model(folder: Path, layers: int, width: int) -> Path:
    """MatMuls with Identities between them, whose weights are a sparse file; then a Gemm and an Add to fuse."""
    nodes, tensors, data = [], [], folder / "m.data"
    count = width * width * 4
    for layer in range(layers):
        weight = onnx.TensorProto(name=f"w{layer}", data_type=TensorProto.FLOAT, dims=[width, width])
        weight.raw_data = b""
        set_external_data(weight, "m.data", layer * count, count)
        weight.ClearField("raw_data")
        tensors.append(weight)
        nodes.append(helper.make_node("MatMul", [f"x{layer}", f"w{layer}"], [f"m{layer}"]))
        nodes.append(helper.make_node("Identity", [f"m{layer}"], [f"x{layer + 1}"]))
    with open(data, "wb") as file:
        file.truncate(layers * count)
    tensors += [
        numpy_helper.from_array(np.ones((width, 4), np.float32), "g"),
        numpy_helper.from_array(np.ones(4, np.float32), "b"),
    ]
    nodes += [
        helper.make_node("Gemm", [f"x{layers}", "g"], ["h"]),
        helper.make_node("Add", ["h", "b"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x0", TensorProto.FLOAT, ["n", width])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    return folder / "m.onnx"


def clean_in_a_child(model: Path, out: Path) -> int:
    """The resident set that cleaning adds, in KiB."""
    command = [sys.executable, "-m", "tests.passes.child", str(model), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    before, after, *names = done.stdout.split()
    assert names == ["remove_identity", "fuse_bias_add"]
    return int(after) - int(before)


def test_without_the_file_of_the_weights(tmp_path: Path) -> None:
    model = large_model(tmp_path, 3, 256)
    (tmp_path / "m.data").unlink()
    clean_in_a_child(model, tmp_path / "out.onnx")
    result = onnx.load(tmp_path / "out.onnx", load_external_data=False)
    assert [node.op_type for node in result.graph.node] == ["MatMul"] * 3 + ["Gemm"]
    assert sum(t.data_location == TensorProto.EXTERNAL for t in result.graph.initializer) == 3


@pytest.mark.slow
def test_more_than_2_gb(tmp_path: Path) -> None:
    model = large_model(tmp_path, LAYERS, WIDTH)
    assert (tmp_path / "m.data").stat().st_size > 1 << 31
    assert clean_in_a_child(model, tmp_path / "out.onnx") < MOST_MORE
    result = onnx.load(tmp_path / "out.onnx", load_external_data=False)
    assert [node.op_type for node in result.graph.node] == ["MatMul"] * LAYERS + ["Gemm"]
