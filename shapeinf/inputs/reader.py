"""`InputReader`: the types of inputs from declarations of the file and specs of the user, with their constraints.

A *spec* is a shape of an input in any form that users may write: a text, a list, changes of single axes, objects of
other tools. The functions below the class map names of users (aliases, quoted names) to inputs and dims.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import attrs

from shapeinf.errors import Contradiction, ShapeInferenceError, Source, UnknownNameError
from shapeinf.expr import Dimension, DimSize, Interval, Scope, axis_label, parse_dim, parse_dim_lenient, quote_name
from shapeinf.expr.parsing import MAX_NUMBER, TOO_LARGE
from shapeinf.graph import DeclaredType, Graph
from shapeinf.inputs.dim_names import DimNames, first_aliases
from shapeinf.inputs.named_dims import HINTS, Dim, DimBounds, DimText, recognize_dim
from shapeinf.inputs.spec import (
    Declared,
    DimRange,
    is_rest,
    parse_axis,
    parse_dim_range,
    parse_shape_spec,
    split_specs,
    unquote_name,
)
from shapeinf.lattice import (
    HandleType,
    MapType,
    OptionalType,
    PartialTensor,
    SequenceType,
    Shape,
    ShapeStore,
    TensorType,
    Type,
)

RangeLike = int | str | tuple[int | None, int | None] | Dim
"""Bounds of a named dim: a size, a range as text or pair, a `Dim`, or a `Dim` of torch.export."""
SpecLike = str | Sequence[object] | Mapping[int, object] | None
Spec = TypeVar("Spec")


@attrs.define
class InputReader:
    """Reads declarations and specs of inputs: their types, and their bounds as constraints of one `ShapeStore`.

    A bound below the least size of its symbol is not added. The bound goes into `smaller`, and the caller reads all
    again over a new store, by whose policy the symbol may be that small.
    """

    store: ShapeStore
    aliases: Mapping[str, str] = attrs.Factory(dict)
    """The inputs by the other names that users may use for them."""
    dim_names: frozenset[str] = frozenset()
    """The names of dims in the declarations of inputs."""
    lints: list[str] = attrs.Factory(list)
    """Messages about declared dims that are no expressions."""
    redundant: list[str] = attrs.Factory(list)
    """Messages about assumptions of the user without effect."""
    smaller: dict[str, int] = attrs.Factory(dict)
    """The dims that the user allows to be smaller than their symbol, with their least sizes."""
    constraining: set[str] = attrs.Factory(set)
    """The inputs whose specs added constraints: bounds, divisors."""
    _user_names: dict[str, str] = attrs.field(init=False)

    @_user_names.default
    def _first_aliases(self) -> dict[str, str]:
        return first_aliases(self.aliases)

    def user_name(self, name: str) -> str:
        """The name of an input in messages and labels: its first alias, else its name."""
        return self._user_names.get(name, name)

    @classmethod
    def from_graph(cls, graph: Graph, store: ShapeStore) -> InputReader:
        """A reader of the inputs of a graph, over a store."""
        shapes = (graph.declared[name].dims or () for name in graph.inputs if name in graph.declared)
        names = frozenset(d for dims in shapes for d in dims if isinstance(d, str))
        return cls(store, graph.aliases, names)

    def axis_name(self, name: str, axis: int) -> str:
        """The name of an unknown size: its axis, `x.shape[0]`, or `x.0` if the file has a dim of that name."""
        alias = self.user_name(name)
        label = axis_label(alias, axis)
        return f"{alias}.{axis}" if label in self.dim_names else label

    def new_axis(self, label: str) -> Dimension:
        """A new unknown of this name, for the size of an axis."""
        return self.store.scope.fresh(label, self.store.policy.least_size(label))

    # -- declarations ------------------------------------------------------------------------------------------------

    def read_declared(self, declared: DeclaredType, label: str) -> Type:
        """The type that a file declares for a value; `label` is in the names of its unknown sizes."""
        if declared.kind == "tensor":
            shape = self.shape(declared.dims, label)
            if declared.of is None:
                return PartialTensor(declared.dtype, shape, self._read_contents(declared))
            value = self.read_declared(declared.of, label)
            return HandleType(declared.dtype, shape, (value,) if isinstance(value, TensorType) else None)
        inner = self.read_declared(declared.of or DeclaredType(), label)
        if declared.kind == "map":
            return MapType(declared.dtype or "int64", inner)
        return SequenceType(inner) if declared.kind == "sequence" else OptionalType(inner)

    def _read_contents(self, declared: DeclaredType) -> list[DimSize | None] | None:
        """The declared elements of a tensor of integers; their names may be negative numbers."""
        if declared.contents is None:
            return None
        scope = self.store.scope
        return [parse_dim_lenient(e, scope, None)[0] if isinstance(e, str) else e for e in declared.contents]

    def shape(self, dims: Sequence[int | str | None] | None, label: str) -> Shape:
        """The shape of declared dims: sizes, names or expressions, None for an unknown size."""
        if dims is None:
            return Shape.unknown()
        return Shape([self._read_declared_dim(d, label, axis) for axis, d in enumerate(dims)])

    def _read_declared_dim(self, declared: int | str | None, label: str, axis: int) -> DimSize:
        if isinstance(declared, str):
            dim, lint = parse_dim_lenient(declared, self.store.scope, self.store.policy.min_dim)
            if lint is not None and lint not in self.lints:
                self.lints.append(lint)
        else:
            dim = declared if declared is not None and declared >= 0 else None
        return self.new_axis(self.axis_name(label, axis)) if dim is None else dim

    def name_axes(self, name: str, value: Type | None) -> None:
        """Add the names of the unknown sizes of an input that has an alias, so that users may use either name."""
        if name == self.user_name(name) or not isinstance(value, TensorType):
            return
        for axis, dim in enumerate(value.shape.dims or ()):
            if isinstance(dim, Dimension) and dim.is_symbol and dim.is_anonymous:
                self.store.scope.add_name(axis_label(name, axis), dim)

    def mark_assumable(self, value: Type | None) -> None:
        """Mark the symbols of an input as sizes that nodes may assume, unless the user specifies their least size."""
        if isinstance(value, TensorType):
            for d in value.shape.dims or ():
                for symbol in d.symbols() if isinstance(d, Dimension) else ():
                    self.store.assumable.setdefault(symbol, True)

    # -- specs of users ----------------------------------------------------------------------------------------------

    def read_spec(self, spec: SpecLike, declared: Type | None, name: str) -> TensorType:
        """The type of an input after a spec; `declared` is its type before. A mapping changes only the axes in it."""
        label = self.user_name(name)
        dtype = declared.dtype if isinstance(declared, TensorType) else None
        known = declared.shape if isinstance(declared, TensorType) else Shape.unknown()
        if spec is None:
            return TensorType(dtype, known)
        if isinstance(spec, str):
            parsed = parse_shape_spec(spec, self.store.scope, self.store.policy.min_dim)
            if parsed.name is not None and self.aliases.get(parsed.name, parsed.name) != name:
                raise ShapeInferenceError(f"the shape of input {label} is specified as that of {parsed.name}: {spec!r}")
            shape = known if parsed.dims is None else self._read_shape(parsed.dims, label, known)
            return TensorType(parsed.dtype or dtype, shape)
        if isinstance(spec, Mapping):
            return TensorType(dtype, self._change_axes(spec, known, label))
        values = spec.as_list() if hasattr(spec, "as_list") else spec
        if not hasattr(values, "__iter__"):
            raise ShapeInferenceError(f"{spec!r} is not a shape of input {label}: use a text, a list or {{axis: size}}")
        return TensorType(dtype, self._read_shape(tuple(values), label, known))

    def _read_shape(self, values: Sequence[object], label: str, known: Shape) -> Shape:
        """A shape that replaces the one before (`known`), of which `_` and a last `...` keep an axis and the rest."""
        old: list[DimSize | None] = list(known.dims or ())
        if values and is_rest(values[-1]):
            if known.dims is None or len(values) > len(old) + 1:
                raise ShapeInferenceError(f"input {label}: '...' needs as many declared axes before it: {known}")
            values = [*values[:-1], *old[len(values) - 1 :]]
        old = old if len(old) == len(values) else [None] * len(values)
        pairs = enumerate(zip(values, old, strict=True))
        return Shape(tuple(self._read_dim(value, self.axis_name(label, i), declared) for i, (value, declared) in pairs))

    def _change_axes(self, spec: Mapping[int, object], known: Shape, label: str) -> Shape:
        """The shape before (`known`) with some axes changed."""
        if known.dims is None and spec:
            raise ShapeInferenceError(f"input {label} has no declared rank: specify its full shape, not single axes")
        dims = list(known)
        for key, value in spec.items():
            axis = int(key) if isinstance(key, str) and key.lstrip("-").isdecimal() else key
            if isinstance(axis, bool) or not isinstance(axis, int):
                raise ShapeInferenceError(f"input {label} has no axis {key!r}: axes are numbers, inputs are not nested")
            if not -len(dims) <= axis < len(dims):
                raise ShapeInferenceError(f"input {label} has no axis {axis}: its shape is {known}")
            dims[axis] = self._read_dim(value, self.axis_name(label, axis), dims[axis])
        return Shape(dims)

    def _read_dim(self, value: object, label: str, declared: DimSize | None = None) -> DimSize:
        """The size of an axis; `declared` is its size before, `label` the name of an unknown."""
        scope = self.store.scope
        if isinstance(value, str):
            return self._read_text(value, label, declared)
        if isinstance(value, Declared) or value is ...:
            return self._read_unchanged(value, label, declared)
        if value is None:
            return self.new_axis(label)
        if isinstance(value, Dimension):
            return value if value.scope is scope else self._read_text(str(value), label, declared)
        if isinstance(value, DimRange):
            return self._read_range(value, label)
        if isinstance(value, (tuple, list)):
            if len(value) != 2:
                raise ShapeInferenceError(f"{label}: a range has two bounds, not {len(value)}: {value!r}")
            return self._read_range(DimRange(*value), label)
        dim = recognize_dim(value)
        if isinstance(dim, Dim):
            return self.add_named_dim(dim)
        if isinstance(dim, DimBounds):
            return self._read_bounds(dim, label, declared)
        if isinstance(dim, DimText):
            return self._read_expression(dim.text, label)
        if isinstance(dim, tuple):
            return self._read_derived(*dim, label)
        if dim < -1:
            raise ShapeInferenceError(f"{label}: a size must be at least 0, or -1 for an unknown one, not {dim}")
        if dim > MAX_NUMBER:
            raise ShapeInferenceError(f"{label}: expected {TOO_LARGE}, not {dim}")
        return self.new_axis(label) if dim == -1 else dim

    def add_named_dim(self, dim: Dim) -> Dimension:
        """The symbol of a named dim, whose bounds and divisor are added as constraints. Raises Contradiction."""
        symbol = self.store.scope.symbol(dim.name, self.store.policy.min_dim)
        name = quote_name(dim.name)
        low = symbol.symbol.lo
        if dim.min is not None:
            self.store.assumable[symbol] = False
        if dim.min is not None and low is not None and dim.min < low:
            self.smaller[dim.name] = min(dim.min, self.smaller.get(dim.name, dim.min))
            return symbol
        bounds = DimRange(dim.min, dim.max)
        if dim.min is not None or dim.max is not None:
            text = f"{name}={bounds.lo}" if bounds.lo == bounds.hi else f"{name}={Interval(bounds.lo, bounds.hi)}"
            self.add_user_constraint(text, self.store.add_range, symbol, bounds.lo, bounds.hi)
        if dim.multiple_of > 1:
            text = f"{name} % {dim.multiple_of} == 0"
            self.add_user_constraint(text, self.store.add_divisible, symbol, dim.multiple_of)
        return symbol

    def add_user_constraint(self, text: str, add: Callable[..., object], *operands: object) -> None:
        """Add a constraint of the user, by `add(*operands, source)`; `text` describes it in the source.

        Raises Contradiction with this source and that of the constraint that it contradicts.
        """
        source = Source("", f"{text} is specified by the user")
        try:
            add(*operands, source)
        except Contradiction as error:
            second = error.first if error.second in (None, source) and error.first != source else error.second
            raise Contradiction(f"{source} and cannot hold", source, second) from None

    def _read_text(self, text: str, label: str, declared: DimSize | None) -> DimSize:
        hint = text.strip().removeprefix("Dim.")
        if hint in HINTS and not self.store.scope.has(text):
            return self._read_bounds(DimBounds(None, None, hint), label, declared)  # type: ignore[arg-type]
        dim = parse_axis(text, self.store.scope, self.store.policy.min_dim)
        return dim if isinstance(dim, (int, Dimension)) else self._read_dim(dim, label, declared)

    @staticmethod
    def _read_unchanged(value: object, label: str, declared: DimSize | None) -> DimSize:
        """The declared size for `_`; `...` is no size of one axis."""
        if value is not Declared.AXIS:
            raise ShapeInferenceError(f"{label}: '...' is for the last axes of a shape")
        if declared is None:
            raise ShapeInferenceError(f"{label}: '_' is the declared size, and the input has no declared axis here")
        return declared

    def _read_range(self, bounds: DimRange, label: str) -> DimSize:
        if bounds.name is not None:
            return self.add_named_dim(Dim(bounds.name, bounds.lo, bounds.hi))
        symbol = self.store.scope.fresh(label, self.store.policy.min_dim if bounds.lo is None else bounds.lo, bounds.hi)
        self.store.assumable[symbol] = bounds.lo is None
        return symbol

    def _read_bounds(self, bounds: DimBounds, label: str, declared: DimSize | None) -> DimSize:
        """A size with bounds and a hint of torch.export; without a hint it is a new unknown within the bounds.

        AUTO is the declared size, STATIC the declared number, DYNAMIC the declared symbol or a new unknown.
        """
        if bounds.min is not None and bounds.min == bounds.max:
            return bounds.min
        if bounds.hint == "STATIC" and not isinstance(declared, int):
            raise ShapeInferenceError(f"{label} is STATIC, but its declared size is {declared}: specify the number")
        limits = DimRange(bounds.min, bounds.max)
        if declared is None or bounds.hint is None or (bounds.hint == "DYNAMIC" and isinstance(declared, int)):
            return self._read_range(limits, label)
        text = f"{label} in {Interval(limits.lo, limits.hi)}"
        self.add_user_constraint(text, self.store.add_range, declared, limits.lo, limits.hi)
        return declared

    def _read_expression(self, text: str, label: str) -> DimSize:
        """The size of an expression of another tool, which is at least 0."""
        dim = parse_dim(text, self.store.scope, self.store.policy.min_dim)
        self.add_user_constraint(f"{label} = {dim}", self.store.add_le, 0, dim)
        return dim

    def _read_derived(self, root: Dim, fn: Callable[..., object], label: str) -> DimSize:
        dim = fn(self.add_named_dim(root))
        if not isinstance(dim, (int, Dimension)):
            raise ShapeInferenceError(f"{label}: the dim derived from {root} is not a size: {dim!r}")
        self.add_user_constraint(f"{label} = {dim}", self.store.add_le, 0, dim)
        return dim


def add_ranges(reader: InputReader, dims: Mapping[str, RangeLike] | Iterable[Dim], names: DimNames) -> Iterator[Dim]:
    """Add the user's bounds of dims of inputs; yields those of other names, which may be sizes of nodes.

    Raises UnknownNameError for a name that only a replaced shape has, Contradiction for a range that cannot hold.
    """
    pairs = dims.items() if isinstance(dims, Mapping) else [(_require_name(dim).name, dim) for dim in dims]
    for name, value in pairs:
        known = names.find(name)
        dim = attrs.evolve(to_named_dim(name, value), name=unquote_name(name) if known is None else known)
        if known is None:
            yield dim
        else:
            reader.add_named_dim(dim)


def _require_name(value: object) -> Dim:
    dim = recognize_dim(value)
    if not isinstance(dim, Dim):
        raise ShapeInferenceError(f"{value!r} has no name: specify dims as {{name: range}} or as Dims")
    return dim


def as_sizes(sizes: Mapping[str, int]) -> dict[str, int]:
    """A user's sizes as Python ints, from ints of Python or numpy. Raises ShapeInferenceError for other objects.

    >>> as_sizes({"batch": 4})
    {'batch': 4}
    """
    converted = {}
    for name, size in sizes.items():
        try:
            converted[name] = operator.index(size)
        except TypeError:
            raise ShapeInferenceError(f"the size of {name} must be an int, not {size!r}") from None
    return converted


def to_named_dim(name: str, value: RangeLike) -> Dim:
    """A Dim from a user's range: an int, `"lo..hi"`, a pair, a Dim or a similar object of another tool.

    Raises SpecError or ShapeInferenceError for what is no range of this dim.

    >>> to_named_dim("batch", "1..8"), to_named_dim("batch", 4)
    (Dim(name='batch', min=1, max=8, multiple_of=1), Dim(name='batch', min=4, max=4, multiple_of=1))
    """
    if isinstance(value, str):
        parsed = parse_dim_range(f"{quote_name(name)}={value}")
        return Dim(name, parsed.lo, parsed.hi)
    if isinstance(value, Sequence):
        if len(value) != 2:
            raise ShapeInferenceError(f"the range of {name} has two bounds, not {len(value)}: {value!r}")
        return Dim(name, *value)
    dim = recognize_dim({"name": name, **value} if isinstance(value, Mapping) else value)
    if isinstance(dim, int):
        return Dim(name, dim, dim)
    if not isinstance(dim, Dim) or dim.name != name:
        raise ShapeInferenceError(f"{value!r} is not a range of {name}: use 4, '1..8', (1, 8) or a Dim")
    return dim


def specs_by_input(specs: Mapping[str, SpecLike] | Sequence[SpecLike] | str, graph: Graph) -> Mapping[str, SpecLike]:
    """The user's specs by input; one text may contain several, a sequence has them in the order of the inputs.

    Raises UnknownNameError for an input that the graph does not have.
    """
    names = input_names(graph)
    if isinstance(specs, str):
        pieces = split_specs(specs) or [specs]
        named = {parse_shape_spec(piece, Scope()).name: piece for piece in pieces}
        if (None in named and len(names) != 1) or len(named) < len(pieces):
            raise UnknownNameError("input", "", names)
        specs = {names[0] if name is None else name: piece for name, piece in named.items()}
    if not isinstance(specs, Mapping):
        if not all(spec is None or isinstance(spec, (Mapping, list, tuple)) for spec in specs) or len(specs) > len(
            names
        ):
            listed = ", ".join(names)
            raise ShapeInferenceError(f"inputs must be a dict by name, or shapes in the order of the inputs: {listed}")
        specs = dict(zip(names, specs, strict=False))
    return key_by_input(specs, graph)


def key_by_input(specs: Mapping[str, Spec], graph: Graph) -> dict[str, Spec]:
    """A mapping by inputs, from one by their names or aliases.

    Raises UnknownNameError for an input that the graph does not have, ShapeInferenceError for two names of one input.
    """
    return key_by_name(specs, graph, input_names(graph))


def key_by_name(specs: Mapping[str, Spec], graph: Graph, names: Sequence[str]) -> dict[str, Spec]:
    """As `key_by_input`, where only the inputs in `names` are allowed."""
    named: dict[str, Spec] = {}
    allowed = dict.fromkeys(names)
    for name, spec in specs.items():
        value = find_input(graph, name, allowed)
        if value in named:
            raise ShapeInferenceError(f"the input {value} is specified twice: {', '.join(specs)}")
        named[value] = spec
    return named


def find_input(graph: Graph, name: str, names: Collection[str]) -> str:
    """The input in `names` with this name or alias. Raises UnknownNameError, which lists names and aliases."""
    value = name if name in names else graph.aliases.get(name, "")
    if value not in names:
        raise UnknownNameError("input", name, [*names, *(alias for alias, v in graph.aliases.items() if v in names)])
    return value


def input_names(graph: Graph) -> list[str]:
    """The inputs whose shapes a user may specify: the inputs of the graph without a default value."""
    return [name for name in graph.inputs if name not in graph.constants]
