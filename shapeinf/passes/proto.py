"""Models of onnx-ir from messages of the onnx package, and back, without a loss."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence

import onnx
import onnx_ir as ir

from shapeinf.errors import ModelError

_SPARSE = b"shapeinf: sparse tensor in base64: "
"""The first bytes of a text attribute that stands for a sparse tensor, which onnx-ir does not represent."""
_SPARSE_INITIALIZER = "shapeinf: sparse initializer"
"""The first part of the name of a node that stands for a sparse initializer, which onnx-ir drops."""
_DECLARED = "declared types"
"""The key in the metadata of a graph under which declared types that onnx-ir changes are stored."""


def from_proto(proto: onnx.ModelProto) -> ir.Model:
    """The model of a message.

    onnx-ir has no map types, and one type for an input that is also an output: these types are stored as metadata. It
    has no sparse tensors: they are stored as texts, and sparse initializers are constant nodes meanwhile. Passes need
    nodes in topological order, which converters to float16 do not keep: nodes are sorted, the others stay in place.

    Raises ModelError for what onnx-ir drops silently: training information, devices of nodes.
    """
    _check_lossless(proto)
    maps = {v.name for v in _declarations(proto.graph) if _has_map(v.type)}
    read = proto
    if maps or any(map(_is_sparse, _attributes(proto))) or any(g.sparse_initializer for g in _graphs(proto)):
        read = onnx.ModelProto()
        read.CopyFrom(proto)
        for value in _declarations(read.graph):
            if value.name in maps:
                value.ClearField("type")
        for graph in reversed(list(_graphs(read))):
            _replace_sparse_initializers(graph)
        for attribute in filter(_is_sparse, _attributes(read)):
            _pack_sparse(attribute)
    model = ir.from_proto(read)
    model.graph.sort()
    for function in model.functions.values():
        function.sort()
    inputs = {value.name for value in proto.graph.input}
    changed = maps | {value.name for value in proto.graph.output if value.name in inputs}
    if changed:
        parts = _parts(proto.graph)
        model.graph.meta[_DECLARED] = [{v.name: v.type for v in part if v.name in changed} for part in parts]
    for scope in (model.graph, *model.graph.subgraphs()):
        for output in scope.outputs:
            if output.producer() is None and not (output.is_graph_input() or output.is_initializer()):
                raise ModelError("is an output of a graph that does not produce it", node=output.name)
    return model


def duplicate(model: ir.Model) -> ir.Model:
    """A copy that shares the tensors. Raises ModelError for a node that reads what no node before it produces."""
    try:
        return model.clone()
    except RuntimeError as error:  # the message of onnx-ir contains the whole model
        text = "has a node that reads a value before it exists: the nodes must be in topological order"
        raise ModelError(text) from error


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
    for graph in reversed(list(_graphs(proto))):
        _restore_sparse_initializers(graph)
    return proto


def inner_graphs(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.GraphProto]:
    """The bodies of nodes, and those inside of them."""
    for node in nodes:
        for attribute in node.attribute:
            for body in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
                yield body
                yield from inner_graphs(body.node)


def _graphs(proto: onnx.ModelProto) -> Iterator[onnx.GraphProto]:
    """The graph, and the bodies of nodes, in functions too."""
    yield proto.graph
    yield from inner_graphs([*proto.graph.node, *(node for function in proto.functions for node in function.node)])


def _nodes(proto: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """The nodes of the graph, of bodies and of functions."""
    for scope in (*_graphs(proto), *proto.functions):
        yield from scope.node


def _attributes(proto: onnx.ModelProto) -> Iterator[onnx.AttributeProto]:
    for node in _nodes(proto):
        yield from node.attribute


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
    for node in _nodes(proto):
        if node.device_configurations:
            raise ModelError("is placed on devices, which clean-up does not keep", node=node.name or node.op_type)


def _parts(graph: onnx.GraphProto) -> tuple[Sequence[onnx.ValueInfoProto], ...]:
    return graph.input, graph.output, graph.value_info


def _declarations(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    return [*graph.input, *graph.output, *graph.value_info]


def _has_map(declared: onnx.TypeProto) -> bool:
    while declared.WhichOneof("value") in ("sequence_type", "optional_type"):
        declared = getattr(declared, declared.WhichOneof("value") or "").elem_type
    return bool(declared.WhichOneof("value") == "map_type")
