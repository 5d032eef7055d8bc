"""Declared types, from the bytes of a TypeProto."""

from __future__ import annotations

from shapeinf.errors import LimitError
from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.protobuf.wire import BYTES, VARINT, fields, to_signed
from shapeinf.graph import DeclaredType
from shapeinf.graph.node import Kind
from shapeinf.lattice import MAX_TYPE_DEPTH
from shapeinf.lattice.dtypes import ONNX_NAMES

_KNOWN: dict[bytes, DeclaredType | None] = {}
"""Types by their bytes, for all files; declared types are immutable."""

_MAX_KNOWN = 4096
_MAX_BYTES = 256

_CONTAINERS: dict[int, Kind] = {pb.TYPE_SEQUENCE: "sequence", pb.TYPE_OPTIONAL: "optional"}
_VALUES = (pb.TYPE_TENSOR, pb.TYPE_SEQUENCE, pb.TYPE_MAP, pb.TYPE_OPAQUE, pb.TYPE_SPARSE_TENSOR, pb.TYPE_OPTIONAL)
"""The fields of a oneof in TypeProto; of several the last one counts."""


def scan_type(data: bytes, depth: int = 0) -> DeclaredType | None:
    """The type in a TypeProto, None if it declares none. Raises DamagedError, or LimitError for one nested too deep."""
    try:
        return _KNOWN[data]
    except KeyError:
        pass
    if depth > MAX_TYPE_DEPTH:
        raise LimitError(f"types nest deeper than {MAX_TYPE_DEPTH}")
    declared = _decode(data, depth)
    if len(data) <= _MAX_BYTES:
        if len(_KNOWN) >= _MAX_KNOWN:
            _KNOWN.clear()
        _KNOWN[data] = declared
    return declared


def type_field(data: bytes) -> tuple[int, bytes]:
    """The number and the contents of the field of a TypeProto that has its type; 0 and nothing if it has none."""
    which = 0
    pieces: list[bytes] = []
    for number, kind, start, end in fields(data, 0, len(data)):
        if kind == BYTES and number in _VALUES:
            if number != which:
                which, pieces = number, []
            pieces.append(data[start:end])
    return which, b"".join(pieces)  # a message that occurs twice is the concatenation of both


def _decode(data: bytes, depth: int) -> DeclaredType | None:
    which, value = type_field(data)
    if which in (pb.TYPE_TENSOR, pb.TYPE_SPARSE_TENSOR):
        return _tensor_type(value)
    if which == pb.TYPE_MAP:
        code, inner = _parts(value)
        return DeclaredType(ONNX_NAMES.get(code), None, "map", scan_type(inner or b"", depth + 1))
    if which in _CONTAINERS:
        inner = b"".join(value[a:b] for n, k, a, b in fields(value, 0, len(value)) if k == BYTES and n == pb.ELEM_TYPE)
        return DeclaredType(kind=_CONTAINERS[which], of=scan_type(inner, depth + 1))
    return None


def _tensor_type(data: bytes) -> DeclaredType:
    code, shape = _parts(data)
    if shape is None:
        return DeclaredType(ONNX_NAMES.get(code))
    dims = [
        _dim(shape, start, end)
        for number, kind, start, end in fields(shape, 0, len(shape))
        if kind == BYTES and number == pb.SHAPE_DIM
    ]
    return DeclaredType(ONNX_NAMES.get(code), tuple(dims))


def _parts(data: bytes) -> tuple[int, bytes | None]:
    """Fields 1 and 2 of a tensor type or a map type: a code, and a message or None."""
    code = 0
    pieces: list[bytes] = []
    for number, kind, start, end in fields(data, 0, len(data)):
        if kind == VARINT and number == pb.ELEM_TYPE:
            code = start & 0xFFFFFFFF
        elif kind == BYTES and number == pb.SHAPE_OR_VALUE:
            pieces.append(data[start:end])
    return code, b"".join(pieces) if pieces else None


def _dim(data: bytes, pos: int, stop: int) -> int | str | None:
    dim: int | str | None = None
    for number, kind, start, end in fields(data, pos, stop):
        if kind == VARINT and number == pb.DIM_VALUE:
            dim = to_signed(start)
        elif kind == BYTES and number == pb.DIM_PARAM:
            dim = data[start:end].decode("utf-8", "replace") or None
    return dim
