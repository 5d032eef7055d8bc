"""Reads a TensorFlow Lite file, a path or its bytes, as a graph."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs

from shapeinf.errors import LimitError, ModelError, UnknownNameError
from shapeinf.formats.files import check_path
from shapeinf.formats.protobuf.wire import Buffer
from shapeinf.formats.read_files import ReadFiles, open_file, open_source
from shapeinf.formats.tflite.builder import ModelBuilder
from shapeinf.formats.tflite.containers import is_container, open_member
from shapeinf.formats.tflite.document import Document, read_document
from shapeinf.formats.tflite.flatbuffer import LimitReachedError, MalformedError
from shapeinf.formats.tflite.model import TfliteModel
from shapeinf.formats.tflite.schema import installed_schema
from shapeinf.formats.tflite.signatures import add_signatures, find_signature
from shapeinf.graph import Graph


def read(model: Any, signature: str | None = None, member: str | None = None) -> Graph:
    """Read a path or bytes of a file: the main subgraph, or that of a signature; of an archive the member of a name.

    Raises ModelError for a malformed file, UnknownNameError for an unknown name, LimitError past a limit.
    """
    if isinstance(model, bytes):
        graph = build(model, "<bytes>", signature, member)
        graph.files = ReadFiles(data=model)
        return graph
    path = check_path(model)
    files = ReadFiles(os.path.abspath(path))
    with open_file(path, files) as buffer:
        graph = build(buffer, path, signature, member)
    graph.source = path
    graph.files = files
    return graph


@contextmanager
def open_model(graph: Graph) -> Iterator[Buffer]:
    """The bytes of the file that a graph was read from; of an archive those of its member. Raises ChangedFileError."""
    with open_source(graph) as buffer:
        member = graph.model.member
        yield open_member(buffer, member, graph.source or "<bytes>")[1] if member else buffer


def build(buffer: Buffer, where: str, signature: str | None = None, member: str | None = None) -> Graph:
    """The graph of a file; see `read`."""
    try:
        name = ""
        if is_container(buffer[:8]):
            name, buffer = open_member(buffer, member, where)
            where = f"{where}: {name}"
        elif member is not None:
            raise UnknownNameError("member", member, (), hint=f"{where} is a single model")
        graph = _build(read_document(buffer), signature)
    except LimitReachedError as error:
        raise LimitError(str(error), node=where) from error
    except MalformedError as error:
        raise ModelError(str(error), node=where) from error
    graph.model = attrs.evolve(graph.model, member=name)
    return graph


def _build(document: Document, signature: str | None) -> Graph:
    if not document.num_subgraphs:
        raise MalformedError("has no subgraph")
    index = 0 if signature is None else find_signature(document, signature).subgraph
    builder = ModelBuilder(document, installed_schema())
    graph = builder.build(index)
    graph.producer = document.description
    graph.file_version = str(document.version)
    graph.model = TfliteModel(
        index, builder.names, document.subgraph(index).inputs, [signature.key for signature in document.signatures]
    )
    add_signatures(graph, document, builder.names, index, signature)
    return graph
