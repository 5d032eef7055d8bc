"""Constraints propagate forwards and backwards, cycles reach a fixpoint, an update visits only its dependents."""

from functools import reduce

import networkx as nx
import pytest
from onnx import TensorProto, helper

import shapeinf
from shapeinf import DeclaredType, Graph, Node, infer_shapes
from shapeinf.errors import CyclicGraphError, ModelError, ShapeError
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Dialect, InferenceContext, OpRegistry


def onnx_graph(nodes, inputs, constants=(), outputs=("y",)):
    return Graph(
        dialect="onnx",
        opsets={"": 18},
        inputs=list(inputs),
        outputs=list(outputs),
        nodes=[
            Node.make(op, tuple(ins), tuple(outs), attrs, f"{op}_{i}") for i, (op, ins, outs, attrs) in enumerate(nodes)
        ],
        declared={name: DeclaredType("float32", dims) for name, dims in inputs.items()},
        constants={name: PartialTensor("float32", Shape(dims), None) for name, dims in dict(constants).items()},
    )


def test_a_convolutions_weight_fixes_an_unknown_channel_count():
    graph = onnx_graph(
        [("Relu", ["x"], ["a"], {}), ("Conv", ["a", "w"], ["y"], {"pads": (1, 1, 1, 1)})],
        {"x": ("N", "C", "H", "W")},
        {"w": (64, 3, 3, 3)},
    )
    result = infer_shapes(graph)
    assert str(result.tensors["x"].shape) == "[N, 3, H, W]"
    assert str(result.tensors["a"].shape) == "[N, 3, H, W]"
    assert str(result.tensors["y"].shape) == "[N, 64, H, W]"
    (source,) = result.engine.store.sources.values()
    assert source.node == "Conv_1"
    assert "input channels" in source.reason


def test_a_convolutions_weight_fixes_an_unknown_rank():
    graph = onnx_graph([("Conv", ["x", "w"], ["y"], {})], {"x": None}, {"w": (8, 3, 1, 1)})
    result = infer_shapes(graph)
    assert result.tensors["x"].shape.rank == 4
    assert result.tensors["x"].shape[1] == 3


def test_the_inner_dimension_of_a_product_is_learned():
    graph = onnx_graph([("MatMul", ["x", "w"], ["y"], {})], {"x": ("B", "S", "K")}, {"w": (768, 512)})
    result = infer_shapes(graph)
    assert str(result.tensors["x"].shape) == "[B, S, 768]"
    assert str(result.tensors["y"].shape) == "[B, S, 512]"


def test_a_violation_names_node_inputs_and_cause_and_does_not_cascade():
    graph = onnx_graph(
        [("MatMul", ["x", "w"], ["a"], {}), ("Relu", ["a"], ["b"], {}), ("Relu", ["x"], ["y"], {})],
        {"x": ("B", 128, 768)},
        {"w": (512, 768)},
    )
    result = infer_shapes(graph)
    (error,) = result.diagnostics
    assert (error.severity, error.code, error.node) == ("error", "S101", "MatMul_0")
    assert "inner dimensions" in error.message
    assert any("[B, 128, 768]" in line for line in error.operands)
    assert result.tensors["b"].shape.dims is None
    assert str(result.tensors["y"].shape) == "[B, 128, 768]"
    with pytest.raises(shapeinf.ShapeError, match="MatMul_0"):
        infer_shapes(graph, mode="strict")


def test_reshape_that_changes_the_element_count_is_an_error():
    graph = onnx_graph([("Reshape", ["x", "s"], ["y"], {})], {"x": ("B", 128, 768)})
    graph.constants["s"] = PartialTensor("int64", Shape((4,)), (0, 0, 12, 65))
    (error,) = infer_shapes(graph).diagnostics
    assert "element count must not change" in error.message


# -- cycles

toy = Dialect("toy")


@toy("Merge")
def merge(c: InferenceContext, *xs: Shape | None) -> Shape:
    """The join of the inputs, of which either may be the output, as at the head of a loop."""
    return reduce(c.relax, [x for x in xs if x is not None])


@toy("Same")
def same(c: InferenceContext, x: Shape) -> Shape:
    return x


@toy("Double")
def double(c: InferenceContext, x: Shape) -> Shape:
    return Shape((*x[:-1], x[-1] * 2))


def while_loop(body):
    nodes = [
        Node.make("Merge", ("x", "next"), ("head",), name="merge"),
        Node.make(body, ("head",), ("body",), name="body"),
        Node.make("Same", ("body",), ("next",), name="next_iteration"),
        Node.make("Same", ("head",), ("y",), name="exit"),
    ]
    return Graph(
        dialect="toy",
        opsets={"": 1},
        inputs=["x"],
        outputs=["y"],
        nodes=nodes,
        declared={"x": DeclaredType("float32", ("B", 2))},
        cyclic=True,
    )


def test_a_loop_that_keeps_its_shape_keeps_it_exactly():
    result = infer_shapes(while_loop("Same"), registry=OpRegistry(toy))
    assert str(result.tensors["y"].shape) == "[B, 2]"


@pytest.mark.parametrize("body", ["Same", "Double"])
@pytest.mark.parametrize("shape", [[5, 2], ["C", 7]], ids=str)
def test_an_update_of_a_loop_equals_an_inference_of_the_new_shape(body, shape):
    """The values of the last run are no iteration of the new one."""
    graph, registry = while_loop(body), OpRegistry(toy)
    updated = infer_shapes(graph, registry=registry).update({"x": shape})
    fresh = infer_shapes(graph, registry=registry, inputs={"x": shape})
    assert str(updated.tensors) == str(fresh.tensors)


def test_a_loop_that_doubles_an_axis_reaches_a_sound_fixpoint():
    result = infer_shapes(while_loop("Double"), registry=OpRegistry(toy))
    batch, size = result.tensors["y"].shape
    assert str(batch) == "B"
    bounds = result.interval(size)
    assert (bounds.lo, bounds.hi) == (2, None)
    assert result.engine.visited < 100


@toy("Broken")
def broken(c: InferenceContext, x: Shape) -> Shape:
    raise RecursionError("too deep")


def test_a_bug_of_a_rule_is_a_diagnostic_and_inference_continues():
    result = infer_shapes(while_loop("Broken"), registry=OpRegistry(toy))
    assert {d.code for d in result.diagnostics} == {"S301"}
    assert result.tensors["body"].shape.dims is None


def test_a_cycle_is_an_error_where_none_is_allowed():
    graph = while_loop("Same")
    graph.cyclic = False
    with pytest.raises(CyclicGraphError, match=r"cycle through .*merge"):
        infer_shapes(graph, registry=OpRegistry(toy))


# -- networkx


def test_a_networkx_graph_is_accepted_and_returned():
    graph = onnx_graph([("Relu", ["x"], ["a"], {}), ("Sigmoid", ["a"], ["y"], {})], {"x": ("N", 4)})
    view = graph.to_networkx()
    assert isinstance(view, nx.DiGraph)
    assert view.edges["Relu_0", "Sigmoid_1"]["tensors"] == ["a"]
    assert str(infer_shapes(view).tensors["y"].shape) == "[N, 4]"


def test_a_networkx_graph_built_by_hand():
    view = nx.DiGraph(dialect="onnx", opsets={"": 18}, inputs={"x": ["batch", 3]})
    view.add_node("act", op="Relu", inputs=["x"], outputs=["y"])
    view.add_node("flat", op="Flatten")
    view.add_edge("act", "flat")
    assert str(infer_shapes(view).tensors["flat"].shape) == "[batch, 3]"


def test_a_networkx_node_without_operator_is_an_error():
    view = nx.DiGraph(dialect="onnx")
    view.add_node("a")
    with pytest.raises(ModelError, match="'op'"):
        infer_shapes(view)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([("Relu", ["nowhere"], ["y"], {})], "reads 'nowhere'"),
        ([("Relu", ["x"], ["y"], {}), ("Relu", ["x"], ["y"], {})], "output 'y' is produced twice"),
        ([("Relu", ["x"], ["x"], {})], "output 'x' is produced twice"),
        ([("Relu", ["x"], ["z"], {})], "graph output 'y'"),
    ],
)
def test_malformed_graphs(nodes, message):
    with pytest.raises(ModelError, match=message):
        infer_shapes(onnx_graph(nodes, {"x": (1,)}))


# -- order, update, explain


def test_nodes_in_any_order():
    graph = onnx_graph(
        [("Relu", ["b"], ["y"], {}), ("Relu", ["a"], ["b"], {}), ("Relu", ["x"], ["a"], {})], {"x": (5,)}
    )
    assert str(infer_shapes(graph).tensors["y"].shape) == "[5]"


def two_branches(length):
    nodes = [("Relu", ["x"], ["x0"], {}), ("Relu", ["m"], ["m0"], {})]
    nodes += [("Relu", [f"x{i}"], [f"x{i + 1}"], {}) for i in range(length)]
    nodes += [("Concat", [f"x{length}", "m0"], ["y"], {"axis": 0})]
    return onnx_graph(nodes, {"x": ("B", 8), "m": ("M", 8)})


def test_an_update_visits_only_dependent_nodes():
    result = infer_shapes(two_branches(50))
    assert result.engine.visited == 53
    updated = result.update(inputs={"m": [7, 8]})
    assert updated.engine.visited == 2
    assert str(updated.tensors["y"].shape) == "[B + 7, 8]"


def test_an_update_stops_where_nothing_has_changed():
    assert infer_shapes(two_branches(5)).update(inputs={"m": ["M", 8]}).engine.visited == 0


def test_an_update_drops_constraints_of_nodes():
    graph = onnx_graph([("MatMul", ["x", "w"], ["y"], {})], {"x": ("B", "K"), "w": ("K2", 4)})
    result = infer_shapes(graph)
    updated = result.update(inputs={"w": [16, 4]})
    assert str(updated.tensors["x"].shape) == "[B, 16]"


def test_explain_follows_an_axis_to_its_cause():
    graph = onnx_graph(
        [("MatMul", ["x", "w"], ["a"], {}), ("Transpose", ["a"], ["y"], {"perm": (1, 0)})],
        {"x": ("B", 8)},
        {"w": (8, 32)},
    )
    lines = infer_shapes(graph).explain("y", 0)
    assert lines[0].startswith("y.shape[0] = 32 by Transpose")
    assert "a.shape[1] = 32 by MatMul" in lines[1]
    assert lines[-1] == "w.shape[1] = 32, the shape of a constant"


def test_unknown_operators_do_not_stop_inference():
    graph = onnx_graph([("Relu", ["x"], ["a"], {}), ("NoSuchOp", ["a"], ["y"], {})], {"x": (2,)})
    result = infer_shapes(graph)
    assert result.coverage.unknown_ops == {"NoSuchOp": 1}
    (warning,) = result.diagnostics
    assert (warning.code, warning.node) == ("S201", "NoSuchOp_1")
    assert str(result.tensors["a"].shape) == "[2]"
    with pytest.raises(shapeinf.errors.UnknownOperatorError, match="NoSuchOp_1"):
        infer_shapes(graph, mode="strict")


def test_a_value_outside_of_its_range_is_a_contradiction():
    with pytest.raises(shapeinf.errors.Contradiction, match="batch"):
        infer_shapes(MLP, dims={"batch": "1..8"}, bind={"batch": 9})


# -- user values

MLP = onnx_graph([("Relu", ["x"], ["y"], {})], {"x": ("batch", "seq")})


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({"bind": {"batch": 4}}, "[4, seq]"),
        ({"dims": {"batch": "2..2"}}, "[2, seq]"),
        ({"inputs": {"x": "[3, N]"}}, "[3, N]"),
        ({"inputs": "5x6"}, "[5, 6]"),
        ({"inputs": {"x": {1: 7}}}, "[batch, 7]"),
        ({"inputs": {"x": ["a", "a + 1"]}}, "[a, a + 1]"),
        ({"assume": ["batch == 2*seq"], "bind": {"seq": 3}}, "[6, 3]"),
    ],
)
def test_specs_and_ranges_of_the_user(options, shape):
    assert str(infer_shapes(MLP, **options).tensors["y"].shape) == shape


def test_ranges_bound_dependent_sizes():
    result = infer_shapes(MLP, dims={"batch": (1, 8)}, assume=["seq <= 2*batch"])
    batch, seq = result.tensors["y"].shape
    assert str(result.interval(batch)) == "1..8"
    assert result.engine.store.prove_le(seq, 16) is True


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bind": {"batsh": 4}}, "did you mean 'batch'"),
        ({"inputs": {"xx": [1]}}, "no input is named 'xx'"),
        ({"assume": ["bacth <= 4"]}, "did you mean 'batch'"),
    ],
)
def test_wrong_names_are_errors_with_the_nearest_names(options, message):
    with pytest.raises(shapeinf.UnknownNameError, match=message):
        infer_shapes(MLP, **options)


@pytest.mark.parametrize(
    ("read", "hint"),
    [
        ("hiden", "of a node; did you mean 'hidden'\\?"),
        ("mask", "of a node$"),
        ("y" * 999, "of a node$"),  # long names are not compared
    ],
)
def test_a_value_that_nothing_computes_is_named_with_the_nearest(read, hint):
    nodes = [("Relu", ["x"], ["hidden"], {}), ("Relu", ["x"], ["y" * 1000], {}), ("Relu", [read], ["y"], {})]
    with pytest.raises(ModelError, match=f"which is neither an input, a constant nor an output {hint}"):
        infer_shapes(onnx_graph(nodes, {"x": ("N", 2)}))


def test_declared_outputs_of_a_model_fill_unknowns():
    node = helper.make_node("Custom", ["x"], ["y"], domain="my")
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 5])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("my", 1)])
    assert str(infer_shapes(model).tensors["y"].shape) == "[N, 5]"
    assert infer_shapes(model, declared="check").tensors["y"].shape.dims is None


def test_contents_join_new_constraints_of_the_same_node():
    """The concatenation fixes the columns of x; the rows of both are then side by side, those of x unknown."""
    nodes = [("Concat", ["k", "x"], ["y"], {"axis": 0})]
    graph = onnx_graph(nodes, {"x": (2, "B")})
    graph.constants = {"k": PartialTensor("float32", Shape((2, 1)), (2.0, 1.0))}
    result = infer_shapes(graph)
    assert str(result.tensors["y"].shape) == "[4, 1]"
    assert str(result.tensors["x"].shape) == "[2, 1]"
    assert not result.diagnostics


@pytest.mark.parametrize(
    ("op", "target", "attrs", "outputs"),
    [
        ("Split", (0, 0), {}, {"y": "[0]", "z": "[0]"}),
        ("Reshape", (3, 0), {"allowzero": 1}, {"y": "[3, 0]"}),
    ],
)
def test_an_operator_that_wants_nothing_of_a_size_breaks_only_an_assumption(op, target, attrs, outputs):
    graph = Graph(
        dialect="onnx",
        opsets={"": 18},
        inputs=["x"],
        outputs=list(outputs),
        nodes=[Node.make(op, ("x", "t"), tuple(outputs), attrs)],
        declared={"x": DeclaredType("float32", ("N",))},
        constants={"t": PartialTensor("int64", Shape((len(target),)), target)},
    )
    result = infer_shapes(graph)
    assert {name: str(result.tensors[name].shape) for name in outputs} == outputs
    (warning,) = result.diagnostics
    assert warning.severity == "warning"
    assert "named dims are at least 1" in warning.message
    assert not infer_shapes(graph, min_dim=0).diagnostics
    with pytest.raises(ShapeError, match="must"):
        infer_shapes(graph, bind={"N": 2}, mode="strict")
