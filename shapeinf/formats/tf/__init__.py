"""TensorFlow models: GraphDef, MetaGraphDef, SavedModel, TensorFlow.js. Readers and writers are imported on use."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from shapeinf.formats.annotation import Annotation
from shapeinf.formats.registry import Candidate, Format, MissingData, Target
from shapeinf.formats.tf import archive, sniffing
from shapeinf.formats.tf.options import TensorFlowOptions
from shapeinf.graph import Graph


def _sniff(candidate: Candidate) -> bool:
    path = candidate.text
    if candidate.library == "tensorflow":
        return True
    if path is not None and os.path.isdir(path):
        return sniffing.file_of_folder(path) is not None
    if path is not None and sniffing.text_kind(path) is not None:
        return True
    head = candidate.head
    if head.startswith(archive.MAGIC):
        source = path if path is not None else candidate.model
        return isinstance(source, (str, bytes)) and archive.message_name(source) is not None
    return sniffing.is_model(head)


def _is_model_path(candidate: Candidate) -> bool:
    path = candidate.text or ""
    if os.path.isdir(path):
        return sniffing.file_of_folder(path) is not None
    return path.lower().endswith((".pb", ".pbtxt", ".json")) and sniffing.is_model(candidate.head)


def _read(model: Any, options: TensorFlowOptions) -> Graph:
    from shapeinf.formats.tf import source

    return source.read(model, options)


def _write(graph: Graph, annotation: Annotation, target: Target) -> None:
    from shapeinf.formats.tf import writer

    writer.write(graph, annotation, target)


def _missing_data(graph: Graph) -> Iterable[MissingData]:
    if graph.model is None:
        return ()
    from shapeinf.formats.tf import web

    return web.missing_data(graph)


_TRITON_PLATFORMS = {"SavedModel": "tensorflow_savedmodel", "GraphDef": "tensorflow_graphdef"}


def _triton_platform(graph: Graph) -> str:
    return _TRITON_PLATFORMS.get(getattr(graph.model, "kind", ""), "")


TENSORFLOW = Format(
    "tf",
    "TensorFlow",
    _sniff,
    _read,
    _write,
    TensorFlowOptions,
    is_model_path=_is_model_path,
    missing_data=_missing_data,
    is_model_head=sniffing.is_model,
    writes_folders=True,
    triton_platform=_triton_platform,
)
"""The format of TensorFlow's models."""

__all__ = ["TENSORFLOW", "TensorFlowOptions"]
