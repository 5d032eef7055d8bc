"""Small models for tests of commands."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper


def write(path: Path, nodes: list[onnx.NodeProto], domains: tuple[str, ...] = ("",)) -> Path:
    """A model of these nodes from x [batch, 3] to y."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", [x], [y])
    opsets = [helper.make_opsetid(domain, 18 if domain == "" else 1) for domain in domains]
    path.write_bytes(helper.make_model(graph, opset_imports=opsets).SerializeToString())
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write(tmp_path / "m.onnx", [helper.make_node("Concat", ["x", "x"], ["y"], name="twice", axis=0)])


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """[batch, 3] plus [batch, 6], which cannot be broadcast."""
    nodes = [
        helper.make_node("Concat", ["x", "x"], ["wide"], name="wide", axis=1),
        helper.make_node("Add", ["x", "wide"], ["y"], name="sum"),
    ]
    return write(tmp_path / "wrong.onnx", nodes)
