"""Sizes of resampled axes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, inf

import numpy as np

from shapeinf.algebra import Dim
from shapeinf.ops import InferenceContext

MAX_SIZE = 2**20
"""Axes without an upper bound are taken to be at most this long when a scale is no fraction of a power of two."""

_FLOAT32_EXACT = 2**23


def scaled(c: InferenceContext, size: Dim, scale: float) -> Dim:
    """`floor(size * scale)`.

    Runtimes multiply in float32 or float64. Where that may round to another integer than the exact product (a scale
    of 0.7 is a little less than 7/10, and 10 * 0.7 is 7 in float32 only), the result is an unknown with bounds.
    """
    if not 0 < scale < inf:
        c.fail("a scale must be greater than 0, and finite", scale)
    exact = Fraction(scale)
    if exact.denominator <= 1024 and exact.numerator <= 1 << 20:
        return (size * exact.numerator) // exact.denominator
    if isinstance(size, int):
        choices = floor(size * exact), floor(float(np.float32(size) * np.float32(scale)))
        return choices[0] if choices[0] == choices[1] else c.fresh("resize", min(choices), max(choices))
    bounds = c.interval(size)
    meant = _meant(exact, MAX_SIZE if bounds.hi is None else bounds.hi)
    if meant is not None:
        return (size * meant.numerator) // meant.denominator
    low = max(0, floor((bounds.lo or 0) * exact) - 1)
    return c.fresh("resize", low, None if bounds.hi is None else floor(bounds.hi * exact) + 1)


def _meant(scale: Fraction, longest: int) -> Fraction | None:
    """The simple fraction that a float32 scale stands for, if its product with every size has the same floor.

    It must be rounded up (then whole products stay whole), and other products must stay below the next integer.
    """
    found = scale.limit_denominator(1024)
    rounded = Fraction(float(np.float32(float(found))))
    if rounded != scale or scale < found or found.numerator * longest > _FLOAT32_EXACT:
        return None
    return found


def kept_ratio(
    c: InferenceContext, sizes: Sequence[Dim], wanted: Sequence[Dim | None], policy: str
) -> list[Dim | None]:
    """All axes by one scale: the smallest (`not_larger`) or largest (`not_smaller`) that is wanted."""
    pairs = list(zip(wanted, sizes, strict=True))
    if len(set(pairs)) == 1:
        return list(wanted)
    ratios = [Fraction(w, d) for w, d in pairs if isinstance(w, int) and isinstance(d, int) and d]
    larger = policy == "not_smaller"
    if len(ratios) < len(pairs):
        return [_bounded(c, w, larger) for w in wanted]
    scale = max(ratios) if larger else min(ratios)
    return [_rounded(c, scale, d) for d in sizes if isinstance(d, int)]


def _bounded(c: InferenceContext, wanted: Dim | None, larger: bool) -> Dim | None:
    if wanted is None:
        return None
    bounds = c.interval(wanted)
    return c.fresh("resize", bounds.lo or 0, None) if larger else c.fresh("resize", 0, bounds.hi)


def _rounded(c: InferenceContext, scale: Fraction, size: int) -> Dim:
    """Half rounds up; unknown where float32 rounds to another integer."""
    single = np.float32(float(scale)) * np.float32(size)
    choices = floor(scale * size + Fraction(1, 2)), floor(Fraction(float(single)) + Fraction(1, 2))
    return choices[0] if choices[0] == choices[1] else c.fresh("resize", min(choices), max(choices))
