"""Small models, each correct or with a single defect."""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx
from onnx import TensorProto, helper

Dims = Sequence[int | str | None] | None
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def node(op, inputs, output, **attributes):
    """A node named `make_OUTPUT`."""
    return helper.make_node(op, inputs.split(), [output], name=f"make_{output}", **attributes)


def numbers(name, *values):
    """A constant of int64 numbers."""
    return helper.make_tensor(name, INT64, [len(values)], values)


def weights(name, *dims):
    """A constant of zeros."""
    return helper.make_tensor(name, FLOAT, dims, bytes(4 * math.prod(dims)), raw=True)


def model(nodes, inputs, outputs, inner=(), constants=()) -> onnx.ModelProto:
    """A model; inputs, outputs and inner values are `{name: dims}`, all float32."""
    values = [
        [helper.make_tensor_value_info(name, FLOAT, dims) for name, dims in dict(shapes).items()]
        for shapes in (inputs, outputs, inner)
    ]
    graph = helper.make_graph(nodes, "g", values[0], values[1], list(constants), value_info=values[2])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def reshape_model(*sizes):
    """x [batch, 6] to fixed sizes, added to b [batch, 2, 3]."""
    nodes = [node("Reshape", "x s", "h"), node("Add", "h b", "y")]
    inputs = {"x": ["batch", 6], "b": ["batch", 2, 3]}
    return model(nodes, inputs, {"y": ["batch", 2, 3]}, constants=[numbers("s", *sizes)])


def join_model(op, first, second, **attributes):
    """x [first, 6] and z [second, 6], joined by an operator."""
    return model([node(op, "x z", "y", **attributes)], {"x": [first, 6], "z": [second, 6]}, {"y": None})


def conflicting_names(k, k2):
    """Products of x [n, k] with [4, 8] and of z [n, k2] with [5, 8]."""
    nodes = [node("MatMul", "x w", "a"), node("MatMul", "z v", "b"), node("Add", "a b", "y")]
    constants = [weights("w", 4, 8), weights("v", 5, 8)]
    return model(nodes, {"x": ["n", k], "z": ["n", k2]}, {"y": ["n", 8]}, constants=constants)


def skip_model():
    """A U-Net's skip: halved and doubled, then concatenated with the input; H must be even."""
    nodes = [
        node("MaxPool", "x", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Resize", "p  scales", "u"),
        node("Concat", "x u", "y", axis=1),
    ]
    nodes[1].input[:] = ["p", "", "scales"]
    scales = helper.make_tensor("scales", FLOAT, [4], [1.0, 1.0, 2.0, 2.0])
    return model(nodes, {"x": [1, 3, "H", 8]}, {"y": None}, constants=[scales])
