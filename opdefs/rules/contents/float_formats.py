"""Float types: their precision and limits, and rounding to them."""

from __future__ import annotations

from fractions import Fraction
from math import copysign, frexp, inf, isfinite, ldexp
from typing import NamedTuple


class FloatFormat(NamedTuple):
    """A float type: its name, its number of significant bits, its largest integer and its smallest normal number."""

    name: str
    precision: int
    largest: int
    least_normal: Fraction

    @property
    def allows_assumptions(self) -> bool:
        """Whether sizes may be assumed to be small enough for this type."""
        return self.precision >= 24

    @property
    def maximum(self) -> float:
        """The largest number, which may be no integer in a narrow type; an integer past the range of floats."""
        fraction_bits = self.precision - self.largest.bit_length()
        return self.largest + 1 - ldexp(1, -fraction_bits) if fraction_bits > 0 else self.largest

    @property
    def max_exact(self) -> int:
        """All integers up to this number are exact."""
        return 1 << self.precision

    def is_subset_of(self, other: FloatFormat) -> bool:
        """Whether `other` represents all numbers of this type."""
        return self is other or (
            self.precision <= other.precision
            and self.largest <= other.largest
            and self.least_normal >= other.least_normal
        )

    @property
    def computed_in(self) -> tuple[FloatFormat, ...]:
        """The types in which runtimes compute operators of this type.

        Runtimes without kernels for a narrow type compute a chain of operators in float32 and round its last result
        only; others round each result.
        """
        return (self,) if self.precision >= FLOAT32.precision else (self, FLOAT32)

    def round(self, number: float) -> float:
        """The number of the type that is nearest to a float64, of two the even one; an infinity if it is too large."""
        if self.name == "float64" or not isfinite(number) or number == 0:
            return number
        grid = max(frexp(number)[1], frexp(self.least_normal)[1]) - self.precision
        rounded = ldexp(round(ldexp(number, -grid)), grid)
        return rounded if abs(rounded) <= self.maximum else copysign(inf, number)

    def may_be_zero(self, number: float) -> bool:
        """Whether a runtime may replace a number by 0, as TensorFlow does with subnormal numbers.

        It does so in float32 and wider types; bfloat16 is computed in float32.
        """
        return 0 < abs(number) < self.least_normal <= FLOAT32.least_normal

    def round_down(self, number: int) -> int:
        """The largest integer of the type that is at most `number`, or else the smallest integer of the type."""
        step = 1 << max(0, abs(number).bit_length() - self.precision)
        return max(-self.largest, min(self.largest, number // step * step))


def _ieee(name: str, precision: int, exponent: int) -> FloatFormat:
    """A type of IEEE 754 whose largest exponent is this."""
    return FloatFormat(name, precision, (2 << exponent) - (1 << exponent + 1 - precision), Fraction(2, 1 << exponent))


FLOAT32 = _ieee("float32", 24, 127)
FLOAT64 = _ieee("float64", 53, 1023)
_FORMATS = {
    format_.name: format_
    for format_ in (
        FLOAT32,
        FLOAT64,
        _ieee("float16", 11, 15),
        _ieee("bfloat16", 8, 127),
        FloatFormat("float4e2m1", 2, 6, Fraction(1)),
        FloatFormat("float6e2m3", 4, 7, Fraction(1)),
        FloatFormat("float6e3m2", 3, 28, Fraction(1, 4)),
        FloatFormat("float8e3m4", 5, 15, Fraction(1, 4)),
        FloatFormat("float8e4m3", 4, 240, Fraction(1, 64)),
        FloatFormat("float8e4m3b11fnuz", 4, 30, Fraction(1, 1024)),
        FloatFormat("float8e4m3fn", 4, 448, Fraction(1, 64)),
        FloatFormat("float8e4m3fnuz", 4, 240, Fraction(1, 128)),
        FloatFormat("float8e5m2", 3, 57344, Fraction(1, 1 << 14)),
        FloatFormat("float8e5m2fnuz", 3, 57344, Fraction(1, 1 << 15)),
    )
}
"""The types by name, without float8e8m0, which has neither 0 nor signs; a test compares them with `ml_dtypes`."""


def float_format(dtype: str | None) -> FloatFormat | None:
    """The format of a float type; None for other types, and for float8e8m0.

    >>> float_format("float8e5m2").max_exact
    8
    """
    return _FORMATS.get(dtype or "")
