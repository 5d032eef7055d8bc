"""Sampling from images: grids, regions of interest, decoding."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import known_dims
from opdefs.rules.window import pad_pairs, spatial
from shapeinf.expr import Dim
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Ints, Value


@onnx("GridSample")
def grid_sample(c: InferenceContext, x: Shape, grid: Shape) -> Shape:
    """[N, C, *S] sampled at [N, *T, len(S)] positions -> [N, C, *T]."""
    rank = c.same_rank(x, grid)
    if rank < 3:
        c.fail("the input must be of shape [N, C, spatial...]", x)
    n = c.merge(x[0], grid[0], "input and grid must be of one batch size")
    c.merge(grid[rank - 1], rank - 2, "a position must have one coordinate a spatial axis")
    return Shape((n, x[1], *grid[1 : rank - 1]))


@onnx("AffineGrid")
def affine_grid(c: InferenceContext, theta: Shape, size: Value) -> Shape:
    """[N, 2, 3] and a size [N, C, H, W] -> [N, H, W, 2]; [N, 3, 4] and [N, C, D, H, W] -> [N, D, H, W, 3]."""
    theta = c.require_rank(theta, 3, "theta")
    axes = c.concrete(theta[1])
    length = c.concrete(c.require_rank(size.shape, 1, "size")[0])
    if axes is None:
        axes = None if length is None else length - 2
    if axes is None:
        raise c.unknowable("neither the length of `size` nor the rows of `theta` are known")
    c.merge(theta[2], axes + 1, "theta must have one column more than rows")
    c.merge(size.shape[0], axes + 2, "the size must be [N, C, spatial...]")
    wanted = known_dims(size) or (None,) * (axes + 2)
    dims = [c.fresh(f"size.{i}") if d is None or c.prove_le(0, d) is not True else d for i, d in enumerate(wanted)]
    return Shape((c.merge(theta[0], dims[0], "theta and size must be of one batch size"), *dims[2:], axes))


@onnx("RoiAlign")
def roi_align(
    c: InferenceContext, x: Shape, rois: Shape, batches: Shape, *, output_height: int = 1, output_width: int = 1
) -> Shape:
    """[N, C, H, W], [R, 4] and [R] -> [R, C, output_height, output_width]."""
    x, rois = c.require_rank(x, 4, "X"), c.require_rank(rois, 2, "rois")
    c.merge(rois[1], 4, "a region must have four corners")
    count = c.merge(rois[0], c.require_rank(batches, 1, "batch_indices")[0], "each region needs a batch index")
    return Shape((count, x[1], output_height, output_width))


@onnx("MaxRoiPool")
def max_roi_pool(c: InferenceContext, x: Shape, rois: Shape, *, pooled_shape: Ints) -> Shape:
    """[N, C, H, W] and [R, 5] -> [R, C, *pooled_shape]."""
    x, rois = c.require_rank(x, 4, "X"), c.require_rank(rois, 2, "rois")
    c.merge(rois[1], 5, "a region must be a batch index and four corners")
    if len(pooled_shape) != 2 or min(pooled_shape) < 1:
        c.fail("pooled_shape must be a height and a width", pooled_shape)
    return Shape((rois[0], x[1], *pooled_shape))


@onnx("MaxUnpool")
def max_unpool(
    c: InferenceContext,
    x: Shape,
    places: Shape,
    output_shape: Value | None = None,
    *,
    kernel_shape: Ints,
    pads: Ints = (),
    strides: Ints = (),
) -> Shape:
    """[N, C, *S] -> the sizes that a pooling made S of, or those that `output_shape` holds."""
    x = c.merge(c.require_rank(x, len(kernel_shape) + 2, "X"), places, "values and their places must be of one shape")
    rank = len(kernel_shape)
    if output_shape is not None:
        c.merge(c.require_rank(output_shape.shape, 1, "output_shape")[0], rank + 2, "output_shape must give every axis")
        wanted = known_dims(output_shape) or (None,) * (rank + 2)
        return Shape(
            c.fresh(f"unpool.{i}") if d is None or c.prove_le(0, d) is not True else d for i, d in enumerate(wanted)
        )
    steps = spatial(strides, rank, 1, c, "strides")
    sizes: list[Dim] = [
        (size - 1) * step + kernel - pair[0] - pair[1]
        for size, step, kernel, pair in zip(x[2:], steps, kernel_shape, pad_pairs(pads, rank, c), strict=True)
    ]
    for size in sizes:
        c.at_least(size, 0, "the size of an output must not be negative")
        c.advise_at_most(1, size, "some runtimes make no outputs without elements")
    return Shape((*x[:2], *sizes))


@onnx("ImageDecoder")
def image_decoder(c: InferenceContext, stream: Shape, *, pixel_format: str = "RGB") -> TensorType:
    """[height, width, channels]: 1 channel for Grayscale, else 3; nothing ([0, 0, channels]) for a broken image."""
    c.require_rank(stream, 1, "encoded_stream")
    if pixel_format not in ("RGB", "BGR", "Grayscale"):
        c.fail("the pixel format must be RGB, BGR or Grayscale", pixel_format)
    channels = 1 if pixel_format == "Grayscale" else 3
    return TensorType("uint8", Shape((c.fresh("height"), c.fresh("width"), channels)))
