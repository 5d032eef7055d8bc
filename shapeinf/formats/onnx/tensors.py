"""Tensors of ONNX files: shapes and types always, contents only of small ones that may be shapes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
import onnx

from shapeinf.errors import ModelError
from shapeinf.formats.onnx.names import DTYPE_NAMES
from shapeinf.formats.onnx.reader import external_contents, read_tensor, wants_contents
from shapeinf.formats.onnx.wire import BYTES, VARINT, Buffer, DamagedError, fields, packed_varints, signed, varint
from shapeinf.lattice import PartialTensor, Shape

_RAW_DTYPES = {
    "int64": "<i8",
    "int32": "<i4",
    "int8": "i1",
    "uint8": "u1",
    "float32": "<f4",
    "float64": "<f8",
    "bool": "?",
}

_HEAD = 256
"""Bytes of a tensor in which its dims, type and name are expected."""

_SMALL = 1 << 16
"""Messages up to this many bytes are copied before they are decoded: bytes are faster to index than a mapped file."""

Scanned = tuple[PartialTensor, Callable[[], PartialTensor] | None, str]
"""A tensor, how to read its contents where they lie in another file, and its name."""


class TensorScanner:
    """Decodes the TensorProtos of one file; tensors of equal shape and type share one object."""

    def __init__(self, folder: str | None) -> None:
        """Small external tensors are read from `folder`, when they are wanted."""
        self.folder = folder
        self.external = False
        self._known: dict[tuple[int, ...], PartialTensor] = {}

    def initializer(self, buffer: Buffer, start: int, end: int) -> Scanned:
        """A TensorProto with a name."""
        name, tensor, payload = self._header(buffer[start : min(end, start + _HEAD)])
        if tensor is not None and not payload:
            self.external |= any(f[0] == 14 and f[2] == onnx.TensorProto.EXTERNAL for f in fields(buffer, start, end))
        if tensor is not None and not wants_contents(tensor.dtype, [d for d in tensor.shape if isinstance(d, int)]):
            return tensor, None, name
        if end - start <= _SMALL:
            buffer, start, end = buffer[start:end], 0, end - start
        return self.tensor(buffer, start, end)

    def _header(self, head: bytes) -> tuple[str, PartialTensor | None, bool]:
        """Name, dtype and shape of a TensorProto with its fields in the usual order, and whether its data follow.

        No tensor where these do not fit into the head.
        """
        dims: list[int] = []
        number_of_type = pos = 0
        try:
            while True:
                tag, value = head[pos], head[pos + 1]
                pos += 2
                if value > 127:
                    value, pos = varint(head, pos - 1)
                if tag == 0x08:
                    dims.append(value)
                elif tag == 0x10:
                    number_of_type = value
                elif tag == 0x42:
                    break
                else:
                    return "", None, False
        except (IndexError, DamagedError):
            return "", None, False
        if pos + value >= len(head) or any(d >> 63 for d in dims):
            return "", None, False
        name = head[pos : pos + value].decode("utf-8", "replace")
        payload = head[pos + value] == 0x4A and head[pos + value + 1 : pos + value + 2] != b"\0"
        key = (number_of_type, *dims)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = PartialTensor(DTYPE_NAMES.get(number_of_type), Shape(dims), None)
        return name, found, payload

    def tensor(self, buffer: Buffer, pos: int, end: int) -> Scanned:
        """A TensorProto without its payload if that is large; for one in another file, how to read it; its name."""
        dims: list[int] = []
        number_of_type, external = 0, False
        name = ""
        payload: tuple[int, int, int] | None = None
        for number, kind, start, stop in fields(buffer, pos, end):
            if number == 1:
                dims += [signed(start)] if kind == VARINT else packed_varints(buffer[start:stop])
            elif number == 2 and kind == VARINT:
                number_of_type = start
            elif number == 8 and kind == BYTES:
                name = buffer[start:stop].decode("utf-8", "replace")
            elif number in (4, 5, 7, 9) and kind == BYTES:
                payload = number, start, stop
            elif number == 14:
                external = start == onnx.TensorProto.EXTERNAL
        self.external |= external
        dtype = DTYPE_NAMES.get(number_of_type)
        if any(d < 0 for d in dims):
            raise ModelError(f"a tensor has the negative dims {dims}", node=name)
        if not wants_contents(dtype, dims):
            return PartialTensor(dtype, Shape(dims), None), None, name
        if external:
            whole, folder = buffer[pos:end], self.folder
            return PartialTensor(dtype, Shape(dims), None), lambda: external_contents(whole, folder), name
        if payload is not None:
            elements = _decoded(dtype, payload[0], buffer[payload[1] : payload[2]])
            if elements is not None and len(elements) == prod(dims):
                return PartialTensor(dtype, Shape(dims), elements), None, name
        return read_tensor(onnx.TensorProto.FromString(buffer[pos:end])), None, name


def _decoded(dtype: str | None, number: int, data: bytes) -> list[int] | list[float] | None:
    """The elements in a payload field of the plain kinds; None for any other, which are left to protobuf."""
    code = _RAW_DTYPES.get(dtype or "")
    if number == 9:
        known = code is not None and len(data) % np.dtype(code).itemsize == 0
        return list(np.frombuffer(data, code).tolist()) if known else None
    if number == 4 and dtype == "float32" and len(data) % 4 == 0:
        return list(np.frombuffer(data, "<f4").tolist())
    if (number == 7 and dtype == "int64") or (number == 5 and dtype in ("int32", "int16", "int8", "uint16", "uint8")):
        return packed_varints(data)
    return None
