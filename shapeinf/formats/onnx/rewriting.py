"""Constants of a file with other contents."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from shapeinf.errors import ModelError
from shapeinf.formats.protobuf.wire import BYTES, Buffer, fields
from shapeinf.lattice import PartialTensor


def initializer(buffer: Buffer, pos: int, end: int, constants: Mapping[str, PartialTensor]) -> bytes | None:
    """A TensorProto with the contents that `constants` has for its name; None where it has none."""
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 8 and kind == BYTES:
            name = buffer[start:stop].decode("utf-8", "replace")
            return bytes(_tensor(name, constants[name]).SerializeToString()) if name in constants else None
    return None


def constant_node(data: bytes, constants: Mapping[str, PartialTensor]) -> bytes:
    """A NodeProto that makes a constant, with other contents. Raises ModelError for one that cannot have any."""
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
