"""Graphs inside graphs: the bodies of a node, functions of the model, operators defined in terms of others.

An inner graph runs as an `Inference` of its own, a *child* of the outer one, and shares its store, types and budget. It
is created here and not in `session`, since its inputs are values of a node and not shapes of a user. A rule runs the
bodies of its node through the protocol `shapeinf.ops.Body`, which `BoundBody` implements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from shapeinf.constraints.common import add_common
from shapeinf.constraints.conditions import try_condition
from shapeinf.engine.compiled import CompiledGraph, NodeStep, compile_graph
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.inference import Inference
from shapeinf.engine.propagate import run
from shapeinf.engine.records import Repetition
from shapeinf.engine.runs import captured_slots
from shapeinf.engine.type_table import canonicalize, unknown_type
from shapeinf.errors import LimitError, ModelError, NotKnown, ShapeError, Source
from shapeinf.expr import Dimension, DimSize
from shapeinf.graph import FunctionKey, FunctionReference
from shapeinf.lattice import Condition, HandleType, PartialTensor, SequenceType, ShapeStore, TensorType, Type
from shapeinf.ops import Body
from shapeinf.sharing import cached_property

MAX_CALLS = 64
"""The most calls of functions inside one another."""

STEPS_PER_UNDONE_RUN = 200
"""The steps of the start and end of a body that may not run: copies of the store, and what bodies have in common."""


@attrs.define(eq=False, slots=False)
class BoundBody:
    """A subgraph of a node, bound to the outer values that it captures, or a function that an attribute refers to.

    `name` is that of the attribute.
    """

    outer: Inference
    step: NodeStep
    name: str
    source: CompiledGraph | FunctionReference

    @cached_property
    def compiled(self) -> CompiledGraph:
        """The compiled body. Raises ShapeError for a function that the model does not have."""
        if isinstance(self.source, CompiledGraph):
            return self.source
        return self.outer.compiled.functions.compile(self.source.function, self.source.attrs)

    @property
    def label(self) -> str:
        """The label of the body in the names of its tensors; empty where its operator has none."""
        op_def = self.step.operation.op_def
        return "" if op_def is None else op_def.label(self.name)

    @property
    def num_inputs(self) -> int:
        """The number of formal inputs."""
        return len(self.compiled.graph.inputs)

    @property
    def num_outputs(self) -> int:
        """The number of outputs."""
        return len(self.compiled.graph.outputs)

    def declared_rank(self, index: int) -> int | None:
        """See `shapeinf.ops.Body`."""
        graph = self.compiled.graph
        declared = graph.declared.get(graph.inputs[index])
        return None if declared is None or declared.dims is None else len(declared.dims)

    def run(
        self,
        inputs: Sequence[Type | None],
        *,
        certain: bool,
        accumulate: bool = False,
        trip: int | None = None,
        condition: Condition | None = None,
    ) -> list[Type]:
        """See `shapeinf.ops.Body`."""
        outer = self.outer
        previous = outer.children.get(self.step.index, {}).pop(self.name, None)
        outer.require_run(len(self.compiled.rows))
        child = self._child(inputs, certain and outer.certain)
        child.previous_run = previous if accumulate else None
        if previous is not None and previous.certain:
            outer.extra_runs.setdefault(self.step.index, []).append(previous)
        outer.children.setdefault(self.step.index, {})[self.name] = child
        if certain:
            self._run_trip(child, trip)
            return output_types(child)
        return list(map(_drop_unlisted_contents, self._run_and_undo(child, trip, condition)))

    def _run_and_undo(self, child: Inference, trip: int | None, condition: Condition | None) -> list[Type]:
        """Run the body under a condition; the outputs in canonical form there. All its constraints are undone."""
        outer, store = self.outer, self.outer.store
        before = outer.save_store()
        entered = before.store
        certain, store.certain = store.certain, False
        try:
            if condition is not None:
                try_condition(store, condition.expression, Source("", "the condition of the branch"))
                entered = store.copy()
            self._run_trip(child, trip)
            return [canonicalize(store, output) for output in output_types(child)]
        finally:
            store.certain = certain
            store.scope.work += STEPS_PER_UNDONE_RUN
            if before.differs_from(store):
                child.undone = entered, store.copy()
            outer.restore_store(before)

    @property
    def store(self) -> ShapeStore:
        """See `shapeinf.ops.Body`."""
        undone = self._last.undone
        return self.outer.store if undone is None else undone[1]

    def repeat(self, trips: DimSize, number: Dimension | None = None) -> None:
        """See `shapeinf.ops.Body`."""
        if self.name in self.outer.children.get(self.step.index, {}):
            self._last.repeated = Repetition(trips, number)

    def preview(self, inputs: Sequence[Type | None]) -> list[Type]:
        """See `shapeinf.ops.Body`."""
        children = self.outer.children.setdefault(self.step.index, {})
        last = children.pop(self.name, None)
        try:
            return self.run(inputs, certain=False)
        finally:
            children.pop(self.name, None)
            if last is not None:
                children[self.name] = last

    @property
    def returned(self) -> list[Type]:
        """See `shapeinf.ops.Body`."""
        last = self.outer.children.get(self.step.index, {}).get(self.name)
        return [] if last is None else output_types(last)

    @property
    def failure(self) -> str:
        """See `shapeinf.ops.Body`."""
        certain = certain_violations(self._last)
        return f"'{certain[0].node}': {certain[0].message}" if certain else ""

    def require_common(self, other: Body) -> None:
        """See `shapeinf.ops.Body`."""
        assert isinstance(other, BoundBody)
        first, second = self._last.undone, other._last.undone
        if first is not None and second is not None:
            source = Source(
                self.outer.path + self.step.node_name, "one of the branches runs, and neither accepts other sizes"
            )
            add_common(self.outer.store, first, second, source)

    def _extend_calls(self, callee: FunctionReference, certain: bool) -> tuple[FunctionKey, ...]:
        """The call stack with this function on top. Raises LimitError for a stack that is too deep.

        Raises NotKnown for a function that calls itself in a branch that may not run: a recursion ends there.
        """
        calling = self.outer.call_stack
        if callee.function in calling and not certain:
            raise NotKnown(f"the function {callee.function[1]} calls itself")
        if len(calling) >= MAX_CALLS:
            node_name = self.outer.path + self.step.node_name
            raise LimitError(f"calls of functions are nested deeper than {MAX_CALLS}", node=node_name)
        return (*calling, callee.function)

    @property
    def _last(self) -> Inference:
        """The last run of the body."""
        return self.outer.children[self.step.index][self.name]

    def require_inputs(self, inputs: Sequence[Type | None]) -> None:
        """See `shapeinf.ops.Body`."""
        outer = self.outer
        if outer.budget.take_run(len(self.compiled.rows)):
            child = self._child(inputs, outer.certain)
            outer.extra_runs.setdefault(self.step.index, []).append(child)
            self._run_trip(child, "required")

    def _run_trip(self, child: Inference, trip: int | str | None) -> None:
        """Run the body; a trip that is not any trip has joins of its own."""
        with self.outer.store.relaxer.inside("" if trip is None else f"{self.name}:{trip};"):
            run(child)
        self.outer.created_unknowns |= child.created_unknowns

    def _child(self, inputs: Sequence[Type | None], certain: bool) -> Inference:
        """A new inference of the body, with its inputs and captures set."""
        child = _create_child(self.outer, self.step, self.compiled, certain, self.label)
        if isinstance(self.source, FunctionReference):
            child.call_stack = self._extend_calls(self.source, certain)
        for name, value in zip(self.compiled.graph.inputs, inputs, strict=False):
            child.set_type(name, value)
        for inner, slot in captured_slots(self.step, self.compiled):
            child.numbers[inner] = self.outer.numbers[slot]
        return child


def _drop_unlisted_contents(output: Type) -> Type:
    """The type without contents that are not a list of elements: loops compare the elements of iterations."""
    listed = isinstance(output, TensorType) and (output.elements is not None or isinstance(output, HandleType))
    if isinstance(output, TensorType) and not listed and output.contents is not None:
        return PartialTensor(output.dtype, output.shape, None)
    if type(output) is SequenceType:
        items = None if output.items is None else tuple(map(_drop_unlisted_contents, output.items))
        return SequenceType(_drop_unlisted_contents(output.element), output.length, items)
    return output


class Bodies:
    """See `shapeinf.engine.inference.BodyRunner`."""

    def bind_bodies(self, outer: Inference, step: NodeStep) -> Mapping[str, BoundBody]:
        """See `BodyRunner.bind_bodies`."""
        return {name: BoundBody(outer, step, name, body) for name, body in step.operation.bodies.items()}

    def expand(self, outer: Inference, step: NodeStep, types: Sequence[Type | None]) -> list[Type] | None:
        """See `BodyRunner.expand`.

        Raises ModelError for a function that calls itself, LimitError for calls that are too deep, and NotKnown past
        the budget.
        """
        operation = step.operation
        key = operation.body or (operation.kind.domain, operation.kind.op, "")
        if key in outer.call_stack:
            raise ModelError(f"the function {key[1]} calls itself", node=outer.path + step.node_name)
        if len(outer.call_stack) >= MAX_CALLS:
            raise LimitError(f"calls of functions are nested deeper than {MAX_CALLS}", node=outer.path + step.node_name)
        compiled = _definition(outer, step, types)
        if compiled is None:
            return None
        outer.require_run(len(compiled.rows))
        graph = compiled.graph
        if len(step.outputs) > len(graph.outputs) or len(step.arguments) > len(graph.inputs):
            message = f"the function has {len(graph.inputs)} inputs and {len(graph.outputs)} outputs"
            operands = (f"{len(step.arguments)} and {len(step.outputs)} in the call",)
            raise ShapeError(message, code="S103", operands=operands)
        child = _create_child(outer, step, compiled, outer.certain)
        outer.children.setdefault(step.index, {})[operation.kind.op] = child
        child.call_stack = (*outer.call_stack, key)
        for name, value in zip(graph.inputs, types, strict=False):
            child.set_type(name, value)
        run(child)
        outer.created_unknowns |= child.created_unknowns
        return output_types(child)


def output_types(child: Inference) -> list[Type]:
    """The output types of a body that has run; unknown for an output that no node has computed."""
    compiled = child.compiled
    outputs = (child.type_of(compiled.slots[name]) for name in compiled.graph.outputs)
    return [unknown_type() if output is None else output for output in outputs]


def _create_child(
    outer: Inference, step: NodeStep, compiled: CompiledGraph, certain: bool, label: str = ""
) -> Inference:
    """A new inference of an inner graph, with its constants set; its path is that of the node and the label."""
    path = f"{outer.path}{step.node_name}/{label}/" if label else f"{outer.path}{step.node_name}/"
    child = Inference(
        compiled, outer.store, outer.strict, body_runner=outer.body_runner, outer=outer, path=path, certain=certain
    )
    for name, constant in compiled.graph.constants.items():
        child.set_type(name, constant)
    return child


def _definition(outer: Inference, step: NodeStep, types: Sequence[Type | None]) -> CompiledGraph | None:
    """The compiled graph that defines a node; None where the operator has no definition for these inputs."""
    operation, compiled = step.operation, outer.compiled
    if operation.body is not None:
        return compiled.functions.compile(operation.body, operation.kind.attrs)
    assert operation.op_def is not None and operation.op_def.expand is not None
    graph = operation.op_def.expand(operation.kind.attrs, types, len(step.outputs))
    return None if graph is None else compile_graph(graph, compiled.registry, compiled.functions)
