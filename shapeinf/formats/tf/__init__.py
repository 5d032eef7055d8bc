"""TensorFlow's files: GraphDef, MetaGraphDef, SavedModel. The reader is imported on use."""

from __future__ import annotations

import os
from typing import Any

from shapeinf.formats.registry import Candidate, Format
from shapeinf.formats.tf.options import TensorFlowOptions
from shapeinf.formats.tf.sniffing import binary_kind, text_kind
from shapeinf.graph import Graph


def _sniff(candidate: Candidate) -> bool:
    if candidate.text is not None and os.path.isdir(candidate.text):
        return any(os.path.isfile(os.path.join(candidate.text, f"saved_model.{ending}")) for ending in ("pb", "pbtxt"))
    head = candidate.head
    return binary_kind(head) is not None or text_kind(head.decode("utf-8", "replace")) is not None


def _read(model: Any, options: TensorFlowOptions) -> Graph:
    from shapeinf.formats.tf import source

    return source.read(model, options)


TENSORFLOW = Format("tf", "TensorFlow", _sniff, _read, None, TensorFlowOptions)
"""The format of TensorFlow's models."""

__all__ = ["TENSORFLOW", "TensorFlowOptions"]
