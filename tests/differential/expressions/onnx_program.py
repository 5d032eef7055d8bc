"""Programs of expressions as ONNX models, and their runs in onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from shapeinf.lattice.dtypes import ONNX_CODES
from tests.differential.expressions.drawing import Node, Program
from tests.differential.ort import session_of

OPSET = 20


def model_of(program: Program, *, all_outputs: bool) -> onnx.ModelProto:
    """A model with a vector of each size as an input; its outputs are all values, or only the tensors with a size."""
    nodes: list[onnx.NodeProto] = []
    outputs: list[str] = []
    for number, node in enumerate(program.nodes):
        nodes += _nodes(number, node)
        if all_outputs and node.op not in ("size", "constant") and node.dtype != "bfloat16":  # numpy has none
            outputs.append(f"v{number}")
        if node.op == "result":
            outputs.append(f"t{number}")
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [name.upper()]) for name in ("a", "b")]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info(name) for name in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


def _nodes(number: int, node: Node) -> list[onnx.NodeProto]:
    name = f"v{number}"
    operands = [f"v{operand}" for operand in node.operands]
    if node.op == "size":
        return [helper.make_node("Shape", ["ab"[int(node.value or 0)]], [name])]
    if node.op == "constant":
        tensor = helper.make_tensor("c", ONNX_CODES[node.dtype], [1], [node.value])
        return [helper.make_node("Constant", [], [name], value=tensor)]
    if node.op == "Cast":
        return [helper.make_node("Cast", operands, [name], to=ONNX_CODES[node.dtype])]
    if node.op == "result":
        limits = [_int64(f"l{number}", 0), _int64(f"h{number}", 7)]
        clip = helper.make_node("Clip", [*operands, f"l{number}", f"h{number}"], [name])
        return [*limits, clip, helper.make_node("ConstantOfShape", [name], [f"t{number}"])]
    return [helper.make_node(node.op, operands, [name])]


def _int64(name: str, number: int) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=helper.make_tensor("c", TensorProto.INT64, [], [number]))


def run(model: onnx.ModelProto, bindings: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """The outputs of onnxruntime at each binding."""
    session = session_of(model)
    names = [value.name for value in session.get_outputs()]
    used = {value.name for value in session.get_inputs()}
    feeds = [{"a": np.zeros(a, np.float32), "b": np.zeros(b, np.float32)} for a, b in bindings]
    runs = [session.run(names, {k: v for k, v in feed.items() if k in used}) for feed in feeds]
    return [dict(zip(names, values, strict=True)) for values in runs]
