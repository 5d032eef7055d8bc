"""Where a model of TensorFlow comes from: a file (mapped, never read completely), bytes, a folder, an object."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from typing import Any

from shapeinf.errors import ModelError, UnknownFormatError
from shapeinf.formats.files import check_path
from shapeinf.formats.protobuf.wire import Buffer, DamagedError
from shapeinf.formats.registry import HEAD
from shapeinf.formats.tf.graph_def import read_graph_def
from shapeinf.formats.tf.meta_graph import MetaGraph, read_meta_graph, select_meta_graph
from shapeinf.formats.tf.options import TensorFlowOptions
from shapeinf.formats.tf.signatures import add_signatures
from shapeinf.formats.tf.sniffing import MessageKind, binary_kind, text_kind
from shapeinf.graph import Graph

SAVED_MODELS = ("saved_model.pb", "saved_model.pbtxt")
"""The files of a folder with a SavedModel that hold its message."""


def read(model: Any, options: TensorFlowOptions) -> Graph:
    """Read a path, bytes, or a message of TensorFlow's own classes.

    Raises UnknownFormatError for what is no model of TensorFlow, ModelError for one that is cut off or malformed.
    """
    if isinstance(model, bytes):
        return _read_buffer(model, "<bytes>", options)
    if isinstance(model, (str, os.PathLike)):
        return _read_path(check_path(model), options)
    raise UnknownFormatError(f"a {type(model).__name__} is not a model that shapeinf can read")


def _read_path(path: str, options: TensorFlowOptions) -> Graph:
    if os.path.isdir(path):
        path = _file_of_folder(path)
    with _mapped(path) as buffer:
        graph = _read_buffer(buffer, path, options)
    graph.source = path
    return graph


def _file_of_folder(path: str) -> str:
    for name in SAVED_MODELS:
        if os.path.isfile(os.path.join(path, name)):
            return os.path.join(path, name)
    raise UnknownFormatError(f"is a folder without {SAVED_MODELS[0]}", node=path)


@contextmanager
def _mapped(path: str) -> Iterator[mmap]:
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
    head = buffer[:HEAD]
    kind = binary_kind(head)
    if kind is None:
        kind = text_kind(head.decode("utf-8", "replace"))
        if kind is None:
            raise UnknownFormatError("is not a model of TensorFlow", node=where)
        buffer = _encode_text(buffer[:], kind)
    try:
        return _read_message(kind, buffer, where, options)
    except (DamagedError, IndexError, struct.error, RecursionError) as error:
        cause = f"is not a complete {kind} ({len(buffer)} bytes), it is cut off or damaged: {error}"
        raise ModelError(cause, node=where) from error


def _encode_text(data: bytes, kind: MessageKind) -> bytes:
    """The binary form of a message in text form."""
    from shapeinf.formats.tf.text import encode_text

    return encode_text(data.decode("utf-8", "replace"), kind)


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
    return add_signatures(graph, meta.signatures, options.signature)
