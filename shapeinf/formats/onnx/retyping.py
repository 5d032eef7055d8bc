"""Declared types of a file with other dims; all else that they say stays."""

from __future__ import annotations

import onnx

from shapeinf.expr import Dim
from shapeinf.expr.printing import try_format_dim
from shapeinf.formats.annotation import Info
from shapeinf.formats.onnx.names import DTYPE_NUMBERS


def retyped(proto: onnx.TypeProto, info: Info) -> None:
    """Give a declared tensor (also in a sequence or an optional) the dims of `info`, and its element type."""
    while proto.WhichOneof("value") in ("sequence_type", "optional_type"):
        proto = getattr(proto, proto.WhichOneof("value")).elem_type
    if proto.WhichOneof("value") == "map_type" or info.shape.dims is None:
        return
    tensor = proto.sparse_tensor_type if proto.WhichOneof("value") == "sparse_tensor_type" else proto.tensor_type
    if info.dtype is not None:
        tensor.elem_type = DTYPE_NUMBERS[info.dtype]
    tensor.shape.SetInParent()
    if len(tensor.shape.dim) != len(info.shape.dims):
        del tensor.shape.dim[:]
        for _ in info.shape.dims:
            tensor.shape.dim.add()
    for dim, wanted in zip(tensor.shape.dim, info.shape.dims, strict=True):
        set_dim(dim, wanted)


def set_dim(proto: onnx.TensorShapeProto.Dimension, dim: Dim) -> None:
    """Write a dim: its size, its name or expression, nothing for an unknown or one that is too long to print."""
    if isinstance(dim, int):
        proto.dim_value = dim
    elif not dim.is_anonymous and (text := dim.name if dim.is_symbol else try_format_dim(dim)) is not None:
        proto.dim_param = text
    else:
        proto.ClearField("dim_value")
        proto.ClearField("dim_param")
