"""ONNX files to `Graph`, straight from their bytes: payloads of large tensors are skipped, equal nodes decoded once.

The same `Graph` as `reader` builds from protobuf objects (a test proves it), several times faster; rare parts (types,
typed tensor data, sparse tensors) are left to protobuf.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import onnx
from google.protobuf.message import DecodeError

from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats.onnx.reader import (
    MAX_NESTING,
    add_assumptions,
    add_origin,
    domain_of,
    finish_graph,
    finish_model,
    read_attribute,
    read_sparse,
    read_type,
)
from shapeinf.formats.onnx.tensors import TensorScanner
from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, DamagedError, decode_packed, fields, to_signed, varint
from shapeinf.formats.ranges import read_now
from shapeinf.graph import DeclaredType, Graph, NodeKind, NodeTable, row_key, subgraphs

_KINDS: dict[bytes, NodeKind] = {}
"""Node kinds by the last bytes of nodes (operator, attributes, domain), in all files; kinds never change."""

_MAX_KINDS = 4096
_MAX_TAIL = 1024


def scan(buffer: Buffer, where: str, folder: str | None) -> Graph:
    """The graph of a model. `where` names it in messages; small external tensors are read from `folder`.

    Raises UnknownFormatError for a message without a graph, ModelError for a damaged one.
    """
    try:
        return _Scanner(buffer, folder, where).model(where)
    except (DamagedError, DecodeError, IndexError, struct.error, RecursionError) as error:
        damage = f"is not a complete ONNX protobuf ({len(buffer)} bytes), it is cut off or damaged: {error}"
        cause = f"{damage}; download or export it again"
        raise ModelError(cause, node=where) from error


class _Names(dict[bytes, str]):
    """Decoded strings; each is decoded once, so equal names are one object."""

    def __missing__(self, data: bytes) -> str:
        name = self[data] = data.decode("utf-8", "replace")
        return name


class _Scanner:
    """Decodes one file; equal bytes are decoded once."""

    def __init__(self, buffer: Buffer, folder: str | None, where: str) -> None:
        self.buffer = buffer
        self.names = _Names()
        self.kinds: dict[tuple[str, str, str, tuple[bytes, ...]], NodeKind] = {}
        self.tensors = TensorScanner(folder, where)
        self.types: dict[bytes, DeclaredType | None] = {}
        self.opsets: dict[str, int] = {}

    def model(self, where: str) -> Graph:
        graph_at: tuple[int, int] | None = None
        functions = []
        properties = []
        producer, producer_version = "", ""
        ir_version = 0
        for number, kind, start, end in fields(self.buffer, 0, len(self.buffer)):
            if kind == BYTES and number == 7:
                if graph_at is not None:
                    raise DamagedError("it has two graphs")
                graph_at = start, end
            elif kind == BYTES and number == 8:
                self.opset(self.opsets, self.buffer[start:end])
            elif kind == BYTES and number == 2:
                producer = self.names[self.buffer[start:end]]
            elif kind == BYTES and number == 3:
                producer_version = self.names[self.buffer[start:end]]
            elif kind == VARINT and number == 1:
                ir_version = to_signed(start)
            elif kind == BYTES and number == 14:
                properties.append((start, end))
            elif kind == BYTES and number == 25:
                functions.append((start, end))
        if graph_at is None:
            raise UnknownFormatError(f"is a protobuf without an ONNX graph ({len(self.buffer)} bytes)", node=where)
        graph = self.graph(self.buffer, *graph_at, self.opsets, 0)
        graph.external = self.tensors.external
        add_origin(graph, producer, producer_version, ir_version)
        for start, end in functions:
            key, body = self.function(self.buffer[start:end])
            graph.functions.setdefault(key, body)
        for start, end in properties:
            add_assumptions(graph, *self.property(self.buffer[start:end]))
        return finish_model(graph)

    def property(self, data: bytes) -> tuple[str, str]:
        """The key and value of a metadata property."""
        entry = {1: b"", 2: b""}
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind == BYTES and number in entry:
                entry[number] = data[start:end]
        return entry[1].decode("utf-8", "replace"), entry[2].decode("utf-8", "replace")

    def opset(self, opsets: dict[str, int], data: bytes) -> None:
        domain, version = "", 0
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind == BYTES and number == 1:
                domain = self.names[data[start:end]]
            elif kind == VARINT and number == 2:
                version = to_signed(start)
        opsets[domain_of(domain)] = version

    def graph(self, buffer: Buffer, pos: int, end: int, opsets: dict[str, int], depth: int) -> Graph:
        """A GraphProto."""
        if depth > MAX_NESTING:
            raise LimitError(f"subgraphs nest deeper than {MAX_NESTING}")
        graph = Graph(dialect="onnx", opsets=opsets)
        inputs: list[tuple[str, DeclaredType | None]] = []
        outputs: list[tuple[str, DeclaredType | None]] = []
        values: list[tuple[str, DeclaredType | None]] = []
        tables = {11: inputs, 12: outputs, 13: values}
        graph.nodes = nodes = NodeTable()
        pos = self.run_of_nodes(buffer, pos, end, nodes, opsets, depth)
        for number, kind, start, stop in fields(buffer, pos, end):
            if kind != BYTES:
                continue
            if number == 1:
                self.node(buffer[start:stop], nodes, opsets, depth)
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
        self, buffer: Buffer, pos: int, end: int, nodes: NodeTable, opsets: dict[str, int], depth: int
    ) -> int:
        """Consecutive NodeProtos from `pos` on, until another field comes; where it stopped.

        The hot loop of loading. Writers put inputs, outputs and name first; the bytes that follow (operator,
        attributes, domain) are equal for equal nodes, so they are decoded once and looked up together. The three
        loops are alike and stay written out: a call a field would double the time.
        """
        tails, numbers, values, rows = _KINDS, nodes.numbers, nodes.values, nodes.rows
        number_of = numbers.__getitem__
        while pos < end and buffer[pos] == 0x0A:
            size = buffer[pos + 1]
            pos += 2
            if size > 127:
                size, pos = varint(buffer, pos - 1)
            data = buffer[pos : pos + size]
            pos += size
            if pos > end:
                raise DamagedError("a node ends after its graph")
            kind = None
            inputs: list[bytes] = []
            outputs: list[bytes] = []
            name = b""
            at = 0
            try:
                tag = data[0]
                while tag == 0x0A:
                    size = data[at + 1]
                    at += 2
                    if size > 127:
                        size, at = varint(data, at - 1)
                    stop = at + size
                    inputs.append(data[at:stop])
                    at = stop
                    tag = data[at]
                while tag == 0x12:
                    size = data[at + 1]
                    at += 2
                    if size > 127:
                        size, at = varint(data, at - 1)
                    stop = at + size
                    outputs.append(data[at:stop])
                    at = stop
                    tag = data[at]
                if tag == 0x1A:
                    size = data[at + 1]
                    at += 2
                    if size > 127:
                        size, at = varint(data, at - 1)
                    stop = at + size
                    name = data[at:stop]
                    at = stop
                kind = tails.get(data[at:])
            except IndexError:
                pass
            if kind is None:
                self.node(data, nodes, opsets, depth)
                continue
            try:
                read = tuple(map(number_of, inputs))
            except KeyError:  # read before its producer, or omitted
                read = tuple(map(nodes.input, inputs))
            output = outputs[0] if len(outputs) == 1 else b""
            if output and output not in numbers:
                number = numbers[output] = len(values)
                values.append(output.decode("utf-8", "replace"))
                rows.append((kind, read, (number,), name.decode("utf-8", "replace")))
            else:
                written = tuple(map(nodes.output, outputs))
                rows.append((row_key(kind, written), read, written, name.decode("utf-8", "replace")))
        return pos

    def node(self, data: bytes, nodes: NodeTable, opsets: dict[str, int], depth: int) -> None:
        """Any NodeProto, field by field."""
        strings: dict[int, list[bytes]] = {1: [], 2: [], 3: [], 4: [], 7: [], 8: []}
        attributes: list[bytes] = []
        tail = len(data)
        before = 0
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind == BYTES and number in strings:
                strings[number].append(data[start:end])
                if number == 4:  # fields before the operator are not in its tail, so the tail must not be its key
                    tail = before if not attributes and not strings[7] and not strings[8] else len(data)
                elif number < 4:
                    tail = len(data)
            elif kind == BYTES and number == 5:
                attributes.append(data[start:end])
            before = end
        op, domain, overload = (self.names[b"".join(strings[number][-1:])] for number in (4, 7, 8))
        node_kind, shared = self.kind((op, domain_of(domain), overload, tuple(attributes)), opsets, depth)
        if shared and 0 < len(data) - tail <= _MAX_TAIL:
            if len(_KINDS) >= _MAX_KINDS:
                _KINDS.clear()
            _KINDS[data[tail:]] = node_kind
        nodes.add(node_kind, strings[1], strings[2], b"".join(strings[3][-1:]).decode("utf-8", "replace"))

    def kind(
        self, key: tuple[str, str, str, tuple[bytes, ...]], opsets: dict[str, int], depth: int
    ) -> tuple[NodeKind, bool]:
        """Operator and decoded attributes, and whether nodes may share them: equal subgraphs are not shared."""
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
        kind = NodeKind(op, domain, values, overload, references)
        shared = not any(True for _ in subgraphs(kind))
        if shared:
            self.kinds[key] = kind
        return kind, shared

    def attribute(self, data: bytes, opsets: dict[str, int], depth: int) -> tuple[str, object, str]:
        """An AttributeProto: name, value, and the attribute of the function that it refers to."""
        small = _small_attribute(data, self.names)
        if small is not None:
            return small
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind == BYTES and number == 6:
                return self.names[_name_of(data)], self.graph(data, start, end, opsets, depth + 1), ""
            if kind == BYTES and number == 5:
                tensor, later, _ = self.tensors.tensor(data, start, end)
                return self.names[_name_of(data)], read_now(tensor, later), ""
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
        tensor, load, name = self.tensors.initializer(buffer, start, end)
        graph.constants[name] = tensor
        if load is not None:
            graph.unread[name] = load

    def value(self, data: bytes) -> tuple[str, DeclaredType | None]:
        """A ValueInfoProto: name and declared type."""
        name, declared = "", None
        for number, kind, start, end in fields(data, 0, len(data)):
            if number == 1 and kind == BYTES:
                name = self.names[data[start:end]]
            elif number == 2 and kind == BYTES:
                declared = self.type(data[start:end])
        return name, declared

    def type(self, data: bytes) -> DeclaredType | None:
        """A TypeProto."""
        if data not in self.types:
            self.types[data] = read_type(onnx.TypeProto.FromString(data))
        return self.types[data]

    def function(self, data: bytes) -> tuple[tuple[str, str, str], Graph]:
        """A FunctionProto: its key and its body."""
        body = Graph(dialect="onnx")
        domain = overload = ""
        nodes = []
        values: list[tuple[str, DeclaredType | None]] = []
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
        body.nodes = table = NodeTable()
        for piece in nodes:
            self.node(piece, table, body.opsets, 0)
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
            single[2] = to_signed(start)
        elif number == 2:
            single[1] = struct.unpack("<f", data[start:end])[0]
        elif number == 4:
            single[3] = data[start:end].decode("utf-8", "replace")
        elif number == 8:
            ints += [to_signed(start)] if kind == VARINT else decode_packed(data[start:end])
        elif number != 13:
            return None
    if kind_of in (1, 2, 3):
        value = single.get(kind_of, (None, 0.0, 0, "")[kind_of])
    elif kind_of == 7:
        value = tuple(ints)
    else:
        return None
    return name, value, ""
