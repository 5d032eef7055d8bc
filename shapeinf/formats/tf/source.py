"""Reads a TensorFlow model from a file (mapped, not copied), bytes, a folder, an archive or an object."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs

from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats.files import check_path
from shapeinf.formats.protobuf.wire import Buffer, DamagedError
from shapeinf.formats.read_files import ReadFiles, open_file, open_source
from shapeinf.formats.registry import HEAD
from shapeinf.formats.tf import archive
from shapeinf.formats.tf.graph_def import read_graph_def
from shapeinf.formats.tf.handles import declare_handles
from shapeinf.formats.tf.json_form import parse_document
from shapeinf.formats.tf.meta_graph import MetaGraph, Signature, read_meta_graph, saved_meta_graphs, select_meta_graph
from shapeinf.formats.tf.options import TensorFlowOptions
from shapeinf.formats.tf.saved_objects import add_captured_types, captured_types
from shapeinf.formats.tf.signatures import add_signatures, select_signature
from shapeinf.formats.tf.sniffing import MessageKind, binary_kind, file_of_folder, is_web_document, text_kind
from shapeinf.formats.tf.text import encode_text
from shapeinf.formats.tf.web import read_web_model
from shapeinf.graph import Graph

MAX_TEXT = 1 << 29
"""Bytes of the largest model in text form or JSON, whose parser needs many times as many."""

_MESSAGES: tuple[MessageKind, ...] = ("GraphDef", "MetaGraphDef", "SavedModel")


@attrs.frozen
class TensorFlowModel:
    """The message that a graph was read from, for the writer.

    Args:
        kind: the type of the message.
        graph: the range of its GraphDef in the binary form.
        data: the bytes of a message without a file of its own; None for the file in `Graph.files`.
    """

    kind: MessageKind
    graph: tuple[int, int]
    data: bytes | None = None


def read(model: Any, options: TensorFlowOptions) -> Graph:
    """Read a path, bytes, a text, a message of TensorFlow's own classes or one of its graphs.

    Raises UnknownFormatError for anything but a TensorFlow model, ModelError for one that is cut off or malformed.
    """
    if isinstance(model, bytes):
        return _read_bytes(model, options)
    if isinstance(model, str) and text_kind(model) is not None:
        return _read_bytes(model.encode("utf-8", "replace"), options, "<text>")
    if isinstance(model, (str, os.PathLike)):
        return _read_path(check_path(model), options)
    kind, data = _serialize(model)
    return _with_data(_read_kind(kind, data, f"<{type(model).__name__}>", options), data)


def _serialize(model: Any) -> tuple[MessageKind, bytes]:
    """The message of an object: a GraphDef, MetaGraphDef or SavedModel, a graph, or a function with a graph."""
    if hasattr(model, "graph") and hasattr(model.graph, "as_graph_def"):
        model = model.graph
    if hasattr(model, "as_graph_def"):
        model = model.as_graph_def()
    kind = next((kind for kind in _MESSAGES if type(model).__name__ == kind), None)
    if kind is None or not hasattr(model, "SerializeToString"):
        raise UnknownFormatError(f"a {type(model).__name__} is not a model that shapeinf can read")
    return kind, model.SerializeToString()


def _read_bytes(data: bytes, options: TensorFlowOptions, where: str = "<bytes>") -> Graph:
    if data.startswith(archive.MAGIC):
        data = archive.read_message(data)
    return _with_data(_read_buffer(data, where, None, options), data)


def _with_data(graph: Graph, data: bytes) -> Graph:
    """The graph, with the bytes of its message for the writer: the message has no file of its own."""
    if isinstance(graph.model, TensorFlowModel):
        graph.model = attrs.evolve(graph.model, data=data)
    return graph


def _read_path(path: str, options: TensorFlowOptions) -> Graph:
    if os.path.isdir(path):
        name = file_of_folder(path)
        if name is None:
            raise UnknownFormatError("is a folder without saved_model.pb or model.json", node=path)
        path = os.path.join(path, name)
    files = ReadFiles(os.path.abspath(path))
    with open_file(path, files) as buffer:
        if buffer[:4] == archive.MAGIC:
            graph = _read_bytes(archive.read_message(path), options, path)
        else:
            graph = _read_buffer(buffer, path, files.folder, options)
    graph.source = path
    graph.files = files
    return graph


def _read_buffer(buffer: Buffer, where: str, folder: str | None, options: TensorFlowOptions) -> Graph:
    """The graph of a message in one of its forms; `folder` has the shards of weights."""
    if binary_kind(buffer[:HEAD]) is None and is_web_document(buffer[:HEAD]):
        return read_web_model(parse_document(_text(buffer, where), where), where, folder, options.signature)
    kind, binary = to_binary(buffer, where)
    return _read_kind(kind, binary, where, options)


def to_binary(buffer: Buffer, where: str) -> tuple[MessageKind, Buffer]:
    """The kind of the message in a file, and its binary form. Raises UnknownFormatError for a file of another kind."""
    head = buffer[:HEAD]
    kind = binary_kind(head)
    if kind is not None:
        return kind, buffer
    kind = text_kind(head.decode("utf-8", "replace"))
    if kind is None:
        raise UnknownFormatError("is not a TensorFlow model", node=where)
    return kind, encode_text(_text(buffer, where), kind, where)


def _text(buffer: Buffer, where: str) -> str:
    if len(buffer) > MAX_TEXT:
        raise LimitError(f"is a text of more than {MAX_TEXT} bytes", node=where)
    try:
        return buffer[:].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"is not UTF-8 text: byte {error.start}", node=where) from None


def _read_kind(kind: MessageKind, buffer: Buffer, where: str, options: TensorFlowOptions) -> Graph:
    """The graph of a message in its binary form."""
    try:
        return _read_message(kind, buffer, where, options)
    except (DamagedError, IndexError, struct.error, RecursionError) as error:
        cause = f"is not a complete {kind} ({len(buffer)} bytes), it is cut off or damaged: {error}"
        raise ModelError(cause, node=where) from error


def _read_message(kind: MessageKind, buffer: Buffer, where: str, options: TensorFlowOptions) -> Graph:
    if kind == "GraphDef":
        meta = MetaGraph(graph=(0, len(buffer)))
    elif kind == "MetaGraphDef":
        meta = read_meta_graph(buffer, 0, len(buffer))
    else:
        meta = select_meta_graph(buffer, options.tag, where)
    if meta.graph is None:
        raise UnknownFormatError(f"is a {kind} without a graph", node=where)
    signatures = select_signature(meta.signatures, options.signature)
    chosen = None if options.signature is None else signatures[options.signature]
    graph = read_graph_def(buffer, *meta.graph, meta.custom, chosen)
    graph.producer = f"TensorFlow {meta.tensorflow}" if meta.tensorflow else ""
    graph.file_version = kind
    graph.model = TensorFlowModel(kind, meta.graph)
    add_signatures(graph, signatures)
    if meta.objects is not None:
        add_captured_types(graph, captured_types(buffer, *meta.objects))
    declare_handles(graph)
    return graph


@attrs.frozen
class OpenMessage:
    """The message that a graph was read from, in binary form; `is_text`: its file has the text form."""

    model: TensorFlowModel
    buffer: Buffer
    is_text: bool

    def graph_def(self) -> bytes:
        """The bytes of its GraphDef."""
        start, end = self.model.graph
        return self.buffer[start:end]

    def signatures(self) -> dict[str, Signature]:
        """The signatures of the MetaGraphDef that was read; a GraphDef has none."""
        if self.model.kind == "GraphDef":
            return {}
        if self.model.kind == "MetaGraphDef":
            return read_meta_graph(self.buffer, 0, len(self.buffer)).signatures
        metas = saved_meta_graphs(self.buffer)
        return next((meta.signatures for meta in metas if meta.graph == self.model.graph), {})


@contextmanager
def open_message(graph: Graph) -> Iterator[OpenMessage]:
    """The message that a graph was read from. Raises ModelError for a graph of another origin."""
    model = graph.model
    if not isinstance(model, TensorFlowModel):
        raise ModelError("the graph was not read from a GraphDef, a MetaGraphDef or a SavedModel", node=graph.source)
    if model.data is not None:
        yield _open_data(model, model.data, "<bytes>")
    else:
        with open_source(graph) as buffer:
            yield _open_data(model, buffer, graph.source or "<bytes>")


def _open_data(model: TensorFlowModel, buffer: Buffer, where: str) -> OpenMessage:
    head = buffer[:HEAD]
    is_text = binary_kind(head) is None and text_kind(head.decode("utf-8", "replace")) is not None
    return OpenMessage(model, encode_text(_text(buffer, where), model.kind, where) if is_text else buffer, is_text)
