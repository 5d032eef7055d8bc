"""ONNX protobuf objects to `Graph`, and the parts of that which the scanner of files shares. No shape rule in here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.files import is_path
from shapeinf.formats.ranges import LaterRange, range_in_file, read_now, wants_range
from shapeinf.graph import DeclaredType, FunctionKey, Graph, Node, NodeKind, NodeTable
from shapeinf.graph.model import Kind
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.lattice.dtypes import ONNX_NAMES

MAX_NESTING = 32

MAX_PIECE = 1 << 20
"""Bytes of a small tensor in another file: those whose contents are needed have few elements."""

_DEFAULT_DOMAIN = "ai.onnx"

ASSUMPTIONS = "shapeinf.assumptions"
"""The metadata key of the assumptions about the dims of a model, one a line."""


def read_model(model: onnx.ModelProto, folder: str | None = None) -> Graph:
    """The graph of a model; small external tensors are read from `folder`.

    Raises UnknownFormatError for a model without a graph.
    """
    if not model.HasField("graph"):
        raise UnknownFormatError("the model has no graph")
    opsets = {domain_of(entry.domain): entry.version for entry in model.opset_import}
    graph = read_graph(model.graph, opsets, 0, folder)
    for function in model.functions:
        key, body = read_function(function)
        graph.functions.setdefault(key, body)
    for entry in model.metadata_props:
        add_assumptions(graph, _text(entry.key), _text(entry.value))
    add_origin(graph, _text(model.producer_name), _text(model.producer_version), model.ir_version)
    graph.model = model
    graph.external = any(_is_external(t) for t in model.graph.initializer)
    return finish_model(graph)


def add_assumptions(graph: Graph, key: str, value: str) -> None:
    """Enter a metadata property of the model, if it is the one that holds relations of its dims."""
    if key == ASSUMPTIONS:
        graph.assumptions += [line for line in value.splitlines() if line.strip()]


def add_origin(graph: Graph, producer: str, version: str, ir_version: int) -> None:
    """Enter what the model says of its producer and of the version of its format."""
    graph.producer = " ".join(filter(None, (producer, version)))
    graph.file_version = f"IR version {ir_version}" if ir_version else ""


def domain_of(name: str) -> str:
    """The domain as shapeinf writes it: empty for ONNX's own."""
    return "" if name == _DEFAULT_DOMAIN else name


def finish_model(graph: Graph) -> Graph:
    """Check the opsets of a complete model. Raises ModelError for a domain without an opset."""
    kinds = graph.nodes.kinds() if isinstance(graph.nodes, NodeTable) else {node.kind for node in graph.nodes}
    for kind in kinds:
        if kind.domain not in graph.opsets:
            domain = kind.domain or _DEFAULT_DOMAIN
            name = next(node.name for node in graph.nodes if node.kind is kind)
            raise ModelError(f"the model imports no opset for the domain {domain!r} of {kind.op}", node=name)
    return graph


def read_graph(proto: onnx.GraphProto, opsets: dict[str, int], depth: int = 0, folder: str | None = None) -> Graph:
    """A GraphProto."""
    if depth > MAX_NESTING:
        raise LimitError(f"subgraphs nest deeper than {MAX_NESTING}", node=proto.name)
    graph = Graph(name=proto.name, dialect="onnx", opsets=opsets)
    for initializer in proto.initializer:
        graph.constants[initializer.name] = read_tensor(initializer)
        later = _deferred_contents(initializer, folder)
        if later is not None:
            graph.unread[initializer.name] = later
    for sparse in proto.sparse_initializer:
        name, tensor = read_sparse(sparse)
        graph.constants[name] = tensor
    graph.inputs = [value.name for value in proto.input]
    graph.outputs = [value.name for value in proto.output]
    graph.nodes = [_read_node(node, opsets, depth) for node in proto.node]
    return finish_graph(graph, ((v.name, read_type(v.type)) for v in (*proto.input, *proto.value_info, *proto.output)))


def finish_graph(graph: Graph, declared: Iterable[tuple[str, DeclaredType | None]]) -> Graph:
    """Enter the declarations (the first of a name counts) and check initializers against the inputs they shadow.

    An initializer without a name has no consumers; an input without one is an error.
    """
    graph.constants.pop("", None)
    graph.unread.pop("", None)
    if "" in graph.inputs:
        raise ModelError("an input of the graph has no name", node=graph.name)
    table = graph.declared
    for name, declaration in declared:
        if declaration is not None:
            table.setdefault(name, declaration)
    for name in graph.inputs:
        if name in graph.constants and name in table:
            _check_initializer(name, graph.constants[name], table[name])
    return graph


def _check_initializer(name: str, constant: PartialTensor, declared: DeclaredType) -> None:
    if declared.dims is None:
        return
    dims = constant.shape.require()
    same = len(dims) == len(declared.dims) and all(
        not isinstance(d, int) or d == c for d, c in zip(declared.dims, dims, strict=True)
    )
    if not same:
        message = f"the initializer has shape {list(dims)} but the input declares {list(declared.dims)}"
        raise ModelError(message, node=name)


def _read_node(proto: onnx.NodeProto, opsets: dict[str, int], depth: int) -> Node:
    values = {a.name: read_attribute(a, opsets, depth) for a in proto.attribute if not a.ref_attr_name}
    references = {a.name: a.ref_attr_name for a in proto.attribute if a.ref_attr_name}
    kind = NodeKind(proto.op_type, domain_of(proto.domain), values, proto.overload, references)
    return Node(kind, tuple(proto.input), tuple(proto.output), proto.name)


def read_function(proto: onnx.FunctionProto) -> tuple[FunctionKey, Graph]:
    """A FunctionProto: its key and its body."""
    opsets = {domain_of(entry.domain): entry.version for entry in proto.opset_import}
    body = Graph(proto.name, "onnx", opsets, list(proto.input), list(proto.output))
    body.nodes = [_read_node(node, opsets, 0) for node in proto.node]
    body.defaults = {a.name: read_attribute(a, opsets, 0) for a in proto.attribute_proto}
    key = domain_of(proto.domain), proto.name, proto.overload
    return key, finish_graph(body, ((v.name, read_type(v.type)) for v in proto.value_info))


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
        return read_now(read_tensor(a.t), _deferred_contents(a.t, None))
    if a.type == kinds.GRAPH:
        return read_graph(a.g, opsets, depth + 1)
    if a.type == kinds.GRAPHS:
        return tuple(read_graph(g, opsets, depth + 1) for g in a.graphs)
    if a.type == kinds.SPARSE_TENSOR:
        return read_sparse(a.sparse_tensor)[1]
    if a.type == kinds.TYPE_PROTO:
        return read_type(a.tp)
    return None


def _is_external(proto: onnx.TensorProto) -> bool:
    return proto.data_location == onnx.TensorProto.EXTERNAL


def read_tensor(proto: onnx.TensorProto) -> PartialTensor:
    """A tensor's dtype and shape, with the contents of small ones; external data are not opened."""
    dims = tuple(proto.dims)
    if any(d < 0 for d in dims):
        raise ModelError(f"a tensor has the negative dims {list(dims)}", node=proto.name)
    dtype = ONNX_NAMES.get(proto.data_type)
    if _is_external(proto) or not wants_contents(dtype, dims):
        return PartialTensor(dtype, Shape(dims), None)
    return _with_contents(proto, dtype, dims)


def _with_contents(proto: onnx.TensorProto, dtype: str | None, dims: Sequence[int]) -> PartialTensor:
    try:
        array = onnx.numpy_helper.to_array(proto)
    except (ValueError, TypeError) as error:
        raise ModelError(f"the tensor's data do not fit its shape {list(dims)}: {error}", node=proto.name) from error
    elements = PartialTensor.from_array(array).elements
    if dtype == "string" and elements is not None:
        elements = tuple(e.decode("utf-8", "replace") if isinstance(e, bytes) else e for e in elements)
    return PartialTensor(dtype, Shape(dims), elements)


def _deferred_contents(proto: onnx.TensorProto, folder: str | None) -> Callable[[], PartialTensor] | None:
    """A function that reads external contents or a range, for tensors whose contents `read_tensor` does not have."""
    dtype = ONNX_NAMES.get(proto.data_type)
    if _is_external(proto):
        wanted = wants_contents(dtype, proto.dims) or wants_range(dtype, proto.dims)
        return (lambda: external_contents(proto.SerializeToString(), folder)) if wanted else None
    if dtype is None or not proto.HasField("raw_data") or not wants_range(dtype, proto.dims):
        return None
    return LaterRange(dtype, proto.dims, proto.raw_data, 0, len(proto.raw_data))


def external_contents(data: bytes, folder: str | None) -> PartialTensor:
    """A tensor whose payload lies in another file of the model's folder: a small one, or the range of a large one.

    Its contents stay unknown without a folder or the file. Raises ModelError for a path that leaves the folder, and for
    what is no tensor.
    """
    try:
        proto = onnx.TensorProto.FromString(data)
    except DecodeError as error:
        raise ModelError(f"a tensor whose data lie in another file cannot be read: {error}") from error
    dtype, dims = ONNX_NAMES.get(proto.data_type), tuple(proto.dims)
    entries = {entry.key: entry.value for entry in proto.external_data}
    path = path_inside(folder, entries.get("location", ""), proto.name)
    if path is None:
        return PartialTensor(dtype, Shape(dims), None)
    offset, length = entries.get("offset"), entries.get("length")
    if dtype is not None and not wants_contents(dtype, dims):
        return range_in_file(dtype, dims, path, offset, length)
    small = onnx.TensorProto(name=proto.name, dims=dims, data_type=proto.data_type)
    small.raw_data = _piece(path, offset, length, proto.name)
    return _with_contents(small, dtype, dims)


def path_inside(folder: str | None, location: str, name: str) -> str | None:
    """The path of a file with data of a model in this folder; None where there is none.

    Raises ModelError for a path that leaves the folder, also by a symbolic link, and for what is no path.
    """
    if folder is None or not location:
        return None
    if not is_path(location):
        raise ModelError(f"the location of its data is not a path: {location!r}", node=name)
    root = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(root, location))
    if os.path.commonpath((root, path)) != root:
        raise ModelError(f"its data lie outside the model's folder: {location!r}", node=name)
    return path if os.path.isfile(path) else None


def _piece(path: str, offset: str | None, length: str | None, name: str) -> bytes:
    """The bytes of a small tensor in a file of data."""
    try:
        start, count = int(offset or 0), None if length is None else int(length)
        size = os.path.getsize(path)
        count = size - start if count is None else count
        if start < 0 or count < 0 or start + count > size or count > MAX_PIECE:
            raise ModelError(f"its data are {count} bytes from {start} on, in a file of {size} bytes", node=name)
        with open(path, "rb") as file:
            file.seek(start)
            return file.read(count)
    except ValueError as error:
        raise ModelError(f"the position of its data is not a number: {offset!r}, {length!r}", node=name) from error
    except OSError as error:
        raise ModelError(f"its data cannot be read: {error.strerror}", node=name) from error


def read_sparse(proto: onnx.SparseTensorProto) -> tuple[str, PartialTensor]:
    """A sparse tensor: name, dtype and shape."""
    return proto.values.name, PartialTensor(ONNX_NAMES.get(proto.values.data_type), Shape(proto.dims), None)


_CONTAINERS: dict[str, Kind] = {"sequence_type": "sequence", "optional_type": "optional"}


def read_type(proto: onnx.TypeProto, depth: int = 0) -> DeclaredType | None:
    """A declared type, None when nothing is declared."""
    which = proto.WhichOneof("value")
    if depth > MAX_NESTING:
        raise LimitError(f"types nest deeper than {MAX_NESTING}")
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
    """A string of a protobuf object; one that is no UTF-8 comes as bytes."""
    return name if isinstance(name, str) else name.decode("utf-8", "replace")
