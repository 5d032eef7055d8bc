"""Models as messages without weights, for inference and the checker."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
import onnx_ir as ir

from shapeinf.errors import ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.lattice.dtypes import ONNX_NAMES
from shapeinf.passes.proto import inner_graphs, to_proto
from shapeinf.passes.types import scopes
from shapeinf.passes.weights import load_tensor

MAX_CONTENTS = 1 << 16
"""Constants of more bytes do not affect shapes (`lattice.MAX_ELEMENTS` int64 take half of it)."""


def outline(model: ir.Model) -> onnx.ModelProto:
    """A model as a message whose large initializers refer to a file that is never opened.

    Small initializers of other files, which may affect shapes, are loaded where they can be read.
    """
    values = [v for graph in scopes(model) for v in graph.initializers.values() if v.const_value is not None]
    replaced = [(v, v.const_value) for v in values if _is_large(v) or _may_decide_shapes(v.const_value)]
    try:
        for value, tensor in replaced:
            assert tensor is not None
            value.const_value = _without_contents(value, tensor) if _is_large(value) else _with_contents(tensor)
        return to_proto(model)
    finally:
        for value, tensor in replaced:
            value.const_value = tensor


def _may_decide_shapes(tensor: ir.TensorProtocol | None) -> bool:
    """Whether a tensor is in another file, and inference reads its contents."""
    if not isinstance(tensor, ir.ExternalTensor):
        return False
    return wants_contents(ONNX_NAMES.get(int(tensor.dtype)), sizes(tensor))


def _without_contents(value: ir.Value, tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    shape = ir.Shape(sizes(tensor))
    return ir.ExternalTensor("weights", 0, tensor.nbytes, tensor.dtype, shape=shape, name=value.name or "")


def _with_contents(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    try:
        return load_tensor(tensor)
    except ModelError:  # inference works without them
        return tensor


def _is_large(value: ir.Value) -> bool:
    return value.const_value is not None and value.const_value.nbytes > MAX_CONTENTS


def sizes(tensor: ir.TensorProtocol) -> tuple[int, ...]:
    """The shape of a tensor with contents: all sizes are known."""
    return tuple(d for d in tensor.shape if isinstance(d, int))


def checker_input(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of an outline that the checker accepts, which opens the files of initializers.

    Initializers of the main graph without contents become inputs, those of bodies zeros that a node makes; undeclared
    shapes of inputs and outputs are empty.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    graph = copy.graph
    missing = _take_external(graph)
    inputs = {value.name for value in graph.input}
    graph.input.extend(
        onnx.helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in missing if t.name not in inputs
    )
    for body in inner_graphs(graph.node):
        own = {value.name for value in body.input}
        nodes = [node for t in _take_external(body) if t.name not in own for node in _zeros(t, _opset(proto))]
        nodes.extend(body.node)
        del body.node[:]
        body.node.extend(nodes)
    for value in (*graph.input, *graph.output):
        if value.type.WhichOneof("value") == "tensor_type":
            value.type.tensor_type.shape.SetInParent()
    return copy


def _take_external(graph: onnx.GraphProto) -> list[onnx.TensorProto]:
    """Remove the initializers without contents from a graph."""
    missing = [t for t in graph.initializer if t.data_location == onnx.TensorProto.EXTERNAL]
    present = [t for t in graph.initializer if t.data_location != onnx.TensorProto.EXTERNAL]
    del graph.initializer[:]
    graph.initializer.extend(present)
    return missing


def _opset(proto: onnx.ModelProto) -> int:
    return max((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), default=1)


def _zeros(tensor: onnx.TensorProto, opset: int) -> Iterator[onnx.NodeProto]:
    """Nodes that make a tensor of this type, for the checker alone."""
    if opset < 9:  # there is no ConstantOfShape
        zeros = onnx.TensorProto(data_type=tensor.data_type, dims=tensor.dims)
        zeros.raw_data = bytes(next((int(e.value) for e in tensor.external_data if e.key == "length"), 0))
        yield onnx.helper.make_node("Constant", [], [tensor.name], value=zeros)
        return
    shape, numbers = f"{tensor.name}/shape", f"{tensor.name}/numbers"
    yield onnx.helper.make_node(
        "Constant", [], [shape], value=onnx.numpy_helper.from_array(np.array(tensor.dims, "i8"))
    )
    yield onnx.helper.make_node("ConstantOfShape", [shape], [numbers])
    yield onnx.helper.make_node("Cast", [numbers], [tensor.name], to=tensor.data_type)
