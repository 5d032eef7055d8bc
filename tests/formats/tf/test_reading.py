"""GraphDefs as graphs: values, constants, inputs, order, functions, versions."""

from __future__ import annotations

import pytest

from shapeinf import LimitError, ModelError, infer_shapes
from shapeinf.errors import CyclicGraphError
from shapeinf.formats import load
from shapeinf.formats.tf.text import encode_text
from shapeinf.graph import DeclaredType, FunctionReference

SPLIT = """
    node { name: "axis" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
           attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} } } } }
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: -1 } dim { size: 8 } } } } }
    node { name: "split" op: "Split" input: "axis" input: "x:0" input: "^axis"
           attr { key: "num_split" value { i: 2 } } attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "add" op: "AddV2" input: "split" input: "split:1" device: "/cpu:0"
           attr { key: "T" value { type: DT_FLOAT } }
           attr { key: "_class" value { list { s: "loc:@x" } } }
           attr { key: "_output_shapes" value { list { shape { dim { size: -1 } dim { size: 8 } } } } } }
    versions { producer: 2474 }
"""


def read(text, message="GraphDef"):
    return load(encode_text(text, message))


def node(name, op, *inputs, **attributes):
    """A NodeDef as text; attributes are AttrValues as text."""
    listed = "".join(f' input: "{value}"' for value in inputs)
    entries = "".join(f' attr {{ key: "{key}" value {{ {value} }} }}' for key, value in attributes.items())
    return f'node {{ name: "{name}" op: "{op}"{listed}{entries} }}\n'


def placeholder(name, shape="shape { dim { size: -1 } }"):
    return node(name, "Placeholder", dtype="type: DT_FLOAT", shape=shape)


MODERN = "versions { producer: 2474 }\n"
FLOAT = "type: DT_FLOAT"


def test_values_are_named_by_node_and_output():
    graph = read(SPLIT)
    assert graph.dialect == "tf"
    assert graph.opsets == {"": 2474}
    assert graph.inputs == ["x:0"]
    assert graph.outputs == ["add:0"]
    assert list(graph.constants) == ["axis:0"]
    assert graph.constants["axis:0"].elements == (0,)
    assert [(n.name, n.op, n.inputs, n.outputs) for n in graph.nodes] == [
        ("split", "Split", ("axis:0", "x:0"), ("split:0", "split:1")),
        ("add", "AddV2", ("split:0", "split:1"), ("add:0",)),
    ]
    assert graph.declared == {
        "x:0": DeclaredType("float32", (None, 8)),
        "add:0": DeclaredType(None, (None, 8)),
    }
    assert graph.nodes[1].attrs == {"T": "float32"}
    assert graph.aliases == {"x": "x:0"}
    assert not graph.cyclic


ATTRIBUTES = [
    ('s: "SAME"', "SAME"),
    ('s: "\\377"', "\ufffd"),
    ("i: -1", -1),
    ("i: 0", 0),
    ("f: 0.5", 0.5),
    ("b: true", True),
    ("b: false", False),
    ("type: DT_FLOAT_REF", "float32"),
    ("type: DT_BFLOAT16", "bfloat16"),
    ("type: DT_HALF", "float16"),
    ("type: DT_FLOAT8_E4M3FN", "float8e4m3fn"),
    ("shape { unknown_rank: true }", DeclaredType(dims=None)),
    ("shape { }", DeclaredType(dims=())),
    ("shape { dim { size: -1 } dim { size: 0 } dim { size: 3 } }", DeclaredType(dims=(None, 0, 3))),
    ('func { name: "f" attr { key: "T" value { type: DT_INT32 } } }', FunctionReference(("", "f", ""), {"T": "int32"})),
    ("list { }", ()),
    ("list { i: 1 i: -2 }", (1, -2)),
    ("list { f: [0.5, 2] }", (0.5, 2.0)),
    ("list { b: [true, false] }", (True, False)),
    ('list { s: "a" s: "" }', ("a", "")),
    ("list { type: [DT_INT64, DT_STRING] }", ("int64", "string")),
    ("list { shape { } shape { unknown_rank: true } }", (DeclaredType(dims=()), DeclaredType(dims=None))),
    ('list { func { name: "g" } }', (FunctionReference(("", "g", ""), {}),)),
]


@pytest.mark.parametrize(("text", "value"), ATTRIBUTES, ids=[text for text, _ in ATTRIBUTES])
def test_attributes(text, value):
    graph = read(node("n", "Own", a=text, _hidden="i: 1"))
    assert graph.nodes[0].attrs == {"a": value}


def test_a_tensor_attribute_is_a_tensor():
    graph = read(node("n", "Own", a="tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: [7, 8] }"))
    assert graph.nodes[0].attrs["a"].elements == (7, 8)


def test_equal_nodes_share_their_kind():
    text = "".join(node(f"n{i}", "Relu", "x", T=FLOAT, _class=f'list {{ s: "loc:@{i}" }}') for i in range(3))
    graph = read(placeholder("x") + text)
    assert len({id(n.kind) for n in graph.nodes}) == 1


def test_nodes_are_ordered_by_values_and_control_edges():
    text = (
        node("c", "Relu", "b", T=FLOAT)
        + node("b", "Relu", "x", "^late", T=FLOAT)
        + node("late", "NoOp", "^first")
        + node("first", "NoOp")
        + placeholder("x")
    )
    assert [n.name for n in read(text).nodes] == ["first", "late", "b", "c"]


LOOP = (
    placeholder("x")
    + node("enter", "Enter", "x", T=FLOAT, frame_name='s: "loop"')
    + node("merge", "Merge", "enter", "next", T=FLOAT, N="i: 2")
    + node("body", "Relu", "merge", T=FLOAT)
    + node("next", "NextIteration", "body", T=FLOAT)
)


def test_loops_are_cycles_of_the_graph():
    graph = read(LOOP)
    assert graph.cyclic
    assert [n.name for n in graph.nodes] == ["enter", "merge", "body", "next"]
    assert infer_shapes(graph).tensors["body:0"]


def test_any_other_cycle_is_an_error():
    text = node("a", "Relu", "b", T=FLOAT) + node("b", "Relu", "a", T=FLOAT)
    with pytest.raises(CyclicGraphError, match="the graph has a cycle through"):
        read(text)


def test_a_long_chain_in_reverse_order():
    count = 5_000
    nodes = [node(f"n{i}", "Relu", f"n{i - 1}" if i else "x", T=FLOAT) for i in reversed(range(count))]
    graph = read("".join(nodes) + placeholder("x"))
    assert graph.nodes[0].name == "n0"
    assert graph.nodes[-1].name == f"n{count - 1}"


PLACEHOLDERS = [
    ("shape { dim { size: -1 } dim { size: 3 } }", 2474, (None, 3)),
    ("shape { }", 2474, ()),
    ("shape { }", 22, ()),
    ("shape { }", 21, None),
    ("shape { }", 0, None),
    ("shape { dim { size: 2 } }", 0, (2,)),
    ("shape { unknown_rank: true }", 2474, None),
]


@pytest.mark.parametrize(("shape", "producer", "dims"), PLACEHOLDERS)
def test_shapes_of_placeholders(shape, producer, dims):
    graph = read(placeholder("x", shape) + f"versions {{ producer: {producer} }}")
    assert graph.declared["x:0"] == DeclaredType("float32", dims)


def test_the_exporter_may_know_more_of_a_placeholder():
    known = "list { shape { dim { size: 4 } dim { size: -1 } } }"
    text = node("x", "Placeholder", shape="shape { dim { size: -1 } dim { size: 8 } }", _output_shapes=known)
    assert read(text + MODERN).declared["x:0"] == DeclaredType(None, (4, 8))
    text = node("x", "Placeholder", dtype=FLOAT, _output_shapes=known)
    assert read(text).declared["x:0"] == DeclaredType("float32", (4, None))


def test_an_input_with_two_shapes_is_reported():
    known = "list { shape { dim { size: 4 } } }"
    graph = read(node("x", "Placeholder", shape="shape { dim { size: 8 } }", _output_shapes=known) + MODERN)
    assert graph.declared["x:0"].dims == (8,)
    (note,) = infer_shapes(graph).diagnostics
    assert str(note).startswith("warning[T101]: the input is declared twice, with the shapes [8] and [4]")


def test_attributes_of_newer_operators_are_reported_once():
    text = placeholder("x") + "".join(node(f"n{i}", "Relu", "x", T=FLOAT, fresh=f"i: {i}") for i in range(3))
    (note,) = infer_shapes(encode_text(text, "GraphDef")).diagnostics
    assert str(note).startswith("warning[T102]: Relu has no attribute 'fresh': it is not used")


def test_users_name_placeholders_as_the_exporter_does():
    text = node("serving_x", "Placeholder", dtype=FLOAT, _user_specified_name='s: "x"')
    assert read(text).aliases == {"serving_x": "serving_x:0", "x": "serving_x:0"}


OUTPUTS = [
    (node("n", "Split", "a", "a", num_split="i: 3"), 3),
    (node("n", "IdentityN", "a", T="list { type: [DT_FLOAT, DT_INT32] }"), 2),
    (node("n", "IdentityN", "a", T="list { }"), 0),
    (node("n", "NoOp", "^a"), 0),
    (node("n", "Unique", "a", T=FLOAT), 2),
    (node("n", "Own", "a"), 0),
    (node("n", "Own", "a") + node("m", "Relu", "n:2"), 3),
    (node("n", "Split", "a", "a") + node("m", "Relu", "n:1"), 2),
]


@pytest.mark.parametrize(("text", "count"), OUTPUTS)
def test_the_number_of_outputs(text, count):
    """As the OpDef defines it; where nothing does, as many as are read."""
    graph = read(placeholder("a") + text)
    outputs = next(n.outputs for n in graph.nodes if n.name == "n")
    assert outputs == tuple(f"n:{i}" for i in range(count))


REFUSED = [
    (node("a", "NoOp") * 2, "a: Node 'a' is not unique"),
    ('node { op: "NoOp" }', "a node has no name"),
    ('node { name: "a" }', "a: the node has no operator"),
    (node("a", "Relu", "b", T=FLOAT), "reads 'b:0', which is neither an input, a constant nor an output of a node"),
    (node("a", "NoOp") + node("b", "Relu", "a", T=FLOAT), "reads 'a:0', which is neither"),
    (placeholder("a") + node("b", "Relu", "a:1", T=FLOAT), "reads 'a:1', which is neither"),
    (node("b", "Relu", "a:x", T=FLOAT), "'a:x' is not an output of a node"),
    (node("b", "Relu", "a:1:2", T=FLOAT), "'a:1:2' is not an output of a node"),
    (node("b", "Own") + node("c", "Relu", "b:99999999", T=FLOAT), "'b:99999999' is not an output"),
    (node("c", "Const", dtype=FLOAT), "c: the constant has no value"),
    (node("c", "Split", num_split="i: 1099511627776"), "c: Split has 1099511627776 outputs"),
    (node("c", "Split", num_split="i: -1"), "c: Split has -1 outputs"),
    (node("c", "Relu", x="shape { dim { size: -2 } }"), "c: a shape has the size -2"),
    (node("c", "Relu", x="shape { " + "dim { size: 1 } " * 255 + "}"), "c: a shape has 255 axes"),
    ("versions { min_consumer: 2475 }", "GraphDef min consumer version 2475 above current version 2474"),
    ("versions { bad_consumers: [1, 2474] }", "GraphDef disallows consumer version 2474"),
    (
        node("n", "BatchNormWithGlobalNormalization") + "versions { producer: 9 }",
        "Op BatchNormWithGlobalNormalization is not available in GraphDef version 9. It has been removed in version 9. "
        "Use tf.nn.batch_normalization().",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[message[:50] for _, message in REFUSED])
def test_graphs_that_are_refused(text, message):
    if "versions" not in text:
        text += MODERN
    with pytest.raises(ModelError) as caught:
        infer_shapes(encode_text(node("first", "NoOp") + text, "GraphDef"))
    assert message in str(caught.value)


def test_older_graphs_may_use_deprecated_operators():
    assert read(node("n", "BatchNormWithGlobalNormalization") + "versions { producer: 8 }").nodes


# -- functions


FUNCTION = """
    library { function {
      signature {
        name: "f" input_arg { name: "a" type_attr: "T" } input_arg { name: "v" type: DT_RESOURCE
          handle_data { dtype: DT_FLOAT shape { dim { size: 3 } } } }
        output_arg { name: "second" type_attr: "T" } output_arg { name: "first" type: DT_INT32 }
        output_arg { name: "same" type_attr: "T" }
        attr { name: "T" type: "type" } attr { name: "k" type: "int" default_value { i: 2 } } }
      node_def { name: "r" op: "ReadVariableOp" input: "v:0" attr { key: "dtype" value { type: DT_FLOAT } } }
      node_def { name: "u" op: "Unique" input: "s:output:1" attr { key: "T" value { placeholder: "T" } } }
      node_def { name: "s" op: "Split" input: "c:output:0" input: "a" input: "^r"
        attr { key: "num_split" value { i: 2 } } attr { key: "T" value { placeholder: "T" } } }
      node_def { name: "c" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32 } } } }
      ret { key: "first" value: "u:idx:0" } ret { key: "second" value: "s:output:1" }
      ret { key: "same" value: "a" }
      arg_attr { key: 0 value { attr { key: "_output_shapes" value { list { shape { dim { size: -1 } } } } } } }
      attr { key: "_input_shapes" value { list { shape { dim { size: 9 } } shape { unknown_rank: true } } } }
    } }
"""


def test_functions_have_flat_values():
    body = read(node("n", "NoOp") + FUNCTION + MODERN).functions["", "f", ""]
    assert body.name == "f"
    assert body.inputs == ["a:0", "v:0"]
    assert body.outputs == ["s:1", "u:1", "a:0"]
    assert [(n.name, n.inputs, n.outputs) for n in body.nodes] == [
        ("r", ("v:0",), ("r:0",)),
        ("s", ("c:0", "a:0"), ("s:0", "s:1")),
        ("u", ("s:1",), ("u:0", "u:1")),
    ]
    assert body.nodes[1].kind.references == {"T": "T"}
    assert body.nodes[1].attrs == {"num_split": 2}
    assert body.constants["c:0"].elements == (0,)
    assert body.defaults == {"k": 2}
    assert body.opsets == {"": 2474}
    assert body.declared == {
        "a:0": DeclaredType(None, (9,)),
        "v:0": DeclaredType("resource", (), of=DeclaredType("float32", (3,))),
    }


def test_functions_are_called_by_their_names():
    graph = read(placeholder("x") + node("call", "f", "x", "x", T=FLOAT) + FUNCTION)
    assert graph.nodes[0].outputs == ("call:0", "call:1", "call:2")


HANDLES = """
    library {
      function { signature { name: "inner" input_arg { name: "v" type: DT_RESOURCE
          handle_data { dtype: DT_FLOAT shape { dim { size: 3 } dim { size: 5 } } } }
          output_arg { name: "o" type: DT_FLOAT } }
        node_def { name: "r" op: "ReadVariableOp" input: "v" attr { key: "dtype" value { type: DT_FLOAT } } }
        ret { key: "o" value: "r:value:0" } }
      function { signature { name: "outer" input_arg { name: "w" type: DT_RESOURCE }
          output_arg { name: "o" type: DT_FLOAT } }
        node_def { name: "c" op: "inner" input: "w" } ret { key: "o" value: "c:o:0" } }
      function { signature { name: "loop" input_arg { name: "w" type: DT_RESOURCE } }
        node_def { name: "c" op: "loop" input: "w" } }
    }
"""
CALLS = [
    node("c", "inner", "h"),
    node("c", "outer", "h"),
    node("c", "StatefulPartitionedCall", "h", Tin="list { type: DT_RESOURCE }", Tout=f"list {{ {FLOAT} }}")[:-2]
    + 'attr { key: "f" value { func { name: "outer" } } } }',
]


@pytest.mark.parametrize("call", CALLS)
def test_handles_have_the_types_that_functions_declare(call):
    handle = node("h", "Placeholder", dtype="type: DT_RESOURCE", shape="shape { }")
    graph = read(handle + call + HANDLES + MODERN)
    assert graph.declared["h:0"] == DeclaredType("resource", (), of=DeclaredType("float32", (3, 5)))
    assert str(infer_shapes(graph).tensors["c:0"]) == "float32[3, 5]"


def test_handles_without_a_type():
    handle = node("h", "Placeholder", dtype="type: DT_RESOURCE", shape="shape { }")
    graph = read(handle + node("c", "loop", "h") + node("d", "ReadVariableOp", "h", dtype=FLOAT) + HANDLES)
    assert graph.declared["h:0"].of is None


def function(body, outputs="", returned=""):
    return f'library {{ function {{ signature {{ name: "g" {outputs} }} {body} {returned} }} }}'


BODIES = [
    (function("", 'output_arg { name: "o" type: DT_FLOAT }'), "g: the function does not return its output 'o'"),
    (function('node_def { name: "a" }'), "g/a: the node has no operator"),
    (function('node_def { name: "a" op: "NoOp" } ' * 2), "g/a: Node 'a' is not unique"),
    ("library { function { } }", "a function has no name"),
]


@pytest.mark.parametrize(("text", "message"), BODIES)
def test_functions_that_are_refused(text, message):
    with pytest.raises(ModelError) as caught:
        read(node("n", "NoOp") + text)
    assert message in str(caught.value)


def test_outputs_of_unknown_operators_inside_functions():
    """Without an OpDef the outputs are those that are read, in the order in which they are named."""
    body = (
        'node_def { name: "u" op: "Own" } node_def { name: "m" op: "Relu" input: "u:b:1" } '
        'node_def { name: "k" op: "Relu" input: "u:a:0" } node_def { name: "l" op: "Relu" input: "u:b:1" }'
    )
    graph = read(node("n", "NoOp") + function(body)).functions["", "g", ""]
    assert [(n.name, n.inputs, n.outputs) for n in graph.nodes] == [
        ("u", (), ("u:0", "u:1")),
        ("m", ("u:0",), ("m:0",)),
        ("k", ("u:1",), ("k:0",)),
        ("l", ("u:0",), ("l:0",)),
    ]


def test_attributes_that_nest_too_deeply():
    text = 'func { name: "f" }'
    for _ in range(20):
        text = f'func {{ name: "f" attr {{ key: "a" value {{ {text} }} }} }}'
    with pytest.raises(LimitError, match="attributes nest deeper than 16"):
        read(node("n", "Own", a=text))


def test_an_unreadable_annotation_is_no_error():
    graph = read(node("x", "Relu", "x0", _output_shapes="list { shape { dim { size: -7 } } }") + placeholder("x0"))
    assert graph.declared.keys() == {"x0:0"}


def test_attributes_may_stand_in_any_order():
    """As any reader of protocol buffers reads them."""
    text = 'node { attr { key: "T" value { type: DT_FLOAT } } input: "x" op: "Relu" name: "y" }'
    data = encode_text(placeholder("x"), "GraphDef") + encode_text(text, "GraphDef")
    assert [(n.name, n.op, n.inputs) for n in load(data).nodes] == [("y", "Relu", ("x:0",))]
