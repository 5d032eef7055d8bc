"""Reads GraphDefs: nodes, the library of functions, versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from shapeinf.errors import ModelError
from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, decode_packed, fields, to_signed
from shapeinf.formats.tf.assembly import Assembly, FlatNames, unconsumed_values
from shapeinf.formats.tf.attributes import text
from shapeinf.formats.tf.definitions import CONSUMER, Definitions
from shapeinf.formats.tf.functions import FunctionReader, FunctionSpans, read_signature
from shapeinf.formats.tf.meta_graph import Signature
from shapeinf.formats.tf.nodes import NodeScanner, Record
from shapeinf.formats.tf.signatures import fed_values, needed_records
from shapeinf.graph import Graph, NodeTable
from shapeinf.ops import OpDef


@attrs.define(eq=False)
class _Parts:
    records: list[Record] = attrs.Factory(list)
    functions: list[FunctionSpans] = attrs.Factory(list)
    producer: int = 0


def read_graph_def(
    buffer: Buffer, pos: int, end: int, custom: Mapping[str, OpDef], signature: Signature | None = None
) -> Graph:
    """The graph of a GraphDef, or the part of it that a signature needs.

    `custom` are OpDefs of the file, for operators that the registry does not have. Raises ModelError for a malformed
    graph, and for one that TensorFlow refuses by its version.
    """
    scanner = NodeScanner()
    parts = _read_parts(buffer, pos, end, scanner)
    records = parts.records if signature is None else needed_records(parts.records, signature)
    definitions = Definitions(parts.producer, custom)
    for function in parts.functions:
        definitions.functions[function.definition.op_def.name] = function.definition.op_def
    graph = Graph(dialect="tf", opsets={"": parts.producer})
    for kind in dict.fromkeys(record.attributes.kind for record in records):
        definitions.check_available(kind.op)
        graph.diagnostics += definitions.unknown_attributes(kind)
    assembly = Assembly(graph, records, definitions)
    assembly.fed = {} if signature is None else fed_values(signature)
    assembly.fill(FlatNames().__getitem__, placeholders=True)
    assert isinstance(graph.nodes, NodeTable)
    graph.outputs = unconsumed_values(graph.nodes)
    graph.aliases = _aliases(graph, records)
    reader = FunctionReader(definitions, scanner)
    for function in parts.functions:
        key, body = reader.read(buffer, function)
        graph.functions.setdefault(key, body)
    return graph


def _aliases(graph: Graph, records: Sequence[Record]) -> dict[str, str]:
    """Further names of inputs: the node, and the name that the user gave to the exporter, if only one input has it."""
    aliases = {name.removesuffix(":0"): name for name in graph.inputs}
    users: dict[str, list[str]] = {}
    for record in records:
        value = text(record.name) + ":0"
        if record.attributes.user_name and aliases.get(text(record.name)) == value:
            users.setdefault(record.attributes.user_name, []).append(value)
    unique = {name: values[0] for name, values in users.items() if len(values) == 1}
    return {**aliases, **{name: value for name, value in unique.items() if name not in aliases}}


def _read_parts(buffer: Buffer, pos: int, end: int, scanner: NodeScanner) -> _Parts:
    parts = _Parts()
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 1 and kind == BYTES:
            parts.records.append(scanner.scan(buffer, start, stop))
        elif number == 2 and kind == BYTES:
            for member, member_kind, begin, finish in fields(buffer, start, stop):
                if (member, member_kind) == (1, BYTES):
                    parts.functions.append(read_signature(buffer, begin, finish))
        elif number == 3 and kind == VARINT:
            parts.producer = parts.producer or to_signed(start)
        elif number == 4 and kind == BYTES:
            parts.producer = _read_versions(buffer, start, stop)
    return parts


def _read_versions(buffer: Buffer, pos: int, end: int) -> int:
    """The version of the producer. Raises ModelError for a graph that excludes the version `CONSUMER`."""
    producer = least = 0
    excluded: list[int] = []
    for number, kind, start, stop in fields(buffer, pos, end):
        if kind == VARINT and number == 1:
            producer = to_signed(start)
        elif kind == VARINT and number == 2:
            least = to_signed(start)
        elif number == 3:
            excluded += [to_signed(start)] if kind == VARINT else decode_packed(buffer[start:stop])
    if least > CONSUMER:
        raise ModelError(
            f"GraphDef min consumer version {least} above current version {CONSUMER}: a newer TensorFlow wrote it"
        )
    if CONSUMER in excluded:
        raise ModelError(f"GraphDef disallows consumer version {CONSUMER}, which is that of TensorFlow 2.21")
    return producer
