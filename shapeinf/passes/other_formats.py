"""Refuses models that are not ONNX, by the name of their format. Nothing of them is read but their first bytes."""

from __future__ import annotations

import os
import re
from typing import Any

from shapeinf.errors import UnknownFormatError
from shapeinf.formats import FORMATS
from shapeinf.formats.protobuf.wire import BYTES, DamagedError, fields
from shapeinf.formats.registry import Candidate
from shapeinf.texts import escape_unprintable

_PICKLE = b"\x80"
"""The first byte of a pickle of protocol 2 and later. No ONNX model starts with it: it has no such field."""

_CAFFE_FILES = (".prototxt", ".caffemodel")
_CAFFE_TEXT = re.compile(rb"^\s*layers?\s*\{[^}]*\b(?:type|bottom|top)\s*:", re.MULTILINE)
_OPENVINO_TEXT = re.compile(rb"^\s*(?:<\?xml[^>]*>\s*)?<net\s")
_CAFFE_NAME, _CAFFE_OLD_LAYERS, _CAFFE_LAYERS = 1, 2, 100
"""Fields of Caffe's NetParameter."""


def refuse_other_formats(model: Any) -> None:
    """Raise UnknownFormatError for what is not ONNX: pickles, files of Caffe, and models of other formats.

    A file is a pickle or Caffe's whatever its name is; neither is ever loaded.
    """
    candidate = Candidate(model)
    where = _label(candidate)
    if candidate.head.startswith(_PICKLE):
        raise UnknownFormatError("is a pickle, as PPQ's native files are: to read one runs code from it", node=where)
    if (candidate.text or "").lower().endswith(_CAFFE_FILES) or _has_caffe_layers(candidate.head):
        raise UnknownFormatError("is a file of Caffe, which is not read: convert it to ONNX", node=where)
    if _OPENVINO_TEXT.search(candidate.head):
        raise UnknownFormatError("is a network of OpenVINO: clean is for ONNX models", node=where)
    recognised = next((format_ for format_ in FORMATS.formats if format_.sniff(candidate)), None)
    if recognised not in (None, FORMATS.default):
        assert recognised is not None
        raise UnknownFormatError(f"is a model of {recognised.title}: clean is for ONNX models", node=where)
    if recognised is None and not isinstance(model, (str, os.PathLike, bytes)):
        raise UnknownFormatError(f"a {type(model).__name__} is not an ONNX model")


def _label(candidate: Candidate) -> str:
    """The path; not the text where that is the model itself."""
    if candidate.text is None:
        return "<bytes>"
    return "<text>" if "\n" in candidate.text else escape_unprintable(candidate.text)


def _has_caffe_layers(head: bytes) -> bool:
    """Whether the first bytes are those of a network of Caffe, binary or text."""
    if _CAFFE_TEXT.search(head):
        return True
    named = False
    try:
        for number, kind, start, end in fields(head, 0, 1 << 62):  # the last one may end after the head
            if kind == BYTES and number == _CAFFE_LAYERS:
                return True
            if kind == BYTES and number == _CAFFE_OLD_LAYERS and named:
                return True
            named |= kind == BYTES and number == _CAFFE_NAME and head[start:end].isascii() and head[start] >= 32
    except (DamagedError, IndexError):
        return False
    return False
