"""Changes of the resolution by whole factors (chapter 4.3): of the spatial axes of [N, C, spatial...]."""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import Listed, extended, ints_of, one_of
from opdefs.nnef.sliding import check_border
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

METHODS = ("symmetric", "asymmetric", "aligned")


def _factors(c: InferenceContext, x: Shape, factor: Listed) -> tuple[Shape, tuple[int, ...]]:
    factors = ints_of(c, factor, "factor", 1)
    x = extended(c, x, len(factors) + 2)
    if x.dims is not None and len(factors) != len(x) - 2:
        c.fail(f"factor must have {max(len(x) - 2, 0)} items, one for each spatial axis of the input", factors, x)
    return c.require_rank(x, len(factors) + 2), factors


@nnef("nearest_downsample", "area_downsample")
def downsample(c: InferenceContext, input: Shape, *, factor: Listed) -> Shape:
    """Spatial extents divided by their factors."""
    x, factors = _factors(c, input, factor)
    for size, by in zip(x[2:], factors, strict=True):
        c.divisible(size, by, "factor must divide the spatial extents of the input")
    return Shape((*x[:2], *(size // by for size, by in zip(x[2:], factors, strict=True))))


@nnef("nearest_upsample")
def nearest_upsample(c: InferenceContext, input: Shape, *, factor: Listed) -> Shape:
    """Spatial extents times their factors."""
    x, factors = _factors(c, input, factor)
    return Shape((*x[:2], *(size * by for size, by in zip(x[2:], factors, strict=True))))


@nnef("multilinear_upsample")
def multilinear_upsample(
    c: InferenceContext, input: Shape, *, factor: Listed, method: str = "symmetric", border: str = "replicate"
) -> Shape:
    """Spatial extents times their factors."""
    one_of(c, method, METHODS, "method")
    check_border(c, border)
    return nearest_upsample(c, input, factor=factor)
