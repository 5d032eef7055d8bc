"""Reads AttrValues, the values of attributes of nodes, functions and OpDefs."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

import attrs

from shapeinf.errors import LimitError
from shapeinf.formats.protobuf.wire import BYTES, FIXED32, VARINT, Buffer, decode_packed, fields, to_signed
from shapeinf.formats.tf.tensors import read_dims, read_tensor
from shapeinf.formats.tf.types import dtype_name, is_invalid
from shapeinf.graph import DeclaredType, FunctionReference

MAX_NESTING = 16
"""The deepest nesting of functions in attributes of functions."""


@attrs.frozen
class AttributeValue:
    """The value of an attribute, or a `reference`: the name of an attribute of the function around the node.

    The value is None for a reference, for an unknown element type, and if the file has none (`is_absent`). An element
    type that no attribute may have `is_invalid`.
    """

    value: object = None
    reference: str = ""
    is_absent: bool = False
    is_invalid: bool = False


def text(data: bytes) -> str:
    """A string of a file; bytes that are not UTF-8 are replaced."""
    return data.decode("utf-8", "replace")


def read_entry(buffer: Buffer, pos: int, end: int) -> tuple[bytes, int, int]:
    """The key of an entry of a map, and the start and end of its value; an absent value is empty."""
    key, begin, finish = b"", pos, pos
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 1 and kind == BYTES:
            key = bytes(buffer[start:stop])
        elif number == 2 and kind == BYTES:
            begin, finish = start, stop
    return key, begin, finish


def read_attribute(buffer: Buffer, pos: int, end: int, depth: int = 0) -> AttributeValue:
    """An AttrValue; of several values the last one counts, as protocol buffers define it."""
    result = AttributeValue(is_absent=True)
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 9 and kind == BYTES:
            result = AttributeValue(None, text(buffer[start:stop]))
        elif number == 1 and kind == BYTES:
            items = _read_list(buffer, start, stop, depth)
            result = AttributeValue(items, is_invalid=bool(items) and _lists_invalid(buffer, start, stop))
        elif number == _TYPE and kind == VARINT:
            result = AttributeValue(dtype_name(start), is_invalid=is_invalid(start))
        elif number in _SCALARS and kind == _SCALARS[number][0]:
            result = AttributeValue(_SCALARS[number][1](buffer, start, stop))
        elif number == 10 and kind == BYTES:
            result = AttributeValue(read_function_reference(buffer, start, stop, depth + 1))
    return result


def read_function_reference(buffer: Buffer, pos: int, end: int, depth: int) -> FunctionReference:
    """A NameAttrList: a function and the attributes that it is called with."""
    if depth > MAX_NESTING:
        raise LimitError(f"attributes nest deeper than {MAX_NESTING}")
    name = ""
    values: dict[str, object] = {}
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 1 and kind == BYTES:
            name = text(buffer[start:stop])
        elif number == 2 and kind == BYTES:
            key, begin, finish = read_entry(buffer, start, stop)
            if not key.startswith(b"_"):
                values[text(key)] = read_attribute(buffer, begin, finish, depth).value
    return FunctionReference(("", name, ""), values)


def _read_list(buffer: Buffer, pos: int, end: int, depth: int) -> tuple[object, ...]:
    items: list[object] = []
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 9 and kind == BYTES:
            items.append(read_function_reference(buffer, start, stop, depth + 1))
        elif number not in _SCALARS:
            continue
        elif kind == BYTES and number in _PACKED:
            items += _PACKED[number](buffer[start:stop])
        elif kind == _SCALARS[number][0]:
            items.append(_SCALARS[number][1](buffer, start, stop))
    return tuple(items)


def _lists_invalid(buffer: Buffer, pos: int, end: int) -> bool:
    """Whether a list has an element type that no attribute may have."""
    types = ((kind, start, stop) for number, kind, start, stop in fields(buffer, pos, end) if number == _TYPE)
    return any(
        any(map(is_invalid, decode_packed(buffer[start:stop]))) if kind == BYTES else is_invalid(start)
        for kind, start, stop in types
    )


def _read_int(buffer: Buffer, start: int, end: int) -> int:
    return to_signed(start)


def _read_bool(buffer: Buffer, start: int, end: int) -> bool:
    return bool(start)


def _read_dtype(buffer: Buffer, start: int, end: int) -> str | None:
    return dtype_name(start)


def _read_text(buffer: Buffer, start: int, end: int) -> str:
    return text(buffer[start:end])


def _read_float(buffer: Buffer, start: int, end: int) -> float:
    value: float = struct.unpack("<f", buffer[start:end])[0]
    return value


def read_shape(buffer: Buffer, start: int, end: int) -> DeclaredType:
    """A TensorShapeProto as an attribute has it."""
    return DeclaredType(dims=read_dims(buffer, start, end))


_TYPE = 6
"""The number of the field of an element type."""

_Reader = Callable[[Buffer, int, int], object]

_SCALARS: Mapping[int, tuple[int, _Reader]] = {
    2: (BYTES, _read_text),
    3: (VARINT, _read_int),
    4: (FIXED32, _read_float),
    5: (VARINT, _read_bool),
    _TYPE: (VARINT, _read_dtype),
    7: (BYTES, read_shape),
    8: (BYTES, read_tensor),
}
"""The wire type and the reader of a value, by the number of its field; lists have the same numbers."""


def _unpack_floats(data: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(data) // 4}f", data))


_PACKED: Mapping[int, Callable[[bytes], list[object]]] = {
    3: lambda data: list(decode_packed(data)),
    4: lambda data: list(_unpack_floats(data)),
    5: lambda data: [bool(value) for value in decode_packed(data)],
    _TYPE: lambda data: [dtype_name(value) for value in decode_packed(data)],
}
"""The readers of packed lists."""
