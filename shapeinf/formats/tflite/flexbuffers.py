"""Reads FlexBuffers, the values without a schema in which custom operators have their options.

The root is at the end: its value, its type and its width in bytes. References point backwards. Values inside one
another and items have limits. Source: https://flatbuffers.dev/flexbuffers/
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from shapeinf.formats.tflite.flatbuffer import MalformedError

MAX_DEPTH = 16
MAX_ITEMS = 1 << 16

_NULL, _INT, _UINT, _FLOAT, _KEY, _STRING, _INDIRECT_INT, _INDIRECT_UINT, _INDIRECT_FLOAT, _MAP, _VECTOR = range(11)
_VECTOR_INT, _VECTOR_UINT, _VECTOR_FLOAT, _VECTOR_KEY, _VECTOR_STRING = range(11, 16)
_FIRST_TUPLE, _LAST_TUPLE, _BLOB, _BOOL, _VECTOR_BOOL = 16, 24, 25, 26, 36
_DIRECT = {_INT: "bhiq", _UINT: "BHIQ", _BOOL: "BHIQ", _FLOAT: " efd"}
_INDIRECT = {_INDIRECT_INT: _INT, _INDIRECT_UINT: _UINT, _INDIRECT_FLOAT: _FLOAT}
_ITEMS = {_VECTOR_INT: _INT, _VECTOR_UINT: _UINT, _VECTOR_FLOAT: _FLOAT, _VECTOR_KEY: _KEY, _VECTOR_STRING: _STRING}
_ITEMS[_VECTOR_BOOL] = _BOOL
_WIDTHS = (1, 2, 4, 8)


class _Value(NamedTuple):
    """Where a value is: its position, the width of the numbers and references there, its type, the width behind."""

    position: int
    width: int
    kind: int
    inner: int


def read_flexbuffer(data: bytes) -> object:
    """The root: a number, a text, bytes, None, a tuple, or a dict by keys. Raises MalformedError.

    Bytes of a text that are not UTF-8 are surrogates: messages of protocol buffers may be texts.
    """
    if len(data) < 3:
        raise MalformedError("the options are too short for a FlexBuffer")
    width, packed = data[-1], data[-2]
    if width not in _WIDTHS:
        raise MalformedError("the options are not a FlexBuffer")
    reader = _FlexReader(data)
    return reader.read(_Value(len(data) - 2 - width, width, packed >> 2, 1 << (packed & 3)), 0)


class _FlexReader:
    """Reads the values of one buffer."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.items = 0

    def read(self, value: _Value, depth: int) -> object:
        """A value; `depth` counts the values around it."""
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            raise MalformedError("the options have too many values")
        position, width, kind, inner = value
        if kind == _NULL:
            return None
        if kind in _DIRECT:
            number = self._number(position, width, kind)
            return bool(number) if kind == _BOOL else number
        target = self._target(position, width)
        if kind in _INDIRECT:
            return self._number(target, inner, _INDIRECT[kind])
        if kind == _KEY:
            return self._key(target)
        if kind in (_STRING, _BLOB):
            size = self._count(target - inner, inner, 1)
            part = self._bytes(target, size)
            return part.decode("utf-8", "surrogateescape") if kind == _STRING else part
        if kind == _MAP:
            return self._map(target, inner, depth)
        return self._vector(target, inner, kind, depth)

    def _vector(self, target: int, width: int, kind: int, depth: int) -> tuple[object, ...]:
        """A vector: of values with types of their own, of one type, or of one type and a number of 2 to 4."""
        if _FIRST_TUPLE <= kind <= _LAST_TUPLE:
            length, item = divmod(kind - _FIRST_TUPLE, 3)
            kinds = [(_INT, _UINT, _FLOAT)[item]] * (length + 2)
        else:
            count = self._count(target - width, width, width)
            if kind == _VECTOR:
                packed = self._bytes(target + count * width, count)
                values = [
                    _Value(target + i * width, width, code >> 2, 1 << (code & 3)) for i, code in enumerate(packed)
                ]
                return tuple([self.read(value, depth + 1) for value in values])
            if kind not in _ITEMS:
                raise MalformedError(f"the options have a value of an unknown type ({kind})")
            kinds = [_ITEMS[kind]] * count
        items = [_Value(target + i * width, width, item, 1) for i, item in enumerate(kinds)]
        return tuple([self.read(value, depth + 1) for value in items])

    def _map(self, target: int, width: int, depth: int) -> dict[str, object]:
        """A map: a vector of values behind the position and the width of its sorted keys."""
        at = target - 3 * width
        keys = self._target(at, width)
        key_width = int(self._number(at + width, width, _UINT))
        if key_width not in _WIDTHS:
            raise MalformedError("the options have a damaged map")
        names = self._vector(keys, key_width, _VECTOR_KEY, depth)
        values = self._vector(target, width, _VECTOR, depth)
        return {str(name): value for name, value in zip(names, values, strict=False)}

    def _number(self, position: int, width: int, kind: int) -> int | float:
        code = _DIRECT[kind][_WIDTHS.index(width)]
        if code == " ":
            raise MalformedError("the options have a float of one byte")
        return struct.unpack("<" + code, self._bytes(position, width))[0]  # type: ignore[no-any-return]

    def _target(self, position: int, width: int) -> int:
        """The position that a reference has as its target."""
        return position - int.from_bytes(self._bytes(position, width), "little")

    def _count(self, position: int, width: int, size: int) -> int:
        """The number of items of this size in a vector."""
        count = int.from_bytes(self._bytes(position, width), "little")
        if count * size > len(self.data):
            raise MalformedError("the options have a vector that ends outside of them")
        return count

    def _key(self, position: int) -> str:
        end = self.data.find(b"\0", position) if position >= 0 else -1
        if end < 0:
            raise MalformedError("the options have a key without an end")
        return self.data[position:end].decode("utf-8", "replace")

    def _bytes(self, position: int, count: int) -> bytes:
        if position < 0 or position + count > len(self.data):
            raise MalformedError("the options refer to bytes outside of them")
        return self.data[position : position + count]
