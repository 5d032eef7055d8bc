"""Real graphs that are saved with inferred shapes: TensorFlow loads them, and infers no other shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapeinf import infer_shapes
from tests.vectors import ROOT

CORPUS = ROOT / "tf_graphs"
MODELS = sorted(path for path in CORPUS.glob("*") if path.suffix in (".pb", ".pbtxt", ".meta") or path.is_dir())
MODELS = [path for path in MODELS if (CORPUS / f"{path.stem}.truth.json").exists()]
ANNOTATION = "_output_shapes"


def read_message(path: Path):
    """The message of a file or a folder, and its GraphDef."""
    from google.protobuf import text_format
    from tensorflow.core.framework.graph_pb2 import GraphDef
    from tensorflow.core.protobuf.meta_graph_pb2 import MetaGraphDef
    from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

    if path.is_dir():
        message = SavedModel.FromString((path / "saved_model.pb").read_bytes())
        return message, message.meta_graphs[0].graph_def
    if path.suffix == ".pbtxt":
        message = text_format.Parse(path.read_text(encoding="utf-8"), GraphDef())
        return message, message
    message = (MetaGraphDef if path.suffix == ".meta" else GraphDef).FromString(path.read_bytes())
    return message, getattr(message, "graph_def", message)


def nodes(graph):
    return [*graph.node, *(node for function in graph.library.function for node in function.node_def)]


def without_shapes(message, graph):
    """The bytes of a message without annotations, and without the shapes of the outputs of signatures."""
    for node in nodes(graph):
        if ANNOTATION in node.attr:
            del node.attr[ANNOTATION]
    for meta in getattr(message, "meta_graphs", ()):
        for signature in meta.signature_def.values():
            for info in signature.outputs.values():
                info.ClearField("tensor_shape")
    return message.SerializeToString(deterministic=True)


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_tensorflow_loads_what_is_saved(path, tmp_path) -> None:
    tf = pytest.importorskip("tensorflow")
    infer_shapes(path).save(tmp_path / path.name)
    _, graph = read_message(tmp_path / path.name)
    shapes = {node.name: node.attr[ANNOTATION].list.shape for node in graph.node if ANNOTATION in node.attr}
    with tf.Graph().as_default() as imported:
        tf.import_graph_def(graph, name="")  # which adds defaults to `graph`
    for name, protos in shapes.items():
        for proto, tensor in zip(protos, imported.get_operation_by_name(name).outputs, strict=True):
            shape = tf.TensorShape(proto)
            assert shape.rank is None or shape.rank == tensor.shape.rank, name
            assert all(size in (None, other) for size, other in zip(shape or (), tensor.shape or (), strict=False)), (
                name
            )
    assert without_shapes(*read_message(tmp_path / path.name)) == without_shapes(*read_message(path))
