"""Declared types of node outputs: they complete what a rule leaves unknown, and are compared with what it infers.

`set_refiners` gives an inference, and those of its bodies, a `Refiner` for each declared output; the inference calls it
with the type that the rule inferred. `traced` decides what the declarations of a traced run may be used for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.engine.inference import Inference, Refine
from shapeinf.engine.records import UnusedSize
from shapeinf.engine.traced import Usage, declaration_usage, describe_usage
from shapeinf.errors import Contradiction, ShapeError, Source
from shapeinf.expr import Dimension, DimSize, axis_label, is_unread_arithmetic, parse_dim_lenient, parse_known_dim
from shapeinf.formats.annotation import GENERATED
from shapeinf.graph import DeclaredType
from shapeinf.inputs.options import DeclaredMode
from shapeinf.inputs.reader import InputReader
from shapeinf.lattice import OptionalAxes, Shape, ShapeStore, TensorType, Type, type_symbols
from shapeinf.texts import escape_unprintable, shorten_end

S122 = register_code(
    "S122",
    "warning",
    "a declared size that holds only for some sizes of the inputs",
    "It is not used: a declaration of a node output never changes an input.",
)


def set_refiners(inference: Inference, reader: InputReader, mode: DeclaredMode) -> list[Diagnostic]:
    """Set how a graph and its bodies use declarations; notes on declarations that are not used as requested.

    Call it when the inputs are set and all constraints of the user are in the store.
    """
    inference.declared_mode = mode
    if mode == "ignore":
        return []
    usage, sizes = declaration_usage(inference, mode), InputSizes(inference.input_types)
    inference.make_refiners = lambda graph_run: build_refiners(graph_run, reader, usage, sizes)
    inference.refiners = inference.make_refiners(inference)
    return list(describe_usage(inference.compiled.graph, mode, usage))


class InputSizes:
    """The symbols and unknown ranks of the inputs of a model: declarations of node outputs never limit them."""

    def __init__(self, types: Mapping[str, Type | None]) -> None:
        """Of the types of inputs by name, which may change."""
        self.types = types

    def symbols(self, store: ShapeStore) -> frozenset[Dimension]:
        """The symbols in the types of inputs, and those in their canonical forms."""
        symbols = frozenset[Dimension]().union(*map(type_symbols, self.types.values()))
        return symbols.union(*(form.symbols() for form in map(store.canon, symbols) if isinstance(form, Dimension)))

    def has_rank_of(self, store: ShapeStore, shape: Shape) -> bool:
        """Whether this unknown rank is that of an input."""
        tensors = (t for t in self.types.values() if isinstance(t, TensorType) and t.shape.dims is None)
        return any(store.canon_shape(tensor.shape) is shape for tensor in tensors)


def _limits_inputs(
    store: ShapeStore, inputs: frozenset[Dimension], source: Source, changed: Sequence[Dimension]
) -> bool:
    """Whether the changed symbols, or pending constraints on them or with this source, say anything of inputs alone."""
    if not inputs.isdisjoint(changed):
        return True
    for constraint in store.pending():
        dims = [d for d in (constraint.expression, *constraint.operands) if isinstance(d, Dimension)]
        if constraint.source == source or not all(d.symbols().isdisjoint(changed) for d in dims):
            forms = [form for form in map(store.canon, dims) if isinstance(form, Dimension)]
            symbols = frozenset[Dimension]().union(*(form.symbols() for form in forms))
            if symbols and symbols <= inputs:
                return True
    return False


def unused_sizes(inference: Inference) -> Iterator[Diagnostic]:
    """S122: one diagnostic for the declared sizes that hold only for some sizes of the inputs."""
    store = inference.store
    unused = [
        (axis_label(name, axis), size)
        for (name, axis), size in inference.unused_sizes.items()
        if store.prove_eq(size.inferred, size.declared) is not True
    ]
    if unused:
        label, (row, declared, inferred) = unused[0]
        others = len(unused) - 1
        more = f", nor {others} more declared size{'s' * (others > 1)}" if others else ""
        message = f"the declared size of {label} ({declared}) is not used{more}: it would fix {store.canon(inferred)}"
        step = inference.compiled.step(row)
        yield Diagnostic("warning", S122, message, step.node_name, str(step.operation))


def unread_texts(inference: Inference) -> Iterator[Diagnostic]:
    """S110: each declared text of a node output that looks like arithmetic with a known dim, but is taken as a name."""
    if inference.declared_mode == "ignore":
        return
    graph, scope = inference.compiled.graph, inference.store.scope
    reported: set[str] = set()
    for name, declared in graph.declared.items():
        for text in declared.dims or ():
            if isinstance(text, str) and text not in reported and name not in graph.inputs:
                reported.add(text)
                if is_unread_arithmetic(text, scope):
                    label = shorten_end(escape_unprintable(text), 60)
                    message = f"the declared size {label} of {name} is not an expression: taken as one name"
                    yield Diagnostic("note", "S110", message, tensor=name)


def build_refiners(inference: Inference, reader: InputReader, usage: Usage, sizes: InputSizes) -> dict[int, Refine]:
    """The refiner of each declared node output, by slot.

    A node that may not run adds no constraint: its declarations are only compared.
    """
    only_compare = Usage("nothing", usage.compare, False)
    compiled = inference.compiled
    graph, slots = compiled.graph, compiled.slots
    sources = {*graph.inputs, *graph.constants}
    conditional = {
        slot for row, flag in zip(compiled.rows, compiled.conditional or (), strict=False) if flag for slot in row[2]
    }
    by_slot: dict[int, Refine] = {}
    for name, declared in graph.declared.items():
        slot = slots.get(name)
        if slot is not None and name not in sources:
            by_slot[slot] = Refiner(reader, name, declared, only_compare if slot in conditional else usage, sizes)
    return by_slot


def trusts_declarations(inference: Inference) -> bool:
    """Whether the declaration of a node output added a constraint."""
    if inference.declared_mode != "trust":
        return False
    declared = {declaration_source(name) for name in inference.compiled.graph.declared}
    return any(constraint.source in declared for constraint in inference.store.constraints())


def only_compares_declarations(inference: Inference) -> bool:
    """Whether the result is that of `declared="check"`: no declaration completed a type."""
    if inference.declared_mode == "trust":
        return not inference.completed
    return inference.declared_mode == "check"


def declaration_source(name: str) -> Source:
    """The source of constraints from the declaration of a value."""
    return Source(name, f"the file declares {name}", assumed=True)


def is_declaration(source: Source) -> bool:
    """Whether a constraint is from the declaration of a value, whose name may be that of a node, too."""
    return source == declaration_source(source.node)


def declared_size(store: ShapeStore, declared: int | str | None) -> DimSize | None:
    """The dim of a declared size; None for an unknown one, and for names that no input has: these are arbitrary.

    Expressions may be in the grammar of another tool: see `parse_dim_lenient`. One that divides by 0 has no value.
    """
    if declared is None or isinstance(declared, int):
        return declared if declared is None or declared >= 0 else None
    scope = store.scope
    if scope.has(declared):
        return None if GENERATED.fullmatch(declared) else store.canon(scope.symbol(declared))
    size = scope.texts.get(declared)
    if size is None:
        size = parse_known_dim(declared, scope)
        if size is None:
            return None
        scope.texts[declared] = size
    try:
        return store.canon(size)
    except ZeroDivisionError:  # the graph may run where a divisor in the text is 0
        return None


class Refiner:
    """Refines the inferred type of one node output by its declaration.

    Unknown sizes become equal to the declared ones; known ones are only compared, never overwritten. A declared
    name that no input has names an unknown size; for a known size it is ignored, since exporters invent names.
    """

    __slots__ = ("declared", "name", "reader", "sizes", "usage")

    def __init__(self, reader: InputReader, name: str, declared: DeclaredType, usage: Usage, sizes: InputSizes) -> None:
        """`name` is the declared value, `reader` parses its dims; `sizes` of the inputs are never limited."""
        self.reader = reader
        self.name = name
        self.declared = declared
        self.usage = usage
        self.sizes = sizes

    def _completes(self, inference: Inference) -> bool:
        """Whether the declaration completes what is not inferred, which this notes; call it for such a type only."""
        if self.usage.fill == "nothing":
            return False
        inference.completed.add(self.name)
        return True

    def __call__(self, inference: Inference, number: int, index: int) -> int:
        """The number of the refined type of the type `number`, which the row `index` computes; see `Refine`."""
        table = inference.table
        inferred = table.get(number)
        assert inferred is not None
        refined = self._refine(inference, inferred, index)
        table.keep_up()  # for the rows that follow
        return number if refined is inferred else table.add(refined)

    def _refine(self, inference: Inference, inferred: Type, index: int) -> Type:
        """The refined type; the same object when the declaration adds nothing."""
        declared = self.declared
        if not isinstance(inferred, TensorType) or declared.kind != "tensor":
            return self._refine_kind(inference, inferred, index)
        shape = self._refine_shape(inference, inferred.shape, index)
        dtype = inferred.dtype
        if dtype is None:
            dtype = declared.dtype if self._completes(inference) else None
        elif declared.dtype is not None and dtype != declared.dtype:
            self._report(inference, index, f"the declared element type of {self.name} ({declared.dtype})", dtype)
        if shape is inferred.shape and dtype == inferred.dtype:
            return inferred
        return inferred.with_type(dtype, shape)

    def _refine_kind(self, inference: Inference, inferred: Type, index: int) -> Type:
        """The refined type where one of the two is no tensor: the declared one where nothing is inferred."""
        unknown = isinstance(inferred, TensorType) and inferred.dtype is None and inferred.shape.dims is None
        if unknown and self.declared.kind != "tensor" and self._completes(inference):
            return self.reader.read_declared(self.declared, self.name)
        if not unknown and inferred.kind != self.declared.kind:
            declared = f"the declared kind of {self.name} ({self.declared.kind})"
            self._report(inference, index, declared, inferred.kind)
        return inferred

    def _refine_shape(self, inference: Inference, shape: Shape, index: int) -> Shape:
        """The refined shape; the same object when the declaration adds nothing."""
        dims = self.declared.dims
        if dims is None:
            return shape
        if shape.dims is None and isinstance(shape, OptionalAxes) and not shape.allows(len(dims)):
            self._report(inference, index, f"the declared rank of {self.name} ({list(dims)})", str(shape))
            return shape
        if shape.dims is None:
            store = inference.store
            if not self._completes(inference) or self.sizes.has_rank_of(store, store.canon_shape(shape)):
                return shape
            shape = self._bind_shape(inference, shape, dims if self.usage.fill == "all" else (None,) * len(dims))
            assert shape.dims is not None
        if len(shape.dims) != len(dims):
            self._report(inference, index, f"the declared rank of {self.name} ({list(dims)})", str(shape))
            return shape
        return self._refine_dims(inference, shape, dims, index)

    def _refine_dims(self, inference: Inference, shape: Shape, dims: tuple[int | str | None, ...], index: int) -> Shape:
        """The refined shape where the declared rank is the inferred one."""
        refined: list[DimSize] | None = None
        find_symbol = inference.store.scope.find
        for axis, (dim, declared) in enumerate(zip(shape, dims, strict=True)):
            if declared is None or dim == declared or (declared.__class__ is str and dim is find_symbol(declared)):
                continue
            new = self._refine_axis(inference, index, axis, dim, declared)
            if new != dim:
                refined = list(shape) if refined is None else refined
                refined[axis] = new
        return shape if refined is None else Shape(refined)

    def _bind_shape(self, inference: Inference, shape: Shape, dims: tuple[int | str | None, ...]) -> Shape:
        """A shape of unknown rank, bound to these declared dims; None is a dim that the declaration leaves open."""
        store = inference.store
        declared: list[DimSize] = []
        for axis, dim in enumerate(dims):
            known = None if dim is None else self._read(inference, dim, True)
            declared.append(store.new_size(axis_label(self.name, axis)) if known is None else known)
        return store.bind_shape(shape, Shape(declared), declaration_source(self.name))

    def _read(self, inference: Inference, declared: int | str, unknown: bool, least: int = 0) -> DimSize | None:
        """The declared dim; None where the declaration does not say which size it is.

        A name that no input has, and an expression of such names, says so only of an `unknown` size, and in a body,
        which may run often, of none. A new name is at least `least`.
        """
        store = inference.store
        known = declared_size(store, declared)
        if known is not None or not isinstance(declared, str) or not unknown or inference.path:
            return known
        if declared in store.scope.texts:  # a quotient by 0
            return None
        return None if GENERATED.fullmatch(declared) else parse_dim_lenient(declared, store.scope, least)[0]

    def _refine_axis(
        self, inference: Inference, index: int, axis: int, inferred: DimSize, declared: int | str
    ) -> DimSize:
        """The refined size."""
        store = inference.store
        inferred = store.canon(inferred)
        inference.unused_sizes.pop((self.name, axis), None)
        unknown = isinstance(inferred, Dimension) and inferred.is_anonymous
        is_new = isinstance(declared, str) and (not store.scope.has(declared) or self._is_bound(inference, declared))
        least = inferred.symbol.lo if isinstance(inferred, Dimension) and inferred.is_symbol else None
        size = self._read(inference, declared, unknown, least or 0)
        if size is None:
            return inferred
        try:
            fills = unknown and self.usage.open_sizes and not inference.path  # iterations of a loop may differ in it
            fills = fills and self._completes(inference)
            if fills and self._add_equal(store, inferred, size, is_new):
                return size if isinstance(size, int) else store.canon(inferred)
            if store.prove_eq(inferred, size) is not False:
                if fills and isinstance(size, int):
                    inference.unused_sizes[self.name, axis] = UnusedSize(index, size, inferred)
                return inferred
        except Contradiction:
            pass
        self._report(inference, index, f"the declared size of {self.name}.shape[{axis}] ({declared})", f"{inferred}")
        return inferred

    def _add_equal(self, store: ShapeStore, inferred: DimSize, size: DimSize, is_new: bool) -> bool:
        """Whether an unknown size is the declared one from now on: not where that would limit the inputs.

        A new name for the size of an axis of an input limits nothing. Raises Contradiction.
        """
        source, inputs = declaration_source(self.name), self.sizes.symbols(store)
        if is_new and isinstance(inferred, Dimension) and inferred.is_symbol and inferred in inputs:
            store.add_equal(inferred, size, source)
            return True
        return store.try_equal(
            inferred, size, source, lambda changed: not _limits_inputs(store, inputs, source, changed)
        )

    def _is_bound(self, inference: Inference, declared: str) -> bool:
        """Whether a declared name has a size by the user, who may bind a name that only outputs have."""
        symbol = inference.store.scope.find(declared)
        if symbol is None or not isinstance(inference.store.canon(symbol), int):
            return False
        bound = isinstance(inference.initial_store.canon(symbol), int)
        return bound and not any(symbol in type_symbols(t) for t in self.sizes.types.values())

    def _report(self, inference: Inference, index: int, declared: str, inferred: str) -> None:
        """Report S120, a difference: a warning of the node, in strict mode an error."""
        if not self.usage.compare:
            return
        step = inference.compiled.step(index)
        node_name, op = inference.path + step.node_name, str(step.operation)
        message = f"{declared} differs from the inferred one ({inferred})"
        if inference.strict:
            error = ShapeError(message, code="S120")
            error.node, error.op = node_name, step.operation.kind.op
            error.location = inference.compiled.graph.locations.get(step.node.name, "")
            raise error
        note = Diagnostic("warning", "S120", message, node_name, op, tensor=self.name)
        inference.node_diagnostics.setdefault(index, []).append(note)
