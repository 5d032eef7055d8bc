"""Places to ask "why" about: an axis, a rank or an element of a value, in a graph or in a body inside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.expr import Dim, Dimension
from shapeinf.graph import UNUSED
from shapeinf.lattice import SequenceType, TensorType, Type
from shapeinf.sharing import cached_property
from shapeinf.solver.budget import WORK, Budget

Facet = Literal["axis", "rank", "element"]


class GraphFrame:
    """One run of a graph: that of the model, or of a body that `step` of `outer` runs."""

    def __init__(
        self, inference: Inference, outer: GraphFrame | None = None, step: NodeStep | None = None, *, work: int = WORK
    ) -> None:
        """See `inner`; a body is part of the question about the graph around it, and has no budget of its own."""
        self.budget: Budget = Budget(work) if outer is None else outer.budget
        self.inference = inference
        self.outer = outer
        self.step = step
        self._inner: dict[int, dict[str, GraphFrame]] = {}

    def step_of(self, slot: int) -> NodeStep | None:
        """The node that makes a value."""
        place = self.inference.compiled.producers[slot]
        return None if place is None else self.inference.compiled.step(place)

    def inner(self, step: NodeStep) -> dict[str, GraphFrame]:
        """The runs of the bodies of a node, or of the function that it calls, as they were at last."""
        if step.index not in self._inner:
            children = self.inference.children.get(step.index, {})
            self._inner[step.index] = {name: GraphFrame(child, self, step) for name, child in children.items()}
        return self._inner[step.index]

    def name(self, slot: int) -> str:
        """The name of a value; inside of a body after the path of that."""
        name = self.inference.compiled.names[slot]
        if self.outer is not None and self.step is not None and name in self.step.operation.captures:
            return self.outer.name(self.step.captured[self.step.operation.captures.index(name)])
        return self.inference.path + name

    def place(self, step: NodeStep) -> str:
        """A node's name, and where its source says it."""
        return self.located(self.inference.path + step.site, step.node.name)

    def located(self, text: str, node: str) -> str:
        """A text with the place that the source gives to a node."""
        at = self.inference.compiled.graph.locations.get(node)
        return f"{text} at {at}" if at else text

    def reason(self, step: NodeStep) -> str:
        """Why nothing is known of what a node makes, where its run said so."""
        return self.inference.reasons.get(step.index, "")

    @cached_property
    def first(self) -> dict[Dimension, Point]:
        """Where each unknown symbol occurs first: in what comes from outside, else in what a node makes."""
        found: dict[Dimension, Point] = {}
        program = self.inference.compiled
        made = (slot for row in program.rows for slot in row[2] if slot != UNUSED)
        sources = (slot for slot in range(len(program.names)) if program.producers[slot] is None)
        for slot in (*sources, *made):
            for symbol, facet, index in _symbols(self.inference.current(slot)):
                found.setdefault(symbol, Point(self, slot, facet, index))
        return found


class Point(NamedTuple):
    """An axis or an element of a value, `at` its index, or its rank (at 0)."""

    frame: GraphFrame
    slot: int
    facet: Facet
    at: int

    @property
    def type(self) -> Type | None:
        """What is known of the value."""
        return self.frame.inference.current(self.slot)

    @property
    def size(self) -> Dim | None:
        """The size or the number that is asked about; None for an unknown one, and for a rank."""
        return size_in(self.type, self.facet, self.at)

    @property
    def known(self) -> bool:
        """Whether it has no unknown in it."""
        return is_known(self.type, self.facet, self.at)

    def __str__(self) -> str:
        """`x.shape[0]`, `the rank of x`, `shape[1]`."""
        name = self.frame.name(self.slot)
        if self.facet == "rank":
            return f"the rank of {name}"
        return f"{name}.shape[{self.at}]" if self.facet == "axis" else f"{name}[{self.at}]"


def tensor_of(found: Type | None) -> TensorType | None:
    """A tensor, or the innermost elements of a sequence, an optional or a map."""
    while isinstance(found, SequenceType):
        found = found.element
    return found if isinstance(found, TensorType) else None


def size_in(found: Type | None, facet: Facet, index: int) -> Dim | None:
    """The size of an axis, or a whole number among the elements; None when it is not known."""
    tensor = tensor_of(found)
    values = None if tensor is None else tensor.shape.dims if facet == "axis" else tensor.elements
    if facet == "rank" or values is None or not -len(values) <= index < len(values):
        return None
    value = values[index]
    return value if isinstance(value, (int, Dimension)) and not isinstance(value, bool) else None


def is_known(found: Type | None, facet: Facet, index: int) -> bool:
    """Whether a type says a size, a number or a rank without an unknown in it."""
    if facet == "rank":
        tensor = tensor_of(found)
        return tensor is not None and tensor.shape.dims is not None
    size = size_in(found, facet, index)
    return size is not None and not unknowns_in(size)


def unknowns_in(dim: Dim) -> list[Dimension]:
    """The symbols of a dim that nobody has named."""
    if isinstance(dim, int):
        return []
    return sorted((s for s in dim.symbols() if s.symbol.anonymous), key=str)


def _symbols(found: Type | None) -> Iterator[tuple[Dimension, Facet, int]]:
    tensor = tensor_of(found)
    if tensor is None:
        return
    for index, dim in enumerate(tensor.shape.dims or ()):
        for symbol in unknowns_in(dim):
            yield symbol, "axis", index
    for index, element in enumerate(tensor.elements or ()):
        if isinstance(element, Dimension):
            for symbol in unknowns_in(element):
                yield symbol, "element", index
