"""Images: shuffles of channels, patches, sampling grids, regions of interest, local response normalization."""

from __future__ import annotations

from math import prod

import attrs

from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.promotion import promote
from opdefs.pnnx.spatial import requested_sizes, spatial_values, split_axes
from opdefs.rules.blocks import blocks_to_channels, channels_to_blocks
from opdefs.rules.numbers import read_dims
from opdefs.rules.operands import require_elements
from opdefs.rules.sampling import affine_grid, grid_sample
from opdefs.rules.window import Window, windows
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext


@pnnx("nn.PixelShuffle", "F.pixel_shuffle")
def pixel_shuffle(c: InferenceContext, input: Shape, *, upscale_factor: int) -> Shape:
    """[*N, C, H, W] -> [*N, C/f^2, H*f, W*f]."""
    _require_image(c, input)
    return channels_to_blocks(c, input, upscale_factor, "upscale_factor")


@pnnx("nn.PixelUnshuffle", "F.pixel_unshuffle")
def pixel_unshuffle(c: InferenceContext, input: Shape, *, downscale_factor: int) -> Shape:
    """[*N, C, H, W] -> [*N, C*f^2, H/f, W/f]; torch returns an empty image unchanged."""
    _require_image(c, input)
    result = blocks_to_channels(c, input, downscale_factor, "downscale_factor")
    if downscale_factor == 1 or all(c.prove_le(1, d) is True for d in input):
        return result
    if any(c.prove_le(d, 0) is True for d in input):
        return input
    return Shape((*input[:-3], *(c.fresh("unshuffle") for _ in range(3))))


@pnnx("nn.ChannelShuffle", "F.channel_shuffle")
def channel_shuffle(c: InferenceContext, input: Shape, *, groups: int) -> Shape:
    """[N, C, *S] -> [N, C, *S]."""
    _require_image(c, input)
    if groups < 1:
        c.fail("groups must be at least 1", groups)
    c.divisible(input[1], groups, "groups must divide the channels")
    return input


@own_types("nn.LocalResponseNorm", "F.local_response_norm")
def local_response_norm(c: InferenceContext, input: Shape, *, size: int) -> TensorType:
    """[N, C, *S] -> [N, C, *S], in float32 for integers."""
    _require_image(c, input)
    if size < 1:
        c.fail("size must be at least 1", size)
    return TensorType(promote(TensorType(c.dtype(0), input), 1.0), input)


def _require_image(c: InferenceContext, input: Shape) -> None:
    if len(input) < 3:
        c.fail("the input must have rank 3 or more", input)


@attrs.frozen
class Patches:
    """The attributes of patches, which are windows of an image."""

    kernel_size: object
    stride: object = 1
    padding: object = 0
    dilation: object = 1

    def window(self, c: InferenceContext) -> Window:
        """The window with a value for each of two axes."""
        kernel = spatial_values(c, self.kernel_size, "kernel_size", 2, 1)
        strides = spatial_values(c, self.stride, "stride", 2, 1)
        pads = spatial_values(c, self.padding, "padding", 2)
        return Window(kernel, strides, pads * 2, spatial_values(c, self.dilation, "dilation", 2, 1))


@pnnx("nn.Unfold", "F.unfold")
def unfold(c: InferenceContext, input: Shape, *, patches: Patches) -> Shape:
    """[N, C, H, W] or [C, H, W] -> [N, C*K, L] or [C*K, L]: L windows of K elements."""
    lead, channels, sizes = split_axes(c, input, 2)
    require_elements(c, (channels, *sizes))
    window = patches.window(c)
    counts = windows(c, sizes, window.kernel_shape, window)
    return Shape((*lead, channels * prod(window.kernel_shape), counts[0] * counts[1]))


@pnnx("nn.Fold", "F.fold")
def fold(c: InferenceContext, input: Shape, *, output_size: object, patches: Patches) -> Shape:
    """[N, C*K, L] or [C*K, L] -> [N, C, *output_size] or [C, *output_size]: the inverse of `unfold`."""
    lead, rows, columns = split_axes(c, input, 1)
    require_elements(c, (rows, *columns))
    window = patches.window(c)
    points = prod(window.kernel_shape)
    c.divisible(rows, points, "the product of kernel_size must divide the channels of the input")
    requested = requested_sizes(c, output_size, "output_size", 2)
    sizes: list[DimSize] = [c.fresh("fold") if d is None else d for d in requested]
    require_elements(c, sizes)
    if None not in requested:
        counts = windows(c, sizes, window.kernel_shape, window)
        c.merge(
            columns[0],
            counts[0] * counts[1],
            "the last axis of the input must have one element for each window of the output",
        )
    return Shape((*lead, rows // points, *sizes))


@pnnx("F.grid_sample")
def sample_at_grid(c: InferenceContext, input: Shape, grid: Shape, *, mode: str = "bilinear") -> Shape:
    """[N, C, H, W] and [N, *T, 2] -> [N, C, *T]; [N, C, D, H, W] and [N, *T, 3] -> [N, C, *T]."""
    rank = len(input)
    if rank not in (4, 5) or (mode == "bicubic" and rank == 5):
        c.fail("the input must have rank 4, or 5 except with mode=bicubic", input)
    for size in input[2:]:
        c.at_least(size, 1, "the spatial axes of the input must not be empty")
    return grid_sample(c, input, c.require_rank(grid, rank, "grid"))


@pnnx("F.affine_grid")
def grid_of_size(c: InferenceContext, theta: Shape, *, size: object) -> Shape:
    """[N, 2, 3] and a size [N, C, H, W] -> [N, H, W, 2]; [N, 3, 4] and [N, C, D, H, W] -> [N, D, H, W, 3]."""
    axes = c.concrete(c.require_rank(theta, 3, "theta")[1])
    if size is None and axes is None:
        raise c.unknowable("the size is not known")
    sizes = (None,) * (2 + (axes or 0)) if size is None else read_dims(c, size, "size")
    if len(sizes) not in (4, 5):
        c.fail("size must have 4 or 5 items", sizes)
    for d in sizes:
        if d is not None:
            c.at_least(d, 1, "the items of size must be at least 1")
    c.merge(c.require_rank(theta, 3, "theta")[1], len(sizes) - 2, "theta must have one row for each spatial axis")
    return affine_grid(c, theta, PartialTensor("int64", Shape((len(sizes),)), sizes))


@pnnx("torchvision.ops.RoIAlign")
def roi_align(c: InferenceContext, input: Shape, rois: Shape, *, output_size: object) -> Shape:
    """[N, C, H, W], regions [R, 5] -> [R, C, *output_size]; a region is a batch index and two corners."""
    x, regions = c.require_rank(input, 4), c.require_rank(rois, 2, "rois")
    c.merge(regions[1], 5, "rois must have a batch index and 4 coordinates per region")
    return Shape((regions[0], x[1], *spatial_values(c, output_size, "output_size", 2)))
