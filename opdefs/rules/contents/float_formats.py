"""Float types: their precision and limits, and rounding to them."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import copysign, frexp, inf, isfinite, ldexp
from typing import NamedTuple

from shapeinf.lattice import numpy_dtype


class FloatFormat(NamedTuple):
    """A float type: its name, its number of significant bits, its largest number and its smallest normal number."""

    name: str
    precision: int
    largest: int
    least_normal: Fraction

    @property
    def allows_assumptions(self) -> bool:
        """Whether sizes may be assumed to be small enough for this type."""
        return self.precision >= 24

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
        return rounded if abs(rounded) <= self.largest else copysign(inf, number)

    def may_be_zero(self, number: float) -> bool:
        """Whether a runtime may replace a number by 0: processors do so with subnormal numbers where they are told to.

        TensorFlow tells them; arithmetic of float32 and wider types only, in which bfloat16 is computed, too.
        """
        return 0 < abs(number) < self.least_normal <= FLOAT32.least_normal

    def round_down(self, number: int) -> int:
        """The largest integer of the type that is at most `number`, or else the smallest integer of the type."""
        step = 1 << max(0, abs(number).bit_length() - self.precision)
        return max(-self.largest, min(self.largest, number // step * step))


FLOAT32 = FloatFormat("float32", 24, (1 << 128) - (1 << 104), Fraction(1, 1 << 126))
FLOAT64 = FloatFormat("float64", 53, (1 << 1024) - (1 << 971), Fraction(1, 1 << 1022))
_FLOAT16 = FloatFormat("float16", 11, (1 << 16) - (1 << 5), Fraction(1, 1 << 14))
_BFLOAT16 = FloatFormat("bfloat16", 8, (1 << 128) - (1 << 120), Fraction(1, 1 << 126))
_COMMON = {format_.name: format_ for format_ in (FLOAT32, FLOAT64, _FLOAT16, _BFLOAT16)}
"""The types of most models, by name; `ml_dtypes` describes the others."""


@lru_cache(maxsize=32)
def float_format(dtype: str | None) -> FloatFormat | None:
    """The format of a float type; None for other types, and for float8e8m0, which has neither 0 nor signs."""
    if dtype is None or "float" not in dtype or dtype == "float8e8m0":
        return None
    if dtype in _COMMON:
        return _COMMON[dtype]
    kind = numpy_dtype(dtype)
    assert kind is not None
    import ml_dtypes

    limits = ml_dtypes.finfo(kind)  # type: ignore[no-untyped-call]
    return FloatFormat(dtype, limits.nmant + 1, int(float(limits.max)), Fraction(float(limits.smallest_normal)))
