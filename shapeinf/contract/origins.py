"""Where conditions come from: the node behind the name that a fact carries, and the way from it back to an input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.explain.explanation import trace
from shapeinf.explain.points import GraphFrame, Point
from shapeinf.expr import Dim, Dimension
from shapeinf.graph import MISSING
from shapeinf.lattice import TensorType


class Place(NamedTuple):
    """A node, in the inference of the graph or body that it is in."""

    inference: Inference
    step: NodeStep

    @property
    def op(self) -> str:
        """The operator."""
        return self.step.operation.kind.op

    @property
    def location(self) -> str:
        """The place in the source text; empty for formats without one."""
        return self.inference.compiled.graph.locations.get(self.step.node.name, "")


class Places:
    """The nodes of an inference and of its bodies, by the names that facts carry."""

    def __init__(self, inference: Inference) -> None:
        """Finds nothing before it is asked."""
        self.inference = inference
        self._places: dict[str, Place] | None = None

    def find(self, site: str) -> Place | None:
        """The node of a name."""
        if self._places is None:
            self._places = {}
            self._add(self.inference)
        return self._places.get(site)

    def _add(self, inference: Inference) -> None:
        assert self._places is not None
        for step in inference.compiled.steps:
            self._places.setdefault(inference.path + step.site, Place(inference, step))
        for children in inference.children.values():
            for child in children.values():
                self._add(child)

    def chain(self, node: str, terms: Sequence[Dim]) -> tuple[str, ...]:
        """From an axis that a node reads back to an input with a symbol of these terms, one line a step."""
        place = self.find(node)
        if place is None:
            return ()
        wanted = {s for d in terms if isinstance(d, Dimension) for s in d.symbols()}
        frame = GraphFrame(place.inference)
        for slot in place.step.arguments:
            found = None if slot == MISSING else place.inference.current(slot)
            for axis in range(len(found.shape.dims or ()) if isinstance(found, TensorType) else 0):
                lines, last = trace(Point(frame, slot, "axis", axis))
                if lines and wanted & _asked(last):
                    return tuple(lines)
        return ()


def _asked(point: Point) -> set[Dimension]:
    """The symbols that an input had in an axis before any node had spoken; none for other points."""
    inference = point.frame.inference
    found = inference.input_types.get(inference.compiled.names[point.slot])
    dims = found.shape.dims if isinstance(found, TensorType) and point.facet == "axis" else None
    d = dims[point.at] if dims and point.at is not None else 0
    return set(d.symbols()) if isinstance(d, Dimension) else set()
