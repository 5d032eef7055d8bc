"""Weights in other files: their locations, and their bytes, which are read on demand, one tensor at a time.

The reader of onnx-ir is not used: it maps the whole file for each tensor, and checks no paths of models without a
folder. A location that leads out of the folder of the model, also by a symbolic link, is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy.typing as npt
import onnx
import onnx_ir as ir

from shapeinf.errors import ModelError
from shapeinf.formats.onnx.external_contents import path_inside
from shapeinf.formats.onnx.external_tensors import DataFolder, ExternalTensor
from shapeinf.passes.types import scopes


def external_tensors(model: ir.Model) -> Iterator[ir.ExternalTensor]:
    """The tensors of a model in other files: initializers of all scopes, and values of attributes."""
    for graph in scopes(model):
        tensors = [value.const_value for value in graph.initializers.values()]
        tensors += [tensor for node in graph for tensor in _attribute_tensors(node)]
        yield from (tensor for tensor in tensors if isinstance(tensor, ir.ExternalTensor))


def _attribute_tensors(node: ir.Node) -> Iterator[Any]:
    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.TENSOR and not attribute.is_ref():
            yield attribute.value
        elif attribute.type == ir.AttributeType.TENSORS and not attribute.is_ref():
            yield from attribute.value


def check_location(tensor: ir.ExternalTensor) -> None:
    """Raise ModelError for a location outside the folder of the model, or one that is no path."""
    path_inside(_folder(tensor) or os.curdir, os.fspath(tensor.location), tensor.name)


def external_bytes(tensor: ir.ExternalTensor) -> bytes:
    """The bytes of a tensor in another file. Raises ModelError where they are missing or cannot be read."""
    start, length = tensor.offset or 0, None if tensor.length is None else str(tensor.length)
    described = ExternalTensor(tensor.name, os.fspath(tensor.location), str(start), length, tensor.nbytes)
    try:
        return b"".join(described.part(DataFolder(_folder(tensor) or None).file(described)).chunks())
    except OSError as error:
        raise ModelError(f"its data cannot be read: {error.strerror}", node=tensor.name) from error


def load_tensor(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    """The tensor with its bytes in memory. Raises ModelError where they cannot be read."""
    if not isinstance(tensor, ir.ExternalTensor):
        return tensor
    proto = onnx.TensorProto(name=tensor.name, data_type=int(tensor.dtype), dims=tensor.shape.numpy())
    proto.raw_data = external_bytes(tensor)
    return ir.serde.deserialize_tensor(proto)


def contents(tensor: ir.TensorProtocol) -> npt.NDArray[Any]:
    """The contents of a tensor. Raises ModelError where they cannot be read, or do not fit the shape."""
    loaded = load_tensor(tensor)
    try:
        return loaded.numpy()
    except Exception as error:  # onnx-ir raises errors of many classes for damaged tensors
        message = f"its contents cannot be read: {' '.join(str(error).split())}"
        raise ModelError(message, node=tensor.name or None) from error


def raw_bytes(tensor: ir.TensorProtocol) -> bytes:
    """The bytes of a tensor, little-endian and packed. Raises ModelError where they cannot be read."""
    return bytes(contents(tensor).tobytes()) if isinstance(tensor, ir.ExternalTensor) else bytes(tensor.tobytes())


def rename_tensor(tensor: ir.TensorProtocol, name: str) -> ir.TensorProtocol:
    """A tensor with another name that shares the contents of the original."""
    if isinstance(tensor, ir.ExternalTensor):
        where = (tensor.location, tensor.offset, tensor.length, tensor.dtype)
        return ir.ExternalTensor(*where, shape=tensor.shape, name=name, base_dir=tensor.base_dir)
    shape = ir.Shape(tensor.shape.numpy())
    if isinstance(tensor, ir.StringTensor):
        return ir.StringTensor(tensor.string_data(), shape=shape, name=name)
    return ir.LazyTensor(partial(_same, tensor), tensor.dtype, shape, name=name)


def _same(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    return tensor


def _folder(tensor: ir.ExternalTensor) -> str:
    return os.fspath(tensor.base_dir or "")
