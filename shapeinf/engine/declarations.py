"""What a file declares of node outputs: told as facts where inference does not know, compared where it does."""

from __future__ import annotations

import re
import weakref

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.compiled import Step
from shapeinf.engine.inference import Declaring, Inference, Refine
from shapeinf.errors import Contradiction, ShapeError, Source
from shapeinf.expr import Dim, Dimension, DimSyntaxError, parse_dim
from shapeinf.graph import DeclaredType
from shapeinf.inputs.reader import InputReader
from shapeinf.lattice import MapType, OptionalAxes, OptionalType, SequenceType, Shape, TensorType, Type

_KINDS = {SequenceType: "sequence", OptionalType: "optional", MapType: "map"}

_GENERATED = re.compile(r"unk__\d+")
"""Names that onnx's own inference invents, anew in each run: they say nothing."""


def declare(inference: Inference, reader: InputReader, declared: Declaring) -> None:
    """Set how declarations of node outputs count, here and in all bodies."""
    inference.declaring = declared
    if declared != "ignore":
        inference.declare = lambda one: refiners(one, reader, trust=declared == "trust")
        inference.declared = inference.declare(inference)


def refiners(inference: Inference, reader: InputReader, trust: bool) -> dict[int, Refine]:
    """For each declared node output, the function that compares (and, if trusted, completes) its inferred type."""
    graph, slots = inference.program.graph, inference.program.slots
    sources = {*graph.inputs, *graph.constants}
    return {
        slots[name]: Refiner(inference, reader, name, declared, trust)
        for name, declared in graph.declared.items()
        if name in slots and name not in sources
    }


def trusts_declarations(inference: Inference) -> bool:
    """Whether a declaration of a node output has told the facts something."""
    if inference.declaring != "trust":
        return False
    declared = {declaration_source(name) for name in inference.program.graph.declared}
    store = inference.store
    return any(
        source in declared
        for source in (
            *store.sources.values(),
            *(step.source for told in store.ranges.values() for step in told.steps()),
            *(one.source for kept in (store.relations, store.divisibilities, store.disjunctions) for one in kept),
        )
    )


def declaration_source(name: str) -> Source:
    """The source of what the declaration of a value tells."""
    return Source(name, f"the file declares {name}", assumed=True)


class Refiner:
    """One declaration against what is inferred.

    What contains unknowns takes the declaration as a fact; what is known is never overwritten, only compared. A name
    that no input has names an unknown; of a known size it says nothing, since exporters invent names freely.
    """

    def __init__(
        self, inference: Inference, reader: InputReader, name: str, declared: DeclaredType, trust: bool
    ) -> None:
        """Remembers the declaration."""
        self._inference = weakref.ref(inference)  # which holds its refiners
        self.reader = reader
        self.name = name
        self.declared = declared
        self.trust = trust
        self.source = declaration_source(name)

    @property
    def inference(self) -> Inference:
        """The inference that asks."""
        found = self._inference()
        assert found is not None
        return found

    def __call__(self, number: int, step: Step) -> int:
        """The number of the type to go on with."""
        table = self.inference.table
        found = table.get(number)
        assert found is not None
        new = self.refined(found, step)
        if self.inference.store.epoch != table.epoch:
            table.refresh()
        return number if new is found else table.add(new)

    def refined(self, found: Type, step: Step) -> Type:
        """The type to go on with."""
        declared = self.declared
        if not isinstance(found, TensorType) or declared.kind != "tensor":
            return self._other_kind(found, step)
        shape = self._shape(found.shape, step)
        dtype = found.dtype
        if dtype is None:
            dtype = declared.dtype if self.trust else None
        elif declared.dtype is not None and dtype != declared.dtype:
            self._differ(step, f"the declared element type of {self.name} ({declared.dtype})", dtype)
        if shape is found.shape and dtype == found.dtype:
            return found
        return found.with_type(dtype, shape)

    def _other_kind(self, found: Type, step: Step) -> Type:
        """A sequence, optional or map: taken as declared where nothing is inferred."""
        unknown = isinstance(found, TensorType) and found.dtype is None and found.shape.dims is None
        if unknown and self.trust and self.declared.kind != "tensor":
            return self.reader.declared(self.declared, self.name)
        kind = "tensor" if isinstance(found, TensorType) else _KINDS[type(found)]
        if not unknown and kind != self.declared.kind:
            self._differ(step, f"the declared kind of {self.name} ({self.declared.kind})", kind)
        return found

    def _shape(self, shape: Shape, step: Step) -> Shape:
        dims = self.declared.dims
        if dims is None:
            return shape
        if shape.dims is None and isinstance(shape, OptionalAxes) and not shape.allows(len(dims)):
            self._differ(step, f"the declared rank of {self.name} ({list(dims)})", str(shape))
            return shape
        if shape.dims is None:
            if not self.trust:
                return shape
            shape = self._bound(shape, dims)
            assert shape.dims is not None
        if len(shape.dims) != len(dims):
            self._differ(step, f"the declared rank of {self.name} ({list(dims)})", str(shape))
            return shape
        pairs = enumerate(zip(shape.dims, dims, strict=True))
        told = [d if one is None or d == one else self._axis(step, axis, d, one) for axis, (d, one) in pairs]
        return shape if told == list(shape.dims) else Shape(told)

    def _bound(self, shape: Shape, dims: tuple[int | str | None, ...]) -> Shape:
        scope = self.inference.store.scope
        known = (self._meant(d) if isinstance(d, int) or (d and self._means_something(d, True)) else None for d in dims)
        declared = Shape(scope.fresh(f"{self.name}.{i}") if d is None else d for i, d in enumerate(known))
        return self.inference.store.bind_shape(shape, declared, self.source)

    def _meant(self, declared: int | str) -> Dim | None:
        """The dim that a declaration means."""
        scope = self.inference.store.scope
        if not isinstance(declared, str):
            return declared if declared >= 0 else None
        if not scope.has(declared):
            try:
                dim = parse_dim(declared, scope, 0)
            except DimSyntaxError:
                return scope.symbol(declared, 0)
            return dim
        return scope.symbol(declared)

    def _axis(self, step: Step, axis: int, inferred: Dim, declared: int | str) -> Dim:
        """The size to go on with."""
        store = self.inference.store
        inferred = store.canon(inferred)
        open_ = isinstance(inferred, Dimension) and inferred.is_anonymous
        if isinstance(declared, str) and not self._means_something(declared, open_):
            return inferred
        meant = self._meant(declared)
        if meant is None:
            return inferred
        try:
            if open_ and self.trust and not self.inference.path:  # in a loop the size may differ from trip to trip
                told = store.add_equal(inferred, meant, self.source)
                return meant if isinstance(meant, int) else told
            if store.prove_eq(inferred, meant) is not False:
                return inferred
        except Contradiction:
            pass
        self._differ(step, f"the declared size of {self.name}.shape[{axis}] ({declared})", f"{inferred}")
        return inferred

    def _means_something(self, name: str, unknown: bool) -> bool:
        """Whether a name says anything of a size: in a body, which may run often, only names of inputs do."""
        if self.inference.store.scope.has(name):
            return not _GENERATED.fullmatch(name)
        return unknown and not self.inference.path and not _GENERATED.fullmatch(name)

    def _differ(self, step: Step, declared: str, inferred: str) -> None:
        site, op = self.inference.path + step.site, str(step.operation)
        message = f"{declared} is not what the graph makes ({inferred})"
        if self.inference.strict:
            error = ShapeError(message, code="S120")
            error.node, error.op = site, step.operation.kind.op
            error.location = self.inference.program.graph.locations.get(step.node.name, "")
            raise error
        note = Diagnostic("warning", "S120", message, site, op)
        self.inference.found.setdefault(step.place, []).append(note)
