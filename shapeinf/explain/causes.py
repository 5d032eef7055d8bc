"""The roots of unknowns: the first node or input on the way of an unknown that has it as a result."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

from shapeinf.engine.compiled import NodeStep
from shapeinf.explain.points import GraphFrame, Point, unknowns_in
from shapeinf.explain.probe import blockers
from shapeinf.graph import MISSING, UNUSED


class Root(NamedTuple):
    """The origin of an unknown: `point`, which `step` of `frame` computes; an input of the model has no step."""

    frame: GraphFrame
    step: NodeStep | None
    point: Point
    waits: tuple[Point, ...] = ()
    """The elements of contents on which it depends."""
    cut: bool = False
    """Whether the budget was exhausted: `point` is then the last one that the search reached."""

    @property
    def key(self) -> tuple[int, str]:
        """A key that is equal for unknowns of the same node or input, and for all whose origin was not found."""
        if self.cut:
            return 0, ""
        return id(self.frame), self.frame.name(self.point.slot) if self.step is None else f"{self.step.index}"


Search = Generator[Point, Any, Root]
"""A search that requests the roots of other points."""


class Roots:
    """Finds the roots of unknowns, with a cache."""

    def __init__(self) -> None:
        """An empty cache."""
        self._roots: dict[Point, Root] = {}
        self._open: set[Point] = set()
        self._walked: set[GraphFrame] = set()

    def find(self, point: Point) -> list[Root]:
        """The roots of an unknown axis, rank or element: one for each of its anonymous symbols."""
        roots = map(self.root, _first_occurrences(point))
        return list({root.key: root for root in roots}.values())

    def root(self, point: Point) -> Root:
        """The root of an unknown, from the point of its first occurrence on: searches on a stack of their own."""
        searches: list[tuple[Point, Search]] = []
        requested: Point | None = point
        root: Root | None = None
        while True:
            if requested is not None:
                root = self._root_so_far(requested)
                if root is None:
                    self._open.add(requested)
                    searches.append((requested, self._search(requested)))
            if not searches:
                assert root is not None
                return root
            here, search = searches[-1]
            try:
                requested = search.send(root)
            except StopIteration as end:
                searches.pop()
                requested, root = None, end.value
                self._roots[here] = end.value
                self._open.discard(here)

    def _root_so_far(self, point: Point) -> Root | None:
        """The root of an unknown that was searched before, or is being searched; else None."""
        if point.frame not in self._walked:
            self._walked.add(point.frame)
            self._walk(point.frame)
        if point in self._open:  # a cycle: its outputs are as unknown as its inputs
            return Root(point.frame, point.frame.producer(point.slot), point)
        return self._roots.get(point)

    def _walk(self, frame: GraphFrame) -> None:
        """Find the roots of all unknown ranks in the order of the graph."""
        for row in frame.inference.compiled.rows:
            for slot in row[2]:
                point = Point(frame, slot, "rank", 0)
                if slot != UNUSED and not point.known:
                    self.root(point)

    def _search(self, point: Point) -> Search:
        """The search for the root of one unknown: it requests the roots of others, and returns its own."""
        frame = point.frame
        step = frame.producer(point.slot)
        if step is None:
            return (yield from self._outer_root(point))
        if failure_code(frame, step) is not None:
            return Root(frame, step, point)
        if frame.inner(step):
            below = _inner_origin(point, step)
            inner: Root = Root(frame, step, point) if below is None else (yield below)
            return inner
        blocking = blockers(point, step)
        if frame.budget.cut:
            return Root(frame, step, point, cut=True)
        for blocker in blocking:
            above: Root = yield _first_occurrences(blocker)[0]
            if blocker.facet != "element" or above.point.facet != "element":
                return above
        return Root(frame, step, point, tuple(blocking))

    def _outer_root(self, point: Point) -> Search:
        """The root of an input: for one of a body that of the outer value, if that is unknown, else the outer node."""
        outer, step = point.frame.outer, point.frame.step
        if outer is None or step is None:
            return Root(point.frame, None, point)
        passed = outer_point(point)
        if passed is not None and not passed.known:
            root: Root = yield _first_occurrences(passed)[0]
            return root
        slot = next(s for s in step.outputs if s >= 0)
        return Root(outer, step, Point(outer, slot, point.facet, point.at))


def failure_code(frame: GraphFrame, step: NodeStep) -> str | None:
    """The code of the diagnostic that made all outputs of a node unknown, without a rule or at a violation; or None."""
    reason = frame.reason(step)
    codes = (note.code for note in frame.inference.node_diagnostics.get(step.index, ()) if note.message == reason)
    return next((code for code in codes if code != "S202"), None) if reason else None


def _first_occurrences(point: Point) -> list[Point]:
    """The first points in the graph of the unknowns in an axis or element; the point itself for a rank.

    And for a symbol that is no size, such as a length.
    """
    size = point.size
    if size is None or point.facet == "rank":
        return [point]
    return [point.frame.first.get(symbol, point) for symbol in unknowns_in(size)]


def outer_point(point: Point) -> Point | None:
    """The point in the outer graph of an input of a body or function; None for one that the node itself computes.

    The last inputs of a body are those of its node, in order. The node computes those before, such as a trip number.
    """
    outer, step, slot = point.frame.outer, point.frame.step, point.slot
    if outer is None or step is None:
        return None
    name = point.frame.inference.compiled.names[slot]
    captured = step.captured_slot(name)
    if captured is not None:
        return point._replace(frame=outer, slot=captured)
    inputs = point.frame.inference.compiled.graph.inputs
    if name not in inputs:
        return None
    position = inputs.index(name)
    if step.operation.bodies:
        position += len(step.arguments) - len(inputs)
    if not 0 <= position < len(step.arguments) or step.arguments[position] == MISSING:
        return None
    return point._replace(frame=outer, slot=step.arguments[position])


def inner_point(point: Point, frame: GraphFrame, step: NodeStep) -> Point | None:
    """The point in a body (`frame`) of an output of its node; None where it is no output of the body.

    The last outputs of both correspond, in order.
    """
    compiled = frame.inference.compiled
    position = step.outputs.index(point.slot)
    if step.operation.bodies:
        position += len(compiled.graph.outputs) - len(step.outputs)
    if not 0 <= position < len(compiled.graph.outputs):
        return None
    return point._replace(frame=frame, slot=compiled.slots[compiled.graph.outputs[position]])


def _inner_origin(point: Point, step: NodeStep) -> Point | None:
    """The point inside the bodies of a node at which an unknown of it originates; None where the node creates it."""
    frames = point.frame.inner(step).values()
    size = point.size
    if size is not None:
        firsts = [frame.first.get(symbol) for frame in frames for symbol in unknowns_in(size)]
        return next((p for p in firsts if p is not None and p.frame.producer(p.slot) is not None), None)
    outputs = [inner_point(point, frame, step) for frame in frames]
    return next((p for p in outputs if p is not None and not p.known), None)
