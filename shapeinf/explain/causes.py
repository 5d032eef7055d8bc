"""Where an unknown begins: the first node, or input, that did not know."""

from __future__ import annotations

from typing import NamedTuple

from shapeinf.engine.compiled import NodeStep
from shapeinf.explain.points import GraphFrame, Point, unknowns_in
from shapeinf.explain.probe import blockers
from shapeinf.expr import Dimension
from shapeinf.graph import MISSING, UNUSED


class Root(NamedTuple):
    """Where an unknown begins: `point`, made by `step` of `frame`; an input of the model where there is no step."""

    frame: GraphFrame
    step: NodeStep | None
    point: Point
    waits: tuple[Point, ...] = ()
    """The numbers in data that would decide it."""
    cut: bool = False
    """The budget of work was reached before it was found: `point` is as far as the search came."""

    @property
    def key(self) -> tuple[int, str]:
        """Equal for unknowns that begin at the same node or input; those whose beginning was not found are one."""
        if self.cut:
            return 0, ""
        return id(self.frame), self.frame.name(self.point.slot) if self.step is None else f"{self.step.index}"


class Roots:
    """Finds where unknowns begin; remembers what it has found."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._found: dict[Point, Root] = {}
        self._open: set[Point] = set()
        self._walked: set[GraphFrame] = set()

    def of(self, point: Point) -> list[Root]:
        """The first causes of an unknown axis, rank or element: one for each of its unknown symbols."""
        size = point.size
        if size is None or point.facet == "rank":
            return [self.root(point)]
        found = [self.root(_first(point, symbol)) for symbol in unknowns_in(size)]
        return list({root.key: root for root in found}.values())

    def root(self, point: Point) -> Root:
        """The first cause of what is unknown at a point where it occurs first in its graph."""
        if point.frame not in self._walked:
            self._walked.add(point.frame)
            self._walk(point.frame)
        if point not in self._found:
            if point in self._open:  # a cycle: it knows as little as it gets
                return Root(point.frame, point.frame.step_of(point.slot), point)
            self._open.add(point)
            self._found[point] = self._search(point)
            self._open.discard(point)
        return self._found[point]

    def _walk(self, frame: GraphFrame) -> None:
        """Find the causes of all unknown ranks of a graph in its order, so that no search goes deep."""
        for row in frame.inference.compiled.rows:
            for slot in row[2]:
                point = Point(frame, slot, "rank", 0)
                if slot != UNUSED and not point.known:
                    self.root(point)

    def _search(self, point: Point) -> Root:
        frame = point.frame
        step = frame.step_of(point.slot)
        if step is None:
            return self._from_outside(point)
        if verdict(frame, step) is not None:
            return Root(frame, step, point)
        if frame.inner(step):
            below = _below(point, step)
            return Root(frame, step, point) if below is None else self.root(below)
        found = blockers(point, step)
        if frame.budget.cut:
            return Root(frame, step, point, cut=True)
        for blocker in found:
            above = self.of(blocker)[0]
            if blocker.facet != "element" or above.point.facet != "element":
                return above
        return Root(frame, step, point, tuple(found))

    def _from_outside(self, point: Point) -> Root:
        """An input of the model, or of a body: what the node around it hands in, if that is unknown too."""
        outer, step = point.frame.outer, point.frame.step
        if outer is None or step is None:
            return Root(point.frame, None, point)
        handed = outside(point)
        if handed is not None and not handed.known:
            return self.of(handed)[0]
        slot = next(s for s in step.outputs if s >= 0)
        return Root(outer, step, Point(outer, slot, point.facet, point.at))


def verdict(frame: GraphFrame, step: NodeStep) -> str | None:
    """The code of the finding for which all of a node's outputs are unknown: no rule, or a broken law."""
    told = frame.reason(step)
    codes = (note.code for note in frame.inference.found.get(step.index, ()) if note.message == told)
    return next((code for code in codes if code != "S202"), None) if told else None


def _first(point: Point, symbol: Dimension) -> Point:
    """Where a symbol of a point occurs first in the graph; the point itself for one that is only a length."""
    return point.frame.first.get(symbol, point)


def outside(point: Point) -> Point | None:
    """The value of the outer graph that an input of a body or of a function is; None for what a loop makes itself.

    The last inputs of a body are those of its node, in order: what comes before them is the node's own.
    """
    outer, step, slot = point.frame.outer, point.frame.step, point.slot
    if outer is None or step is None:
        return None
    name = point.frame.inference.compiled.names[slot]
    if name in step.operation.captures:
        return point._replace(frame=outer, slot=step.captured[step.operation.captures.index(name)])
    inputs = point.frame.inference.compiled.graph.inputs
    if name not in inputs:
        return None
    position = inputs.index(name)
    if step.operation.bodies:
        position += len(step.arguments) - len(inputs)
    if not 0 <= position < len(step.arguments) or step.arguments[position] == MISSING:
        return None
    return point._replace(frame=outer, slot=step.arguments[position])


def inside(point: Point, frame: GraphFrame, step: NodeStep) -> Point | None:
    """The output of a body that an output of its node is; the last outputs of both are the same, in order."""
    program = frame.inference.compiled
    position = step.outputs.index(point.slot)
    if step.operation.bodies:
        position += len(program.graph.outputs) - len(step.outputs)
    if not 0 <= position < len(program.graph.outputs):
        return None
    return point._replace(frame=frame, slot=program.slots[program.graph.outputs[position]])


def _below(point: Point, step: NodeStep) -> Point | None:
    """Where an unknown of a node with bodies begins inside of them; None when the node itself makes it."""
    frames = point.frame.inner(step).values()
    size = point.size
    if size is not None:
        firsts = [frame.first.get(symbol) for frame in frames for symbol in unknowns_in(size)]
        return next((p for p in firsts if p is not None and p.frame.step_of(p.slot) is not None), None)
    outputs = [inside(point, frame, step) for frame in frames]
    return next((p for p in outputs if p is not None and not p.known), None)
