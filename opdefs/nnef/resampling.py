"""Changes of resolution of [N, C, spatial...]: by factors (chapter 4.3), and of regions of interest (4.10)."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, check_choice
from opdefs.nnef.broadcasting import extend_rank
from opdefs.nnef.dialect import nnef
from opdefs.nnef.sliding import check_border
from opdefs.rules.numbers import read_ints
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

METHODS = ("symmetric", "asymmetric", "aligned")


def _factors(c: InferenceContext, x: Shape, factor: Listed) -> tuple[Shape, tuple[int, ...]]:
    """The input and a factor for each of its spatial axes."""
    factors = read_ints(c, factor, "factor", 1)
    x = extend_rank(c, x, len(factors) + 2)
    if x.dims is not None and len(factors) != len(x) - 2:
        c.fail(f"factor must have {max(len(x) - 2, 0)} items, one for each spatial axis of the input", factors, x)
    return c.require_rank(x, len(factors) + 2), factors


@nnef("nearest_downsample", "area_downsample")
def downsample(c: InferenceContext, input: Shape, *, factor: Listed) -> Shape:
    """[N, C, s, ...] -> [N, C, s/factor, ...]."""
    x, factors = _factors(c, input, factor)
    for size, by in zip(x[2:], factors, strict=True):
        c.divisible(size, by, "each item of factor must divide the extent of its spatial axis")
    return Shape((*x[:2], *(size // by for size, by in zip(x[2:], factors, strict=True))))


@nnef("nearest_upsample")
def nearest_upsample(c: InferenceContext, input: Shape, *, factor: Listed) -> Shape:
    """[N, C, s, ...] -> [N, C, s*factor, ...]."""
    x, factors = _factors(c, input, factor)
    return Shape((*x[:2], *(size * by for size, by in zip(x[2:], factors, strict=True))))


@nnef("multilinear_upsample")
def multilinear_upsample(
    c: InferenceContext, input: Shape, *, factor: Listed, method: str = "symmetric", border: str = "replicate"
) -> Shape:
    """[N, C, s, ...] -> [N, C, s*factor, ...]."""
    check_choice(c, method, METHODS, "method")
    check_border(c, border)
    return nearest_upsample(c, input, factor=factor)


@nnef("avg_roi_pool", "max_roi_pool")
def roi_pool(c: InferenceContext, input: Shape, rois: Shape, batch_index: Shape, *, output_size: Listed) -> Shape:
    """[N, C, *S], rois [R, 2*len(S)], batch_index [R] or [R, 1] -> [R, C, *output_size]; a region is two corners."""
    sizes = read_ints(c, output_size, "output_size", 1)
    if input.dims is not None and len(sizes) != len(input) - 2:
        message = f"output_size must have {max(len(input) - 2, 0)} items, one for each spatial axis of the input"
        c.fail(message, sizes, input)
    x = c.require_rank(input, len(sizes) + 2, "input")
    regions = c.require_rank(rois, 2, "rois")
    c.merge(regions[1], 2 * len(sizes), "rois must have two coordinates for each spatial axis of the input")
    if batch_index.dims is not None:  # (R, 1) in the specification, (R) in the code of its authors
        if len(batch_index) not in (1, 2):
            c.fail("batch_index must have rank 1 or 2", batch_index)
        c.merge(batch_index[0], regions[0], "batch_index must have one item for each region")
        if len(batch_index) == 2:
            c.merge(batch_index[1], 1, "batch_index must have one item for each region")
    return Shape((regions[0], x[1], *sizes))


@nnef("roi_resample")
def roi_resample(
    c: InferenceContext,
    input: Shape,
    rois: Shape,
    batch_index: Shape,
    *,
    output_size: Listed,
    method: str = "symmetric",
) -> Shape:
    """[N, C, *S], rois [R, 2*len(S)], batch_index [R] or [R, 1] -> [R, C, *output_size]."""
    check_choice(c, method, METHODS, "method")
    return roi_pool(c, input, rois, batch_index, output_size=output_size)


@nnef("avg_roi_align", "max_roi_align")
def roi_align(
    c: InferenceContext,
    input: Shape,
    rois: Shape,
    batch_index: Shape,
    *,
    output_size: Listed,
    sampling_rate: Listed,
    resize_method: str = "symmetric",
) -> Shape:
    """As `roi_pool`, of regions that are first resampled to `sampling_rate` times the resolution of the output."""
    check_choice(c, resize_method, METHODS, "resize_method")
    read_ints(c, sampling_rate, "sampling_rate", 1, len(output_size), "spatial axis of the input")
    return roi_pool(c, input, rois, batch_index, output_size=output_size)
