"""Models as messages of the onnx package: whole, and without weights, for inference and the checker."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import onnx
import onnx_ir as ir

from shapeinf.errors import ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.lattice.dtypes import ONNX_NAMES
from shapeinf.passes.weights import load_tensor

MAX_CONTENTS = 1 << 16
"""Constants of more bytes do not affect shapes (`lattice.MAX_ELEMENTS` int64 take half of it)."""

_SPARSE = b"shapeinf: sparse tensor in base64: "
"""The first bytes of a text attribute that stands for a sparse tensor, which onnx-ir does not represent."""
_SPARSE_INITIALIZER = "shapeinf: sparse initializer"
"""The first part of the name of a node that stands for a sparse initializer, which onnx-ir drops."""
_DECLARED = "declared types"
"""The key in the metadata of a graph under which declared types that onnx-ir changes are stored."""


def from_proto(proto: onnx.ModelProto) -> ir.Model:
    """The model of a message.

    onnx-ir has no map types, and one type for an input that is also an output: these types are stored as metadata. It
    has no sparse tensors: they are stored as texts, and sparse initializers are constant nodes meanwhile.

    Raises ModelError for what onnx-ir drops silently: training information, devices of nodes.
    """
    _check_lossless(proto)
    maps = {v.name for v in _declarations(proto.graph) if _has_map(v.type)}
    read = proto
    if maps or any(map(_is_sparse, _attributes(proto))) or any(g.sparse_initializer for g in _all_graphs(proto)):
        read = onnx.ModelProto()
        read.CopyFrom(proto)
        for value in _declarations(read.graph):
            if value.name in maps:
                value.ClearField("type")
        for part in reversed(list(_all_graphs(read))):
            _replace_sparse_initializers(part)
        for attribute in filter(_is_sparse, _attributes(read)):
            _pack_sparse(attribute)
    model = ir.from_proto(read)
    inputs = {value.name for value in proto.graph.input}
    changed = maps | {value.name for value in proto.graph.output if value.name in inputs}
    if changed:
        parts = _parts(proto.graph)
        model.graph.meta[_DECLARED] = [{v.name: v.type for v in part if v.name in changed} for part in parts]
    for graph in _graphs(model):
        for output in graph.outputs:
            if output.producer() is None and not (output.is_graph_input() or output.is_initializer()):
                raise ModelError("is an output of a graph that does not produce it", node=output.name)
    return model


def duplicate(model: ir.Model) -> ir.Model:
    """A copy that shares the tensors. Raises ModelError for nodes that are not in topological order."""
    try:
        return model.clone()
    except RuntimeError as error:  # the message of onnx-ir contains the whole model
        raise ModelError("has nodes that are not in topological order") from error


def to_proto(model: ir.Model) -> onnx.ModelProto:
    """The message of a model; weights in other files stay there."""
    proto = ir.to_proto(model)
    for part, declared in zip(_parts(proto.graph), model.graph.meta.get(_DECLARED, ()), strict=False):
        for value in part:
            if value.name in declared:
                value.type.CopyFrom(declared[value.name])
    for attribute in _attributes(proto):
        if attribute.type == onnx.AttributeProto.STRING and attribute.s.startswith(_SPARSE):
            _unpack_sparse(attribute)
    for graph in reversed(list(_all_graphs(proto))):
        _restore_sparse_initializers(graph)
    return proto


def _all_graphs(proto: onnx.ModelProto) -> Iterator[onnx.GraphProto]:
    """The graph, and the bodies of nodes, in functions too."""
    yield proto.graph
    yield from _bodies([*proto.graph.node, *(node for function in proto.functions for node in function.node)])


def _replace_sparse_initializers(graph: onnx.GraphProto) -> None:
    """Make sparse initializers nodes at the beginning of their graph. Bodies come first: nodes are new objects then."""
    if not graph.sparse_initializer:
        return
    nodes = [*graph.node]
    del graph.node[:]
    for tensor in graph.sparse_initializer:
        name = tensor.values.name
        label = f"{_SPARSE_INITIALIZER} {name}"
        graph.node.append(onnx.helper.make_node("Constant", [], [name], label, sparse_value=tensor))
    graph.node.extend(nodes)
    del graph.sparse_initializer[:]


def _restore_sparse_initializers(graph: onnx.GraphProto) -> None:
    """Undo `_replace_sparse_initializers`."""
    nodes = [node for node in graph.node if node.name.startswith(_SPARSE_INITIALIZER)]
    for node in nodes:
        tensor = graph.sparse_initializer.add()
        tensor.CopyFrom(node.attribute[0].sparse_tensor)
        tensor.values.name = node.output[0]
        graph.node.remove(node)


def _attributes(proto: onnx.ModelProto) -> Iterator[onnx.AttributeProto]:
    """The attributes of all nodes, in bodies and functions too."""
    functions = [node for function in proto.functions for node in function.node]
    nodes = [*proto.graph.node, *functions]
    for node in (*nodes, *(node for body in _bodies(nodes) for node in body.node)):
        yield from node.attribute


def _is_sparse(attribute: onnx.AttributeProto) -> bool:
    return attribute.type in (onnx.AttributeProto.SPARSE_TENSOR, onnx.AttributeProto.SPARSE_TENSORS)


def _pack_sparse(attribute: onnx.AttributeProto) -> None:
    """Make a sparse tensor a text of its bytes: onnx-ir does not read it, and no pass does."""
    packed = onnx.AttributeProto(name=attribute.name, type=onnx.AttributeProto.STRING)
    packed.s = _SPARSE + b64encode(attribute.SerializeToString())
    attribute.CopyFrom(packed)


def _unpack_sparse(attribute: onnx.AttributeProto) -> None:
    attribute.CopyFrom(onnx.AttributeProto.FromString(b64decode(attribute.s[len(_SPARSE) :])))


def _check_lossless(proto: onnx.ModelProto) -> None:
    if proto.training_info:
        raise ModelError("has information for training, which clean-up does not keep")
    _check_graph(proto.graph)
    for function in proto.functions:
        _check_nodes(function.node)


def _check_graph(graph: onnx.GraphProto) -> None:
    _check_nodes(graph.node)


def _check_nodes(nodes: Sequence[onnx.NodeProto]) -> None:
    for node in nodes:
        if node.device_configurations:
            raise ModelError("is placed on devices, which clean-up does not keep", node=node.name or node.op_type)
        for attribute in node.attribute:
            for body in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
                _check_graph(body)


def _parts(graph: onnx.GraphProto) -> tuple[Sequence[onnx.ValueInfoProto], ...]:
    return graph.input, graph.output, graph.value_info


def _declarations(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    return [*graph.input, *graph.output, *graph.value_info]


def _has_map(declared: onnx.TypeProto) -> bool:
    while declared.WhichOneof("value") in ("sequence_type", "optional_type"):
        declared = getattr(declared, declared.WhichOneof("value") or "").elem_type
    return bool(declared.WhichOneof("value") == "map_type")


def skeleton(model: ir.Model) -> onnx.ModelProto:
    """A model as a message whose large initializers refer to a file that is never opened.

    Small initializers of other files, which may affect shapes, are loaded where they can be read.
    """
    values = [v for graph in _graphs(model) for v in graph.initializers.values() if v.const_value is not None]
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


def _graphs(model: ir.Model) -> list[ir.Graph]:
    return [model.graph, *model.graph.subgraphs()]


def _is_large(value: ir.Value) -> bool:
    return value.const_value is not None and value.const_value.nbytes > MAX_CONTENTS


def sizes(tensor: ir.TensorProtocol) -> tuple[int, ...]:
    """The shape of a tensor with contents: all sizes are known."""
    return tuple(d for d in tensor.shape if isinstance(d, int))


def checker_input(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of a skeleton that the checker accepts, which opens the files of initializers.

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
    for body in _bodies(graph.node):
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


def _bodies(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.GraphProto]:
    """The bodies of nodes, and those inside of them."""
    for node in nodes:
        for attribute in node.attribute:
            for body in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
                yield body
                yield from _bodies(body.node)
