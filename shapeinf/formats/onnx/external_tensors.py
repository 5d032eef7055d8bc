"""Tensors of an ONNX model whose data lie in other files: where, which are missing, and how to move them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod

import attrs

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.files import is_path
from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.onnx.assembly import MAX_NESTING
from shapeinf.formats.onnx.external_contents import path_inside, read_entries
from shapeinf.formats.protobuf.pieces import FilePart, Piece, edit_message, encode_bytes, message_pieces
from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, decode_packed, fields, to_signed
from shapeinf.formats.read_files import ReadFiles, files_of, open_source
from shapeinf.formats.registry import MissingData
from shapeinf.graph import Graph
from shapeinf.lattice.dtypes import ONNX_NAMES, element_bits

_LOCATION = b"location"
"""The key that the external data of each tensor have."""

_PARTS: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
"""The fields that may contain tensors, by kind of message, with the kind of their own messages."""


@attrs.frozen
class ExternalTensor:
    """A tensor whose data are in another file, as its TensorProto declares it.

    `nbytes` is the size by its type and dims, None for a type without a fixed width. `length` and `offset` are strings
    of the model, which may not be numbers.
    """

    name: str
    location: str
    offset: str = "0"
    length: str | None = None
    nbytes: int | None = None

    def part(self, path: str) -> FilePart:
        """The range of its bytes in the file at `path`. Raises ModelError if the file is missing or too short."""
        if not os.path.isfile(path):
            raise ModelError(f"its data file {self.location!r} is missing", node=self.name)
        size = os.path.getsize(path)
        try:
            start = int(self.offset)
            length = int(self.length) if self.length is not None else self.nbytes
        except ValueError:
            text = f"the position of its data is not a number: {self.offset!r}, {self.length!r}"
            raise ModelError(text, node=self.name) from None
        if length is None:
            length = size - start
        count = length if self.nbytes is None else self.nbytes
        if min(start, length) < 0 or length != count or start + count > size:
            data = f"{length} bytes from offset {start} in {self.location!r}, a file of {size} bytes"
            text = f"it needs {count} bytes of data, but the model declares {data}"
            raise ModelError(text, node=self.name)
        return FilePart(path, start, count)


@attrs.frozen
class DataFolder:
    """The folder of the data files of a model.

    `path` is None for a model that was not read from a file. `others` has paths of data files elsewhere, by location.
    `files` has the files that were read with the model.
    """

    path: str | None
    others: Mapping[str, str] = attrs.Factory(dict)
    files: ReadFiles | None = None

    @classmethod
    def of_graph(cls, graph: Graph) -> DataFolder:
        """The folder of the model of a graph."""
        files = files_of(graph)
        return cls(files.folder, files=files)

    def check_model(self) -> None:
        """Raise ChangedFileError where a file that was read with the model has changed since."""
        if self.files is not None:
            self.files.check()

    def check(self, tensors: Iterable[ExternalTensor]) -> None:
        """Raise ChangedFileError for a data file of the folder that was written after the model was read."""
        if self.files is not None:
            known = (t for t in tensors if t.location not in self.others and self.is_known(t))
            for path in {self.file(tensor) for tensor in known}:
                self.files.check_weights(path)

    def file(self, tensor: ExternalTensor) -> str:
        """The path of the data file of a tensor, which may be missing.

        Raises ModelError for a location outside the folder, and if the folder is unknown.
        """
        if tensor.location in self.others:
            return self.others[tensor.location]
        if self.path is None:
            raise ModelError("the folder of its data is unknown: read the model from its file", node=tensor.name)
        path = path_inside(self.path, tensor.location, tensor.name)
        return path or os.path.realpath(os.path.join(self.path, tensor.location))

    def is_known(self, tensor: ExternalTensor) -> bool:
        """Whether the folder of a tensor is known, and its location is a path."""
        return is_path(tensor.location) and (self.path is not None or tensor.location in self.others)


Move = Callable[[ExternalTensor], "Sequence[Piece] | Mapping[str, str] | None"]
"""The new data of a tensor: bytes to embed, or entries of external data to change; None for a tensor that stays."""


def external_tensors(buffer: Buffer) -> list[ExternalTensor]:
    """All tensors of a ModelProto whose data are in other files, at any depth, in the order of the model."""
    tensors: list[ExternalTensor] = []
    move_tensors(buffer, tensors.append)
    return tensors


def external_parts(graph: Graph) -> dict[str, tuple[str, str, str | None]]:
    """By name of a tensor whose data are in another file: the file, offset and length, as the model has them."""
    if not graph.external:
        return {}
    if graph.model is not None:
        data = graph.model if isinstance(graph.model, bytes) else graph.model.SerializeToString()
        tensors = external_tensors(data)
    else:
        with open_source(graph) as buffer:
            tensors = external_tensors(buffer)
    return {tensor.name: (tensor.location, tensor.offset, tensor.length) for tensor in tensors}


def missing_data(graph: Graph) -> Iterator[MissingData]:
    """The tensors whose data are not in the folder of the model, grouped by file and reason.

    None for a model that was not read from a file, and for one in text form.
    """
    missing: dict[tuple[str, str], list[str]] = {}
    for tensor, reason in _missing_tensors(graph):
        missing.setdefault((tensor.location, reason), []).append(tensor.name)
    for (file, reason), names in missing.items():
        yield MissingData(file, reason, tuple(names))


def _missing_tensors(graph: Graph) -> Iterator[tuple[ExternalTensor, str]]:
    if not graph.external or graph.source is None or graph.model is not None:
        return
    folder = DataFolder.of_graph(graph)
    with open_source(graph) as buffer:
        for tensor in external_tensors(buffer):
            try:
                tensor.part(folder.file(tensor))
            except ModelError as error:
                yield tensor, error.cause


def move_tensors(buffer: Buffer, move: Move) -> list[Piece]:
    """The pieces of a ModelProto whose external tensors are moved by `move`."""
    if buffer.find(_LOCATION) < 0:
        return [(0, len(buffer))]
    return _Mover(buffer, move).message("model", 0, len(buffer), 0)


@attrs.frozen
class _Mover:
    buffer: Buffer
    move: Move

    def message(self, kind: str, pos: int, end: int, depth: int) -> list[Piece]:
        """A message of a kind in `_PARTS`."""
        if depth > MAX_NESTING:
            raise LimitError(f"subgraphs nest deeper than {MAX_NESTING}")
        parts = _PARTS[kind]

        def edit(number: int, wire: int, start: int, stop: int) -> list[Piece] | None:
            part = parts.get(number) if wire == BYTES else None
            if part is None:
                return None
            if part == "tensor":
                pieces = self.tensor(start, stop)
            elif part == "node" and self.buffer.find(_LOCATION, start, stop) < 0:
                return None
            else:
                pieces = self.message(part, start, stop, depth + (part == "graph"))
            return None if pieces == [(start, stop)] else message_pieces(number, pieces)

        return edit_message(self.buffer, pos, end, edit)

    def tensor(self, pos: int, end: int) -> list[Piece]:
        """A TensorProto."""
        tensor = read_external(self.buffer, pos, end)
        moved = None if tensor is None else self.move(tensor)
        if moved is None:
            return [(pos, end)]
        if not isinstance(moved, Mapping):
            rest = self._drop_fields(pos, end, pb.TENSOR_RAW_DATA, pb.TENSOR_EXTERNAL_DATA, pb.TENSOR_DATA_LOCATION)
            return [*rest, *message_pieces(pb.TENSOR_RAW_DATA, moved)]
        entries = {**read_entries(self.buffer, pos, end), **moved}
        new = [_entry(key, value) for key, value in entries.items()]
        return [*self._drop_fields(pos, end, pb.TENSOR_EXTERNAL_DATA), *new]

    def _drop_fields(self, pos: int, end: int, *numbers: int) -> list[Piece]:
        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            return [] if number in numbers else None

        return edit_message(self.buffer, pos, end, edit)


def _entry(key: str, value: str) -> bytes:
    return encode_bytes(pb.TENSOR_EXTERNAL_DATA, encode_bytes(1, key.encode()) + encode_bytes(2, value.encode()))


def read_external(buffer: Buffer, pos: int, end: int) -> ExternalTensor | None:
    """The external tensor that a TensorProto declares; None for one that contains its data."""
    dims: list[int] = []
    dtype, data_location, name = 0, 0, ""
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == pb.TENSOR_DATA_LOCATION and kind == VARINT:
            data_location = start
        elif number == pb.TENSOR_DATA_TYPE and kind == VARINT:
            dtype = start
        elif number == pb.TENSOR_DIMS:
            dims += [to_signed(start)] if kind == VARINT else decode_packed(buffer[start:stop])
        elif number == pb.TENSOR_NAME and kind == BYTES:
            name = _text(buffer, start, stop)
    if data_location != pb.LOCATION_EXTERNAL:
        return None
    bits = element_bits(ONNX_NAMES.get(dtype))
    nbytes = None if bits is None else -(-prod(dims) * bits // 8)
    entries = read_entries(buffer, pos, end)
    return ExternalTensor(name, entries.get("location", ""), entries.get("offset", "0"), entries.get("length"), nbytes)


def _text(buffer: Buffer, start: int, stop: int) -> str:
    return buffer[start:stop].decode("utf-8", "replace")
