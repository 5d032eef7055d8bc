"""The atoms of polynomials: symbols, rounded quotients, maxima. They are immutable, and each equals only itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from shapeinf.expr.dimension import DimSize


class Symbol:
    """A named atom with its declared bounds (None is no bound)."""

    __slots__ = ("anonymous", "depth", "has_maximum", "hi", "lo", "name")

    def __init__(self, name: str, lo: int | None, hi: int | None, anonymous: bool) -> None:
        """`anonymous`: an unknown, whose name is not that of a dim of the user or the file."""
        self.name: Final = name
        self.lo: Final = lo
        self.hi: Final = hi
        self.anonymous: Final = anonymous
        self.depth: Final = 0
        self.has_maximum: Final = False

    def __reduce__(self) -> tuple[type[Symbol], tuple[str, int | None, int | None, bool]]:
        """For pickles."""
        return Symbol, (self.name, self.lo, self.hi, self.anonymous)


class Floor:
    """The atom `floor(numerator / denominator)`."""

    __slots__ = ("denominator", "depth", "has_maximum", "numerator")

    def __init__(self, numerator: DimSize, denominator: DimSize, depth: int, has_maximum: bool) -> None:
        """`depth` counts the floors and maxima inside one another, this one included."""
        self.numerator: Final = numerator
        self.denominator: Final = denominator
        self.depth: Final = depth
        self.has_maximum: Final = has_maximum

    def __reduce__(self) -> tuple[type[Floor], tuple[DimSize, DimSize, int, bool]]:
        """For pickles."""
        return Floor, (self.numerator, self.denominator, self.depth, self.has_maximum)


class Maximum:
    """The atom `max(args)`; the arguments have no common summand (see `extremum`)."""

    __slots__ = ("args", "depth", "has_maximum")

    def __init__(self, args: tuple[DimSize, ...], depth: int) -> None:
        """See `Floor` for the depth."""
        self.args: Final = args
        self.depth: Final = depth
        self.has_maximum: Final = True

    def __reduce__(self) -> tuple[type[Maximum], tuple[tuple[DimSize, ...], int]]:
        """For pickles."""
        return Maximum, (self.args, self.depth)


Atom = Symbol | Floor | Maximum
