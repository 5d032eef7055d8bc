"""Probes of a rule: runs with other inputs, over a copy of the store, that find what its outputs depend on.

For the sources of a known size, every axis of the inputs is replaced by a *marker*, a symbol of its own: the markers in
the output are its sources. For the causes of an unknown, the unknowns of the inputs are replaced by markers (*lifted*):
those that make the output unknown again when they are restored are its causes.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.engine.compiled import NodeStep
from shapeinf.errors import ShapeInferenceError
from shapeinf.explain.points import Facet, Point, is_known, size_in, tensor_of, unknowns_in
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.evaluation import substitute
from shapeinf.graph import MISSING
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type
from shapeinf.ops.context import SizeTerms, Terms

MOST_ELEMENTS = 64
"""The most elements of contents that are probed: longer ones are no shape."""
STEPS_PER_RULE = 100
"""The cost of one run of a rule, in steps of a budget."""
STEPS_PER_COPIED_CONSTRAINT = 5
"""The cost of copying a constraint."""
STEPS_PER_NEW_CONSTRAINT = 200
"""The cost of adding a constraint."""
RANKS_TRIED = (2, 3, 4, 1, 5, 0, 6)
"""The ranks that are tried in place of an unknown one, in this order."""

Inputs = list["Type | None"]


def sources(point: Point, step: NodeStep) -> tuple[list[Point], Terms]:
    """The axes and elements of a node's inputs that an axis or element of its output is computed from.

    Also the parameters in its formula, such as the stride of a window. Both are empty where none is found.
    """
    probe = _Probe(point, step)
    if not probe.possible:
        return [], {}
    for contents, ones in ((True, False), (False, False), (False, True), (True, True)):
        origins = probe.origins(probe.mark_inputs(contents, ones))
        if origins:
            return origins, probe.terms
    return probe.constants(), {}


def blockers(point: Point, step: NodeStep) -> list[Point]:
    """The unknown of a node's inputs that makes its output unknown: the first one that does so alone.

    Empty where the output would be unknown even if all shapes of the inputs, and all sizes among their contents, were
    known: then it depends on data, or the rule does not infer it.
    """
    probe = _Probe(point, step)
    if not probe.possible:
        return []
    for contents in (True,) if point.facet == "element" else (False, True):
        unknown = [p for position in range(len(step.arguments)) for p in probe.unknown_points(position, contents)]
        for rank in RANKS_TRIED if unknown else ():
            lifted = probe.lift(rank, contents)
            if probe.is_known(lifted):
                return [p for p in unknown if not probe.is_known(probe.lower(lifted, p))][:1] or unknown[:1]
    return []


def is_late(point: Point, step: NodeStep) -> bool:
    """Whether a node's output would be known if it ran now: later nodes added constraints on its inputs."""
    probe = _Probe(point, step)
    return probe.possible and probe.is_known(probe.types)


class _Probe:
    """Runs of one node's rule with markers instead of sizes; `marks` has the point of each marker."""

    def __init__(self, point: Point, step: NodeStep) -> None:
        self.point = point
        self.step = step
        self.inference = point.frame.inference
        self.call = step.operation.call
        self.possible = self.call is not None and not step.operation.bodies
        self.marks: dict[Dimension, Point] = {}
        self.terms: Terms = {}
        self.types: Inputs = [None if s == MISSING else self.inference.type_of(s) for s in step.arguments]

    def run(self, inputs: Sequence[Type | None], terms: SizeTerms | None = None) -> Type | None:
        """The type of the probed output for these inputs; None where the rule fails or the budget is exhausted."""
        assert self.call is not None
        store, budget = self.inference.store, self.point.frame.budget
        if not budget.take(STEPS_PER_RULE + STEPS_PER_COPIED_CONSTRAINT * store.count):
            return None
        before, scratch = store.scope.work, store.copy()
        try:
            outcome = self.call.run(inputs, scratch, self.inference.path + self.step.node_name, size_terms=terms)
        except (ShapeInferenceError, ArithmeticError, ValueError, TypeError, IndexError):
            return None
        finally:
            budget.spend(store.scope.work - before, on_dims=True)
            budget.spend(STEPS_PER_NEW_CONSTRAINT * (scratch.version - store.version))
        return outcome.types[self.step.outputs.index(self.point.slot)]

    def is_known(self, inputs: Sequence[Type | None]) -> bool:
        """Whether the output has no unknowns but markers."""
        output = self.run(inputs)
        if self.point.facet == "rank" or output is None:
            return is_known(output, "rank", 0)
        size = size_in(output, self.point.facet, self.point.at)
        return size is not None and all(s in self.marks for s in unknowns_in(size))

    def origins(self, inputs: Sequence[Type | None]) -> list[Point]:
        """The points of the markers in the output; none where it is not the inferred size with sizes for markers."""
        terms: SizeTerms = {}
        size = size_in(self.run(inputs, terms), self.point.facet, self.point.at)
        if not isinstance(size, Dimension):
            return []
        values = {mark: point.size for mark, point in self.marks.items() if point.size is not None}
        if self.inference.store.canon(substitute(size, values)) != self.point.size:
            return []
        self.terms = {
            name: substitute(term, values) if isinstance(term, Dimension) else term
            for name, term in terms.get(size, {}).items()
        }
        return [self.marks[s] for s in sorted(size.symbols(), key=str) if s in self.marks]

    # -- sources of the output --------------------------------------------------------------------------------------

    def mark_inputs(self, contents: bool, ones: bool) -> Inputs:
        """The inputs with a marker for every axis (and, only with `ones`, for those of size 1).

        Contents that the rule reads stay, with a marker for every symbolic number; without `contents` they are dropped.
        """
        inputs: Inputs = []
        for position, known in enumerate(self.types):
            slot = self.step.arguments[position]
            if not isinstance(known, TensorType) or known.shape.dims is None:
                inputs.append(known)
            elif contents and self.reads(position) and known.elements is not None:
                elements = [
                    self.mark(slot, "element", i, e) if isinstance(e, Dimension) else e
                    for i, e in enumerate(known.elements)
                ]
                inputs.append(PartialTensor(known.dtype, known.shape, elements))
            else:  # broadcasting branches on sizes of 1
                dims = enumerate(known.shape.dims)
                sizes: list[DimSize] = [d if d == 1 and not ones else self.mark(slot, "axis", i, d) for i, d in dims]
                inputs.append(TensorType(known.dtype, Shape(sizes)))
        return inputs

    def constants(self) -> list[Point]:
        """The element of the contents that is equal to the size, and on which the output depends; else empty."""
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
        """Whether the output depends on an element of an input."""
        elements = list(known.elements or ())
        elements[index] = mark = self.mark(self.step.arguments[position], "element", index, None)
        for inputs in ([*self.types], self.mark_inputs(contents=True, ones=True)):
            inputs[position] = PartialTensor(known.dtype, known.shape, elements)
            size = size_in(self.run(inputs), self.point.facet, self.point.at)
            if isinstance(size, Dimension) and mark in size.symbols():
                return True
        return False

    def reads(self, position: int) -> bool:
        """Whether the rule reads the contents of an input."""
        assert self.call is not None
        return self.call.reads(position)

    def mark(self, slot: int, facet: Facet, index: int, dim: DimSize | None) -> Dimension:
        """A new marker for an axis or element, with the lower bound of its size `dim`."""
        store = self.inference.store
        low: int | None = 2
        if isinstance(dim, Dimension):
            low = store.interval(dim).lo
        elif dim is not None:
            low = min(2, dim)
        symbol = store.scope.fresh(f"probe.{slot}.{facet}.{index}", low)
        self.marks[symbol] = Point(self.point.frame, slot, facet, index)
        return symbol

    # -- causes of an unknown output --------------------------------------------------------------------------------

    def unknown_points(self, position: int, contents: bool) -> list[Point]:
        """The unknowns of an input: its rank or axes, or, with `contents`, the elements that the rule reads."""
        value, slot, frame = self.types[position], self.step.arguments[position], self.point.frame
        if slot == MISSING:
            return []
        missing = self.unknown_elements(position) if contents else []
        if missing:
            return [Point(frame, slot, "element", i) for i in missing]
        tensor = tensor_of(value)
        if tensor is None or tensor.shape.dims is None:
            return [Point(frame, slot, "rank", 0)]
        return [Point(frame, slot, "axis", i) for i, d in enumerate(tensor.shape.dims) if unknowns_in(d)]

    def unknown_elements(self, position: int) -> list[int]:
        """The indices of unknown integers in an input that the rule reads; [0] where their number is unknown."""
        value = self.types[position]
        if not isinstance(value, TensorType) or "int" not in (value.dtype or "") or not self.reads(position):
            return []
        if value.elements is not None:
            return [i for i, e in enumerate(value.elements) if e is None or _has_unknowns(e)]
        dims = value.shape.dims
        if dims is not None and len(dims) > 1:
            return []
        count = 1 if dims == () else dims[0] if dims else None
        if not isinstance(count, int):
            return [0]
        return list(range(count)) if count <= MOST_ELEMENTS else []

    def lift(self, rank: int, contents: bool) -> Inputs:
        """The inputs with markers for all unknowns; `rank` replaces an unknown rank or number of elements."""
        inputs: Inputs = []
        for position, known in enumerate(self.types):
            if not isinstance(known, TensorType):
                inputs.append(known)
            elif contents and self.unknown_elements(position):
                inputs.append(self.replace_contents(position, known, rank))
            elif self.unknown_points(position, contents=False):
                inputs.append(self.replace_sizes(position, known, rank))
            else:
                inputs.append(known)
        return inputs

    def replace_sizes(self, position: int, known: TensorType, rank: int) -> TensorType:
        """An input with a marker for each unknown size."""
        slot, dims = self.step.arguments[position], known.shape.dims
        if dims is None:
            return TensorType(known.dtype, Shape([self.mark(slot, "axis", i, None) for i in range(rank)]))
        if len(dims) == 1 and self.unknown_elements(position):
            return TensorType(known.dtype, Shape((rank,)))
        pairs = enumerate(dims)
        return TensorType(
            known.dtype, Shape([self.mark(slot, "axis", i, None) if unknowns_in(d) else d for i, d in pairs])
        )

    def replace_contents(self, position: int, known: TensorType, rank: int) -> TensorType:
        """An input with a marker for each unknown element."""
        slot, missing = self.step.arguments[position], self.unknown_elements(position)
        if known.shape.is_concrete:
            elements = list(known.elements or [None] * len(missing))
            for index in missing:
                elements[index] = self.mark(slot, "element", index, None)
            return PartialTensor(known.dtype, known.shape, elements)
        single = known.shape.dims is None and rank == 0
        marks = [self.mark(slot, "element", i, None) for i in range(rank or 1)]
        return PartialTensor(known.dtype, Shape(() if single else (len(marks),)), marks)

    def lower(self, lifted: Inputs, point: Point) -> Inputs:
        """The lifted inputs with the unknown at a point restored."""
        inputs = list(lifted)
        for position, slot in enumerate(self.step.arguments):
            if slot == point.slot:
                inputs[position] = self.restore(position, lifted[position], point)
        return inputs

    def restore(self, position: int, lifted: Type | None, point: Point) -> Type | None:
        """A lifted input with the unknown at a point restored."""
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


def _has_unknowns(element: object) -> bool:
    return isinstance(element, Dimension) and bool(unknowns_in(element))
