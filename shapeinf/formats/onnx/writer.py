"""An ONNX model annotated with inferred shapes: its own bytes, with new declared types of values between them.

Weights are neither decoded nor changed, so a file of any size can be annotated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs

from shapeinf.errors import ModelError
from shapeinf.expr import DimSize
from shapeinf.formats.annotation import GENERATED, Annotation, Info
from shapeinf.formats.files import WriteOptions, check_path
from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.onnx.assembly import ASSUMPTIONS, CHAINS, CONTRACT, domain_of
from shapeinf.formats.onnx.chains import number_chains, numbered_text
from shapeinf.formats.onnx.external_tensors import DataFolder
from shapeinf.formats.onnx.rewriting import constant_node, initializer
from shapeinf.formats.onnx.saving import save_model
from shapeinf.formats.onnx.source import read_edited
from shapeinf.formats.onnx.type_encoding import encode_type, set_value_type
from shapeinf.formats.protobuf.pieces import Piece, edit_message, encode_bytes, message_pieces, piece_bytes
from shapeinf.formats.protobuf.wire import BYTES, Buffer, fields
from shapeinf.formats.read_files import files_of, open_source
from shapeinf.formats.registry import Target
from shapeinf.formats.unknown_names import NO_NAMES, AxisNames, DimNames, name_unknowns
from shapeinf.graph import Graph, Node, subgraphs

_WORD = re.compile(r"[^\W\d]\w*")
"""A name of an axis, and the names in an expression."""


def write(graph: Graph, annotation: Annotation, target: Target, options: WriteOptions) -> None:
    """Write the model that `graph` was read from, with `value_info` (in subgraphs and functions too) and outputs.

    Declared types of inputs stay, except for those that the annotation changes. The file is replaced atomically; for
    external data see `saving.save_model`. Raises ModelError for a graph that was not read from an ONNX model.
    """
    if not isinstance(target, (str, os.PathLike)):
        raise ModelError("an ONNX model cannot be written to a stream: it is binary")
    path = check_path(target)
    folder = DataFolder.of_graph(graph)
    with _source_bytes(graph) as buffer:
        pieces = list(_model(buffer, graph, annotation, options))
        save_model(buffer, pieces, path, folder, options.external_data)


def rewrite(graph: Graph, annotation: Annotation, options: WriteOptions) -> Graph:
    """The graph of the file that `write` writes, in memory; weights in other files stay there. Raises as `write`."""
    return read_edited(annotated_bytes(graph, annotation, options), files_of(graph))


def annotated_bytes(graph: Graph, annotation: Annotation, options: WriteOptions) -> bytes:
    """The bytes of the file that `write` writes; weights in other files stay there. Raises as `write`."""
    with _source_bytes(graph) as buffer:
        pieces = list(_model(buffer, graph, annotation, options))
        return b"".join(map(bytes, piece_bytes(buffer, pieces)))


@contextmanager
def _source_bytes(graph: Graph) -> Iterator[Buffer]:
    """The model that a graph was read from, in binary form."""
    model = graph.model
    if isinstance(model, bytes):
        yield model
    elif hasattr(model, "SerializeToString"):  # a ModelProto
        yield _serialize(model)
    elif graph.source is not None:
        with open_source(graph) as buffer:
            yield buffer
    else:
        raise ModelError("the graph was not read from an ONNX model: there is nothing to annotate")


def _serialize(model: Any) -> bytes:
    """The bytes of a ModelProto."""
    try:
        return bytes(model.SerializeToString())
    except ValueError as error:
        raise ModelError("the model in memory is larger than a protobuf may be: load it from its file") from error


def _model(buffer: Buffer, graph: Graph, annotation: Annotation, options: WriteOptions) -> Iterator[Piece]:
    """The pieces of a ModelProto."""
    keeps_inner = options.annotate == "io" and not annotation.inputs and not annotation.constants
    if keeps_inner:
        annotation = _of_outputs(graph, annotation)
    outputs = output_names(graph, annotation.tensors)
    writer = _Writer(buffer, options, name_unknowns(graph, annotation, outputs, options.dim_text))
    replaced = {ASSUMPTIONS} if annotation.assumptions is not None else set()
    if annotation.contract or annotation.inputs or annotation.constants:
        replaced.add(CONTRACT)  # an old one is that of another graph
    has_numbers = False
    before = 0
    for number, kind, start, end in fields(buffer, 0, len(buffer)):
        if kind == BYTES and number == pb.MODEL_GRAPH:
            pieces = writer.graph(start, end, graph, annotation, outputs, options.order)
            yield from message_pieces(number, pieces)
        elif kind == BYTES and number == pb.MODEL_FUNCTIONS:
            yield from message_pieces(number, writer.function(start, end, annotation))
        elif number == pb.MODEL_METADATA_PROPS and not keeps_inner and writer.name(start, end) == CHAINS[0]:
            has_numbers = _keeps_numbers(graph, annotation)
        elif number != pb.MODEL_METADATA_PROPS or writer.name(start, end) not in replaced:
            yield before, end
        before = end
    if annotation.assumptions:
        yield _property(ASSUMPTIONS, "\n".join(annotation.assumptions))
    if annotation.contract:
        yield _property(CONTRACT, annotation.contract)
    if writer.numbered or has_numbers:
        yield _property(*CHAINS)


def _keeps_numbers(graph: Graph, annotation: Annotation) -> bool:
    """Whether declared dims with numbers of chains stay: those of values, and of bodies, without an annotation."""
    if any(name not in annotation.tensors for name in graph.planned):
        return True
    inner = [(node.outputs, name, body) for node in graph.nodes for name, body in subgraphs(node.kind)]
    bodies = annotation.bodies
    return any(_keeps_numbers(body, bodies.get(key, {}).get(name, Annotation({}))) for key, name, body in inner)


def _of_outputs(graph: Graph, annotation: Annotation) -> Annotation:
    """The part of an annotation that is about the inputs and outputs of the graph."""
    outputs = {name: annotation.tensors[name] for name in graph.outputs if name in annotation.tensors}
    return attrs.evolve(annotation, tensors=outputs, bodies={}, functions={})


def _property(key: str, value: str) -> bytes:
    """A metadata property of the model as a field."""
    entry = encode_bytes(pb.PROPERTY_KEY, key.encode()) + encode_bytes(pb.PROPERTY_VALUE, value.encode())
    return encode_bytes(pb.MODEL_METADATA_PROPS, entry)


class _Writer:
    """Writes the messages of one model; each type is encoded once, but for those with the number of a chain."""

    def __init__(self, buffer: Buffer, options: WriteOptions, names: DimNames) -> None:
        """Inner values that have a type in the annotation, but get none, lose their old type: it may be wrong.

        `names` are those of unknowns.
        """
        self.buffer = buffer
        self.names = names
        self.name_inputs = options.name_inputs
        self.annotate = options.annotate
        self.notation = options.dim_text
        self.numbered = 0
        """The number of in-place chains so far."""
        self.types: dict[int, bytes] = {}

    def graph(
        self,
        pos: int,
        end: int,
        graph: Graph,
        annotation: Annotation,
        axes: AxisNames = NO_NAMES,
        order: Sequence[int] | None = None,
    ) -> list[Piece]:
        """A GraphProto: everything but declarations of node outputs stays; `axes` are the names of axes of outputs.

        `order` has the indices of the nodes in their new order.
        """
        tensors = annotation.tensors
        produced = [name for node in graph.nodes for name in node.outputs if name in tensors]
        known = {name for name in produced if tensors[name].dtype is not None}
        outputs = set(graph.outputs)
        written = [name for name in produced if name in known and name not in outputs and self.annotate != "io"]
        numbers: dict[str, int] = {}
        if self.annotate == "chains":
            numbers = self.number_chains(graph, {name: tensors[name] for name in written})
        ordered = None if order is None else iter(self.ordered_nodes(pos, end, order))
        node = 0

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            nonlocal node
            if number == pb.GRAPH_NODE and kind == BYTES:
                node += 1
                if ordered is None and not (annotation.bodies or annotation.constants):
                    return None
                if ordered is None:
                    return self.graph_node(graph.nodes[node - 1], start, stop, annotation)
                index, start, stop = next(ordered)
                edited = self.graph_node(graph.nodes[index], start, stop, annotation)
                return message_pieces(number, [(start, stop)]) if edited is None else edited
            if number == pb.GRAPH_INITIALIZER and kind == BYTES and annotation.constants:
                new = initializer(self.buffer, start, stop, annotation.constants)
                return None if new is None else [encode_bytes(number, new)]
            elif number == pb.GRAPH_INPUT and kind == BYTES:
                return self.input(start, stop, annotation)
            elif number == pb.GRAPH_OUTPUT and kind == BYTES:
                return self.output(start, stop, tensors, axes)
            elif number == pb.GRAPH_VALUE_INFO and kind == BYTES and self.name(start, stop) in known:
                return []
            return None

        pieces = edit_message(self.buffer, pos, end, edit)
        values = (self.value(pb.GRAPH_VALUE_INFO, name, tensors[name], numbers.get(name)) for name in written)
        return [*pieces, b"".join(values)]

    def ordered_nodes(self, pos: int, end: int, order: Sequence[int]) -> list[tuple[int, int, int]]:
        """The indices, starts and ends of the nodes of a graph in this order."""
        ranges = [
            (start, stop)
            for number, kind, start, stop in fields(self.buffer, pos, end)
            if number == pb.GRAPH_NODE and kind == BYTES
        ]
        return [(index, *ranges[index]) for index in order]

    def graph_node(self, node: Node, start: int, stop: int, annotation: Annotation) -> list[Piece] | None:
        """A node with annotated bodies, or a constant with new contents, as a field; None for one that stays."""
        bodies = annotation.bodies.get(node.outputs) if annotation.bodies else None
        if bodies is not None:
            graphs = dict(subgraphs(node.kind))
            return message_pieces(pb.GRAPH_NODE, self.node(start, stop, graphs, bodies))
        if annotation.constants and annotation.constants.keys() & set(node.outputs):
            return [encode_bytes(pb.GRAPH_NODE, constant_node(self.buffer[start:stop], annotation.constants))]
        return None

    def number_chains(self, graph: Graph, tensors: Mapping[str, Info]) -> dict[str, int]:
        """The numbers of the in-place chains of inner values; each graph of the model has numbers of its own."""
        numbers = number_chains(graph.nodes, tensors, self.numbered + 1)
        self.numbered = max(numbers.values(), default=self.numbered)
        return numbers

    def node(self, pos: int, end: int, graphs: Mapping[str, Graph], bodies: Mapping[str, Annotation]) -> list[Piece]:
        """A NodeProto with annotated subgraphs."""

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            name = self.name(start, stop) if number == pb.NODE_ATTRIBUTE and kind == BYTES else ""
            if name not in bodies or name not in graphs:
                return None
            return message_pieces(number, self.attribute(start, stop, graphs[name], bodies[name]))

        return edit_message(self.buffer, pos, end, edit)

    def attribute(self, pos: int, end: int, graph: Graph, annotation: Annotation) -> list[Piece]:
        """An AttributeProto that contains a graph."""

        def edit(number: int, kind: int, start: int, stop: int) -> list[Piece] | None:
            if number != pb.ATTRIBUTE_G or kind != BYTES:
                return None
            return message_pieces(number, self.graph(start, stop, graph, annotation))

        return edit_message(self.buffer, pos, end, edit)

    def function(self, pos: int, end: int, annotation: Annotation) -> list[Piece]:
        """A FunctionProto with the types that its values have in all calls."""
        strings = {pb.FUNCTION_NAME: "", pb.FUNCTION_DOMAIN: "", pb.FUNCTION_OVERLOAD: ""}
        pieces: list[Piece] = []
        declared: list[tuple[str, Piece]] = []
        before = pos
        for number, kind, start, stop in fields(self.buffer, pos, end):
            if number in strings and kind == BYTES:
                strings[number] = self.buffer[start:stop].decode("utf-8", "replace")
            if number == pb.FUNCTION_VALUE_INFO and kind == BYTES:
                declared.append((self.name(start, stop), (before, stop)))
            else:
                pieces.append((before, stop))
            before = stop
        name, domain, overload = strings.values()
        tensors = annotation.functions.get((domain_of(domain), name, overload), {})
        pieces += [piece for name, piece in declared if name not in tensors]
        written = {} if self.annotate == "io" else tensors
        values = (self.value(pb.FUNCTION_VALUE_INFO, name, info) for name, info in written.items())
        return [*pieces, b"".join(values)]

    def name(self, pos: int, end: int) -> str:
        """The name of a ValueInfoProto or an AttributeProto, or the key of a property: all are field 1."""
        for number, kind, start, stop in fields(self.buffer, pos, end):
            if number == pb.VALUE_NAME and kind == BYTES:
                return self.buffer[start:stop].decode("utf-8", "replace")
        return ""

    def input(self, pos: int, end: int, annotation: Annotation) -> list[Piece] | None:
        """A graph input with its new declared type, or with names for its open axes; None where it stays."""
        if not annotation.inputs and not self.name_inputs:
            return None
        name, names = self.name(pos, end), NO_NAMES
        info = annotation.inputs.get(name)
        if info is None and self.name_inputs:
            info, names = annotation.tensors.get(name), self.names
            if info is None or info.kind != "tensor" or names.keys().isdisjoint(info.shape.symbols()):
                return None
        if info is None:
            return None
        return [encode_bytes(pb.GRAPH_INPUT, set_value_type(self.buffer[pos:end], info, names, self.notation))]

    def output(self, pos: int, end: int, tensors: Mapping[str, Info], names: AxisNames) -> list[Piece]:
        """A graph output with its inferred type; unknown parts and names of axes stay as they were."""
        name = self.name(pos, end)
        info = tensors.get(name)
        if info is None or info.dtype is None:
            return message_pieces(pb.GRAPH_OUTPUT, [(pos, end)])
        pieces: list[Piece] = []
        before = pos
        for number, _, _, stop in fields(self.buffer, pos, end):
            if number != pb.VALUE_TYPE:
                pieces.append((before, stop))
            before = stop
        axes = names.get(name)
        encoded = self.type(info) if axes is None else self.new_type(info, axes)
        return message_pieces(pb.GRAPH_OUTPUT, [*pieces, encoded])

    def value(self, number: int, name: str, info: Info, chain: int | None = None) -> bytes:
        """A ValueInfoProto as a field, of a value of this in-place chain."""
        data = name.encode()
        kind = self.type(info) if chain is None else self.new_type(info, numbered_text(info, chain, self.names))
        size = len(data)
        if size + len(kind) < 126:  # every length is one byte: the usual case
            return b"%c%c\n%c%b%b" % (number << 3 | BYTES, size + 2 + len(kind), size, data, kind)
        return encode_bytes(number, encode_bytes(pb.VALUE_NAME, data) + kind)

    def type(self, info: Info) -> bytes:
        """The type of a ValueInfoProto as a field. Values share records of types, which are compared by identity."""
        encoded = self.types.get(id(info))
        if encoded is None:
            encoded = self.types[id(info)] = self.new_type(info)
        return encoded

    def new_type(self, info: Info, axes: Mapping[int, str] = NO_NAMES) -> bytes:
        """The type of a ValueInfoProto as a field, with these names of `axes`."""
        return encode_bytes(pb.VALUE_TYPE, encode_type(info, axes, self.names, self.notation))


def output_names(graph: Graph, tensors: Mapping[str, Info]) -> dict[str, dict[int, str]]:
    """The names of axes of outputs to keep, by output and axis: those that the model does not use for its inputs.

    A name of two different sizes, one that onnx generated, and one of a known size are replaced by the inferred size.
    """
    inputs = " ".join(str(dim) for name in graph.inputs for dim in _declared_dims(graph, name))
    used = set(_WORD.findall(inputs))
    sizes: dict[str, set[DimSize]] = {}
    names: dict[str, dict[int, str]] = {}
    for output in graph.outputs:
        declared, info = _declared_dims(graph, output), tensors.get(output)
        dims = None if info is None or info.kind != "tensor" else info.shape.dims
        if dims is None or len(dims) != len(declared):
            continue
        for axis, (name, dim) in enumerate(zip(declared, dims, strict=True)):
            if isinstance(name, str) and _WORD.fullmatch(name) and name not in used and not GENERATED.fullmatch(name):
                sizes.setdefault(name, set()).add(dim)
                if not isinstance(dim, int):
                    names.setdefault(output, {})[axis] = name
    return {
        output: {axis: name for axis, name in axes.items() if len(sizes[name]) == 1} for output, axes in names.items()
    }


def _declared_dims(graph: Graph, name: str) -> Sequence[int | str | None]:
    declared = graph.declared.get(name)
    return () if declared is None else declared.dims or ()
