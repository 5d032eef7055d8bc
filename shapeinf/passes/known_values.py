"""What inference proves of the values of a model at every size, for passes that compute values or drop nodes.

An inference that trusts no declaration of a value, assumes nothing, and allows dims of size 0. The type of a value is
the one that it had when its node had run: it follows from the inputs and from the constraints of the nodes before it,
never from a constraint of a reader. So a reader whose operand is replaced still has its own precondition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy.typing as npt
import onnx_ir as ir

from shapeinf.api import as_graph, infer_shapes
from shapeinf.constraints.common import new_constraints
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import rerun
from shapeinf.expr import DimSize
from shapeinf.inputs.options import DEFAULT_OPTIONS, without_defaults
from shapeinf.lattice import PartialTensor, ShapeStore, TensorType
from shapeinf.passes.editor import OVERRIDABLE_SINCE, Editor
from shapeinf.passes.outline import outline
from shapeinf.passes.shape_operands import means_itself
from shapeinf.passes.types import bodies as bodies_of
from shapeinf.passes.types import values


@attrs.frozen
class KnownValues:
    """The types of values: in the main graph, in the branches of If, and of constants in loops.

    Args:
        types: by value; what loops and functions compute, which run several times, is not there.
        requiring: the nodes that constrain sizes, create an unknown, or that inference reports an error or has no
            rule for. A model without such a node may accept more sizes.
        failing: the nodes that inference reports a contradiction of. Where a constant shows it too, a runtime may
            refuse to load the model, although the node may never run.
        store: the constraints of the file alone.
    """

    types: Mapping[ir.Value, TensorType]
    requiring: frozenset[ir.Node]
    failing: frozenset[ir.Node]
    store: ShapeStore

    @classmethod
    def of(cls, editor: Editor) -> KnownValues:
        """What is known of the model of a pass that has changed nothing yet; it is inferred once for all passes."""
        known = editor.types.derived.get(cls)
        if not isinstance(known, cls):
            known = editor.types.derived[cls] = cls.infer(editor.model)
        return known

    @classmethod
    def infer(cls, model: ir.Model) -> KnownValues:
        """Infer a model, in which a caller may override the default of an input. Raises what `infer_shapes` raises."""
        graph = as_graph(outline(model), DEFAULT_OPTIONS)
        if model.ir_version >= OVERRIDABLE_SINCE:
            graph = without_defaults(graph, graph.inputs)
        first = infer_shapes(graph, declared="ignore", min_dim=0).engine.inference
        watch = _Watch()
        store = first.initial_store
        last = rerun(first, store.copy(), watch.begin, assume=False)
        collected = _Collected()
        watch.collect(model.graph, last, collected)
        known = cls(collected.types, frozenset(), frozenset(collected.failing), store)
        nodes = {producer for value in collected.types if (producer := value.producer()) is not None}
        undecided = {node for node in nodes if known.is_undecided(node)}
        return attrs.evolve(known, requiring=frozenset(collected.requiring | undecided))

    def is_undecided(self, node: ir.Node) -> bool:
        """Whether a node is a Reshape whose target may mean something else at size 0."""
        if node.op_type != "Reshape" or node.domain != "" or len(node.inputs) != 2:
            return False
        x, target = self.dims(node.inputs[0]), self.elements(node.inputs[1])
        copies = node.attributes.get_int("allowzero", 0) == 0
        return x is None or target is None or not means_itself(x, target, copies, self.least)

    def dims(self, value: ir.Value | None) -> tuple[DimSize, ...] | None:
        """The shape of a value; None where its rank is unknown."""
        known = None if value is None else self.types.get(value)
        return None if known is None else known.shape.dims

    def elements(self, value: ir.Value | None) -> tuple[object, ...] | None:
        """The contents of a value, None where they are unknown; single elements may be None too."""
        known = None if value is None else self.types.get(value)
        return None if known is None else known.elements

    def array(self, value: ir.Value | None) -> npt.NDArray[Any] | None:
        """The contents of a value as an array, where all are numbers; else None."""
        known = None if value is None else self.types.get(value)
        return known.array() if isinstance(known, PartialTensor) else None

    def least(self, size: DimSize) -> float:
        """The least number that a dim may be."""
        return self.store.bounds(size)[0]


@attrs.define
class _Collected:
    """What is known of the graphs that were visited."""

    types: dict[ir.Value, TensorType] = attrs.Factory(dict)
    requiring: set[ir.Node] = attrs.Factory(set)
    failing: set[ir.Node] = attrs.Factory(set)

    def add(self, graph: ir.Graph, inference: Inference, numbers: Sequence[int], nodes: Mapping[int, ir.Node]) -> None:
        """Add the types of the values of one graph, and its nodes with errors, unknowns, or without rules."""
        slots = inference.compiled.slots
        for value in values(graph):
            known = inference.table.types[numbers[slots[value.name]]] if value.name in slots else None
            if isinstance(known, TensorType):
                self.types[value] = known
        opened = {call.row for call in inference.open_calls}
        for index, node in nodes.items():
            if any(note.code not in _UNKNOWN for note in inference.node_diagnostics.get(index, ())):
                self.failing.add(node)
            if index in opened or node in self.failing or not inference.compiled.step(index).operation.known:
                self.requiring.add(node)

    def add_bodies(self, node: ir.Node, bodies: Mapping[str, Inference]) -> None:
        """Add the branches of an If, each of which runs at most once, and the constants of other bodies."""
        for name, inference in bodies.items():
            attribute = node.attributes.get(name)
            if attribute is None or attribute.type != ir.AttributeType.GRAPH:
                continue
            graph, inside = attribute.as_graph(), _Collected()
            nodes = _rows(graph, inference)
            inside.add(graph, inference, inference.numbers, nodes)
            inside.requiring.update(_constraining(inference, nodes))
            for index, inner in inference.children.items():
                if index in nodes:
                    inside.add_bodies(nodes[index], inner)
            once = node.op_type == "If" and node.domain == ""
            self.types.update({v: known for v, known in inside.types.items() if once or _is_computed_once(v)})
            self.requiring |= inside.requiring
            self.failing |= inside.failing


class _Watch:
    """Follows the nodes of one inference: which of them add constraints, and the types when all have run once."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._requiring: set[int] = set()
        self._children: dict[int, dict[str, Inference]] = {}
        self._version = 0

    def begin(self, inference: Inference) -> None:
        """Follow an inference that has not run."""
        self._version = inference.store.version

        def follow(done: int, total: int) -> None:
            if inference.store.version != self._version:
                self._version = inference.store.version
                self._requiring.add(done - 1)
            if done == total:  # nodes may run again, with what later ones require
                self._numbers = list(inference.numbers)
                self._children = dict(inference.children)

        inference.progress = follow

    def collect(self, graph: ir.Graph, inference: Inference, collected: _Collected) -> None:
        """Add what is known of the main graph."""
        nodes = _rows(graph, inference)
        collected.add(graph, inference, self._numbers or inference.numbers, nodes)
        collected.requiring.update(nodes[index] for index in self._requiring if index in nodes)
        for index, bodies in self._children.items():
            if index in nodes:
                collected.add_bodies(nodes[index], bodies)


_UNKNOWN = frozenset(["S201", "S202"])
"""The codes of diagnostics that report what is unknown."""


def _rows(graph: ir.Graph, inference: Inference) -> dict[int, ir.Node]:
    """The nodes of a graph by the index of their row."""
    producers, slots = inference.compiled.producers, inference.compiled.slots
    result: dict[int, ir.Node] = {}
    for node in graph:
        for output in node.outputs:
            index = producers[slots[output.name]] if output.name in slots else None
            if index is not None:
                result[index] = node
    return result


def _is_computed_once(value: ir.Value) -> bool:
    """Whether a value of a loop is a constant, or computed from constants."""
    pending, seen = [value], {value}
    while pending:
        current = pending.pop()
        producer = current.producer()
        if producer is None:
            if not current.is_initializer() or current.is_graph_input():
                return False
            continue
        if any(True for _ in bodies_of(producer)):
            return False
        inputs = {source for source in producer.inputs if source is not None} - seen
        seen |= inputs
        pending += inputs
    return True


def _constraining(inference: Inference, nodes: Mapping[int, ir.Node]) -> Iterator[ir.Node]:
    """The nodes of a branch that are the source of a constraint."""
    states = inference.undone or (inference.initial_store, inference.store)
    sources = {constraint.source.node for constraint in new_constraints(*states)}
    for index, node in nodes.items():
        if inference.path + inference.compiled.step(index).node_name in sources:
            yield node
