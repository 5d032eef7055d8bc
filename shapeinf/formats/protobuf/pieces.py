"""Edited copies of messages: new bytes and ranges of the original, which are copied only when they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import attrs

from shapeinf.formats.files import open_regular
from shapeinf.formats.protobuf.large_file import LargeFile, read_range
from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, encode_tag, encode_varint, fields


@attrs.frozen
class FilePart:
    """A range of bytes of another file, which are read when they are written."""

    path: str
    start: int
    count: int

    def chunks(self) -> Iterator[bytes]:
        """The bytes, at most `CHUNK` at a time. Raises ChangedFileError if the file has become shorter."""
        with open_regular(self.path) as file:
            yield from read_range(file, self.start, self.count, self.path)


Piece = bytes | tuple[int, int] | FilePart
"""New bytes, a range of the original, or bytes of another file."""

Edit = Callable[[int, int, int, int], Sequence[Piece] | None]
"""The pieces that replace a field (number, wire type, start and end of its contents); None for one that stays."""


def edit_message(buffer: Buffer, pos: int, end: int, edit: Edit) -> list[Piece]:
    """The pieces of a message of which some fields are replaced."""
    pieces: list[Piece] = []
    copied = before = pos
    for number, kind, start, stop in fields(buffer, pos, end):
        changed = edit(number, kind, start, stop)
        if changed is not None:
            if before > copied:
                pieces.append((copied, before))
            pieces += changed
            copied = stop
        before = stop
    if before > copied:
        pieces.append((copied, before))
    return pieces


def total_size(pieces: Sequence[Piece]) -> int:
    """The number of bytes of all pieces."""
    return sum(map(_size, pieces))


def _size(piece: Piece) -> int:
    if isinstance(piece, bytes):
        return len(piece)
    return piece.count if isinstance(piece, FilePart) else piece[1] - piece[0]


def message_pieces(number: int, pieces: Sequence[Piece]) -> list[Piece]:
    """A field whose value consists of these pieces."""
    return [encode_tag(number, BYTES) + encode_varint(total_size(pieces)), *pieces]


def encode_bytes(number: int, payload: bytes) -> bytes:
    """A field of bytes, of a string or of a message."""
    return encode_tag(number, BYTES) + encode_varint(len(payload)) + payload


def encode_number(number: int, value: int) -> bytes:
    """A field of an integer or an enumeration; a negative number has 64 bits."""
    return encode_tag(number, VARINT) + encode_varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def piece_bytes(buffer: Buffer, pieces: Sequence[Piece]) -> Iterator[bytes | memoryview]:
    """The bytes of each piece, to be written at once: views of the original are released afterwards."""
    for piece in pieces:
        if isinstance(piece, bytes):
            yield piece
        elif isinstance(piece, FilePart):
            yield from piece.chunks()
        elif isinstance(buffer, LargeFile):
            yield from buffer.parts(*piece)
        else:
            with memoryview(buffer) as view, view[piece[0] : piece[1]] as part:
                yield part
