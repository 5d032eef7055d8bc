"""Floats as intervals: everything that runtimes may compute, by operators and functions on known numbers.

A runtime rounds `+`, `-`, `*`, `/` and square roots correctly, so their results are one number in float32 and float64.
Three kinds of results differ between runtimes and give a `FloatInterval`, an interval that contains all of them:

- Narrow types (float16, bfloat16): a runtime rounds the result of each operator, or computes a chain of operators in
  float32 and rounds only the last result.
- Subnormal numbers: some runtimes replace them by 0.
- Functions such as `exp`: no runtime rounds them correctly, and results depend on the instructions of the processor.
  `APPROXIMATIONS` has a bound of the error of each function.

A result that all runtimes have, such as `exp(0)`, is a number. `floor`, `ceil` and casts of an interval are known where
both ends have the same result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import NamedTuple

from opdefs.rules.contents.float_formats import FloatFormat
from shapeinf.lattice import Element, FloatInterval

Ends = tuple[float, float]
"""The least and the greatest number that an element may be."""


def float_ends(element: Element) -> Ends | None:
    """The ends of a known number or an interval; None for any other element."""
    if isinstance(element, FloatInterval):
        return element.low, element.high
    if isinstance(element, (int, float)):
        number = math.inf if isinstance(element, int) and abs(element) >> 1023 else float(element)
        return number, number
    return None


def are_numbers(*elements: Element) -> bool:
    """Whether each element is a number or an interval."""
    return all([isinstance(e, (float, int, FloatInterval)) for e in elements])


def hull(numbers: Iterable[float]) -> float | FloatInterval | None:
    """The smallest interval with these numbers, or their single number; None if several are not all finite."""
    distinct = set(numbers)
    if len(distinct) == 1 or all(map(math.isnan, distinct)):
        return distinct.pop()
    if not all(map(math.isfinite, distinct)):
        return None
    low, high = min(distinct), max(distinct)
    return low if low == high else FloatInterval(low, high)


def combine(format_: FloatFormat, operation: Callable[..., float], *operands: Ends) -> Element:
    """The results of an operation that is monotone in each operand and that runtimes round correctly."""
    corners = product(*(set(ends) for ends in operands))
    results = [operation(*corner) for corner in corners]
    return hull(_rounded(format_, results))


def integral(operation: Callable[[float], int]) -> Callable[[float], float]:
    """An operation such as `math.floor`, with a float as its result; infinities and NaN stay as they are."""
    return lambda x: float(operation(x)) if math.isfinite(x) else x


def square_root(x: float) -> float:
    """The square root; NaN of a negative number."""
    return math.sqrt(x) if x >= 0 else math.nan


# -- functions that runtimes approximate -------------------------------------------------------------------------------


class Approximation(NamedTuple):
    """A function that runtimes approximate.

    Args:
        function: the function on float64, with an error of at most one unit in the last place.
        ulps: the largest error, in units in the last place of the result.
        units: a further error, in units in the last place of numbers near 1.
        slope: the largest slope of a function that is not monotone; None for one that is.
        exact: arguments whose results are exact in every runtime.
    """

    function: Callable[[float], float]
    ulps: int
    units: int = 0
    slope: float | None = None
    exact: tuple[float, ...] = (0.0,)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


APPROXIMATIONS: Mapping[str, Approximation] = {
    "exp": Approximation(math.exp, 3),
    "expm1": Approximation(math.expm1, 6),
    "log": Approximation(math.log, 3, exact=(1.0,)),
    "log1p": Approximation(math.log1p, 5),
    "rsqrt": Approximation(lambda x: 1 / math.sqrt(x), 4, exact=()),
    "reciprocal": Approximation(lambda x: 1 / x, 5, exact=()),
    "sin": Approximation(math.sin, 3, 12, slope=1.0),
    "cos": Approximation(math.cos, 4, 12, slope=1.0),
    "atan": Approximation(math.atan, 6),
    "asin": Approximation(math.asin, 9),
    "acos": Approximation(math.acos, 8, 1, exact=()),
    "sinh": Approximation(math.sinh, 4, 1),
    "asinh": Approximation(math.asinh, 4, 2),
    "acosh": Approximation(math.acosh, 4, 2, exact=()),
    "atanh": Approximation(math.atanh, 5, 1),
    "tanh": Approximation(math.tanh, 13),
    "sigmoid": Approximation(_sigmoid, 12, 4, exact=()),
    "erf": Approximation(math.erf, 10, 2),
    "softplus": Approximation(_softplus, 14, 8, exact=()),
}
"""The functions by name. Errors are at least twice those measured in onnxruntime 1.32 and TensorFlow 2.21."""


def approximate(format_: FloatFormat, name: str, operand: Ends) -> Element:
    """The results of a function of APPROXIMATIONS; None where it is undefined or not finite."""
    kind = APPROXIMATIONS[name]
    if name == "reciprocal" and operand[0] <= 0 <= operand[1]:
        return None
    spread = 0.0 if kind.slope is None else (operand[1] - operand[0]) * kind.slope
    results: list[float] = []
    try:
        for x in set(operand):
            exact = x in kind.exact and not spread
            results += _near(format_, kind.function(x), 0 if exact else kind.ulps, 0 if exact else kind.units)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    return _hull_of_rounded(format_, [r + s for r in results for s in {-spread, spread}])


def approximate_power(format_: FloatFormat, base: Ends, exponent: Ends) -> Element:
    """`base ** exponent` of a base above 0. A power of two to an integer is exact, and so are `x ** 0` and `x ** 1`."""
    if base[0] <= 0:
        return None
    results: list[float] = []
    try:
        for x, y in product(set(base), set(exponent)):
            results += _near(format_, math.pow(x, y), 0 if _is_exact_power(x, y) else 6, 0)
    except (ValueError, OverflowError):
        return None
    return _hull_of_rounded(format_, results)


def _is_exact_power(base: float, exponent: float) -> bool:
    """Whether every runtime computes a power exactly."""
    if exponent in (0.0, 1.0) or base == 1.0:
        return True
    return math.frexp(base)[0] == 0.5 and exponent.is_integer()


def _near(format_: FloatFormat, result: float, ulps: int, units: int) -> Ends:
    """The numbers that are at most some units in the last place away from a result."""
    if not ulps:
        return result, result
    wide = format_.computed_in[-1]  # a narrow type is rounded after a function in float32
    least = math.frexp(wide.least_normal)[1]
    exponent = max(math.frexp(result)[1], least) if result else least
    error = math.ldexp(ulps, exponent - wide.precision) + math.ldexp(units, -wide.precision)
    return result - error, result + error


def _rounded(format_: FloatFormat, results: Iterable[float]) -> list[float]:
    """Numbers rounded to each type in which runtimes compute; also 0 for those that a runtime may replace by it."""
    rounded = [kind.round(result) for result in results for kind in format_.computed_in]
    return [*rounded, *(0.0 for number in rounded if format_.may_be_zero(number))]


def _hull_of_rounded(format_: FloatFormat, results: Iterable[float]) -> Element:
    """The hull of numbers that are rounded to each type in which runtimes compute; None if one is not finite."""
    rounded = _rounded(format_, results)
    return hull(rounded) if all(map(math.isfinite, rounded)) else None
