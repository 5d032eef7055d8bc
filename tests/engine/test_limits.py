"""Hostile sizes: an honest unknown or an error, never gigabytes of memory."""

import pytest

from shapeinf import DeclaredType, Graph, Node, infer_shapes
from shapeinf.lattice import PartialTensor, Shape

HUGE = 2**31


def graph_of(op, inputs, attrs=None, outputs=("y",)):
    return Graph(
        dialect="onnx",
        opsets={"": 18},
        inputs=list(inputs),
        outputs=list(outputs),
        nodes=[Node.make(op, tuple(inputs), tuple(outputs), attrs or {}, "n")],
        declared={name: DeclaredType(dtype, dims) for name, (dtype, dims) in inputs.items()},
    )


X = ("float32", (2, 3))
VECTOR = ("int64", (HUGE,))


@pytest.mark.parametrize(
    ("op", "inputs", "attrs"),
    [
        ("Reshape", {"x": X, "shape": VECTOR}, {}),
        ("Expand", {"x": X, "shape": VECTOR}, {}),
        ("ConstantOfShape", {"shape": VECTOR}, {}),
        ("Unsqueeze", {"x": X, "axes": VECTOR}, {}),
        ("Split", {"x": X}, {"num_outputs": HUGE}),
        ("Slice", {"x": X, "starts": VECTOR, "ends": VECTOR}, {}),
    ],
)
def test_huge_ranks_are_unknown(op, inputs, attrs):
    assert infer_shapes(graph_of(op, inputs, attrs)).tensors["y"].shape.dims is None


@pytest.mark.parametrize(
    ("op", "constants", "shape"),
    [
        ("ConstantOfShape", [(1, (HUGE,))], f"[{HUGE}]"),
        ("Range", [((), (0,)), ((), (HUGE,)), ((), (1,))], f"[{HUGE}]"),
    ],
)
def test_huge_contents_are_not_computed(op, constants, shape):
    names = [f"c{i}" for i in range(len(constants))]
    graph = graph_of(op, {})
    graph.nodes = [Node.make(op, tuple(names), ("y",), {}, "n")]
    graph.constants = {
        name: PartialTensor("int64", Shape(() if dims == () else (dims,)), values)
        for name, (dims, values) in zip(names, constants, strict=True)
    }
    assert str(infer_shapes(graph).tensors["y"].shape) == shape
