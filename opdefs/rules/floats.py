"""Float arithmetic on sizes: what a float type still holds of a whole number or a fraction.

A float type of p significant bits holds every whole number up to 2**p, and every such number divided by a power of two;
above that it rounds. Sizes that pass through floats (`ceil(float(h) / 2.0)`, scales of a resize) are followed where the
bounds of the sizes prove that nothing is rounded, or that a single rounding does not change the result:

- Any element of a float tensor is a number of its type. So is the result of `+`, `-`, `*` and of casts where it is
  proven to be small enough. In float32 and float64, where it is not proven, that is an assumption of the contract; in
  narrower types the result is an unknown within the bounds of the rounded number.
- A `Quotient` is a fraction `n/d`, rounded once. Take `v = n/d` that is no whole number, and `k` the next one above or
  below: they differ by at least `1/d`. Rounding to nearest changes `v` by less than `|v| * 2**-p`, which is at most
  `1/d` where `|n| <= 2**p`. A whole `v` is then held exactly. So floor and ceiling of the rounded and of the true
  quotient are the same number for every `|n| <= 2**p`, whatever the divisor is; those of `n/d + 1/2` for every
  `|n| <= 2**(p-1)`.
- The constant 0.1 is no tenth but `c = 1/10 * (1 + e)`. Take `r = s/t` near to a constant `c = r*(1 + e)` and a whole
  `x`. Where `x*r` is no whole number the next one is `1/t` away or more; the product, rounded, is less than
  `|x*r| * (|e| + (1 + |e|)*u)` away from it, with `u = 2**-p / (1 + 2**-p)`. Where `x*r` is whole the product rounds to
  it if `|e| <= 2**-(p+1)`: half the distance to the next number of the type is at least that share of it. Where e is
  larger, floors of positive products are right for `e > 0`, ceilings for `e < 0`, since rounding passes no number.
  That alone is relied on in narrow types: runtimes that have no kernels for these count in wider ones.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil, gcd, isfinite

import attrs
import ml_dtypes
import numpy as np

from opdefs.rules.elements import Operation
from shapeinf.expr import Dim, Dimension, ceildiv, maximum
from shapeinf.lattice import Element, Quotient, numpy_dtype
from shapeinf.ops import InferenceContext

MIN_LIMIT = 2**16
"""A size is not assumed to be less than this: rather is the result unknown."""

MAX_SIZE = 2**63
"""No size is larger."""

MAX_DENOMINATOR = 1024
"""The largest denominator of a fraction that a constant is taken to stand for."""


@attrs.frozen
class FloatFormat:
    """A float type: its significant bits, its largest number and its smallest normal one."""

    name: str
    precision: int
    largest: int
    least_normal: Fraction

    @property
    def assumable(self) -> bool:
        """Whether sizes are taken to be small enough for this type where that is not proven."""
        return self.precision >= 24

    @property
    def exact(self) -> int:
        """All whole numbers up to this one are held."""
        return 1 << self.precision

    def is_within(self, other: FloatFormat) -> bool:
        """Whether another type holds all numbers of this one."""
        return self is other or (
            self.precision <= other.precision
            and self.largest <= other.largest
            and self.least_normal >= other.least_normal
        )

    def down(self, number: int) -> int:
        """The largest whole number of the type that is not above this one; the smallest below all."""
        step = 1 << max(0, abs(number).bit_length() - self.precision)
        return max(-self.largest, min(self.largest, number // step * step))


@lru_cache(maxsize=32)
def float_format(dtype: str | None) -> FloatFormat | None:
    """The format of a float type; None for another type, and for one without 0 or signs."""
    if dtype is None or "float" not in dtype or dtype == "float8e8m0":
        return None
    kind = numpy_dtype(dtype)
    assert kind is not None
    limits = ml_dtypes.finfo(kind)  # type: ignore[no-untyped-call]
    return FloatFormat(dtype, limits.nmant + 1, int(float(limits.max)), Fraction(float(limits.smallest_normal)))


FLOAT32 = FloatFormat("float32", 24, int(np.finfo(np.float32).max), Fraction(float(np.finfo(np.float32).tiny)))
FLOAT64 = FloatFormat("float64", 53, int(np.finfo(np.float64).max), Fraction(float(np.finfo(np.float64).tiny)))


def parts_of(element: Element) -> tuple[Dim, Dim] | None:
    """Numerator and denominator of an element; None for one that is not known, or is no number."""
    if isinstance(element, Quotient):
        return element.numerator, element.denominator
    if isinstance(element, Dimension):
        return element, 1
    if isinstance(element, (int, float)) and isfinite(element):
        fraction = Fraction(element)
        return fraction.numerator, fraction.denominator
    return None


def content(d: Dim) -> int:
    """The greatest number that divides every coefficient of a dim."""
    return abs(d) if isinstance(d, int) else gcd(*(factor for _, factor in d.terms))


@attrs.frozen
class FloatArithmetic:
    """Arithmetic on elements of one float type, in one call of a rule: every result is rounded to nearest."""

    c: InferenceContext
    format: FloatFormat
    saturates: bool = False
    """Whether what is too large becomes the largest number, not an infinity."""

    def held(self, numerator: Dim, denominator: Dim = 1) -> Element:
        """The element that is `numerator / denominator`, rounded once to the type (the denominator is 1 or more)."""
        n, d = _reduced(numerator, denominator)
        if isinstance(n, int) and (isinstance(d, int) or n == 0):
            return self._number(Fraction(n, d if isinstance(d, int) else 1))
        if d != 1:
            return Quotient(n, d)
        return n if self._is_exact(n, 1) else self.bounded(n, n)

    def _number(self, fraction: Fraction) -> float | None:
        """A fraction as a float, where the type holds it."""
        kind = numpy_dtype(self.format.name)
        assert kind is not None
        with np.errstate(all="ignore"):
            found = float(kind.type(float(fraction)))
        return found if isfinite(found) and Fraction(found) == fraction else None

    def exact(self, element: Element) -> tuple[Dim, Dim] | None:
        """Numerator and denominator of an element that was not rounded; None for any other."""
        parts = parts_of(element)
        if not isinstance(element, Quotient) or parts is None:
            return parts
        n, d = parts
        return parts if isinstance(d, int) and not d & (d - 1) and self._is_exact(n, d) else None

    def _is_exact(self, n: Dim, d: int) -> bool:
        """Whether the type holds `n/d`, for a power of two d: by proof, or by assumption."""
        factor = content(n)
        if not factor:
            return True
        odd = factor // (factor & -factor)
        if Fraction(1, d) < self.format.least_normal:
            return False
        return self._within(_over(n, factor), min(self.format.exact // odd, self.format.largest * d // factor))

    def _within(self, x: Dim, limit: int) -> bool:
        """Whether `-limit <= x <= limit`: by proof, or by assumption."""
        c = self.c
        fits = c.prove_le(x, limit), c.prove_le(-limit, x)
        if fits == (True, True):
            return True
        if False in fits or not self.format.assumable or limit < MIN_LIMIT:
            return False
        message = f"sizes are taken to be small enough for {self.format.name} to count with them exactly"
        return c.assume_small(x, limit, message) and c.assume_small(-x, limit, message)

    def bounded(self, low: Dim, high: Dim) -> Element:
        """An unknown whole number between two whole numbers that were rounded to the type."""
        least, most = self.c.interval(low).lo, self.c.interval(high).hi
        ends = (
            content(low) * -MAX_SIZE if least is None else least,
            content(high) * MAX_SIZE if most is None else most,
        )
        if self.saturates:
            least, most = max(-self.format.largest, ends[0]), min(self.format.largest, ends[1])
        elif max(-ends[0], ends[1]) > self.format.largest:
            return None  # it may be infinite
        bottom = None if least is None else self.format.down(least)
        top = None if most is None else -self.format.down(-most)
        return bottom if bottom is not None and bottom == top else self.c.fresh("rounded", bottom, top)

    # -- operations --------------------------------------------------------------------------------------------------

    def add(self, a: Element, b: Element) -> Element:
        """`a + b`."""
        left, right = self.exact(a), self.exact(b)
        if left is None or right is None:
            return None
        return self.held(left[0] * right[1] + right[0] * left[1], left[1] * right[1])

    def subtract(self, a: Element, b: Element) -> Element:
        """`a - b`."""
        return self.add(a, self.negate(b))

    def negate(self, a: Element) -> Element:
        """`-a`, whatever was rounded."""
        parts = parts_of(a)
        return None if parts is None else _element(-parts[0], parts[1])

    def multiply(self, a: Element, b: Element) -> Element:
        """`a * b`; a power of two moves what was rounded, too."""
        left = parts_of(a) if _is_power_of_two(b) else self.exact(a)
        right = parts_of(b) if _is_power_of_two(a) else self.exact(b)
        return None if left is None or right is None else self.held(left[0] * right[0], left[1] * right[1])

    def divide(self, a: Element, b: Element) -> Element:
        """`a / b` for a divisor of known sign."""
        left = parts_of(a) if _is_power_of_two(b) else self.exact(a)
        right = self.exact(b)
        if left is None or right is None:
            return None
        n, d = left[0] * right[1], left[1] * right[0]
        if self.c.prove_le(d, -1) is True:
            n, d = -n, -d
        if self.c.prove_le(1, d) is not True:
            return None
        quotient = n // d
        return self.held(quotient) if self.c.prove_eq(quotient * d, n) is True else self.held(n, d)

    def power(self, a: Element, b: Element) -> Element:
        """`a ** b` for a small whole exponent."""
        exponent = parts_of(b)
        if exponent is None or exponent[1] != 1 or not isinstance(exponent[0], int) or not 0 <= exponent[0] <= 4:
            return None
        result: Element = 1.0
        for _ in range(exponent[0]):
            result = self.multiply(result, a)
        return result

    def floor(self, a: Element) -> Element:
        """The largest whole number that is not above."""
        return self._to_whole(a, 1, 1, lambda n, d: n // d)

    def ceil(self, a: Element) -> Element:
        """The smallest whole number that is not below."""
        return self._to_whole(a, 1, -1, ceildiv)

    def truncate(self, a: Element) -> Element:
        """The whole part, as casts to whole numbers take it."""

        def towards_zero(n: Dim, d: Dim) -> Dim:
            if self.c.prove_le(0, n) is True:
                return n // d
            return maximum(n, 0) // d - maximum(-n, 0) // d

        return self._to_whole(a, 1, 1, towards_zero)

    def floor_of_product(self, x: Dim, constant: Fraction) -> Dim | None:
        """The floor of a size times a constant, where that of the exact product and of the rounded one are the same."""
        simple = constant.limit_denominator(MAX_DENOMINATOR)
        limit = self.reach(constant, simple, 1, 1) if 0 < simple <= constant else 0
        return (x * simple.numerator) // simple.denominator if limit and self._within(x, limit) else None

    def round(self, a: Element) -> Element:
        """The nearest whole number; of two the even one."""
        return self._to_whole(a, 2, 0, _half_to_even)

    def _to_whole(self, a: Element, grid: int, side: int, operation: Callable[[Dim, Dim], Dim]) -> Element:
        """An operation that changes only where a number reaches a multiple of `1/grid`: from below for a side of 1."""
        parts = parts_of(a)
        if not isinstance(a, Quotient) or parts is None:
            return None if parts is None else a
        n, d = parts
        for limit, x, (times, by) in self._readings(n, d, grid, side):
            if self._within(x, limit):
                return operation(x * times, by)
        return self.bounded(n // d, n // d + 1)

    def _readings(self, n: Dim, d: Dim, grid: int, side: int) -> list[tuple[int, Dim, tuple[int, Dim]]]:
        """What `n/d` may be read as: up to a limit an x, which is multiplied by a fraction; the largest limit first."""
        if not isinstance(d, int):
            tiny = Fraction(1, content(d)) < self.format.least_normal
            return [] if tiny else [(self.format.exact // grid, n, (1, d))]
        factor = content(n)
        x = _over(n, factor)
        constant = Fraction(factor, d)
        if constant < self.format.least_normal:
            return []
        if self.c.prove_le(0, x) is not True:
            side = 0
        found: list[tuple[int, Dim, tuple[int, Dim]]] = []
        for simple in {constant, constant.limit_denominator(MAX_DENOMINATOR)} - {0}:
            limit = self.reach(constant, simple, grid, side)
            if limit:
                found.append((limit, x, (simple.numerator, simple.denominator)))
        return sorted(found, key=lambda reading: -reading[0])

    def reach(self, constant: Fraction, simple: Fraction, grid: int, side: int) -> int:
        """Up to which x the rounded `x*constant` and `x*simple` are never parted by a multiple of `1/grid`."""
        error = constant / simple - 1
        rounded_back = self.format.assumable and abs(error) <= Fraction(1, 2 * self.format.exact)
        if error and not rounded_back and error * side <= 0:
            return 0
        unit = Fraction(1, self.format.exact + 1)
        share = simple.numerator * grid * (abs(error) + (1 + abs(error)) * unit)
        return ceil(1 / share) - 1  # x * share is less than 1


def arithmetic(c: InferenceContext, dtype: str | None) -> FloatArithmetic | None:
    """The arithmetic of a float type; None for any other."""
    found = float_format(dtype)
    return None if found is None else FloatArithmetic(c, found)


def on_floats(
    c: InferenceContext, dtype: str | None, concrete: Callable[..., object], symbolic: Callable[..., Element]
) -> Operation:
    """An operation on elements of a float type: by numpy on numbers, else `symbolic`, a method of the arithmetic."""

    def operation(*elements: Element) -> Element:
        if all(isinstance(e, (int, float)) for e in elements):
            kind = numpy_dtype(dtype)
            with np.errstate(all="ignore"):
                found: Element = np.asarray(concrete(*(np.array(e, dtype=kind) for e in elements))).item()
            return found
        floats = arithmetic(c, dtype)
        return None if floats is None else symbolic(floats, *elements)

    return operation


def _element(n: Dim, d: Dim) -> Element:
    if d != 1:
        return Quotient(n, d)
    return float(n) if isinstance(n, int) else n


def _reduced(n: Dim, d: Dim) -> tuple[Dim, Dim]:
    """Both without their common factor."""
    common = gcd(content(n), content(d))
    return (n, d) if common <= 1 else (_over(n, common), _over(d, common))


def _over(d: Dim, factor: int) -> Dim:
    return d // factor if factor > 1 else d


def _is_power_of_two(element: Element) -> bool:
    parts = parts_of(element) if isinstance(element, (int, float)) else None
    return parts is not None and all(isinstance(p, int) and p > 0 and not p & (p - 1) for p in parts)


def _half_to_even(n: Dim, d: Dim) -> Dim:
    """`n/d` to the nearest whole number. Halves go up first, then those that came to an odd number down by one."""
    up = (2 * n + d) // (2 * d)
    if isinstance(d, int) and d % 2:
        return up
    return up - ((2 * n - d) // (4 * d) - (2 * n - d - 1) // (4 * d))
