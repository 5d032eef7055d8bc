"""ONNX files. Readers and writers are imported on use: `onnx` takes long to import."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from shapeinf.formats.annotation import Annotation
from shapeinf.formats.files import ExternalData
from shapeinf.formats.registry import Candidate, Format, MissingData, Target
from shapeinf.graph import Graph

_TEXT_START = re.compile(rb"\s*(?:#[^\n]*\n\s*)*ir_version\s*:")
"""How a model in the text form of protocol buffers begins."""


def _sniff(candidate: Candidate) -> bool:
    return candidate.library in ("onnx", "onnx_ir") or (candidate.text or "").endswith(".onnx")


def _read(model: Any, options: None) -> Graph:
    from shapeinf.formats.onnx import source

    return source.read(model)


def _write(graph: Graph, annotation: Annotation, target: Target, external_data: ExternalData = "keep") -> None:
    from shapeinf.formats.onnx import writer

    writer.write(graph, annotation, target, external_data)


def _is_model_path(candidate: Candidate) -> bool:
    path = (candidate.text or "").lower()
    if path.endswith((".onnx", ".onnxtxt")):
        return True
    return path.endswith((".textproto", ".pbtxt")) and _TEXT_START.match(candidate.head) is not None


def _missing_data(graph: Graph) -> Iterable[MissingData]:
    if not graph.external:
        return ()
    from shapeinf.formats.onnx import external_files

    return external_files.missing_data(graph)


ONNX = Format(
    "onnx",
    "ONNX",
    _sniff,
    _read,
    _write,
    is_model_path=_is_model_path,
    missing_data=_missing_data,
    write_external=_write,
)
