"""Edited copies of small messages in memory; `pieces` edits large ones without copies."""

from __future__ import annotations

from collections.abc import Container

from shapeinf.formats.protobuf.wire import BYTES, fields


def joined_field(data: bytes, number: int) -> bytes | None:
    r"""The contents of a message in a message; None if it is not there.

    A message that occurs twice is the concatenation of both.

    >>> joined_field(bytes([0x0A, 1, 7, 0x0A, 1, 8]), 1)
    b'\x07\x08'
    """
    parts = [data[start:end] for n, kind, start, end in fields(data, 0, len(data)) if n == number and kind == BYTES]
    return b"".join(parts) if parts else None


def with_field(data: bytes, number: int, field: bytes) -> bytes:
    r"""A message with these bytes (fields with their tags) in place of all fields of a number, or before later ones.

    >>> with_field(bytes([0x08, 1, 0x18, 3]), 2, bytes([0x10, 2]))
    b'\x08\x01\x10\x02\x18\x03'
    """
    head, tail, before = b"", b"", 0
    for n, _, _, end in fields(data, 0, len(data)):
        if n < number and not tail:
            head += data[before:end]
        elif n != number:
            tail += data[before:end]
        before = end
    return head + field + tail


def other_fields(data: bytes, numbers: Container[int]) -> bytes:
    r"""The fields of a message whose numbers are not these.

    >>> other_fields(bytes([0x08, 1, 0x10, 2, 0x18, 3]), {1, 3})
    b'\x10\x02'
    """
    others, before = b"", 0
    for number, _, _, end in fields(data, 0, len(data)):
        if number not in numbers:
            others += data[before:end]
        before = end
    return others
