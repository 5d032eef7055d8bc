"""TensorFlow Lite files: `.tflite`. Readers and writers are imported on use."""

from __future__ import annotations

from typing import Any

from shapeinf.formats.registry import Candidate, Format
from shapeinf.graph import Graph

IDENTIFIER = b"TFL3"
_SUFFIXES = (".tflite", ".lite")


def _is_head(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a model."""
    return head[4:8] == IDENTIFIER


def _sniff(candidate: Candidate) -> bool:
    if _is_head(candidate.head):
        return True
    return not candidate.library and candidate.text is not None and candidate.text.endswith(_SUFFIXES)


def _is_model_path(candidate: Candidate) -> bool:
    return _is_head(candidate.head)


def _read(model: Any, options: None) -> Graph:
    from shapeinf.formats.tflite import reader

    return reader.read(model)


__all__ = ["TFLITE"]

TFLITE = Format("tflite", "TensorFlow Lite", _sniff, _read, is_model_path=_is_model_path, is_model_head=_is_head)
"""The format of TensorFlow Lite files."""
