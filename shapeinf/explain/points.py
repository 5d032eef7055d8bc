"""Points: an axis, the rank or an element of a value, in a run of a graph (`GraphFrame`).

Explanations go from point to point, from an output of a node to its inputs. Bodies are frames of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import Run, body_path
from shapeinf.engine.schema_violations import SchemaViolations
from shapeinf.errors import UnknownNameError
from shapeinf.expr import Dimension, DimSize
from shapeinf.graph import UNUSED
from shapeinf.lattice import SequenceType, TensorType, Type
from shapeinf.sharing import cached_property
from shapeinf.solver.budget import WORK, Budget

Facet = Literal["axis", "rank", "element"]


class GraphFrame:
    """One run of a graph: that of the model, or of a body of `step` in `outer`."""

    def __init__(
        self, inference: Inference, outer: GraphFrame | None = None, step: NodeStep | None = None, *, work: int = WORK
    ) -> None:
        """`work` is the budget in steps; a body shares the budget of the outer graph."""
        self.budget: Budget = Budget(work) if outer is None else outer.budget
        self.inference = inference
        self.outer = outer
        self.step = step
        self._inner: dict[int, dict[str, GraphFrame]] = {}

    def producer(self, slot: int) -> NodeStep | None:
        """The node that computes a value; None for an input or constant."""
        index = self.inference.compiled.producers[slot]
        return None if index is None else self.inference.compiled.step(index)

    def inner(self, step: NodeStep) -> dict[str, GraphFrame]:
        """The last run of each body of a node, or of the function that it calls, by attribute."""
        if step.index not in self._inner:
            runs = Run(self.inference).inner(step.index)
            self._inner[step.index] = {run.name: GraphFrame(run.inference, self, step) for run in runs}
        return self._inner[step.index]

    def name(self, slot: int) -> str:
        """The name of a value; inside a body it begins with the path of the body."""
        name = self.inference.compiled.names[slot]
        captured = None if self.step is None else self.step.captured_slot(name)
        if self.outer is not None and captured is not None:
            return self.outer.name(captured)
        return self.inference.path + name

    def locate(self, step: NodeStep) -> str:
        """The name of a node and its location in the source."""
        return self.append_location(self.inference.path + step.node_name, step.node.name)

    def append_location(self, text: str, node: str) -> str:
        """A text, followed by the location of a node in the source where that is known."""
        at = self.inference.compiled.graph.locations.get(node)
        return f"{text} at {at}" if at else text

    def reason(self, step: NodeStep) -> str:
        """Why the outputs of a node are unknown; empty where the inference recorded no reason."""
        return self.inference.reasons.get(step.index, "")

    @cached_property
    def schema_violations(self) -> dict[int, str]:
        """Why no runtime loads the model, by the index of the node."""
        listed = SchemaViolations(self.inference).of(self.inference)
        return {violation.index: violation.error.headline for violation in reversed(listed)}

    @cached_property
    def first(self) -> dict[Dimension, Point]:
        """The first point of each anonymous symbol: in an input or constant, else in an output of a node."""
        first: dict[Dimension, Point] = {}
        compiled = self.inference.compiled
        outputs = (slot for row in compiled.rows for slot in row[2] if slot != UNUSED)
        sources = (slot for slot in range(len(compiled.names)) if compiled.producers[slot] is None)
        for slot in (*sources, *outputs):
            for symbol, facet, index in _symbols(self.inference.type_of(slot)):
                first.setdefault(symbol, Point(self, slot, facet, index))
        return first


def find_value(outer: GraphFrame, name: str) -> tuple[GraphFrame, int]:
    """The frame and the slot of a value by its name, which begins with the path of its body.

    Raises UnknownNameError for an unknown value.
    """
    waiting = [(outer, "")]
    for frame, path in waiting:
        compiled = frame.inference.compiled
        slot = compiled.slots.get(name.removeprefix(path))
        if slot is not None:
            return frame, slot
        for step in map(compiled.step, frame.inference.children):
            paths = ((body, body_path(path, step, label)) for label, body in frame.inner(step).items())
            waiting += [(body, inner) for body, inner in paths if name.startswith(inner)]
    raise UnknownNameError("tensor", name, outer.inference.compiled.slots)


class Point(NamedTuple):
    """An axis or an element of the value of a slot, at the index `at`; or its rank, where `at` is 0."""

    frame: GraphFrame
    slot: int
    facet: Facet
    at: int

    @property
    def type(self) -> Type | None:
        """The inferred type of the value."""
        return self.frame.inference.type_of(self.slot)

    @property
    def size(self) -> DimSize | None:
        """The size of the axis, or the element; None where there is none, and for a rank."""
        return size_in(self.type, self.facet, self.at)

    @property
    def known(self) -> bool:
        """Whether the rank is known, or the size or element contains no unknown."""
        return is_known(self.type, self.facet, self.at)

    def __str__(self) -> str:
        """`x.shape[0]`, `the rank of x`, `shape[1]`."""
        name = self.frame.name(self.slot)
        if self.facet == "rank":
            return f"the rank of {name}"
        return f"{name}.shape[{self.at}]" if self.facet == "axis" else f"{name}[{self.at}]"


def tensor_of(value: Type | None) -> TensorType | None:
    """The type of a tensor, or of the innermost elements of a sequence, optional or map; None for any other type."""
    while isinstance(value, SequenceType):
        value = value.element
    return value if isinstance(value, TensorType) else None


def size_in(value: Type | None, facet: Facet, index: int) -> DimSize | None:
    """The size of an axis, or an integer among the elements; None where there is none."""
    tensor = tensor_of(value)
    values = None if tensor is None else tensor.shape.dims if facet == "axis" else tensor.elements
    if facet == "rank" or values is None or not -len(values) <= index < len(values):
        return None
    item = values[index]
    return item if isinstance(item, (int, Dimension)) and not isinstance(item, bool) else None


def is_known(value: Type | None, facet: Facet, index: int) -> bool:
    """Whether a size, an element or the rank of a type is known and contains no unknown."""
    if facet == "rank":
        tensor = tensor_of(value)
        return tensor is not None and tensor.shape.dims is not None
    size = size_in(value, facet, index)
    return size is not None and not unknowns_in(size)


def unknowns_in(dim: DimSize) -> list[Dimension]:
    """The anonymous symbols of a dim."""
    if isinstance(dim, int):
        return []
    unknowns = [s for s in dim.symbols() if s.symbol.anonymous]
    return sorted(unknowns, key=str) if len(unknowns) > 1 else unknowns


def _symbols(value: Type | None) -> Iterator[tuple[Dimension, Facet, int]]:
    tensor = tensor_of(value)
    if tensor is None:
        return
    for index, dim in enumerate(tensor.shape.dims or ()):
        for symbol in unknowns_in(dim):
            yield symbol, "axis", index
    for index, element in enumerate(tensor.elements or ()):
        if isinstance(element, Dimension):
            for symbol in unknowns_in(element):
                yield symbol, "element", index
