"""Tensors of ONNX files: shapes and types always, contents only of small ones that may be shapes."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from math import prod

import numpy as np
import onnx

from shapeinf.errors import ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.onnx.reader import external_contents, read_tensor
from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, decode_packed, fields, to_signed
from shapeinf.formats.ranges import LaterRange, wants_range
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.lattice.dtypes import ONNX_NAMES

_RAW_DTYPES = {
    "int64": "<i8",
    "int32": "<i4",
    "int8": "i1",
    "uint8": "u1",
    "float32": "<f4",
    "float64": "<f8",
    "bool": "?",
}

_RAW_CODES = {"int64": "q", "int32": "i", "int8": "b", "uint8": "B", "float32": "f", "float64": "d", "bool": "?"}
"""Codes of `struct`, for payloads so short that numpy would only cost."""

_HEAD = 256
"""Bytes of a tensor in which its dims, type and name are expected."""

_USUAL = re.compile(rb"((?:\x08[\x80-\xff]*[\x00-\x7f])*\x10[\x00-\x7f])\x42([\x00-\x7f])", re.DOTALL)
"""How writers start a tensor: dims, type, then the name with its length."""

_SMALL = 1 << 16
"""Messages up to this many bytes are copied before they are decoded: bytes are faster to index than a mapped file."""

Scanned = tuple[PartialTensor, Callable[[], PartialTensor] | None, str]
"""A tensor, how to read its contents where they lie in another file, and its name."""


class TensorScanner:
    """Decodes the TensorProtos of one file; tensors of equal shape and type share one object."""

    def __init__(self, folder: str | None, where: str = "") -> None:
        """Small external tensors are read from `folder`, ranges of large ones from the file, on demand."""
        self.folder = folder
        self.where = where
        self.external = False
        self._known: dict[bytes, PartialTensor | None] = {}
        self._contents: dict[bytes, PartialTensor] = {}

    def initializer(self, buffer: Buffer, start: int, end: int) -> Scanned:
        """A TensorProto with a name."""
        head = buffer[start : min(end, start + _HEAD)]
        usual = _USUAL.match(head)
        if usual is None or usual.end() + usual[2][0] >= len(head):
            return self._full(buffer, start, end)
        shape, name_end = usual[1], usual.end() + usual[2][0]
        if shape not in self._known:
            self._known[shape] = self._header_tensor(shape)
        tensor = self._known[shape]
        if tensor is None:
            small = self._small(shape, head[name_end:]) if end - start <= _HEAD else None
            if small is None:
                return self._full(buffer, start, end)
            return small, None, head[usual.end() : name_end].decode("utf-8", "replace")
        if not self.external and (head[name_end] != 0x4A or head[name_end + 1 : name_end + 2] == b"\0"):  # no payload
            self.external = _is_external(buffer, start, end)
        return tensor, None, head[usual.end() : name_end].decode("utf-8", "replace")

    def _small(self, header: bytes, rest: bytes) -> PartialTensor | None:
        """A tensor whose bytes after the name are a short raw payload and no more; None for any other."""
        if len(rest) < 2 or rest[0] != 0x4A or rest[1] != len(rest) - 2 or rest[1] > 127:
            return None
        key = header + rest
        tensor = self._contents.get(key)
        if tensor is None:
            dims, dtype = _header(header)
            code = _RAW_CODES.get(dtype or "")
            if code is None or any(d < 0 for d in dims) or prod(dims) * struct.calcsize(code) != rest[1]:
                return None
            elements = struct.unpack(f"<{prod(dims)}{code}", rest[2:])
            tensor = self._contents[key] = PartialTensor(dtype, Shape(dims), elements)
        return tensor

    def _header_tensor(self, data: bytes) -> PartialTensor | None:
        """The tensor that dims and type describe; None for one whose contents are needed, or that is damaged."""
        dims, dtype = _header(data)
        wanted = any(d < 0 for d in dims) or wants_contents(dtype, dims) or wants_range(dtype, dims)
        return None if wanted else PartialTensor(dtype, Shape(dims), None)

    def _full(self, buffer: Buffer, start: int, end: int) -> Scanned:
        if end - start <= _SMALL:
            buffer, start, end = buffer[start:end], 0, end - start
        return self.tensor(buffer, start, end)

    def tensor(self, buffer: Buffer, pos: int, end: int) -> Scanned:
        """A TensorProto without its payload if that is large; for one in another file, how to read it; its name."""
        dims: list[int] = []
        number_of_type, external = 0, False
        name = ""
        payload: tuple[int, int, int] | None = None
        for number, kind, start, stop in fields(buffer, pos, end):
            if number == 1:
                dims += [to_signed(start)] if kind == VARINT else decode_packed(buffer[start:stop])
            elif number == 2 and kind == VARINT:
                number_of_type = start
            elif number == 8 and kind == BYTES:
                name = buffer[start:stop].decode("utf-8", "replace")
            elif number in (4, 5, 7, 9) and kind == BYTES:
                payload = number, start, stop
            elif number == 14:
                external = start == onnx.TensorProto.EXTERNAL
        self.external |= external
        dtype = ONNX_NAMES.get(number_of_type)
        if any(d < 0 for d in dims):
            raise ModelError(f"a tensor has the negative dims {dims}", node=name)
        small = wants_contents(dtype, dims)
        if not small and not wants_range(dtype, dims):
            return PartialTensor(dtype, Shape(dims), None), None, name
        if external:
            data, folder = buffer[pos:end], self.folder
            return PartialTensor(dtype, Shape(dims), None), lambda: external_contents(data, folder), name
        if not small:
            later = self._range(dtype, dims, buffer, payload)
            return PartialTensor(dtype, Shape(dims), None), later, name
        if payload is not None:
            elements = _decode_payload(dtype, payload[0], buffer[payload[1] : payload[2]])
            if elements is not None and len(elements) == prod(dims):
                return PartialTensor(dtype, Shape(dims), elements), None, name
        return read_tensor(onnx.TensorProto.FromString(buffer[pos:end])), None, name

    def _range(
        self, dtype: str | None, dims: list[int], buffer: Buffer, payload: tuple[int, int, int] | None
    ) -> LaterRange | None:
        """How to find the range of a large tensor; None where its payload is not raw."""
        if dtype is None or payload is None or payload[0] != 9:
            return None
        source = buffer if isinstance(buffer, bytes) else self.where
        return LaterRange(dtype, dims, source, payload[1], payload[2] - payload[1])


def _header(data: bytes) -> tuple[list[int], str | None]:
    """The dims and the element type that the fields before the name give."""
    dims: list[int] = []
    number_of_type = 0
    for number, _, value, _ in fields(data, 0, len(data)):
        if number == 1:
            dims.append(to_signed(value))
        else:
            number_of_type = value
    return dims, ONNX_NAMES.get(number_of_type)


def _is_external(buffer: Buffer, start: int, end: int) -> bool:
    return any(f[0] == 14 and f[2] == onnx.TensorProto.EXTERNAL for f in fields(buffer, start, end))


def _decode_payload(dtype: str | None, number: int, data: bytes) -> list[int] | list[float] | None:
    """The elements in a payload field of the plain kinds; None for any other, which are left to protobuf."""
    code = _RAW_DTYPES.get(dtype or "")
    if number == 9:
        known = code is not None and len(data) % np.dtype(code).itemsize == 0
        return list(np.frombuffer(data, code).tolist()) if known else None
    if number == 4 and dtype == "float32" and len(data) % 4 == 0:
        return list(np.frombuffer(data, "<f4").tolist())
    if (number == 7 and dtype == "int64") or (number == 5 and dtype in ("int32", "int16", "int8", "uint16", "uint8")):
        return decode_packed(data)
    return None
