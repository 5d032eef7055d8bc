"""The graph of a program of torch.export.

A node has all arguments by name: literals, tensors as `InputReference`, computed numbers as `InputContents`, bodies as
graphs. The dialect binds them to the parameters of its rules.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import attrs

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.torch_export import document
from shapeinf.formats.torch_export.arguments import Values
from shapeinf.formats.torch_export.container import Package, open_package
from shapeinf.formats.torch_export.contents import defer_contents
from shapeinf.formats.torch_export.document import Json, MalformedError, Program
from shapeinf.formats.torch_export.expressions import UnreadableError
from shapeinf.formats.torch_export.names import SizeNames
from shapeinf.graph import DeclaredType, Graph, Node, NodeKind
from shapeinf.lattice import SCALAR, PartialTensor, Shape
from shapeinf.lattice.dtypes import NUMBER_TYPES

_STORED = ("parameter", "buffer", "tensor_constant")
"""The inputs of a graph that are part of the model, by the kinds of their specs."""
_OPERATORS = "torch.ops."
_TOKEN = PartialTensor("float32", Shape((0,)), ())
"""What orders operators with effects, such as prints: torch passes an empty tensor from each to the next."""


@attrs.frozen
class ExportedModel:
    """What a graph of a program does not have: see `Graph.model`.

    Args:
        program: the program.
        names: the names of sizes.
        origin: what the program was read from: a path, the bytes of a file, or a live `ExportedProgram`.
        is_json: whether it is a file with the JSON alone.
        lacks_weights: whether the file lacks the weights that the program has.
    """

    program: Program
    names: SizeNames
    origin: Any = attrs.field(default=None, repr=False)
    is_json: bool = False
    lacks_weights: bool = False


def read(model: Any, name: str | None = None) -> Graph:
    """Read a path or bytes of a file, or a live `ExportedProgram`; `name` is that of a program of a package.

    Raises ModelError for a malformed program, LimitError past a limit, and what `open_package` raises.
    """
    if isinstance(model, (str, bytes, os.PathLike)):
        package = open_package(model, name)
        graph = build(document.parse_json(package.text, package.source), package)
        if isinstance(model, (str, os.PathLike)):
            graph.source = package.source
        return graph
    from shapeinf.formats.torch_export.live import json_of

    package = Package(json_of(model), "", "<ExportedProgram>", origin=model)
    return build(document.parse_json(package.text, package.source), package)


def build(data: object, package: Package) -> Graph:
    """The graph of the JSON of a program."""
    try:
        program = document.read_program(data)
        names = SizeNames.from_program(program)
    except MalformedError as error:
        raise ModelError(str(error), node=package.source) from error
    builder = _Builder(program, names, package.source)
    graph = builder.build(program.graph, program.inputs, program.outputs)
    graph.name = package.name
    graph.producer = f"torch {program.torch_version}" if program.torch_version else "torch"
    graph.file_version = ".".join(map(str, program.schema_version))
    graph.dim_aliases = dict(names.aliases)
    lacks_weights = not package.has_weights and any(role == "parameter" for role, _ in builder.stored.values())
    graph.model = ExportedModel(program, names, package.origin, package.is_json, lacks_weights)
    graph.files = package.files
    defer_contents(graph, builder.stored, package)
    return graph


class _Builder:
    """Builds the graphs of a program; equal nodes share their kind."""

    def __init__(self, program: Program, names: SizeNames, source: str) -> None:
        self.program = program
        self.names = names
        self.source = source
        self.stored: dict[str, tuple[str, str]] = {}
        """The kind of the spec, and the name in the module, of parameters, buffers and constants by their values."""
        self._kinds: dict[object, NodeKind] = {}
        self._depth = 0

    def build(
        self, data: Json, inputs: Sequence[tuple[str, Json]] = (), outputs: Sequence[tuple[str, Json]] = ()
    ) -> Graph:
        """The graph of its JSON; a body has no specs of inputs and outputs."""
        self._depth += 1
        if self._depth > document.MAX_GRAPHS:
            raise LimitError(f"has more than {document.MAX_GRAPHS} graphs inside one another", node=self.source)
        nodes: list[Node] = []
        graph = Graph(dialect="torch", opsets={"": 1}, nodes=nodes)
        part: str | tuple[Json, int] = "the inputs"
        try:
            values = self._add_inputs(graph, data, inputs)
            for number, record in enumerate(document.nodes_of(data)):
                part = record, number
                self._add_node(graph, document.mapping(record, "a node"), values, nodes)
            part = "the outputs"
            graph.outputs = self._outputs(graph, data, values, outputs)
            self._declare(graph, data, values)
        except MalformedError as error:
            subject = part if isinstance(part, str) else _label(*part)
            raise ModelError(str(error), node=f"{self.source}: {subject}") from error
        self._depth -= 1
        return graph

    # -- inputs and outputs --------------------------------------------------------------------------------------------

    def _add_inputs(self, graph: Graph, data: Json, specs: Sequence[tuple[str, Json]]) -> Values:
        """Add the inputs of a graph; those that are stored with the model become constants."""
        arguments = [document.union(item, "an input") for item in document.listed(data.get("inputs"), "inputs")]
        if specs and len(specs) != len(arguments):
            raise MalformedError(f"the signature has {len(specs)} inputs, and the graph {len(arguments)}")
        values = Values(self.build)
        tensors = document.mapping(data.get("tensor_values", {}), "tensor_values")
        for number, (kind, value) in enumerate(arguments):
            role, spec = specs[number] if specs else ("user_input", {})
            name = values.add_input(kind, value)
            if not name:  # a number, a text or None that is part of the program
                if not specs:
                    graph.inputs.append(self._unused_input(graph, number))
            elif role == "token":
                graph.constants[name] = _TOKEN
            elif kind == "as_tensor" and role in _STORED:
                self._add_stored(graph, name, tensors.get(name), role, spec)
            else:
                graph.inputs.append(name)
                if kind != "as_tensor":
                    graph.declared[name] = self._number(kind, data, name)
        return values

    def _unused_input(self, graph: Graph, number: int) -> str:
        """An input of a body that no node reads: the caller passes a value that is part of the program."""
        name = f"unused.{number}"
        graph.declared[name] = DeclaredType()
        return name

    def _add_stored(self, graph: Graph, name: str, meta: object, role: str, spec: Json) -> None:
        tensor = document.tensor_of(meta)
        sizes = [size for size in tensor.sizes if isinstance(size, int)]
        if len(sizes) < len(tensor.sizes):
            raise MalformedError(f"{name}: all sizes of a {role.replace('_', ' ')} must be numbers")
        graph.constants[name] = PartialTensor(tensor.dtype, Shape(sizes), None)
        path = spec.get(f"{role}_name")
        if isinstance(path, str):
            self.stored[name] = (role, path)
            if path not in graph.constants:
                graph.aliases[path] = name

    def _number(self, kind: str, data: Json, name: str) -> DeclaredType:
        """The declaration of an input that is a number of Python: an integer has a symbol or an expression."""
        dtype = {"as_sym_bool": "bool", "as_sym_float": "float64"}.get(kind, "int64")
        declared = document.mapping(data.get("sym_int_values", {}), "sym_int_values").get(name)
        if kind != "as_sym_int" or declared is None:
            return DeclaredType(dtype if kind.startswith("as_sym") else None, () if kind.startswith("as_sym") else None)
        return DeclaredType(dtype, (), contents=(self._size(document.symbolic(declared, name)),))

    def _outputs(self, graph: Graph, data: Json, values: Values, specs: Sequence[tuple[str, Json]]) -> list[str]:
        """The names of the outputs: those of the user, without numbers that are part of the program; of a body all."""
        listed = [document.union(item, "an output") for item in document.listed(data.get("outputs"), "outputs")]
        if specs and len(specs) == len(listed):
            listed = [item for item, (role, _) in zip(listed, specs, strict=True) if role == "user_output"]
        names = []
        for number, (kind, value) in enumerate(listed):
            name = values.find(kind, value)
            if not name and not specs:
                name = _add_number(graph, value, f"output.{number}")
            names.append(name)
        return list(dict.fromkeys(name for name in names if name)) if specs else names

    # -- nodes ---------------------------------------------------------------------------------------------------------

    def _add_node(self, graph: Graph, record: Json, values: Values, nodes: list[Node]) -> None:
        op = document.text(record.get("target"), "target").removeprefix(_OPERATORS)
        inputs: list[str] = []
        attributes: dict[str, object] = {}
        for position, argument in enumerate(document.arguments_of(record)):
            name = argument.name or f"argument{position}"
            if name in attributes:
                raise MalformedError(f"the argument {name} is given twice")
            attributes[name] = values.read(argument.kind, argument.value, inputs)
        outputs = values.add_outputs(record)
        name = record.get("name") or next(filter(None, outputs), "") or f"{op}.{len(nodes)}"
        nodes.append(Node(self._kind(op, attributes), tuple(inputs), outputs, document.text(name, "name")))
        location = document.source_of(record)
        if location:
            graph.locations[name] = location

    def _kind(self, op: str, attributes: dict[str, object]) -> NodeKind:
        try:
            key = op, *((name, type(value), value) for name, value in attributes.items())
            kind = self._kinds.get(key)
        except TypeError:  # an unhashable value
            return NodeKind(op, "", attributes)
        if kind is None:
            kind = self._kinds[key] = NodeKind(op, "", attributes)
        return kind

    # -- declarations --------------------------------------------------------------------------------------------------

    def _declare(self, graph: Graph, data: Json, values: Values) -> None:
        """Add the declared types of all tensors of a graph."""
        for name, meta in document.mapping(data.get("tensor_values", {}), "tensor_values").items():
            if name not in graph.constants and name in values.names:
                tensor = document.tensor_of(meta)
                graph.declared[name] = DeclaredType(
                    tensor.dtype,
                    tuple(map(self._size, tensor.sizes)),
                    strides=tuple(map(self._size, tensor.strides)) if tensor.strides else None,
                )

    def _size(self, size: int | str) -> int | str | None:
        """A declared size or stride; None for an expression that shapeinf cannot express."""
        if isinstance(size, int):
            return size
        try:
            return self.names.read(size)
        except UnreadableError:
            return None


def _label(record: object, number: int) -> str:
    """A node in messages, with its line in the user's source."""
    if not isinstance(record, dict):
        return f"node {number}"
    line = document.source_of(record)
    name = record.get("name") or f"node {number}"
    return f"{name} at {line}" if line else str(name)


def _add_number(graph: Graph, value: object, name: str) -> str:
    """Add a constant for an output of a body that is a number or None."""
    if isinstance(value, (bool, int, float)):
        graph.constants[name] = PartialTensor(NUMBER_TYPES[type(value)], SCALAR, (value,))
    else:
        graph.constants[name] = PartialTensor(None, Shape.unknown(), None)
    return name
