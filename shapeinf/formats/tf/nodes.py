"""Reads NodeDefs from their bytes: equal operators with equal attributes are decoded once."""

from __future__ import annotations

from typing import NamedTuple

import attrs

from shapeinf.errors import ModelError
from shapeinf.formats.protobuf.wire import BYTES, Buffer, DamagedError, fields, varint
from shapeinf.formats.tf.attributes import read_attribute, read_entry, text
from shapeinf.graph import DeclaredType, NodeKind

_MAX_SHARED = 1 << 10
"""Attributes of more bytes, such as constants, are not compared with those of other nodes."""

_COPIED = 1 << 13
"""Nodes up to this many bytes are copied before they are decoded: indexing bytes is faster than a mapped file."""

_MAX_KINDS = 1 << 14


@attrs.frozen(eq=False)
class Attributes:
    """The operator, the attributes and the annotations of equal nodes.

    Attributes:
        kind: the operator, with the attributes that do not begin with `_`.
        shapes: the shapes of the outputs according to the exporter (`_output_shapes`).
        user_name: the name that the user gave to a placeholder (`_user_specified_name`).
    """

    kind: NodeKind
    shapes: tuple[DeclaredType, ...] = ()
    user_name: str = ""


class Record(NamedTuple):
    """One node as the file has it; `inputs` are names of values, and of nodes for control edges (`^name`)."""

    name: bytes
    inputs: list[bytes]
    attributes: Attributes


class NodeScanner:
    """Decodes the NodeDefs of one file."""

    def __init__(self) -> None:
        """Decode nothing yet."""
        self._by_tail: dict[tuple[bytes, bytes], Attributes] = {}
        self._kinds: dict[tuple[bytes, tuple[bytes, ...]], NodeKind] = {}

    def scan(self, buffer: Buffer, pos: int, end: int) -> Record:
        """A NodeDef. Raises DamagedError, or ModelError for a node without name or operator."""
        if end - pos <= _COPIED:
            buffer, pos, end = buffer[pos:end], 0, end - pos
        try:
            return self._scan_usual(buffer, pos, end) or self._scan_any(buffer, pos, end)
        except ModelError as error:
            raise type(error)(error.cause, node=text(self._name(buffer, pos, end))) from error

    def _scan_usual(self, data: Buffer, at: int, end: int) -> Record | None:
        """A node of the usual form whose attributes were decoded before; None for any other.

        The hot loop of loading: name, operator, inputs, device, then attributes up to the end of the node.
        """
        if end - at > _COPIED:
            return None
        pieces: list[bytes] = []
        inputs: list[bytes] = []
        try:
            for expected in (0x0A, 0x12):
                if data[at] != expected:
                    return None
                size, at = varint(data, at + 1)
                pieces.append(data[at : at + size])
                at += size
            while data[at] == 0x1A:
                size = data[at + 1]
                at += 2
                if size > 127:
                    size, at = varint(data, at - 1)
                inputs.append(data[at : at + size])
                at += size
            if data[at] == 0x22:
                size, at = varint(data, at + 1)
                at += size
        except IndexError:
            if at != end:
                return None
        if at > end or len(pieces) != 2:
            return None
        name, op = pieces
        attributes = self._by_tail.get((op, data[at:end]))
        return None if attributes is None or not name else Record(name, inputs, attributes)

    def _scan_any(self, buffer: Buffer, pos: int, end: int) -> Record:
        """Any NodeDef, field by field."""
        name = op = b""
        inputs: list[bytes] = []
        entries: list[tuple[int, int]] = []
        tail = None
        for number, kind, start, stop in fields(buffer, pos, end):
            if kind != BYTES:
                continue
            if number == 1:
                name = bytes(buffer[start:stop])
            elif number == 2:
                op = bytes(buffer[start:stop])
            elif number == 3:
                inputs.append(bytes(buffer[start:stop]))
            elif number == 5:
                entries.append((start, stop))
            if number in (1, 2, 3, 4):
                tail = stop if not entries else None
        if not name or not op:
            raise ModelError("a node has no name" if op else "the node has no operator", node=text(name) or None)
        attributes = self._attributes(op, buffer, entries)
        if tail is not None and end - tail <= _MAX_SHARED:
            if len(self._by_tail) >= _MAX_KINDS:
                self._by_tail.clear()
            self._by_tail[op, bytes(buffer[tail:end])] = attributes
        return Record(name, inputs, attributes)

    def _attributes(self, op: bytes, buffer: Buffer, entries: list[tuple[int, int]]) -> Attributes:
        """The decoded attributes; nodes that differ only in annotations share one kind."""
        own: dict[bytes, tuple[int, int]] = {}
        annotations: dict[bytes, tuple[int, int]] = {}
        for start, stop in entries:
            key, begin, finish = read_entry(buffer, start, stop)
            (annotations if key.startswith(b"_") else own)[key] = begin, finish
        shapes = read_annotation(buffer, annotations.get(b"_output_shapes"))
        user_name = read_annotation(buffer, annotations.get(b"_user_specified_name"))
        return Attributes(
            self._kind(op, buffer, own),
            tuple([shape for shape in shapes if isinstance(shape, DeclaredType)]) if isinstance(shapes, tuple) else (),
            user_name if isinstance(user_name, str) else "",
        )

    def _kind(self, op: bytes, buffer: Buffer, entries: dict[bytes, tuple[int, int]]) -> NodeKind:
        if sum(stop - start for start, stop in entries.values()) > _MAX_SHARED:
            return _decode_kind(op, buffer, entries)
        key = op, tuple([piece for name in sorted(entries) for piece in (name, bytes(buffer[slice(*entries[name])]))])
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= _MAX_KINDS:
                self._kinds.clear()
            kind = self._kinds[key] = _decode_kind(op, buffer, entries)
        return kind

    def _name(self, buffer: Buffer, pos: int, end: int) -> bytes:
        spans = (
            (start, stop) for number, kind, start, stop in fields(buffer, pos, end) if (number, kind) == (1, BYTES)
        )
        return bytes(buffer[slice(*next(spans, (0, 0)))])


def read_annotation(buffer: Buffer, span: tuple[int, int] | None) -> object:
    """The value of an annotation, an attribute that starts with `_`; None if it is absent or malformed.

    Annotations are hints: a malformed one is no error of the model.
    """
    if span is None:
        return None
    try:
        return read_attribute(buffer, *span).value
    except (ModelError, DamagedError):
        return None


def _decode_kind(op: bytes, buffer: Buffer, entries: dict[bytes, tuple[int, int]]) -> NodeKind:
    values: dict[str, object] = {}
    references: dict[str, str] = {}
    invalid: list[str] = []
    for key, (start, stop) in entries.items():
        attribute = read_attribute(buffer, start, stop)
        if attribute.reference:
            references[text(key)] = attribute.reference
        elif not attribute.is_absent:
            values[text(key)] = attribute.value
        if attribute.is_invalid:
            invalid.append(text(key))
    return NodeKind(text(op), "", values, "", references, invalid=tuple(invalid))
