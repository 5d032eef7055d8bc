"""Numbers of plain element types in the bytes of files, without numpy: its import takes longer than a small model."""

from __future__ import annotations

import struct

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

PLAIN_SIZES = {dtype: struct.calcsize(code) for dtype, code in _CODES.items()}
"""The bytes of an element of each plain type."""

Elements = tuple[int | float | bool, ...]


def raw_elements(dtype: str | None, data: bytes) -> Elements | None:
    """The elements of raw data, little endian; None where they are no whole number of elements of a plain type.

    >>> raw_elements("int16", bytes((1, 0, 255, 255))), raw_elements("int4", b"1")
    ((1, -1), None)
    """
    if dtype == "bfloat16" and len(data) % 2 == 0:
        return raw_elements("float32", _widen(data))
    code = _CODES.get(dtype or "")
    if code is None or len(data) % PLAIN_SIZES[dtype or ""]:
        return None
    return struct.unpack(f"<{len(data) // PLAIN_SIZES[dtype or '']}{code}", data)


def _widen(data: bytes) -> bytes:
    """The bytes of the float32 numbers that are equal to these bfloat16 numbers."""
    wide = bytearray(2 * len(data))
    wide[2::4], wide[3::4] = data[0::2], data[1::2]
    return bytes(wide)
