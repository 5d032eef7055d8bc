"""The wire format of protobuf: integers of 64 bits take ten bytes at most."""

from __future__ import annotations

import pytest
from google.protobuf.internal import decoder, encoder

from shapeinf.formats.protobuf.wire import DamagedError, decode_packed, encode_varint, to_signed, varint

NUMBERS = [0, 1, 127, 128, 2**31, 2**56 - 1, 2**56, 2**62, 2**63 - 1, -1, -128, -(2**62), -(2**63)]


def encoded(number: int) -> bytes:
    """The bytes that protobuf itself writes for an int64."""
    parts: list[bytes] = []
    encoder._EncodeSignedVarint(parts.append, number)
    return b"".join(parts)


@pytest.mark.parametrize("number", NUMBERS)
def test_integers_are_those_of_protobuf(number: int) -> None:
    data = encoded(number)
    assert encode_varint(number & (1 << 64) - 1) == data
    value, end = varint(data + b"\x07", 0)
    assert (to_signed(value), end) == (number, len(data))
    assert decode_packed(data + b"\x07" + data) == [number, 7, number]


@pytest.mark.parametrize("data", [b"\xff" * 10 + b"\x01", b"\x80" * 10 + b"\x00", b"\x80" * 40 + b"\x00"])
def test_integers_of_more_than_ten_bytes_are_damage(data: bytes) -> None:
    with pytest.raises(Exception, match="Too many bytes"):
        decoder._DecodeVarint(data, 0)
    with pytest.raises(DamagedError, match="longer than 64 bits"):
        varint(data, 0)
    with pytest.raises(DamagedError, match="longer than 64 bits"):
        decode_packed(b"\x01" + data)


def test_the_tenth_byte_is_read() -> None:
    """Ten bytes hold 70 bits, of which 64 count."""
    data = b"\xff" * 9 + b"\x7f"
    assert to_signed(varint(data, 0)[0]) == -1
    assert decode_packed(data) == [-1]
