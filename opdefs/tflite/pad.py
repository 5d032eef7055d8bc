"""Padding, blocks moved between spatial axes and the batch or the channels, dilation, and resampled images."""

from __future__ import annotations

from opdefs.rules.contents.elements import Elements, known_dims, known_ints, move_elements
from opdefs.rules.operands import require_single
from opdefs.rules.padding import pad_elements
from opdefs.rules.reshaping import shape_of_sizes
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import drop_quantized, require_rank_between
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value

Pairs = list[tuple[DimSize | None, DimSize | None]]


@tflite("PAD", "PADV2")
def pad(c: TensorFlowContext, x: Value, paddings: Value, fill: Value | None = None) -> PartialTensor:
    """[*S], [R, 2], [] -> [*S + paddings], padded with a value or zeros."""
    pairs = amounts_of(c, paddings, len(x.shape), "paddings")
    if fill is not None:
        require_single(c, fill.shape, "the value must have exactly one element")
    sizes = zip(x.shape, pairs, strict=True)
    shape = Shape(_padded(c, d, pair, axis) for axis, (d, pair) in enumerate(sizes))
    known, filling = known_ints(paddings), fill.elements if fill is not None else (0,)
    if known is None or not filling or x.dtype == "bool" or drop_quantized(x).contents is None:
        return PartialTensor(x.dtype, shape, None)
    flat = (*known[::2], *known[1::2])
    return move_elements(x, shape, lambda array: pad_elements(array, range(len(pairs)), flat, filling[0]))


def amounts_of(c: TensorFlowContext, matrix: PartialTensor, rows: int, name: str) -> Pairs:
    """The pairs in a matrix of `rows` rows, None for unknown ones. Requires that none is negative."""
    count, columns = c.require_rank(matrix.shape, 2, name)
    c.merge(count, rows, f"{name} must have one row for each axis")
    c.merge(columns, 2, f"{name} must have two columns")
    amounts = known_dims(matrix) or (None,) * (2 * rows)
    for amount in amounts:
        if amount is not None and c.prove_le(0, amount) is not True:
            c.at_least(amount, 0, f"{name} must not be negative")
    return list(zip(amounts[::2], amounts[1::2], strict=True))


def _padded(c: TensorFlowContext, size: DimSize, pair: tuple[DimSize | None, DimSize | None], axis: int) -> DimSize:
    before, after = pair
    return c.fresh(f"pad.{axis}", c.interval(size).lo) if before is None or after is None else size + before + after


@tflite("MIRROR_PAD")
def mirror_pad(c: TensorFlowContext, x: Value, paddings: Value, *, mode: str = "REFLECT") -> PartialTensor:
    """[*S], [R, 2] -> [*S + paddings]; reflections are shorter than the axis, or at most as long if symmetric."""
    pairs = amounts_of(c, paddings, len(x.shape), "paddings")
    border = 1 if mode == "REFLECT" else 0
    for axis, (size, pair) in enumerate(zip(x.shape, pairs, strict=True)):
        for amount in pair:
            if amount is not None:
                c.at_least(size, amount + border, f"axis {axis} is too short for a reflection of that length")
    sizes = enumerate(zip(x.shape, pairs, strict=True))
    shape = Shape(_padded(c, d, pair, axis) for axis, (d, pair) in sizes)
    known = known_ints(paddings)
    if known is None or x.elements is None or not x.shape.dims:
        return PartialTensor(x.dtype, shape, None)

    def reflect(array: Elements) -> Elements:
        import numpy as np

        amounts = list(zip(known[::2], known[1::2], strict=True))
        return np.pad(array, amounts, "reflect" if border else "symmetric")

    return move_elements(x, shape, reflect)


@tflite("DILATE")
def dilate(c: TensorFlowContext, x: Shape, dilations: Value, fill: Shape) -> Shape:
    """[*S], [R], [] -> `(S - 1) * dilation + 1` along each axis."""
    rank = len(x)
    c.merge(c.require_rank(dilations.shape, 1, "dilations")[0], rank, "dilations must have one value for each axis")
    factors = known_dims(dilations) or (None,) * rank
    return Shape(_dilated(c, d, factor, axis) for axis, (d, factor) in enumerate(zip(x, factors, strict=True)))


def _dilated(c: TensorFlowContext, size: DimSize, factor: DimSize | None, axis: int) -> DimSize:
    if factor is None:
        return c.fresh(f"dilate.{axis}", c.interval(size).lo)
    if c.prove_le(1, factor) is not True:
        c.at_least(factor, 1, "a dilation must be at least 1")
    full = (size - 1) * factor + 1
    if c.prove_le(0, full) is not True:
        c.at_least(full, 0, "an empty axis cannot be dilated")
    return full


# -- blocks ------------------------------------------------------------------------------------------------------------


@tflite("SPACE_TO_BATCH_ND")
def space_to_batch_nd(c: TensorFlowContext, x: Shape, block: Value, paddings: Value) -> Shape:
    """[N, *S, C], block [R], paddings [R, 2] -> [N * prod(block), *((S + paddings) / block), C]."""
    batch, *spatial, channels = require_rank_between(c, x, 3, 4)
    sizes, pairs = _block_sizes(c, block, len(spatial)), amounts_of(c, paddings, len(spatial), "paddings")
    dims: list[DimSize] = []
    for i, (d, size, pair) in enumerate(zip(spatial, sizes, pairs, strict=True)):
        padded = _padded(c, d, pair, i)
        if isinstance(size, int):
            c.divisible(padded, size, "each padded axis must be a multiple of the block")
            dims.append(padded // size)
        else:
            dims.append(c.fresh(f"space.{i}"))
    return Shape((_scaled(c, batch, sizes), *dims, channels))


def _scaled(c: TensorFlowContext, batch: DimSize, sizes: tuple[DimSize | None, ...]) -> DimSize:
    for size in sizes:
        batch = c.fresh("batch") if size is None else batch * size
    return batch


def _block_sizes(c: TensorFlowContext, block: PartialTensor, rank: int) -> tuple[DimSize | None, ...]:
    """The sizes of a block, None for unknown ones."""
    c.merge(c.require_rank(block.shape, 1, "the block")[0], rank, "the block must have one size for each spatial axis")
    sizes = known_dims(block) or (None,) * rank
    for size in sizes:
        if size is not None and c.prove_le(1, size) is not True:
            c.at_least(size, 1, "the block must have sizes of at least 1")
    return sizes


@tflite("BATCH_TO_SPACE_ND")
def batch_to_space_nd(c: TensorFlowContext, x: Shape, block: Value, crops: Value) -> Shape:
    """[N, *S, C], block [R], crops [R, 2] -> [N / prod(block), *(S * block - crops), C]."""
    batch, *spatial, channels = require_rank_between(c, x, 3, 4)
    sizes, pairs = _block_sizes(c, block, len(spatial)), amounts_of(c, crops, len(spatial), "crops")
    dims: list[DimSize] = []
    for i, (d, size, (before, after)) in enumerate(zip(spatial, sizes, pairs, strict=True)):
        if isinstance(size, int):
            c.divisible(batch, size, "the batch must be a multiple of the block")
            batch = batch // size
        else:
            batch = c.fresh_at_most(batch, "batch")
        if size is None or before is None or after is None:
            dims.append(c.fresh(f"space.{i}"))
            continue
        c.at_most(before + after, d * size, "the crops must not be longer than the axis")
        dims.append(d * size - before - after)
    return Shape((batch, *dims, channels))


@tflite("SPACE_TO_DEPTH")
def space_to_depth(c: TensorFlowContext, x: Shape, *, block_size: int = 0) -> Shape:
    """[N, H, W, C] -> [N, H / b, W / b, C * b^2]."""
    batch, height, width, channels = c.require_rank(x, 4)
    _positive_block(c, block_size)
    for size in (height, width):
        c.divisible(size, block_size, "height and width must be multiples of the block")
    return Shape((batch, height // block_size, width // block_size, channels * block_size**2))


@tflite("DEPTH_TO_SPACE")
def depth_to_space(c: TensorFlowContext, x: Shape, *, block_size: int = 0) -> Shape:
    """[N, H, W, C] -> [N, H * b, W * b, C / b^2]."""
    batch, height, width, channels = c.require_rank(x, 4)
    _positive_block(c, block_size)
    c.divisible(channels, block_size**2, "the channels must be a multiple of the pixels of a block")
    return Shape((batch, height * block_size, width * block_size, channels // block_size**2))


def _positive_block(c: TensorFlowContext, block_size: int) -> None:
    if block_size < 1:
        c.fail("block_size must be at least 1", block_size)


# -- resampling --------------------------------------------------------------------------------------------------------


@tflite("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize_image(
    c: TensorFlowContext, x: Shape, size: Value, *, align_corners: bool = False, half_pixel_centers: bool = False
) -> Shape:
    """[N, H, W, C], size [2] -> [N, *size, C]."""
    batch, _, _, channels = c.require_rank(x, 4)
    c.merge(c.require_rank(size.shape, 1, "the size")[0], 2, "the size must be two numbers")
    wanted = known_dims(size) or (None, None)
    if c.op_def.name == "RESIZE_BILINEAR" and align_corners and half_pixel_centers and None not in wanted:
        c.fail("align_corners and half_pixel_centers exclude each other")
    return Shape((batch, *shape_of_sizes(c, wanted, "resize"), channels))
