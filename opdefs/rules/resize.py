"""Sizes of resampled axes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, inf

from opdefs.rules.contents.elements import to_dim
from opdefs.rules.contents.float_formats import FLOAT32, FLOAT64
from opdefs.rules.contents.floats import MAX_DENOMINATOR, FloatArithmetic, to_fraction
from shapeinf.expr import Dimension, DimSize, maximum
from shapeinf.lattice import Element
from shapeinf.ops import InferenceContext

_SLACK = 22
"""The relative error of a float32 scale and a float32 product is less than 2**-22."""

_TEXT_ERROR = Fraction(1, 2_000_000)
"""The largest relative error of a number that is written with 7 digits."""


def scale_size(c: InferenceContext, size: DimSize, scale: Element) -> DimSize | None:
    """`floor(size * scale)` for a float32 scale; None for an unknown scale.

    The specification uses the exact product, onnxruntime the float32 product. Where these may have different floors
    (0.7 is a little less than 7/10, and 10 * 0.7 is 7 only in float32), the result is an unknown with bounds.
    """
    if isinstance(scale, (int, float)):
        if not 0 < scale < inf:
            c.fail("a scale must be finite and greater than 0", scale)
        return _scale_by_number(c, size, Fraction(scale))
    parts = to_fraction(scale)
    if parts is None or c.prove_le(1, parts[0]) is not True:
        return None
    times, by = parts
    product = (size * times) // by
    if FloatArithmetic(c, FLOAT32).exact(scale) is not None:
        return product
    bounds = c.interval(product)
    return _fresh_near(c, bounds.lo, bounds.hi)


def _scale_by_number(c: InferenceContext, size: DimSize, scale: Fraction) -> DimSize:
    if scale.denominator <= MAX_DENOMINATOR and scale.numerator <= 1 << 20:
        return (size * scale.numerator) // scale.denominator
    if isinstance(size, int):
        import numpy as np

        choices = floor(size * scale), floor(float(np.float32(size) * np.float32(float(scale))))
        return choices[0] if choices[0] == choices[1] else c.fresh("resize", min(choices), max(choices))
    product = FloatArithmetic(c, FLOAT32).floor_of_product(size, scale)
    if product is not None:
        return product
    bounds = c.interval(size)
    return _fresh_near(c, floor((bounds.lo or 0) * scale), None if bounds.hi is None else floor(bounds.hi * scale))


def _fresh_near(c: InferenceContext, low: int | None, high: int | None) -> Dimension:
    """An unknown size from `low` to `high` (None: no limit), with slack for rounding."""
    least = max(0, (low or 0) - 1 - ((low or 0) >> _SLACK))
    return c.fresh("resize", least, None if high is None else high + 1 + (high >> _SLACK))


def scale_by_text(c: InferenceContext, size: DimSize, scale: float) -> DimSize | None:
    """`floor(size * scale)` in float64, for a scale that was written with 7 digits or as a float32; None if unknown.

    A scale of few digits is exact. A longer one may stand for a simple fraction next to it: 0.3333333 for 1/3, which
    the exporter had in float64. Where the two give different sizes, the result is an unknown of at most the larger one.
    """
    if not 0 <= scale < inf:
        c.fail("a scale must be finite and at least 0", scale)
    readings = [scale]
    if float(f"{scale:.6g}") != scale:
        exact = Fraction(scale)
        simple = exact.limit_denominator(MAX_DENOMINATOR)
        if abs(simple - exact) <= exact * _TEXT_ERROR:
            readings.append(float(simple))
        else:
            readings += [scale * (1 - float(_TEXT_ERROR)), scale * (1 + float(_TEXT_ERROR))]
    products = [_floor_of_float64_product(c, size, reading) for reading in readings]
    known = [product for product in products if product is not None]
    if len(known) < len(products) or all(product == known[0] for product in known):
        return known[0] if len(known) == len(products) else None
    least = min(c.interval(product).lo or 0 for product in known)
    return c.fresh_at_most(maximum(*known), "resize", least)


def _floor_of_float64_product(c: InferenceContext, size: DimSize, scale: float) -> DimSize | None:
    if isinstance(size, int):
        return floor(size * scale)
    arithmetic = FloatArithmetic(c, FLOAT64)
    product = to_dim(arithmetic.floor(arithmetic.multiply(size, scale)))
    simple = Fraction(scale).limit_denominator(MAX_DENOMINATOR)
    if not isinstance(product, Dimension) or set(product.symbols()) <= set(size.symbols()) or simple < scale:
        return product
    # rounding may lose 1, as in 0.7 * 90, but the result never exceeds the product with the larger fraction
    return c.fresh_at_most((size * simple.numerator) // simple.denominator, "resize")


def keep_aspect_ratio(
    c: InferenceContext, sizes: Sequence[DimSize], wanted: Sequence[DimSize | None], policy: str
) -> list[DimSize | None]:
    """The sizes of all axes, resized by one scale: the smallest (`not_larger`) or largest (`not_smaller`) requested."""
    pairs = list(zip(wanted, sizes, strict=True))
    if len(set(pairs)) == 1:
        return list(wanted)
    ratios = [Fraction(w, d) for w, d in pairs if isinstance(w, int) and isinstance(d, int) and d]
    larger = policy == "not_smaller"
    if len(ratios) < len(pairs):
        return [_bound_by_request(c, w, larger) for w in wanted]
    scale = max(ratios) if larger else min(ratios)
    return [_round_size(c, scale, d) for d in sizes if isinstance(d, int)]


def _bound_by_request(c: InferenceContext, wanted: DimSize | None, larger: bool) -> DimSize | None:
    """An unknown size of at most the requested one, or at least it if `larger`; None without a request."""
    if wanted is None:
        return None
    bounds = c.interval(wanted)
    return c.fresh("resize", bounds.lo or 0, None) if larger else c.fresh("resize", 0, bounds.hi)


def _round_size(c: InferenceContext, scale: Fraction, size: int) -> DimSize:
    """`scale * size` rounded, halves up; an unknown of two values where float32 rounds to another integer."""
    import numpy as np

    single = np.float32(float(scale)) * np.float32(size)
    choices = floor(scale * size + Fraction(1, 2)), floor(Fraction(float(single)) + Fraction(1, 2))
    return choices[0] if choices[0] == choices[1] else c.fresh("resize", min(choices), max(choices))
