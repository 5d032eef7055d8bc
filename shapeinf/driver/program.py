"""A graph compiled once into a flat program: call, input slots, output slots."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from shapeinf.errors import ModelError
from shapeinf.graph import FunctionKey, Graph, Node, NodeKind, components, subgraphs, topological_order, validate
from shapeinf.ops import Call, Contents, OpDef, OpRegistry

MISSING = -1
"""Slot of an optional input that is not given; the state has nothing there."""

UNUSED = -2
"""Slot of an optional output that is not wanted; whatever is written there is never read."""


class Operation:
    """What equal nodes of a program share: the call of the operator's rule, or the graph that stands for it.

    `call` is None for an operator without a rule; then `body` may be a function of the model, or the operator's own
    definition in terms of others (`op_def.expand`) says what it does.
    """

    __slots__ = ("bodies", "body", "call", "captures", "contents", "expansion", "kind", "op_def", "version")

    def __init__(
        self, kind: NodeKind, version: int, op_def: OpDef | None, call: Call | None, body: FunctionKey | None
    ) -> None:
        """An operation without subgraphs."""
        self.kind = kind
        self.version = version
        self.op_def = op_def
        self.call = call
        self.contents = Contents.ANY if call is None else call.contents
        self.body = body
        self.bodies: dict[str, Program] = {}
        self.expansion: Program | None = None
        self.captures: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether anything says what the outputs are."""
        expands = self.op_def is not None and self.op_def.expand is not None
        return self.call is not None or self.body is not None or expands

    def __str__(self) -> str:
        """Operator, domain and version, as shown in messages."""
        domain = f"{self.kind.domain}." if self.kind.domain else ""
        return f"{domain}{self.kind.op}" + (f" (version {self.version})" if self.version else "")


class Step(NamedTuple):
    """One node, ready to run. `inputs` ends with the slots of what its subgraphs read of this graph."""

    place: int
    node: Node
    operation: Operation
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def site(self) -> str:
        """The name that its unknowns and facts carry."""
        return self.node.name or next((o for o in self.node.outputs if o), self.node.op)

    @property
    def arguments(self) -> tuple[int, ...]:
        """The slots of the node's own inputs."""
        return self.inputs[: len(self.node.inputs)]


class Program:
    """The steps of a graph in the order they run, in groups: one step, or the steps of a cycle."""

    def __init__(
        self,
        graph: Graph,
        registry: OpRegistry,
        slots: dict[str, int],
        steps: list[Step],
        groups: list[list[int]] | None,
        functions: dict[FunctionKey, Graph],
    ) -> None:
        """`groups` is None for an acyclic graph: then each step runs once, in order."""
        self.graph = graph
        self.registry = registry
        self.slots = slots
        self.steps = steps
        self.groups = groups
        self.functions = functions

    @cached_property
    def consumers(self) -> list[list[int]]:
        """The steps that read each slot."""
        found: list[list[int]] = [[] for _ in self.slots]
        for step in self.steps:
            for slot in step.inputs:
                if slot != MISSING and (not found[slot] or found[slot][-1] != step.place):
                    found[slot].append(step.place)
        return found

    @cached_property
    def producers(self) -> list[int | None]:
        """The step that writes each slot."""
        found: list[int | None] = [None] * len(self.slots)
        for step in self.steps:
            for slot in step.outputs:
                if slot != UNUSED:
                    found[slot] = step.place
        return found

    @cached_property
    def names(self) -> list[str]:
        """The name of each slot."""
        return list(self.slots)


def compile_graph(
    graph: Graph,
    registry: OpRegistry,
    functions: dict[FunctionKey, Graph] | None = None,
    captures: tuple[str, ...] = (),
) -> Program:
    """Compile; `captures` are names of the outer graph that it reads.

    Raises ModelError for dangling inputs, duplicate names, and cycles that the graph does not allow.
    """
    functions = graph.functions if functions is None else functions
    compiler = _Compiler(graph, registry, functions, captures)
    order = range(len(graph.nodes))
    try:
        return Program(graph, registry, compiler.slots, compiler.steps(order), None, functions)
    except (KeyError, _NotInOrderError):
        return _compile_carefully(graph, registry, functions, captures)


def _compile_carefully(
    graph: Graph, registry: OpRegistry, functions: dict[FunctionKey, Graph], captures: tuple[str, ...]
) -> Program:
    """For graphs that are not in order, cyclic or wrong; says what is wrong."""
    validate(graph, captures, allow_cycles=graph.cyclic)
    order = topological_order(graph)
    groups = None if order is not None else components(graph)
    ordered = order if order is not None else [i for group in groups or [] for i in group]
    compiler = _Compiler(graph, registry, functions, captures)
    for i in ordered:
        compiler.output_slots(graph.nodes[i])
    try:
        steps = compiler.steps(ordered)
    except KeyError as error:
        raise ModelError(f"{error.args[0]!r} is made by no node of this graph or of the graphs around it") from None
    place = {i: index for index, i in enumerate(ordered)}
    placed = None if groups is None else [[place[i] for i in group] for group in groups]
    return Program(graph, registry, compiler.slots, steps, placed, functions)


class _NotInOrderError(Exception):
    """A name is made twice, or read before it is made."""


class _Compiler:
    """Assigns slots and makes steps."""

    def __init__(
        self,
        graph: Graph,
        registry: OpRegistry,
        functions: dict[FunctionKey, Graph],
        captures: tuple[str, ...],
    ) -> None:
        self.graph = graph
        self.registry = registry
        self.functions = functions
        self.slots: dict[str, int] = {}
        for name in (*graph.inputs, *graph.constants, *captures):
            self.slots.setdefault(name, len(self.slots))
        if len(graph.inputs) != len(set(graph.inputs)):
            validate(graph, captures)
        self.operations: dict[object, Operation] = {}
        self.prepared = False

    def output_slots(self, node: Node) -> None:
        """Give slots to the outputs of a node ahead of its step, so that readers may come first."""
        self.prepared = True
        for name in node.outputs:
            if name:
                self.slots.setdefault(name, len(self.slots))

    def steps(self, order: range | list[int]) -> list[Step]:
        """The steps of the nodes in this order. Raises KeyError for a name that has no slot yet."""
        slots, operations = self.slots, self.operations
        nodes, new = self.graph.nodes, tuple.__new__
        slots[""] = MISSING
        slot_of = slots.__getitem__
        found: list[Step] = []
        for index, i in enumerate(order):
            node = nodes[i]
            kind, names, made, _ = node
            key = kind if len(made) == 1 else (kind, *map(bool, made))
            operation = operations.get(key)
            if operation is None:
                operation = operations[key] = self.operation(kind, made)
            if operation.captures:
                names = (*names, *operation.captures)
            inputs = tuple(map(slot_of, names))
            name = made[0] if len(made) == 1 else ""
            if name and name not in slots:
                slots[name] = slot = len(slots) - 1  # the empty name is no slot
                outputs: tuple[int, ...] = (slot,)
            else:
                outputs = tuple([self.output_slot(name) for name in made])
            found.append(new(Step, (index, node, operation, inputs, outputs)))
        for name in self.graph.outputs:
            if name not in slots:
                raise _NotInOrderError
        del slots[""]
        return found

    def output_slot(self, name: str) -> int:
        """The slot of an output, a new one unless it was given ahead."""
        if not name:
            return UNUSED
        slots = self.slots
        if name in slots:
            if self.prepared:
                return slots[name]
            raise _NotInOrderError
        slots[name] = slot = len(slots) - 1
        return slot

    def operation(self, kind: NodeKind, outputs: tuple[str, ...]) -> Operation:
        """What all nodes of a kind that make these outputs do."""
        version = self.graph.opsets.get(kind.domain, 0)
        op_def = self.registry.lookup(self.graph.dialect, kind.domain, kind.op, version)
        call = None if op_def is None else self.registry.call(op_def, kind, version, tuple(map(bool, outputs)))
        key = (kind.domain, kind.op, kind.overload)
        body = key if call is None and key in self.functions else None
        found = Operation(kind, version, op_def, call, body)
        captures: dict[str, None] = {}
        for name, graph in subgraphs(kind):
            free = tuple(graph.free_names())
            captures.update(dict.fromkeys(free))
            found.bodies[name] = compile_graph(graph, self.registry, self.functions, free)
        found.captures = tuple(captures)
        return found
