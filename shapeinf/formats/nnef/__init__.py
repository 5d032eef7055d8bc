"""NNEF documents: the provisional dialect of 2017, 1.0 to 1.0.5, and tract's. The reader is imported on use."""

from __future__ import annotations

from typing import Any

from shapeinf.formats.annotation import Annotation
from shapeinf.formats.nnef import codes
from shapeinf.formats.nnef.options import NnefOptions
from shapeinf.formats.registry import Candidate, Format, Target
from shapeinf.graph import Graph


def _sniff(candidate: Candidate) -> bool:
    from shapeinf.formats.nnef.files import source

    path = candidate.text
    named = path is not None and (source.is_document(path) or source.has_nnef_name(path))
    return named or source.is_nnef(candidate.head)


def _is_model_path(candidate: Candidate) -> bool:
    from shapeinf.formats.nnef.files import source

    return source.is_model_path(candidate.text or "")


def _read(model: Any, options: NnefOptions) -> Graph:
    from shapeinf.formats.nnef import reader

    return reader.read(model, options)


def _write(graph: Graph, annotation: Annotation, target: Target) -> None:
    from shapeinf.formats.nnef import writer

    writer.write(graph, annotation, target)


def _is_model_head(head: bytes) -> bool:
    from shapeinf.formats.nnef.files import source

    return source.is_document(head.decode("utf-8", "replace"))


__all__ = ["NNEF", "codes"]

NNEF = Format(
    "nnef", "NNEF", _sniff, _read, _write, NnefOptions, is_model_path=_is_model_path, is_model_head=_is_model_head
)
