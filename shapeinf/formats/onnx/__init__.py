"""ONNX files. Readers and writers are imported on use: `onnx` takes long to import."""

from __future__ import annotations

from typing import Any

from shapeinf.formats.annotation import Annotation
from shapeinf.formats.files import ExternalData
from shapeinf.formats.registry import Candidate, Format, Target
from shapeinf.graph import Graph


def _sniff(candidate: Candidate) -> bool:
    return candidate.library in ("onnx", "onnx_ir") or (candidate.text or "").endswith(".onnx")


def _read(model: Any, options: None) -> Graph:
    from shapeinf.formats.onnx import source

    return source.read(model)


def _write(graph: Graph, annotation: Annotation, target: Target, external_data: ExternalData = "keep") -> None:
    from shapeinf.formats.onnx import writer

    writer.write(graph, annotation, target, external_data)


ONNX = Format("onnx", "ONNX", _sniff, _read, _write, write_external=_write)
