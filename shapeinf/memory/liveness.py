"""Liveness: the nodes of an inference, bodies included, in one order, and the live range of every value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from shapeinf.engine.compiled import CompiledGraph, NodeStep
from shapeinf.engine.diagnostics import possible_bodies
from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import Calls, argument_slots, callee, captured_slots, check_expansion, trips
from shapeinf.engine.type_table import TypeTable
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import TensorType, Type
from shapeinf.lattice.dtypes import HANDLES
from shapeinf.memory.timeline import ProgramPoint, Role
from shapeinf.ops import OpDef

NO_VALUE = -1
"""Stands for the index of a live range where an optional input or an unused output has none."""


@attrs.frozen(eq=False)
class GraphInstance:
    """A graph at one position of the order: the main graph, a body or a called function.

    `runs` are its inferences: one for each trip of a loop that was inferred trip by trip, else one.
    """

    runs: tuple[Inference, ...]
    path: str = ""
    inner: bool = False
    """Whether this is a body or a function."""
    compiled: CompiledGraph = attrs.field(init=False)
    """The compiled graph, shared by all runs."""

    @compiled.default
    def _compiled(self) -> CompiledGraph:
        return self.runs[0].compiled


@attrs.define(eq=False)
class LiveRange:
    """A value from the program point of its birth to the last one that needs it.

    The storage of a `reserved` value is never reused for a result, even after its last use. A live range without a slot
    stands for a body that was not inferred; `cause` has the reason.
    """

    name: str
    instance: GraphInstance
    slot: int
    role: Role
    birth: int
    last: int
    reserved: bool = False
    cause: str = ""
    created: bool = False
    """Whether the node of this value reads no handles: a resource that it returns is a new one."""
    owners: tuple[int, ...] | None = None
    """The live ranges whose storage a tuple, or an item of one, refers to; None for a value with storage of its own."""


@attrs.frozen(eq=False)
class Event:
    """The live ranges that a node reads and writes, by position. A node with bodies has no `op_def`."""

    op_def: OpDef | None
    reads: tuple[int, ...]
    writes: tuple[int, ...]


@attrs.frozen(eq=False)
class BodySpan:
    """The program points `start <= t < end` of one body of a node of the graph `owner`.

    The outputs of this node, which are values of the owner, are live from `start` on.
    """

    owner: GraphInstance
    node: OpDef | None
    """The operator of the node."""
    start: int
    end: int


@attrs.define(eq=False)
class Liveness:
    """The program points and live ranges of a model; `point_of` maps each node of the main graph to its point."""

    points: list[ProgramPoint]
    live_ranges: list[LiveRange]
    events: list[Event]
    point_of: dict[int, int]
    values: list[int]
    """The live range of each slot of the main graph."""
    bodies: list[BodySpan]


def flatten(inference: Inference, order: Sequence[int] | None = None, *, views_of_weights: bool = True) -> Liveness:
    """The liveness of all nodes, in the order of the program or another topological one.

    The nodes of a body come before the node that owns it. A view of a weight is a weight too, unless it is a copy
    (`views_of_weights=False`). Raises LimitError when functions and bodies expand to too many nodes.
    """
    walk = _Walk()
    instance = GraphInstance((inference,))
    values = walk.sources(instance)
    walk.run(instance, values, range(len(inference.compiled.rows)) if order is None else order)
    end = len(walk.points)
    for name in inference.compiled.graph.outputs:
        number = values[inference.compiled.slots[name]]
        if number != NO_VALUE:
            live_range = walk.live_ranges[number]
            live_range.role = "output" if live_range.role == "activation" else live_range.role
            live_range.reserved = True
            walk.extend([number], max(end - 1, 0))
    if views_of_weights:
        _claim_views_of_weights(walk.live_ranges, walk.events)
    if any([_has_handles(table) for table in walk.tables.values()]):
        _mark_created(walk.live_ranges, walk.events)
    return Liveness(walk.points, walk.live_ranges, walk.events, walk.point_of, values, walk.bodies)


def _claim_views_of_weights(live_ranges: Sequence[LiveRange], events: Iterable[Event]) -> None:
    """Make every view of a weight a weight too; an output of the model has memory of its own."""
    for event in events:
        if event.op_def is None or not event.op_def.views:
            continue
        for output, source in event.op_def.views.items():
            if output >= len(event.writes) or source >= len(event.reads):
                continue
            written, read = event.writes[output], event.reads[source]
            if (
                NO_VALUE not in (written, read)
                and live_ranges[read].role == "weight"
                and live_ranges[written].role == "activation"
            ):
                live_ranges[written].role, live_ranges[written].reserved = "weight", True


def _mark_created(live_ranges: Sequence[LiveRange], events: Iterable[Event]) -> None:
    """Mark the outputs of nodes that read no handles."""
    handles = [not live_range.cause and _is_handle(live_range) for live_range in live_ranges]
    for event in events:
        if event.op_def is not None and not any(handles[number] for number in event.reads if number != NO_VALUE):
            for number in event.writes:
                if number != NO_VALUE:
                    live_ranges[number].created = live_ranges[number].role != "weight"


def _has_handles(table: TypeTable) -> bool:
    return any(map(_is_type_of_handles, table.types))


def _is_handle(live_range: LiveRange) -> bool:
    run = live_range.instance.runs[0]
    return _is_type_of_handles(run.table.types[run.numbers[live_range.slot]])


def _is_type_of_handles(value: Type | None) -> bool:
    return isinstance(value, TensorType) and value.dtype in HANDLES


class _Walk:
    """Walks the graphs in order and records points, events and live ranges."""

    def __init__(self) -> None:
        self.points: list[ProgramPoint] = []
        self.live_ranges: list[LiveRange] = []
        self.events: list[Event] = []
        self.bodies: list[BodySpan] = []
        self.point_of: dict[int, int] = {}
        self.inner_points = 0
        self.names: set[str] = set()
        self.weights: dict[tuple[int, int], int] = {}
        """The live range of a constant by program and slot: all calls of a function share its constants."""
        self.calls = Calls()
        self.tables: dict[int, TypeTable] = {}
        """The tables of types of the runs, by identity; mostly one."""

    # -- values ------------------------------------------------------------------------------------------------------

    def add_range(
        self, instance: GraphInstance, slot: int, role: Role, birth: int, name: str | None = None, cause: str = ""
    ) -> int:
        """Add a live range, named after the value, with a number where bodies of one node use a name twice."""
        name = instance.path + instance.compiled.names[slot] if name is None else name
        if name in self.names:
            name = self._numbered(name)
        self.names.add(name)
        self.live_ranges.append(LiveRange(name, instance, slot, role, birth, birth - 1, role != "activation", cause))
        return len(self.live_ranges) - 1

    def _numbered(self, name: str) -> str:
        """A name that is not in use, made from one that is."""
        return next(n for n in (f"{name} {i}" for i in range(2, len(self.names) + 3)) if n not in self.names)

    def extend(self, numbers: Iterable[int], point: int) -> None:
        """Extend these live ranges, and those that they refer to, to a program point."""
        live_ranges = self.live_ranges
        for number in numbers:
            if number == NO_VALUE:
                continue
            live_range = live_ranges[number]
            if live_range.last < point:
                live_range.last = point
                if live_range.owners:
                    self.extend(live_range.owners, point)

    def sources(self, instance: GraphInstance) -> list[int]:
        """A list of live ranges by slot, filled in for inputs and constants."""
        compiled, table = instance.compiled, instance.runs[0].table
        self.tables[id(table)] = table
        values = [NO_VALUE] * len(compiled.names)
        for name in compiled.graph.constants:
            slot = compiled.slots[name]
            values[slot] = self.weight(instance, slot)
        if not instance.inner:
            for name in compiled.graph.inputs:
                if name not in compiled.graph.constants:
                    values[compiled.slots[name]] = self.add_range(instance, compiled.slots[name], "input", 0)
        return values

    def weight(self, instance: GraphInstance, slot: int) -> int:
        """The live range of a constant of the model."""
        key = (id(instance.compiled), slot)
        if key not in self.weights:
            self.weights[key] = self.add_range(instance, slot, "weight", 0)
        return self.weights[key]

    # -- nodes -------------------------------------------------------------------------------------------------------

    def run(self, instance: GraphInstance, values: list[int], order: Iterable[int]) -> None:
        """Walk the nodes of a graph; the values of a cycle are live until its last node."""
        for entered in instance.runs:
            self.calls.enter(entered)
        groups = instance.compiled.groups
        if groups is None:
            for index in order:
                self.node(instance, values, index)
            return
        for group in groups:
            if instance.compiled.is_cycle(group):
                self.cycle(instance, values, group)
            else:
                self.node(instance, values, group[0])

    def cycle(self, instance: GraphInstance, values: list[int], group: Sequence[int]) -> None:
        """Walk the nodes of a cycle."""
        rows, start = instance.compiled.rows, len(self.points)
        for index in group:
            for slot in rows[index][2]:
                if slot != UNUSED:
                    values[slot] = self.add_range(instance, slot, "activation", start)
        for index in group:
            self.node(instance, values, index)
        used = {values[slot] for index in group for slot in (*rows[index][1], *rows[index][2]) if slot >= 0}
        self.extend(used, len(self.points) - 1)
        for number in used - {NO_VALUE}:
            self.live_ranges[number].reserved = True

    def node(self, instance: GraphInstance, values: list[int], index: int) -> None:
        """Walk one node, its bodies first."""
        compiled = instance.compiled
        key, inputs, outputs, _ = compiled.rows[index]
        operation = compiled.operations[key]
        op_def = operation.op_def
        if operation.bodies or operation.body is not None:
            self.node_with_bodies(instance, values, compiled.step(index))
        elif op_def is not None and op_def.container:
            self.container(instance, values, compiled.step(index), op_def)
        else:
            stored = op_def is not None and op_def.stored
            now = len(self.points)
            writes = tuple([self.output(instance, values, slot, now, stored) for slot in outputs])
            reads = tuple([NO_VALUE if slot == MISSING else values[slot] for slot in inputs])
            self.append(instance, compiled.node_name(index), operation.kind.op, Event(op_def, reads, writes))
        if not instance.inner:
            self.point_of[index] = len(self.points) - 1

    def container(self, instance: GraphInstance, values: list[int], step: NodeStep, op_def: OpDef) -> None:
        """Walk a node that packs values into a tuple, or unpacks one: it copies nothing."""
        reads = tuple([NO_VALUE if slot == MISSING else values[slot] for slot in step.inputs])
        sources = tuple([number for number in reads if number != NO_VALUE])
        items = self.live_ranges[sources[0]].owners if op_def.container == "unpack" and sources else None
        writes = []
        for position, slot in enumerate(step.outputs):
            if slot != UNUSED and values[slot] == NO_VALUE and items is not None and len(items) == len(step.outputs):
                values[slot] = items[position]
            elif slot != UNUSED and values[slot] == NO_VALUE:
                writes.append(self.output(instance, values, slot, len(self.points)))
                self.live_ranges[writes[-1]].owners = sources
        self.append(instance, step.node_name, step.operation.kind.op, Event(op_def, reads, tuple(writes)))

    def output(self, instance: GraphInstance, values: list[int], slot: int, birth: int, stored: bool = False) -> int:
        """The live range of a node's output; a weight where the operator's output is stored in the model."""
        if slot == UNUSED:
            return NO_VALUE
        if values[slot] == NO_VALUE:
            values[slot] = (
                self.weight(instance, slot) if stored else self.add_range(instance, slot, "activation", birth)
            )
        return values[slot]

    def append(self, instance: GraphInstance, node_name: str, op: str, event: Event) -> None:
        """Append a program point."""
        name = instance.path + node_name
        if instance.inner:
            self.inner_points += 1
            check_expansion(self.inner_points, name)
        now = len(self.points)
        self.points.append(ProgramPoint(name, op))
        self.events.append(event)
        self.extend((*event.reads, *event.writes), now)

    # -- nodes with bodies --------------------------------------------------------------------------------------

    def node_with_bodies(self, instance: GraphInstance, values: list[int], step: NodeStep) -> None:
        """Walk a node with bodies, or the call of a function."""
        reads = tuple([NO_VALUE if slot == MISSING else values[slot] for slot in step.inputs])
        called = self.callee(instance, step)
        if called is not None:
            writes = self.inline(instance, values, step, called)
            self.append(instance, step.node_name, step.operation.kind.op, Event(None, (), writes))
            return
        start = len(self.points)
        writes = tuple([self.output(instance, values, slot, start) for slot in step.outputs])
        results: list[int] = []
        if step.operation.body is not None or any(step.index in run.reasons for run in instance.runs):
            results.append(self.opaque_body(instance, step, start))
        bodies = [possible_bodies(run, step.index) for run in instance.runs]
        for name in step.operation.bodies:
            results += self.body(instance, values, step, [children.get(name) for children in bodies])
        self.append(instance, step.node_name, step.operation.kind.op, Event(None, (*reads, *results), writes))

    def callee(self, instance: GraphInstance, step: NodeStep) -> GraphInstance | None:
        """The function that a node calls; None where it calls none, or one that was not inferred."""
        name = callee(step.operation)
        if not name:
            return None
        calls = [self.calls.bodies(run, step).get(name) for run in instance.runs]
        runs = tuple([run for run in calls if run is not None])
        return GraphInstance(runs, f"{instance.path}{step.node_name}/", True) if len(runs) == len(calls) else None

    def inline(
        self, instance: GraphInstance, values: list[int], step: NodeStep, inner: GraphInstance
    ) -> tuple[int, ...]:
        """Walk a function on the values of its caller; its outputs are those of the call."""
        compiled = inner.compiled
        inner_values = self.sources(inner)
        for argument, slot in argument_slots(step, compiled):
            inner_values[argument] = values[slot]
        first = len(self.live_ranges)
        self.run(inner, inner_values, range(len(compiled.rows)))
        writes: list[int] = []
        for slot, name in zip(step.outputs, compiled.graph.outputs, strict=False):
            number = inner_values[compiled.slots[name]]
            if slot == UNUSED or number == NO_VALUE:
                writes.append(NO_VALUE if slot == UNUSED else self.output(instance, values, slot, len(self.points)))
                continue
            live_range = self.live_ranges[number]
            if number >= first and live_range.role == "activation" and number not in writes:
                self.names.discard(live_range.name)
                name = instance.path + instance.compiled.names[slot]
                live_range.name = self._numbered(name) if name in self.names else name
                self.names.add(live_range.name)
                live_range.instance, live_range.slot = instance, slot
            values[slot] = number
            writes.append(number)
        return tuple(writes)

    def body(
        self, instance: GraphInstance, values: list[int], step: NodeStep, last: Sequence[Inference | None]
    ) -> list[int]:
        """Walk a body, with the last of its runs for each run of its graph; returns the live ranges of its outputs.

        The body's inputs are values of their own and live to its end, since another trip reads them again.
        """
        runs = [run for child in last if child is not None for run in trips(child)]
        if not runs:
            return []  # a branch that never runs or is certain to fail, or a loop without trips
        inner = GraphInstance(tuple(runs), runs[0].path, True)
        compiled, start = inner.compiled, len(self.points)
        inner_values = self.sources(inner)
        for captured, slot in captured_slots(step, compiled):
            inner_values[captured] = values[slot]
        own = [self.add_range(inner, compiled.slots[formal], "activation", start) for formal in compiled.graph.inputs]
        for formal, number in zip(compiled.graph.inputs, own, strict=True):
            inner_values[compiled.slots[formal]] = number
            self.live_ranges[number].reserved = True
        self.run(inner, inner_values, range(len(compiled.rows)))
        self.bodies.append(BodySpan(instance, step.operation.op_def, start, len(self.points)))
        self.extend(own, max(len(self.points) - 1, start))
        return [inner_values[compiled.slots[output]] for output in compiled.graph.outputs]

    def opaque_body(self, instance: GraphInstance, step: NodeStep, start: int) -> int:
        """A live range of unknown size, for the contents of a node that were not inferred."""
        node_name = f"{instance.path}{step.node_name}"
        reason = next((run.reasons[step.index] for run in instance.runs if step.index in run.reasons), "")
        cause = "the bodies of this node were not inferred" + (f": {reason}" if reason else "")
        return self.add_range(instance, NO_VALUE, "activation", start, f"{node_name}/", cause)
