"""A graph compiled once into a flat program: operator, attributes, input slots, output slots."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import attrs

from shapeinf.errors import ModelError
from shapeinf.graph import Graph, Node, components, topological_order, validate
from shapeinf.ops import OpDef, OpRegistry

MISSING = -1
"""Slot of an optional input that is not given."""


@attrs.frozen(eq=False)
class Step:
    """One node, ready to run."""

    index: int
    node: Node
    op_def: OpDef | None
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    wants_value: tuple[bool, ...]
    key: Hashable

    @property
    def site(self) -> str:
        """The name that its unknowns and facts carry."""
        return self.node.name or next((o for o in self.node.outputs if o), self.node.op)

    @property
    def op(self) -> str:
        """Operator, dialect's domain and version, as shown in messages."""
        domain = f"{self.node.domain}." if self.node.domain else ""
        return f"{domain}{self.node.op}" + (f" (version {self.version})" if self.version else "")


@attrs.define(eq=False)
class Program:
    """The steps of a graph in the order they run, in groups: one step, or the steps of a cycle."""

    graph: Graph
    slots: dict[str, int]
    steps: list[Step]
    groups: list[list[int]] | None
    consumers: list[list[int]]
    producers: list[int | None]


def compile_graph(graph: Graph, registry: OpRegistry) -> Program:
    """Compile; raises ModelError for dangling inputs, duplicate names, and cycles that the graph does not allow."""
    validate(graph, allow_cycles=graph.cyclic)
    order = topological_order(graph)
    groups = components(graph) if order is None else None
    ordered = order if order is not None else [i for group in groups or [] for i in group]
    slots: dict[str, int] = {}
    for name in (*graph.inputs, *graph.constants):
        slots.setdefault(name, len(slots))
    for i in ordered:
        for name in graph.nodes[i].outputs:
            if name:
                slots.setdefault(name, len(slots))
    steps = [_step(index, graph.nodes[i], slots, registry, graph) for index, i in enumerate(ordered)]
    place = {i: index for index, i in enumerate(ordered)}
    return Program(
        graph,
        slots,
        steps,
        None if groups is None else [[place[i] for i in group] for group in groups],
        *_edges(steps, len(slots)),
    )


def _step(index: int, node: Node, slots: Mapping[str, int], registry: OpRegistry, graph: Graph) -> Step:
    version = graph.opsets.get(node.domain, 0)
    op_def = registry.lookup(graph.dialect, node.domain, node.op, version)
    wants = tuple(_wants_value(op_def, i) for i in range(len(node.inputs)))
    try:
        inputs = tuple(slots[name] if name else MISSING for name in node.inputs)
    except KeyError as error:
        raise ModelError(f"input {error.args[0]!r} is made by no node", node=node.name) from None
    outputs = tuple(slots[name] if name else MISSING for name in node.outputs)
    key = (node.domain, node.op, version, len(outputs), _attrs_key(node.attrs))
    return Step(index, node, op_def, version, inputs, outputs, wants, key)


def _wants_value(op_def: OpDef | None, index: int) -> bool:
    return op_def is not None and op_def.rule is not None and op_def.rule.wants_value(index)


def _attrs_key(attributes: Mapping[str, object]) -> Hashable:
    """Equal for equal attributes; its own for attributes that cannot be compared (subgraphs)."""
    try:
        key = tuple(sorted(attributes.items(), key=lambda item: item[0]))
        hash(key)
    except TypeError:
        return id(attributes)
    return key


def _edges(steps: list[Step], slots: int) -> tuple[list[list[int]], list[int | None]]:
    """Steps that read each slot, and the step that writes it."""
    consumers: list[list[int]] = [[] for _ in range(slots)]
    producers: list[int | None] = [None] * slots
    for step in steps:
        for slot in step.inputs:
            if slot != MISSING and (not consumers[slot] or consumers[slot][-1] != step.index):
                consumers[slot].append(step.index)
        for slot in step.outputs:
            if slot != MISSING:
                producers[slot] = step.index
    return consumers, producers
