"""What the user and the file say about inputs, as types and facts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol, cast

import attrs

from shapeinf.algebra import Dim, Dimension, DimSyntaxError, parse_dim, parse_dim_lenient
from shapeinf.errors import ShapeInferenceError, Source, UnknownNameError
from shapeinf.graph import Declared, Graph
from shapeinf.lattice import MapType, OptionalType, PartialTensor, SequenceType, Shape, ShapeFacts, TensorType, Type
from shapeinf.lattice.spec import DimRange, InputSpec, parse_dim_range, parse_shape_spec


class DimLike(Protocol):
    """A named dim with bounds, as torch.export's `Dim("batch", min=1, max=8)`."""

    __name__: str
    min: int
    max: int


RangeLike = int | str | tuple[int | None, int | None]
SpecLike = str | Sequence[object] | Mapping[int, object]


@attrs.define
class InputReader:
    """Turns declarations of one graph into types over one `ShapeFacts`."""

    facts: ShapeFacts
    min_dim: int = 1
    lints: list[str] = attrs.Factory(list)

    def declared(self, declared: Declared, site: str) -> Type:
        """The type that a file declares for a value; dims without a name become unknowns of the site."""
        if declared.kind == "tensor":
            return PartialTensor(declared.dtype, self.shape(declared.dims, site), None)
        inner = self.declared(declared.of or Declared(), site)
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
            dim, lint = parse_dim_lenient(declared, self.facts.scope, self.min_dim)
            if lint is not None and lint not in self.lints:
                self.lints.append(lint)
            declared_dim = dim
        else:
            declared_dim = declared if declared is not None and declared >= 0 else None
        return self.facts.scope.fresh(site, self.min_dim) if declared_dim is None else declared_dim

    def given(self, spec: SpecLike, declared: Type | None, site: str) -> TensorType:
        """The type that the user gives to an input; a torch-style mapping changes only the axes that it names."""
        dtype = declared.dtype if isinstance(declared, TensorType) else None
        known = declared.shape if isinstance(declared, TensorType) else Shape.unknown()
        if isinstance(spec, str):
            parsed = parse_shape_spec(spec, self.facts.scope, self.min_dim)
            return TensorType(parsed.dtype or dtype, self._spec_shape(parsed, known, site))
        if isinstance(spec, Mapping):
            dims = list(known)
            for axis, value in spec.items():
                if not -len(dims) <= axis < len(dims):
                    raise ShapeInferenceError(f"input {site} has no axis {axis}: its shape is {known}")
                dims[axis] = self._given_dim(value, f"{site}.{axis}")
            return TensorType(dtype, Shape(dims))
        values = spec.as_list() if hasattr(spec, "as_list") else spec
        return TensorType(dtype, Shape(tuple(self._given_dim(v, f"{site}.{i}") for i, v in enumerate(values))))

    def _spec_shape(self, spec: InputSpec, known: Shape, site: str) -> Shape:
        if spec.dims is None:
            return known
        return Shape(tuple(self._given_dim(d, f"{site}.{i}") for i, d in enumerate(spec.dims)))

    def _given_dim(self, value: object, site: str) -> Dim:
        scope = self.facts.scope
        if value is None or (isinstance(value, int) and value == -1):
            return scope.fresh(site, self.min_dim)
        if isinstance(value, (int, Dimension)):
            return value
        if isinstance(value, str):
            return self._given_text(value, site)
        if isinstance(value, DimRange):
            return self._ranged(value, site)
        if isinstance(value, tuple) and len(value) == 2:
            return scope.fresh(site, *value)
        named = cast("DimLike", value)
        symbol = scope.symbol(named.__name__, self.min_dim)
        self.facts.tell_range(symbol, named.min, named.max, Source("", f"Dim({named.__name__!r}) of the user"))
        return symbol

    def _ranged(self, given: DimRange, site: str) -> Dim:
        low = self.min_dim if given.lo is None else given.lo
        if given.name is None:
            return self.facts.scope.fresh(site, low, given.hi)
        symbol = self.facts.scope.symbol(given.name, self.min_dim)
        self.facts.tell_range(symbol, low, given.hi, Source("", f"{given.name} is given by the user"))
        return symbol

    def _given_text(self, text: str, site: str) -> Dim:
        if text in ("?", "None"):
            return self.facts.scope.fresh(site, self.min_dim)
        return parse_dim(text, self.facts.scope, self.min_dim)


def tell_ranges(
    facts: ShapeFacts, dims: Mapping[str, RangeLike], declared: Callable[[], Collection[str]] = tuple
) -> None:
    """Tell the facts what the user says of named dims; `declared` gives the names that only node outputs have.

    Raises UnknownNameError for a name that nothing has, Contradiction for a range that cannot be.
    """
    for name, value in dims.items():
        if not facts.scope.has(name):
            if name not in declared():
                raise UnknownNameError("dim", name, facts.scope.names())
            facts.scope.symbol(name, 0)
        low, high = as_range(name, value)
        facts.tell_range(facts.scope.symbol(name), low, high, Source("", f"{name} is given by the user"))


def as_range(name: str, value: RangeLike) -> tuple[int | None, int | None]:
    """The bounds of a user's range: an int, `"lo..hi"` or a pair.

    >>> as_range("batch", "1..8"), as_range("batch", 4)
    ((1, 8), (4, 4))
    """
    if isinstance(value, int):
        return value, value
    if isinstance(value, str):
        parsed = parse_dim_range(f"{name}={value}")
        return parsed.lo, parsed.hi
    low, high = value
    return low, high


def tell_assumptions(facts: ShapeFacts, assumptions: Iterable[str], who: str = "user") -> None:
    """Tell relations such as `"past + seq <= 4096"`; `who` assumes them.

    Raises DimSyntaxError when one cannot be read, UnknownNameError for a name that no input has.
    """
    names = facts.scope.names()
    for text in assumptions:
        source = Source("", f"assumed by the {who}: {text}")
        operator = next((o for o in ("<=", ">=", "==", "<", ">") if o in text), None)
        if operator is None:
            raise DimSyntaxError(text, len(text), "a relation with <=, >=, <, > or ==")
        left, _, right = text.partition(operator)
        a, b = parse_dim(left, facts.scope), parse_dim(right, facts.scope)
        invented = [name for name in facts.scope.names() if name not in names]
        if invented:
            raise UnknownNameError("dim", invented[0], names)
        if operator == "==":
            facts.tell_equal(a, b, source)
        else:
            less, more = (a, b) if operator[0] == "<" else (b, a)
            facts.tell_le(less if "=" in operator else less + 1, more, source)


def input_names(graph: Graph) -> list[str]:
    """The names that a user may give a shape to: graph inputs that are no constants."""
    return [name for name in graph.inputs if name not in graph.constants]
