"""The wire format of FlatBuffers, checked: every offset lies in the file, and the number of visits has a limit.

A table begins with the distance to its vtable, which has the offset of each field, by slot. References point forwards,
so that there are no cycles, but many references may share a table: `Reader.budget` ends the visits of such a file.
Source: https://flatbuffers.dev/internals/
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from shapeinf.formats.protobuf.wire import Buffer

_SIZES = {"int8": 1, "uint8": 1, "bool": 1, "int32": 4, "uint32": 4, "float32": 4, "int64": 8, "uint64": 8}
_CODES = {"int8": "b", "uint8": "B", "bool": "?", "int32": "i", "uint32": "I", "float32": "f", "int64": "q"}
_CODES["uint64"] = "Q"

MIN_BUDGET = 1 << 12
"""The visits of the smallest file."""
MAX_STRING = 1 << 16
"""Bytes of a name."""
PAGE = 1 << 16
"""Bytes of a large file that are read at a time."""
MAX_PAGES = 64

Number = int | float | bool


class MalformedError(ValueError):
    """The file does not conform to the wire format, or to its schema.

    Internal: caught in `formats.tflite.reader` and `formats.tflite.writer`.
    """


class LimitReachedError(MalformedError):
    """The file exceeds a limit, such as that of visits of tables that references share.

    Internal: caught in `formats.tflite.reader` and `formats.tflite.writer`.
    """


class Pages:
    """A large file as a buffer: parts that were read lately stay in memory, since tables are read in any order."""

    def __init__(self, buffer: Buffer) -> None:
        """Nothing is read."""
        self._buffer = buffer
        self._pages: dict[int, bytes] = {}

    def __len__(self) -> int:
        """The number of bytes."""
        return len(self._buffer)

    def __getitem__(self, part: slice) -> bytes:
        """The bytes of a range; fewer past the end."""
        start, stop, _ = part.indices(len(self._buffer))
        if stop - start > PAGE:
            return bytes(self._buffer[start:stop])
        pieces = [self._page(number) for number in range(start // PAGE, max(start, stop - 1) // PAGE + 1)]
        first = start // PAGE * PAGE
        return b"".join(pieces)[start - first : max(stop, start) - first]

    def _page(self, number: int) -> bytes:
        page = self._pages.get(number)
        if page is None:
            if len(self._pages) >= MAX_PAGES:
                del self._pages[next(iter(self._pages))]
            page = self._pages[number] = bytes(self._buffer[number * PAGE : (number + 1) * PAGE])
        return page


class Reader:
    """Reads tables of one file.

    Args:
        buffer: the bytes.
        budget: the tables, vectors and elements that are still read.
    """

    def __init__(self, buffer: Buffer) -> None:
        """The budget is that of a file whose tables are referred to once."""
        self.buffer: bytes | Pages = buffer if isinstance(buffer, bytes) else Pages(buffer)
        self.size = len(buffer)
        self.budget = self.size + MIN_BUDGET

    def root(self) -> Table:
        """The first table of the file."""
        return self.table(self.offset(0))

    def spend(self, count: int) -> None:
        """Count visits. Raises LimitReachedError past the budget."""
        self.budget -= count
        if self.budget < 0:
            raise LimitReachedError("refers to its tables too often")

    def bytes_at(self, position: int, count: int) -> bytes:
        """A range of bytes. Raises MalformedError where it is not in the file."""
        if position < 0 or count < 0 or position + count > self.size:
            raise MalformedError(f"refers to bytes outside of the file (at {position})")
        return self.buffer[position : position + count]

    def number(self, position: int, wire: str) -> Number:
        """A number of a wire type."""
        return struct.unpack("<" + _CODES[wire], self.bytes_at(position, _SIZES[wire]))[0]  # type: ignore[no-any-return]

    def offset(self, position: int) -> int:
        """The position that the reference at a position has as its target."""
        return position + int.from_bytes(self.bytes_at(position, 4), "little")

    def table(self, position: int) -> Table:
        """The table at a position."""
        self.spend(1)
        vtable = position - int.from_bytes(self.bytes_at(position, 4), "little", signed=True)
        length = int.from_bytes(self.bytes_at(vtable, 2), "little")
        if length < 4 or length % 2:
            raise MalformedError(f"has a damaged table (at {position})")
        entries = struct.unpack(f"<{length // 2 - 2}H", self.bytes_at(vtable + 4, length - 4))
        return Table(self, position, entries)

    def vector(self, position: int, size: int) -> tuple[int, int]:
        """The position of the first element of the vector at a position, and the number of elements of `size` bytes."""
        count = int.from_bytes(self.bytes_at(position, 4), "little")
        if position + 4 + count * size > self.size:
            raise MalformedError(f"has a vector that ends outside of the file (at {position})")
        return position + 4, count


class Table:
    """A table: its fields by slot. An absent field has its default."""

    __slots__ = ("_entries", "_position", "_reader")

    def __init__(self, reader: Reader, position: int, entries: tuple[int, ...]) -> None:
        """`entries` are the offsets of fields in its vtable."""
        self._reader = reader
        self._position = position
        self._entries = entries

    @property
    def slots(self) -> range:
        """The slots that its vtable has."""
        return range(len(self._entries))

    def field(self, slot: int) -> int:
        """The position of a field; 0 for an absent one."""
        offset = self._entries[slot] if slot < len(self._entries) else 0
        return self._position + offset if offset else 0

    def has(self, slot: int) -> bool:
        """Whether the file has a field."""
        return self.field(slot) != 0

    def number(self, slot: int, wire: str, default: Number = 0) -> Number:
        """A number."""
        at = self.field(slot)
        return self._reader.number(at, wire) if at else default

    def target(self, slot: int) -> int:
        """The position that a reference has as its target; 0 for an absent one."""
        at = self.field(slot)
        return self._reader.offset(at) if at else 0

    def raw(self, slot: int, size: int) -> bytes:
        """The bytes of a field that is present."""
        return self._reader.bytes_at(self.field(slot), size)

    def integer(self, slot: int, wire: str, default: int = 0) -> int:
        """An integer."""
        return int(self.number(slot, wire, default))

    def table(self, slot: int) -> Table | None:
        """A table; None for an absent one."""
        at = self.field(slot)
        return self._reader.table(self._reader.offset(at)) if at else None

    def text(self, slot: int) -> str:
        """A text; characters that are not UTF-8 are replaced."""
        at = self.field(slot)
        return self._reader_text(self._reader.offset(at)) if at else ""

    def texts(self, slot: int) -> list[str]:
        """A vector of texts."""
        start, count = self._vector(slot, 4)
        self._reader.spend(count)
        return [self._reader_text(self._reader.offset(start + 4 * index)) for index in range(count)]

    def _reader_text(self, position: int) -> str:
        reader = self._reader
        start, count = reader.vector(position, 1)
        if count > MAX_STRING:
            raise LimitReachedError(f"has a text of more than {MAX_STRING} bytes (at {position})")
        reader.spend(count // 4)
        return reader.bytes_at(start, count).decode("utf-8", "replace")

    def numbers(self, slot: int, wire: str) -> tuple[Number, ...] | None:
        """A vector of numbers; None for an absent one."""
        if not self.has(slot):
            return None
        start, count = self._vector(slot, _SIZES[wire])
        self._reader.spend(count)
        return struct.unpack(f"<{count}{_CODES[wire]}", self._reader.bytes_at(start, count * _SIZES[wire]))

    def integers(self, slot: int) -> tuple[int, ...]:
        """A vector of numbers of 32 bits; empty where it is absent."""
        return self.numbers(slot, "int32") or ()  # type: ignore[return-value]

    def data(self, slot: int) -> tuple[int, int]:
        """The range of a vector of bytes: position and length; (0, 0) for an absent one."""
        return self._vector(slot, 1)

    def tables(self, slot: int) -> Tables:
        """A vector of tables; empty where it is absent."""
        return Tables(self._reader, *self._vector(slot, 4))

    def _vector(self, slot: int, size: int) -> tuple[int, int]:
        at = self.field(slot)
        return self._reader.vector(self._reader.offset(at), size) if at else (0, 0)


class Tables:
    """A vector of tables; each is read on access."""

    def __init__(self, reader: Reader, start: int, count: int) -> None:
        """`start` is the position of the first reference."""
        self._reader = reader
        self._start = start
        self._count = count

    def __len__(self) -> int:
        """The number of tables."""
        return self._count

    def target(self, index: int) -> int:
        """The position of a table. Raises MalformedError past the end."""
        if not 0 <= index < self._count:
            raise MalformedError(f"has no table {index} in a vector of {self._count}")
        return self._reader.offset(self._start + 4 * index)

    def __getitem__(self, index: int) -> Table:
        """A table. Raises MalformedError past the end."""
        return self._reader.table(self.target(index))

    def __iter__(self) -> Iterator[Table]:
        """All tables."""
        return (self[index] for index in range(self._count))
