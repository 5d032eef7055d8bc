"""Graphs from operations: inputs, constants, nodes, positions, and checks of tensors from outside."""

import pytest

import shapeinf
from shapeinf.formats.nnef.versions import VERSIONS
from shapeinf.graph import InputContents
from tests.formats.nnef.evaluation import FINAL, built, graph_text, problem, provisional_text


def test_a_graph_has_inputs_constants_and_nodes():
    graph = built(
        "version 1.0;\ngraph G( b, a ) -> ( y, z )\n{\n"
        "a = external<integer>(shape = [2]);\nb = external(shape = [2,3]);\n"
        "w = variable(shape = [4,3], label = 'w');\nk = constant<integer>(shape = [1,2], value = [5]);\n"
        "y = linear(b, w);\nz, v = moments(y, axes = [0]);\nu = max(b, 0.0);\nt = min(u, 0.0);\n}\n"
    )
    assert graph.inputs == ["b", "a"]
    assert graph.outputs == ["y", "z"]
    assert graph.declared["a"].dtype == "int64"
    assert graph.declared["b"].dims == (2, 3)
    assert repr(graph.constants["w"]) == "float32[4, 3]"
    assert repr(graph.constants["k"]) == "int64[1, 2]{5, 5}"
    assert repr(graph.constants["0.0"]) == "float32[]{0.0}"
    assert [(n.op, n.inputs, n.outputs) for n in graph.nodes] == [
        ("linear", ("b", "w", ""), ("y",)),
        ("moments", ("y",), ("z", "v")),
        ("max", ("b", "0.0"), ("u",)),
        ("min", ("u", "0.0"), ("t",)),
    ]
    assert graph.locations["y"] == "graph.nnef:8:5"
    assert graph.opsets == {"": VERSIONS["final"]}


def test_equal_nodes_share_their_kind_and_variables_of_equal_shape_their_constant():
    graph = built(
        graph_text("a = relu(x)", "b = relu(a)", "v = variable(shape = [1], label = 'v')",
                   "w = variable(shape = [1], label = 'w')", "y = add(b, add(v, w))")
    )  # fmt: skip
    assert graph.nodes[0].kind is graph.nodes[1].kind
    assert graph.constants["v"] is graph.constants["w"]


def test_type_arguments_that_no_input_determines():
    graph = built(graph_text("c = cast<integer>(x)", "y = transpose(x, axes = [1,0])"))
    cast, transpose = graph.nodes
    assert dict(cast.attrs) == {"?": "int64"}
    assert dict(transpose.attrs) == {"axes": (1, 0)}


def test_unspecified_and_named_extents_are_declared():
    assert built(provisional_text("y = relu(x)", shape="[0,3]")).declared["x"].dims == (None, 3)
    head = FINAL.replace("extension", "extension tract_registry tract_core;\nextension", 1)
    text = graph_text("y = relu(x)", head=head).replace("[2,3,8,8]", "[S, 2*S+1, B]")
    assert built(text).declared["x"].dims == ("S", "(2 * S) + 1", "B")


def test_contents_of_inputs_are_attributes():
    node = built(provisional_text("y = reshape(x, shape = [shape_of(x)[0], 4])", shape="[0,4]")).nodes[1]
    assert node.attrs["shape"] == (InputContents(1), 4)
    assert node.inputs == ("x", "x.shape.0")


def test_shapes_of_inputs_by_the_user():
    graph = built(graph_text("y = max_pool(x, size = [1,1,2,2], stride = [1,1,2,2], padding = [])"))
    result = shapeinf.infer_shapes(graph, inputs={"x": "[N, 3, 16, 16]"})
    assert str(result.tensors["y"].shape) == "[N, 3, 8, 8]"


def test_unknown_extents_go_through_shape_of():
    graph = built(provisional_text("y = reshape(x, shape = [shape_of(x)[1] * 2, shape_of(x)[0] / 2])", shape="[0,4]"))
    result = shapeinf.infer_shapes(graph, inputs={"x": "[N, 4]"}, dims={"N": "2..8"})
    assert str(result.tensors["y"].shape) == "[8, N//2]"


def test_user_shapes_must_keep_extents_that_the_document_reads():
    graph = built(graph_text("y = reshape(x, shape = [shape_of(x)[1], -1])"))
    result = shapeinf.infer_shapes(graph, inputs={"x": "[N, C, 8, 8]"})
    assert str(result.tensors["x"].shape) == "[N, 3, 8, 8]"
    assert str(result.tensors["y"].shape) == "[3, 64*N]"
    result = shapeinf.infer_shapes(graph, inputs={"x": "[N, 5, 8, 8]"})
    assert [(d.severity, d.code) for d in result.diagnostics] == [("warning", "S123"), ("error", "S101")]


@pytest.mark.parametrize(
    ("statement", "position"),
    [
        ("y = variable(shape = [0,3], label = 'y')", "variable"),
        ("y = variable(shape = [3], label = '')", "variable"),
        ("y = variable(shape = [3], label = 'a b')", "variable"),
        ("a = variable(shape = [3], label = 'a'); y = variable(shape = [1,3], label = 'A')", "variable(shape = [1,3]"),
        ("y = constant(shape = [2,2], value = [1.0,2.0])", "constant"),
        ("y = external(shape = [-1])", "external(shape = [-1]"),
    ],
)
def test_tensors_from_outside_are_checked(statement, position):
    error, rest = problem(graph_text(statement))
    assert error.code == "N601"
    assert rest.startswith(position)


def test_an_error_in_a_literal_tensor_is_a_problem():
    head = FINAL.replace("extension", "extension tract_registry tract_core;\nextension", 1)
    error, _ = problem(graph_text("y = add(x, [[1.0],[1.0,2.0]])", head=head))
    assert error.code == "N501"
