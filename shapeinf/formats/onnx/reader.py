"""ONNX protobufs to `Graph`. No shape rule in here; payloads of large tensors are never decoded."""

from __future__ import annotations

import os
from collections.abc import Iterable
from math import prod
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats.onnx.names import DTYPE_NAMES
from shapeinf.graph import Declared, Graph, Node
from shapeinf.graph.model import Kind
from shapeinf.lattice import MAX_ELEMENTS, PartialTensor, Shape

MAX_NESTING = 32
_DEFAULT_DOMAIN = "ai.onnx"


def read(model: str | os.PathLike[str] | bytes | onnx.ModelProto | Any) -> Graph:
    """Read a path, bytes, a `ModelProto` or an `onnx_ir.Model`.

    Raises UnknownFormatError for what is no ONNX file, ModelError for a file that is cut off or malformed.
    """
    if isinstance(model, onnx.ModelProto):
        return _graph_of(model, None)
    if isinstance(model, bytes):
        return _graph_of(_parse(model, "the given bytes"), None)
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        return _graph_of(_parse(_bytes_of(path), path), path)
    if type(model).__module__.startswith("onnx_ir"):
        import onnx_ir

        return _graph_of(onnx_ir.to_proto(model), None)
    raise UnknownFormatError(f"a {type(model).__name__} is no model that shapeinf can read")


def _bytes_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", node=path) from error


def _parse(data: bytes, where: str) -> onnx.ModelProto:
    if not data:
        raise UnknownFormatError("is empty (0 bytes)", node=where)
    if _is_text(data):
        raise UnknownFormatError(f"is a text file, not an ONNX protobuf; it starts with {data[:24]!r}", node=where)
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as error:
        cause = f"is not a whole ONNX protobuf ({len(data)} bytes): it is cut off or damaged"
        raise ModelError(cause, node=where) from error
    if not model.HasField("graph"):
        raise UnknownFormatError(f"is a protobuf without an ONNX graph ({len(data)} bytes)", node=where)
    return model


def _is_text(data: bytes) -> bool:
    head = data[:256]
    return b"\0" not in head and all(32 <= byte < 127 or byte in b"\t\r\n" for byte in head)


def _graph_of(model: onnx.ModelProto, path: str | None) -> Graph:
    opsets = {_domain(entry.domain): entry.version for entry in model.opset_import}
    graph = _read_graph(model.graph, opsets, 0)
    graph.source = path
    graph.model = model
    _check_domains(graph)
    return graph


def _domain(name: str) -> str:
    return "" if name == _DEFAULT_DOMAIN else name


def _check_domains(graph: Graph) -> None:
    for node in graph.nodes:
        if node.domain not in graph.opsets:
            shown = node.domain or _DEFAULT_DOMAIN
            raise ModelError(f"the model imports no opset for the domain {shown!r} of {node.op}", node=node.name)


def _read_graph(proto: onnx.GraphProto, opsets: dict[str, int], depth: int) -> Graph:
    if depth > MAX_NESTING:
        raise LimitError(f"subgraphs nest deeper than {MAX_NESTING}", node=proto.name)
    graph = Graph(name=proto.name, dialect="onnx", opsets=opsets)
    for initializer in proto.initializer:
        graph.constants[initializer.name] = read_tensor(initializer)
    for sparse in proto.sparse_initializer:
        dtype = DTYPE_NAMES.get(sparse.values.data_type)
        graph.constants[sparse.values.name] = PartialTensor(dtype, Shape(sparse.dims), None)
    for value in (*proto.input, *proto.value_info, *proto.output):
        declared = read_type(value.type)
        if declared is not None:
            graph.declared.setdefault(value.name, declared)
    graph.inputs = [value.name for value in proto.input]
    graph.outputs = [value.name for value in proto.output]
    graph.nodes = [_read_node(node, opsets, depth) for node in proto.node]
    _check_initializers(graph)
    return graph


def _check_initializers(graph: Graph) -> None:
    for name in graph.inputs:
        constant, declared = graph.constants.get(name), graph.declared.get(name)
        if constant is None or declared is None or declared.dims is None:
            continue
        dims = constant.shape.require()
        same = len(dims) == len(declared.dims) and all(
            not isinstance(d, int) or d == c for d, c in zip(declared.dims, dims, strict=True)
        )
        if not same:
            raise ModelError(
                f"the initializer has shape {list(dims)} but the input declares {list(declared.dims)}", node=name
            )


def _read_node(proto: onnx.NodeProto, opsets: dict[str, int], depth: int) -> Node:
    attributes = {a.name: _read_attribute(a, opsets, depth) for a in proto.attribute if not a.ref_attr_name}
    return Node(proto.op_type, tuple(proto.input), tuple(proto.output), attributes, proto.name, _domain(proto.domain))


def _read_attribute(a: onnx.AttributeProto, opsets: dict[str, int], depth: int) -> object:
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
        return read_tensor(a.t)
    if a.type == kinds.GRAPH:
        return _read_graph(a.g, opsets, depth + 1)
    if a.type == kinds.GRAPHS:
        return tuple(_read_graph(g, opsets, depth + 1) for g in a.graphs)
    if a.type == kinds.SPARSE_TENSOR:
        return PartialTensor(DTYPE_NAMES.get(a.sparse_tensor.values.data_type), Shape(a.sparse_tensor.dims), None)
    if a.type == kinds.TYPE_PROTO:
        return read_type(a.tp)
    return None


def read_tensor(proto: onnx.TensorProto) -> PartialTensor:
    """A tensor's dtype and shape, with the contents of small ones; external data are not opened."""
    dims = tuple(proto.dims)
    if any(d < 0 for d in dims):
        raise ModelError(f"a tensor has the negative dims {list(dims)}", node=proto.name)
    dtype = DTYPE_NAMES.get(proto.data_type)
    external = proto.data_location == onnx.TensorProto.EXTERNAL
    if external or dtype is None or prod(dims) > MAX_ELEMENTS:
        return PartialTensor(dtype, Shape(dims), None)
    try:
        array = onnx.numpy_helper.to_array(proto)
    except (ValueError, TypeError) as error:
        raise ModelError(f"the tensor's data do not fit its shape {list(dims)}: {error}", node=proto.name) from error
    elements = PartialTensor.from_array(array).elements
    if dtype == "string" and elements is not None:
        elements = tuple(e.decode("utf-8", "replace") if isinstance(e, bytes) else e for e in elements)
    return PartialTensor(dtype, Shape(dims), elements)


def read_type(proto: onnx.TypeProto) -> Declared | None:
    """A declared type, None when nothing is declared."""
    kind: Kind = "tensor"
    while (which := proto.WhichOneof("value")) in ("sequence_type", "optional_type"):
        if kind == "tensor":
            kind = "sequence" if which == "sequence_type" else "optional"
        proto = getattr(proto, which or "").elem_type
    if which == "map_type":
        return Declared(DTYPE_NAMES.get(proto.map_type.key_type), None, "map")
    if which not in ("tensor_type", "sparse_tensor_type"):
        return None if kind == "tensor" else Declared(None, None, kind)
    tensor = getattr(proto, which)
    dims = _read_dims(tensor.shape.dim) if tensor.HasField("shape") else None
    return Declared(DTYPE_NAMES.get(tensor.elem_type), dims, kind)


def _read_dims(dims: Iterable[Any]) -> tuple[int | str | None, ...]:
    found: list[int | str | None] = []
    for dim in dims:
        which = dim.WhichOneof("value")
        found.append(dim.dim_value if which == "dim_value" else dim.dim_param or None if which else None)
    return tuple(found)
