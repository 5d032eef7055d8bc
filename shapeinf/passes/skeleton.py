"""A model without its weights, for inference and for the checker: neither needs their contents."""

from __future__ import annotations

import onnx
import onnx_ir as ir

MAX_CONTENTS = 1 << 16
"""Constants with more bytes than this decide no shapes (`lattice.MAX_ELEMENTS` int64 take half of it)."""


def skeleton(model: ir.Model) -> onnx.ModelProto:
    """A copy of a model whose large initializers refer to a file that is never opened."""
    values = [v for graph in _graphs(model) for v in graph.initializers.values() if _is_large(v)]
    tensors = {id(v): v.const_value for v in values}
    try:
        for value in values:
            assert value.const_value is not None
            value.const_value = ir.ExternalTensor(
                "weights",
                0,
                value.const_value.nbytes,
                value.const_value.dtype,
                shape=_shape(value),
                name=value.name or "",
            )
        return ir.to_proto(model)
    finally:
        for value in values:
            value.const_value = tensors[id(value)]


def _graphs(model: ir.Model) -> list[ir.Graph]:
    return [model.graph, *model.graph.subgraphs()]


def _is_large(value: ir.Value) -> bool:
    return value.const_value is not None and value.const_value.nbytes > MAX_CONTENTS


def _shape(value: ir.Value) -> ir.Shape:
    assert value.const_value is not None
    return ir.Shape([int(d) for d in value.const_value.shape])


def checkable(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The skeleton as the checker takes it: initializers of the main graph without contents are inputs."""
    missing = [t for t in proto.graph.initializer if t.data_location == onnx.TensorProto.EXTERNAL]
    if not missing:
        return proto
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    kept = [t for t in copy.graph.initializer if t.data_location != onnx.TensorProto.EXTERNAL]
    del copy.graph.initializer[:]
    copy.graph.initializer.extend(kept)
    inputs = {value.name for value in copy.graph.input}
    copy.graph.input.extend(
        onnx.helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in missing if t.name not in inputs
    )
    return copy
