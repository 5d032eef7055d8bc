"""ONNX files to `Graph`, from their bytes: payloads of large tensors are skipped, and equal nodes are decoded once.

The same `Graph` as `reader` builds from protobuf objects (a test compares them), several times faster and without
importing onnx. Rare parts (graphs in lists, sparse tensors, types that numpy does not have) are read by protobuf.
"""

from __future__ import annotations

import struct
from typing import Final

from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.onnx.assembly import (
    MAX_NESTING,
    add_origin,
    add_property,
    domain_of,
    finish_graph,
    finish_model,
    repeated_names,
)
from shapeinf.formats.onnx.attributes import plain_attribute
from shapeinf.formats.onnx.tensors import Source, TensorScanner
from shapeinf.formats.onnx.types import scan_type
from shapeinf.formats.protobuf.wire import BYTES, VARINT, DamagedError, field, fields, to_signed, varint
from shapeinf.formats.ranges import read_eagerly
from shapeinf.formats.read_files import ReadFiles
from shapeinf.graph import DeclaredType, Graph, NodeKind, NodeTable, row_key, subgraphs
from shapeinf.packages import require_package

_KINDS: dict[bytes, NodeKind] = {}
"""Node kinds by bytes of nodes (operator, attributes, domain), for all files; kinds are immutable."""

_MAX_KINDS: Final = 4096
_MAX_TAIL: Final = 1024

_CHUNK = 1 << 18
"""Bytes of a large file that are read at a time for its nodes."""

_MAX_PREFIX: Final = 16
"""Bytes read past a chunk: no tag with a size is longer, so those of a node that starts in the chunk are read."""

_NODE_TAG: Final = 0x0A
_METADATA_TAG: Final = 0x4A
_INITIALIZER_TAG: Final = 0x2A

_STRINGS = (pb.NODE_INPUT, pb.NODE_OUTPUT, pb.NODE_NAME, pb.NODE_OP_TYPE, pb.NODE_DOMAIN, pb.NODE_OVERLOAD)

Values = list[tuple[str, DeclaredType | None]]
"""Names of values, and their declared types."""


def scan(buffer: Source, where: str, files: ReadFiles | None = None) -> Graph:
    """The graph of a model. `where` is its name in messages, `files` has the file of the bytes, if they are of one.

    Small external tensors are read from its folder when a rule needs them. Raises UnknownFormatError for a message
    without a graph, ModelError for a damaged one.
    """
    try:
        return _Scanner(buffer, files).model(where)
    except (DamagedError, IndexError, struct.error, RecursionError) as error:
        damage = f"is not a complete ONNX protobuf ({len(buffer)} bytes), it is cut off or damaged: {error}"
        cause = f"{damage}; download or export it again"
        raise ModelError(cause, node=where) from error


class _Names(dict[bytes, str]):
    """Decoded strings by their bytes: equal names are one object."""

    def __missing__(self, data: bytes) -> str:
        name = self[data] = _text(data)
        return name


class _Scanner:
    """Decodes one file; equal bytes are decoded once."""

    def __init__(self, buffer: Source, files: ReadFiles | None) -> None:
        self.buffer = buffer
        self.names = _Names()
        self.kinds: dict[tuple[str, str, str, tuple[bytes, ...]], NodeKind] = {}
        self.tensors = TensorScanner(buffer, files)
        self.opsets: dict[str, int] = {}

    def model(self, where: str) -> Graph:
        graph_at: tuple[int, int] | None = None
        functions = []
        properties = []
        producer, producer_version = "", ""
        ir_version = 0
        for number, kind, start, end in fields(self.buffer, 0, len(self.buffer)):
            if kind == VARINT and number == pb.MODEL_IR_VERSION:
                ir_version = to_signed(start)
            elif kind != BYTES:
                continue
            elif number == pb.MODEL_GRAPH:
                if graph_at is not None:
                    raise DamagedError("it has two graphs")
                graph_at = start, end
            elif number == pb.MODEL_OPSET_IMPORT:
                self.opset(self.opsets, self.buffer[start:end])
            elif number == pb.MODEL_PRODUCER_NAME:
                producer = self.names[self.buffer[start:end]]
            elif number == pb.MODEL_PRODUCER_VERSION:
                producer_version = self.names[self.buffer[start:end]]
            elif number == pb.MODEL_METADATA_PROPS:
                properties.append((start, end))
            elif number == pb.MODEL_FUNCTIONS:
                functions.append((start, end))
        if graph_at is None:
            raise UnknownFormatError(f"is a protobuf without an ONNX graph ({len(self.buffer)} bytes)", node=where)
        graph = self.graph(self.buffer, *graph_at, self.opsets, 0)
        graph.external = self.tensors.external
        graph.files = self.tensors.files
        add_origin(graph, producer, producer_version, ir_version)
        for start, end in functions:
            key, body = self.function(self.buffer[start:end])
            graph.functions.setdefault(key, body)
        for start, end in properties:
            add_property(graph, *self.property(self.buffer[start:end]))
        return finish_model(graph)

    def property(self, data: bytes) -> tuple[str, str]:
        """The key and value of a metadata property."""
        entry = {pb.PROPERTY_KEY: b"", pb.PROPERTY_VALUE: b""}
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind == BYTES and number in entry:
                entry[number] = data[start:end]
        key, value = entry[pb.PROPERTY_KEY], entry[pb.PROPERTY_VALUE]
        return _text(key), _text(value)

    def opset(self, opsets: dict[str, int], data: bytes) -> None:
        domain, version = "", 0
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind == BYTES and number == pb.OPSET_DOMAIN:
                domain = self.names[data[start:end]]
            elif kind == VARINT and number == pb.OPSET_VERSION:
                version = to_signed(start)
        opsets[domain_of(domain)] = version

    def graph(self, buffer: Source, pos: int, end: int, opsets: dict[str, int], depth: int) -> Graph:
        """A GraphProto."""
        if depth > MAX_NESTING:
            raise LimitError(f"subgraphs nest deeper than {MAX_NESTING}")
        graph = Graph(dialect="onnx", opsets=opsets)
        inputs: Values = []
        outputs: Values = []
        values: Values = []
        tables = {pb.GRAPH_INPUT: inputs, pb.GRAPH_OUTPUT: outputs, pb.GRAPH_VALUE_INFO: values}
        graph.nodes = nodes = NodeTable()
        while pos < end:
            tag = buffer[pos]
            if tag == _NODE_TAG:
                before = pos
                pos = self.nodes(buffer, pos, end, nodes, opsets, depth)
                if pos > before:
                    continue
            elif tag == _INITIALIZER_TAG:
                pos = self.initializers(graph, buffer, pos, end)
                continue
            number, kind, start, pos = field(buffer, pos, end)
            if kind != BYTES:
                continue
            if number == pb.GRAPH_NODE:  # of a large file, and longer than a chunk
                self.node(buffer[start:pos], nodes, opsets, depth)
            elif number in tables:
                tables[number].append(self.value(buffer[start:pos]))
            elif number == pb.GRAPH_NAME:
                graph.name = self.names[buffer[start:pos]]
            elif number == pb.GRAPH_SPARSE_INITIALIZER:
                self.sparse_initializer(graph, buffer[start:pos])
        graph.inputs = [name for name, _ in inputs]
        graph.outputs = [name for name, _ in outputs]
        return finish_graph(graph, (*inputs, *values, *outputs))

    def nodes(self, buffer: Source, pos: int, end: int, nodes: NodeTable, opsets: dict[str, int], depth: int) -> int:
        """Read consecutive NodeProtos from `pos` on, of a large file in chunks; return the position after them."""
        if isinstance(buffer, bytes):
            return self.run_of_nodes(buffer, pos, end, nodes, opsets, depth)
        chunk = buffer[pos : min(end, pos + _CHUNK + _MAX_PREFIX)]
        return pos + self.run_of_nodes(chunk, 0, min(len(chunk), _CHUNK), nodes, opsets, depth)

    def run_of_nodes(
        self, buffer: bytes, pos: int, end: int, nodes: NodeTable, opsets: dict[str, int], depth: int
    ) -> int:
        """Read NodeProtos from `pos` on, up to another field or a node that ends after `end`; return its position.

        The hot loop of loading. Writers put inputs, outputs and name first, and metadata last; the bytes between them
        (operator, attributes, domain) are equal for equal nodes, so they are decoded once and looked up together. The
        four parts that read a string are alike, but are written out: one call per field would double the time.
        """
        tails, numbers, rows = _KINDS, nodes.numbers, nodes.rows
        while pos < end and buffer[pos] == _NODE_TAG:
            size = buffer[pos + 1]
            at = pos + 2
            if size > 127:
                if buffer[at] < 128:  # two bytes, as most nodes have
                    size += (buffer[at] << 7) - 128
                    at += 1
                else:
                    size, at = varint(buffer, pos + 1)
            stop = at + size
            if stop > end:
                break
            data = buffer[at:stop]
            pos = stop
            kind = None
            read: list[int] = []
            output = ""
            more: list[str] = []
            name = ""
            at = 0
            try:
                tag = data[0]
                while tag == 0x0A:
                    size = data[at + 1]
                    at += 2
                    if size > 127:
                        size, at = varint(data, at - 1)
                    stop = at + size
                    read.append(numbers[data[at:stop].decode()])
                    at = stop
                    tag = data[at]
                if tag == 0x12:
                    size = data[at + 1]
                    at += 2
                    if size > 127:
                        size, at = varint(data, at - 1)
                    stop = at + size
                    output = data[at:stop].decode()
                    at = stop
                    tag = data[at]
                while tag == 0x12:
                    size = data[at + 1]
                    at += 2
                    if size > 127:
                        size, at = varint(data, at - 1)
                    stop = at + size
                    more.append(data[at:stop].decode())
                    at = stop
                    tag = data[at]
                if tag == 0x1A:
                    size = data[at + 1]
                    at += 2
                    if size > 127:
                        size, at = varint(data, at - 1)
                    stop = at + size
                    name = data[at:stop].decode()
                    at = stop
                kind = tails.get(data[at:]) or tails.get(data[at : _metadata_start(data, at)])
            except (IndexError, UnicodeDecodeError):
                pass
            if kind is None or not output:
                self.node(data, nodes, opsets, depth)
            elif not more and output not in numbers:
                number = numbers[output] = len(numbers)
                rows.append((kind, tuple(read), (number,), name))
            else:
                written = tuple(map(nodes.add_output, (output, *more)))
                rows.append((row_key(kind, written), tuple(read), written, name))
        return pos

    def node(self, data: bytes, nodes: NodeTable, opsets: dict[str, int], depth: int) -> None:
        """Read any NodeProto, field by field."""
        strings: dict[int, list[bytes]] = {number: [] for number in _STRINGS}
        attributes: list[bytes] = []
        tail = len(data)
        before = 0
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind == BYTES and number in strings:
                strings[number].append(data[start:end])
                if number == pb.NODE_OP_TYPE:  # the tail is no key of fields before it
                    early = attributes or strings[pb.NODE_DOMAIN] or strings[pb.NODE_OVERLOAD]
                    tail = len(data) if early else before
                elif number < pb.NODE_OP_TYPE:
                    tail = len(data)
            elif kind == BYTES and number == pb.NODE_ATTRIBUTE:
                attributes.append(data[start:end])
            before = end
        numbers = pb.NODE_OP_TYPE, pb.NODE_DOMAIN, pb.NODE_OVERLOAD
        op, domain, overload = (self.names[b"".join(strings[number][-1:])] for number in numbers)
        node_kind, shared = self.kind((op, domain_of(domain), overload, tuple(attributes)), opsets, depth)
        tail_end = _metadata_start(data, tail)
        if shared and 0 < tail_end - tail <= _MAX_TAIL:
            if len(_KINDS) >= _MAX_KINDS:
                _KINDS.clear()
            _KINDS[data[tail:tail_end]] = node_kind
        read, written = ([_text(name) for name in strings[number]] for number in (pb.NODE_INPUT, pb.NODE_OUTPUT))
        nodes.add(node_kind, read, written, _text(b"".join(strings[pb.NODE_NAME][-1:])))

    def kind(
        self, key: tuple[str, str, str, tuple[bytes, ...]], opsets: dict[str, int], depth: int
    ) -> tuple[NodeKind, bool]:
        """The operator with its decoded attributes, and whether nodes share it: one with subgraphs is not shared."""
        if key in self.kinds:
            return self.kinds[key], True
        op, domain, overload, attributes = key
        values: dict[str, object] = {}
        references: dict[str, str] = {}
        names = []
        for data in attributes:
            name, value, reference = self.attribute(data, opsets, depth)
            names.append(name)
            if reference:
                references[name] = reference
            else:
                values[name] = value
        kind = NodeKind(op, domain, values, overload, references, repeated_names(names))
        shared = not any(True for _ in subgraphs(kind))
        if shared:
            self.kinds[key] = kind
        return kind, shared

    def attribute(self, data: bytes, opsets: dict[str, int], depth: int) -> tuple[str, object, str]:
        """An AttributeProto: name, value, and the name of the function attribute that it refers to."""
        plain = plain_attribute(data, self.names)
        if plain is not None:
            return plain
        for number, kind, start, end in fields(data, 0, len(data)):
            if kind == BYTES and number == pb.ATTRIBUTE_G:
                return self.names[_name_of(data)], self.graph(data, start, end, opsets, depth + 1), ""
            if kind == BYTES and number == pb.ATTRIBUTE_T:
                tensor, later, _ = self.tensors.tensor(data, start, end)
                return self.names[_name_of(data)], read_eagerly(tensor, later), ""
        return self.rare_attribute(data, opsets, depth)

    def rare_attribute(self, data: bytes, opsets: dict[str, int], depth: int) -> tuple[str, object, str]:
        """An AttributeProto of a kind that protobuf reads."""
        require_package("onnx", "a list of graphs or tensors, or a sparse tensor,")
        import onnx

        from shapeinf.formats.onnx.reader import attribute_names, read_attribute
        from shapeinf.formats.onnx.tensor_protos import parse

        proto = parse(onnx.AttributeProto, data)
        name, reference = attribute_names(proto)
        if not proto.graphs:
            return name, read_attribute(proto, opsets, depth), reference
        messages = (graph.SerializeToString() for graph in proto.graphs)
        return name, tuple(self.graph(m, 0, len(m), opsets, depth + 1) for m in messages), ""

    def initializers(self, graph: Graph, buffer: Source, pos: int, end: int) -> int:
        """Read consecutive TensorProtos from `pos` on as constants of a graph; return the position after them."""
        constants, unread, scan_tensor = graph.constants, graph.unread, self.tensors.initializer
        while pos < end and buffer[pos] == _INITIALIZER_TAG:
            size = buffer[pos + 1]
            start = pos + 2
            if size > 127:
                size, start = varint(buffer, pos + 1)
            pos = start + size
            if pos > end:
                raise DamagedError("a tensor ends after its graph")
            tensor, load, name = scan_tensor(buffer, start, pos)
            if name in constants:
                graph.repeated_constants.append(name)
            constants[name] = tensor
            if load is not None:
                unread[name] = load
        return pos

    def sparse_initializer(self, graph: Graph, data: bytes) -> None:
        """Read a SparseTensorProto as a constant of a graph."""
        require_package("onnx", "a sparse tensor")
        import onnx

        from shapeinf.formats.onnx.tensor_protos import parse, read_sparse

        name, tensor = read_sparse(parse(onnx.SparseTensorProto, data))
        if name in graph.constants:
            graph.repeated_constants.append(name)
        graph.constants[name] = tensor

    def value(self, data: bytes) -> tuple[str, DeclaredType | None]:
        """A ValueInfoProto: name and declared type."""
        size = len(data)
        at = 2 + data[1] if size > 1 else size
        if at + 1 < size and data[0] == 0x0A and data[at] == 0x12 and data[at + 1] == size - at - 2 < 128 > data[1]:
            return self.names[data[2:at]], scan_type(data[at + 2 :])  # a short name and a short type, in this order
        name, declared = "", None
        for number, kind, start, end in fields(data, 0, size):
            if number == pb.VALUE_NAME and kind == BYTES:
                name = self.names[data[start:end]]
            elif number == pb.VALUE_TYPE and kind == BYTES:
                declared = scan_type(data[start:end])
        return name, declared

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
            if number == pb.FUNCTION_NAME:
                body.name = self.names[piece]
            elif number == pb.FUNCTION_INPUT:
                body.inputs.append(self.names[piece])
            elif number == pb.FUNCTION_OUTPUT:
                body.outputs.append(self.names[piece])
            elif number == pb.FUNCTION_NODE:
                nodes.append(piece)
            elif number == pb.FUNCTION_OPSET_IMPORT:
                self.opset(body.opsets, piece)
            elif number == pb.FUNCTION_DOMAIN:
                domain = self.names[piece]
            elif number == pb.FUNCTION_ATTRIBUTE_PROTO:
                name, value, _ = self.attribute(piece, body.opsets, 0)
                body.defaults[name] = value
            elif number == pb.FUNCTION_VALUE_INFO:
                values.append(self.value(piece))
            elif number == pb.FUNCTION_OVERLOAD:
                overload = self.names[piece]
        body.nodes = table = NodeTable()
        for piece in nodes:
            self.node(piece, table, body.opsets, 0)
        return (domain_of(domain), body.name, overload), finish_graph(body, values)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _name_of(data: bytes) -> bytes:
    names = (data[start:end] for number, _, start, end in fields(data, 0, len(data)) if number == pb.ATTRIBUTE_NAME)
    return next(names, b"")


def _metadata_start(data: bytes, pos: int) -> int:
    """The position of the metadata of a node, from the field at `pos` on; the end if other fields follow them."""
    start = end = len(data)
    while pos < end:
        tag = data[pos]
        if tag == _METADATA_TAG:
            start = min(start, pos)
        elif start < end or tag > 127 or tag & 7 != BYTES:
            return end
        size = data[pos + 1]
        pos += 2
        if size > 127:
            size, pos = varint(data, pos - 1)
        pos += size
    return start if pos == end else end
