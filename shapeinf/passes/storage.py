"""Where the weights of a message are stored: in it, or in one file with all that are not small."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import attrs
import onnx
import onnx_ir as ir

from shapeinf.errors import LimitError, ModelError
from shapeinf.passes.skeleton import sizes
from shapeinf.passes.weights import data_file, external_bytes

MAX_PROTOBUF = (1 << 31) - 1
"""Bytes of the largest model that is one protobuf message."""

LEAST_EXTERNAL = 1024
"""Tensors with fewer bytes stay in the model when weights are moved to a file: they may decide shapes."""

CHUNK = 1 << 24
"""Bytes of weights that are in memory at a time while they are copied."""


def _tensors(message: Any) -> Iterator[onnx.TensorProto]:
    """All tensors of a message, at any depth."""
    if isinstance(message, onnx.TensorProto):
        yield message
        return
    parts = {
        onnx.ModelProto: ("graph", "functions"),
        onnx.GraphProto: ("initializer", "node"),
        onnx.FunctionProto: ("node",),
        onnx.NodeProto: ("attribute",),
        onnx.AttributeProto: ("t", "tensors", "g", "graphs"),
    }
    for name in parts[type(message)]:
        part = getattr(message, name)
        for item in [part] if isinstance(part, (onnx.GraphProto, onnx.TensorProto)) else part:
            yield from _tensors(item)


def _is_external(tensor: onnx.TensorProto) -> bool:
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def weight_bytes(proto: onnx.ModelProto) -> int:
    """The bytes of the weights in a message."""
    return sum(len(tensor.raw_data) for tensor in _tensors(proto) if not _is_external(tensor))


Entry = tuple[str, int, int, tuple[int, ...]]
"""Location, offset, element type and sizes: tensors may share bytes of one file."""


def _by_entry(sources: Sequence[ir.ExternalTensor]) -> dict[Entry, ir.ExternalTensor]:
    """The tensors by what their messages say of them. Raises ModelError where one location is in two folders."""
    folders = {(os.fspath(tensor.location), str(tensor.base_dir)) for tensor in sources}
    if len(folders) != len({location for location, _ in folders}):
        raise ModelError("its weights lie in files of the same name in two folders")
    return {(os.fspath(t.location), t.offset or 0, int(t.dtype), sizes(t)): t for t in sources}


def _source(tensor: onnx.TensorProto, sources: dict[Entry, ir.ExternalTensor]) -> ir.ExternalTensor:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    return sources[entries["location"], int(entries.get("offset", 0)), tensor.data_type, tuple(tensor.dims)]


def _make_internal(tensor: onnx.TensorProto, data: bytes) -> None:
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")
    tensor.raw_data = data


def embed_weights(proto: onnx.ModelProto, sources: Sequence[ir.ExternalTensor], below: int | None = None) -> None:
    """Store the weights in the message: all, or those of less than `below` bytes.

    Raises LimitError for more than 2 GB where all are stored, and ModelError for weights that cannot be read.
    """
    total = weight_bytes(proto) + sum(tensor.nbytes for tensor in sources)
    if below is None and total > MAX_PROTOBUF:
        raise LimitError(f"the weights take {total} B, more than 2 GB: copy or keep them")
    by_entry = _by_entry(sources)
    for tensor in _tensors(proto):
        if _is_external(tensor):
            source = _source(tensor, by_entry)
            if below is None or source.nbytes < below:
                _make_internal(tensor, external_bytes(source))


@attrs.frozen
class Piece:
    """Bytes of the file of weights: some in memory, or a part of another file."""

    data: bytes = b""
    path: str = ""
    start: int = 0
    count: int = 0

    def write(self, target: BinaryIO) -> None:
        """Append the bytes to a file."""
        if not self.path:
            target.write(self.data)
            return
        with open(self.path, "rb") as file:
            file.seek(self.start)
            left = self.count
            while left and (chunk := file.read(min(left, CHUNK))):
                target.write(chunk)
                left -= len(chunk)
        if left:
            raise ModelError(f"it lost {left} B while it was copied", node=self.path)


def move_weights(proto: onnx.ModelProto, sources: Sequence[ir.ExternalTensor], location: str) -> list[Piece]:
    """Refer to one file for all weights but the small ones; the pieces of that file in order, each one once."""
    embed_weights(proto, sources, LEAST_EXTERNAL)
    by_entry = _by_entry(sources)
    pieces: list[Piece] = []
    starts: dict[tuple[str, int, int], int] = {}
    end = 0
    for tensor in _tensors(proto):
        if _is_external(tensor):
            source = _source(tensor, by_entry)
            piece = Piece(b"", data_file(source), source.offset or 0, source.nbytes)
        elif len(tensor.raw_data) >= LEAST_EXTERNAL:
            piece = Piece(tensor.raw_data, count=len(tensor.raw_data))
        else:
            continue
        key = (piece.path, piece.start, piece.count) if piece.path else (tensor.name, -1, len(pieces))
        if key not in starts:
            starts[key] = end
            pieces.append(piece)
            end += piece.count
        _refer(tensor, location, starts[key], piece.count)
    return pieces


def _refer(tensor: onnx.TensorProto, location: str, start: int, count: int) -> None:
    tensor.ClearField("raw_data")
    tensor.ClearField("external_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", start), ("length", count)):
        tensor.external_data.add(key=key, value=str(value))
