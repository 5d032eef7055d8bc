"""What the user and the file say about inputs, as types and facts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import attrs

from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.expr import Dim, Dimension, Scope, parse_dim_lenient, quote_name
from shapeinf.graph import DeclaredType, Graph
from shapeinf.inputs.given_dims import GivenDims
from shapeinf.inputs.named_dims import NamedDim, recognised
from shapeinf.inputs.spec import parse_dim_range, parse_shape_spec, split_specs
from shapeinf.lattice import MapType, OptionalType, PartialTensor, SequenceType, Shape, ShapeStore, TensorType, Type

RangeLike = int | str | tuple[int | None, int | None] | NamedDim
"""Bounds of a named dim; torch.export's `Dim` does as well."""
SpecLike = str | Sequence[object] | Mapping[int, object] | None


@attrs.define
class InputReader:
    """Turns declarations of one graph into types over one `ShapeStore`."""

    store: ShapeStore
    min_dim: int = 1
    lints: list[str] = attrs.Factory(list)
    useless: list[str] = attrs.Factory(list)
    """What the user says and what changes nothing."""
    lowered: dict[str, int] = attrs.Factory(dict)
    """The least sizes of named dims of which the user says that they may be smaller than `min_dim`."""
    telling: set[str] = attrs.Factory(set)
    """The inputs whose given shapes say more than sizes and names: bounds, divisors."""

    def declared(self, declared: DeclaredType, site: str) -> Type:
        """The type that a file declares for a value; dims without a name become unknowns of the site."""
        if declared.kind == "tensor":
            return PartialTensor(declared.dtype, self.shape(declared.dims, site), None)
        inner = self.declared(declared.of or DeclaredType(), site)
        if declared.kind == "map":
            return MapType(declared.dtype or "int64", inner)
        return SequenceType(inner) if declared.kind == "sequence" else OptionalType(inner)

    def shape(self, dims: Sequence[int | str | None] | None, site: str) -> Shape:
        """The shape of declared dims: ints, names or expressions, None for nothing known."""
        if dims is None:
            return Shape.unknown()
        return Shape(tuple(self.dim(d, f"{site}.{axis}") for axis, d in enumerate(dims)))

    def dim(self, declared: int | str | None, site: str) -> Dim:
        """One declared dim."""
        if isinstance(declared, str):
            dim, lint = parse_dim_lenient(declared, self.store.scope, self.min_dim)
            if lint is not None and lint not in self.lints:
                self.lints.append(lint)
            declared_dim = dim
        else:
            declared_dim = declared if declared is not None and declared >= 0 else None
        return self.store.scope.fresh(site, self.min_dim) if declared_dim is None else declared_dim

    def presume(self, found: Type | None) -> None:
        """Note that the least sizes of an input's dims are presumed, but for those that the user gives."""
        if isinstance(found, TensorType):
            for d in found.shape.dims or ():
                for symbol in d.symbols() if isinstance(d, Dimension) else ():
                    self.store.presumed.setdefault(symbol, True)

    def given(self, spec: SpecLike, declared: Type | None, site: str) -> TensorType:
        """The type that the user gives to an input; a torch-style mapping changes only the axes that it names."""
        dtype = declared.dtype if isinstance(declared, TensorType) else None
        known = declared.shape if isinstance(declared, TensorType) else Shape.unknown()
        given = GivenDims(self.store, self.min_dim, self.lowered)
        if spec is None:
            return TensorType(dtype, known)
        if isinstance(spec, str):
            parsed = parse_shape_spec(spec, self.store.scope, self.min_dim)
            if parsed.name not in (None, site):
                raise ShapeInferenceError(f"the shape of input {site} is given as that of {parsed.name}: {spec!r}")
            return TensorType(parsed.dtype or dtype, known if parsed.dims is None else given.shape(parsed.dims, site))
        if isinstance(spec, Mapping):
            return TensorType(dtype, given.changed(spec, known, site))
        values = spec.as_list() if hasattr(spec, "as_list") else spec
        if not hasattr(values, "__iter__"):
            raise ShapeInferenceError(f"{spec!r} is no shape of input {site}: give a text, a list or {{axis: size}}")
        return TensorType(dtype, given.shape(tuple(values), site, known))


def add_ranges(
    reader: InputReader,
    dims: Mapping[str, RangeLike] | Iterable[NamedDim],
    declared: Callable[[], Collection[str]] = tuple,
) -> None:
    """Tell the facts what the user says of named dims; `declared` gives the names that only node outputs have.

    Raises UnknownNameError for a name that nothing has, Contradiction for a range that cannot be.
    """
    store = reader.store
    pairs = dims.items() if isinstance(dims, Mapping) else [(_named(one).name, one) for one in dims]
    for name, value in pairs:
        if not store.scope.has(name):
            if name not in declared():
                raise UnknownNameError("dim", name, store.scope.names())
            store.scope.symbol(name, 0)
        GivenDims(store, reader.min_dim, reader.lowered).named(as_named(name, value))


def _named(value: object) -> NamedDim:
    found = recognised(value)
    if not isinstance(found, NamedDim):
        raise ShapeInferenceError(f"{value!r} has no name: give dims as {{name: range}} or as NamedDims")
    return found


def as_sizes(given: Mapping[str, int]) -> dict[str, int]:
    """A user's sizes as ints of Python, those of numpy too. Raises ShapeInferenceError that names the dim.

    >>> as_sizes({"batch": 4})
    {'batch': 4}
    """
    found = {}
    for name, size in given.items():
        try:
            found[name] = operator.index(size)
        except TypeError:
            raise ShapeInferenceError(f"the size of {name} must be an int, not {size!r}") from None
    return found


def as_named(name: str, value: RangeLike) -> NamedDim:
    """A user's range with its name: an int, `"lo..hi"`, a pair, a NamedDim or what is like it.

    >>> as_named("batch", "1..8"), as_named("batch", 4)
    (NamedDim(name='batch', min=1, max=8, multiple_of=1), NamedDim(name='batch', min=4, max=4, multiple_of=1))
    """
    if isinstance(value, str):
        parsed = parse_dim_range(f"{quote_name(name)}={value}")
        return NamedDim(name, parsed.lo, parsed.hi)
    if isinstance(value, Sequence):
        if len(value) != 2:
            raise ShapeInferenceError(f"the range of {name} has two bounds, not {len(value)}: {value!r}")
        return NamedDim(name, *value)
    found = recognised({"name": name, **value} if isinstance(value, Mapping) else value)
    if isinstance(found, int):
        return NamedDim(name, found, found)
    if not isinstance(found, NamedDim) or found.name != name:
        raise ShapeInferenceError(f"{value!r} is no range of {name}: give 4, '1..8', (1, 8) or a NamedDim")
    return found


def by_name(given: Mapping[str, SpecLike] | Sequence[SpecLike] | str, names: Sequence[str]) -> Mapping[str, SpecLike]:
    """The shapes that a user gives, by input; one text may hold several, a sequence goes by position."""
    if isinstance(given, str):
        pieces = split_specs(given) or [given]
        named = {parse_shape_spec(piece, Scope()).name: piece for piece in pieces}
        if (None in named and len(names) != 1) or len(named) < len(pieces):
            raise UnknownNameError("input", "", names)
        given = {names[0] if name is None else name: piece for name, piece in named.items()}
    if not isinstance(given, Mapping):
        if not all(one is None or isinstance(one, (Mapping, list, tuple)) for one in given) or len(given) > len(names):
            listed = ", ".join(names)
            raise ShapeInferenceError(f"inputs are a dict by name, or shapes in the order of the inputs: {listed}")
        given = dict(zip(names, given, strict=False))
    for name in given:
        if name not in names:
            raise UnknownNameError("input", name, names)
    return given


def input_names(graph: Graph) -> list[str]:
    """The names that a user may give a shape to: graph inputs that are no constants."""
    return [name for name in graph.inputs if name not in graph.constants]
