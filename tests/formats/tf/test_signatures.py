"""Tags and signatures of SavedModels and MetaGraphDefs, and the names of inputs and outputs that users may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapeinf import ModelError, ShapeInferenceError, UnknownNameError, infer_shapes
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.formats import load
from shapeinf.formats.tf.text import encode_text
from tests.formats.tf.saved_models import (
    GRAPH,
    SAVED,
    SIGNATURES,
    meta_graph,
    options,
    saved_model,
    signature,
    tensor_info,
)
from tests.formats.tf.test_reading import FLOAT, MODERN, function, node, placeholder

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"


# -- tags and signatures


def test_the_entire_graph_has_the_outputs_of_all_signatures():
    graph = load(SAVED)
    assert graph.inputs == ["serve_tokens:0", "step_tokens:0"]
    assert graph.outputs == ["a:0", "c:0", "b:0"]
    assert [n.name for n in graph.nodes] == ["check", "a", "b", "c", "init"]
    assert graph.aliases == {
        "z": "b:0",
        "serving.tokens": "serve_tokens:0",
        "step.tokens": "step_tokens:0",
        "serving.y": "a:0",
        "step.y": "c:0",
        "step.z": "b:0",
        "serve_tokens": "serve_tokens:0",
        "step_tokens": "step_tokens:0",
    }


def test_the_name_of_an_argument_is_that_of_the_default_signature():
    text = saved_model(meta_graph(rest=SIGNATURES.replace('"serving"', '"serving_default"')))
    aliases = load(encode_text(text, "SavedModel")).aliases
    assert aliases["tokens"] == aliases["serving_default.tokens"] == "serve_tokens:0"
    assert aliases["y"] == aliases["serving_default.y"] == "a:0"
    assert aliases["step.tokens"] == "step_tokens:0"


def test_a_signature_selects_its_part():
    graph = load(SAVED, options(signature="serving"))
    assert graph.inputs == ["serve_tokens:0"]
    assert graph.outputs == ["a:0"]
    assert [n.name for n in graph.nodes] == ["check", "a"], "control edges too"
    assert graph.aliases["tokens"] == "serve_tokens:0"


def test_the_inputs_of_a_signature_are_any_values():
    """As those of a parsed example: what computes them is left out."""
    shape = "dim { size: -1 } dim { size: 5 }"
    inputs = {"u": tensor_info("b:1", shape), "k": tensor_info("k:0")}
    text = GRAPH + node("k", "Const", value="tensor { dtype: DT_FLOAT }") + node("d", "Mul", "c", "k", T=FLOAT)
    text += node("e", "Mul", "d", "b:0", T=FLOAT)
    data = encode_text(saved_model(meta_graph(text, signature("s", inputs, {"y": tensor_info("d:0")}))), "SavedModel")
    graph = load(data, options(signature="s"))
    assert sorted(graph.inputs) == ["b:1", "k:0"]
    assert graph.declared["b:1"].dims == (None, 5)
    assert graph.constants == {}
    assert [n.name for n in graph.nodes] == ["c", "d"]
    inputs, outputs = {"u": tensor_info("b:1", shape)}, {"y": tensor_info("e:0")}
    data = encode_text(saved_model(meta_graph(text, signature("s", inputs, outputs))), "SavedModel")
    graph = load(data, options(signature="s"))
    assert sorted(graph.inputs) == ["b:1", "step_tokens:0"]
    assert [(n.name, n.outputs) for n in graph.nodes][:1] == [("b", ("b:0", ""))]
    assert infer_shapes(graph).tensors["e:0"]


TAGS = [
    (('tags: "serve"', 'tags: "train" tags: "gpu"'), None, 0),
    (('tags: "train"', 'tags: "serve" tags: "gpu"'), None, 1),
    (('tags: "serve"', 'tags: "train" tags: "gpu"'), "gpu", 1),
    (('tags: "eval"',), None, 0),
    (('tags: "eval"',), "eval", 0),
    (("",), None, 0),
]


@pytest.mark.parametrize(("infos", "tag", "index"), TAGS)
def test_tags(infos, tag, index):
    metas = [meta_graph(placeholder(f"x{i}"), "", info) for i, info in enumerate(infos)]
    graph = load(encode_text(saved_model(*metas), "SavedModel"), options(tag=tag))
    assert graph.inputs == [f"x{index}:0"]


UNKNOWN = [
    (saved_model(), {"signature": "other"}, "serving, step"),
    (saved_model(), {"tag": "train"}, "serve"),
    (saved_model(meta_graph(info='tags: "a"'), meta_graph(info='tags: "b"')), {}, "a, b"),
]


@pytest.mark.parametrize(("text", "chosen", "listed"), UNKNOWN)
def test_errors_list_what_there_is(text, chosen, listed):
    with pytest.raises(UnknownNameError) as caught:
        load(encode_text(text, "SavedModel"), options(**chosen))
    assert all(name in str(caught.value) for name in listed.split(", "))


def test_a_signature_of_values_that_do_not_exist():
    text = saved_model(meta_graph(rest=signature("s", {}, {"y": tensor_info("nothing:0")})))
    with pytest.raises(ModelError, match="the signature 's' refers to the tensor 'nothing:0' of 'y'"):
        load(encode_text(text, "SavedModel"))


def test_sparse_and_composite_arguments():
    sparse = 'coo_sparse { values_tensor_name: "b:0" indices_tensor_name: "b:1" dense_shape_tensor_name: "c:0" }'
    parts = f"components {{ {tensor_info('a:0')} }} components {{ {tensor_info('c:0')} }}"
    rest = signature("s", {}, {"sparse": sparse, "ragged": f"composite_tensor {{ {parts} }}"})
    aliases = load(encode_text(saved_model(meta_graph(rest=rest)), "SavedModel")).aliases
    expected = {"sparse.values": "b:0", "sparse.indices": "b:1", "sparse.dense_shape": "c:0"}
    expected |= {"ragged.0": "a:0", "ragged.1": "c:0"}
    assert expected.items() <= aliases.items()


def test_types_of_captured_variables():
    """From SavedVariables, where the signature of the function has none."""
    nodes = "nodes { } nodes { variable { dtype: DT_FLOAT shape { dim { size: 4 } } } } nodes { resource { } }"
    bound = 'concrete_functions { key: "g" value { bound_inputs: [2, 1, 9] } }'
    args = 'input_arg { name: "x" type: DT_FLOAT } ' + "".join(
        f'input_arg {{ name: "{name}" type: DT_RESOURCE }} ' for name in ("table", "v", "w")
    )
    text = meta_graph(GRAPH + function("", args), f"object_graph_def {{ {nodes} {bound} }}")
    declared = load(encode_text(saved_model(text), "SavedModel")).functions["", "g", ""].declared
    assert declared["v:0"].of.dims == (4,)
    assert declared["table:0"].of is declared["w:0"].of is declared["x:0"].of is None


def test_op_defs_of_custom_operators():
    """They define the outputs of operators that are not in the registry."""
    custom = """op { name: "Own" output_arg { name: "a" type: DT_INT32 } output_arg { name: "b" type_attr: "T" }
        output_arg { name: "c" number_attr: "N" type: DT_BOOL }
        attr { name: "T" type: "type" default_value { type: DT_HALF } } attr { name: "N" type: "int" } }"""
    text = meta_graph(node("n", "Own", N="i: 2") + MODERN, "", f"stripped_op_list {{ {custom} }}")
    result = infer_shapes(encode_text(text, "MetaGraphDef"))
    assert {name: info.dtype for name, info in result.tensors.items()} == {
        "n:0": "int32",
        "n:1": "float16",
        "n:2": "bool",
        "n:3": "bool",
    }


# -- names for users

NAMED = {
    "tokens": {"tokens": ["B", 128]},
    "node": {"serve_tokens": ["B", 128]},
    "value": {"serve_tokens:0": ["B", 128]},
    "text": "tokens=[B,128]",
    "text of a value": "serve_tokens:0=[B,128]",
    "text by name": {"tokens": "tokens:[B,128]"},
}


@pytest.mark.parametrize("inputs", NAMED.values(), ids=NAMED)
def test_shapes_of_inputs_by_their_aliases(inputs):
    result = infer_shapes(SAVED, inputs=inputs, format_options=options(signature="serving"))
    assert str(result.tensors["serve_tokens:0"]) == "float32[B, 128]"


def test_an_update_by_alias():
    result = infer_shapes(SAVED, format_options=options(signature="serving"))
    assert str(result.update({"tokens": [2, 3]}).tensors["serve_tokens:0"]) == "float32[2, 3]"


def test_unknown_inputs_list_aliases():
    for name in ("tokenz", "image"):
        with pytest.raises(UnknownNameError, match="tokens"):
            infer_shapes(SAVED, inputs={name: [1, 2]}, format_options=options(signature="serving"))


def test_an_input_has_one_shape():
    with pytest.raises(ShapeInferenceError, match="specified twice"):
        infer_shapes(SAVED, inputs={"serve_tokens": [1, 2], "serve_tokens:0": [1, 2]})


def test_labels_have_the_names_of_arguments():
    result = infer_shapes(SAVED, format_options=options(signature="serving"))
    assert set(input_symbols(result.engine.inference).values()) == {"tokens.shape[0]", "tokens.shape[1]"}
