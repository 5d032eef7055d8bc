"""Reads FunctionDefs, the functions of a file's library, as graphs. Names of values become `node:k`."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from shapeinf.errors import ModelError
from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, fields
from shapeinf.formats.tf.assembly import Assembly, BodyNames, merge_dims
from shapeinf.formats.tf.attributes import read_entry, text
from shapeinf.formats.tf.definitions import Definition, Definitions, read_op_def
from shapeinf.formats.tf.nodes import NodeScanner, Record, read_annotation
from shapeinf.graph import DeclaredType, FunctionKey, Graph
from shapeinf.ops import ArgDef

Dims = tuple[int | str | None, ...] | None


@attrs.define(eq=False)
class FunctionSpans:
    """A FunctionDef of which only the signature is read.

    Attributes:
        definition: the signature.
        start, end: the range of the FunctionDef in the buffer.
    """

    definition: Definition
    start: int
    end: int


def read_signature(buffer: Buffer, pos: int, end: int) -> FunctionSpans:
    """The signature of a FunctionDef. Raises ModelError for one without a name."""
    spans = [(start, stop) for number, kind, start, stop in fields(buffer, pos, end) if (number, kind) == (1, BYTES)]
    definition = read_op_def(buffer, *(spans[-1] if spans else (pos, pos)))
    if not definition.op_def.name:
        raise ModelError("a function has no name")
    return FunctionSpans(definition, pos, end)


@attrs.define(eq=False)
class _Parts:
    """The parts of a FunctionDef after its signature; `shapes` are declared shapes of arguments, by position."""

    records: list[Record] = attrs.Factory(list)
    returned: dict[bytes, bytes] = attrs.Factory(dict)
    shapes: dict[int, Dims] = attrs.Factory(dict)
    all_shapes: tuple[object, ...] = ()


class FunctionReader:
    """Reads the functions of one library."""

    def __init__(self, definitions: Definitions, scanner: NodeScanner) -> None:
        """`definitions` has the signatures of all functions."""
        self.definitions = definitions
        self.scanner = scanner

    def read(self, buffer: Buffer, function: FunctionSpans) -> tuple[FunctionKey, Graph]:
        """A function and its key. Raises ModelError with the name of the function."""
        op_def = function.definition.op_def
        try:
            return ("", op_def.name, ""), self._graph(buffer, function)
        except ModelError as error:
            node = op_def.name if error.node is None else f"{op_def.name}/{error.node}"
            raise type(error)(error.cause, node=node) from error

    def _graph(self, buffer: Buffer, function: FunctionSpans) -> Graph:
        op_def, parts = function.definition.op_def, self._parts(buffer, function)
        graph = Graph(name=op_def.name, dialect="tf", opsets={"": self.definitions.producer})
        graph.defaults = {name: a.default for name, a in op_def.attributes.items() if a.has_default}
        arguments = [arg.name.encode() for arg in op_def.inputs]
        assembly = Assembly(graph, parts.records, self.definitions)
        names = BodyNames(arguments, assembly.outputs)
        returned = []
        for arg in op_def.outputs:
            value = parts.returned.get(arg.name.encode())
            if value is None:
                raise ModelError(f"the function does not return its output {arg.name!r}")
            returned.append(names[value])
        assembly.fill(names.__getitem__, returned, placeholders=False)
        graph.inputs = [f"{arg.name}:0" for arg in op_def.inputs]
        graph.outputs = [text(value) for value in returned]
        graph.aliases = {arg.name: f"{arg.name}:0" for arg in op_def.inputs}
        for index, arg in enumerate(op_def.inputs):
            listed = parts.all_shapes[index] if index < len(parts.all_shapes) else None
            dims = merge_dims(parts.shapes.get(index), listed.dims if isinstance(listed, DeclaredType) else None)
            graph.declared[f"{arg.name}:0"] = _argument(arg, dims, function.definition.handles)
        return graph

    def _parts(self, buffer: Buffer, function: FunctionSpans) -> _Parts:
        parts = _Parts()
        for number, kind, start, stop in fields(buffer, function.start, function.end):
            if kind != BYTES:
                continue
            if number == 3:
                parts.records.append(self.scanner.scan(buffer, start, stop))
            elif number == 4:
                key, begin, finish = read_entry(buffer, start, stop)
                parts.returned[key] = bytes(buffer[begin:finish])
            elif number == 5:
                key, begin, finish = read_entry(buffer, start, stop)
                shapes = read_annotation(buffer, (begin, finish)) if key == b"_input_shapes" else None
                parts.all_shapes = shapes if isinstance(shapes, tuple) else parts.all_shapes
            elif number == 7:
                index, dims = _argument_shape(buffer, start, stop)
                parts.shapes[index] = dims
        return parts


def _argument(arg: ArgDef, dims: Dims, handles: Mapping[str, DeclaredType]) -> DeclaredType:
    """The declared type of an argument; for a handle also the type of the value behind it."""
    if arg.name in handles:
        return DeclaredType(arg.type, (), of=handles[arg.name])
    return DeclaredType(arg.type, dims)


def _argument_shape(buffer: Buffer, pos: int, end: int) -> tuple[int, Dims]:
    """The position of an argument, and the shape that its attribute `_output_shapes` declares."""
    index, dims = 0, None
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 1 and kind == VARINT:
            index = start
        elif number == 2 and kind == BYTES:
            for entry, entry_kind, first, last in fields(buffer, start, stop):
                if (entry, entry_kind) != (1, BYTES):
                    continue
                key, begin, finish = read_entry(buffer, first, last)
                shapes = read_annotation(buffer, (begin, finish)) if key == b"_output_shapes" else None
                if isinstance(shapes, tuple) and len(shapes) == 1 and isinstance(shapes[0], DeclaredType):
                    dims = shapes[0].dims
    return index, dims
