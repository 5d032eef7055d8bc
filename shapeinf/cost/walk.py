"""The nodes of an inference with those of its bodies and functions, and the cost of each over all of its runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import attrs

from shapeinf.cost.node_costs import NodeCosts, RunCost
from shapeinf.cost.records import FIELDS, Amounts, Branches, CostTable, NodeCost, Uncounted, add_dims, sum_amounts
from shapeinf.cost.repetition import repeat
from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.diagnostics import possible_bodies
from shapeinf.engine.inference import Inference
from shapeinf.engine.records import Repetition
from shapeinf.engine.runs import Calls, argument_slots, body_path, callee, captured_slots, check_expansion, trips
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize, maximum
from shapeinf.graph import MISSING, UNUSED, module_path
from shapeinf.lattice import HandleType, TensorType, Type
from shapeinf.solver.long_dims import is_long, product_of

_CYCLE = "it is in a cycle, whose number of iterations is not known"
_PER_RUN = FIELDS[:4]
"""The amounts that every run adds."""


class Weight(NamedTuple):
    """The identity of a weight: the graph and the slot of its constant, which all calls of a function share."""

    graph: int
    slot: int


@attrs.define(eq=False)
class _Row:
    """The cost of a node: one part for each run."""

    name: str
    op: str
    parts: list[Amounts] = attrs.Factory(list)
    reason: str = ""
    unsized: str = ""
    bounded: bool = False
    weights: list[DimSize] = attrs.Factory(list)

    @property
    def total(self) -> Amounts:
        """The amounts of all runs, with the parameters that the node is the first to read."""
        total = self.parts[0] if len(self.parts) == 1 else sum_amounts(self.parts)
        if not self.weights:
            return total
        return attrs.evolve(total, parameters=add_dims([total.parameters, *self.weights]))


Rows = dict[tuple[str, int], _Row]
"""The costs of nodes by the path of the graph and the index of the node."""


@attrs.frozen
class _Instance:
    """One run of a graph: its path, the weights among its values, and the loops around it, the innermost first."""

    run: Inference
    path: str
    weights: list[Weight | None]
    loops: tuple[Repetition, ...]
    rows: Rows
    bounded: bool = False


def count(inference: Inference) -> CostTable:
    """The costs of all nodes. Raises LimitError where functions and bodies expand to too many nodes."""
    walk = _Walk(inference)
    rows: Rows = {}
    walk.run(_Instance(inference, "", walk.constants(inference), (), rows))
    return _table(rows, walk.branches.values())


class _Walk:
    """Visits every node of every run once."""

    def __init__(self, inference: Inference) -> None:
        self.store = inference.store
        self.costs = NodeCosts()
        self.calls = Calls()
        self.claimed: set[Weight] = set()
        self.branches: dict[str, Branches] = {}
        self.inner_nodes = 0

    def constants(self, run: Inference) -> list[Weight | None]:
        """The weights by slot, filled in for the constants of a graph."""
        compiled = run.compiled
        weights: list[Weight | None] = [None] * len(compiled.names)
        for name in compiled.graph.constants:
            weights[compiled.slots[name]] = Weight(id(compiled), compiled.slots[name])
        return weights

    def run(self, instance: _Instance) -> None:
        """Visit the nodes of a graph in order."""
        compiled = instance.run.compiled
        self.calls.enter(instance.run)
        for index in range(len(compiled.rows)):
            self.node(instance, compiled.step(index))
        cycles = [group for group in compiled.groups or () if compiled.is_cycle(group)]
        for index in itertools.chain(*cycles):
            row = instance.rows.get((instance.path, index))
            if row is not None:
                row.reason = _CYCLE

    def node(self, instance: _Instance, step: NodeStep) -> None:
        """Visit one node, its bodies after it."""
        if instance.path:
            self.inner_nodes += 1
            check_expansion(self.inner_nodes, instance.path + step.node_name)
        run, operation = instance.run, step.operation
        called = self.callee(run, step)
        if called is not None:
            self.call(instance, step, called)
            return
        row = instance.rows.setdefault(
            (instance.path, step.index),
            _Row(instance.path + step.node_name, operation.kind.op, bounded=instance.bounded),
        )
        conditional = run.compiled.conditional
        row.bounded |= conditional is not None and conditional[step.index]
        self.track_weights(instance, step, row)
        cost = self.costs.cost_of(run, step)
        row.reason, row.unsized = row.reason or cost.reason, row.unsized or cost.unsized
        if cost.reason:
            return
        row.parts.append(self.sum_trips(row, cost.amounts, instance.loops))
        if operation.bodies:
            self.bodies(instance, step, cost, row)

    def sum_trips(self, row: _Row, amounts: Amounts, loops: Sequence[Repetition]) -> Amounts:
        """The amounts over all trips of the loops around a node."""
        try:
            for loop in loops:
                values = {name: repeat(self.store, getattr(amounts, name), loop) for name in _PER_RUN}
                amounts = Amounts(**values, parameters=amounts.parameters)
        except NotKnown as unknown:
            row.reason = unknown.reason
        return amounts

    # -- functions and bodies ----------------------------------------------------------------------------------------

    def callee(self, run: Inference, step: NodeStep) -> Inference | None:
        """The run of the function, or definition, that a node stands for; None where it has a cost of its own."""
        operation = step.operation
        op_def, name = operation.op_def, callee(operation)
        expands = operation.call is None and op_def is not None and op_def.expand is not None
        if not name and expands and not _has_rule(step):
            name = operation.kind.op
        return self.calls.bodies(run, step).get(name) if name else None

    def call(self, instance: _Instance, step: NodeStep, callee: Inference) -> None:
        """Visit a function on the values of its caller."""
        weights = self.constants(callee)
        for argument, slot in argument_slots(step, callee.compiled):
            weights[argument] = instance.weights[slot]
        path = f"{instance.path}{step.node_name}/"
        self.run(attrs.evolve(instance, run=callee, path=path, weights=weights))

    def bodies(self, instance: _Instance, step: NodeStep, cost: RunCost, row: _Row) -> None:
        """Visit the bodies of a node: all of them, or the alternatives of which one runs."""
        if step.index in instance.run.reasons:
            row.reason = f"its bodies were not inferred: {instance.run.reasons[step.index]}"
            return
        possible = possible_bodies(instance.run, step.index)
        if not cost.chooses or len(possible) == 1:
            for name, child in possible.items():
                self.body(instance, step, name, child)
            return
        tables = {}
        for name, child in possible.items():
            rows: Rows = {}
            self.body(attrs.evolve(instance, rows=rows, loops=()), step, name, child)
            tables[name] = _table(rows, ())
        self.alternatives(instance, step, row, tables)

    def alternatives(self, instance: _Instance, step: NodeStep, row: _Row, tables: dict[str, CostTable]) -> None:
        """Count the maximum of each amount over the branches of a node."""
        totals = [table.total for table in tables.values()]
        try:
            most = Amounts(**{name: _maximum([getattr(total, name) for total in totals]) for name in _PER_RUN})
        except NotKnown as unknown:
            row.reason = unknown.reason
            return
        row.parts.append(self.sum_trips(row, most, instance.loops))
        row.bounded = True
        row.weights += [total.parameters for total in totals]
        uncounted = [item for table in tables.values() for item in table.uncounted]
        for number, item in enumerate(uncounted):
            inner = _Row(item.node, item.op)
            inner.reason, inner.unsized = ("", item.reason) if item.amount else (item.reason, "")
            instance.rows[f"{instance.path}{step.node_name}/", -1 - number] = inner
        if row.name not in self.branches:
            labeled = {body_path("", step, name).split("/")[-2]: table.total for name, table in tables.items()}
            self.branches[row.name] = Branches(row.name, row.op, labeled)

    def body(self, instance: _Instance, step: NodeStep, name: str, last: Inference) -> None:
        """Visit all runs of a body."""
        for run in trips(last):
            weights = self.constants(run)
            for inner, slot in captured_slots(step, run.compiled):
                weights[inner] = instance.weights[slot]
            loops = (run.repeated, *instance.loops)
            path = body_path(instance.path, step, name)
            self.run(attrs.evolve(instance, run=run, path=path, weights=weights, loops=loops))

    # -- weights -----------------------------------------------------------------------------------------------------

    def track_weights(self, instance: _Instance, step: NodeStep, row: _Row) -> None:
        """Count the weights that a node is the first to read, and follow them through views."""
        weights, op_def = instance.weights, step.operation.op_def
        stored, views = (False, {}) if op_def is None else (op_def.stored, op_def.views)
        if stored:
            for position, slot in enumerate(step.outputs):
                if slot != UNUSED:
                    weights[slot] = _weight_read(weights, step, position) or Weight(id(step.compiled), slot)
            return
        for position, slot in enumerate(step.arguments):
            weight = None if slot == MISSING else weights[slot]
            if weight is not None and weight not in self.claimed and position not in views.values():
                self.claim(weight, instance.run.type_of(slot), step, position, row)
        for position, source in views.items():
            if position < len(step.outputs) and step.outputs[position] != UNUSED:
                weights[step.outputs[position]] = _weight_read(weights, step, source)

    def claim(self, weight: Weight, stored: Type | None, step: NodeStep, position: int, row: _Row) -> None:
        """Count a weight at a node that reads it, unless the node reads it as a shape or index."""
        value = _stored_value(stored)
        if value is not None and value.shape.dims and _is_parameter(step, position, value.dtype):
            self.claimed.add(weight)
            elements = product_of(self.store, value.shape.dims)
            row.weights += [] if elements is None else [elements]


def _weight_read(weights: Sequence[Weight | None], step: NodeStep, position: int) -> Weight | None:
    """The weight that a node reads at a position; None where it reads another value, or none."""
    arguments = step.arguments
    slot = arguments[position] if position < len(arguments) else MISSING
    return None if slot == MISSING else weights[slot]


def _stored_value(value: Type | None) -> TensorType | None:
    """A weight, or the variable behind a handle."""
    if isinstance(value, HandleType) and value.values is not None and len(value.values) == 1:
        return value.values[0]
    return value if isinstance(value, TensorType) else None


def _has_rule(step: NodeStep) -> bool:
    compiled, kind = step.compiled, step.operation.kind
    version = compiled.graph.opsets.get(kind.domain, 0)
    return compiled.registry.cost_rule(compiled.graph.dialect, kind.domain, kind.op, version) is not None


def _is_parameter(step: NodeStep, position: int, dtype: str | None) -> bool:
    """Whether a weight is data, and not a shape, an index or a mask: integers of which the rule reads the contents."""
    call = step.operation.call
    return dtype != "bool" and not (dtype in ("int32", "int64") and call is not None and call.reads(position))


def _maximum(dims: Sequence[DimSize]) -> DimSize:
    """The maximum of the amounts of branches."""
    if len(set(dims)) > 1 and any(map(is_long, dims)):
        raise NotKnown("the maximum of the costs of its branches is too long a formula")
    return maximum(*dims)


def _table(rows: Rows, branches: Iterable[Branches]) -> CostTable:
    nodes: list[NodeCost] = []
    uncounted: list[Uncounted] = []
    for row in rows.values():
        total = row.total
        if row.reason:
            uncounted.append(Uncounted(row.name, row.op, row.reason, parameters=total.parameters))
            continue
        if row.unsized:
            uncounted.append(Uncounted(row.name, row.op, row.unsized, "bytes"))
        nodes.append(
            NodeCost(
                name=row.name,
                op=row.op,
                module=module_path(row.name),
                bounded=row.bounded,
                macs=total.macs,
                operations=total.operations,
                bytes_read=total.bytes_read,
                bytes_written=total.bytes_written,
                parameters=total.parameters,
            )
        )
    return CostTable(tuple(nodes), tuple(uncounted), tuple(branches))
