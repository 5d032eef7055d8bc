"""ONNX files. Readers and writers are imported on use: `onnx` takes long to import."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from shapeinf.formats.annotation import Annotation
from shapeinf.formats.files import WriteOptions
from shapeinf.formats.protobuf.wire import BYTES, VARINT, DamagedError, fields
from shapeinf.formats.registry import Candidate, Format, MissingData, Target
from shapeinf.graph import Graph

_TEXT_START = re.compile(rb"\s*(?:#[^\n]*\n\s*)*ir_version\s*:")
"""The start of a model in the text form of protocol buffers."""

_SYNTAX_START = re.compile(rb"\s*<\s*ir_version\s*:")
"""The start of a model in the syntax of `onnx.parser`."""

_GRAPH = 7
_KINDS = {1: VARINT, 2: BYTES, 3: BYTES, 4: BYTES, 5: VARINT, 6: BYTES, 8: BYTES, 14: BYTES}
"""The fields of a ModelProto before its graph, with their wire types."""

_DEFAULT = WriteOptions()


def _sniff(candidate: Candidate) -> bool:
    return candidate.library in ("onnx", "onnx_ir") or (candidate.text or "").endswith(".onnx")


def _read(model: Any, options: None) -> Graph:
    from shapeinf.formats.onnx import source

    return source.read(model)


def _write(graph: Graph, annotation: Annotation, target: Target, options: WriteOptions = _DEFAULT) -> None:
    from shapeinf.formats.onnx import writer

    writer.write(graph, annotation, target, options)


def _is_model_path(candidate: Candidate) -> bool:
    path = (candidate.text or "").lower()
    if path.endswith((".onnx", ".onnxtxt")):
        return True
    return path.endswith((".textproto", ".pbtxt")) and _TEXT_START.match(candidate.head) is not None


def _missing_data(graph: Graph) -> Iterable[MissingData]:
    if not graph.external:
        return ()
    from shapeinf.formats.onnx import external_tensors

    return external_tensors.missing_data(graph)


def _is_model_head(head: bytes) -> bool:
    """Whether the first bytes are those of a ModelProto: its fields up to its graph, or a text with its version."""
    if _TEXT_START.match(head) or b'"irVersion"' in head or _SYNTAX_START.match(head):
        return True
    try:
        for number, kind, _, _ in fields(head, 0, 1 << 62):  # the graph ends after the head
            if number == _GRAPH or _KINDS.get(number) != kind:
                return (number, kind) == (_GRAPH, BYTES)
    except (DamagedError, IndexError):
        pass
    return False


ONNX = Format(
    "onnx",
    "ONNX",
    _sniff,
    _read,
    _write,
    is_model_path=_is_model_path,
    missing_data=_missing_data,
    is_model_head=_is_model_head,
    write_with_options=_write,
    stores_contract=True,
    triton_platform=lambda _: "onnxruntime_onnx",
    refuses_others=True,  # each has a graph
)
