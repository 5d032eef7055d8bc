"""Images: sampling, regions of interest, decoding, cropping."""

from __future__ import annotations

from math import prod

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import MAX_RANK, known_dims, known_ints
from opdefs.rules.requested import size_or_fresh
from opdefs.rules.sampling import affine_grid, grid_sample
from opdefs.rules.window import pad_pairs, spatial_attribute, transposed_window_size, window_size
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Ints, Value

onnx("GridSample")(grid_sample)
onnx("AffineGrid")(affine_grid)


@onnx("RoiAlign")
def roi_align(
    c: InferenceContext, x: Shape, rois: Shape, batches: Shape, *, output_height: int = 1, output_width: int = 1
) -> Shape:
    """[N, C, H, W], [R, 4] and [R] -> [R, C, output_height, output_width]."""
    x, rois = c.require_rank(x, 4, "X"), c.require_rank(rois, 2, "rois")
    c.merge(rois[1], 4, "rois must have 4 coordinates per region")
    (count,) = c.require_rank(batches, 1, "batch_indices")
    count = c.merge(rois[0], count, "batch_indices must have one value per region")
    return Shape((count, x[1], output_height, output_width))


@onnx("MaxRoiPool")
def max_roi_pool(c: InferenceContext, x: Shape, rois: Shape, *, pooled_shape: Ints) -> Shape:
    """[N, C, H, W] and [R, 5] -> [R, C, *pooled_shape]."""
    x, rois = c.require_rank(x, 4, "X"), c.require_rank(rois, 2, "rois")
    c.merge(rois[1], 5, "rois must have a batch index and 4 coordinates per region")
    if len(pooled_shape) != 2 or min(pooled_shape) < 1:
        c.fail("pooled_shape must be a height and a width, each at least 1", pooled_shape)
    return Shape((rois[0], x[1], *pooled_shape))


@onnx("MaxUnpool")
def max_unpool(
    c: InferenceContext,
    x: Shape,
    indices: Shape,
    output_shape: Value | None = None,
    *,
    kernel_shape: Ints,
    pads: Ints = (),
    strides: Ints = (),
) -> Shape:
    """[N, C, *S] -> [N, C, *T], the sizes before the pooling, or the contents of `output_shape`."""
    x = c.merge(c.require_rank(x, len(kernel_shape) + 2, "X"), indices, "X and I must have the same shape")
    rank = len(kernel_shape)
    if output_shape is not None:
        (length,) = c.require_rank(output_shape.shape, 1, "output_shape")
        c.merge(length, rank + 2, "output_shape must have one item per axis of X")
        requested = known_dims(output_shape) or (None,) * (rank + 2)
        return Shape(size_or_fresh(c, d, f"unpool.{i}") for i, d in enumerate(requested))
    steps = spatial_attribute(strides, rank, 1, c, "strides")
    sizes: list[DimSize] = [
        transposed_window_size(size, kernel, step, pair, 1)
        for size, step, kernel, pair in zip(x[2:], steps, kernel_shape, pad_pairs(pads, rank, c), strict=True)
    ]
    for size in sizes:
        c.at_least(size, 0, "the size of an output must not be negative")
        c.advise_at_most(1, size, "some runtimes reject empty outputs")
    return Shape((*x[:2], *sizes))


@onnx("ImageDecoder")
def image_decoder(c: InferenceContext, stream: Shape, *, pixel_format: str = "RGB") -> TensorType:
    """[bytes] -> [height, width, channels]: 1 channel for Grayscale, else 3; [0, 0, channels] for a broken image."""
    c.require_rank(stream, 1, "encoded_stream")
    if pixel_format not in ("RGB", "BGR", "Grayscale"):
        c.fail("pixel_format must be RGB, BGR or Grayscale", pixel_format)
    channels = 1 if pixel_format == "Grayscale" else 3
    return TensorType("uint8", Shape((c.fresh("height"), c.fresh("width"), channels)))


@onnx("CenterCropPad")
def center_crop_pad(c: InferenceContext, x: Shape, shape: Value, *, axes: Ints | None = None) -> Shape:
    """The axes (by default all) resized to the sizes in `shape`."""
    named = c.axes(range(len(x)) if axes is None else axes, len(x))
    if shape.shape.rank == 0:
        c.expect(shape.shape, Shape((len(named),)), "`shape` must be a vector")
        raise c.unknowable("`shape` is not a vector")
    c.merge(c.require_rank(shape.shape, 1, "shape")[0], len(named), "`shape` must have one item per axis")
    requested = known_dims(shape) or (None,) * len(named)
    dims = list(x)
    for axis, size in zip(named, requested, strict=True):
        dims[axis] = _operand_size(c, size, axis, "shape")
    return Shape(dims)


def _operand_size(c: InferenceContext, size: DimSize | None, axis: int, operand: str) -> DimSize:
    """A size that an operand requests; a new unknown if it is unknown or may be negative."""
    if isinstance(size, int) and size < 0:
        c.fail(f"the items of `{operand}` must be at least 0", size)
    return size_or_fresh(c, size, f"size.{axis}")


@onnx("Col2Im")
def col2im(
    c: InferenceContext,
    x: Shape,
    image: Value,
    block: Value,
    *,
    dilations: Ints = (),
    pads: Ints = (),
    strides: Ints = (),
) -> Shape:
    """[N, C*prod(block), L] -> [N, C, *image], where L is the number of blocks in the image."""
    n, rows, columns = c.require_rank(x, 3, "input")
    length = c.require_rank(image.shape, 1, "image_shape")[0]
    other = c.require_rank(block.shape, 1, "block_shape")[0]
    rank = c.concrete(c.merge(length, other, "image_shape and block_shape must have the same length"))
    if rank is None or rank > MAX_RANK:
        raise c.unknowable("the number of spatial axes is not known" if rank is None else f"more than {MAX_RANK} axes")
    sizes = [_operand_size(c, d, i, "image_shape") for i, d in enumerate(known_dims(image) or (None,) * rank)]
    kernel = known_ints(block)
    if kernel is None:
        return Shape((n, c.fresh("channels"), *sizes))
    if any(k < 1 for k in kernel):
        c.fail("the items of block_shape must be at least 1", kernel)
    c.divisible(rows, prod(kernel), "axis 1 of the input must be divisible by the product of block_shape")
    steps = spatial_attribute(strides, rank, 1, c, "strides")
    spread = spatial_attribute(dilations, rank, 1, c, "dilations")
    blocks = [window_size(*w) for w in zip(sizes, kernel, steps, pad_pairs(pads, rank, c), spread, strict=True)]
    c.merge(columns, c.numel(blocks), "axis 2 of the input must equal the number of blocks in the image")
    return Shape((n, rows // prod(kernel), *sizes))
