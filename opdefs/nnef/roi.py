"""Pooling of regions of interest (chapter 4.10): of the spatial axes of [N, C, spatial...]."""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import Listed, ints_of, one_of
from opdefs.nnef.resampling import METHODS
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@nnef("avg_roi_pool", "max_roi_pool")
def roi_pool(c: InferenceContext, input: Shape, rois: Shape, batch_index: Shape, *, output_size: Listed) -> Shape:
    """[R, C, *output_size] for R regions: `rois` has both corners of each, `batch_index` a number for each."""
    sizes = ints_of(c, output_size, "output_size", 1)
    if input.dims is not None and len(sizes) != len(input) - 2:
        message = f"output_size must have {max(len(input) - 2, 0)} items, one for each spatial axis of the input"
        c.fail(message, sizes, input)
    x = c.require_rank(input, len(sizes) + 2, "input")
    regions = c.require_rank(rois, 2, "rois")
    c.merge(regions[1], 2 * len(sizes), "rois must have two coordinates for each spatial axis of the input")
    if batch_index.dims is not None:  # (R, 1) in the text, (R) in its authors' own code
        if len(batch_index) not in (1, 2):
            c.fail("batch_index must be of rank 2", batch_index)
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
    """Each region in a new resolution."""
    one_of(c, method, METHODS, "method")
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
    """Each region resampled to `sampling_rate` times the resolution, then pooled."""
    one_of(c, resize_method, METHODS, "resize_method")
    ints_of(c, sampling_rate, "sampling_rate", 1, len(output_size), "spatial axis of the input")
    return roi_pool(c, input, rois, batch_index, output_size=output_size)
