"""The graphs of a file: its main subgraph, and those that operators run as functions with positional parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shapeinf.diagnostics import Diagnostic
from shapeinf.formats.tf.nodes import NodeScanner
from shapeinf.formats.tflite import codes
from shapeinf.formats.tflite.attributes import builtin_attributes
from shapeinf.formats.tflite.contents import constant_of
from shapeinf.formats.tflite.custom import custom_attributes
from shapeinf.formats.tflite.document import CUSTOM, Document, OperatorRecord, Subgraph, TensorRecord
from shapeinf.formats.tflite.flatbuffer import MalformedError
from shapeinf.formats.tflite.schema import Schema
from shapeinf.graph import DeclaredType, FunctionKey, FunctionReference, Graph, Node, NodeKind
from shapeinf.lattice.dtypes import element_bits

CUSTOM_DOMAIN = "custom"
OUTPUT_TYPES = "output_types"
"""The attribute with the element types of the outputs of a node: those of its tensors."""


def function_key(index: int) -> FunctionKey:
    """The key of the function that a subgraph is."""
    return ("", f"subgraph {index}", "")


def function_index(key: FunctionKey) -> int:
    """The subgraph that a function is.

    >>> function_index(function_key(3))
    3
    """
    return int(key[1].rpartition(" ")[2])


class ModelBuilder:
    """Builds the graphs of a file; equal nodes share their kind.

    Attributes:
        names: the value of each tensor that a graph has, by subgraph and index.
    """

    def __init__(self, document: Document, schema: Schema) -> None:
        """No graph is built."""
        self.document = document
        self.schema = schema
        self.names: dict[tuple[int, int], str] = {}
        self._functions: dict[FunctionKey, Graph] = {}
        self._kinds: dict[object, NodeKind] = {}
        self._open: list[int] = []
        self._scanner = NodeScanner()

    def build(self, index: int) -> Graph:
        """The graph of a subgraph, with the functions that it runs. Raises MalformedError."""
        graph = self._graph(index)
        graph.functions = self._functions
        return graph

    def _body(self, index: int) -> FunctionReference:
        """The function that a subgraph is. Raises MalformedError for one that runs itself."""
        key = function_key(index)
        if index in self._open:
            raise MalformedError(f"subgraph {index} runs itself")
        if key not in self._functions:
            self._functions[key] = self._graph(index)
        return FunctionReference(key)

    def _graph(self, index: int) -> Graph:
        subgraph = self.document.subgraph(index)
        self._open.append(index)
        builder = _SubgraphBuilder(self, subgraph)
        graph = builder.build()
        self._open.pop()
        return graph

    def kind(self, record: OperatorRecord, types: Sequence[str | None]) -> NodeKind:
        """The operator and the attributes of a node."""
        code = record.code
        operator = self.schema.operators.get(code.builtin)
        attributes: dict[str, object] = {OUTPUT_TYPES: tuple(types)}
        if code.builtin == CUSTOM:
            op, domain = code.custom, CUSTOM_DOMAIN
            attributes = {**custom_attributes(self.document, record, self._scanner), **attributes}
        else:
            op, domain = operator.name if operator is not None else f"BUILTIN_{code.builtin}", ""
            attributes.update(builtin_attributes(self.schema, record, self._body))
        try:
            key = op, domain, *((name, type(value), value) for name, value in attributes.items())
            kind = self._kinds.get(key)
        except TypeError:  # a value that is not hashable
            return NodeKind(op, domain, attributes)
        if kind is None:
            kind = self._kinds[key] = NodeKind(op, domain, attributes)
        return kind


class _SubgraphBuilder:
    """Builds the graph of one subgraph."""

    def __init__(self, model: ModelBuilder, subgraph: Subgraph) -> None:
        self.model = model
        self.subgraph = subgraph
        self.graph = Graph(name=subgraph.name, dialect="tflite", opsets={"": 1, CUSTOM_DOMAIN: 1}, traced=True)
        self.names = unique_names(subgraph.tensors)
        self.writers: dict[int, int] = {}
        """The first node that writes each tensor."""
        self.written: set[int] = set()
        """The tensors that nodes have written so far."""

    def build(self) -> Graph:
        """The graph."""
        graph, tensors = self.graph, self.subgraph.tensors
        inputs = list(dict.fromkeys(self.subgraph.inputs))
        if len(inputs) < len(self.subgraph.inputs):
            raise MalformedError(f"subgraph {self.subgraph.index}: a tensor is two of its inputs")
        for node, record in enumerate(self.subgraph.operators):
            for number in record.outputs:
                self.writers.setdefault(number, node)
        for number, tensor in enumerate(tensors):
            if number in inputs:
                graph.declared[self.names[number]] = declared_input(tensor)
            elif number not in self.writers or tensor.data is not None or tensor.is_variable:
                graph.constants[self.names[number]] = constant_of(self.model.document, tensor)
        graph.inputs = [self.names[number] for number in inputs]
        graph.nodes = [self._node(number, record) for number, record in enumerate(self.subgraph.operators)]
        graph.outputs = [self.names[number] for number in self.subgraph.outputs]
        for number in range(len(tensors)):
            self.model.names[self.subgraph.index, number] = self.names[number]
        return graph

    def _node(self, number: int, record: OperatorRecord) -> Node:
        tensors = self.subgraph.tensors
        inputs = tuple([self._read(index) if index >= 0 else "" for index in record.inputs])
        types = [tensors[index].dtype if index >= 0 else None for index in record.outputs]
        try:
            kind = self.model.kind(record, types)
        except MalformedError as error:
            raise type(error)(f"subgraph {self.subgraph.index}, node {number}: {error}") from error
        self._check_inputs(number, record, kind)
        outputs = tuple([self._write(index, number) if index >= 0 else "" for index in record.outputs])
        return Node(kind, inputs, outputs, str(number))

    def _check_inputs(self, number: int, record: OperatorRecord, kind: NodeKind) -> None:
        """Report inputs with which LiteRT refuses a node."""
        for position, index in enumerate(record.inputs):
            if index < 0 or index in record.inputs[:position]:
                continue
            tensor, writer = self.subgraph.tensors[index], self.writers.get(index)
            name = repr(tensor.name) if tensor.name else f"tensor {index}"
            if index in record.outputs:
                self._report(codes.IN_PLACE, f"{name} is both an input and an output", number, kind)
            elif writer is not None and self._is_unwritten(index):
                self._report(codes.READ_BEFORE, f"reads {name}, which node {writer} writes later", number, kind)
            elif writer is None and index not in self.subgraph.inputs and _lacks_data(tensor, position):
                self._report(codes.NO_DATA, f"reads {name}, which has no data and which no node writes", number, kind)

    def _is_unwritten(self, index: int) -> bool:
        """Whether nodes write a tensor, none of which has run so far, and it has no value before."""
        if index not in self.writers or index in self.written:
            return False
        return index not in self.subgraph.inputs and self.names[index] not in self.graph.constants

    def _read(self, index: int) -> str:
        """The value of a tensor that a node reads; one that is not written yet is memory of unknown contents."""
        name = self.names[index]
        if self._is_unwritten(index):
            name += "@"
            self.graph.constants[name] = constant_of(self.model.document, self.subgraph.tensors[index])
        return name

    def _report(self, code: str, message: str, node: int, kind: NodeKind) -> None:
        self.graph.diagnostics.append(Diagnostic("error", code, message, str(node), kind.op))

    def _write(self, index: int, node: int) -> str:
        """The value that a node writes: a tensor that has one before has a new one from then on."""
        name = self.names[index]
        if index in self.written or name in self.graph.constants or index in self.subgraph.inputs:
            name = self.names[index] = f"{name}@{node}"
        self.written.add(index)
        claimed = declared_output(self.subgraph.tensors[index])
        if claimed is not None:
            self.graph.declared[name] = claimed
        tensor = self.subgraph.tensors[index]
        if tensor.signature is not None:
            self.graph.planned[name] = DeclaredType(tensor.dtype, tensor.dims)
        return name


def declared_input(tensor: TensorRecord) -> DeclaredType:
    """The declared type of an input: -1 of the signature is an unknown size, and no sizes may be an unknown rank."""
    dims = tensor.dims if tensor.signature is None else tensor.signature
    if not dims and not tensor.has_rank:
        return DeclaredType(tensor.dtype)
    return DeclaredType(tensor.dtype, tuple([None if size < 0 else size for size in dims]))


def declared_output(tensor: TensorRecord) -> DeclaredType | None:
    """What the converter claims of a tensor that a node writes."""
    return declared_input(tensor)


def unique_names(tensors: Sequence[TensorRecord]) -> list[str]:
    """A name for each tensor: its own, or with its index where that is empty or not unique.

    >>> def tensor(name): return TensorRecord(name, None, (), None, 0, None, False, False, False)
    >>> unique_names([tensor("x"), tensor("y"), tensor("x"), tensor("")])
    ['x:0', 'y', 'x:2', ':3']
    """
    counts = Counter(tensor.name for tensor in tensors)
    taken = set(counts)
    names: list[str] = []
    for index, tensor in enumerate(tensors):
        name = tensor.name
        if not name or counts[name] > 1:
            name = f"{name}:{index}"
            while name in taken:
                name += ":"
            taken.add(name)
        names.append(name)
    return names


def _lacks_data(tensor: TensorRecord, position: int) -> bool:
    """Whether a tensor that no node writes has no data at all. LiteRT ignores a second input that is no vector."""
    if tensor.data is not None or tensor.is_variable or tensor.is_encoded or 0 in tensor.dims:
        return False
    return element_bits(tensor.dtype) is not None and (position != 1 or len(tensor.dims) == 1)
