"""What a session of onnxruntime holds after it is created: initializers, and weights packed for their kernels.

Data in other files are mapped, not allocated; a packed copy of them is. A packed weight replaces its initializer where
nothing else reads it, but not an initializer of a body. The same weight packed twice for an operator is one buffer.
These buffers lie outside the regions of the arena. A session holds those of all bodies, of branches that never run too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from shapeinf.engine.compiled import CompiledGraph, NodeStep, Operation
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import Shape, TensorType
from shapeinf.memory.runtimes.kernels import KernelContext
from shapeinf.memory.runtimes.onnxruntime.temporaries import kernel_context
from shapeinf.memory.sizes import Size, size_of

if TYPE_CHECKING:
    from shapeinf.memory.runtimes.onnxruntime.walk import GraphRun, Walk


@attrs.define(eq=False)
class Weight:
    """An initializer that kernels read.

    Args:
        path: the path of its graph, empty for the model.
        name: its name in this graph.
        type: its element type and shape.
        is_plain: whether a kernel reads it as it is.
        packed: the operators that pack it, as text with their attributes, each with the sizes of the buffers.
    """

    path: str
    name: str
    type: TensorType | None
    is_plain: bool = False
    packed: dict[tuple[str, tuple[DimSize, ...]], None] = attrs.Factory(dict)

    @property
    def is_released(self) -> bool:
        """Whether the session holds packed copies only: it frees no initializer of a body."""
        return not self.path and bool(self.packed) and not self.is_plain


@attrs.frozen(eq=False)
class _Graph:
    """A graph of a session: its nodes, its initializers by slot, and outer ones that it reads; `path` as in a run."""

    steps: Sequence[NodeStep]
    weights: Mapping[int, Weight]
    path: str
    context: Callable[[NodeStep], KernelContext]


class HeldWeights:
    """The weights of the graphs of a model."""

    def __init__(self, walk: Walk, external: Mapping[str, object]) -> None:
        """`external` has, by name of an initializer whose data are in another file, the part of the file."""
        self.walk = walk
        self.external = external
        self.weights: list[Weight] = []
        self.graphs: dict[GraphRun, _Graph] = {}
        for run in walk.graphs:
            self._add_run(run)

    def released(self, run: GraphRun) -> Collection[int]:
        """The slots of the initializers that a graph reads and that the session has replaced by packed copies."""
        return [slot for slot, weight in self.graphs[run].weights.items() if weight.is_released]

    def buffers(self) -> Iterator[tuple[str, Size]]:
        """The names and bytes of the buffers."""
        shared: set[object] = set()
        for weight in self.weights:
            part = self.external.get(weight.name)
            if part is None and not weight.is_released and (weight.is_plain or weight.packed):
                yield weight.path + weight.name, size_of(self.walk.inference.store, weight.type)
            for key in weight.packed:
                if part is None or (part, key) not in shared:
                    shared.add((part, key))
                    yield from ((f"{weight.path}{weight.name} packed", Size(amount)) for amount in key[1])

    def _add_run(self, run: GraphRun) -> None:
        """Add the weights of a graph that runs, then those of the bodies of its nodes that never run."""
        path, names = run.instance.path, run.compiled.names
        weights = {slot: self._weight(path, names[slot], run.tensor(slot)) for slot in sorted(run.own_constants)}
        for slot in run.outputs & run.own_constants:
            weights[slot].is_plain = True
        caller = run.caller
        if caller is not None:
            outer = self.graphs[caller.run].weights
            weights |= {slot: outer[source] for slot, source in caller.captures.items() if source in outer}
        constants = run.constants

        def context(step: NodeStep) -> KernelContext:
            return kernel_context(run.instance.runs[0], step, constants, run.walk.options)

        graph = self.graphs[run] = _Graph(run.steps, weights, path, context)
        self._add_reads(graph)
        ran = {(c.index, other.compiled) for other in self.walk.graphs if (c := other.caller) and c.run is run}
        for step in run.steps:
            for body in step.operation.bodies.values():
                if isinstance(body, CompiledGraph) and (step.index, body) not in ran:
                    self._add_body(graph, step, body)

    def _add_body(self, outer: _Graph, step: NodeStep, body: CompiledGraph) -> None:
        """Add the weights of a body that never runs: the types of its other values are not known."""
        path = f"{outer.path}{step.node_name}/"
        types: dict[int, TensorType | None] = {
            body.slots[name]: value for name, value in body.graph.constants.items() if name not in body.graph.inputs
        }
        steps = [body.step(index) for index in range(len(body.rows))]
        for inner in steps:
            if inner.operation.op_def is not None and inner.operation.op_def.stored:
                types |= {slot: _stored_type(inner) for slot in inner.outputs if slot != UNUSED}
        weights = {slot: self._weight(path, body.names[slot], value) for slot, value in types.items()}
        for name, slot in zip(step.operation.captures, step.captures, strict=True):
            if name in body.slots and slot in outer.weights:
                weights[body.slots[name]] = outer.weights[slot]

        def context(inner: NodeStep) -> KernelContext:
            return self._context_of_types(inner, body, weights)

        graph = _Graph(steps, weights, path, context)
        self._add_reads(graph)
        for inner in steps:
            for nested in inner.operation.bodies.values():
                if isinstance(nested, CompiledGraph):
                    self._add_body(graph, inner, nested)

    def _context_of_types(self, step: NodeStep, body: CompiledGraph, weights: Mapping[int, Weight]) -> KernelContext:
        """A call of a kernel of which only the weights are known. Raises NotKnown for an operator that is not known."""
        operation = step.operation
        if operation.op_def is None:
            raise NotKnown("the operator is not known")
        return KernelContext(
            operation.op_def,
            [weights[slot].type if slot in weights else None for slot in step.arguments],
            [None] * len(step.outputs),
            operation.kind.attrs,
            self.walk.inference.store,
            body.graph.opsets.get(operation.kind.domain, 0),
            constants=[position for position, slot in enumerate(step.arguments) if slot in weights],
            options=self.walk.options.kernels,
        )

    def _weight(self, path: str, name: str, value: TensorType | None) -> Weight:
        self.weights.append(Weight(path, name, value))
        return self.weights[-1]

    def _add_reads(self, graph: _Graph) -> None:
        """Add what the kernels of a graph make of its weights."""
        for step in graph.steps:
            buffers = self._packed(graph, step)
            for position, slot in enumerate(step.arguments):
                weight = None if slot == MISSING else graph.weights.get(slot)
                if weight is None:
                    continue
                if position in buffers:
                    weight.packed[_text(step.operation), tuple(buffers[position])] = None
                else:
                    weight.is_plain = True

    def _packed(self, graph: _Graph, step: NodeStep) -> Mapping[int, Sequence[DimSize]]:
        """By position, the buffers that replace constant inputs of a kernel; none where it was not measured."""
        if not any(slot in graph.weights for slot in step.arguments):
            return {}
        try:
            return self.walk.kernels.find_prepacked(graph.context(step))
        except NotKnown:
            return {}


def _stored_type(step: NodeStep) -> TensorType | None:
    """The type of the output of a node that is a constant: that of its attribute, a tensor, a number or a list."""
    for value in step.operation.kind.attrs.values():
        if isinstance(value, TensorType):
            return value
        items = value if isinstance(value, tuple) else (value,)
        dtype = "float32" if any(isinstance(item, float) for item in items) else "int64"
        if all(isinstance(item, (int, float)) for item in items):
            return TensorType(dtype, Shape((len(items),) if isinstance(value, tuple) else ()))
    return None


def _text(operation: Operation) -> str:
    """The text of an operator with its attributes."""
    return f"{operation} {sorted(operation.kind.attrs.items())}"
