"""ONNX files whose nodes are not in order: the same shapes as in order, and the same errors."""

import random
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from shapeinf import ModelError, infer_shapes
from shapeinf.compilation import is_compiled
from shapeinf.engine.compiled import compile_graph
from shapeinf.formats.onnx.source import read
from shapeinf.ops import default_registry

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.onnx"))


def shuffle(graph, draw):
    nodes = list(graph.node)
    draw.shuffle(nodes)
    del graph.node[:]
    graph.node.extend(nodes)
    for attribute in (attribute for node in graph.node for attribute in node.attribute):
        if attribute.type == onnx.AttributeProto.GRAPH:
            shuffle(attribute.g, draw)


def types_of(model):
    return {name: str(info) for name, info in infer_shapes(model).tensors.items()}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_order_of_nodes_does_not_matter(path):
    model = onnx.load(path)
    expected = types_of(model.SerializeToString())
    for seed in range(3):
        shuffle(model.graph, random.Random(seed))
        assert types_of(model.SerializeToString()) == expected


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model_of(nodes, inputs=("x",)):
    """The bytes of a model with the input `x: [n, 3]` and the output `y`; nodes are (op, inputs, outputs)."""
    protos = [node if isinstance(node, onnx.NodeProto) else helper.make_node(*node) for node in nodes]
    graph = helper.make_graph(protos, "g", [value(name, ["n", 3]) for name in inputs], [value("y", None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString()


def branch(name, op, *inputs):
    return helper.make_graph([helper.make_node(op, inputs, [name])], name, [], [value(name, None)])


def test_a_value_that_only_a_subgraph_reads_may_be_produced_after_it():
    condition = helper.make_node("If", ["c"], ["y"])
    condition.attribute.append(helper.make_attribute("then_branch", branch("p", "Relu", "t")))
    condition.attribute.append(helper.make_attribute("else_branch", branch("q", "Neg", "t")))
    others = [("Transpose", ["x"], ["t"]), ("ReduceSum", ["x"], ["s"]), ("Cast", ["s"], ["c"])]
    nodes = [helper.make_node(*node) for node in others]
    nodes[1].attribute.append(helper.make_attribute("keepdims", 0))
    nodes[2].attribute.append(helper.make_attribute("to", TensorProto.BOOL))
    for order in ([*nodes, condition], [condition, *nodes], [*nodes[1:], condition, nodes[0]]):
        result = infer_shapes(model_of(order))
        assert not result.diagnostics
        assert str(result.tensors["y"]) == "float32[3, n]"


PROBLEMS = [
    ([("Add", ["x", "b"], ["a"]), ("Relu", ["a"], ["b"]), ("Relu", ["b"], ["y"])], "cycle"),
    ([("Add", ["x", "a"], ["a"]), ("Relu", ["a"], ["y"])], "cycle"),
    ([("Relu", ["x"], ["y"]), ("Neg", ["x"], ["y"])], "'y' is produced twice"),
    ([("Relu", ["y"], ["x"]), ("Neg", ["x"], ["y"])], "'x' is produced twice"),
    ([("Relu", ["a"], ["y"]), ("Add", ["x", "nowhere"], ["a"])], "reads 'nowhere', which is neither"),
    ([("Relu", ["x"], ["a"])], "no node produces the graph output 'y'"),
]


@pytest.mark.parametrize(("nodes", "message"), PROBLEMS)
def test_malformed_graphs_have_the_same_error_in_any_order(nodes, message):
    for order in (nodes, nodes[::-1]):
        with pytest.raises(ModelError, match=message):
            infer_shapes(model_of(order))


def test_an_input_that_is_declared_twice_is_an_error():
    with pytest.raises(ModelError, match="'x' is declared twice"):
        infer_shapes(model_of([("Relu", ["a"], ["y"]), ("Neg", ["x"], ["a"])], inputs=("x", "x")))


def test_nodes_in_no_order_are_not_built_one_by_one():
    """The rows of the file are sorted, and used as they are."""
    chain = [("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(50)]
    graph = read(model_of([("Neg", ["v50"], ["y"]), *chain[::-1], ("Neg", ["x"], ["v0"])]))
    compiled = compile_graph(graph, default_registry())
    assert compiled.groups is None
    assert [row[3] or compiled.node(i).op for i, row in enumerate(compiled.rows)] == ["Neg", *["Relu"] * 50, "Neg"]
    if not is_compiled():  # compiled code makes the same tuples anew
        assert set(map(id, compiled.rows)) == set(map(id, graph.nodes.rows))
    assert sorted(compiled.file_order) == list(range(52))
    assert [compiled.node(i).outputs[0] for i in compiled.file_order] == [node.outputs[0] for node in graph.nodes]
