"""Tensors from protobuf objects of onnx, to which the scanner of bytes leaves rare ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import onnx
from google.protobuf.message import DecodeError, Message

from shapeinf.errors import ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.protobuf.wire import DamagedError
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.lattice.dtypes import ONNX_NAMES

_M = TypeVar("_M", bound=Message)


def parse(message: type[_M], data: bytes) -> _M:
    """A message of onnx. Raises DamagedError."""
    try:
        parsed: _M = message.FromString(data)
    except DecodeError as error:
        raise DamagedError(str(error)) from error
    return parsed


def is_external(proto: onnx.TensorProto) -> bool:
    """Whether the data of a tensor lie in another file."""
    return proto.data_location == onnx.TensorProto.EXTERNAL


def read_tensor(proto: onnx.TensorProto) -> PartialTensor:
    """A tensor's dtype and shape, with the contents of small ones; external data are not opened.

    Raises ModelError for negative dims, and for data that do not fit the shape.
    """
    dims = tuple(proto.dims)
    if any(d < 0 for d in dims):
        raise ModelError(f"a tensor has the negative dims {list(dims)}", node=proto.name)
    dtype = ONNX_NAMES.get(proto.data_type)
    if is_external(proto) or not wants_contents(dtype, dims):
        return PartialTensor(dtype, Shape(dims), None)
    return _with_contents(proto, dtype, dims)


def _with_contents(proto: onnx.TensorProto, dtype: str | None, dims: Sequence[int]) -> PartialTensor:
    try:
        array = onnx.numpy_helper.to_array(proto)
    except (ValueError, TypeError) as error:
        raise ModelError(f"the tensor's data do not fit its shape {list(dims)}: {error}", node=proto.name) from error
    elements = PartialTensor.from_array(array).elements
    if dtype == "string" and elements is not None:
        elements = tuple(e.decode("utf-8", "replace") if isinstance(e, bytes) else e for e in elements)
    return PartialTensor(dtype, Shape(dims), elements)


def read_sparse(proto: onnx.SparseTensorProto) -> tuple[str, PartialTensor]:
    """A sparse tensor: name, dtype and shape."""
    return proto.values.name, PartialTensor(ONNX_NAMES.get(proto.values.data_type), Shape(proto.dims), None)
