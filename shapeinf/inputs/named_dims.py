"""Sizes as objects: `Dim`, and those of other tools, which are recognized by their attributes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs

from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import quote_name
from shapeinf.expr.parsing import MAX_NUMBER, TOO_LARGE

Hint = Literal["AUTO", "STATIC", "DYNAMIC"]
HINTS = ("AUTO", "STATIC", "DYNAMIC")
_UNBOUNDED = 2**63 - 2
"""Numbers from here on are no bounds: torch has `sys.maxsize - 1`, OpenVINO its largest dimension."""


def _check_natural(dim: Dim, attribute: attrs.Attribute[Any], value: Any) -> None:
    low = 1 if attribute.name == "multiple_of" else 0
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < low):
        raise ShapeInferenceError(f"{attribute.name} of {dim.name} must be an int of at least {low}, not {value!r}")
    if value is not None and value > MAX_NUMBER:
        raise ShapeInferenceError(f"{attribute.name} of {dim.name} is {value}: expected {TOO_LARGE}")


@attrs.frozen
class Dim:
    """A named size with bounds (inclusive, None is no bound) and a divisor.

    Use it for an axis in `inputs`, or in `dims`; torch.export's `Dim` is accepted in its place. (`shapeinf.DimSize` is
    the type of every size.)

    >>> Dim("H", 32, 512, multiple_of=32).assumptions
    ('H >= 32', 'H <= 512', 'H % 32 == 0')
    >>> print(2 * Dim("seq", max=512) + 1)
    2*seq + 1
    """

    name: str = attrs.field(validator=attrs.validators.instance_of(str))
    min: int | None = attrs.field(default=None, validator=_check_natural)
    max: int | None = attrs.field(default=None, validator=_check_natural)
    multiple_of: int = attrs.field(default=1, kw_only=True, validator=_check_natural)

    def __attrs_post_init__(self) -> None:
        """Raise ShapeInferenceError for an empty name, and for bounds that no size meets."""
        if not self.name:
            raise ShapeInferenceError("a Dim needs a name")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ShapeInferenceError(f"{self.name}: min={self.min} is more than max={self.max}")

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The bounds and divisor as texts for `assume`."""
        name = quote_name(self.name)
        lower = () if self.min is None else (f"{name} >= {self.min}",)
        upper = () if self.max is None else (f"{name} <= {self.max}",)
        return (*lower, *upper, *((f"{name} % {self.multiple_of} == 0",) if self.multiple_of > 1 else ()))

    def __mul__(self, times: int) -> DerivedDim:
        """`dim * 2`."""
        return DerivedDim(self) * times

    __rmul__ = __mul__

    def __add__(self, plus: int) -> DerivedDim:
        """`dim + 1`."""
        return DerivedDim(self) + plus

    __radd__ = __add__

    def __sub__(self, minus: int) -> DerivedDim:
        """`dim - 1`."""
        return DerivedDim(self) + -minus

    def __str__(self) -> str:
        """The name, as in a shape."""
        return quote_name(self.name)


@attrs.frozen
class DerivedDim:
    """`times*root + plus`: a size derived from another."""

    root: Dim
    times: int = 1
    plus: int = 0

    def __mul__(self, times: int) -> DerivedDim:
        """`dim * 2`."""
        return DerivedDim(self.root, self.times * times, self.plus * times)

    __rmul__ = __mul__

    def __add__(self, plus: int) -> DerivedDim:
        """`dim + 1`."""
        return DerivedDim(self.root, self.times, self.plus + plus)

    __radd__ = __add__

    def __sub__(self, minus: int) -> DerivedDim:
        """`dim - 1`."""
        return self + -minus

    def fn(self, root: object) -> object:
        """The size for a size of the root; torch's derived dims have this method, too."""
        return root * self.times + self.plus  # type: ignore[operator]

    def __str__(self) -> str:
        """The size as an expression: `2*seq + 1`."""
        product = str(self.root) if self.times == 1 else f"{self.times}*{self.root}"
        return product if not self.plus else f"{product} {'+' if self.plus > 0 else '-'} {abs(self.plus)}"


@attrs.frozen
class DimBounds:
    """A size without a name: bounds, and a hint of torch.export how to use the declared size."""

    min: int | None
    max: int | None
    hint: Hint | None = None


@attrs.frozen
class DimText:
    """A size that another tool has as an expression, in the text of that tool."""

    text: str


RecognizedDim = int | Dim | DimBounds | DimText | tuple[Dim, Callable[..., object]]
"""A derived dim is its root and a function of that."""


def recognize_dim(value: object) -> RecognizedDim:
    """A dim from an object, which is recognized by its attributes, or by its class where it has an expression.

    Accepts ints of numpy, `Dim`, torch.export's `Dim`, dims derived from it and `Dim.AUTO`, `STATIC`, `DYNAMIC`,
    torch's `SymInt`, the dims of jax.export, expressions of sympy, `SymbolicDim` of onnx_ir, OpenVINO's `Dimension`,
    coremltools' `RangeDim`, and tables with a name, min, max (or maxSize) and multiple_of.
    """
    if isinstance(value, Dim):
        return value
    if isinstance(value, Mapping):
        return _read_table(value)
    expression = _read_expression(value)
    if expression is not None:
        return expression
    derive = getattr(value, "fn", None)
    if hasattr(value, "root") and callable(derive):
        root = recognize_dim(value.root)
        if isinstance(root, Dim):
            return root, derive
    hint = getattr(getattr(value, "type", value), "name", None)
    if hint in HINTS:
        return DimBounds(_read_bound(getattr(value, "min", None)), _read_bound(getattr(value, "max", None)), hint)
    if hasattr(value, "__name__") and hasattr(value, "min") and hasattr(value, "max"):
        name = str(value.__name__)
        return int(name) if name.isdigit() else Dim(name, _read_bound(value.min) or None, _read_bound(value.max))
    for low, high in (("min_length", "max_length"), ("lower_bound", "upper_bound")):
        if hasattr(value, low) and hasattr(value, high):
            return DimBounds(_read_bound(getattr(value, low)), _read_bound(getattr(value, high)))
    try:
        if not isinstance(value, bool):
            return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    raise ShapeInferenceError(
        f"{value!r} is not a size: use an int, None, a text, a (low, high) pair, a Dim or a torch.export Dim"
    )


def _read_expression(value: Any) -> DimText | DimBounds | int | None:
    """A size that another tool has as an expression; None for any other object.

    A SymInt is never converted to an int: that would add a guard to its program.
    """
    library, kind = type(value).__module__.partition(".")[0], type(value).__name__
    if (library, kind) == ("torch", "SymInt"):
        number = value.node.maybe_as_int()
        return DimText(str(value)) if number is None else int(number)
    if (library, kind) == ("jax", "_DimExpr"):
        return DimText(str(value).replace("^", "**"))
    if (library, kind) == ("onnx_ir", "SymbolicDim"):
        return DimBounds(None, None) if value.value is None else DimText(str(value.value))
    return DimText(str(value)) if getattr(value, "free_symbols", None) else None


def _read_bound(value: object) -> int | None:
    """A bound of another tool; None for infinities, -1 and the largest ints, which are no bounds."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 <= number < _UNBOUNDED else None


def _read_table(table: Mapping[object, object]) -> Dim | DimBounds:
    unknown = sorted(str(key) for key in table if key not in ("name", "min", "max", "maxSize", "multiple_of"))
    if unknown:
        raise ShapeInferenceError(f"a dim has no {unknown[0]!r}: it has name, min, max (or maxSize) and multiple_of")
    if "max" in table and "maxSize" in table:
        raise ShapeInferenceError("max and maxSize are the same bound: specify one of them")
    name = table.get("name")
    if not isinstance(name, str):
        raise ShapeInferenceError(f"a dim as a table needs a name: {dict(table)!r}")
    high = table.get("max", table.get("maxSize"))
    return Dim(name, table.get("min"), high, multiple_of=table.get("multiple_of", 1))  # type: ignore[arg-type]
