"""The nodes of a finished inference on one time axis, those of bodies too, and who makes and reads what when."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import attrs

from shapeinf.engine.compiled import CompiledGraph, NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.errors import LimitError
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import Type
from shapeinf.memory.timeline import ProgramPoint, Role
from shapeinf.ops import OpDef

MAX_POINTS_IN_BODIES = 300_000
"""Functions that call functions twice would double without end."""

NO_VALUE = -1
"""In the place of a life: an input that is not given, an output that is not wanted."""


@attrs.frozen(eq=False)
class Frame:
    """A graph at one place of the time axis: the model's own, a body or a function.

    `runs` are the inferences of it that count together: trips of a loop that was followed trip by trip have one each.
    """

    runs: tuple[Inference, ...]
    path: str = ""
    inner: bool = False
    """Whether it is a body or a function."""
    program: CompiledGraph = attrs.field(init=False)
    """The compiled graph; the same for all runs."""

    @program.default
    def _program(self) -> CompiledGraph:
        return self.runs[0].compiled

    def types(self, slot: int) -> list[Type | None]:
        """The types that a value has: one for each run."""
        return [run.current(slot) for run in self.runs]


@attrs.define(eq=False)
class LiveRange:
    """A value, from the moment of its birth to the last one at which it is needed.

    `pinned` values are no place for the results of others, even when nobody reads them any more. A life without a slot
    stands for whatever a body needs that could not be followed; `cause` says why.
    """

    name: str
    frame: Frame
    slot: int
    role: Role
    birth: int
    last: int
    pinned: bool = False
    cause: str = ""


@attrs.frozen(eq=False)
class Event:
    """What a node reads and makes, by position: numbers of lives. A node around bodies has no `op_def`: they do it."""

    op_def: OpDef | None
    reads: tuple[int, ...]
    makes: tuple[int, ...]


@attrs.define(eq=False)
class Flat:
    """All moments and lives of a model; `places` has the moment of each node of the model's own graph."""

    points: list[ProgramPoint]
    live_ranges: list[LiveRange]
    events: list[Event]
    places: dict[int, int]
    values: list[int]
    """The life of each slot of the model's own graph."""


def flatten(inference: Inference, order: Sequence[int] | None = None) -> Flat:
    """All nodes one after the other, in the order of the program or in another one that is topological.

    The nodes of bodies come before the node that holds them. Raises LimitError when functions and bodies expand to
    too many nodes.
    """
    walk = _Walk()
    frame = Frame((inference,))
    values = walk.sources(frame)
    walk.run(frame, values, range(len(inference.compiled.rows)) if order is None else order)
    end = len(walk.points)
    for name in inference.compiled.graph.outputs:
        number = values[inference.compiled.slots[name]]
        if number != NO_VALUE:
            live_range = walk.live_ranges[number]
            live_range.role = "output" if live_range.role == "activation" else live_range.role
            live_range.last, live_range.pinned = max(end - 1, 0), True
    _claim_views_of_weights(walk.live_ranges, walk.events)
    return Flat(walk.points, walk.live_ranges, walk.events, walk.places, values)


def _claim_views_of_weights(live_ranges: Sequence[LiveRange], events: Iterable[Event]) -> None:
    """A view of a weight is a weight: its contents are in the model. An output of the model has memory of its own."""
    for event in events:
        for output, source in event.op_def.views.items() if event.op_def is not None else ():
            if output >= len(event.makes) or source >= len(event.reads):
                continue
            made, read = event.makes[output], event.reads[source]
            if (
                NO_VALUE not in (made, read)
                and live_ranges[read].role == "weight"
                and live_ranges[made].role == "activation"
            ):
                live_ranges[made].role, live_ranges[made].pinned = "weight", True


class _Walk:
    """Goes through graphs in order and notes what happens."""

    def __init__(self) -> None:
        self.points: list[ProgramPoint] = []
        self.live_ranges: list[LiveRange] = []
        self.events: list[Event] = []
        self.places: dict[int, int] = {}
        self.of_bodies = 0
        self.names: set[str] = set()
        self.weights: dict[tuple[int, int], int] = {}
        """The life of a constant by program and slot: a function that is called often has its constants once."""
        self.calls: dict[Hashable, Inference] = {}

    # -- values ------------------------------------------------------------------------------------------------------

    def new(self, frame: Frame, slot: int, role: Role, birth: int, name: str | None = None, cause: str = "") -> int:
        """A new life; its name is that of the value, numbered where bodies of one node use a name twice."""
        name = frame.path + frame.program.names[slot] if name is None else name
        self.live_ranges.append(
            LiveRange(self._unique(name), frame, slot, role, birth, birth - 1, role != "activation", cause)
        )
        return len(self.live_ranges) - 1

    def _unique(self, name: str) -> str:
        if name in self.names:
            name = next(n for n in (f"{name} {i}" for i in range(2, len(self.names) + 3)) if n not in self.names)
        self.names.add(name)
        return name

    def touch(self, numbers: Iterable[int], point: int) -> None:
        """These values are needed at a moment."""
        live_ranges = self.live_ranges
        for number in numbers:
            if number != NO_VALUE and live_ranges[number].last < point:
                live_ranges[number].last = point

    def sources(self, frame: Frame) -> list[int]:
        """The life of each slot, where the graph's inputs and constants have theirs."""
        program = frame.program
        values = [NO_VALUE] * len(program.names)
        for name in program.graph.constants:
            slot = program.slots[name]
            values[slot] = self.weight(frame, slot)
        if not frame.inner:
            for name in program.graph.inputs:
                if name not in program.graph.constants:
                    values[program.slots[name]] = self.new(frame, program.slots[name], "input", 0)
        return values

    def weight(self, frame: Frame, slot: int) -> int:
        """The life of what the model itself holds."""
        key = (id(frame.program), slot)
        if key not in self.weights:
            self.weights[key] = self.new(frame, slot, "weight", 0)
        return self.weights[key]

    # -- nodes -------------------------------------------------------------------------------------------------------

    def run(self, frame: Frame, values: list[int], order: Iterable[int]) -> None:
        """All nodes of a graph; those of a cycle run again and again, so what they use lives until the last of them."""
        groups = frame.program.groups
        if groups is None:
            for place in order:
                self.node(frame, values, place)
            return
        for group in groups:
            _, inputs, outputs, _ = frame.program.rows[group[0]]
            if len(group) > 1 or not set(inputs).isdisjoint(slot for slot in outputs if slot != UNUSED):
                self.cycle(frame, values, group)
            else:
                self.node(frame, values, group[0])

    def cycle(self, frame: Frame, values: list[int], group: Sequence[int]) -> None:
        """The nodes of a cycle."""
        rows, start = frame.program.rows, len(self.points)
        for place in group:
            for slot in rows[place][2]:
                if slot != UNUSED:
                    values[slot] = self.new(frame, slot, "activation", start)
        for place in group:
            self.node(frame, values, place)
        used = {values[slot] for place in group for slot in (*rows[place][1], *rows[place][2]) if slot >= 0}
        self.touch(used, len(self.points) - 1)
        for number in used - {NO_VALUE}:
            self.live_ranges[number].pinned = True

    def node(self, frame: Frame, values: list[int], place: int) -> None:
        """One node, after those inside of it."""
        key, inputs, outputs, _ = frame.program.rows[place]
        operation = frame.program.operations[key]
        if operation.bodies or operation.body is not None:
            self.holder(frame, values, frame.program.step(place))
        else:
            stored = operation.op_def is not None and operation.op_def.stored
            makes = tuple([self.made(frame, values, slot, len(self.points), stored) for slot in outputs])
            reads = tuple([NO_VALUE if slot == MISSING else values[slot] for slot in inputs])
            self.happen(frame, frame.program.step(place), Event(operation.op_def, reads, makes))
        if not frame.inner:
            self.places[place] = len(self.points) - 1

    def made(self, frame: Frame, values: list[int], slot: int, birth: int, stored: bool = False) -> int:
        """The life of an output of a node; of one that is stored in the model, that of a weight."""
        if slot == UNUSED:
            return NO_VALUE
        if values[slot] == NO_VALUE:
            values[slot] = self.weight(frame, slot) if stored else self.new(frame, slot, "activation", birth)
        return values[slot]

    def happen(self, frame: Frame, step: NodeStep, what: Event) -> None:
        """Put a moment at the end of the time axis."""
        if frame.inner:
            self.of_bodies += 1
            if self.of_bodies > MAX_POINTS_IN_BODIES:
                text = f"bodies and functions expand to more than {MAX_POINTS_IN_BODIES} nodes, too many to lay out"
                raise LimitError(text, node=frame.path + step.site)
        now = len(self.points)
        self.points.append(ProgramPoint(frame.path + step.site, step.operation.kind.op))
        self.events.append(what)
        self.touch(what.reads, now)
        self.touch(what.makes, now)

    # -- nodes that hold others --------------------------------------------------------------------------------------

    def holder(self, frame: Frame, values: list[int], step: NodeStep) -> None:
        """A node with bodies, or the call of a function."""
        reads = tuple([NO_VALUE if slot == MISSING else values[slot] for slot in step.inputs])
        called = self.called(frame, step) if step.operation.body is not None else None
        if called is not None:
            makes = self.inlined(frame, values, step, called)
            self.happen(frame, step, Event(None, (), makes))
            return
        start = len(self.points)
        makes = tuple([self.made(frame, values, slot, start) for slot in step.outputs])
        given: list[int] = []
        if step.operation.body is not None or any(step.index in run.reasons for run in frame.runs):
            given.append(self.not_followed(frame, step, start))
        for name in step.operation.bodies:
            given += self.body(frame, values, step, name)
        self.happen(frame, step, Event(None, (*reads, *given), makes))

    def called(self, frame: Frame, step: NodeStep) -> Frame | None:
        """The function that a node calls; None where it was not followed."""
        name = step.operation.kind.op
        for run in frame.runs:
            child = run.children.get(step.index, {}).get(name)
            if child is not None:
                self.calls[run.same_call(step)] = child
        found = [self.calls.get(run.same_call(step)) for run in frame.runs]
        runs = tuple([run for run in found if run is not None])
        return Frame(runs, f"{frame.path}{step.site}/", True) if len(runs) == len(found) else None

    def inlined(self, frame: Frame, values: list[int], step: NodeStep, inner: Frame) -> tuple[int, ...]:
        """A function works on the values of its caller; what it gives are the outputs of the call."""
        program = inner.program
        mine = self.sources(inner)
        for name, slot in zip(program.graph.inputs, step.arguments, strict=False):
            mine[program.slots[name]] = NO_VALUE if slot == MISSING else values[slot]
        first = len(self.live_ranges)
        self.run(inner, mine, range(len(program.rows)))
        makes: list[int] = []
        for slot, name in zip(step.outputs, program.graph.outputs, strict=False):
            number = mine[program.slots[name]]
            if slot == UNUSED or number == NO_VALUE:
                makes.append(NO_VALUE if slot == UNUSED else self.made(frame, values, slot, len(self.points)))
                continue
            live_range = self.live_ranges[number]
            if number >= first and live_range.role == "activation" and number not in makes:
                self.names.discard(live_range.name)
                live_range.name = self._unique(frame.path + frame.program.names[slot])
                live_range.frame, live_range.slot = frame, slot
            values[slot] = number
            makes.append(number)
        return tuple(makes)

    def body(self, frame: Frame, values: list[int], step: NodeStep, name: str) -> list[int]:
        """The nodes of a body, and the lives of what it gives to its node.

        Its own inputs are values of their own, which every run of it needs to its end: another trip reads them again.
        """
        runs: list[Inference] = []
        for run in frame.runs:
            child = run.children.get(step.index, {}).get(name)
            while child is not None:
                runs.append(child)
                child = child.previous_run
        if not runs:
            return []  # another branch is the one that runs, or there is no trip
        inner = Frame(tuple(runs), f"{frame.path}{step.site}/", True)
        program, start = inner.program, len(self.points)
        mine = self.sources(inner)
        for captured, slot in zip(step.operation.captures, step.captured, strict=True):
            if captured in program.slots:
                mine[program.slots[captured]] = values[slot]
        own = [self.new(inner, program.slots[formal], "activation", start) for formal in program.graph.inputs]
        for formal, number in zip(program.graph.inputs, own, strict=True):
            mine[program.slots[formal]] = number
            self.live_ranges[number].pinned = True
        self.run(inner, mine, range(len(program.rows)))
        self.touch(own, max(len(self.points) - 1, start))
        return [mine[program.slots[output]] for output in program.graph.outputs]

    def not_followed(self, frame: Frame, step: NodeStep, start: int) -> int:
        """Something of unknown size, in place of what could not be followed inside of a node."""
        site = f"{frame.path}{step.site}"
        reason = next((run.reasons[step.index] for run in frame.runs if step.index in run.reasons), "")
        cause = "what runs inside of this node could not be followed" + (f": {reason}" if reason else "")
        return self.new(frame, NO_VALUE, "activation", start, f"{site}/", cause)
