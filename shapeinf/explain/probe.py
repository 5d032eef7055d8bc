"""Asking a rule: it runs again with other inputs, over a copy of the facts, to see what its outputs come from."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.engine.compiled import Step
from shapeinf.errors import ShapeInferenceError
from shapeinf.explain.points import Facet, Point, is_known, size_in, tensor_of, unknowns_in
from shapeinf.expr import Dim, Dimension
from shapeinf.expr.evaluation import substitute
from shapeinf.graph import MISSING
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type

MOST_ELEMENTS = 64
"""Longer contents are no shape; they are not asked about."""
STEPS_A_RULE = 100
"""What it takes to run a rule once more, in the steps of a budget."""
STEPS_PER_CONSTRAINT = 5
"""What it takes to copy a fact."""
STEPS_A_TELLING = 200
"""What it takes to learn a fact."""
RANKS_TRIED = (2, 3, 4, 1, 5, 0, 6)

Inputs = list["Type | None"]


def sources(point: Point, step: Step) -> list[Point]:
    """The axes and elements of a node's inputs that an axis or element of its output is computed from."""
    probe = _Probe(point, step)
    if not probe.possible:
        return []
    for contents, ones in ((True, False), (False, False), (False, True), (True, True)):
        origins = probe.origins(probe.marked(contents, ones))
        if origins:
            return origins
    return probe.constants()


def blockers(point: Point, step: Step) -> list[Point]:
    """What is unknown of a node's inputs that makes its output unknown: the first that is enough by itself.

    Nothing when the output would be unknown even if all shapes of the inputs, and all sizes among their contents, were
    known: then it depends on data, or on a rule that does not say.
    """
    probe = _Probe(point, step)
    if not probe.possible:
        return []
    for contents in (True,) if point.facet == "element" else (False, True):
        unknown = [p for position in range(len(step.arguments)) for p in probe.unknown(position, contents)]
        for rank in RANKS_TRIED if unknown else ():
            lifted = probe.lifted(rank, contents)
            if probe.says(lifted):
                return [p for p in unknown if not probe.says(probe.lowered(lifted, p))][:1] or unknown[:1]
    return []


def is_late(point: Point, step: Step) -> bool:
    """Whether a node's output would be known if it ran now: what its inputs are was learned from later nodes."""
    probe = _Probe(point, step)
    return probe.possible and probe.says(probe.types)


class _Probe:
    """The runs of one node's rule with symbols of our own in place of sizes; `marks` has what each stands for."""

    def __init__(self, point: Point, step: Step) -> None:
        self.point = point
        self.step = step
        self.inference = point.frame.inference
        self.call = step.operation.call
        self.possible = self.call is not None and not step.operation.bodies
        self.marks: dict[Dimension, Point] = {}
        self.types: Inputs = [None if s == MISSING else self.inference.current(s) for s in step.arguments]

    def answer(self, inputs: Sequence[Type | None]) -> Type | None:
        """The type that the rule gives to the output; None when it refuses, and past the budget of the question."""
        assert self.call is not None
        store, budget = self.inference.store, self.point.frame.budget
        if not budget.take(STEPS_A_RULE + STEPS_PER_CONSTRAINT * store.count):
            return None
        before, told = store.scope.work, store.copy()
        try:
            outcome = self.call.run(inputs, told, self.inference.path + self.step.site)
        except (ShapeInferenceError, ArithmeticError, ValueError, TypeError, IndexError):
            return None
        finally:
            budget.spend(store.scope.work - before + STEPS_A_TELLING * (told.version - store.version))
        return outcome.types[self.step.outputs.index(self.point.slot)]

    def says(self, inputs: Sequence[Type | None]) -> bool:
        """Whether nothing is unknown of the output but what our own symbols stand for."""
        found = self.answer(inputs)
        if self.point.facet == "rank" or found is None:
            return is_known(found, "rank", 0)
        size = size_in(found, self.point.facet, self.point.at)
        return size is not None and all(s in self.marks for s in unknowns_in(size))

    def origins(self, inputs: Sequence[Type | None]) -> list[Point]:
        """What the symbols of the output stand for; nothing if it is not the size that we know when they are that."""
        size = size_in(self.answer(inputs), self.point.facet, self.point.at)
        if not isinstance(size, Dimension):
            return []
        values = {mark: point.size for mark, point in self.marks.items() if point.size is not None}
        if self.inference.store.canon(substitute(size, values)) != self.point.size:
            return []
        return [self.marks[s] for s in sorted(size.symbols(), key=str) if s in self.marks]

    # -- what the output is made of ----------------------------------------------------------------------------------

    def marked(self, contents: bool, ones: bool) -> Inputs:
        """The inputs with a symbol for every axis (and, only with `ones`, for those of size 1).

        Contents that the rule reads stay, with a symbol for every symbolic number; without `contents` they go.
        """
        found: Inputs = []
        for position, known in enumerate(self.types):
            slot = self.step.arguments[position]
            if not isinstance(known, TensorType) or known.shape.dims is None:
                found.append(known)
            elif contents and self.reads(position) and known.elements is not None:
                elements = [
                    self.mark(slot, "element", i, e) if isinstance(e, Dimension) else e
                    for i, e in enumerate(known.elements)
                ]
                found.append(PartialTensor(known.dtype, known.shape, elements))
            else:  # broadcasting branches on sizes of 1
                dims = enumerate(known.shape.dims)
                sizes: list[Dim] = [d if d == 1 and not ones else self.mark(slot, "axis", i, d) for i, d in dims]
                found.append(TensorType(known.dtype, Shape(sizes)))
        return found

    def constants(self) -> list[Point]:
        """The number among the contents that the size is: the output changes when it does."""
        size = self.point.size
        for position, known in enumerate(self.types):
            elements = known.elements if isinstance(known, TensorType) and self.reads(position) else None
            if elements is None or len(elements) > MOST_ELEMENTS:
                continue
            assert isinstance(known, TensorType)
            for index, element in enumerate(elements):
                if element == size and not isinstance(element, bool) and self.decides(position, known, index):
                    return [Point(self.point.frame, self.step.arguments[position], "element", index)]
        return []

    def decides(self, position: int, known: TensorType, index: int) -> bool:
        """Whether the output is what an element is."""
        elements = list(known.elements or ())
        elements[index] = mark = self.mark(self.step.arguments[position], "element", index, None)
        for inputs in ([*self.types], self.marked(contents=True, ones=True)):
            inputs[position] = PartialTensor(known.dtype, known.shape, elements)
            found = size_in(self.answer(inputs), self.point.facet, self.point.at)
            if isinstance(found, Dimension) and mark in found.symbols():
                return True
        return False

    def reads(self, position: int) -> bool:
        """Whether the rule reads the contents of an input."""
        assert self.call is not None
        return self.call.reads(position)

    def mark(self, slot: int, facet: Facet, index: int, dim: Dim | None) -> Dimension:
        """A symbol in place of a size, with its bounds."""
        store = self.inference.store
        low: int | None = 2
        if isinstance(dim, Dimension):
            low = store.interval(dim).lo
        elif dim is not None:
            low = min(2, dim)
        symbol = store.scope.fresh(f"probe.{slot}.{facet}.{index}", low)
        self.marks[symbol] = Point(self.point.frame, slot, facet, index)
        return symbol

    # -- what makes the output unknown -------------------------------------------------------------------------------

    def unknown(self, position: int, contents: bool) -> list[Point]:
        """What is not known of an input: its rank, its axes; with `contents` the numbers that the rule reads."""
        found, slot, frame = self.types[position], self.step.arguments[position], self.point.frame
        if slot == MISSING:
            return []
        missing = self.open_elements(position) if contents else []
        if missing:
            return [Point(frame, slot, "element", i) for i in missing]
        tensor = tensor_of(found)
        if tensor is None or tensor.shape.dims is None:
            return [Point(frame, slot, "rank", 0)]
        return [Point(frame, slot, "axis", i) for i, d in enumerate(tensor.shape.dims) if unknowns_in(d)]

    def open_elements(self, position: int) -> list[int]:
        """The whole numbers in an input that the rule reads and nobody knows; the first, where there may be any."""
        found = self.types[position]
        if not isinstance(found, TensorType) or "int" not in (found.dtype or "") or not self.reads(position):
            return []
        if found.elements is not None:
            return [i for i, e in enumerate(found.elements) if e is None or _is_open(e)]
        dims = found.shape.dims
        if dims is not None and len(dims) > 1:
            return []
        count = 1 if dims == () else dims[0] if dims else None
        if not isinstance(count, int):
            return [0]
        return list(range(count)) if count <= MOST_ELEMENTS else []

    def lifted(self, rank: int, contents: bool) -> Inputs:
        """The inputs as if all were known; a rank, or a number of sizes, that is not known is taken to be `rank`."""
        found: Inputs = []
        for position, known in enumerate(self.types):
            if not isinstance(known, TensorType):
                found.append(known)
            elif contents and self.open_elements(position):
                found.append(self.with_contents(position, known, rank))
            elif self.unknown(position, contents=False):
                found.append(self.with_sizes(position, known, rank))
            else:
                found.append(known)
        return found

    def with_sizes(self, position: int, known: TensorType, rank: int) -> TensorType:
        """An input with a symbol in place of each size that is not known."""
        slot, dims = self.step.arguments[position], known.shape.dims
        if dims is None:
            return TensorType(known.dtype, Shape([self.mark(slot, "axis", i, None) for i in range(rank)]))
        if len(dims) == 1 and self.open_elements(position):
            return TensorType(known.dtype, Shape((rank,)))
        pairs = enumerate(dims)
        return TensorType(
            known.dtype, Shape([self.mark(slot, "axis", i, None) if unknowns_in(d) else d for i, d in pairs])
        )

    def with_contents(self, position: int, known: TensorType, rank: int) -> TensorType:
        """An input with a symbol in place of each number that is not known."""
        slot, missing = self.step.arguments[position], self.open_elements(position)
        if known.shape.is_concrete:
            elements = list(known.elements or [None] * len(missing))
            for index in missing:
                elements[index] = self.mark(slot, "element", index, None)
            return PartialTensor(known.dtype, known.shape, elements)
        single = known.shape.dims is None and rank == 0
        marks = [self.mark(slot, "element", i, None) for i in range(rank or 1)]
        return PartialTensor(known.dtype, Shape(() if single else (len(marks),)), marks)

    def lowered(self, lifted: Inputs, point: Point) -> Inputs:
        """All inputs known but for one thing, which is as it is."""
        found = list(lifted)
        for position, slot in enumerate(self.step.arguments):
            if slot == point.slot:
                found[position] = self.but_one(position, lifted[position], point)
        return found

    def but_one(self, position: int, lifted: Type | None, point: Point) -> Type | None:
        """A known input with one of its unknowns back."""
        known = self.types[position]
        if not isinstance(known, TensorType) or not isinstance(lifted, TensorType) or point.facet == "rank":
            return known
        if point.facet == "element":
            if known.elements is None or lifted.elements is None:
                return known
            elements = list(lifted.elements)
            elements[point.at] = known.elements[point.at]
            return PartialTensor(known.dtype, known.shape, elements)
        dims = list(lifted.shape)
        dims[point.at] = known.shape[point.at]
        return TensorType(known.dtype, Shape(dims))


def _is_open(element: object) -> bool:
    return isinstance(element, Dimension) and bool(unknowns_in(element))
