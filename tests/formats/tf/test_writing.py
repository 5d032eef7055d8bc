"""Models of TensorFlow that are saved with the inferred shapes; protobuf reads what we write."""

from __future__ import annotations

import os

import numpy as np
import pytest
from google.protobuf import text_format

from shapeinf import TensorFlowOptions, infer_shapes
from shapeinf.edit.bind import bind
from shapeinf.edit.rebatch import rebatch
from shapeinf.errors import ModelError
from shapeinf.formats.tf.printing import print_text
from shapeinf.formats.tf.text import encode_text
from shapeinf.inputs.options import InferenceOptions
from tests.formats.tf.descriptors import message_class, reachable_messages
from tests.formats.tf.random_messages import random_message

GRAPH = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 0 } } } } }
node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 100 } } float_val: 0.1 } } } }
node { name: "y" op: "Relu" input: "x" device: "/cpu:0"
  attr { key: "_output_shapes" value { list { shape { unknown_rank: true } } } }
  attr { key: "T" value { type: DT_FLOAT } } attr { key: "_note" value { s: "stays\\377" } } }
node { name: "n" op: "NoOp" input: "^y" }
node { name: "u" op: "Unheard" input: "y" }
node { name: "v" op: "Relu" input: "u" attr { key: "T" value { type: DT_FLOAT } } }
versions { producer: 2474 }
"""
CALL = """
node {{ name: "{name}" op: "PartitionedCall" input: "{source}"
  attr {{ key: "Tin" value {{ list {{ type: DT_FLOAT }} }} }}
  attr {{ key: "Tout" value {{ list {{ type: DT_FLOAT }} }} }}
  attr {{ key: "f" value {{ func {{ name: "{function}" }} }} }} }}
"""
FUNCTION = """
function {{
  signature {{ name: "{name}" input_arg {{ name: "a" type: DT_FLOAT }} output_arg {{ name: "b" type: DT_FLOAT }} }}
  node_def {{ name: "i" op: "Relu" input: "a" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}
  node_def {{ name: "s" op: "Relu" input: "i:activations:0" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}
  ret {{ key: "b" value: "i:activations:0" }}
}}
"""


def graph_def(text=GRAPH):
    return encode_text(text, "GraphDef")


def save(model, path):
    infer_shapes(model).save(path)
    return message_class("GraphDef").FromString(path.read_bytes())


def annotated(nodes):
    """The shapes of `_output_shapes` by node: None for an unknown rank."""
    return {
        node.name: [
            None if shape.unknown_rank else [dim.size for dim in shape.dim]
            for shape in node.attr["_output_shapes"].list.shape
        ]
        for node in nodes
        if "_output_shapes" in node.attr
    }


def without_annotations(message):
    for node in [*message.node, *(node for function in message.library.function for node in function.node_def)]:
        if "_output_shapes" in node.attr:
            del node.attr["_output_shapes"]
    return message.SerializeToString(deterministic=True)


def test_nodes_are_annotated_and_all_else_stays(tmp_path) -> None:
    data = graph_def()
    saved = save(data, tmp_path / "out.pb")
    assert annotated(saved.node) == {"x": [[-1, 0]], "c": [[100]], "y": [[-1, 0]]}
    assert without_annotations(saved) == without_annotations(message_class("GraphDef").FromString(data))


def test_what_is_saved_is_read_and_saved_alike(tmp_path) -> None:
    first, second = tmp_path / "1.pb", tmp_path / "2.pb"
    save(graph_def(), first)
    save(first, second)
    assert first.read_bytes() == second.read_bytes()
    assert [str(info) for info in infer_shapes(first).tensors.values()] == [
        str(info) for info in infer_shapes(graph_def()).tensors.values()
    ]


def test_a_node_without_known_outputs_keeps_its_annotation(tmp_path) -> None:
    node = 'node { name: "w" op: "Unheard" attr { key: "_output_shapes" value { list { shape { } shape { } } } } }'
    saved = save(graph_def(f'{node} node {{ name: "z" op: "Unheard" input: "w" }}'), tmp_path / "out.pb")
    assert "_output_shapes" in saved.node[0].attr
    assert "_output_shapes" not in saved.node[1].attr


@pytest.mark.parametrize("ending", ["pbtxt", "pb", "txt"])
def test_a_text_stays_text_unless_the_target_is_binary(tmp_path, ending) -> None:
    source, target = tmp_path / "in.pbtxt", tmp_path / f"out.{ending}"
    source.write_text(GRAPH, encoding="utf-8")
    infer_shapes(source).save(target)
    expected = save(graph_def(), tmp_path / "expected.pb")
    if ending == "pb":
        saved = message_class("GraphDef").FromString(target.read_bytes())
    else:
        saved = text_format.Parse(target.read_text(encoding="utf-8"), message_class("GraphDef")())
    assert saved == expected


def test_a_binary_file_becomes_text_by_its_ending(tmp_path) -> None:
    infer_shapes(graph_def()).save(tmp_path / "out.pbtxt")
    saved = text_format.Parse((tmp_path / "out.pbtxt").read_text(encoding="utf-8"), message_class("GraphDef")())
    assert saved == save(graph_def(), tmp_path / "out.pb")


def test_a_text_is_printed_to_a_stream(tmp_path) -> None:
    path = tmp_path / "in.pbtxt"
    path.write_text(GRAPH, encoding="utf-8")
    with open(tmp_path / "out", "w", encoding="utf-8") as stream:
        infer_shapes(path).save(stream)
        with pytest.raises(ModelError, match="a binary model cannot be written to a stream of text"):
            infer_shapes(graph_def()).save(stream)
    assert text_format.Parse((tmp_path / "out").read_text(encoding="utf-8"), message_class("GraphDef")())


def test_a_function_with_one_call_is_annotated(tmp_path) -> None:
    text = GRAPH + CALL.format(name="call", source="x", function="f") + f"library {{ {FUNCTION.format(name='f')} }}"
    saved = save(graph_def(text), tmp_path / "out.pb")
    assert annotated(saved.node)["call"] == [[-1, 0]]
    assert annotated(saved.library.function[0].node_def) == {"i": [[-1, 0]], "s": [[-1, 0]]}


def test_functions_with_other_calls_are_left_alone(tmp_path) -> None:
    """One with two calls, and one whose other call is in a function that nothing calls."""
    calls = [
        CALL.format(name=f"call{i}", source=s, function=f)
        for i, (s, f) in enumerate([("x", "f"), ("c", "f"), ("x", "g")])
    ]
    unused = """function { signature { name: "h" }
      node_def { name: "g" op: "PartitionedCall" attr { key: "f" value { func { name: "g" } } } } }"""
    functions = [FUNCTION.format(name="f"), FUNCTION.format(name="g"), unused]
    text = GRAPH + "".join(calls) + f"library {{ {' '.join(functions)} }}"
    saved = save(graph_def(text), tmp_path / "out.pb")
    assert annotated(saved.node)["call2"] == [[-1, 0]]
    assert [annotated(function.node_def) for function in saved.library.function] == [{}, {}, {}]


SIGNATURE = """
signature_def { key: "serve" value {
  inputs { key: "a" value { name: "x:0" dtype: DT_FLOAT tensor_shape { dim { size: -1 } dim { size: -1 } } } }
  outputs { key: "b" value { name: "y:0" dtype: DT_FLOAT tensor_shape { unknown_rank: true } } }
} }
"""


def saved_model(*tags):
    infos = [f'meta_info_def {{ tags: "{tag}" tensorflow_version: "2.21.0" }}' for tag in tags]
    metas = [f"meta_graphs {{ {info} graph_def {{ {GRAPH} }} {SIGNATURE} }}" for info in infos]
    return encode_text("saved_model_schema_version: 1 " + "".join(metas), "SavedModel")


def test_a_saved_model_is_written_into_a_folder(tmp_path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(saved_model("train", "serve"))
    infer_shapes(folder).save(tmp_path / "new" / "model")
    data = (tmp_path / "new" / "model" / "saved_model.pb").read_bytes()
    train, serve = message_class("SavedModel").FromString(data).meta_graphs
    assert annotated(train.graph_def.node) == {"y": [None]}
    assert annotated(serve.graph_def.node)["y"] == [[-1, 0]]
    outputs = [meta.signature_def["serve"].outputs["b"].tensor_shape for meta in (train, serve)]
    assert [(shape.unknown_rank, [dim.size for dim in shape.dim]) for shape in outputs] == [
        (True, []),
        (False, [-1, 0]),
    ]
    assert [dim.size for dim in serve.signature_def["serve"].inputs["a"].tensor_shape.dim] == [-1, -1]


def test_a_saved_model_may_replace_itself(tmp_path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(saved_model("serve"))
    infer_shapes(tmp_path).save(tmp_path)
    assert os.listdir(tmp_path) == ["saved_model.pb"]
    data = (tmp_path / "saved_model.pb").read_bytes()
    assert annotated(message_class("SavedModel").FromString(data).meta_graphs[0].graph_def.node)["y"] == [[-1, 0]]


def test_bound_inputs_are_declared_everywhere(tmp_path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(saved_model("serve"))
    bound = bind(tmp_path, options=InferenceOptions(inputs={"x:0": [4, 0]}))
    bound.save(tmp_path / "out")
    meta = message_class("SavedModel").FromString((tmp_path / "out" / "saved_model.pb").read_bytes()).meta_graphs[0]
    placeholder = meta.graph_def.node[0]
    assert [dim.size for dim in placeholder.attr["shape"].shape.dim] == [4, 0]
    assert len(placeholder.attr) == 3  # dtype, shape, _output_shapes
    assert annotated(meta.graph_def.node)["y"] == [[4, 0]]
    signature = meta.signature_def["serve"]
    assert [dim.size for dim in signature.inputs["a"].tensor_shape.dim] == [4, 0]
    assert [dim.size for dim in signature.outputs["b"].tensor_shape.dim] == [4, 0]


def test_assumptions_cannot_be_written(tmp_path) -> None:
    bound = bind(graph_def(), {"n": "1..8"}, options=InferenceOptions(inputs={"x:0": ["n", 0]}))
    with pytest.raises(ModelError, match="a TensorFlow graph cannot express"):
        bound.save(tmp_path / "out.pb")
    assert not os.listdir(tmp_path)


def inner_signature():
    signature = SIGNATURE.replace('"x:0"', '"m:0"').replace('"y:0"', '"z:0"')
    nodes = """node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: 2 } dim { size: 6 } } } } }
    node { name: "m" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "z" op: "Relu" input: "m" attr { key: "T" value { type: DT_FLOAT } } }"""
    meta = f'meta_info_def {{ tags: "serve" }} graph_def {{ {nodes} versions {{ producer: 2474 }} }} {signature}'
    return encode_text(f"saved_model_schema_version: 1 meta_graphs {{ {meta} }}", "SavedModel")


def test_an_input_of_a_signature_may_be_no_placeholder(tmp_path) -> None:
    options = TensorFlowOptions(signature="serve")
    infer_shapes(inner_signature(), inputs={"m:0": [3, 4]}, format_options=options).save(tmp_path)
    data = (tmp_path / "saved_model.pb").read_bytes()
    assert annotated(message_class("SavedModel").FromString(data).meta_graphs[0].graph_def.node) == {"z": [[3, 4]]}
    bound = bind(inner_signature(), options=InferenceOptions(inputs={"m:0": [3, 4]}, format_options=options))
    with pytest.raises(ModelError, match="m: its shape cannot be declared: it is an input, but no placeholder"):
        bound.save(tmp_path / "out")


RESHAPED = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } dim { size: 6 } } } } }
node { name: "s" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value {
  tensor { dtype: DT_INT32 tensor_shape { dim { size: 3 } } int_val: 2 int_val: 3 int_val: 2 } } } }
node { name: "y" op: "Reshape" input: "x" input: "s" attr { key: "T" value { type: DT_FLOAT } } }
versions { producer: 2474 }
"""


def test_a_fixed_batch_becomes_dynamic(tmp_path) -> None:
    rebatch(graph_def(RESHAPED)).save(tmp_path / "out.pb")
    saved = message_class("GraphDef").FromString((tmp_path / "out.pb").read_bytes())
    tensor = saved.node[1].attr["value"].tensor
    assert np.frombuffer(tensor.tensor_content, "<i4").tolist() == [-1, 3, 2]
    assert (tensor.dtype, [dim.size for dim in tensor.tensor_shape.dim]) == (3, [3])
    assert [dim.size for dim in saved.node[0].attr["shape"].shape.dim] == [-1, 6]
    assert annotated(saved.node)["y"] == [[-1, 3, 2]]


@pytest.mark.parametrize("name", reachable_messages())
def test_random_messages_are_printed_as_protobuf_reads_them(name) -> None:
    import random

    rng = random.Random(name)
    for _ in range(15):
        data = random_message(rng, name).SerializeToString(deterministic=True)
        printed = text_format.Parse(print_text(data, name), message_class(name)())
        assert printed.SerializeToString(deterministic=True) == data


def test_a_field_of_a_newer_file_has_no_text_form() -> None:
    with pytest.raises(ModelError, match="the field 99 of NodeDef has no known name for text form"):
        print_text(b"\x0a\x03\x98\x06\x01", "GraphDef")
