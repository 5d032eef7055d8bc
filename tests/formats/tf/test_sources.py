"""Sources of TensorFlow models: files, folders, archives, objects, TensorFlow.js; how they are recognized."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from shapeinf import ModelError
from shapeinf.errors import LimitError, UnknownFormatError
from shapeinf.formats import FORMATS, load
from shapeinf.formats.registry import Candidate
from shapeinf.formats.tf import archive
from shapeinf.formats.tf.sniffing import binary_kind, text_kind
from shapeinf.formats.tf.text import encode_text
from tests.formats.tf.saved_models import (
    GRAPH,
    SAVED,
    meta_graph,
    options,
    saved_model,
)
from tests.formats.tf.test_reading import function

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"


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
def test_sources_are_recognized(source, tmp_path):
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
