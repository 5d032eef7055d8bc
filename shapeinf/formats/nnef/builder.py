"""Builds a `Graph` from operations: inputs, constants and nodes. Checks the rules of NNEF 1.0.5, 4.1, for tensors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import prod

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import NnefError
from shapeinf.formats.nnef.evaluation.operation import Operation
from shapeinf.formats.nnef.evaluation.values import Symbol, Tensor, Value, flatten, literal_shape, primitive_of
from shapeinf.formats.nnef.files.datum_types import dtype_of
from shapeinf.formats.nnef.language.ast import Document
from shapeinf.formats.nnef.language.diagnostics import MAX_DIAGNOSTICS, SourceText
from shapeinf.formats.nnef.language.types import DTYPES
from shapeinf.formats.nnef.versions import VERSIONS
from shapeinf.graph import DeclaredType, Graph, NodeKind, NodeTable
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.lattice.types import MAX_ELEMENTS

LABEL = re.compile(r"[A-Za-z0-9_\-./\\]+")
"""The legal labels of variables, which are file names (4.1)."""

_LONGEST_NAME = 40


def build(operations: Iterable[Operation], document: Document, source: SourceText) -> Graph:
    """The graph of a document, from its operations.

    Raises:
        NnefError: an illegal declaration of an input, variable or constant.
    """
    builder = Builder(document, source)
    for operation in operations:
        builder.add(operation)
    if builder.diagnostics:
        raise NnefError(builder.diagnostics, source.render)
    return builder.finish()


class Builder:
    """A graph to which operations are added."""

    def __init__(self, document: Document, source: SourceText) -> None:
        """Start with an empty graph."""
        self.document = document
        self.source = source
        self.nodes = NodeTable()
        self.diagnostics: list[Diagnostic] = []
        self.graph = Graph(document.graph.name, "nnef", {"": VERSIONS[document.dialect]}, nodes=self.nodes)
        self._kinds: dict[tuple[str, int, object], NodeKind] = {}
        self._literals: dict[tuple[str, str], str] = {}
        self._shared: dict[tuple[str, tuple[int, ...]], PartialTensor] = {}
        self._labels: dict[str, tuple[int, ...]] = {}
        self._outside = {
            "external": self._external,
            "tract_core_external": self._external,
            "variable": self._variable,
            "constant": self._constant,
        }

    def finish(self) -> Graph:
        """The graph, with inputs and outputs in the order of the document."""
        graph, document = self.graph, self.document.graph
        declared = [name.name for name in document.parameters]
        inputs = set(graph.inputs)
        others = inputs.difference(declared)
        graph.inputs = [name for name in declared if name in inputs] + [n for n in graph.inputs if n in others]
        graph.outputs = [name.name for name in document.results]
        graph.source = self.source.name
        return graph

    def add(self, operation: Operation) -> None:
        """Add the node, input or constant of an operation."""
        op, outputs = operation.op, operation.outputs
        outside = self._outside.get(op)
        if outputs:
            self.graph.locations[outputs[0]] = self.source.location(operation.at)
        if outside is not None:
            outside(operation)
            return
        attributes = operation.attributes
        key = (op, id(attributes), operation.type_argument)
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = NodeKind(op, "", self._attributes(operation))
        nodes = self.nodes
        numbers = nodes.numbers
        read = []
        for value in operation.inputs:
            if type(value) is Tensor:
                read.append(numbers[value.name])
            else:
                read.append(numbers["" if value is None else self._literal(value)])
        if not outputs:
            return  # `[] = split(...)`: nothing reads a node without outputs
        written = tuple(map(nodes.add_output, outputs))
        nodes.rows.append(
            (kind if len(written) == 1 else (kind, *(True,) * len(written)), tuple(read), written, outputs[0])
        )

    def _attributes(self, operation: Operation) -> Mapping[str, object]:
        """The attributes of an operation; those of a generic one have its element type under the name `?`."""
        if operation.type_argument is None:
            return operation.attributes
        return {**operation.attributes, "?": DTYPES[operation.type_argument.name]}

    # -- literals ----------------------------------------------------------------------------------------------------

    def _literal(self, value: Value) -> str:
        """The name of the constant of a literal that stands for a tensor; equal literals share a constant."""
        dtype = DTYPES[primitive_of(value) or "scalar"]
        if type(value) is tuple and dtype == "int64" and self.document.dialect == "tract" and _fits(value, 31):
            dtype = "int32"  # only single integers are dims in tract
        written = _format_literal(value)
        key = (dtype, written)
        name = self._literals.get(key)
        if name is None:
            name = written if len(written) <= _LONGEST_NAME else written[: _LONGEST_NAME - 3] + "..."
            taken = self.graph.constants
            if name in taken:
                name = next(n for n in (f"{name} {i}" for i in range(2, len(taken) + 3)) if n not in taken)
            self._literals[key] = name
            taken[name] = tensor(dtype, literal_shape(value), flatten(value))
        return name

    # -- tensors from outside ----------------------------------------------------------------------------------------

    def _external(self, operation: Operation) -> None:
        name = operation.outputs[0]
        dims: list[int | str | None] = []
        provisional = self.document.dialect == "provisional"
        for extent in _extents(operation):
            if isinstance(extent, Symbol):
                dims.append(extent.text)
            elif extent == 0 and provisional:
                dims.append(None)  # "unspecified" in the provisional dialect, 3.3.4
            elif isinstance(extent, int) and extent >= self._smallest:
                dims.append(extent)
            elif extent is None:
                dims.append(None)
            else:
                self._error(operation, self._extent_error(operation, extent))
        datum = operation.attributes.get("datum_type")
        dtype = dtype_of(datum) if isinstance(datum, str) else self._dtype(operation)
        self.graph.inputs.append(name)
        self.graph.declared[name] = DeclaredType(dtype, tuple(dims))

    def _variable(self, operation: Operation) -> None:
        name, label = operation.outputs[0], operation.attributes.get("label")
        shape = self._shape(operation)
        if isinstance(label, str):
            if not label or (self.document.dialect == "final" and not LABEL.fullmatch(label)):
                self._error(operation, "a label must be made of letters, digits and the characters _ - . / \\")
            known = self._labels.setdefault(label.lower(), shape)
            if known != shape:
                message = f"variables with the label {label!r} have the shapes {list(known)} and {list(shape)}"
                self._error(operation, message)
        key = (self._dtype(operation), shape)
        constant = self._shared.get(key)
        if constant is None:
            constant = self._shared[key] = PartialTensor(key[0], Shape(shape), None)
        self.graph.constants[name] = constant

    def _constant(self, operation: Operation) -> None:
        name = operation.outputs[0]
        shape = self._shape(operation)
        value = operation.attributes.get("value")
        contents = flatten(value) if isinstance(value, tuple) else [value]
        if len(contents) not in (1, prod(shape)):
            message = f"the constant {name} of the shape {list(shape)} has {len(contents)} values, not {prod(shape)}"
            self._error(operation, message)
            contents = []
        self.graph.constants[name] = tensor(self._dtype(operation), shape, contents)

    def _dtype(self, operation: Operation) -> str:
        return "float32" if operation.type_argument is None else DTYPES[operation.type_argument.name]

    def _shape(self, operation: Operation) -> tuple[int, ...]:
        """The shape of a variable or constant: positive integers (1.0: "strictly positive"); tract also allows 0."""
        extents = _extents(operation)
        shape = tuple([extent for extent in extents if isinstance(extent, int) and extent >= self._smallest])
        if len(shape) < len(extents):
            illegal = next(extent for extent in extents if not isinstance(extent, int) or extent < self._smallest)
            self._error(operation, self._extent_error(operation, illegal))
        return shape

    @property
    def _smallest(self) -> int:
        return 0 if self.document.dialect == "tract" else 1

    def _extent_error(self, operation: Operation, extent: object) -> str:
        kind = "at least 0" if self.document.dialect == "tract" else "positive"
        return f"the extents of {operation.outputs[0]} must be {kind}, not {extent}"

    def _error(self, operation: Operation, message: str) -> None:
        if len(self.diagnostics) < MAX_DIAGNOSTICS:
            self.diagnostics.append(self.source.error("N601", message, operation.at, operation.calls))


def tensor(dtype: str, shape: Sequence[int], contents: Sequence[object]) -> PartialTensor:
    """A constant tensor. A single item is the value of all elements; no item stands for unknown contents."""
    count = prod(shape)
    if dtype == "int64" and not _fits(contents, 63):
        contents = ()  # no runtime can hold this number
    if not contents or count > MAX_ELEMENTS or (len(contents) != count and len(contents) != 1):
        return PartialTensor(dtype, Shape(shape), () if count == 0 else None)
    return PartialTensor(dtype, Shape(shape), contents if len(contents) == count else contents * count)  # type: ignore[arg-type,operator]


def _fits(contents: Sequence[object], bits: int) -> bool:
    """Whether all integers in nested arrays fit into this many bits and a sign."""
    return all(
        _fits(item, bits) if isinstance(item, tuple) else not isinstance(item, int) or -(1 << bits) <= item < 1 << bits
        for item in contents
    )


def _extents(operation: Operation) -> tuple[object, ...]:
    shape = operation.attributes.get("shape", ())
    return shape if isinstance(shape, tuple) else (shape,)


def _format_literal(value: Value) -> str:
    """The complete text of a literal, which is also the key of its constant."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "[" + ", ".join(map(_format_literal, value)) + "]" if isinstance(value, tuple) else repr(value)
