"""Integers of a type: a number that the type cannot represent wraps around.

A symbolic number stays known where its bounds prove that it fits the type, and where they prove that it wraps around by
the same multiple of `2**bits` at every size. Sizes have no upper bound, so most proofs need an assumption:

- Sizes are usual: `USUAL_SIZES` has an absolute value by type that no size, and no product of different sizes, reaches
  in practice. `n + 1` and `n * 150528` in int64, and `n` and `2*n` in int32, need no more.
- Where a number fits at sizes up to MIN_LIMIT only, that it fits is an assumption of the contract, as for floats.
- Any other result is an unknown with the bounds of its type: `n + (2**63 - 1)` where `n` may be 0, `n * 2**50`, and
  numbers in types of 16 bits or less that are not proven to fit.
"""

from __future__ import annotations

from opdefs.rules.contents.float_formats import FLOAT64
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.interval import Bounds
from shapeinf.lattice import Element
from shapeinf.lattice.dtypes import INTEGER_RANGES
from shapeinf.ops import InferenceContext

MIN_LIMIT = 2**16
"""Sizes are not assumed to be less than this; the result is unknown instead."""

USUAL_SIZES = {"int64": 2**40, "uint64": 2**40, "int32": 2**28, "uint32": 2**28}
"""By type, an absolute value that sizes, and products of different sizes, are less than. Other types have none."""

MAX_ASSUMED_SYMBOLS = 4
"""Nothing is assumed of numbers of more sizes: the assumption would be hard to check, and proofs take long."""


def wrap(dtype: str | None, number: int) -> int:
    """The number of an integer type that is equal to a number modulo `2**bits`.

    >>> wrap("int8", 128), wrap("uint8", -1), wrap("int64", 5)
    (-128, 255, 5)
    """
    limits = INTEGER_RANGES.get(dtype or "")
    if limits is None:
        return number
    least, most = limits
    return number if least <= number <= most else (number - least) % (most - least + 1) + least


def wrap_element(c: InferenceContext, dtype: str | None, element: Element) -> Element:
    """The result of an operation on integers as their type represents it; an unknown where that is undecided.

    Anything but integers stays as it is.
    """
    if isinstance(element, Dimension):
        return wrap_dim(c, dtype, element)
    return wrap(dtype, element) if type(element) is int else element


def wrap_dim(c: InferenceContext, dtype: str | None, d: Dimension) -> DimSize:
    """A symbolic number as an integer type represents it; an unknown with the bounds of the type where it may wrap."""
    limits = INTEGER_RANGES.get(dtype or "")
    if limits is None or _is_within(c.store.bounds(d), limits):
        return d
    wrapped = _wrap_known(c, str(dtype), d, limits)
    return c.fresh("wrapped", *limits) if wrapped is None else wrapped


def fit_element(c: InferenceContext, dtype: str | None, element: Element) -> Element:
    """An element that its integer type represents; None where it may not: runtimes differ in casts of such floats."""
    limits = INTEGER_RANGES.get(dtype or "")
    if limits is None or not isinstance(element, (int, Dimension)):
        return element
    return element if _fits(c, str(dtype), element, limits) else None


def is_exact_in_float64(c: InferenceContext, dtype: str | None, element: Element, terms: int = 1) -> bool:
    """Whether an integer, and a sum of so many integers of its size, fits its type and is exact in float64."""
    least, most = INTEGER_RANGES.get(dtype or "", (-FLOAT64.max_exact, FLOAT64.max_exact))
    limit = FLOAT64.max_exact // max(terms, 1)
    limits = max(least, -limit), min(most, limit)
    return isinstance(element, (int, Dimension)) and _fits(c, str(dtype), element, limits)


def _fits(c: InferenceContext, dtype: str, element: DimSize, limits: tuple[int, int]) -> bool:
    """Whether a number is within limits: known, at usual sizes, or assumed."""
    if isinstance(element, int):
        return limits[0] <= element <= limits[1]
    return _is_within(c.store.bounds(element), limits) or _wrap_known(c, dtype, element, limits) is element


def _wrap_known(c: InferenceContext, dtype: str, d: Dimension, limits: tuple[int, int]) -> DimSize | None:
    """A symbolic number, minus the multiple of `2**bits` by which it wraps around at every usual size; else None."""
    if dtype in USUAL_SIZES:
        turns = _turns(c.store.usual_bounds(d, USUAL_SIZES[dtype]), limits)
        if turns is not None:
            return d - turns if turns else d
    if len(d.symbols()) > MAX_ASSUMED_SYMBOLS:
        return None
    turns = _turns(c.store.usual_bounds(d, MIN_LIMIT, cap_powers=True), limits)
    if turns is None:
        return None
    shifted = d - turns if turns else d
    message = f"sizes are assumed to be small enough for {dtype}"
    above = c.assume_small(shifted, limits[1], message)
    below = c.assume_small(-shifted, -limits[0], message)
    return shifted if above and below else None


def _is_within(bounds: Bounds, limits: tuple[int, int]) -> bool:
    return limits[0] <= bounds[0] and bounds[1] <= limits[1]


def _turns(bounds: Bounds, limits: tuple[int, int]) -> int | None:
    """The multiple of `2**bits` that brings all numbers in these bounds into the limits of a type; None without one."""
    count = limits[1] - limits[0] + 1
    first, last = ((int(end) - limits[0]) // count for end in bounds)
    return first * count if first == last else None
