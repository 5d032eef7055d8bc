"""Where conditions come from: the node behind the name that a fact carries, and the way from it back to an input."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shapeinf.algebra import Dimension
from shapeinf.driver.explain import explain
from shapeinf.driver.inference import Inference
from shapeinf.driver.program import Step
from shapeinf.graph import MISSING
from shapeinf.lattice import TensorType

if TYPE_CHECKING:
    from shapeinf.contract.conditions import Condition


class Place(NamedTuple):
    """A node, in the inference of the graph or body that it is in."""

    inference: Inference
    step: Step

    @property
    def op(self) -> str:
        """The operator."""
        return self.step.operation.kind.op

    @property
    def location(self) -> str:
        """The place in the source text; empty for formats without one."""
        return self.inference.program.graph.locations.get(self.step.node.name, "")


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
        for step in inference.program.steps:
            self._places.setdefault(inference.path + step.site, Place(inference, step))
        for children in inference.children.values():
            for child in children.values():
                self._add(child)

    def chain(self, condition: Condition) -> tuple[str, ...]:
        """See `Condition.chain`."""
        place = self.find(condition.node)
        wanted = {s for d in condition.terms if isinstance(d, Dimension) for s in d.symbols()}
        if place is None:
            return ()
        inference = place.inference
        for slot in place.step.arguments:
            if slot == MISSING:
                continue
            found = inference.current(slot)
            name = inference.program.names[slot]
            for axis in range(len(found.shape.dims or ()) if isinstance(found, TensorType) else 0):
                lines = explain(inference, name, axis)
                if lines and self._leads_to_input(inference, lines[-1], wanted):
                    return tuple(lines)
        return ()

    def _leads_to_input(self, inference: Inference, line: str, wanted: set[Dimension]) -> bool:
        """Whether the last line of an explanation is about an axis of an input with one of these symbols."""
        for name, asked in inference.asked.items():
            if isinstance(asked, TensorType) and line.startswith(f"{name}.shape["):
                axis = int(line[len(name) + 7 :].partition("]")[0])
                d = (asked.shape.dims or ())[axis] if asked.shape.dims else None
                if isinstance(d, Dimension) and d.symbols() & wanted:
                    return True
        return False
