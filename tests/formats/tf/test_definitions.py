"""Nodes against their OpDefs in graphs of several nodes, functions and other forms of files; each cause is one error.

`tests/differential/test_tf_definitions.py` breaks the OpDef of every operator against TensorFlow. Here are what that
sweep does not have; TensorFlow refuses to import or to run the broken graphs, and imports the others.
"""

import json

import pytest

from shapeinf import ShapeError, infer_shapes
from shapeinf.formats.tf.text import encode_text
from shapeinf.graph import DeclaredType, Graph, Node
from tests.formats.tf.test_reading import FLOAT, MODERN, node, placeholder
from tests.formats.tf.test_web_weights import document

FLOATS, INTS = "type: DT_FLOAT", "type: DT_INT32"
HEAD = placeholder("x") + placeholder("n").replace("DT_FLOAT", "DT_INT32")


def encode(text):
    return encode_text(text + MODERN, "GraphDef")


def function(body, returned="b:activations:0", dtype="DT_FLOAT"):
    """A function of a tensor `x` that returns a value of `body`."""
    signature = f'name: "f" input_arg {{ name: "x" type: {dtype} }} output_arg {{ name: "y" type: {dtype} }}'
    nodes = body.replace("node {", "node_def {")
    return f'library {{ function {{ signature {{ {signature} }} {nodes} ret {{ key: "y" value: "{returned}" }} }} }}'


def call(dtype="DT_FLOAT"):
    listed = f"list {{ type: {dtype} }}"
    source = "x" if dtype == "DT_FLOAT" else "n"
    return node("p", "PartitionedCall", source, f='func { name: "f" }', Tin=listed, Tout=listed)


BROKEN = {
    "an operand of another type": (
        HEAD + node("y", "AddV2", "x", "n", T=FLOATS),
        ("S106", "y", "the attribute 'T' is float32, and 'n:0' is int32"),
        "a Cast of 'n:0' to float32 is missing",
    ),
    "the attribute is of another type": (
        HEAD + node("y", "AddV2", "x", "x", T=INTS),
        ("S106", "y", "the attribute 'T' is int32, and 'x:0' is float32"),
        "set 'T' to float32, or a Cast of 'x:0' to int32 is missing",
    ),
    "a listed type": (
        HEAD + node("y", "IdentityN", "x", "n", T="list { type: DT_FLOAT type: DT_FLOAT }"),
        ("S107", "y", "the input 'input' must be float32, and 'n:0' is int32"),
        "a Cast of 'n:0' to float32 is missing",
    ),
    "a fixed type": (
        HEAD + node("y", "LogicalNot", "x"),
        ("S107", "y", "the input 'x' must be bool, and 'x:0' is float32"),
        "a Cast of 'x:0' to bool is missing",
    ),
    "a handle where a number is required": (
        placeholder("r").replace("DT_FLOAT", "DT_RESOURCE") + node("y", "Relu", "r", T=FLOATS),
        ("S106", "y", "the attribute 'T' is float32, and 'r:0' is resource"),
        None,
    ),
    "a type that the operator does not have": (
        HEAD + node("y", "Cos", "n", T=INTS),
        (
            "S107",
            "y",
            "the attribute 'T' must be bfloat16, float16, float32, float64, complex64 or complex128: 'int32'",
        ),
        None,
    ),
    "a count of inputs": (
        HEAD + node("y", "Pack", "x", "x", T=FLOATS, N="i: 3"),
        ("S103", "y", "the required input 'values' is missing"),
        "the attribute 'N' is 3",
    ),
    "too many of them": (
        HEAD + node("y", "AddN", "x", "x", "^n", T=FLOATS, N="i: 1"),
        ("S103", "y", "takes 1 input, got 2"),
        "the attribute 'N' is 1",
    ),
    "the top of a loop without inputs": (
        HEAD + node("y", "Enter", T=FLOATS, frame_name='s: "loop"'),
        ("S103", "y", "the required input 'data' is missing"),
        None,
    ),
    "a typing error": (
        HEAD + node("y", "MaxPool", "x", T=FLOATS, ksize="list { i: 1 i: 1 i: 1 i: 1 }",
                    strides="list { i: 1 i: 1 i: 1 i: 1 }", padding='s: "SAMEE"'),
        ("S109", "y", "the attribute 'padding' must be one of 'SAME', 'VALID', 'EXPLICIT': 'SAMEE'"),
        "did you mean 'SAME'?",
    ),
    "a function that is called": (
        HEAD + call() + function(node("b", "Relu", "x", T=INTS)),
        ("S106", "p/b", "the attribute 'T' is int32, and 'x:0' is float32"),
        "set 'T' to float32, or a Cast of 'x:0' to int32 is missing",
    ),
    "a type that its operator does not have": (
        HEAD + call("DT_INT32") + function(node("b", "Cos", "x", T=INTS), "b:y:0", "DT_INT32"),
        (
            "S107",
            "p/b",
            "the attribute 'T' must be bfloat16, float16, float32, float64, complex64 or complex128: 'int32'",
        ),
        None,
    ),
}  # fmt: skip

RIGHT = {
    "control edges": HEAD + node("y", "Relu", "x", "^n", T=FLOATS),
    "an attribute of a newer version": HEAD + node("y", "Relu", "x", T=FLOATS, fresh="i: 1"),
    "an annotation": HEAD + node("y", "Relu", "x", T=FLOATS, _mark="i: 1"),
    "a reference that is read": node("v", "VariableV2", dtype=FLOATS, shape="shape { }")
    + node("y", "Relu", "v", T=FLOATS),
    "a function that is not called": HEAD + function(node("b", "Relu", "x", T=INTS)),
    "names of the graph in a function": HEAD + call() + function(node("b", "Relu", "x", T=FLOATS))
    + node("b", "Relu", "x", T=FLOATS),
    "a function that takes another type": HEAD + call() + function(node("b", "Relu", "x", T=INTS), dtype="DT_INT32"),
}  # fmt: skip


def violations(model):
    return [note for note in infer_shapes(model).diagnostics if note.severity == "error"]


@pytest.mark.parametrize("name", BROKEN)
def test_each_cause_is_one_error(name):
    text, expected, help = BROKEN[name]
    notes = violations(encode(text))
    assert [(note.code, note.subject, note.message) for note in notes] == [expected]
    assert notes[0].help == help
    with pytest.raises(ShapeError):
        infer_shapes(encode(text), mode="strict")


@pytest.mark.parametrize("name", RIGHT)
def test_what_tensorflow_imports_has_no_error(name):
    assert not violations(encode(RIGHT[name]))


def test_unknown_element_types_are_no_error():
    assert not violations(encode(HEAD + node("y", "Relu", "x", T="type: 99")))


def test_a_type_that_follows_from_an_error_is_not_compared():
    text = HEAD + node("a", "AddV2", "x", "n", T=INTS) + node("y", "Relu", "a", T=FLOATS)
    assert [note.subject for note in violations(encode(text))] == ["a"]


def test_graphs_of_the_first_version():
    assert [note.code for note in violations(encode_text(HEAD + node("y", "Relu", "n", T=FLOAT), "GraphDef"))] == [
        "S106"
    ]


def test_graphs_in_memory_need_no_attributes_that_follow_from_operands():
    relu = Node.make("Relu", ("x:0",), ("y:0",), {}, "y")
    graph = Graph(dialect="tf", opsets={"": 2474}, inputs=["x:0"], outputs=["y:0"], nodes=[relu])
    graph.declared["x:0"] = DeclaredType("float32", (2,))
    assert not violations(graph)


def test_tensorflow_js_does_not_check_its_models(tmp_path):
    content = document([], [], [2, 3])
    content["modelTopology"]["node"][2]["attr"]["T"]["type"] = "DT_INT32"
    (tmp_path / "model.json").write_text(json.dumps(content))
    assert not violations(tmp_path / "model.json")


def test_a_contract_answers_no():
    result = infer_shapes(encode(BROKEN["an operand of another type"][0]))
    assert result.contract.check({}).verdict is False


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BROKEN, *RIGHT])
def test_tensorflow_agrees(name):
    tf = pytest.importorskip("tensorflow", reason="TensorFlow is the oracle of this test")
    text = BROKEN[name][0] if name in BROKEN else RIGHT[name]
    graph = tf.compat.v1.GraphDef.FromString(encode(text))
    message = ""
    try:
        with tf.Graph().as_default():
            tf.graph_util.import_graph_def(graph, name="")
            if name == "a type that its operator does not have":  # which TensorFlow finds in the call
                with tf.compat.v1.Session() as session:
                    session.run("p:0", {"n:0": [1]})
    except Exception as error:
        message = str(error)
    assert bool(message) == (name in BROKEN)
