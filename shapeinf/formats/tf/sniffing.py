"""Recognizes TensorFlow's messages in files by their first bytes: binary messages have no header."""

from __future__ import annotations

import os
import re
from typing import Literal

from shapeinf.formats.files import open_regular
from shapeinf.formats.protobuf.wire import BYTES, VARINT, DamagedError, varint
from shapeinf.formats.registry import HEAD

MessageKind = Literal["GraphDef", "MetaGraphDef", "SavedModel"]

_NAME = re.compile(rb"[A-Za-z0-9.][A-Za-z0-9_>./\\-]*")
"""Names of nodes and operators."""

_OPERATOR = re.compile(rb"[A-Za-z_][A-Za-z0-9_>.]*")
_TEXT = re.compile(r"\ufeff?(?:\s|#[^\n]*\n)*(\w+)\s*[:{<]")
_TEXT_FIELDS: dict[str, MessageKind] = {
    "node": "GraphDef",
    "library": "GraphDef",
    "versions": "GraphDef",
    "meta_info_def": "MetaGraphDef",
    "graph_def": "MetaGraphDef",
    "saved_model_schema_version": "SavedModel",
    "meta_graphs": "SavedModel",
}
"""The first fields of messages in text form."""

_WEB_KEYS = (b'"modelTopology"', b'"weightsManifest"')
"""Fields of the documents of TensorFlow.js."""

FILES = ("saved_model.pb", "saved_model.pbtxt", "model.json")
"""The files with the model of a folder, the preferred one first."""


def file_of_folder(path: str) -> str | None:
    """The name of the file in a folder with its model; None if it has none."""
    for name in FILES:
        file = os.path.join(path, name)
        if os.path.isfile(file):
            if name != FILES[-1]:
                return name
            with open_regular(file) as document:
                return name if is_web_document(document.read(HEAD)) else None
    return None


def is_model(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a model in binary form, in text form or in JSON."""
    in_text = is_web_document(head) or text_kind(head.decode("utf-8", "replace")) is not None
    return in_text or binary_kind(head) is not None


def is_web_document(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a TensorFlow.js document."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.startswith(b"{") and any(key in text for key in _WEB_KEYS)


def text_kind(head: str) -> MessageKind | None:
    """The message whose text form starts like `head`; None if it is none of TensorFlow's.

    >>> text_kind("node {"), text_kind("ir_version: 9")
    ('GraphDef', None)
    """
    match = _TEXT.match(head)
    return None if match is None else _TEXT_FIELDS.get(match[1])


def binary_kind(head: bytes) -> MessageKind | None:
    """The message whose binary form starts like `head`; None if it is none of TensorFlow's.

    A SavedModel starts with its schema version and a MetaGraphDef, a GraphDef with a node, a MetaGraphDef with its
    MetaInfoDef. ONNX models start with their version too, but have no message in the next field.
    """
    try:
        return _binary_kind(head)
    except (DamagedError, IndexError):
        return None


def _binary_kind(head: bytes) -> MessageKind | None:
    number, kind, start, _ = _field(head, 0)
    if number == 1 and kind == VARINT:
        number, kind, start, end = _field(head, start)
        return "SavedModel" if (number, kind) == (2, BYTES) and _is_meta_graph(head[start:end]) else None
    data = head[start : _field(head, 0)[3]]
    if kind != BYTES:
        return None
    if number == 1 and _is_node(data):
        return "GraphDef"
    if _is_meta_graph(head):
        return "MetaGraphDef"
    if number == 2 and _is_library(data):
        return "GraphDef"
    return None


def _field(data: bytes, pos: int) -> tuple[int, int, int, int]:
    """Number, wire type, start and end of the field at a position; of a varint, `start` is its end."""
    tag, pos = varint(data, pos)
    if tag & 7 == BYTES:
        size, pos = varint(data, pos)
        return tag >> 3, BYTES, pos, pos + size
    _, end = varint(data, pos)
    return tag >> 3, tag & 7, end, end


def _is_node(data: bytes) -> bool:
    """Whether a NodeDef starts like this: a name, then an operator."""
    number, kind, start, end = _field(data, 0)
    if (number, kind) != (1, BYTES) or not _NAME.fullmatch(data[start:end]):
        return False
    number, kind, start, end = _field(data, end)
    return (number, kind) == (2, BYTES) and _OPERATOR.fullmatch(data[start:end]) is not None


def _is_library(data: bytes) -> bool:
    """Whether a FunctionDefLibrary starts like this: a function with a signature with a name."""
    for _ in range(3):
        number, kind, start, end = _field(data, 0)
        if (number, kind) != (1, BYTES):
            return False
        data = data[start:end]
    return _NAME.fullmatch(data.lstrip(b"_")) is not None


def _is_meta_graph(data: bytes) -> bool:
    """Whether a MetaGraphDef starts like this: a MetaInfoDef, or a GraphDef with a node or a library first."""
    number, kind, start, end = _field(data, 0)
    inner = data[start:end]
    if kind != BYTES or number not in (1, 2):
        return False
    if number == 2:
        number, kind, start, end = _field(inner, 0)
        members = inner[start:end]
        return kind == BYTES and ((number == 1 and _is_node(members)) or (number == 2 and _is_library(members)))
    return _is_meta_info(inner)


def _is_meta_info(data: bytes) -> bool:
    """Whether a MetaInfoDef starts like this: a version, the list of operators, tags, or the version of TensorFlow."""
    if not data:
        return True
    number, kind, start, end = _field(data, 0)
    if kind != BYTES:
        return number == 7 and kind == VARINT
    if number == 1:
        return end >= len(data) or _is_meta_info(data[end:])
    if number == 2:
        return data[start:end] == b"" or _field(data, start)[:2] == (1, BYTES)
    if number == 3:  # an Any, which has a URL first: Core ML's descriptions have another message here
        number, kind, start, end = _field(data, start)
        return (number, kind) == (1, BYTES) and b"/" in data[start:end]
    return 4 <= number <= 8
