"""The shapes of a graph during its evaluation, for documents with `shape_of`."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.errors import ModelError, ShapeError
from shapeinf.expr import DimSize, parse_dim_lenient
from shapeinf.formats.nnef.builder import Builder
from shapeinf.formats.nnef.evaluation.operation import Operation
from shapeinf.formats.nnef.language.ast import Document
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.versions import VERSIONS
from shapeinf.graph import DeclaredType, Node
from shapeinf.lattice import PartialTensor, Shape, ShapeStore, Type
from shapeinf.ops import OpRegistry, default_registry


class ShapesSoFar:
    """Infers the operations so far, each once; the inference of the complete graph reports violations."""

    def __init__(self, document: Document, source: SourceText, registry: OpRegistry | None = None) -> None:
        """Start without operations."""
        self.builder = Builder(document, source)
        self.registry = registry or default_registry()
        self.version = VERSIONS[document.dialect]
        self.store = ShapeStore()
        self.types: dict[str, Type] = {}
        self._done = 0

    def __call__(self, operations: Sequence[Operation], name: str) -> list[int | None] | None:
        """The extents of a tensor, None for unknown ones; None instead of extents for an unknown rank."""
        while self._done < len(operations):
            self._run(operations[self._done])
            self._done += 1
        value = self._type(name)
        if not isinstance(value, PartialTensor) or value.shape.dims is None:
            return None
        dims = self.store.canon_shape(value.shape).require()
        return [d if isinstance(d, int) else None for d in dims]

    def _type(self, name: str) -> Type | None:
        return self.types.get(name) or self.builder.graph.constants.get(name)

    def _run(self, operation: Operation) -> None:
        builder = self.builder
        nodes = len(builder.nodes)
        builder.add(operation)
        for name in operation.outputs:
            if name in builder.graph.declared:
                self.types[name] = self._declared_type(builder.graph.declared[name], name)
        if len(builder.nodes) > nodes:
            self._infer(builder.nodes[nodes])

    def _declared_type(self, declared: DeclaredType, name: str) -> Type:
        dims = [self._dim(dim, f"{name}.{axis}") for axis, dim in enumerate(declared.dims or ())]
        return PartialTensor(declared.dtype, Shape(dims), None)

    def _dim(self, declared: int | str | None, label: str) -> DimSize:
        if isinstance(declared, str):
            dim, _ = parse_dim_lenient(declared, self.store.scope, 1)
            if dim is not None:
                return dim
        return declared if isinstance(declared, int) else self.store.scope.fresh(label, 1)

    def _infer(self, node: Node) -> None:
        op_def = self.registry.lookup("nnef", "", node.op, self.version)
        wanted = (True,) * len(node.outputs)
        call = None if op_def is None else self.registry.call(op_def, node.kind, node.attrs, self.version, wanted)
        if call is None:
            return
        inputs = [self._type(name) if name else None for name in node.inputs]
        if any(value is None and name for value, name in zip(inputs, node.inputs, strict=True)):
            return
        try:
            outcome = call.run(inputs, self.store, node.name)
        except (ShapeError, ModelError):
            return
        self.types.update(zip(node.outputs, outcome.types, strict=False))
