"""The rule of a single node, applied to what a session knows of its inputs: nothing that other nodes imply is used."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from shapeinf.engine.compiled import CompiledGraph, NodeStep, compile_graph
from shapeinf.engine.session import Session
from shapeinf.errors import ShapeInferenceError
from shapeinf.graph import UNUSED, DeclaredType, Graph, Node, NodeKind
from shapeinf.inputs.options import InferenceOptions
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type

PlannerShape = tuple[int | str | None, ...] | None
"""Numbers, names, and None for a blank dim; None for an unknown rank."""


class PlannerType(NamedTuple):
    """What a session knows of an input of a node; `constant` is an initializer."""

    dtype: str | None
    shape: PlannerShape
    constant: PartialTensor | None = None


def planner_shape(shape: Shape, texts: Mapping[str, str] = MappingProxyType({})) -> PlannerShape:
    """The numbers of a shape, and the texts of the symbols that have one; all other dims are blank."""
    if shape.dims is None:
        return None
    return tuple([d if isinstance(d, int) else texts.get(d.symbol.name) if d.is_symbol else None for d in shape.dims])


class NodeInference:
    """Infers single nodes of a graph by the rules of shapeinf; equal nodes with equal inputs once."""

    def __init__(self, compiled: CompiledGraph) -> None:
        """No node is inferred."""
        self.compiled = compiled
        self._known: dict[Hashable, tuple[Mapping[int, Type | None], Mapping[str, str]]] = {}

    def infer(self, step: NodeStep, types: Sequence[PlannerType | None], like: str = "") -> Mapping[int, PlannerShape]:
        """The shapes of the outputs of a node, by position; none where the rule fails.

        `like` is the operator of the default domain whose rule applies.
        """
        types_of, texts = self._infer_types(step, types, like)
        return {i: planner_shape(t.shape, texts) for i, t in types_of.items() if isinstance(t, TensorType)}

    def contents(self, step: NodeStep, types: Sequence[PlannerType | None]) -> PartialTensor | None:
        """The contents of the first output of a node where all elements are numbers."""
        value = self._infer_types(step, types)[0].get(0)
        if isinstance(value, PartialTensor) and all(type(item) is int for item in value.elements or (None,)):
            return value
        return None

    def _infer_types(
        self, step: NodeStep, types: Sequence[PlannerType | None], like: str = ""
    ) -> tuple[Mapping[int, Type | None], Mapping[str, str]]:
        """The types of the outputs by position, and the texts of the dims of the inputs by symbol."""
        if step.operation.bodies:
            return {}, {}
        operands = tuple([t and (t.dtype, t.shape, t.constant and t.constant.elements) for t in types])
        key = (step.operation.kind, operands, len(step.outputs))
        if key not in self._known:
            self._known[key] = self._run(step, types, like)
        return self._known[key]

    def _run(
        self, step: NodeStep, types: Sequence[PlannerType | None], like: str
    ) -> tuple[Mapping[int, Type | None], Mapping[str, str]]:
        symbols = {dim: f"d{i}" for i, dim in enumerate(dict.fromkeys(_texts(types)))}
        graph = self._graph_of(step, types, symbols, like)
        texts = {symbol: text for text, symbol in symbols.items()}
        try:
            options = InferenceOptions(declared="ignore")
            inference = Session(compile_graph(graph, self.compiled.registry), options).run().inference
        except ShapeInferenceError:
            return {}, texts
        table, slots = inference.table, inference.compiled.slots
        numbers = {i: inference.numbers[slots[f"y{i}"]] for i, slot in enumerate(step.outputs) if slot != UNUSED}
        return {i: table.types[table.canonical[number]] for i, number in numbers.items()}, texts

    def _graph_of(
        self, step: NodeStep, types: Sequence[PlannerType | None], symbols: Mapping[str, str], like: str
    ) -> Graph:
        """A graph of the node alone, in which each text of a dim is a symbol: an expression is one text here."""
        names = tuple(["" if value is None else f"x{position}" for position, value in enumerate(types)])
        outputs = tuple(["" if slot == UNUSED else f"y{position}" for position, slot in enumerate(step.outputs)])
        known = [(name, value) for name, value in zip(names, types, strict=True) if value is not None]
        outer, kind = self.compiled.graph, step.operation.kind
        return Graph(
            dialect=outer.dialect,
            opsets=outer.opsets,
            inputs=[name for name, value in known if value.constant is None],
            outputs=[name for name in outputs if name],
            nodes=[Node(NodeKind(like, "", kind.attrs) if like else kind, names, outputs)],
            declared={name: _declared(value, symbols) for name, value in known if value.constant is None},
            constants={name: value.constant for name, value in known if value.constant is not None},
        )


def _texts(types: Sequence[PlannerType | None]) -> Iterator[str]:
    for value in types:
        yield from (dim for dim in (value and value.shape) or () if isinstance(dim, str))


def _declared(value: PlannerType, symbols: Mapping[str, str]) -> DeclaredType:
    dims = value.shape and tuple([symbols[dim] if isinstance(dim, str) else dim for dim in value.shape])
    return DeclaredType(value.dtype, dims)
