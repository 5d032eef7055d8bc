"""Readers and writers, a package a format."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, Literal, TextIO

from shapeinf.errors import ModelError
from shapeinf.formats.annotation import Annotation
from shapeinf.graph import Graph


def load(model: Any, dialect: str | None = None, expand: Collection[str] | Literal["all"] = ()) -> Graph:
    """Read a model of any supported format: a path, bytes, text, or an object of the format's own library.

    `dialect` is that of an NNEF document, for those that do not tell; `expand` names compound operations of NNEF that
    their bodies replace.
    """
    if dialect is not None or expand or _is_nnef(model):
        from shapeinf.formats.nnef import reader

        return reader.read(model, dialect, expand=expand)
    from shapeinf.formats import onnx

    return onnx.read(model)


def save(graph: Graph, annotation: Annotation, target: str | os.PathLike[str] | TextIO) -> None:
    """Write a graph with its inferred shapes, in the format that it was read from; a stream takes texts only."""
    if graph.dialect == "nnef":
        from shapeinf.formats.nnef import writer

        writer.write(graph, annotation, target)
        return
    if not isinstance(target, (str, os.PathLike)):
        raise ModelError("only NNEF documents can be written to a stream")
    from shapeinf.formats import onnx

    onnx.write(graph, annotation, target)


def _is_nnef(model: Any) -> bool:
    """Whether a model is for the NNEF reader, by its text, its name or its first bytes."""
    from shapeinf.formats.nnef.files import source

    if isinstance(model, bytes):
        return source.is_nnef(model[:4096])
    if not isinstance(model, (str, os.PathLike)):
        return False
    path = os.fsdecode(model)
    if path.endswith(".onnx"):
        return False
    if source.is_document(path) or source.has_nnef_name(path):
        return True
    try:
        with open(path, "rb") as file:
            return source.is_nnef(file.read(512))
    except (OSError, ValueError):  # the reader of the format says what is wrong with the path
        return False
