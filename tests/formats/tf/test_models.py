"""SavedModels, MetaGraphDefs, archives, folders, TensorFlow.js: recognition, tags, signatures, names for users."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from shapeinf import ModelError, ShapeInferenceError, UnknownNameError, infer_shapes
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.errors import LimitError, UnknownFormatError
from shapeinf.formats import FORMATS, load
from shapeinf.formats.registry import Candidate
from shapeinf.formats.tf import TensorFlowOptions, archive
from shapeinf.formats.tf.sniffing import binary_kind, text_kind
from shapeinf.formats.tf.text import encode_text
from tests.formats.tf.test_reading import FLOAT, MODERN, function, node, placeholder

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"

GRAPH = (
    placeholder("serve_tokens", "shape { dim { size: -1 } dim { size: -1 } }")
    + placeholder("step_tokens", "shape { dim { size: -1 } }")
    + node("a", "Relu", "serve_tokens", "^check", T=FLOAT)
    + node("check", "Own", "serve_tokens")
    + node("b", "Unique", "step_tokens", T=FLOAT)
    + node("c", "Relu", "b:1", T=FLOAT)
    + node("init", "NoOp")
    + MODERN
)


def tensor_info(name, dims="unknown_rank: true"):
    return f'name: "{name}" dtype: DT_FLOAT tensor_shape {{ {dims} }}'


def entry(field, key, value):
    return f'{field} {{ key: "{key}" value {{ {value} }} }} '


def signature(name, inputs, outputs):
    listed = [entry("inputs", key, value) for key, value in inputs.items()]
    listed += [entry("outputs", key, value) for key, value in outputs.items()]
    return entry("signature_def", name, "".join(listed))


SIGNATURES = (
    signature("serving", {"tokens": tensor_info("serve_tokens:0")}, {"y": tensor_info("a:0")})
    + signature("step", {"tokens": tensor_info("step_tokens:0")}, {"y": tensor_info("c"), "z": tensor_info("b:0")})
    + signature("__saved_model_init_op", {}, {"op": 'name: "init"'})
)


def meta_graph(graph=GRAPH, rest=SIGNATURES, info='tags: "serve"'):
    return f"meta_info_def {{ {info} }} graph_def {{ {graph} }} {rest}"


def saved_model(*metas):
    return "saved_model_schema_version: 1 " + "".join(f"meta_graphs {{ {meta} }} " for meta in metas or (meta_graph(),))


SAVED = encode_text(saved_model(), "SavedModel")


def options(**values):
    return TensorFlowOptions(**values)


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
    assert set(input_symbols(result.inference).values()) == {"tokens.shape[0]", "tokens.shape[1]"}


# -- containers and recognition

PB = encode_text(GRAPH, "GraphDef")
META = encode_text(meta_graph(), "MetaGraphDef")


def zipped(**files):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files.items():
            file.writestr(name.replace("__", "/"), data)
    return target.getvalue()


SOURCES = {
    "GraphDef": PB,
    "MetaGraphDef": META,
    "SavedModel": SAVED,
    "text of a GraphDef": GRAPH,
    "text of a MetaGraphDef": meta_graph(),
    "text of a SavedModel": saved_model(),
    "bytes of a text": b"# exported\n" + GRAPH.encode(),
    "archive": zipped(**{"saved_model.pb": SAVED, "variables__variables.index": b"?"}),
    "archive of a folder": zipped(**{"model__saved_model.pb": SAVED, "model__assets__a.txt": b"?"}),
    "archive of a text": zipped(**{"saved_model.pbtxt": saved_model().encode()}),
    "library only": encode_text(function(""), "GraphDef"),
    "MetaGraphDef without information": encode_text(f"graph_def {{ {GRAPH} }}", "MetaGraphDef"),
    "MetaGraphDef with operators": encode_text(
        meta_graph(info='meta_graph_version: "v" stripped_op_list { op { name: "Own" } } tags: "serve"'), "MetaGraphDef"
    ),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_sources_are_recognised(source, tmp_path):
    graph = load(source)
    assert graph.dialect == "tf"
    path = tmp_path / "model"
    path.write_bytes(source.encode() if isinstance(source, str) else source)
    from_file = load(path)
    assert from_file.source == str(path)
    assert [n.name for n in from_file.nodes] == [n.name for n in graph.nodes]
    assert from_file.inputs == graph.inputs


@pytest.mark.parametrize("name", ["saved_model.pb", "saved_model.pbtxt"])
def test_folders(name, tmp_path):
    (tmp_path / name).write_bytes(SAVED if name.endswith("pb") else saved_model().encode())
    assert load(tmp_path).outputs == ["a:0", "c:0", "b:0"]
    assert load(str(tmp_path)).source == str(tmp_path / name)


def test_other_formats_stay_theirs():
    for path in [*EXAMPLES.glob("*.onnx"), *EXAMPLES.glob("*.nnef")]:
        head = path.read_bytes()
        assert binary_kind(head[:4096]) is None
        assert text_kind(head[:4096].decode("utf-8", "replace")) is None
        assert load(path).dialect == path.suffix[1:]


NOT_OURS = [
    b"",
    b"\x08",
    b"\x08\x01\x12",
    b"\x08\x08\x12\x07pytorch\x3a\x00",
    b"\x0a",
    b"\x0a\x00",
    b"\xff" * 9,
    b"\x12\x02ab",
]


@pytest.mark.parametrize("data", NOT_OURS)
def test_bytes_that_are_not_ours(data):
    assert not next(f for f in FORMATS.formats if f.name == "tf").sniff(Candidate(data))


def test_an_archive_without_a_model(tmp_path):
    data = zipped(**{"a__b__c__saved_model.pb": SAVED, "other.pb": PB})
    assert archive.message_name(data) is None
    with pytest.raises(UnknownFormatError, match="an archive without a SavedModel"):
        archive.read_message(data)
    assert archive.message_name(b"PK\x03\x04 damaged") is None
    folder = tmp_path / "saved_model.pb"
    folder.mkdir()
    assert not next(f for f in FORMATS.formats if f.name == "tf").sniff(Candidate(str(tmp_path)))


def test_an_archive_that_grows_too_much(monkeypatch):
    monkeypatch.setattr(archive, "FREE_SIZE", 1 << 12)
    with pytest.raises(LimitError, match="has 10000000 bytes"):
        load(zipped(**{"saved_model.pb": bytes(10_000_000)}))


def test_objects_of_tensorflow():
    tf = pytest.importorskip("tensorflow")
    message = tf.compat.v1.GraphDef.FromString(PB)
    assert load(message).inputs == ["serve_tokens:0", "step_tokens:0"]
    concrete = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([None, 3]))
    assert load(concrete.graph).inputs == load(concrete).inputs == ["x:0"]
    with pytest.raises(UnknownFormatError, match="is not a model"):
        load(tf.constant(1))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        load(tmp_path / "absent.pb", options(tag="x"))
    (tmp_path / "empty.pb").write_bytes(b"")
    with pytest.raises(UnknownFormatError, match="is empty"):
        load(tmp_path / "empty.pb", options(tag="x"))
    with pytest.raises(UnknownFormatError, match="a SavedModel without a graph"):
        load(encode_text("saved_model_schema_version: 1 meta_graphs { meta_info_def { } }", "SavedModel"))


# -- TensorFlow.js


def web_document(weights, signature=None):
    shape = {"dim": [{"size": "2"}]}
    constant = {"tensor": {"dtype": "DT_INT32", "tensorShape": shape}}
    nodes = [
        {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}},
        {"name": "c", "op": "Const", "attr": {"dtype": {"type": "DT_INT32"}, "value": constant}},
        {"name": "y", "op": "Reshape", "input": ["x", "c"]},
    ]
    document = {"format": "graph-model", "modelTopology": {"node": nodes, "versions": {"producer": 2474}}}
    document["weightsManifest"] = [{"paths": ["group1.bin", "group2.bin"], "weights": weights}]
    return json.dumps({**document, **({"signature": signature} if signature else {})})


WEIGHTS = [{"name": "w", "dtype": "float32", "shape": [3]}, {"name": "c", "dtype": "int32", "shape": [2]}]
SIGNATURE = {
    "inputs": {"image": {"name": "x:0", "dtype": "DT_FLOAT", "tensorShape": {"dim": [{"size": "-1"}, {"size": "6"}]}}},
    "outputs": {"y": {"name": "y"}},
}


def test_a_document_with_its_shards(tmp_path):
    (tmp_path / "model.json").write_text(web_document(WEIGHTS, SIGNATURE), encoding="utf-8")
    data = np.float32([1, 2, 3]).tobytes() + np.int32([-1, 3]).tobytes()
    (tmp_path / "group1.bin").write_bytes(data[:14])
    (tmp_path / "group2.bin").write_bytes(data[14:])
    for path in (tmp_path, tmp_path / "model.json"):
        graph = load(path)
        assert graph.constants["c:0"].elements == (-1, 3)
        assert graph.aliases["image"] == "x:0"
        assert graph.declared["x:0"].dims == (None, 6)
        assert graph.outputs == ["y:0"]


def test_a_document_without_its_shards():
    assert load(web_document(WEIGHTS).encode()).constants["c:0"].elements is None


@pytest.mark.parametrize("size", [0, 12, 19])
def test_shards_that_are_too_short(tmp_path, size):
    (tmp_path / "model.json").write_text(web_document(WEIGHTS), encoding="utf-8")
    (tmp_path / "group1.bin").write_bytes(bytes(size))
    assert load(tmp_path).constants["c:0"].elements is None


@pytest.mark.parametrize("path", ["../secret.bin", "/etc/passwd", "", ".", "a\0b"])
def test_shards_outside_of_the_folder(tmp_path, path):
    inside = tmp_path / "model"
    inside.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(20))
    text = web_document(WEIGHTS).replace("group1.bin", path.replace("\0", "\\u0000"))
    (inside / "model.json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=r"are outside the model's folder|not a regular file"):
        load(inside)


def test_a_layers_model_is_no_graph(tmp_path):
    document = {"format": "layers-model", "modelTopology": {"model_config": {}}, "weightsManifest": []}
    (tmp_path / "model.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelError, match="layers model"):
        load(tmp_path)
