"""Models as messages of the onnx package: whole, and without weights for inference and for the checker."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from shapeinf.errors import ModelError
from shapeinf.passes.weights import in_memory

MAX_CONTENTS = 1 << 16
"""Constants with more bytes than this decide no shapes (`lattice.MAX_ELEMENTS` int64 take half of it)."""


_MAPS = "types of maps"
"""The key in the metadata of a graph under which declared types that onnx-ir does not have are stored."""


def from_proto(proto: onnx.ModelProto) -> ir.Model:
    """The model of a message. onnx-ir has no maps: their declarations are stored next to the graph."""
    maps = {v.name: v.type for v in _declarations(proto.graph) if _has_map(v.type)}
    if maps:
        copy = onnx.ModelProto()
        copy.CopyFrom(proto)
        for value in _declarations(copy.graph):
            if value.name in maps:
                value.ClearField("type")
        proto = copy
    model = ir.from_proto(proto)
    if maps:
        model.graph.meta[_MAPS] = maps
    return model


def to_proto(model: ir.Model) -> onnx.ModelProto:
    """The message of a model; weights in other files stay there."""
    proto = ir.to_proto(model)
    maps = model.graph.meta.get(_MAPS, {})
    if maps:
        for value in _declarations(proto.graph):
            if value.name in maps:
                value.type.CopyFrom(maps[value.name])
    return proto


def _declarations(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    return [*graph.input, *graph.output, *graph.value_info]


def _has_map(declared: onnx.TypeProto) -> bool:
    while declared.WhichOneof("value") in ("sequence_type", "optional_type"):
        declared = getattr(declared, declared.WhichOneof("value") or "").elem_type
    return bool(declared.WhichOneof("value") == "map_type")


def skeleton(model: ir.Model) -> onnx.ModelProto:
    """A copy of a model whose large initializers refer to a file that is never opened.

    It has the small ones of other files, which may decide shapes, where they can be read.
    """
    values = [v for graph in _graphs(model) for v in graph.initializers.values() if v.const_value is not None]
    replaced = [(v, v.const_value) for v in values if _is_large(v) or isinstance(v.const_value, ir.ExternalTensor)]
    try:
        for value, tensor in replaced:
            assert tensor is not None
            value.const_value = _without_contents(value, tensor) if _is_large(value) else _with_contents(tensor)
        return to_proto(model)
    finally:
        for value, tensor in replaced:
            value.const_value = tensor


def _without_contents(value: ir.Value, tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    shape = ir.Shape(sizes(tensor))
    return ir.ExternalTensor("weights", 0, tensor.nbytes, tensor.dtype, shape=shape, name=value.name or "")


def _with_contents(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    try:
        return in_memory(tensor)
    except ModelError:  # inference does without
        return tensor


def _graphs(model: ir.Model) -> list[ir.Graph]:
    return [model.graph, *model.graph.subgraphs()]


def _is_large(value: ir.Value) -> bool:
    return value.const_value is not None and value.const_value.nbytes > MAX_CONTENTS


def sizes(tensor: ir.TensorProtocol) -> tuple[int, ...]:
    """The shape of a tensor with contents."""
    return tuple(d for d in tensor.shape if isinstance(d, int))


def checkable(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The skeleton as the checker takes it.

    Initializers of the main graph without contents are inputs, and outputs whose shape is not declared have some.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    graph = copy.graph
    missing = [t for t in graph.initializer if t.data_location == onnx.TensorProto.EXTERNAL]
    present = [t for t in graph.initializer if t.data_location != onnx.TensorProto.EXTERNAL]
    del graph.initializer[:]
    graph.initializer.extend(present)
    inputs = {value.name for value in graph.input}
    graph.input.extend(
        onnx.helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in missing if t.name not in inputs
    )
    for value in (*graph.input, *graph.output):
        if value.type.WhichOneof("value") == "tensor_type":
            value.type.tensor_type.shape.SetInParent()
    return copy
