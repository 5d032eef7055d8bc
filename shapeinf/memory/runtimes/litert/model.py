"""The subgraphs of a file with the inferred types of their tensors, as LiteRT runs them: in the order of the file."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import trips
from shapeinf.engine.type_table import canonicalize
from shapeinf.errors import LimitError, ModelError, NotKnown
from shapeinf.expr import DimSize, ceildiv
from shapeinf.formats.tflite.document import Document, TensorRecord, read_document
from shapeinf.formats.tflite.document import Subgraph as SubgraphRecord
from shapeinf.formats.tflite.flatbuffer import LimitReachedError, MalformedError
from shapeinf.formats.tflite.model import TfliteModel
from shapeinf.formats.tflite.reader import open_model
from shapeinf.formats.tflite.storage import SubgraphStorage, read_storage
from shapeinf.graph import FunctionReference, Graph, NodeKind
from shapeinf.lattice import Shape, ShapeStore, TensorType, Type, element_bits
from shapeinf.lattice.dtypes import HANDLES
from shapeinf.memory.runtimes.litert.subgraph import Call, Subgraph, Value
from shapeinf.solver.long_dims import product_of

HANDLE_BYTES = 4
"""The bytes of a resource."""
NOT_INFERRED = "this subgraph was not inferred: no run is known to reach it"


@attrs.frozen(eq=False)
class FileModel:
    """The main subgraph of a file, and all of them by index, with their values in the graphs.

    Args:
        main: the main subgraph.
        subgraphs: all that a run may reach, by index.
        document: the tables of the file.
        names: the values of tensors by subgraph and index.
    """

    main: Subgraph
    subgraphs: Mapping[int, Subgraph]
    document: Document
    names: Mapping[tuple[int, int], str]


def read_model(inference: Inference, store: ShapeStore) -> FileModel:
    """The subgraphs of a model under the constraints of a store.

    Raises ModelError for a graph that was not read from a file, or whose file is damaged; ChangedFileError.
    """
    graph = inference.compiled.graph
    model = graph.model
    if not isinstance(model, TfliteModel):
        raise ModelError(
            "the memory of a runtime of TensorFlow Lite is that of a file: the graph was not read from one"
        )
    try:
        with open_model(graph) as buffer:
            builder = _Builder(inference, store, read_document(buffer), model)
            main = builder.subgraph(model.subgraph, graph, inference)
            return FileModel(main, builder.subgraphs, builder.document, model.names)
    except LimitReachedError as error:
        raise LimitError(str(error)) from error
    except MalformedError as error:
        raise ModelError(str(error)) from error


class _Builder:
    """Builds the records of subgraphs."""

    def __init__(self, inference: Inference, store: ShapeStore, document: Document, model: TfliteModel) -> None:
        self.inference, self.store, self.document, self.model = inference, store, document, model
        self.storages: dict[int, SubgraphStorage] = {}
        self.subgraphs: dict[int, Subgraph] = {}

    def subgraph(self, index: int, graph: Graph, run: Inference | None) -> Subgraph:
        """A subgraph; `run` is None for one that was not inferred."""
        record = self.document.subgraph(index)
        if index not in self.storages:
            self.storages[index] = read_storage(self.document, index)
        storage = self.storages[index]
        written = {i for node in record.operators for i in node.outputs}
        values = [
            self._value(tensor, self.model.names[index, i], run, i in written or i in record.inputs, storage, i)
            for i, tensor in enumerate(record.tensors)
        ]
        calls = self._calls(record, graph, run, storage)
        subgraph = Subgraph(index, record.name or str(index), tuple(values), calls, record.inputs, record.outputs)
        return self.subgraphs.setdefault(index, subgraph) if run is None else self._keep(subgraph)

    def _keep(self, subgraph: Subgraph) -> Subgraph:
        self.subgraphs[subgraph.index] = subgraph
        return subgraph

    def _value(
        self,
        tensor: TensorRecord,
        name: str,
        run: Inference | None,
        is_computed: bool,
        storage: SubgraphStorage,
        index: int,
    ) -> Value:
        type_ = self._type(tensor, name, run, is_computed)
        is_constant = tensor.data is not None or (not is_computed and not tensor.is_variable and 0 in tensor.dims)
        size: DimSize | None = None
        cause = ""
        try:
            size = bytes_of(self.store, type_, tensor)
        except NotKnown as unknown:
            cause = unknown.reason if run is not None else NOT_INFERRED
        stated = stated_bytes(tensor)
        scales = storage.scales[index]
        is_sparse = index in storage.sparse
        return Value(name, type_, size, stated, is_constant, tensor.is_variable, scales, is_sparse, cause)

    def _type(self, tensor: TensorRecord, name: str, run: Inference | None, is_computed: bool) -> Type | None:
        """The inferred type; that of the file for a constant or a variable."""
        if not is_computed:
            return TensorType(tensor.dtype, Shape(tensor.dims))
        slot = None if run is None else run.compiled.slots.get(name)
        if run is None or slot is None:
            return TensorType(tensor.dtype, Shape.unknown())
        value = run.table.get(run.table.canonical[run.numbers[slot]])
        value = None if value is None else canonicalize(self.store, value)
        if not isinstance(value, TensorType):
            return value
        return value if value.dtype is not None else TensorType(tensor.dtype, value.shape)

    def _calls(
        self, record: SubgraphRecord, graph: Graph, run: Inference | None, storage: SubgraphStorage
    ) -> tuple[Call, ...]:
        positions = _positions(run)
        calls = []
        for number, (node, operator) in enumerate(zip(graph.nodes, record.operators, strict=True)):
            kind = node.kind
            op_def = self.inference.compiled.registry.lookup("tflite", kind.domain, kind.op, 1)
            bodies = self._bodies(kind, run, positions.get(number))
            calls.append(
                Call(
                    f"{number} ({kind.op})",
                    op_def,
                    operator.inputs,
                    operator.outputs,
                    kind.attrs,
                    bodies,
                    storage.intermediates[number],
                )
            )
        return tuple(calls)

    def _bodies(self, kind: NodeKind, run: Inference | None, position: int | None) -> tuple[Subgraph, ...]:
        """The subgraphs that a node runs, in the order of its attributes."""
        children = {} if run is None or position is None else run.children.get(position, {})
        bodies = []
        for name, value in kind.attrs.items():
            several = isinstance(value, tuple)
            for i, item in enumerate(value if isinstance(value, tuple) else (value,)):
                if not isinstance(item, FunctionReference):
                    continue
                child = children.get(f"{name}[{i}]" if several else name)
                first = None if child is None else list(trips(child))[-1]
                function = self.inference.compiled.graph.functions[item.function]
                bodies.append(self.subgraph(int(item.function[1].split()[-1]), function, first))
        return tuple(bodies)


def _positions(run: Inference | None) -> dict[int, int]:
    """The row of each node of the file."""
    return {} if run is None else dict(enumerate(run.compiled.file_order))


def bytes_of(store: ShapeStore, value: Type | None, tensor: TensorRecord) -> DimSize:
    """The bytes of a tensor. Raises NotKnown."""
    dtype = value.dtype if isinstance(value, TensorType) else tensor.dtype
    if dtype in HANDLES:
        return HANDLE_BYTES
    bits = element_bits(dtype)
    if bits is None:
        return 0  # a text, whose bytes are on the heap
    if not isinstance(value, TensorType) or value.shape.dims is None:
        raise NotKnown("its rank is not known")
    elements = product_of(store, value.shape.dims)
    if elements is None:
        raise NotKnown("its size is too long a formula")
    return elements * (bits // 8) if bits % 8 == 0 else ceildiv(elements * bits, 8)


def stated_bytes(tensor: TensorRecord) -> int:
    """The bytes of a tensor with the sizes in the file."""
    bits = HANDLE_BYTES * 8 if tensor.dtype in HANDLES else element_bits(tensor.dtype) or 0
    return -(-bits * prod(tensor.dims) // 8)
