"""Attributes that are functions of the model: bodies of their node, compiled when they first run."""

from __future__ import annotations

import pytest

from shapeinf import LimitError, infer_shapes
from shapeinf.graph import DeclaredType, FunctionReference, Graph, Node, NodeKind
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import ArgDef, Dialect, InferenceContext, OpDef, OpRegistry

toy = Dialect("toy")


@toy("Call", labels={"f": ""})
def call(c: InferenceContext, *values: TensorType, f: FunctionReference) -> tuple[object, ...]:
    """The outputs of a function."""
    return tuple(c.bodies["f"].run(values, certain=True))


@toy("Any", labels={"branches": "branch"})
def any_branch(c: InferenceContext, *values: TensorType, branches: tuple[FunctionReference, ...]) -> tuple[object, ...]:
    """The join of all branches."""
    first, *others = (c.bodies[f"branches[{i}]"].run(values, certain=False) for i in range(len(branches)))
    joined = first
    for other in others:
        joined = [c.relax_type(a, b, str(i)) for i, (a, b) in enumerate(zip(joined, other, strict=True))]
    return tuple(joined)


@toy("Pair")
def pair(c: InferenceContext, x: Shape, *, axis: int) -> Shape:
    """[n] -> [2*n]."""
    return Shape(2 * d if i == axis else d for i, d in enumerate(x.require()))


@toy("Turn")
def turn(c: InferenceContext, x: Shape) -> Shape:
    """The axes in reverse."""
    return Shape(reversed(x.require()))


@toy("MustMatch")
def must_match(c: InferenceContext, a: Shape, b: Shape) -> Shape:
    """Two inputs of equal shapes."""
    return c.merge(a, b, "both must be equal")


toy.define(
    OpDef(
        "Silent",
        "toy",
        inputs=(ArgDef("x", type_attr="T"),),
        outputs=(ArgDef("y", type_attr="T"), ArgDef("n", type="int64")),
    )
)


def reference(name, **attributes):
    return FunctionReference(("", name, ""), attributes)


def graph(nodes, functions=(), outputs=("y",), dims=(None, 3)):
    return Graph(
        dialect="toy",
        inputs=["x"],
        outputs=list(outputs),
        nodes=list(nodes),
        functions={("", name, ""): body for name, body in dict(functions).items()},
        declared={"x": DeclaredType("float32", dims)},
    )


def function(*nodes, inputs=("p",), outputs=("q",)):
    return Graph(dialect="toy", inputs=list(inputs), outputs=list(outputs), nodes=list(nodes))


def run(model, **options):
    return infer_shapes(model, inputs={"x": ["N", 3]}, registry=OpRegistry(toy), **options)


PAIR = function(Node(NodeKind("Pair", references={"axis": "axis"}), ("p",), ("q",), "pair"))


def test_a_body_is_a_function_bound_to_the_attributes_of_the_reference():
    nodes = [
        Node.make("Call", ("x",), ("y",), {"f": reference("double", axis=0)}, "rows"),
        Node.make("Call", ("x",), ("z",), {"f": reference("double", axis=1)}, "columns"),
    ]
    result = run(graph(nodes, {"double": PAIR}, ("y", "z")))
    assert [str(result.tensors[name].shape) for name in "yz"] == ["[2*N, 3]", "[N, 6]"]


def test_lists_of_functions_are_numbered_bodies():
    branches = (reference("double", axis=1), reference("double", axis=0))
    result = run(graph([Node.make("Any", ("x",), ("y",), {"branches": branches}, "any")], {"double": PAIR}))
    assert str(result.tensors["y"].shape[1]) != "3"
    assert result.interval(result.tensors["y"].shape[1]).lo == 3


def test_a_call_that_is_certain_adds_constraints():
    """The function requires that x is square."""
    body = function(Node.make("MustMatch", ("p", "r"), ("q",)), inputs=("p", "r"))
    nodes = [
        Node.make("Turn", ("x",), ("t",), {}, "turn"),
        Node.make("Call", ("x", "t"), ("y",), {"f": reference("same")}, "call"),
    ]
    result = run(graph(nodes, {"same": body}))
    assert str(result.tensors["x"].shape) == "[3, 3]"
    conflict = infer_shapes(graph(nodes, {"same": body}), inputs={"x": [4, 3]}, registry=OpRegistry(toy))
    assert "both must be equal" in str(conflict.diagnostics[0])


def test_a_missing_function_is_an_error_of_the_call():
    result = run(graph([Node.make("Call", ("x",), ("y",), {"f": reference("nowhere")}, "call")]), mode="best")
    assert "not in the model" in str(result.diagnostics[0])
    assert result.tensors["y"].shape.dims is None


@pytest.mark.parametrize("op", ["Call", "Any"])
def test_recursion_ends(op):
    attributes = {"f": reference("again")} if op == "Call" else {"branches": (reference("again"), reference("again"))}
    body = function(Node.make(op, ("p",), ("q",), attributes, "inner"))
    model = graph([Node.make("Call", ("x",), ("y",), {"f": reference("again")}, "call")], {"again": body})
    if op == "Call":
        with pytest.raises(LimitError):
            run(model, mode="best")
    else:
        assert run(model, mode="best").tensors["y"].shape.dims is None


def test_functions_that_double_their_calls_end():
    """2**40 calls."""
    functions = {
        f"f{i}": function(
            Node.make("Call", ("p",), ("m",), {"f": reference(f"f{i - 1}")}, "first"),
            Node.make("Call", ("m",), ("q",), {"f": reference(f"f{i - 1}")}, "second"),
        )
        for i in range(1, 41)
    }
    functions["f0"] = function(Node.make("Pair", ("p",), ("q",), {"axis": 0}))
    model = graph([Node.make("Call", ("x",), ("y",), {"f": reference("f40")}, "call")], functions)
    assert run(model, mode="best").tensors["y"].shape.dims is None


def test_operators_without_a_rule_have_element_types_and_one_warning():
    nodes = [
        Node.make("Silent", ("x",), ("y", "n"), {}, "first"),
        Node.make("Silent", ("y",), ("z", "m"), {}, "second"),
    ]
    result = run(graph(nodes, outputs=("z", "m")), mode="best")
    assert [result.tensors[name].dtype for name in ("y", "n", "z", "m")] == ["float32", "int64", "float32", "int64"]
    assert [(note.code, note.node) for note in result.diagnostics] == [("S201", "first")]
