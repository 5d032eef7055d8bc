"""ONNX files to `Graph`, straight from their bytes: payloads of large tensors are skipped, equal nodes decoded once.

The same `Graph` as `reader` makes from protobuf objects (a test proves it), several times faster; rare parts (types,
typed tensor data, sparse tensors) are left to protobuf.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from math import prod

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats.onnx.names import DTYPE_NAMES
from shapeinf.formats.onnx.reader import (
    MAX_NESTING,
    domain_of,
    external_contents,
    finish_graph,
    finish_model,
    read_attribute,
    read_sparse,
    read_tensor,
    read_type,
    wants_contents,
)
from shapeinf.formats.onnx.wire import BYTES, VARINT, Buffer, DamagedError, fields, packed_varints, signed, varint
from shapeinf.graph import Declared, Graph, Node, NodeKind, subgraphs
from shapeinf.lattice import PartialTensor, Shape

_RAW_DTYPES = {
    "int64": "<i8",
    "int32": "<i4",
    "int8": "i1",
    "uint8": "u1",
    "float32": "<f4",
    "float64": "<f8",
    "bool": "?",
}
_HEAD = 256
"""Bytes of a tensor in which its dims, type and name are expected."""

_KINDS: dict[bytes, NodeKind] = {}
"""What the last bytes of nodes (operator, attributes, domain) were decoded to, in all files; kinds never change."""

_MAX_KINDS = 4096
_MAX_TAIL = 1024

_SMALL = 1 << 16
"""Messages up to this many bytes are copied before they are decoded: bytes are faster to index than a mapped file."""


def scan(buffer: Buffer, where: str, folder: str | None) -> Graph:
    """The graph of a whole model. `where` names it in messages; small external tensors are read from `folder`.

    Raises UnknownFormatError for a message without a graph, ModelError for a damaged one.
    """
    try:
        return _Scanner(buffer, folder).model(where)
    except (DamagedError, DecodeError, struct.error, RecursionError) as error:
        cause = f"is not a whole ONNX protobuf ({len(buffer)} bytes), it is cut off or damaged: {error}"
        raise ModelError(cause, node=where) from error


class _Names(dict[bytes, str]):
    """Decoded strings; each is decoded once, so equal names are one object."""

    def __missing__(self, data: bytes) -> str:
        found = self[data] = data.decode("utf-8", "replace")
        return found


class _Scanner:
    """Decodes one file; keeps what equal bytes were decoded to."""

    def __init__(self, buffer: Buffer, folder: str | None) -> None:
        self.buffer = buffer
        self.folder = folder
        self.names = _Names()
        self.kinds: dict[tuple[str, str, str, tuple[bytes, ...]], NodeKind] = {}
        self.tensors: dict[tuple[int, ...], PartialTensor] = {}
        self.types: dict[bytes, Declared | None] = {}
        self.opsets: dict[str, int] = {}
        self.external = False

    def model(self, where: str) -> Graph:
        graph_at: tuple[int, int] | None = None
        functions = []
        for number, kind, start, end in fields(self.buffer, 0, len(self.buffer)):
            if kind == BYTES and number == 7:
                if graph_at is not None:
                    raise DamagedError("it has two graphs")
                graph_at = start, end
            elif kind == BYTES and number == 8:
                self.opset(self.opsets, self.buffer[start:end])
            elif kind == BYTES and number == 25:
                functions.append((start, end))
        if graph_at is None:
            raise UnknownFormatError(f"is a protobuf without an ONNX graph ({len(self.buffer)} bytes)", node=where)
        graph = self.graph(self.buffer, *graph_at, self.opsets, 0)
        graph.external = self.external
        for start, end in functions:
            key, body = self.function(self.buffer[start:end])
            graph.functions.setdefault(key, body)
        return finish_model(graph)

    def opset(self, opsets: dict[str, int], data: bytes) -> None:
        domain, version = "", 0
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind == BYTES and number == 1:
                domain = self.names[data[start:end]]
            elif kind == VARINT and number == 2:
                version = signed(start)
        opsets[domain_of(domain)] = version

    def graph(self, buffer: Buffer, pos: int, end: int, opsets: dict[str, int], depth: int) -> Graph:
        """A GraphProto."""
        if depth > MAX_NESTING:
            raise LimitError(f"subgraphs nest deeper than {MAX_NESTING}")
        graph = Graph(dialect="onnx", opsets=opsets)
        inputs: list[tuple[str, Declared | None]] = []
        outputs: list[tuple[str, Declared | None]] = []
        values: list[tuple[str, Declared | None]] = []
        tables = {11: inputs, 12: outputs, 13: values}
        pos = self.run_of_nodes(buffer, pos, end, graph.nodes, opsets, depth)
        for number, kind, start, stop in fields(buffer, pos, end):
            if kind != BYTES:
                continue
            if number == 1:
                graph.nodes.append(self.node(buffer[start:stop], opsets, depth))
            elif number == 5:
                self.initializer(graph, buffer, start, stop)
            elif number in tables:
                tables[number].append(self.value(buffer[start:stop]))
            elif number == 2:
                graph.name = self.names[buffer[start:stop]]
            elif number == 15:
                name, tensor = read_sparse(onnx.SparseTensorProto.FromString(buffer[start:stop]))
                graph.constants[name] = tensor
        graph.inputs = [name for name, _ in inputs]
        graph.outputs = [name for name, _ in outputs]
        return finish_graph(graph, (*inputs, *values, *outputs))

    def run_of_nodes(
        self, buffer: Buffer, pos: int, end: int, nodes: list[Node], opsets: dict[str, int], depth: int
    ) -> int:
        """Consecutive NodeProtos from `pos` on, until another field comes; where it stopped.

        The hot loop of loading. Writers put inputs, outputs and name first; the bytes that follow (operator,
        attributes, domain) are equal for equal nodes, so they are decoded once and found again as a whole.
        """
        names, tails, new, kind_of = self.names, _KINDS, tuple.__new__, Node
        while pos < end and buffer[pos] == 0x0A:
            size = buffer[pos + 1]
            pos += 2
            if size > 127:
                size, pos = varint(buffer, pos - 1)
            data = buffer[pos : pos + size]
            pos += size
            inputs: list[str] = []
            outputs: list[str] = []
            name = ""
            at = 0
            try:
                while True:
                    tag = data[at]
                    if tag == 0x22:
                        kind = tails.get(data[at:])
                        break
                    size = data[at + 1]
                    if size > 127:
                        size, stop = varint(data, at + 1)
                        at = stop - 2
                    stop = at + 2 + size
                    piece = data[at + 2 : stop]
                    at = stop
                    if tag == 0x0A:
                        inputs.append(names[piece])
                    elif tag == 0x12:
                        text = names[piece] = piece.decode("utf-8", "replace")
                        outputs.append(text)
                    elif tag == 0x1A:
                        name = piece.decode("utf-8", "replace")
                    else:
                        kind = None
                        break
            except IndexError:
                kind = None
            if kind is None:
                nodes.append(self.node(data, opsets, depth))
            else:
                nodes.append(new(kind_of, (kind, tuple(inputs), tuple(outputs), name)))
        return pos

    def node(self, data: bytes, opsets: dict[str, int], depth: int) -> Node:
        """Any NodeProto, field by field."""
        strings: dict[int, list[str]] = {1: [], 2: [], 3: [], 4: [], 7: [], 8: []}
        attributes: list[bytes] = []
        tail = len(data)
        before = 0
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind == BYTES and number in strings:
                strings[number].append(self.names[data[start:end]])
                tail = before if number == 4 else tail if number > 4 else len(data)
            elif kind == BYTES and number == 5:
                attributes.append(data[start:end])
            before = end
        op, domain, overload = ("".join(strings[number][-1:]) for number in (4, 7, 8))
        found, shared = self.kind((op, domain_of(domain), overload, tuple(attributes)), opsets, depth)
        if shared and 0 < len(data) - tail <= _MAX_TAIL:
            if len(_KINDS) >= _MAX_KINDS:
                _KINDS.clear()
            _KINDS[data[tail:]] = found
        return Node(found, tuple(strings[1]), tuple(strings[2]), "".join(strings[3][-1:]))

    def kind(
        self, key: tuple[str, str, str, tuple[bytes, ...]], opsets: dict[str, int], depth: int
    ) -> tuple[NodeKind, bool]:
        """Operator and decoded attributes, and whether nodes may share them: two subgraphs are two, however equal."""
        if key in self.kinds:
            return self.kinds[key], True
        op, domain, overload, attributes = key
        values: dict[str, object] = {}
        references: dict[str, str] = {}
        for data in attributes:
            name, value, reference = self.attribute(data, opsets, depth)
            if reference:
                references[name] = reference
            else:
                values[name] = value
        found = NodeKind(op, domain, values, overload, references)
        shared = not any(True for _ in subgraphs(found))
        if shared:
            self.kinds[key] = found
        return found, shared

    def attribute(self, data: bytes, opsets: dict[str, int], depth: int) -> tuple[str, object, str]:
        """An AttributeProto: name, value, and the attribute of the function that it refers to."""
        small = _small_attribute(data, self.names)
        if small is not None:
            return small
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind == BYTES and number == 6:
                return self.names[_name_of(data)], self.graph(data, start, end, opsets, depth + 1), ""
            if kind == BYTES and number == 5:
                return self.names[_name_of(data)], self.tensor(data, start, end)[0], ""
        proto = onnx.AttributeProto.FromString(data)
        if proto.graphs:
            graphs = tuple(self.proto_graph(g, opsets, depth + 1) for g in proto.graphs)
            return proto.name, graphs, ""
        return proto.name, read_attribute(proto, opsets, depth), proto.ref_attr_name

    def proto_graph(self, proto: onnx.GraphProto, opsets: dict[str, int], depth: int) -> Graph:
        data = proto.SerializeToString()
        return self.graph(data, 0, len(data), opsets, depth)

    def initializer(self, graph: Graph, buffer: Buffer, start: int, end: int) -> None:
        """A TensorProto among the constants of a graph."""
        name, tensor, external = self.header(buffer[start : min(end, start + _HEAD)])
        if tensor is None or wants_contents(tensor.dtype, tensor.shape.dims):
            if end - start <= _SMALL:
                buffer, start, end = buffer[start:end], 0, end - start
            tensor, load, name = self.tensor(buffer, start, end)
            if load is not None:
                graph.unread[name] = load
        self.external |= external
        graph.constants[name] = tensor

    def header(self, head: bytes) -> tuple[str, PartialTensor | None, bool]:
        """Name, dtype and shape of a TensorProto with its fields in the usual order, and whether its data are external.

        No tensor where these do not fit into the head.
        """
        dims: list[int] = []
        number_of_type = pos = 0
        try:
            while True:
                tag, value = head[pos], head[pos + 1]
                pos += 2
                if value > 127:
                    value, pos = varint(head, pos - 1)
                if tag == 0x08:
                    dims.append(value)
                elif tag == 0x10:
                    number_of_type = value
                elif tag == 0x42:
                    break
                else:
                    return "", None, False
        except (IndexError, DamagedError):
            return "", None, False
        if pos + value >= len(head) or any(d >> 63 for d in dims):
            return "", None, False
        name = head[pos : pos + value].decode("utf-8", "replace")
        external = head[pos + value] in (0x6A, 0x70)
        key = (number_of_type, *dims)
        found = self.tensors.get(key)
        if found is None:
            found = self.tensors[key] = PartialTensor(DTYPE_NAMES.get(number_of_type), Shape(dims), None)
        return name, found, external

    def tensor(
        self, buffer: Buffer, pos: int, end: int
    ) -> tuple[PartialTensor, Callable[[], PartialTensor] | None, str]:
        """A TensorProto without its payload if that is large; for one in another file, how to read it; its name."""
        dims: list[int] = []
        number_of_type, external = 0, False
        name = ""
        payload: tuple[int, int, int] | None = None
        for number, kind, start, stop in fields(buffer, pos, end):
            if number == 1:
                dims += [signed(start)] if kind == VARINT else packed_varints(buffer[start:stop])
            elif number == 2 and kind == VARINT:
                number_of_type = start
            elif number == 8 and kind == BYTES:
                name = self.names[buffer[start:stop]]
            elif number in (4, 5, 7, 9) and kind == BYTES:
                payload = number, start, stop
            elif number == 14:
                external = start == onnx.TensorProto.EXTERNAL
        self.external |= external
        dtype = DTYPE_NAMES.get(number_of_type)
        if any(d < 0 for d in dims):
            raise ModelError(f"a tensor has the negative dims {dims}", node=name)
        if not wants_contents(dtype, dims):
            return PartialTensor(dtype, Shape(dims), None), None, name
        if external:
            whole, folder = buffer[pos:end], self.folder
            return PartialTensor(dtype, Shape(dims), None), lambda: external_contents(whole, folder), name
        if payload is not None:
            elements = _decoded(dtype, payload[0], buffer[payload[1] : payload[2]])
            if elements is not None and len(elements) == prod(dims):
                return PartialTensor(dtype, Shape(dims), elements), None, name
        return read_tensor(onnx.TensorProto.FromString(buffer[pos:end])), None, name

    def value(self, data: bytes) -> tuple[str, Declared | None]:
        """A ValueInfoProto: name and declared type."""
        name, declared = "", None
        for number, kind, start, end in fields(data, 0, len(data)):
            if number == 1 and kind == BYTES:
                name = self.names[data[start:end]]
            elif number == 2 and kind == BYTES:
                declared = self.type(data[start:end])
        return name, declared

    def type(self, data: bytes) -> Declared | None:
        """A TypeProto."""
        if data not in self.types:
            self.types[data] = read_type(onnx.TypeProto.FromString(data))
        return self.types[data]

    def function(self, data: bytes) -> tuple[tuple[str, str, str], Graph]:
        """A FunctionProto: its key and its body."""
        body = Graph(dialect="onnx")
        domain = overload = ""
        nodes = []
        values: list[tuple[str, Declared | None]] = []
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind != BYTES:
                continue
            piece = data[start:end]
            if number == 1:
                body.name = self.names[piece]
            elif number == 4:
                body.inputs.append(self.names[piece])
            elif number == 5:
                body.outputs.append(self.names[piece])
            elif number == 7:
                nodes.append(piece)
            elif number == 9:
                self.opset(body.opsets, piece)
            elif number == 10:
                domain = self.names[piece]
            elif number == 11:
                name, value, _ = self.attribute(piece, body.opsets, 0)
                body.defaults[name] = value
            elif number == 12:
                values.append(self.value(piece))
            elif number == 13:
                overload = self.names[piece]
        body.nodes = [self.node(piece, body.opsets, 0) for piece in nodes]
        return (domain_of(domain), body.name, overload), finish_graph(body, values)


def _name_of(data: bytes) -> bytes:
    return next((data[start:end] for number, kind, start, end in fields(data, 0, len(data)) if number == 1), b"")


def _small_attribute(data: bytes, names: Mapping[bytes, str]) -> tuple[str, object, str] | None:
    """An attribute that holds an int, a float, a string or ints; None for any other, and for references."""
    name, value, kind_of = "", None, 0
    single: dict[int, object] = {}
    ints: list[int] = []
    for number, kind, start, end in fields(data, 0, len(data)):
        if number == 1:
            name = names[data[start:end]]
        elif number == 20:
            kind_of = start
        elif number == 3:
            single[2] = signed(start)
        elif number == 2:
            single[1] = struct.unpack("<f", data[start:end])[0]
        elif number == 4:
            single[3] = data[start:end].decode("utf-8", "replace")
        elif number == 8:
            ints += [signed(start)] if kind == VARINT else packed_varints(data[start:end])
        elif number != 13:
            return None
    if kind_of in (1, 2, 3):
        value = single.get(kind_of, (None, 0.0, 0, "")[kind_of])
    elif kind_of == 7:
        value = tuple(ints)
    else:
        return None
    return name, value, ""


def _decoded(dtype: str | None, number: int, data: bytes) -> list[int] | list[float] | None:
    """The elements in a payload field of the plain kinds; None for any other, which are left to protobuf."""
    code = _RAW_DTYPES.get(dtype or "")
    if number == 9:
        known = code is not None and len(data) % np.dtype(code).itemsize == 0
        return np.frombuffer(data, code).tolist() if known else None
    if number == 4 and dtype == "float32" and len(data) % 4 == 0:
        return np.frombuffer(data, "<f4").tolist()
    if (number == 7 and dtype == "int64") or (number == 5 and dtype in ("int32", "int16", "int8", "uint16", "uint8")):
        return packed_varints(data)
    return None
