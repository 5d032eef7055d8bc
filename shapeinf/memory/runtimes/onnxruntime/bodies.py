"""The bodies of a node in a run: branches, loops, and scans over slices. Measured on small cases.

Each body is a graph of its own, with its own plan and free buffers, and its temporaries end with it. A body is walked
once: in a loop that is a later trip, with the values of the trip before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.diagnostics import possible_bodies
from shapeinf.engine.runs import captured_slots, trips
from shapeinf.expr import DimSize, maximum
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import Shape
from shapeinf.memory.liveness import GraphInstance
from shapeinf.memory.runtimes.kernels import BodyKind
from shapeinf.memory.runtimes.onnxruntime.walk import Allocation, Caller, GraphRun
from shapeinf.solver.long_dims import product_of, sum_dims

NUMBER_AND_CONDITION = 2
"""The inputs of a loop, and of its body, before the carried values; their buffers are of one unit of the allocator."""

SCALARS = {"trip number": "int64", "condition": "bool"}
"""The element types of the values of a loop that are the first inputs of its body."""


def run_bodies(outer: GraphRun, step: NodeStep) -> list[Allocation]:
    """Run the bodies of a node; returns the buffers that are in use until the node ends."""
    kind = step.operation.kind
    bodies = _bodies(outer, step)
    body_kind = outer.walk.kernels.find_bodies(kind.domain, kind.op)
    if not bodies:
        return [] if body_kind is None else _without_bodies(outer, step, body_kind)
    if body_kind == "loop":
        return _Loop(outer, step, bodies).run()
    if body_kind == "scan":
        return _Scan(outer, step, bodies).run()
    before = outer.walk.in_branch
    if len(bodies) > 1:
        outer.walk.undecided.append(outer.instance.path + step.node_name)
        outer.walk.in_branch = True
    for name, instance in bodies.items():
        known = outer.known.of_body(step, name, instance.runs[0])
        inner = GraphRun(outer.walk, instance, known, _caller(outer, step, instance, writes=len(bodies) == 1))
        inner.run()
        inner.end()  # where a branch is not known, the outputs of the node are allocated after all branches
    outer.walk.in_branch = before
    return []


def _bodies(outer: GraphRun, step: NodeStep) -> Mapping[str, GraphInstance]:
    """The bodies of a node that may run, with all their trips."""
    children = [possible_bodies(run, step.index) for run in outer.instance.runs]
    names = dict.fromkeys(name for bodies in children for name in bodies)
    runs = {name: [run for bodies in children if name in bodies for run in trips(bodies[name])] for name in names}
    return {name: GraphInstance(tuple(last), last[0].path, True) for name, last in runs.items() if last}


def _caller(
    outer: GraphRun, step: NodeStep, instance: GraphInstance, *, writes: bool = False, is_loop: bool = False
) -> Caller:
    """The node that runs a body, which `writes` its results into the outputs of the node."""
    body = instance.compiled
    pairs = zip(body.graph.outputs, step.outputs, strict=False)
    results = {body.slots[name]: slot for name, slot in pairs if writes and slot != UNUSED}
    return Caller(outer, step.index, dict(captured_slots(step, body)), results, is_loop)


def _without_bodies(outer: GraphRun, step: NodeStep, kind: BodyKind) -> list[Allocation]:
    """The buffers of a node whose body never runs: a loop without trips has its two scalars."""
    reasons = [run.reasons[step.index] for run in outer.instance.runs if step.index in run.reasons]
    if kind == "loop" and not reasons:
        return [_scalar(outer, step, name) for name in SCALARS]
    return [_unknown_body(outer, step, reasons)]


def _scalar(outer: GraphRun, step: NodeStep, name: str) -> Allocation:
    """The trip number, or the condition, of a loop."""
    path = outer.instance.path
    allocation = Allocation(
        f"{path}{name} of {step.node_name}", 1, outer.walk.now, dtype=SCALARS[name], shape=Shape(())
    )
    return outer.walk.allocate(allocation)


def _unknown_body(outer: GraphRun, step: NodeStep, reasons: Sequence[str]) -> Allocation:
    cause = ": ".join(["the bodies of this node were not inferred", *reasons[:1]])
    return outer.walk.allocate(Allocation(f"{outer.instance.path}{step.node_name}/", None, outer.walk.now, cause=cause))


class _Loop:
    """A loop in a later trip: the carried values of the trip before, those of this trip, and all slices so far."""

    def __init__(self, outer: GraphRun, step: NodeStep, bodies: Mapping[str, GraphInstance]) -> None:
        self.outer = outer
        self.walk = outer.walk
        self.step = step
        ((name, self.instance),) = bodies.items()
        body = self.instance.compiled
        self.formal = [body.slots[value] for value in body.graph.inputs]
        self.condition, *self.results = [body.slots[value] for value in body.graph.outputs]
        self.carried = len(self.formal) - NUMBER_AND_CONDITION
        known = outer.known.of_body(step, name, self.instance.runs[0])
        captured = [body.slots[value] for value in step.operation.captures if value in body.slots]
        caller = _caller(outer, step, self.instance, is_loop=True)
        self.inner = GraphRun(self.walk, self.instance, known, caller, passed_on=[*self.formal[1:], *captured])

    def run(self) -> list[Allocation]:
        """Walk the trip; returns what is in use until the loop ends."""
        self._note_trips()
        in_use = [
            _scalar(self.outer, self.step, name) for name in SCALARS if name != "condition" or self._keeps_condition
        ]
        in_use += [self._allocate(f"slices of {self._name(slot)}", self._earlier_slices(slot)) for slot in self._slices]
        old = self._old_values()
        self.inner.run()
        in_use += self._remaining(old)
        results = [self.condition, *self.results]
        self.inner.end([slot for slot in results if self.inner.width(slot) is not None])  # sequences are moved
        return [*in_use, *(a for a in self.inner.allocated.values() if a.death is None)]

    def _note_trips(self) -> None:
        """Note a loop of the model whose number of trips is the value of an input that is not known."""
        outer, limit = self.outer, self.step.arguments[0]
        if not isinstance(self._trips, int) and not outer.instance.inner and limit != MISSING:
            name = outer.compiled.names[limit]
            if name in outer.compiled.graph.inputs:
                self.walk.limits[self.step.node_name] = name

    @property
    def _keeps_condition(self) -> bool:
        """Whether the condition of the trip before is in a buffer: not where each trip passes an outer value on."""
        buffer = self.inner.buffer[self.condition]
        is_outer = buffer in self.inner.external and self.condition not in self.inner.copied
        return not is_outer or buffer == self.formal[1] or not isinstance(self._trips, int) or self._trips == 1

    @property
    def _slices(self) -> list[int]:
        return self.results[self.carried :]

    def _old_values(self) -> dict[int, Allocation]:
        """By result, the carried value of the trip before; those of the first trip are the caller's."""
        return {
            result: self.walk.allocate(self._old_value(formal))
            for formal, result in self._carried.items()
            if self._is_computed(result)
        }

    def _old_value(self, formal: int) -> Allocation:
        """The buffer of a carried value of the trip before, of the most bytes of all trips after the first one."""
        allocation = self.inner.allocation(formal, f"{self._name(formal)} of the trip before")
        *later, first = self.instance.runs
        if later and first.repeated.trips == 1:
            allocation.size = self.inner.size(formal, later).bytes
        return allocation

    @property
    def _carried(self) -> Mapping[int, int]:
        """The results of carried values by the inputs of the body."""
        return dict(zip(self.formal[NUMBER_AND_CONDITION:], self.results, strict=False))

    def _is_computed(self, result: int) -> bool:
        """Whether a carried value is one that a trip before this one computed, maybe passed on by others."""
        for passed in range(len(self._carried)):
            if result in self.inner.copied or self.inner.buffer[result] not in self.inner.external:
                return not isinstance(self._trips, int) or self._trips >= passed + 2
            source = self.inner.buffer[result]
            if source not in self._carried:
                return False
            result = self._carried[source]
        return False

    def _remaining(self, old: Mapping[int, Allocation]) -> Iterator[Allocation]:
        """The carried values of the trip before that remain until the loop ends.

        The items of a sequence are those of the new one, from its allocation on.
        """
        for result, allocation in old.items():
            new = self.inner.allocated.get(self.inner.buffer[result])
            if self.inner.width(result) is None and new is not None:
                allocation.death = new.birth
            else:
                yield allocation

    def _earlier_slices(self, slot: int) -> DimSize | None:
        """The bytes of the slices of all trips before this one, each in a buffer of its own.

        A slice that is a carried value is in the buffer of this value: that of the first trip is the caller's, that of
        this trip is the value of the trip before.
        """
        source = self.inner.buffer[slot]
        is_passed_on = source in self.inner.external and slot not in self.inner.copied
        if is_passed_on and (source not in self._carried or not self._is_computed(self._carried[source])):
            return 0
        amounts = []
        last = len(self.instance.runs) - 1
        for number, run in enumerate(self.instance.runs):  # the last trip is first
            each = self.inner.size(slot, [run]).bytes
            fewer = (number == 0) + (is_passed_on and number == last)
            count = maximum(run.repeated.trips - fewer, 0)
            amount = None if each is None else product_of(run.store, (self.walk.round_up(each), count))
            if amount is None:
                return None
            amounts.append(amount)
        return sum_dims(self.walk.inference.store.scope, amounts)

    @property
    def _trips(self) -> DimSize:
        return sum_dims(self.walk.inference.store.scope, [run.repeated.trips for run in self.instance.runs])

    def _allocate(self, name: str, size: DimSize | None) -> Allocation:
        cause = "" if size is not None else "the number of trips, or the size of a slice, is not known"
        return self.walk.allocate(Allocation(self.instance.path + name, size, self.walk.now, cause=cause))

    def _name(self, slot: int) -> str:
        return self.instance.compiled.names[slot]


class _Scan:
    """A scan: the body writes its slices into the outputs, and its states alternate between two buffers."""

    def __init__(self, outer: GraphRun, step: NodeStep, bodies: Mapping[str, GraphInstance]) -> None:
        self.outer = outer
        self.step = step
        ((self.name, self.instance),) = bodies.items()
        attributes = step.operation.kind.attrs
        sliced = attributes.get("num_scan_inputs")
        self.states = len(self.instance.compiled.graph.inputs) - (sliced if isinstance(sliced, int) else 0)
        self.moved_inputs = _moved(step.arguments[self.states :], attributes.get("scan_input_axes"))
        """The inputs whose slices are not along the first axis: a transposed copy of each is in use."""
        self.moved_outputs = _moved(step.outputs[self.states :], attributes.get("scan_output_axes"))
        """Such outputs: the body writes into a transposed copy, and the output is allocated after the last trip."""

    def run(self) -> list[Allocation]:
        """Walk one trip while the outputs are in use; returns what is in use until the scan ends."""
        outer = self.outer
        for slot in self.step.outputs:
            if slot != UNUSED and slot not in self.moved_outputs:
                outer.write(slot)
        moved = [*self.moved_inputs, *self.moved_outputs]
        in_use = [self._copy(outer, slot, "transposed copy of") for slot in moved]
        known = outer.known.of_body(self.step, self.name, self.instance.runs[0])
        caller = _caller(outer, self.step, self.instance, is_loop=True)
        inner = GraphRun(outer.walk, self.instance, known, caller, allocates_outputs=False)
        states = [self.instance.compiled.slots[value] for value in self.instance.compiled.graph.outputs[: self.states]]
        in_use += [self._copy(inner, slot, f"{which} state") for slot in states for which in ("previous", "next")]
        inner.run()
        inner.end()
        return in_use

    def _copy(self, run: GraphRun, slot: int, title: str) -> Allocation:
        name = f"{run.instance.path}{title} {run.compiled.names[slot]}"
        return self.outer.walk.allocate(attrs.evolve(run.allocation(slot, name), role="activation"))


def _moved(slots: Sequence[int], axes: object) -> list[int]:
    """The slots whose axis is not the first one."""
    listed = axes if isinstance(axes, tuple) else ()
    return [slot for slot, axis in zip(slots, listed, strict=False) if axis != 0 and slot >= 0]
