"""Declared types of node outputs: constraints where inference leaves a size unknown, compared where it does not."""

from __future__ import annotations

import weakref

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference, Refine
from shapeinf.engine.traced import Usage, declaration_usage, describe_usage
from shapeinf.errors import Contradiction, DimSyntaxError, ShapeError, Source
from shapeinf.expr import Dim, Dimension, axis_label, parse_dim
from shapeinf.formats.annotation import GENERATED
from shapeinf.graph import DeclaredType
from shapeinf.inputs.options import DeclaredMode
from shapeinf.inputs.reader import InputReader
from shapeinf.lattice import OptionalAxes, Shape, TensorType, Type


def declare(inference: Inference, reader: InputReader, declared: DeclaredMode) -> list[Diagnostic]:
    """Set how declarations of node outputs are used, in this graph and in all bodies; notes on those that are not.

    The inputs are set, and all that the user specifies is in the store.
    """
    inference.declared_mode = declared
    if declared == "ignore":
        return []
    usage = declaration_usage(inference, declared)
    inference.declare = lambda graph_run: refiners(graph_run, reader, usage)
    inference.declared = inference.declare(inference)
    return list(describe_usage(inference.compiled.graph, declared, usage))


def refiners(inference: Inference, reader: InputReader, usage: Usage) -> dict[int, Refine]:
    """For each declared node output, the function that compares (and, if trusted, completes) its inferred type.

    A node that may not run adds no constraint: its declaration is only compared.
    """
    only_compare = Usage("nothing", usage.compare, False)
    compiled = inference.compiled
    graph, slots = compiled.graph, compiled.slots
    sources = {*graph.inputs, *graph.constants}
    conditional = {
        slot for row, flag in zip(compiled.rows, compiled.conditional or (), strict=False) if flag for slot in row[2]
    }
    return {
        slots[name]: Refiner(inference, reader, name, declared, only_compare if slots[name] in conditional else usage)
        for name, declared in graph.declared.items()
        if name in slots and name not in sources
    }


def trusts_declarations(inference: Inference) -> bool:
    """Whether the declaration of a node output added a constraint."""
    if inference.declared_mode != "trust":
        return False
    declared = {declaration_source(name) for name in inference.compiled.graph.declared}
    return any(constraint.source in declared for constraint in inference.store.constraints())


def declaration_source(name: str) -> Source:
    """The source of constraints from the declaration of a value."""
    return Source(name, f"the file declares {name}", assumed=True)


class Refiner:
    """Refines the inferred type of one node output by its declaration.

    Unknown sizes become equal to the declared ones; known ones are never overwritten, only compared. A name that no
    input has names an unknown; it is ignored for a known size, since exporters generate names freely.
    """

    def __init__(
        self, inference: Inference, reader: InputReader, name: str, declared: DeclaredType, usage: Usage
    ) -> None:
        """The refiner of one declared value."""
        self._inference = weakref.ref(inference)  # which holds its refiners
        self.reader = reader
        self.name = name
        self.declared = declared
        self.usage = usage
        self.source = declaration_source(name)

    @property
    def fills(self) -> bool:
        """Whether the declaration completes what is not inferred."""
        return self.usage.fill != "nothing"

    @property
    def inference(self) -> Inference:
        """The inference whose types are refined."""
        inference = self._inference()
        assert inference is not None
        return inference

    def __call__(self, number: int, step: NodeStep) -> int:
        """The number of the refined type."""
        table = self.inference.table
        inferred = table.get(number)
        assert inferred is not None
        refined = self.refine(inferred, step)
        if self.inference.store.epoch != table.epoch:
            table.refresh()
        return number if refined is inferred else table.add(refined)

    def refine(self, inferred: Type, step: NodeStep) -> Type:
        """The refined type; the same object when the declaration adds nothing."""
        declared = self.declared
        if not isinstance(inferred, TensorType) or declared.kind != "tensor":
            return self._refine_kind(inferred, step)
        shape = self._refine_shape(inferred.shape, step)
        dtype = inferred.dtype
        if dtype is None:
            dtype = declared.dtype if self.fills else None
        elif declared.dtype is not None and dtype != declared.dtype:
            self._report(step, f"the declared element type of {self.name} ({declared.dtype})", dtype)
        if shape is inferred.shape and dtype == inferred.dtype:
            return inferred
        return inferred.with_type(dtype, shape)

    def _refine_kind(self, inferred: Type, step: NodeStep) -> Type:
        """A sequence, optional or map: as declared where nothing is inferred."""
        unknown = isinstance(inferred, TensorType) and inferred.dtype is None and inferred.shape.dims is None
        if unknown and self.fills and self.declared.kind != "tensor":
            return self.reader.read_declared(self.declared, self.name)
        if not unknown and inferred.kind != self.declared.kind:
            self._report(step, f"the declared kind of {self.name} ({self.declared.kind})", inferred.kind)
        return inferred

    def _refine_shape(self, shape: Shape, step: NodeStep) -> Shape:
        dims = self.declared.dims
        if dims is None:
            return shape
        if shape.dims is None and isinstance(shape, OptionalAxes) and not shape.allows(len(dims)):
            self._report(step, f"the declared rank of {self.name} ({list(dims)})", str(shape))
            return shape
        if shape.dims is None:
            if not self.fills:
                return shape
            shape = self._bind_shape(shape, dims if self.usage.fill == "all" else (None,) * len(dims))
            assert shape.dims is not None
        if len(shape.dims) != len(dims):
            self._report(step, f"the declared rank of {self.name} ({list(dims)})", str(shape))
            return shape
        pairs = enumerate(zip(shape.dims, dims, strict=True))
        refined = [
            dim if declared is None or dim == declared else self._refine_axis(step, axis, dim, declared)
            for axis, (dim, declared) in pairs
        ]
        return shape if refined == list(shape.dims) else Shape(refined)

    def _bind_shape(self, shape: Shape, dims: tuple[int | str | None, ...]) -> Shape:
        store = self.inference.store
        known = (self._parse(d) if isinstance(d, int) or (d and self._is_informative(d, True)) else None for d in dims)
        declared = Shape(store.new_size(axis_label(self.name, i)) if d is None else d for i, d in enumerate(known))
        return store.bind_shape(shape, declared, self.source)

    def _parse(self, declared: int | str) -> Dim | None:
        """The declared dim; None for a negative size."""
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

    def _refine_axis(self, step: NodeStep, axis: int, inferred: Dim, declared: int | str) -> Dim:
        """The refined size."""
        store = self.inference.store
        inferred = store.canon(inferred)
        open_ = isinstance(inferred, Dimension) and inferred.is_anonymous
        if isinstance(declared, str) and not self._is_informative(declared, open_):
            return inferred
        size = self._parse(declared)
        if size is None:
            return inferred
        try:
            if (
                open_ and self.usage.open_sizes and not self.inference.path
            ):  # in a loop the size may differ between iterations
                merged = store.add_equal(inferred, size, self.source)
                return size if isinstance(size, int) else merged
            if store.prove_eq(inferred, size) is not False:
                return inferred
        except Contradiction:
            pass
        self._report(step, f"the declared size of {self.name}.shape[{axis}] ({declared})", f"{inferred}")
        return inferred

    def _is_informative(self, name: str, unknown: bool) -> bool:
        """Whether a name identifies a size: in a body, which may run often, only names of inputs do."""
        if self.inference.store.scope.has(name):
            return not GENERATED.fullmatch(name)
        return unknown and not self.inference.path and not GENERATED.fullmatch(name)

    def _report(self, step: NodeStep, declared: str, inferred: str) -> None:
        if not self.usage.compare:
            return
        site, op = self.inference.path + step.site, str(step.operation)
        message = f"{declared} differs from the inferred one ({inferred})"
        if self.inference.strict:
            error = ShapeError(message, code="S120")
            error.node, error.op = site, step.operation.kind.op
            error.location = self.inference.compiled.graph.locations.get(step.node.name, "")
            raise error
        note = Diagnostic("warning", "S120", message, site, op)
        self.inference.node_diagnostics.setdefault(step.index, []).append(note)
