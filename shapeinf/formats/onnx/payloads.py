"""The elements in the payloads of typed data, without numpy and onnx."""

from __future__ import annotations

import struct

from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.protobuf.wire import decode_packed
from shapeinf.formats.raw_data import Elements, raw_elements

_STORED = {"int8": "b", "int16": "h", "int32": "i", "uint8": "B", "uint16": "H", "float16": "H", "bfloat16": "H"}
"""The codes of the numbers in `int32_data`: those of 16-bit floats are their bits."""


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
