"""Clean-up in bodies with large constants, of sparse constants, and of models whose opset rises."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

pytest.importorskip("onnxruntime", reason="the numbers are compared in onnxruntime")

from shapeinf.passes import clean
from shapeinf.report.clean_report import clean_summary

node, value = helper.make_node, helper.make_tensor_value_info


def model(
    nodes: list[Any], inputs: list[Any], constants: dict[str, Any] | None = None, opset: int = 18
) -> onnx.ModelProto:
    weights = [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()]
    output = value("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", inputs, [output], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def branch(name: str, array: Any, *, initializer: bool = False) -> onnx.GraphProto:
    """x times a constant of a branch, with an Identity between."""
    tensor = numpy_helper.from_array(array, f"{name}_k")
    nodes = [] if initializer else [node("Constant", [], [f"{name}_k"], value=tensor)]
    nodes += [
        node("Identity", ["x"], [f"{name}_x"]),
        node("Cast", [f"{name}_k"], [f"{name}_f"], to=TensorProto.FLOAT),
        node("MatMul", [f"{name}_x", f"{name}_f"], [f"{name}_y"]),
    ]
    output = value(f"{name}_y", TensorProto.FLOAT, None)
    return helper.make_graph(nodes, name, [], [output], [tensor] if initializer else [])


X, CONDITION = value("x", TensorProto.FLOAT, ["n", 130]), value("c", TensorProto.BOOL, [])
TYPES = [np.float32, np.float16, np.float64, np.int32, np.int8]


@pytest.mark.parametrize("opset", [8, 13, 18])
@pytest.mark.parametrize("dtype", TYPES)
def test_a_large_constant_in_a_body(dtype: Any, opset: int) -> None:
    """More than 64 KiB: 130 * 130 numbers of 4 bytes, and 300 * 300 of one."""
    rng = np.random.default_rng(0)
    array = rng.integers(-3, 4, (130, 600)).astype(dtype)
    branches = {"then_branch": branch("t", array), "else_branch": branch("e", -array, initializer=True)}
    cleaned = clean(model([node("If", ["c"], ["y"], **branches)], [X, CONDITION], opset=opset), verify=True)
    assert cleaned.comparison is not None and cleaned.comparison.equal, cleaned.comparison
    assert [run.reason for run in cleaned.report.passes if run.outcome == "undone"] == []
    counts = cleaned.report.counts()
    assert (counts["constant_to_initializer"], counts["remove_identity"]) == (1, 2)


def test_a_large_constant_in_a_body_inside_a_body() -> None:
    array = np.random.default_rng(0).standard_normal((130, 140)).astype(np.float32)
    inner = helper.make_graph(
        [node("If", ["c"], ["o"], then_branch=branch("t", array), else_branch=branch("e", -array))],
        "inner",
        [],
        [value("o", TensorProto.FLOAT, None)],
    )
    outer = model([node("If", ["c"], ["y"], then_branch=inner, else_branch=branch("f", array))], [X, CONDITION])
    cleaned = clean(outer, verify=True)
    assert cleaned.comparison is not None and cleaned.comparison.equal
    assert cleaned.report.counts()["constant_to_initializer"] == 3


def sparse(dims: list[int]) -> onnx.SparseTensorProto:
    values = numpy_helper.from_array(np.array([1.0, 2.0], np.float32), "values")
    indices = numpy_helper.from_array(np.array([0, 3], np.int64), "indices")
    return onnx.SparseTensorProto(values=values, indices=indices, dims=dims)


def test_a_sparse_constant_stays() -> None:
    nodes = [
        node("Constant", [], ["k"], name="k", sparse_value=sparse([4])),
        node("Identity", ["x"], ["i"]),
        node("Add", ["i", "k"], ["y"]),
    ]
    original = model(nodes, [value("x", TensorProto.FLOAT, ["n", 4])])
    before = original.SerializeToString()
    cleaned = clean(original, verify=True)
    assert cleaned.comparison is not None and cleaned.comparison.equal
    assert cleaned.report.counts() == {"remove_identity": 1}
    (constant, _) = cleaned.to_proto().graph.node
    assert constant == original.graph.node[0] and original.SerializeToString() == before


def test_a_sparse_constant_in_a_body_stays() -> None:
    bodies = {
        f"{name}_branch": helper.make_graph(
            [node("Constant", [], [f"{name}k"], sparse_value=sparse([130])), node("Add", ["x", f"{name}k"], [name])],
            name,
            [],
            [value(name, TensorProto.FLOAT, None)],
        )
        for name in ("then", "else")
    }
    original = model([node("If", ["c"], ["y"], **bodies)], [X, CONDITION])
    cleaned = clean(original, verify=True)
    assert cleaned.comparison is not None and cleaned.comparison.equal
    assert cleaned.to_proto().graph.node[0] == original.graph.node[0]


def test_the_opset_rises_only_for_a_form_and_says_so() -> None:
    plain = model([node("Identity", ["x"], ["i"]), node("Relu", ["i"], ["y"])], [X], opset=11)
    assert [opset.version for opset in clean(plain).to_proto().opset_import] == [11]
    nodes = [node("Unsqueeze", ["x"], ["u"], name="u", axes=[0]), node("Squeeze", ["u"], ["y"], axes=[0])]
    cleaned = clean(model(nodes, [X], opset=11))
    lines = list(clean_summary(cleaned))
    assert lines[1] == "opset 11 is now 13: normalize_forms needs it for Unsqueeze 'u' and 1 more"
    others = clean(model(nodes, [X], opset=11), ("remove_identity", "fuse_bn", "remove_dead"))
    assert [opset.version for opset in others.to_proto().opset_import] == [11]
