"""Float arithmetic on sizes: which integers and fractions a float type represents exactly.

A float type of p significant bits represents every integer up to 2**p, and every such integer divided by a power of
two; above that it rounds. Sizes that pass through floats (`ceil(float(h) / 2.0)`, scales of a resize) stay known where
their bounds prove that nothing is rounded, or that a single rounding does not change the result:

- Any element of a float tensor is a number of its type. So is the result of `+`, `-`, `*` and of casts where it is
  proven to be small enough. Where that is not proven, it is an assumption of the contract in float32 and float64; in
  narrower types the result is an unknown within the bounds of the rounded number.
- A `Quotient` is a fraction `n/d`, rounded once. Take `v = n/d` that is not an integer, and `k` the next one above or
  below: they differ by at least `1/d`. Rounding to nearest changes `v` by less than `|v| * 2**-p`, which is at most
  `1/d` where `|n| <= 2**p`. An integer `v` is then exact. So floor and ceiling of the rounded and of the true quotient
  are the same number for every `|n| <= 2**p` and any divisor; those of `n/d + 1/2` for every `|n| <= 2**(p-1)`.
- The constant 0.1 is not a tenth but `c = 1/10 * (1 + e)`. Take `r = s/t` near a constant `c = r*(1 + e)`, and an
  integer `x`. Where `x*r` is not an integer, the next one is `1/t` away or more; the rounded product is less than
  `|x*r| * (|e| + (1 + |e|)*u)` away from it, with `u = 2**-p / (1 + 2**-p)`. Where `x*r` is an integer, the product
  rounds to it if `|e| <= 2**-(p+1)`: half the distance to the next number of the type is at least that share of it.
  Where e is larger, floors of positive products are right for `e > 0`, ceilings for `e < 0`: rounding is monotone.
  In narrow types only this case is used: runtimes without kernels for these types compute in wider ones.

Known numbers, and floats between two numbers, are those of `float_intervals`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor, fmod, gcd, inf, isfinite, trunc

import attrs

from opdefs.rules.contents.elements import Operation, fold_elements, map_elements, to_dim
from opdefs.rules.contents.float_formats import FloatFormat, float_format
from opdefs.rules.contents.float_intervals import (
    Ends,
    approximate,
    approximate_power,
    are_numbers,
    combine,
    float_ends,
    integral,
    square_root,
)
from opdefs.rules.contents.integers import MIN_LIMIT, USUAL_SIZES
from shapeinf.expr import Dimension, DimSize, ceildiv, maximum, minimum
from shapeinf.lattice import Element, FloatInterval, PartialTensor, Quotient, Shape, numpy_dtype
from shapeinf.ops import InferenceContext

MAX_EXACT = 2**53
"""Bounded integers are intervals of floats up to this number, which float64 represents with all before it."""

MAX_SIZE = 2**63
"""An upper bound of all sizes."""

MAX_DENOMINATOR = 1024
"""The largest denominator of a fraction that a float constant may stand for."""


def to_fraction(element: Element) -> tuple[DimSize, DimSize] | None:
    """The numerator and denominator of an element; None if it is unknown or not a finite number."""
    if isinstance(element, Quotient):
        return element.numerator, element.denominator
    if isinstance(element, Dimension):
        return element, 1
    if isinstance(element, (int, float)) and isfinite(element):
        fraction = Fraction(element)
        return fraction.numerator, fraction.denominator
    return None


def content(d: DimSize) -> int:
    """The greatest number that divides every coefficient of a dim."""
    return abs(d) if isinstance(d, int) else gcd(*(factor for _, factor in d.terms))


def _largest_factor(d: DimSize) -> int:
    """The largest factor of a symbol, or of a product of symbols, in a dim."""
    return 1 if isinstance(d, int) else max([abs(factor) for monomial, factor in d.terms if monomial], default=1)


@attrs.frozen
class FloatArithmetic:
    """Arithmetic on elements of a float type, for one call of a rule.

    Docstrings state exact results. Each is rounded to nearest, and None where it is unknown.
    """

    c: InferenceContext
    format: FloatFormat
    saturates: bool = False
    """Whether overflow results in the largest number instead of infinity."""

    def element(self, numerator: DimSize, denominator: DimSize = 1) -> Element:
        """`numerator / denominator` (at least 1) as an element, rounded once to the type."""
        n, d = _reduce_fraction(numerator, denominator)
        if isinstance(n, int) and (isinstance(d, int) or n == 0):
            return self._number(Fraction(n, d if isinstance(d, int) else 1))
        if d != 1:
            return Quotient(n, d)
        return n if self.is_exact(n, 1) else self.fresh_between(n, n)

    def _number(self, fraction: Fraction) -> float | None:
        """A fraction as a float; None where the type does not represent it exactly."""
        number = self.format.round(float(fraction)) if abs(fraction) <= self.format.maximum else inf
        return number if isfinite(number) and Fraction(number) == fraction else None

    def exact(self, element: Element) -> tuple[DimSize, DimSize] | None:
        """The numerator and denominator of an element that is not rounded; None for any other."""
        parts = to_fraction(element)
        if not isinstance(element, Quotient) or parts is None:
            return parts
        n, d = parts
        return parts if isinstance(d, int) and not d & (d - 1) and self.is_exact(n, d) else None

    def is_exact(self, n: DimSize, d: int = 1) -> bool:
        """Whether the type represents `n/d` exactly, for a power of two d: proven or assumed."""
        factor = content(n)
        if not factor:
            return True
        odd = factor // (factor & -factor)
        if d > 1 and Fraction(1, d) < self.format.least_normal:
            return False
        return self._is_within(
            _divide_exactly(n, factor), min(self.format.max_exact // odd, self.format.largest * d // factor)
        )

    def _is_within(self, x: DimSize, limit: int) -> bool:
        """Whether `-limit <= x <= limit`: proven or assumed."""
        c = self.c
        proofs = c.prove_le(x, limit), c.prove_le(-limit, x)
        if proofs == (True, True):
            return True
        if False in proofs or not self.format.allows_assumptions or limit // _largest_factor(x) < MIN_LIMIT:
            return False
        message = f"sizes are assumed to be small enough to be exact in {self.format.name}"
        above, below = proofs
        return (above is True or c.assume_small(x, limit, message)) and (
            below is True or c.assume_small(-x, limit, message)
        )

    def fresh_between(self, low: DimSize, high: DimSize) -> Element:
        """A fresh integer between two bounds, rounded to the type; None if it may be infinite."""
        least, most = self._finite_end(low, 0), self._finite_end(high, 1)
        ends = (
            self.c.store.usual_bounds(low, MAX_SIZE)[0] if least is None else least,
            self.c.store.usual_bounds(high, MAX_SIZE)[1] if most is None else most,
        )
        if self.saturates:
            least, most = max(-self.format.largest, int(ends[0])), min(self.format.largest, int(ends[1]))
        elif max(-ends[0], ends[1]) > self.format.largest:
            return None  # it may be infinite
        bottom = None if least is None else self.format.round_down(least)
        top = None if most is None else -self.format.round_down(-most)
        return bottom if bottom is not None and bottom == top else self.c.fresh("rounded", bottom, top)

    def _finite_end(self, d: DimSize, side: int) -> int | None:
        """The least (0) or the greatest (1) number that a dim may be.

        None for a multiple of sizes without a bound: it counts as a size. Powers of sizes do not: they have a bound.
        """
        bound = (self.c.interval(d).lo, self.c.interval(d).hi)[side]
        if bound is not None or isinstance(d, int):
            return bound
        cap = USUAL_SIZES["int64"]
        multiple = cap * sum([abs(factor) for _, factor in d.terms])
        usual = self.c.store.usual_bounds(d, cap)[side]
        return None if abs(usual) <= multiple else int(usual)

    # -- operations --------------------------------------------------------------------------------------------------

    def _ends(self, *elements: Element) -> list[Ends] | None:
        """The ends of elements of which one is a number or an interval; the others may be bounded integers."""
        ends: list[Ends] = []
        for element in elements:
            known = float_ends(element)
            if known is not None and self.format.may_be_zero(known[0]) and known[0] == known[1]:
                known = min(known[0], 0.0), max(known[0], 0.0)
            if known is None and isinstance(element, Dimension):
                low, high = self.c.store.bounds(element)
                known = (float(low), float(high)) if -MAX_EXACT <= low <= high <= MAX_EXACT else None
            if known is None:
                return None
            ends.append(known)
        return ends

    def _combine(self, operation: Callable[..., float], *elements: Element) -> Element:
        """The result of a monotone operation that runtimes round correctly, on numbers, intervals and bounded sizes."""
        ends = self._ends(*elements)
        return None if ends is None else combine(self.format, operation, *ends)

    def add(self, a: Element, b: Element) -> Element:
        """`a + b`."""
        if are_numbers(a, b) or _is_interval(a, b):
            return self._combine(operator.add, a, b)
        left, right = self.exact(a), self.exact(b)
        if left is None or right is None:
            return None
        return self.element(left[0] * right[1] + right[0] * left[1], left[1] * right[1])

    def subtract(self, a: Element, b: Element) -> Element:
        """`a - b`."""
        return self.add(a, self.negate(b))

    def negate(self, a: Element) -> Element:
        """`-a`, which is exact even for a rounded element."""
        if isinstance(a, FloatInterval):
            return FloatInterval(-a.high, -a.low)
        if isinstance(a, (int, float)):
            return -float(a)
        parts = to_fraction(a)
        return None if parts is None else _exact_element(-parts[0], parts[1])

    def multiply(self, a: Element, b: Element) -> Element:
        """`a * b`. A power of two scales rounded elements exactly, too."""
        if are_numbers(a, b) or _is_interval(a, b):
            return self._combine(operator.mul, a, b)
        left = to_fraction(a) if _is_power_of_two(b) else self.exact(a)
        right = to_fraction(b) if _is_power_of_two(a) else self.exact(b)
        return None if left is None or right is None else self.element(left[0] * right[0], left[1] * right[1])

    def divide(self, a: Element, b: Element) -> Element:
        """`a / b` for a divisor of known sign."""
        if are_numbers(a, b) or _is_interval(a, b):
            ends = self._ends(b)
            if ends is None or ends[0][0] <= 0 <= ends[0][1]:  # the zeros of contents have no sign
                return None
            return self._combine(operator.truediv, a, b)
        left = to_fraction(a) if _is_power_of_two(b) else self.exact(a)
        right = self.exact(b)
        if left is None or right is None:
            return None
        n, d = left[0] * right[1], left[1] * right[0]
        if self.c.prove_le(d, -1) is True:
            n, d = -n, -d
        if self.c.prove_le(1, d) is not True:
            return None
        quotient = n // d
        return self.element(quotient) if self.c.prove_eq(quotient * d, n) is True else self.element(n, d)

    def square_root(self, a: Element) -> Element:
        """The square root of a known number."""
        return self._combine(square_root, a) if are_numbers(a) else None

    def approximate(self, name: str, a: Element) -> Element:
        """A function of `APPROXIMATIONS`, of a known number."""
        ends = self._ends(a)
        return None if ends is None else approximate(self.format, name, ends[0])

    def approximate_power(self, a: Element, b: Element) -> Element:
        """`a ** b` as runtimes approximate it, also where the exact power is a number of the type (3 ** 2)."""
        ends = self._ends(a, b)
        return None if ends is None else approximate_power(self.format, *ends)

    def power(self, a: Element, b: Element) -> Element:
        """`a ** b`, by products for a small integer exponent."""
        exponent = to_fraction(b)
        small = exponent is not None and exponent[1] == 1 and exponent[0] in range(5)
        if exponent is None or not small or not isinstance(exponent[0], int):
            return self.approximate_power(a, b)
        result: Element = 1.0
        for _ in range(exponent[0]):
            result = self.multiply(result, a)
        if not are_numbers(a) or (isinstance(a, (int, float)) and result == _exact_power(a, exponent[0])):
            return result
        return self.approximate_power(a, b)

    def power_or_root(self, a: Element, b: Element) -> Element:
        """`a ** b` of a runtime that calls C's `pow`: `a ** 0.5` is exact where the root is a number of the type."""
        root = self.square_root(a) if b == 0.5 and isinstance(a, (int, float)) and 0 <= a < inf else None
        return root if isinstance(root, (int, float)) and _exact_power(root, 2) == a else self.power(a, b)

    def maximum(self, a: Element, b: Element) -> Element:
        """The larger of two elements."""
        return self._pick(max, maximum, a, b)

    def minimum(self, a: Element, b: Element) -> Element:
        """The smaller of two elements."""
        return self._pick(min, minimum, a, b)

    def _pick(self, numeric: Callable[..., float], symbolic: Callable[..., DimSize], a: Element, b: Element) -> Element:
        if are_numbers(a, b) or _is_interval(a, b):
            has_nan = any([isinstance(e, float) and e != e for e in (a, b)])
            return None if has_nan else self._combine(numeric, a, b)
        left, right = to_dim(a), to_dim(b)
        return None if left is None or right is None else _exact_element(symbolic(left, right), 1)

    def absolute(self, a: Element) -> Element:
        """`|a|` of a number, or of a size of known sign."""
        if isinstance(a, FloatInterval) and a.low < 0 < a.high:
            return FloatInterval(0.0, max(-a.low, a.high))
        if are_numbers(a):
            return self._combine(abs, a)
        if not isinstance(a, Dimension):
            return None
        return a if self.c.prove_le(0, a) is True else -a if self.c.prove_le(a, 0) is True else None

    def floored_remainder(self, a: Element, b: Element) -> Element:
        """The remainder of two numbers with the sign of the divisor."""
        return self._remainder(operator.mod, a, b)

    def truncated_remainder(self, a: Element, b: Element) -> Element:
        """The remainder of two numbers with the sign of the dividend."""
        return self._remainder(fmod, a, b)

    def _remainder(self, operation: Callable[[float, float], float], a: Element, b: Element) -> Element:
        """A remainder, which is not monotone: unknown for intervals."""
        numbers = [float(e) for e in (a, b) if isinstance(e, (int, float)) and isfinite(e)]
        return self._combine(operation, *numbers) if len(numbers) == 2 and numbers[1] else None

    def floor(self, a: Element) -> Element:
        """The largest integer that is at most `a`."""
        return self._integral(floor, a) if are_numbers(a) else self._to_integer(a, 1, 1, lambda n, d: n // d)

    def ceil(self, a: Element) -> Element:
        """The smallest integer that is at least `a`."""
        return self._integral(ceil, a) if are_numbers(a) else self._to_integer(a, 1, -1, ceildiv)

    def truncate(self, a: Element) -> Element:
        """The integer part of `a`, as in casts to integers."""
        return self._integral(trunc, a) if are_numbers(a) else self._to_integer(a, 1, 1, self._truncated_quotient)

    def _integral(self, operation: Callable[[float], int], a: Element) -> Element:
        """An operation such as `math.floor` of a known number; an unknown integer where its ends differ."""
        result = self._combine(integral(operation), a)
        if not isinstance(result, FloatInterval):
            return result
        return self.c.fresh("rounded", floor(result.low), ceil(result.high))

    def _truncated_quotient(self, n: DimSize, d: DimSize) -> DimSize:
        if self.c.prove_le(0, n) is True:
            return n // d
        return maximum(n, 0) // d - maximum(-n, 0) // d

    def floor_of_product(self, x: DimSize, constant: Fraction) -> DimSize | None:
        """`floor(x * constant)`; None where the exact and the rounded product may have different floors."""
        simple = constant.limit_denominator(MAX_DENOMINATOR)
        limit = self.exact_limit(constant, simple, 1, 1) if 0 < simple <= constant else 0
        return (x * simple.numerator) // simple.denominator if limit and self._is_within(x, limit) else None

    def round(self, a: Element) -> Element:
        """The integer nearest to `a`; ties go to the even one."""
        if are_numbers(a):
            return self._integral(round, a)
        return self._to_integer(a, 2, 0, _round_half_to_even)

    def _to_integer(
        self, a: Element, grid: int, side: int, operation: Callable[[DimSize, DimSize], DimSize]
    ) -> Element:
        """An operation of numerator and denominator that is constant between multiples of `1/grid`.

        At a multiple it has the value of the numbers above it for `side` 1, below it for -1, and its own for 0.
        """
        parts = to_fraction(a)
        if not isinstance(a, Quotient) or parts is None:
            return None if parts is None else a
        n, d = parts
        for limit, x, (times, by) in self._readings(n, d, grid, side):
            if self._is_within(x, limit):
                return operation(x * times, by)
        return self.fresh_between(n // d, n // d + 1)

    def _readings(self, n: DimSize, d: DimSize, grid: int, side: int) -> list[tuple[int, DimSize, tuple[int, DimSize]]]:
        """`n/d` as `x * fraction`, valid for x up to a limit: (limit, x, fraction) of each, the largest limit first."""
        if not isinstance(d, int):
            tiny = Fraction(1, content(d)) < self.format.least_normal
            return [] if tiny else [(self.format.max_exact // grid, n, (1, d))]
        factor = content(n)
        x = _divide_exactly(n, factor)
        constant = Fraction(factor, d)
        if constant < self.format.least_normal:
            return []
        if self.c.prove_le(0, x) is not True:
            side = 0
        readings: list[tuple[int, DimSize, tuple[int, DimSize]]] = []
        for simple in {constant, constant.limit_denominator(MAX_DENOMINATOR)} - {0}:
            limit = self.exact_limit(constant, simple, grid, side)
            if limit:
                readings.append((limit, x, (simple.numerator, simple.denominator)))
        return sorted(readings, key=lambda reading: -reading[0])

    def exact_limit(self, constant: Fraction, simple: Fraction, grid: int, side: int) -> int:
        """The largest x such that no multiple of `1/grid` lies between the rounded `x*constant` and `x*simple`."""
        error = constant / simple - 1
        rounded_back = self.format.allows_assumptions and abs(error) <= Fraction(1, 2 * self.format.max_exact)
        if error and not rounded_back and error * side <= 0:
            return 0
        unit = Fraction(1, self.format.max_exact + 1)
        share = simple.numerator * grid * (abs(error) + (1 + abs(error)) * unit)
        return ceil(1 / share) - 1  # x * share is less than 1


def arithmetic(c: InferenceContext, dtype: str | None) -> FloatArithmetic | None:
    """The arithmetic of a float type; None for any other."""
    format_ = float_format(dtype)
    return None if format_ is None else FloatArithmetic(c, format_)


def float_operation(
    c: InferenceContext, dtype: str | None, concrete: Callable[..., object], symbolic: Callable[..., Element]
) -> Operation:
    """An operation on elements of a float type: `symbolic`, a method of FloatArithmetic.

    `concrete` is the operation on numbers of types without such an arithmetic, as complex ones.
    """
    floats = arithmetic(c, dtype)
    if floats is not None:
        return lambda *elements: symbolic(floats, *elements)

    def operation(*elements: Element) -> Element:
        if not all(isinstance(e, (int, float)) for e in elements):
            return None
        import numpy as np

        kind = numpy_dtype(dtype)
        with np.errstate(all="ignore"):
            result: Element = np.asarray(concrete(*(np.array(e, dtype=kind) for e in elements))).item()
        return result

    return operation


def fold_floats(
    c: InferenceContext,
    dtype: str | None,
    shape: Shape,
    concrete: Callable[..., object],
    symbolic: Callable[..., Element],
    *values: PartialTensor,
) -> PartialTensor:
    """A tensor of `shape`: an operation on tensors of a float type, whose contents are known in full or in part.

    `concrete` is the operation on arrays, which is right where runtimes round each result correctly to the type.
    """
    operation = float_operation(c, values[0].dtype, concrete, symbolic)
    floats = float_format(values[0].dtype)
    if floats is not None and len(floats.computed_in) > 1:
        return map_elements(dtype, shape, operation, *values)
    return fold_elements(dtype, shape, concrete, operation, *values)


def _exact_power(base: float, exponent: int) -> Fraction | float:
    return Fraction(base) ** exponent if isfinite(base) else base**exponent


def _is_interval(*elements: Element) -> bool:
    """Whether one of the elements is an interval."""
    return any([isinstance(e, FloatInterval) for e in elements])


def _exact_element(n: DimSize, d: DimSize) -> Element:
    if d != 1:
        return Quotient(n, d)
    return float(n) if isinstance(n, int) else n


def _reduce_fraction(n: DimSize, d: DimSize) -> tuple[DimSize, DimSize]:
    """A numerator and a denominator, divided by their greatest common factor."""
    common = gcd(content(n), content(d))
    return (n, d) if common <= 1 else (_divide_exactly(n, common), _divide_exactly(d, common))


def _divide_exactly(d: DimSize, factor: int) -> DimSize:
    return d // factor if factor > 1 else d


def _is_power_of_two(element: Element) -> bool:
    parts = to_fraction(element) if isinstance(element, (int, float)) else None
    return parts is not None and all(isinstance(p, int) and p > 0 and not p & (p - 1) for p in parts)


def _round_half_to_even(n: DimSize, d: DimSize) -> DimSize:
    """`n/d` rounded to the nearest integer. Ties are rounded up, then decremented if the result is odd."""
    up = (2 * n + d) // (2 * d)
    if isinstance(d, int) and d % 2:
        return up
    return up - ((2 * n - d) // (4 * d) - (2 * n - d - 1) // (4 * d))
