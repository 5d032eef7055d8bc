"""ONNX protobuf objects to `Graph`; `scanner` leaves its rare parts to this reader. No shape rule in here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import onnx

from shapeinf.errors import LimitError, UnknownFormatError
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.onnx.assembly import (
    MAX_NESTING,
    add_origin,
    add_property,
    domain_of,
    finish_graph,
    finish_model,
    repeated_names,
)
from shapeinf.formats.onnx.external_contents import external_contents
from shapeinf.formats.onnx.tensor_protos import is_external, read_sparse, read_tensor
from shapeinf.formats.ranges import DeferredRange, read_eagerly, wants_range
from shapeinf.formats.read_files import ReadFiles
from shapeinf.graph import DeclaredType, FunctionKey, Graph, Node, NodeKind
from shapeinf.graph.node import Kind
from shapeinf.lattice import MAX_TYPE_DEPTH, PartialTensor
from shapeinf.lattice.dtypes import ONNX_NAMES


def read_model(model: onnx.ModelProto, files: ReadFiles | None = None) -> Graph:
    """The graph of a model; the contents of small external tensors are read from the folder of its file in `files`.

    Raises UnknownFormatError for a model without a graph.
    """
    if not model.HasField("graph"):
        raise UnknownFormatError("the model has no graph")
    opsets = {domain_of(entry.domain): entry.version for entry in model.opset_import}
    graph = read_graph(model.graph, opsets, 0, files)
    for function in model.functions:
        key, body = read_function(function)
        graph.functions.setdefault(key, body)
    for entry in model.metadata_props:
        add_property(graph, _text(entry.key), _text(entry.value))
    add_origin(graph, _text(model.producer_name), _text(model.producer_version), model.ir_version)
    graph.model = model
    graph.files = files
    graph.external = any(is_external(t) for t in model.graph.initializer)
    return finish_model(graph)


def read_graph(proto: onnx.GraphProto, opsets: dict[str, int], depth: int = 0, files: ReadFiles | None = None) -> Graph:
    """A GraphProto."""
    if depth > MAX_NESTING:
        raise LimitError(f"subgraphs nest deeper than {MAX_NESTING}", node=proto.name)
    graph = Graph(name=proto.name, dialect="onnx", opsets=opsets)
    names = [*(tensor.name for tensor in proto.initializer), *(s.values.name for s in proto.sparse_initializer)]
    graph.repeated_constants += repeated_names(names)
    for initializer in proto.initializer:
        graph.constants[initializer.name] = read_tensor(initializer)
        later = _deferred_contents(initializer, files)
        if later is not None:
            graph.unread[initializer.name] = later
    for sparse in proto.sparse_initializer:
        name, tensor = read_sparse(sparse)
        graph.constants[name] = tensor
    graph.inputs = [value.name for value in proto.input]
    graph.outputs = [value.name for value in proto.output]
    graph.nodes = [_read_node(node, opsets, depth) for node in proto.node]
    return finish_graph(graph, ((v.name, read_type(v.type)) for v in (*proto.input, *proto.value_info, *proto.output)))


def _read_node(proto: onnx.NodeProto, opsets: dict[str, int], depth: int) -> Node:
    values = {a.name: read_attribute(a, opsets, depth) for a in proto.attribute if not a.ref_attr_name}
    references = {a.name: a.ref_attr_name for a in proto.attribute if a.ref_attr_name}
    repeated = repeated_names([a.name for a in proto.attribute])
    kind = NodeKind(proto.op_type, domain_of(proto.domain), values, proto.overload, references, repeated)
    return Node(kind, tuple(proto.input), tuple(proto.output), proto.name)


def read_function(proto: onnx.FunctionProto) -> tuple[FunctionKey, Graph]:
    """A FunctionProto: its key and its body."""
    opsets = {domain_of(entry.domain): entry.version for entry in proto.opset_import}
    body = Graph(proto.name, "onnx", opsets, list(proto.input), list(proto.output))
    body.nodes = [_read_node(node, opsets, 0) for node in proto.node]
    body.defaults = {a.name: read_attribute(a, opsets, 0) for a in proto.attribute_proto}
    key = domain_of(proto.domain), proto.name, proto.overload
    return key, finish_graph(body, ((v.name, read_type(v.type)) for v in proto.value_info))


def attribute_names(a: onnx.AttributeProto) -> tuple[str, str]:
    """The name of an AttributeProto, and the name of the function attribute that it refers to."""
    texts: tuple[Any, Any] = a.name, a.ref_attr_name  # protobuf has bytes for a text that is not UTF-8
    name, reference = (text if isinstance(text, str) else text.decode("utf-8", "replace") for text in texts)
    return name, reference


def read_attribute(a: onnx.AttributeProto, opsets: dict[str, int], depth: int = 0) -> object:
    """The value of an AttributeProto."""
    kinds = onnx.AttributeProto
    if a.type == kinds.INT:
        return a.i
    if a.type == kinds.FLOAT:
        return a.f
    if a.type == kinds.STRING:
        return a.s.decode("utf-8", "replace")
    if a.type == kinds.INTS:
        return tuple(a.ints)
    if a.type == kinds.FLOATS:
        return tuple(a.floats)
    if a.type == kinds.STRINGS:
        return tuple(s.decode("utf-8", "replace") for s in a.strings)
    if a.type == kinds.TENSOR:
        return read_eagerly(read_tensor(a.t), _deferred_contents(a.t, None))
    if a.type == kinds.GRAPH:
        return read_graph(a.g, opsets, depth + 1)
    if a.type == kinds.GRAPHS:
        return tuple(read_graph(g, opsets, depth + 1) for g in a.graphs)
    if a.type == kinds.SPARSE_TENSOR:
        return read_sparse(a.sparse_tensor)[1]
    if a.type == kinds.TYPE_PROTO:
        return read_type(a.tp)
    return None


def _deferred_contents(proto: onnx.TensorProto, files: ReadFiles | None) -> Callable[[], PartialTensor] | None:
    """A function that reads external contents or a range, for a tensor without contents in `read_tensor`."""
    dtype = ONNX_NAMES.get(proto.data_type)
    if is_external(proto):
        wanted = wants_contents(dtype, proto.dims) or wants_range(dtype, proto.dims)
        return (lambda: external_contents(proto.SerializeToString(), files)) if wanted else None
    if dtype is None or not proto.HasField("raw_data") or not wants_range(dtype, proto.dims):
        return None
    return DeferredRange(dtype, proto.dims, proto.raw_data, 0, len(proto.raw_data))


_CONTAINERS: dict[str, Kind] = {"sequence_type": "sequence", "optional_type": "optional"}


def read_type(proto: onnx.TypeProto, depth: int = 0) -> DeclaredType | None:
    """A declared type; None if the TypeProto declares none. Raises LimitError for one nested too deep."""
    which = proto.WhichOneof("value")
    if depth > MAX_TYPE_DEPTH:
        raise LimitError(f"types nest deeper than {MAX_TYPE_DEPTH}")
    if which in _CONTAINERS:
        return DeclaredType(kind=_CONTAINERS[which], of=read_type(getattr(proto, which).elem_type, depth + 1))
    if which == "map_type":
        value = read_type(proto.map_type.value_type, depth + 1)
        return DeclaredType(ONNX_NAMES.get(proto.map_type.key_type), None, "map", value)
    if which not in ("tensor_type", "sparse_tensor_type"):
        return None
    tensor = getattr(proto, which)
    dims = _read_dims(tensor.shape.dim) if tensor.HasField("shape") else None
    return DeclaredType(ONNX_NAMES.get(tensor.elem_type), dims)


def _read_dims(dims: Iterable[Any]) -> tuple[int | str | None, ...]:
    sizes: list[int | str | None] = []
    for dim in dims:
        which = dim.WhichOneof("value")
        sizes.append(dim.dim_value if which == "dim_value" else _text(dim.dim_param) or None if which else None)
    return tuple(sizes)


def _text(name: str | bytes) -> str:
    """A string of a protobuf object, which is bytes if it is not UTF-8."""
    return name if isinstance(name, str) else name.decode("utf-8", "replace")
