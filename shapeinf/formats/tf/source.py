"""Where a model of TensorFlow comes from: a file (mapped, never read completely), bytes, a folder, an object."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from typing import Any

import attrs

from shapeinf.errors import ModelError, UnknownFormatError
from shapeinf.formats.files import check_path
from shapeinf.formats.protobuf.wire import Buffer, DamagedError
from shapeinf.formats.registry import HEAD
from shapeinf.formats.tf.graph_def import read_graph_def
from shapeinf.formats.tf.meta_graph import MetaGraph, Signature, read_meta_graph, saved_meta_graphs, select_meta_graph
from shapeinf.formats.tf.model import TensorFlowModel
from shapeinf.formats.tf.options import TensorFlowOptions
from shapeinf.formats.tf.signatures import add_signatures
from shapeinf.formats.tf.sniffing import MessageKind, binary_kind, text_kind
from shapeinf.formats.tf.text import encode_text
from shapeinf.graph import Graph

SAVED_MODELS = ("saved_model.pb", "saved_model.pbtxt")
"""The files of a folder with a SavedModel that hold its message."""


def read(model: Any, options: TensorFlowOptions) -> Graph:
    """Read a path, bytes, or a message of TensorFlow's own classes.

    Raises UnknownFormatError for what is no model of TensorFlow, ModelError for one that is cut off or malformed.
    """
    if isinstance(model, bytes):
        graph = _read_buffer(model, "<bytes>", options)
        graph.model = attrs.evolve(graph.model, data=model)
        return graph
    if isinstance(model, (str, os.PathLike)):
        return _read_path(check_path(model), options)
    raise UnknownFormatError(f"a {type(model).__name__} is not a model that shapeinf can read")


def _read_path(path: str, options: TensorFlowOptions) -> Graph:
    if os.path.isdir(path):
        path = _file_of_folder(path)
    with map_file(path) as buffer:
        graph = _read_buffer(buffer, path, options)
    graph.source = path
    return graph


def _file_of_folder(path: str) -> str:
    for name in SAVED_MODELS:
        if os.path.isfile(os.path.join(path, name)):
            return os.path.join(path, name)
    raise UnknownFormatError(f"is a folder without {SAVED_MODELS[0]}", node=path)


@contextmanager
def map_file(path: str) -> Iterator[mmap]:
    """The bytes of a file."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise UnknownFormatError("is empty (0 bytes)", node=path)
            with mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
                yield mapped
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", node=path) from error


def _read_buffer(buffer: Buffer, where: str, options: TensorFlowOptions) -> Graph:
    kind, buffer = to_binary(buffer, where)
    try:
        return _read_message(kind, buffer, where, options)
    except (DamagedError, IndexError, struct.error, RecursionError) as error:
        cause = f"is not a complete {kind} ({len(buffer)} bytes), it is cut off or damaged: {error}"
        raise ModelError(cause, node=where) from error


def to_binary(buffer: Buffer, where: str) -> tuple[MessageKind, Buffer]:
    """The message that a file holds, and its binary form. Raises UnknownFormatError for a file of another kind."""
    head = buffer[:HEAD]
    kind = binary_kind(head)
    if kind is not None:
        return kind, buffer
    kind = text_kind(head.decode("utf-8", "replace"))
    if kind is None:
        raise UnknownFormatError("is not a model of TensorFlow", node=where)
    return kind, encode_text(_text(buffer[:], where), kind, where)


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"is not a text: byte {error.start} is no UTF-8", node=where) from None


def _read_message(kind: MessageKind, buffer: Buffer, where: str, options: TensorFlowOptions) -> Graph:
    if kind == "GraphDef":
        meta = MetaGraph(graph=(0, len(buffer)))
    elif kind == "MetaGraphDef":
        meta = read_meta_graph(buffer, 0, len(buffer))
    else:
        meta = select_meta_graph(buffer, options.tag, where)
    if meta.graph is None:
        raise UnknownFormatError(f"is a {kind} without a graph", node=where)
    graph = read_graph_def(buffer, *meta.graph, meta.custom)
    graph.model = TensorFlowModel(kind, meta.graph)
    return add_signatures(graph, meta.signatures, options.signature)


@attrs.frozen
class OpenMessage:
    """The message that a graph was read from, in binary form; `is_text`: whether its file has the text form."""

    model: TensorFlowModel
    buffer: Buffer
    is_text: bool

    def graph_def(self) -> bytes:
        """The bytes of its GraphDef."""
        start, end = self.model.graph
        return self.buffer[start:end]

    def signatures(self) -> dict[str, Signature]:
        """The signatures of the MetaGraphDef that was read; none of a GraphDef."""
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
        raise ModelError("it was not read from a GraphDef, a MetaGraphDef or a SavedModel", node=graph.source)
    if model.data is not None:
        data = to_binary(model.data, "<bytes>")[1]
        yield OpenMessage(model, data, data is not model.data)
    elif graph.source is not None:
        with map_file(graph.source) as mapped:
            buffer = to_binary(mapped, graph.source)[1]
            yield OpenMessage(model, buffer, buffer is not mapped)
    else:
        raise ModelError("it was not read from a file")
