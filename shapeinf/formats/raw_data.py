"""The elements of raw data, without numpy: most constants whose contents are read are small."""

from __future__ import annotations

import struct
from collections.abc import Sequence

CODES = {
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

_SIZES = {dtype: struct.calcsize(code) for dtype, code in CODES.items()}

Elements = tuple[int | float | bool, ...]


def raw_elements(dtype: str | None, data: bytes) -> Elements | None:
    """The elements of raw data, little endian; None for types without a code, and for a length that does not fit.

    >>> raw_elements("int16", bytes([1, 0, 255, 255]))
    (1, -1)
    """
    if dtype == "bfloat16" and len(data) % 2 == 0:
        return raw_elements("float32", _widen(data))
    code = CODES.get(dtype or "")
    if code is None or len(data) % _SIZES[dtype or ""]:
        return None
    return struct.unpack(f"<{len(data) // _SIZES[dtype or '']}{code}", data)


def encode_elements(dtype: str, elements: Sequence[int | float | bool]) -> bytes | None:
    r"""The raw data of elements, little endian; None for types without a code, and for a number that does not fit.

    >>> encode_elements("int16", [1, -1])
    b'\x01\x00\xff\xff'
    """
    code = CODES.get(dtype)
    try:
        return None if code is None else struct.pack(f"<{len(elements)}{code}", *elements)
    except (struct.error, OverflowError):
        return None


def _widen(data: bytes) -> bytes:
    """The bytes of the float32 numbers that are equal to these bfloat16 numbers."""
    wide = bytearray(2 * len(data))
    wide[2::4], wide[3::4] = data[0::2], data[1::2]
    return bytes(wide)
