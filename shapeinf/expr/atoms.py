"""The atoms of polynomials: symbols, rounded quotients, maxima."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from shapeinf.expr.dimension import Dim


@attrs.frozen(eq=False)
class Symbol:
    """A named atom with its declared bounds (None is no bound)."""

    name: str
    lo: int | None
    hi: int | None
    anonymous: bool
    depth: int = 0


@attrs.frozen(eq=False)
class Floor:
    """The atom `floor(numerator / denominator)`."""

    numerator: Dim
    denominator: Dim
    depth: int


@attrs.frozen(eq=False)
class Maximum:
    """The atom `max(args)`; the arguments have no common summand (see `extremum`)."""

    args: tuple[Dim, ...]
    depth: int


Atom = Symbol | Floor | Maximum
