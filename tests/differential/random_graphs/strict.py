"""Graphs that onnxruntime runs only where they are valid.

onnxruntime ignores inputs of Concat without elements; the specification requires that their other axes are equal, too.
Before each Concat along axis 0 or 1 a product fails where the other one of these two axes differs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import helper, numpy_helper


def with_strict_concats(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with checks of its concatenations, in bodies too."""
    strict = onnx.ModelProto()
    strict.CopyFrom(model)
    _check_concats(strict.graph)
    return strict


def _check_concats(graph: onnx.GraphProto) -> None:
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                _check_concats(attribute.g)
        if node.op_type == "Concat" and helper.get_node_attr_value(node, "axis") in (0, 1):
            nodes += _checks(node)
        nodes.append(node)
    graph.ClearField("node")
    graph.node.extend(nodes)


def _checks(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    """Nodes that compute the size of the other axis of each input, and a product of rows and columns of that size."""
    prefix = f"strict_{node.output[0]}"
    other = 1 - helper.get_node_attr_value(node, "axis")
    yield _constant(f"{prefix}_one", [1])
    yield _constant(f"{prefix}_start", [other])
    yield _constant(f"{prefix}_stop", [other + 1])
    for index, name in enumerate(node.input):
        size = f"{prefix}_{index}"
        yield helper.make_node("Shape", [name], [f"{size}_shape"])
        yield helper.make_node("Slice", [f"{size}_shape", f"{prefix}_start", f"{prefix}_stop"], [size])
        order = [size, f"{prefix}_one"] if index else [f"{prefix}_one", size]
        yield helper.make_node("Concat", order, [f"{size}_sides"], axis=0)
        yield helper.make_node("ConstantOfShape", [f"{size}_sides"], [f"{size}_zeros"])
        if index:
            yield helper.make_node("MatMul", [f"{prefix}_0_zeros", f"{size}_zeros"], [f"{size}_equal"])


def _constant(name: str, values: list[int]) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(values, np.int64)))
