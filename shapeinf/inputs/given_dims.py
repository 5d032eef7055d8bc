"""What people give for the axes of an input, as dims and facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from shapeinf.errors import Contradiction, ShapeInferenceError, Source
from shapeinf.expr import Dim, Dimension, quote_name
from shapeinf.inputs.named_dims import HINTS, Bounded, NamedDim, recognised
from shapeinf.inputs.spec import DimRange, parse_axis
from shapeinf.lattice import Shape, ShapeStore


@attrs.frozen
class GivenDims:
    """Reads what a user gives, and tells the facts the bounds in it.

    Of a symbol that cannot be as small as the user says nothing is told: its least size is put into `lowered`, and all
    is to be said again with one that can.
    """

    store: ShapeStore
    min_dim: int
    lowered: dict[str, int]

    def shape(self, values: Sequence[object], site: str, known: Shape | None = None) -> Shape:
        """A whole shape, in place of the declared one (`known`)."""
        old = [None] * len(values) if known is None or known.dims is None else list(known.dims)
        old = old if len(old) == len(values) else [None] * len(values)
        pairs = enumerate(zip(values, old, strict=True))
        return Shape(tuple(self.dim(value, f"{site}.{i}", declared) for i, (value, declared) in pairs))

    def changed(self, spec: Mapping[int, object], known: Shape, site: str) -> Shape:
        """The declared shape with some axes changed."""
        if known.dims is None and spec:
            raise ShapeInferenceError(f"input {site} has no declared rank: give its whole shape in place of some axes")
        dims = list(known)
        for key, value in spec.items():
            axis = int(key) if isinstance(key, str) and key.lstrip("-").isdecimal() else key
            if isinstance(axis, bool) or not isinstance(axis, int):
                raise ShapeInferenceError(f"input {site} has no axis {key!r}: axes are numbers, inputs are not nested")
            if not -len(dims) <= axis < len(dims):
                raise ShapeInferenceError(f"input {site} has no axis {axis}: its shape is {known}")
            dims[axis] = self.dim(value, f"{site}.{axis}", dims[axis])
        return Shape(dims)

    def dim(self, value: object, site: str, declared: Dim | None = None) -> Dim:
        """One axis; `declared` is what the file says of it."""
        scope = self.store.scope
        if isinstance(value, str):
            return self._text(value, site, declared)
        if value is None:
            return scope.fresh(site, self.min_dim)
        if isinstance(value, Dimension):
            return value if value.scope is scope else self._text(str(value), site, declared)
        if isinstance(value, DimRange):
            return self._ranged(value, site)
        if isinstance(value, (tuple, list)):
            if len(value) != 2:
                raise ShapeInferenceError(f"{site}: a range has two bounds, not {len(value)}: {value!r}")
            return self._ranged(DimRange(*value), site)
        found = recognised(value)
        if isinstance(found, NamedDim):
            return self.named(found)
        if isinstance(found, Bounded):
            return self._bounded(found, site, declared)
        if isinstance(found, tuple):
            return self._derived(*found, site)
        if found < -1:
            raise ShapeInferenceError(f"{site}: a size is at least 0 (-1 is an unknown one), not {found}")
        return scope.fresh(site, self.min_dim) if found == -1 else found

    def named(self, given: NamedDim) -> Dimension:
        """The symbol of a named dim, with what is said of it told."""
        symbol = self.store.scope.symbol(given.name, self.min_dim)
        name = quote_name(given.name)
        low = symbol.symbol.lo
        if given.min is not None:
            self.store.presumed[symbol] = False
        if given.min is not None and low is not None and given.min < low:
            self.lowered[given.name] = min(given.min, self.lowered.get(given.name, given.min))
            return symbol
        value = DimRange(given.min, given.max)
        if given.min is not None or given.max is not None:
            what = f"{name}={value.lo}" if value.lo == value.hi else f"{name}={_range_text(value)}"
            self._tell(lambda source: self.store.add_range(symbol, value.lo, value.hi, source), what)
        if given.multiple_of > 1:
            what = f"{name} % {given.multiple_of} == 0"
            self._tell(lambda source: self.store.add_divisible(symbol, given.multiple_of, source), what)
        return symbol

    def _tell(self, tell: Callable[[Source], None], what: str) -> None:
        source = Source("", f"{what} is given by the user")
        try:
            tell(source)
        except Contradiction as error:
            second = error.first if error.second in (None, source) and error.first != source else error.second
            raise Contradiction(f"{source} and cannot hold", source, second) from None

    def _text(self, text: str, site: str, declared: Dim | None) -> Dim:
        hint = text.strip().removeprefix("Dim.")
        if hint in HINTS and not self.store.scope.has(text):
            return self._bounded(Bounded(None, None, hint), site, declared)  # type: ignore[arg-type]
        found = parse_axis(text, self.store.scope, self.min_dim)
        return self.dim(found, site, declared) if isinstance(found, DimRange) or found is None else found

    def _ranged(self, given: DimRange, site: str) -> Dim:
        if given.name is not None:
            return self.named(NamedDim(given.name, given.lo, given.hi))
        symbol = self.store.scope.fresh(site, self.min_dim if given.lo is None else given.lo, given.hi)
        self.store.presumed[symbol] = given.lo is None
        return symbol

    def _bounded(self, given: Bounded, site: str, declared: Dim | None) -> Dim:
        """AUTO keeps the declared size, STATIC needs a number, DYNAMIC keeps a name; without a hint any in bounds."""
        if given.min is not None and given.min == given.max:
            return given.min
        if given.hint == "STATIC" and not isinstance(declared, int):
            raise ShapeInferenceError(f"{site} is STATIC, but its declared size is {declared}: give the number")
        if declared is None or given.hint is None or (given.hint == "DYNAMIC" and isinstance(declared, int)):
            return self._ranged(DimRange(given.min, given.max), site)
        what = f"{site} in {_range_text(DimRange(given.min, given.max))}"
        self._tell(lambda source: self.store.add_range(declared, given.min, given.max, source), what)
        return declared

    def _derived(self, root: NamedDim, fn: Callable[..., object], site: str) -> Dim:
        found = fn(self.named(root))
        if not isinstance(found, (int, Dimension)):
            raise ShapeInferenceError(f"{site}: the dim derived from {root} is no size: {found!r}")
        self._tell(lambda source: self.store.add_le(0, found, source), f"{site} = {found}")
        return found


def _range_text(given: DimRange) -> str:
    return f"{'' if given.lo is None else given.lo}..{'' if given.hi is None else given.hi}"
