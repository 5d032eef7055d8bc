"""An edited copy of a message: new bytes between ranges of the original, which are neither decoded nor copied early."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from shapeinf.formats.protobuf.wire import BYTES, Buffer, encode_tag, encode_varint, fields

Piece = bytes | tuple[int, int]
"""New bytes, or a range of the original."""

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
    """The bytes of all pieces."""
    return sum(len(piece) if isinstance(piece, bytes) else piece[1] - piece[0] for piece in pieces)


def message_pieces(number: int, pieces: Sequence[Piece]) -> list[Piece]:
    """A field whose value consists of these pieces."""
    return [encode_tag(number, BYTES) + encode_varint(total_size(pieces)), *pieces]


def encode_bytes(number: int, payload: bytes) -> bytes:
    """A field of bytes, of a string or of a message."""
    return encode_tag(number, BYTES) + encode_varint(len(payload)) + payload


def piece_bytes(buffer: Buffer, pieces: Sequence[Piece]) -> Iterator[bytes | memoryview]:
    """The bytes of each piece, to be written at once: views of the original are released afterwards."""
    with memoryview(buffer) as view:
        for piece in pieces:
            if isinstance(piece, bytes):
                yield piece
            else:
                with view[piece[0] : piece[1]] as part:
                    yield part
