"""Types as bytes of a TypeProto: new types, and declared types with new dims.

Fields that a change does not concern, as denotations, stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.notations import NotationName
from shapeinf.formats.annotation import Info
from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.onnx.types import type_field
from shapeinf.formats.protobuf.edits import joined_field, other_fields, with_field
from shapeinf.formats.protobuf.pieces import encode_bytes, encode_number
from shapeinf.formats.protobuf.wire import BYTES, fields
from shapeinf.formats.unknown_names import NO_NAMES, DimNames, text_with_names
from shapeinf.lattice.dtypes import ONNX_CODES

_CONTAINER = re.compile(r"map\(\w+\)|sequence|optional")
_CONTAINERS = {"sequence": pb.TYPE_SEQUENCE, "optional": pb.TYPE_OPTIONAL}


def encode_type(
    info: Info, axes: Mapping[int, str] = NO_NAMES, names: DimNames = NO_NAMES, notation: NotationName | None = None
) -> bytes:
    """The bytes of the TypeProto of a value of known element type, with these names of `axes` and of unknowns.

    The items of a sequence may differ in an unknown: there it has no name.
    """
    names = names if info.kind == "tensor" else NO_NAMES
    tensor = encode_number(pb.ELEM_TYPE, ONNX_CODES[info.dtype or ""])
    if info.shape.dims is not None:
        dims = [
            encode_bytes(pb.DIM_PARAM, axes[axis].encode()) if axis in axes else encode_dim(d, names, notation)
            for axis, d in enumerate(info.shape.dims)
        ]
        tensor += _encode_shape(dims)
    data = encode_bytes(pb.TYPE_TENSOR, tensor)
    for kind in reversed(_CONTAINER.findall(info.kind)):
        if kind in _CONTAINERS:
            data = encode_bytes(_CONTAINERS[kind], encode_bytes(pb.ELEM_TYPE, data))
        else:
            key = encode_number(pb.ELEM_TYPE, ONNX_CODES[kind[4:-1]])
            data = encode_bytes(pb.TYPE_MAP, key + encode_bytes(pb.SHAPE_OR_VALUE, data))
    return data


def set_value_type(value: bytes, info: Info, names: DimNames = NO_NAMES, notation: NotationName | None = None) -> bytes:
    """A ValueInfoProto whose type has the dims and the element type of `info`; see `set_type`."""
    declared = joined_field(value, pb.VALUE_TYPE) or b""
    return with_field(value, pb.VALUE_TYPE, encode_bytes(pb.VALUE_TYPE, set_type(declared, info, names, notation)))


def set_type(declared: bytes, info: Info, names: DimNames = NO_NAMES, notation: NotationName | None = None) -> bytes:
    """A TypeProto with new dims and a new element type, also of a tensor in a sequence or an optional.

    A map, and a type whose new rank is unknown, stay. `names` are those of unknowns.
    """
    number, payload = type_field(declared)
    if number in (pb.TYPE_SEQUENCE, pb.TYPE_OPTIONAL):
        item = set_type(joined_field(payload, pb.ELEM_TYPE) or b"", info, names, notation)
        changed = with_field(payload, pb.ELEM_TYPE, encode_bytes(pb.ELEM_TYPE, item))
    elif number == pb.TYPE_MAP or info.shape.dims is None:
        return declared
    else:
        number = pb.TYPE_SPARSE_TENSOR if number == pb.TYPE_SPARSE_TENSOR else pb.TYPE_TENSOR
        changed = _set_tensor(payload, info, info.shape.dims, names, notation)
    return with_field(declared, number, encode_bytes(number, changed))


def _set_tensor(
    tensor: bytes, info: Info, dims: Iterable[DimSize], names: DimNames, notation: NotationName | None
) -> bytes:
    """The message of a dense or sparse tensor type with these dims."""
    shape = joined_field(tensor, pb.SHAPE_OR_VALUE) or b""
    new = [encode_dim(d, names, notation) for d in dims]
    old = [shape[a:b] for number, kind, a, b in fields(shape, 0, len(shape)) if (number, kind) == (pb.SHAPE_DIM, BYTES)]
    if len(old) == len(new):
        size = {pb.DIM_VALUE, pb.DIM_PARAM}
        new = [dim + other_fields(before, size) for dim, before in zip(new, old, strict=True)]
    if info.dtype is not None:
        tensor = with_field(tensor, pb.ELEM_TYPE, encode_number(pb.ELEM_TYPE, ONNX_CODES[info.dtype]))
    return with_field(tensor, pb.SHAPE_OR_VALUE, _encode_shape(new))


def _encode_shape(dims: Iterable[bytes]) -> bytes:
    return encode_bytes(pb.SHAPE_OR_VALUE, b"".join([encode_bytes(pb.SHAPE_DIM, dim) for dim in dims]))


def dim_text(dim: Dimension, names: DimNames = NO_NAMES, notation: NotationName | None = None) -> str | None:
    """The name or the expression of a dim; None for an unknown without a name, and for a dim that has no text.

    `names` are those of unknowns, and of dims without a text: see `name_unknowns`.
    """
    is_name = dim.is_symbol and not dim.is_anonymous
    return dim.name if is_name else text_with_names(dim, names, notation)


def encode_dim(dim: DimSize, names: DimNames = NO_NAMES, notation: NotationName | None = None) -> bytes:
    """The fields of a dim: its size, its name or expression; none for a dim that has no text."""
    if isinstance(dim, int):
        return encode_number(pb.DIM_VALUE, dim)
    text = dim_text(dim, names, notation)
    return b"" if text is None else encode_bytes(pb.DIM_PARAM, text.encode())
