"""Prints TensorFlow's messages in text form, from their binary form, as protobuf's text format does."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from functools import cache

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.protobuf.wire import BYTES, FIXED32, FIXED64, VARINT, DamagedError, fields, to_signed, varint
from shapeinf.formats.tf.messages import Field, MessageType, enum_values, message_type

MAX_DEPTH = 100

_ESCAPES = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\"}
_BYTE_TEXTS = tuple([_ESCAPES.get(b, chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in range(256)])
_FIXED = {"float": (FIXED32, "<f"), "double": (FIXED64, "<d"), "fixed64": (FIXED64, "<Q")}


def print_text(data: bytes, message: str) -> str:
    r"""The text form of a message such as "GraphDef".

    Raises ModelError for an unknown field, as of a newer file, and DamagedError for damaged bytes.

    >>> print(print_text(b'\n\x10\n\x01x\x12\x0bPlaceholder', "GraphDef"), end="")
    node {
      name: "x"
      op: "Placeholder"
    }
    """
    return "".join(_lines(data, 0, len(data), message_type(message), 0))


def _lines(data: bytes, pos: int, end: int, type_: MessageType, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        raise LimitError(f"messages nest deeper than {MAX_DEPTH}")
    indent = "  " * depth
    for number, kind, start, stop in fields(data, pos, end):
        field = type_.by_number.get(number)
        if field is None:
            raise ModelError(f"the field {number} of {type_.name} has no known name for text form: write a binary file")
        if field.kind == "message":
            if kind != BYTES:
                raise DamagedError(f"{field.name} is not a message")
            yield f"{indent}{field.name} {{\n"
            yield from _lines(data, start, stop, message_type(field.type), depth + 1)
            yield f"{indent}}}\n"
        else:
            for text in _values(data, field, kind, start, stop):
                yield f"{indent}{field.name}: {text}\n"


def _values(data: bytes, field: Field, kind: int, start: int, stop: int) -> Iterator[str]:
    """The texts of the values of a field: several for a packed list."""
    if field.kind in ("string", "bytes"):
        if kind != BYTES:
            raise DamagedError(f"{field.name} is not a {field.kind}")
        yield f'"{"".join([_BYTE_TEXTS[byte] for byte in data[start:stop]])}"'
        return
    wire_kind, code = _FIXED.get(field.kind, (VARINT, ""))
    if kind not in (wire_kind, BYTES):
        raise DamagedError(f"{field.name} is not a {field.kind}")
    if code:
        if (stop - start) % struct.calcsize(code):
            raise DamagedError(f"{field.name} is not a list of {field.kind}")
        yield from (_fixed_text(field, value) for (value,) in struct.iter_unpack(code, data[start:stop]))
    elif kind == VARINT:
        yield _integer_text(field, start)
    else:
        while start < stop:
            value, start = varint(data, start)
            yield _integer_text(field, value)


def _integer_text(field: Field, value: int) -> str:
    if field.kind == "bool":
        return "true" if value else "false"
    if field.kind == "enum":
        return _enum_names(field.type).get(to_signed(value), str(to_signed(value)))
    if field.kind == "sint64":
        value = value >> 1 ^ -(value & 1)
    elif field.kind.startswith("int"):
        value = to_signed(value)
    return str(value)


def _fixed_text(field: Field, value: float) -> str:
    """The shortest text that is read as the same number."""
    if field.kind != "float" or not math.isfinite(value):
        return repr(value)
    texts = (f"{value:.{digits}g}" for digits in (6, 7, 8))
    # rounding up may exceed the largest float, which cannot be packed
    return next((t for t in texts if abs(float(t)) < 3.4e38 and _round_to_float32(float(t)) == value), f"{value:.9g}")


def _round_to_float32(value: float) -> float:
    """The nearest 32-bit float."""
    (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    return float(rounded)


@cache
def _enum_names(name: str) -> dict[int, str]:
    return {number: value for value, number in enum_values(name).items()}
