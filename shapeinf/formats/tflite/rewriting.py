"""A copy of a file with other shapes of tensors: new tables in front of the old ones, which stay as they are.

References point forwards. So a new table for the model, for its subgraphs and for the changed tensors is put behind the
identifier, and refers to the old tables for all else. What has its position in the file as a number is changed by the
length of the new tables: contents of large files behind the tables, and the list of an appended zip archive.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shapeinf.formats.protobuf.pieces import Piece
from shapeinf.formats.tflite.document import IDENTIFIER
from shapeinf.formats.tflite.flatbuffer import MalformedError, Reader, Table, Tables

ALIGNMENT = 64
"""The new tables take a multiple of it: contents keep their alignment."""
HEAD = 8

_MODEL = ("I", *["ref"] * 9)
_SUBGRAPH = (*["ref"] * 5, "i")
_TENSOR = ("ref", "b", "I", "ref", "ref", "b", "ref", "ref", "b", "ref", "I")
"""The fields of tables by slot: references, and codes of `struct`."""
_SUBGRAPHS, _TENSORS, _SHAPE, _SIGNATURE = 2, 0, 0, 7
_BUFFERS, _BUFFER_OFFSET, _OPERATORS, _OPTIONS_OFFSET = 4, 1, 3, 9
_METADATA, _NAME = 6, 0
_METADATUM, _BUFFER = ("ref", "I"), ("ref",)

_END, _ENTRY = b"PK\x05\x06", b"PK\x01\x02"
_MAX_COMMENT = 1 << 16


class Sizes(NamedTuple):
    """The new sizes of a tensor, and the list with -1 for unknown ones; None where all are known."""

    dims: tuple[int, ...]
    signature: tuple[int, ...] | None


def rewrite(
    reader: Reader,
    edits: Mapping[tuple[int, int], Sizes],
    patches: Mapping[int, bytes],
    metadata: Mapping[str, bytes] | None = None,
) -> Sequence[Piece]:
    """The pieces of a file with other sizes of tensors by subgraph and index, and other bytes at positions.

    `metadata` replaces that of the same names. Raises MalformedError for a table with fields that are not known here.
    """
    if not edits and not metadata:
        return _pieces(b"", {**patches}, reader.size)
    root = reader.root()
    block = _Block()
    model = block.clone(root, _MODEL)
    subgraphs = model[_SUBGRAPHS] = block.vector(root.tables(_SUBGRAPHS))
    for index, old in enumerate(root.tables(_SUBGRAPHS)):
        changed = {number: sizes for (subgraph, number), sizes in edits.items() if subgraph == index}
        if not changed:
            continue
        subgraph = subgraphs[index] = block.clone(old, _SUBGRAPH)
        tensors = subgraph[_TENSORS] = block.vector(old.tables(_TENSORS))
        for number, sizes in changed.items():
            tensor = tensors[number] = block.clone(old.tables(_TENSORS)[number], _TENSOR)
            tensor[_SHAPE] = block.integers(sizes.dims)
            tensor[_SIGNATURE] = None if sizes.signature is None else block.integers(sizes.signature)
    if metadata:
        _add_metadata(block, root, model, metadata)
    data = block.to_bytes()
    moved = {**_moved_contents(reader, root, len(data)), **_moved_archive(reader, len(data)), **patches}
    return _pieces(struct.pack("<I4s", HEAD + block.start, IDENTIFIER) + data, moved, reader.size)


def _add_metadata(block: _Block, root: Table, model: _Object, metadata: Mapping[str, bytes]) -> None:
    """Refer to new buffers, and to a list of metadata with these in place of those of the same names."""
    old = root.tables(_METADATA)
    buffers = model[_BUFFERS] = block.vector(root.tables(_BUFFERS))
    listed = model[_METADATA] = block.vector()
    for index in range(len(old)):
        if old[index].text(_NAME) not in metadata:
            listed[len(listed)] = old.target(index)
    for name, data in metadata.items():
        entry = listed[len(listed)] = block.table(_METADATUM)
        entry[1] = struct.pack("<I", len(buffers))
        content = buffers[len(buffers)] = block.table(_BUFFER)
        entry[0] = block.octets(name.encode() + b"\0", len(name.encode()))
        content[0] = block.octets(data, len(data))


def _pieces(head: bytes, patches: Mapping[int, bytes], size: int) -> list[Piece]:
    """The new head, then the old file with other bytes at some positions."""
    pieces: list[Piece] = [head] if head else []
    at = HEAD if head else 0
    for position, data in sorted(patches.items()):
        pieces += [(at, position), data]
        at = position + len(data)
    return [*pieces, (at, size)]


# -- new tables --------------------------------------------------------------------------------------------------------


class _Object(dict[int, "int | _Object | bytes | None"]):
    """A new table or vector: by slot or index a number of its field, an old position, or a new object."""

    def __init__(self, kinds: Sequence[str]) -> None:
        """`kinds` of fields by slot; none for a vector of references."""
        super().__init__()
        self.kinds = kinds
        self.position = 0


class _Block:
    """New tables, in the order of their creation: each refers to later ones, or to old positions."""

    def __init__(self) -> None:
        self._objects: list[tuple[_Object | bytes, _Object]] = []
        self.start = 0
        """The position of the first table."""

    def clone(self, table: Table, kinds: Sequence[str]) -> _Object:
        """A copy of an old table."""
        if any(table.has(slot) for slot in table.slots if slot >= len(kinds)):
            raise MalformedError("has fields of a newer schema: its shapes cannot be changed")
        new = _Object(kinds)
        for slot, kind in enumerate(kinds):
            if table.has(slot):
                new[slot] = table.target(slot) if kind == "ref" else table.raw(slot, struct.calcsize(kind))
        self._objects.append((new, new))
        return new

    def table(self, kinds: Sequence[str]) -> _Object:
        """A new table."""
        new = _Object(kinds)
        self._objects.append((new, new))
        return new

    def octets(self, data: bytes, length: int) -> _Object:
        """A new vector of bytes, or a text with a zero behind it."""
        new = _Object(())
        self._objects.append((struct.pack("<I", length) + data, new))
        return new

    def vector(self, tables: Tables | None = None) -> _Object:
        """A copy of a vector of references, by default of an empty one."""
        new = _Object(())
        for index in range(0 if tables is None else len(tables)):
            new[index] = None if tables is None else tables.target(index)
        self._objects.append((new, new))
        return new

    def integers(self, values: Sequence[int]) -> _Object:
        """A new vector of integers."""
        new = _Object(())
        self._objects.append((struct.pack(f"<I{len(values)}i", len(values), *values), new))
        return new

    def to_bytes(self) -> bytes:
        """The bytes of all objects, which follow the identifier of the file."""
        at = 0
        for content, new in self._objects:
            before, size = _size(content)
            at += -(at + before) % 4 + before
            self.start = self.start or at
            new.position = HEAD + at
            at += size
        length = at + -at % ALIGNMENT
        data = bytearray(length)
        for content, new in self._objects:
            before, _ = _size(content)
            encoded = content if isinstance(content, bytes) else _encode(content, length)
            first = new.position - HEAD - before
            data[first : first + len(encoded)] = encoded
        return bytes(data)


def _size(content: _Object | bytes) -> tuple[int, int]:
    """The bytes of the vtable of an object, and those behind it."""
    if isinstance(content, bytes):
        return 0, len(content)
    if not content.kinds:
        return 0, 4 + 4 * len(content)
    fields = [content.kinds[slot] for slot, value in content.items() if value is not None]
    return 4 + 2 * len(content.kinds), 4 + sum(_width(kind) for kind in fields)


def _width(kind: str) -> int:
    return 4 if kind == "ref" else struct.calcsize(kind)


def _encode(new: _Object, length: int) -> bytes:
    """The bytes of a table with its vtable in front, or of a vector of references; old positions move by `length`."""

    def reference(value: int | _Object | bytes | None, at: int) -> bytes:
        target = value.position if isinstance(value, _Object) else length + value  # type: ignore[operator]
        return struct.pack("<I", target - at)

    if not new.kinds:
        items = (reference(value, new.position + 4 + 4 * index) for index, value in sorted(new.items()))
        return struct.pack("<I", len(new)) + b"".join(items)
    present = [(slot, value) for slot, value in new.items() if value is not None]
    present.sort(key=lambda item: -_width(new.kinds[item[0]]))  # fields are aligned
    entries = [0] * len(new.kinds)
    body = b""
    for slot, value in present:
        entries[slot] = 4 + len(body)
        body += value if isinstance(value, bytes) else reference(value, new.position + 4 + len(body))
    vtable = struct.pack(f"<2H{len(entries)}H", 4 + 2 * len(entries), 4 + len(body), *entries)
    return vtable + struct.pack("<i", len(vtable)) + body


# -- numbers that are positions ----------------------------------------------------------------------------------------


def _moved_contents(reader: Reader, root: Table, by: int) -> dict[int, bytes]:
    """The new positions of contents and options behind the tables."""
    fields = [(table, _BUFFER_OFFSET) for table in root.tables(_BUFFERS)]
    for subgraph in root.tables(_SUBGRAPHS):
        fields += [(operator, _OPTIONS_OFFSET) for operator in subgraph.tables(_OPERATORS)]
    moved: dict[int, bytes] = {}
    for table, slot in fields:
        position = table.integer(slot, "uint64")
        if position > 1:
            moved[table.field(slot)] = struct.pack("<Q", position + by)
    return moved


def _moved_archive(reader: Reader, by: int) -> dict[int, bytes]:
    """The new positions in the list of a zip archive behind the model, where these count from the start of the file."""
    first = max(0, reader.size - _MAX_COMMENT - 22)
    tail = reader.bytes_at(first, reader.size - first)
    end = tail.rfind(_END)
    if end < 0 or end + 22 > len(tail):
        return {}
    count, size, start = struct.unpack_from("<HII", tail, end + 10)
    if start + size != first + end:
        return {}
    moved = {first + end + 16: struct.pack("<I", start + by)}
    at = start
    for _ in range(count):
        if reader.bytes_at(at, 4) != _ENTRY:
            return {}
        lengths = struct.unpack("<3H", reader.bytes_at(at + 28, 6))
        (position,) = struct.unpack("<I", reader.bytes_at(at + 42, 4))
        moved[at + 42] = struct.pack("<I", position + by)
        at += 46 + sum(lengths)
    return moved
