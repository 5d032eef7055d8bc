"""Attributes of ONNX nodes that are numbers, strings, or lists of these, from the bytes of an AttributeProto."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.protobuf.wire import BYTES, FIXED32, VARINT, decode_packed, field, to_signed

_INT_TAG, _FLOAT_TAG, _STRING_TAG = 0x40, 0x3D, 0x4A
"""The tags of items of lists that are not packed, the usual form."""

_INTS = re.compile(rb"(?:\x40[\x80-\xff]*[\x00-\x7f]){1,1024}", re.DOTALL)
_INT = re.compile(rb"\x40([\x80-\xff]*[\x00-\x7f])", re.DOTALL)
_FLOATS = re.compile(rb"(?:\x3d....){1,1024}", re.DOTALL)
"""Consecutive items, limited in number: the memory of a match grows with it."""


def plain_attribute(data: bytes, names: Mapping[bytes, str]) -> tuple[str, object, str] | None:
    """Name, value, and the name of the function attribute that it refers to; None for an attribute of another kind.

    Raises DamagedError.
    """
    name, reference, kind = "", "", 0
    single: dict[int, object] = {pb.KIND_FLOAT: 0.0, pb.KIND_INT: 0, pb.KIND_STRING: ""}
    ints: list[int] = []
    floats: list[float] = []
    strings: list[str] = []
    pos, end = 0, len(data)
    while pos < end:
        after = _items(data, pos, ints, floats, strings, names)
        if after > pos:
            pos = after
            continue
        number, wire, start, pos = field(data, pos, end)
        if number == pb.ATTRIBUTE_NAME and wire == BYTES:
            name = names[data[start:pos]]
        elif number == pb.ATTRIBUTE_TYPE and wire == VARINT:
            kind = start
        elif number == pb.ATTRIBUTE_I and wire == VARINT:
            single[pb.KIND_INT] = to_signed(start)
        elif number == pb.ATTRIBUTE_F and wire == FIXED32:
            single[pb.KIND_FLOAT] = struct.unpack("<f", data[start:pos])[0]
        elif number == pb.ATTRIBUTE_S and wire == BYTES:
            single[pb.KIND_STRING] = data[start:pos].decode("utf-8", "replace")
        elif number == pb.ATTRIBUTE_INTS and wire == BYTES:
            ints += decode_packed(data[start:pos])
        elif number == pb.ATTRIBUTE_FLOATS and wire == BYTES:
            floats += struct.unpack(f"<{(pos - start) // 4}f", data[start:pos])
        elif number == pb.ATTRIBUTE_STRINGS and wire == BYTES:
            strings.append(names[data[start:pos]])
        elif number == pb.ATTRIBUTE_REF_ATTR_NAME and wire == BYTES:
            reference = names[data[start:pos]]
        elif number != pb.ATTRIBUTE_DOC_STRING:
            return None
    if reference:
        return name, None, reference
    if kind in single:
        return name, single[kind], ""
    if kind == pb.KIND_INTS:
        return name, tuple(ints), ""
    if kind == pb.KIND_FLOATS:
        return name, tuple(floats), ""
    return (name, tuple(strings), "") if kind == pb.KIND_STRINGS else None


def _items(
    data: bytes, pos: int, ints: list[int], floats: list[float], strings: list[str], names: Mapping[bytes, str]
) -> int:
    """Append consecutive items of a list, each with its tag, from `pos` on; return the position after them."""
    tag = data[pos]
    if tag == _INT_TAG and (run := _INTS.match(data, pos)):
        ints += decode_packed(b"".join(_INT.findall(run[0])))
        return run.end()
    if tag == _FLOAT_TAG and (run := _FLOATS.match(data, pos)):
        floats += [item for (item,) in struct.iter_unpack("<xf", run[0])]
        return run.end()
    while pos + 1 < len(data) and data[pos] == _STRING_TAG and data[pos + 1] < 128:
        stop = pos + 2 + data[pos + 1]
        if stop > len(data):
            break
        strings.append(names[data[pos + 2 : stop]])
        pos = stop
    return pos
