"""Operations to a Graph: inputs, constants and nodes; and what must hold of tensors that come from outside (4.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import prod

from shapeinf.formats.nnef.evaluation.operation import Operation
from shapeinf.formats.nnef.evaluation.values import Symbol, Tensor, Value, flattened, literal_shape, primitive_of
from shapeinf.formats.nnef.files.datum_types import dtype_of
from shapeinf.formats.nnef.language.ast import Document
from shapeinf.formats.nnef.language.problems import MAX_PROBLEMS, NnefError, Problem, SourceText
from shapeinf.formats.nnef.language.types import DTYPES
from shapeinf.formats.nnef.versions import VERSIONS
from shapeinf.graph import DeclaredType, Graph, NodeKind, NodeTable
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.lattice.types import MAX_ELEMENTS

LABEL = re.compile(r"[A-Za-z0-9_\-./\\]+")
"""What the label of a variable is made of: it names a file (4.1)."""

_LONGEST_NAME = 40


def build(operations: Iterable[Operation], document: Document, source: SourceText) -> Graph:
    """The graph of a document, from its operations.

    Raises:
        NnefError: a tensor from outside is declared as it must not be.
    """
    builder = Builder(document, source)
    for operation in operations:
        builder.add(operation)
    if builder.problems:
        raise NnefError(builder.problems, source)
    return builder.finished()


class Builder:
    """A graph that grows by operations."""

    def __init__(self, document: Document, source: SourceText) -> None:
        """An empty graph."""
        self.document = document
        self.source = source
        self.nodes = NodeTable()
        self.problems: list[Problem] = []
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

    def finished(self) -> Graph:
        """The graph, with inputs and outputs in the order of the document."""
        graph, document = self.graph, self.document.graph
        wanted = [name.name for name in document.parameters]
        found = set(graph.inputs)
        graph.inputs = [name for name in wanted if name in found] + [n for n in graph.inputs if n not in set(wanted)]
        graph.outputs = [name.name for name in document.results]
        graph.source = self.source.name
        return graph

    def add(self, operation: Operation) -> None:
        """Append what an operation becomes."""
        op, outputs = operation.op, operation.outputs
        outside = self._outside.get(op)
        line, column = self.source.position(operation.at)
        if outputs:
            self.graph.locations[outputs[0]] = f"{self.source.name}:{line}:{column}"
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
                name = value.name.encode()
                number = numbers.get(name)
                read.append(nodes.input(name) if number is None else number)
            else:
                read.append(nodes.input(b"" if value is None else self._literal(value)))
        made = tuple([nodes.output(name.encode()) for name in outputs])
        nodes.rows.append((kind if len(made) == 1 else (kind, *(True,) * len(made)), tuple(read), made, outputs[0]))

    def _attributes(self, operation: Operation) -> Mapping[str, object]:
        """The attributes, with the element type under the name `?` where an operation is generic."""
        if operation.type_argument is None:
            return operation.attributes
        return {**operation.attributes, "?": DTYPES[operation.type_argument.name]}

    # -- literals ----------------------------------------------------------------------------------------------------

    def _literal(self, value: Value) -> bytes:
        """The name of a constant for a literal in the place of a tensor."""
        dtype = DTYPES[primitive_of(value) or "scalar"]
        if type(value) is tuple and dtype == "int64" and self.document.dialect == "tract" and _fits(value, 31):
            dtype = "int32"  # of tract's integers only single ones are dims
        written = _written(value)
        key = (dtype, written)
        name = self._literals.get(key)
        if name is None:
            name = written if len(written) <= _LONGEST_NAME else written[: _LONGEST_NAME - 3] + "..."
            taken = self.graph.constants
            if name in taken:
                name = next(n for n in (f"{name} {i}" for i in range(2, len(taken) + 3)) if n not in taken)
            self._literals[key] = name
            taken[name] = tensor(dtype, literal_shape(value), flattened(value))
        return name.encode()

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
            elif isinstance(extent, int) and extent >= self._least:
                dims.append(extent)
            elif extent is None:
                dims.append(None)
            else:
                self._wrong(operation, self._not_an_extent(operation, extent))
        datum = operation.attributes.get("datum_type")
        dtype = dtype_of(datum) if isinstance(datum, str) else self._dtype(operation)
        self.graph.inputs.append(name)
        self.graph.declared[name] = DeclaredType(dtype, tuple(dims))

    def _variable(self, operation: Operation) -> None:
        name, label = operation.outputs[0], operation.attributes.get("label")
        shape = self._shape(operation)
        if isinstance(label, str):
            if not label or (self.document.dialect == "final" and not LABEL.fullmatch(label)):
                self._wrong(operation, "a label must be made of letters, digits and the characters _ - . / \\")
            known = self._labels.setdefault(label.lower(), shape)
            if known != shape:
                message = f"variables with the label {label!r} have the shapes {list(known)} and {list(shape)}"
                self._wrong(operation, message)
        key = (self._dtype(operation), shape)
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = PartialTensor(key[0], Shape(shape), None)
        self.graph.constants[name] = found

    def _constant(self, operation: Operation) -> None:
        name = operation.outputs[0]
        shape = self._shape(operation)
        given = operation.attributes.get("value")
        contents = flattened(given) if isinstance(given, tuple) else [given]
        if len(contents) not in (1, prod(shape)):
            message = f"the constant {name} has {prod(shape)} items in {list(shape)}, but {len(contents)} values"
            self._wrong(operation, message)
            contents = []
        self.graph.constants[name] = tensor(self._dtype(operation), shape, contents)

    def _dtype(self, operation: Operation) -> str:
        return "float32" if operation.type_argument is None else DTYPES[operation.type_argument.name]

    def _shape(self, operation: Operation) -> tuple[int, ...]:
        """The shape of a variable or constant: positive integers (1.0: "strictly positive"); tract has 0 too."""
        given = _extents(operation)
        shape = tuple([extent for extent in given if isinstance(extent, int) and extent >= self._least])
        if len(shape) < len(given):
            wrong = next(extent for extent in given if not isinstance(extent, int) or extent < self._least)
            self._wrong(operation, self._not_an_extent(operation, wrong))
        return shape

    @property
    def _least(self) -> int:
        return 0 if self.document.dialect == "tract" else 1

    def _not_an_extent(self, operation: Operation, given: object) -> str:
        kind = "at least 0" if self.document.dialect == "tract" else "positive"
        return f"the extents of {operation.outputs[0]} must be {kind}, not {given}"

    def _wrong(self, operation: Operation, message: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem("N601", message, operation.at, operation.calls))


def tensor(dtype: str, shape: Sequence[int], contents: Sequence[object]) -> PartialTensor:
    """A constant tensor; one item stands for all, none for contents that are not known."""
    count = prod(shape)
    if dtype == "int64" and not _fits(contents, 63):
        contents = ()  # no runtime holds such a number
    if not contents or count > MAX_ELEMENTS or (len(contents) != count and len(contents) != 1):
        return PartialTensor(dtype, Shape(shape), () if count == 0 else None)
    return PartialTensor(dtype, Shape(shape), contents if len(contents) == count else contents * count)  # type: ignore[arg-type,operator]


def _fits(contents: Sequence[object], bits: int) -> bool:
    """Whether signed integers with so many bits beside the sign hold all numbers of nested arrays."""
    return all(
        _fits(item, bits) if isinstance(item, tuple) else not isinstance(item, int) or -(1 << bits) <= item < 1 << bits
        for item in contents
    )


def _extents(operation: Operation) -> tuple[object, ...]:
    shape = operation.attributes.get("shape", ())
    return shape if isinstance(shape, tuple) else (shape,)


def _written(value: Value) -> str:
    """A literal as text, all of it: also the key under which its constant is shared."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "[" + ", ".join(map(_written, value)) + "]" if isinstance(value, tuple) else repr(value)
