"""The weights in a message, and their move to a file where they are too many for protobuf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnx

from shapeinf.formats.onnx.saving import LEAST_EXTERNAL

SPILLED = "shapeinf-weights"
"""The location of weights that were moved to a file."""


def _tensors(message: Any) -> Iterator[onnx.TensorProto]:
    """All tensors of a message, at any depth."""
    if isinstance(message, onnx.TensorProto):
        yield message
        return
    parts = {
        onnx.ModelProto: ("graph", "functions"),
        onnx.GraphProto: ("initializer", "node"),
        onnx.FunctionProto: ("node",),
        onnx.NodeProto: ("attribute",),
        onnx.AttributeProto: ("t", "tensors", "g", "graphs"),
    }
    for name in parts[type(message)]:
        part = getattr(message, name)
        for item in [part] if isinstance(part, (onnx.GraphProto, onnx.TensorProto)) else part:
            yield from _tensors(item)


def _internal_tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    return (tensor for tensor in _tensors(proto) if tensor.data_location != onnx.TensorProto.EXTERNAL)


def weight_bytes(proto: onnx.ModelProto) -> int:
    """The bytes of the raw data of weights in a message."""
    return sum(len(tensor.raw_data) for tensor in _internal_tensors(proto))


def move_weights(proto: onnx.ModelProto, path: str) -> str:
    """Move all weights of a message except small ones to a new file, under the location `SPILLED`; returns its path."""
    with open(path, "xb") as file:
        for tensor in _internal_tensors(proto):
            count = len(tensor.raw_data)
            if count < LEAST_EXTERNAL:
                continue
            start = file.tell()
            file.write(tensor.raw_data)
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", SPILLED), ("offset", start), ("length", count)):
                tensor.external_data.add(key=key, value=str(value))
    return path
