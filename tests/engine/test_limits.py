"""Hostile sizes and versions: an unknown or an error, never gigabytes of memory."""

import onnx
import pytest
from onnx import helper

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


@pytest.mark.parametrize("version", [2**31 - 1, 2**31, 2**33, 2**62, -(2**40)])
@pytest.mark.parametrize(("domain", "op"), [("", "Relu"), ("", "Foo"), ("ai.onnx.ml", "Scaler"), ("ai.onnx.ml", "Foo")])
def test_versions_of_any_size(domain, op, version):
    """Files have 64 bits for them: a version newer than all known ones counts as the newest."""
    x = helper.make_tensor_value_info("x", 1, ["N", 4])
    y = helper.make_tensor_value_info("y", 1, None)
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], domain=domain)], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, version)])
    known = onnx.defs.has(op, domain=domain)
    assert (infer_shapes(model).tensors["y"].shape.dims is not None) == known
