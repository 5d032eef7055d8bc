"""What facts are made of: relations, divisibilities, and conditions that could only be kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import attrs

from shapeinf.algebra.dimension import Dim
from shapeinf.algebra.interval import Bounds
from shapeinf.errors import Source


class Range(NamedTuple):
    """Bounds of one symbol, and who tightened them to these."""

    bounds: Bounds
    source: Source
    earlier: Range | None = None
    """What was told before that."""

    def steps(self) -> Iterator[Range]:
        """All that was told of the symbol, this last."""
        told: list[Range] = []
        one: Range | None = self
        while one is not None:
            told.append(one)
            one = one.earlier
        return reversed(told)


@attrs.frozen
class Relation:
    """`expression >= 0`."""

    expression: Dim
    source: Source


@attrs.frozen
class Divisibility:
    """`divisor` divides `expression`."""

    expression: Dim
    divisor: int
    source: Source


@attrs.frozen
class Guard:
    """A condition that could only be kept: `equation == 0`, or a text about `operands` where it is no one equation."""

    template: str
    source: Source
    equation: Dim | None = None
    operands: tuple[Dim, ...] = ()

    @property
    def text(self) -> str:
        """The condition as text; `{0}`, `{1}`... in the template are its operands."""
        return self.template.format(*self.operands) if self.operands else self.template
