"""Encodes fields of TensorFlow's messages, from values that were read from their text or JSON form."""

from __future__ import annotations

import difflib
import math
import struct
from collections.abc import Iterable, Sequence

from shapeinf.formats.protobuf.wire import BYTES, FIXED32, FIXED64, VARINT, encode_tag, encode_varint
from shapeinf.formats.tf.messages import Field, MessageType, enum_values

Scalar = int | float | bool | bytes

RANGES = {
    "int32": (-(1 << 31), (1 << 31) - 1),
    "enum": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "sint64": (-(1 << 63), (1 << 63) - 1),
    "uint64": (0, (1 << 64) - 1),
    "fixed64": (0, (1 << 64) - 1),
    "bool": (0, 1),
}
"""The least and the greatest value of integer fields, by their kind."""

_WIRE_KINDS = {
    "float": FIXED32,
    "double": FIXED64,
    "fixed64": FIXED64,
    "string": BYTES,
    "bytes": BYTES,
    "message": BYTES,
}

_ALTERNATIVES = {
    "AttrValue": "list s i f b type shape tensor placeholder func",
    "CollectionDef": "node_list bytes_list int64_list float_list any_list",
    "FullTypeDef": "s i",
    "SavedObject": "user_object asset function variable bare_concrete_function constant resource captured_tensor",
    "StructuredValue": "none_value float64_value int64_value string_value bool_value tensor_shape_value "
    "tensor_dtype_value tensor_spec_value type_spec_value bounded_tensor_spec_value list_value tuple_value dict_value "
    "named_tuple_value tensor_value numpy_value",
    "TensorInfo": "name coo_sparse composite_tensor",
}
ALTERNATIVES = {message: frozenset(names.split()) for message, names in _ALTERNATIVES.items()}
"""By message, the fields of a oneof: at most one may be set."""


class UnfitValueError(ValueError):
    """A value does not fit its field; the text is the reason.

    Internal: caught in `formats.tf.text` and `formats.tf.json_form`, which add the path of the field.
    """


def check_integer(field: Field, value: int) -> int:
    """The value of an integer field. Raises UnfitValueError outside the range of its type."""
    low, high = RANGES[field.kind]
    if not low <= value <= high:
        raise UnfitValueError(f"{value if abs(value) < 1 << 80 else 'the number'} is not in {low}..{high}")
    return value


def enum_value(field: Field, name: str) -> int:
    """The number of a value of an enum. Raises UnfitValueError for an unknown name."""
    values = enum_values(field.type)
    if name not in values:
        raise UnfitValueError(f"{name!r} is not a {field.type}{nearest(name, values)}")
    return values[name]


def check_utf8(data: bytes) -> bytes:
    """The bytes of a string. Raises UnfitValueError for bytes that are not UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnfitValueError("a string must be UTF-8") from None
    return data


def nearest(name: str, names: Iterable[str]) -> str:
    """A suggestion of the most similar name, as the end of a message; empty if no name is similar."""
    close = difflib.get_close_matches(name[:100], names, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def unknown_field(name: str, message: MessageType) -> str:
    """The message for a field that the message does not have."""
    return f"{message.name} has no field {name!r}{nearest(name, message.by_name)}"


def conflicting_field(message: MessageType, name: str, names: Iterable[str]) -> str | None:
    """The field among `names` that is in one oneof with the field `name`; None if there is none."""
    group = ALTERNATIVES.get(message.name, frozenset())
    return next((other for other in names if other != name and other in group), None) if name in group else None


def encode_field(field: Field, values: Sequence[Scalar]) -> bytes:
    """The bytes of a field with all its values. Messages and strings are passed as bytes; numbers are packed."""
    kind = _WIRE_KINDS.get(field.kind, VARINT)
    encoded = [encode_scalar(field.kind, value) for value in values]
    if kind == BYTES:
        tag = encode_tag(field.number, BYTES)
        return b"".join(tag + encode_varint(len(data)) + data for data in encoded)
    if field.repeated:
        data = b"".join(encoded)
        return encode_tag(field.number, BYTES) + encode_varint(len(data)) + data if data else b""
    return b"".join(encode_tag(field.number, kind) + data for data in encoded)


def encode_scalar(kind: str, value: Scalar) -> bytes:
    """The bytes of one value, without its tag and length."""
    if isinstance(value, bytes):
        return value
    if kind == "float":
        return _encode_float(float(value))
    if kind == "double":
        return struct.pack("<d", value)
    number = int(value)
    if kind == "fixed64":
        return struct.pack("<Q", number)
    if kind == "sint64":
        number = number << 1 ^ number >> 63
    return encode_varint(number & (1 << 64) - 1)


def _encode_float(value: float) -> bytes:
    """The four bytes of a float; a number that is too large becomes infinity, as in protobuf."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", math.copysign(math.inf, value))
