"""The protobuf wire format on bytes or a file.

Source: protobuf's "Encoding" page. Damaged input raises `DamagedError`; the caller adds the name of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap

from shapeinf.formats.protobuf.large_file import LargeFile

Buffer = bytes | mmap | LargeFile
"""The data that fields are read from; only files of this process are mapped."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class DamagedError(ValueError):
    """The bytes are not a protobuf message.

    Internal: caught in `formats.onnx.scanner` and `formats.tf.source`, as by every other caller of this module.
    """


def varint(buffer: Buffer, pos: int) -> tuple[int, int]:
    """An unsigned integer of 7 bits per byte, and the position after it."""
    value = shift = 0
    try:
        while True:
            byte = buffer[pos]
            pos += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, pos
            shift += 7
            if shift > 63:
                raise DamagedError("an integer is longer than 64 bits")
    except IndexError:
        raise DamagedError("it ends inside an integer") from None


def to_signed(value: int) -> int:
    """The value of a 64-bit two's complement number."""
    if value >> 63:
        value &= (1 << 64) - 1  # ten bytes hold up to 70 bits
        return value - (1 << 64) if value >> 63 else value
    return value


def fields(buffer: Buffer, pos: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(field number, wire type, start, end) of each field; of a varint, `start` is its value."""
    while pos < end:
        tag = buffer[pos]
        pos += 1
        if tag > 127:
            tag, pos = varint(buffer, pos - 1)
        kind = tag & 7
        if kind == BYTES:
            size = buffer[pos] if pos < end else 0
            pos += 1
            if size > 127:
                size, pos = varint(buffer, pos - 1)
            start, pos = pos, pos + size
        elif kind == VARINT:
            if tag < 8:  # such as the zeros of a file without contents, which may be very long
                raise DamagedError("it has a field of the number 0")
            start, pos = varint(buffer, pos)
        elif kind in (FIXED64, FIXED32):
            start, pos = pos, pos + (8 if kind == FIXED64 else 4)
        else:
            raise DamagedError(f"it has a field of the unknown wire type {kind}")
        if pos > end:
            raise DamagedError("a field ends after its message")
        yield tag >> 3, kind, start, pos


def field(buffer: Buffer, pos: int, end: int) -> tuple[int, int, int, int]:
    """The field at a position before `end`, as `fields` yields it."""
    return next(fields(buffer, pos, end))


def decode_packed(data: bytes) -> list[int]:
    """The signed integers of a packed field."""
    if data.isascii():  # a byte each
        return list(data)
    values = []
    value = shift = 0
    for byte in data:
        if byte > 127:
            value |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise DamagedError("an integer is longer than 64 bits")
        elif shift:
            values.append(to_signed(value | byte << shift))
            value = shift = 0
        else:
            values.append(byte)
    if shift:
        raise DamagedError("it ends inside an integer")
    return values


def encode_varint(value: int) -> bytes:
    """The bytes of an unsigned integer."""
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
    return bytes(data)


def encode_tag(number: int, kind: int) -> bytes:
    """The bytes that start a field."""
    return encode_varint(number << 3 | kind)
