"""The tensors that a program of ExecuTorch keeps in its arena, with the lifetimes that its planner gives them.

Read in ExecuTorch 1.5.1 (exir/memory_planning.py, commit 3b606839): nodes run in the order of the graph, and a tensor
is in use from its node to the last one that reads it, both included. Inputs are in use from before the first node, and
outputs to the end. A view shares the storage of its source, unless it is an output of the graph. Results of kernels
that compute views of weights are not constants. Each body of a node is planned alone, and the arena of a graph begins
behind the largest arena of its bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.memory.buffers import TimelineBuilder
from shapeinf.memory.liveness import NO_VALUE, BodySpan, Event, Liveness, LiveRange, flatten
from shapeinf.memory.runtimes.kernels import RuntimeKernels
from shapeinf.memory.timeline import Buffer, ProgramPoint, Timeline

INPUTS = ProgramPoint("inputs", "")
"""The program point before the first node."""


@attrs.define(eq=False)
class PlannedGraph:
    """A graph with a plan of its own: that of the model, or a body of one of its nodes.

    Args:
        buffers: its values, in the order of their nodes.
        bodies: the bodies of its nodes.
    """

    buffers: list[Buffer] = attrs.Factory(list)
    bodies: list[PlannedGraph] = attrs.Factory(list)


def find_storages(
    inference: Inference, kernels: RuntimeKernels, *, outputs: bool = True
) -> tuple[Timeline, PlannedGraph]:
    """The timeline of a model, and its graphs with their values.

    An input that the graph returns is an input where `outputs` are in the arena, else an output.
    Raises LimitError when functions and bodies expand to too many nodes.
    """
    liveness = flatten(inference, views_of_weights=False)
    events = [_with_views(event, liveness.live_ranges, kernels) for event in liveness.events]
    liveness = _from_inputs_on(attrs.evolve(liveness, events=events))
    for live_range in () if outputs else liveness.live_ranges:
        if live_range.role == "input" and _is_among(live_range, "outputs"):
            live_range.role = "output"
    timeline = TimelineBuilder(inference, aliases=True).timeline_of(liveness)
    graphs = _Graphs(liveness, kernels)
    buffers = [stored for buffer in timeline.buffers for stored in graphs.assign(buffer)]
    return attrs.evolve(timeline, buffers=tuple(buffers)), graphs.main


def _with_views(event: Event, live_ranges: Sequence[LiveRange], kernels: RuntimeKernels) -> Event:
    """An event whose operator has views only where the program has a view and not a copy."""
    op_def = event.op_def
    if op_def is None or op_def.stored or not op_def.views:
        return event
    view = event.writes[0] if event.writes else NO_VALUE
    is_alias = kernels.find_alias(op_def.domain, op_def.name, 0) is not None
    if is_alias and view != NO_VALUE and not _is_among(live_ranges[view], "outputs"):
        return event
    return attrs.evolve(event, op_def=None)


def _is_among(live_range: LiveRange, which: Literal["inputs", "outputs"]) -> bool:
    """Whether a value is an input, or an output, of its graph."""
    compiled = live_range.instance.compiled
    return live_range.slot >= 0 and compiled.names[live_range.slot] in getattr(compiled.graph, which)


def _from_inputs_on(liveness: Liveness) -> Liveness:
    """With a program point for the inputs before all others."""
    for live_range in liveness.live_ranges:
        live_range.birth += live_range.role not in ("input", "weight")
        live_range.last += 1
    bodies = [attrs.evolve(span, start=span.start + 1, end=span.end + 1) for span in liveness.bodies]
    points, events = [INPUTS, *liveness.points], [Event(None, (), ()), *liveness.events]
    return attrs.evolve(liveness, points=points, events=events, bodies=bodies)


class _Graphs:
    """The main graph and the bodies, and which values are theirs."""

    def __init__(self, liveness: Liveness, kernels: RuntimeKernels) -> None:
        self.main = PlannedGraph()
        self.kernels = kernels
        self.spans = sorted(liveness.bodies, key=lambda span: (span.start, -span.end))
        """Each body before those that are inside of it."""
        self.graphs = [PlannedGraph() for _ in self.spans]
        self.value = {live_range.name: live_range for live_range in liveness.live_ranges}
        for number, span in enumerate(self.spans):
            around = [self.graphs[i] for i in range(number) if self.spans[i].end >= span.end]
            (around[-1] if around else self.main).bodies.append(self.graphs[number])

    def assign(self, buffer: Buffer) -> list[Buffer]:
        """The buffer with its lifetime in its graph, to which it is added; nothing for one of the caller of a body."""
        value = self.value[buffer.name]
        number = None if buffer.role == "weight" else self._body(value)
        if number is None:
            if buffer.role != "weight":
                self.main.buffers.append(buffer)
            return [buffer]
        span = self.spans[number]
        if value.instance.inner and _is_among(value, "inputs") and not self._copies_inputs(span):
            return []
        buffer = attrs.evolve(buffer, death=min(buffer.death, span.end))
        self.graphs[number].buffers.append(buffer)
        return [buffer]

    def _body(self, value: LiveRange) -> int | None:
        """The innermost body of a value; None for one of the main graph."""
        around = [
            number
            for number, span in enumerate(self.spans)
            if span.start <= value.birth < span.end and value.instance is not span.owner
        ]
        return around[-1] if around else None

    def _copies_inputs(self, span: BodySpan) -> bool:
        """Whether the inputs of a body are in its arena: the slices of a scan."""
        op_def = span.node
        return op_def is not None and self.kernels.find_bodies(op_def.domain, op_def.name) == "scan"
