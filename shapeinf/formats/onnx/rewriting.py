"""New contents for constants of a model, and new dims for declared types."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from shapeinf.errors import ModelError
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.notations import NotationName
from shapeinf.formats.annotation import Info
from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.protobuf.wire import BYTES, Buffer, fields
from shapeinf.formats.unknown_names import NO_NAMES, DimNames, text_with_names
from shapeinf.lattice import PartialTensor
from shapeinf.lattice.dtypes import ONNX_CODES


def initializer(buffer: Buffer, pos: int, end: int, constants: Mapping[str, PartialTensor]) -> bytes | None:
    """A TensorProto with the contents that `constants` has for its name; None if it has none."""
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == pb.TENSOR_NAME and kind == BYTES:
            name = buffer[start:stop].decode("utf-8", "replace")
            return bytes(_tensor(name, constants[name]).SerializeToString()) if name in constants else None
    return None


def constant_node(data: bytes, constants: Mapping[str, PartialTensor]) -> bytes:
    """A NodeProto of a constant with new contents. Raises ModelError for an attribute that cannot have them."""
    node = onnx.NodeProto.FromString(data)
    wanted = constants[node.output[0]]
    items = [e for e in wanted.elements or () if isinstance(e, int)]
    for attribute in node.attribute:
        if attribute.name == "value" and attribute.type == onnx.AttributeProto.TENSOR:
            attribute.t.CopyFrom(_tensor(attribute.t.name, wanted))
        elif attribute.name == "value_ints":
            attribute.ints[:] = items
        elif attribute.name == "value_int":
            attribute.i = items[0]
        else:
            continue
        return bytes(node.SerializeToString())
    raise ModelError("its contents cannot be rewritten", node=node.output[0])


def _tensor(name: str, wanted: PartialTensor) -> onnx.TensorProto:
    array = np.array(wanted.elements, dtype=wanted.dtype).reshape([int(str(d)) for d in wanted.shape])
    return onnx.numpy_helper.from_array(array, name)


def set_type(
    proto: onnx.TypeProto, info: Info, names: DimNames = NO_NAMES, notation: NotationName | None = None
) -> None:
    """Set the dims and the element type of a declared tensor, also one in a sequence or an optional.

    `names` are those of unknowns.
    """
    while proto.WhichOneof("value") in ("sequence_type", "optional_type"):
        proto = getattr(proto, proto.WhichOneof("value")).elem_type
    if proto.WhichOneof("value") == "map_type" or info.shape.dims is None:
        return
    tensor = proto.sparse_tensor_type if proto.WhichOneof("value") == "sparse_tensor_type" else proto.tensor_type
    if info.dtype is not None:
        tensor.elem_type = ONNX_CODES[info.dtype]
    tensor.shape.SetInParent()
    if len(tensor.shape.dim) != len(info.shape.dims):
        del tensor.shape.dim[:]
        for _ in info.shape.dims:
            tensor.shape.dim.add()
    for dim, wanted in zip(tensor.shape.dim, info.shape.dims, strict=True):
        set_dim(dim, wanted, names, notation)


def dim_text(dim: Dimension, names: DimNames = NO_NAMES, notation: NotationName | None = None) -> str | None:
    """The name or the expression of a dim; None for an unknown without a name, and for a dim that has no text.

    `names` are those of unknowns, and of dims without a text: see `name_unknowns`.
    """
    is_name = dim.is_symbol and not dim.is_anonymous
    return dim.name if is_name else text_with_names(dim, names, notation)


def set_dim(
    proto: onnx.TensorShapeProto.Dimension,
    dim: DimSize,
    names: DimNames = NO_NAMES,
    notation: NotationName | None = None,
) -> None:
    """Write a dim: its size, its name or expression, nothing for one that has no text."""
    if isinstance(dim, int):
        proto.dim_value = dim
    elif (text := dim_text(dim, names, notation)) is not None:
        proto.dim_param = text
    else:
        proto.ClearField("dim_value")
        proto.ClearField("dim_param")
