"""The elements in the payloads of small tensors, without numpy and onnx."""

from __future__ import annotations

import struct

from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.protobuf.wire import decode_packed

_CODES = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float16": "e",
    "float32": "f",
    "float64": "d",
}
"""The codes of `struct`."""

_SIZES = {dtype: struct.calcsize(code) for dtype, code in _CODES.items()}

_STORED = {"int8": "b", "int16": "h", "int32": "i", "uint8": "B", "uint16": "H", "float16": "H", "bfloat16": "H"}
"""The codes of the numbers in `int32_data`: those of 16-bit floats are their bits."""

Elements = tuple[int | float | bool, ...]


def raw_elements(dtype: str | None, data: bytes) -> Elements | None:
    """The elements of raw data; None where they are no whole number of elements of a plain type."""
    if dtype == "bfloat16" and len(data) % 2 == 0:
        return raw_elements("float32", _widen(data))
    code = _CODES.get(dtype or "")
    if code is None or len(data) % _SIZES[dtype or ""]:
        return None
    return struct.unpack(f"<{len(data) // _SIZES[dtype or '']}{code}", data)


def _widen(data: bytes) -> bytes:
    """The bytes of the float32 numbers that are equal to these bfloat16 numbers."""
    wide = bytearray(2 * len(data))
    wide[2::4], wide[3::4] = data[0::2], data[1::2]
    return bytes(wide)


def typed_elements(dtype: str | None, number: int, data: bytes) -> Elements | None:
    """The elements of a packed field of typed data; None where the type is not a plain one of this field."""
    if (number == pb.TENSOR_FLOAT_DATA and dtype == "float32") or (
        number == pb.TENSOR_DOUBLE_DATA and dtype == "float64"
    ):
        return raw_elements(dtype, data)
    if number == pb.TENSOR_INT64_DATA and dtype == "int64":
        return tuple(decode_packed(data))
    if number != pb.TENSOR_INT32_DATA:
        return None
    if dtype == "bool":
        return tuple(map(bool, decode_packed(data)))
    code = _STORED.get(dtype or "")
    values = decode_packed(data) if code is not None else []
    try:
        return raw_elements(dtype, struct.pack(f"<{len(values)}{code}", *values)) if code is not None else None
    except struct.error:  # a number that is too large for the type
        return None
