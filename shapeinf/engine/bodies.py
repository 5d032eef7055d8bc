"""Graphs inside graphs: the bodies that a node carries, functions of the model, operators defined by others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from shapeinf.engine.compiled import Program, Step, compile_graph
from shapeinf.engine.execution import execute
from shapeinf.engine.inference import Inference
from shapeinf.engine.learned import add_common
from shapeinf.engine.type_table import unknown_type
from shapeinf.engine.violations import violations
from shapeinf.errors import LimitError, ModelError, NotKnown, ShapeError, Source
from shapeinf.graph import Graph, bind_attributes
from shapeinf.lattice import PartialTensor, SequenceType, TensorType, Type
from shapeinf.ops import Body

MAX_CALLS = 64
"""How deeply functions may call functions."""


@attrs.define(eq=False)
class BodyRun:
    """A subgraph of a node, bound to the values that it reads of the outer graph."""

    outer: Inference
    step: Step
    name: str
    program: Program

    @property
    def num_inputs(self) -> int:
        """Number of formal inputs."""
        return len(self.program.graph.inputs)

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        return len(self.program.graph.outputs)

    def declared_rank(self, index: int) -> int | None:
        """See `shapeinf.ops.Body`."""
        graph = self.program.graph
        declared = graph.declared.get(graph.inputs[index])
        return None if declared is None or declared.dims is None else len(declared.dims)

    def run(self, inputs: Sequence[Type | None], *, certain: bool, accumulate: bool = False) -> list[Type]:
        """See `shapeinf.ops.Body`."""
        outer = self.outer
        before_it = outer.children.get(self.step.place, {}).pop(self.name, None)
        if not outer.budget.spend(len(self.program.rows)):
            raise NotKnown("the bodies of this model, run as often as they must be, have too many nodes to be followed")
        child = self._child(inputs, certain and outer.certain)
        child.beside = before_it if accumulate else None
        if before_it is not None and before_it.certain:
            outer.trials.setdefault(self.step.place, []).append(before_it)
        outer.children.setdefault(self.step.place, {})[self.name] = child
        before = None if certain else outer.store.copy()
        tentative, outer.store.tentative = outer.store.tentative, outer.store.tentative or not certain
        try:
            execute(child)
            outer.created_unknowns |= child.created_unknowns
            found = results(child)
            return found if certain else list(map(_listed_only, found))
        finally:
            outer.store.tentative = tentative
            if before is not None:
                if outer.store.version != before.version:
                    child.told = before, outer.store.copy()
                outer.store.reset(before)
                outer.table.refresh()

    @property
    def failure(self) -> str:
        """See `shapeinf.ops.Body`."""
        sure = next((note for note, sure in violations(self._last) if sure), None)
        return "" if sure is None else f"'{sure.node}': {sure.message}"

    def require_common(self, other: Body) -> None:
        """See `shapeinf.ops.Body`."""
        assert isinstance(other, BodyRun)
        one, another = self._last.told, other._last.told
        if one is not None and another is not None:
            source = Source(self.outer.path + self.step.site, "one of the branches runs, and neither takes other sizes")
            add_common(self.outer.store, one, another, source)
            self.outer.table.refresh()

    @property
    def _last(self) -> Inference:
        return self.outer.children[self.step.place][self.name]

    def require_inputs(self, inputs: Sequence[Type | None]) -> None:
        """See `shapeinf.ops.Body`."""
        outer = self.outer
        if outer.budget.spend(len(self.program.rows)):
            child = self._child(inputs, outer.certain)
            outer.trials.setdefault(self.step.place, []).append(child)
            execute(child)
            outer.created_unknowns |= child.created_unknowns

    def _child(self, inputs: Sequence[Type | None], certain: bool) -> Inference:
        """The inference of the body, with its inputs and what it reads of the outer graph."""
        child = _child(self.outer, self.step, self.program, certain)
        for name, found in zip(self.program.graph.inputs, inputs, strict=False):
            child.set(name, found)
        captures = self.step.operation.captures
        for name, slot in zip(captures, self.step.captured, strict=True):
            if name in self.program.slots:
                child.numbers[self.program.slots[name]] = self.outer.numbers[slot]
        return child


def _listed_only(found: Type) -> Type:
    """The type without contents that are not listed: loops compare types of trips, and guess from listed ones."""
    if isinstance(found, TensorType) and found.elements is None and found.contents is not None:
        return PartialTensor(found.dtype, found.shape, None)
    if type(found) is SequenceType:
        items = None if found.items is None else tuple(map(_listed_only, found.items))
        return SequenceType(_listed_only(found.element), found.length, items)
    return found


class Bodies:
    """How the graphs inside a node are run; see `shapeinf.engine.inference.Inner`."""

    def bodies_of(self, outer: Inference, step: Step) -> Mapping[str, BodyRun]:
        """The bodies that a node carries, by the name of their attribute."""
        return {name: BodyRun(outer, step, name, program) for name, program in step.operation.bodies.items()}

    def expanded(self, outer: Inference, step: Step, types: Sequence[Type | None]) -> list[Type] | None:
        """The output types of a node that stands for a graph; None where there is no such graph for these inputs."""
        return _expanded(outer, step, types)


def results(child: Inference) -> list[Type]:
    """The output types of a body that has run."""
    found = (child.current(child.program.slots[name]) for name in child.program.graph.outputs)
    return [unknown_type() if one is None else one for one in found]


def _child(outer: Inference, step: Step, program: Program, certain: bool) -> Inference:
    path = f"{outer.path}{step.site}/"
    child = Inference(program, outer.store, outer.strict, inner=outer.inner, outer=outer, path=path, certain=certain)
    for constant, found in program.graph.constants.items():
        child.set(constant, found)
    return child


def _expanded(outer: Inference, step: Step, types: Sequence[Type | None]) -> list[Type] | None:
    """The output types of a node that stands for a graph: a function of the model, or the operator's definition.

    None where the operator has no definition for these inputs. Raises ModelError for a function that calls itself.
    """
    operation = step.operation
    key = operation.body or (operation.kind.domain, operation.kind.op, "")
    if key in outer.calling:
        raise ModelError(f"the function {key[1]} calls itself", node=outer.path + step.site)
    if len(outer.calling) >= MAX_CALLS:
        raise LimitError(f"functions call functions deeper than {MAX_CALLS}", node=outer.path + step.site)
    program = _program(outer, step, types)
    if program is None:
        return None
    if not outer.budget.spend(len(program.rows)):
        raise LimitError("the functions of this model expand to too many nodes", node=outer.path + step.site)
    if len(step.outputs) > len(program.graph.outputs) or len(step.arguments) > len(program.graph.inputs):
        message = f"the function has {len(program.graph.inputs)} inputs and {len(program.graph.outputs)} outputs"
        raise ShapeError(message, code="S103", operands=(f"{len(step.arguments)} and {len(step.outputs)} in the call",))
    child = _child(outer, step, program, outer.certain)
    outer.children.setdefault(step.place, {})[operation.kind.op] = child
    child.calling = (*outer.calling, key)
    for name, found in zip(program.graph.inputs, types, strict=False):
        child.set(name, found)
    execute(child)
    outer.created_unknowns |= child.created_unknowns
    return results(child)


def _program(outer: Inference, step: Step, types: Sequence[Type | None]) -> Program | None:
    """The compiled graph that a node stands for; that of a function is compiled once for equal nodes."""
    operation, program = step.operation, outer.program
    if operation.body is not None:
        if operation.expansion is None:
            function = program.functions[operation.body]
            graph: Graph | None = bind_attributes(function, {**function.defaults, **operation.kind.attrs})
            assert graph is not None
            operation.expansion = compile_graph(graph, program.registry, program.functions)
        return operation.expansion
    assert operation.op_def is not None and operation.op_def.expand is not None
    graph = operation.op_def.expand(operation.kind.attrs, types, len(step.outputs))
    return None if graph is None else compile_graph(graph, program.registry, program.functions)
