"""Readers and writers, a package a format."""

from __future__ import annotations

import os
from typing import Any

from shapeinf.formats.annotation import Annotation
from shapeinf.graph import Graph


def load(model: Any) -> Graph:
    """Read a model of any supported format: a path, bytes, or an object of the format's own library."""
    from shapeinf.formats import onnx

    return onnx.read(model)


def save(graph: Graph, annotation: Annotation, path: str | os.PathLike[str]) -> None:
    """Write a graph with its inferred shapes, in the format that it was read from."""
    from shapeinf.formats import onnx

    onnx.write(graph, annotation, path)
