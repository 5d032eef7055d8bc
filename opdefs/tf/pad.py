"""Padding, blocks moved between spatial axes and the batch or the channels, and patches."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import Elements, known_dims, known_ints, move_elements
from opdefs.rules.padding import pad_elements
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.context.contents import MAX_DIMENSIONS
from opdefs.tf.dialect import tf
from shapeinf.expr import DimSize, ceildiv
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Ints, Value

Pairs = list[tuple[DimSize | None, DimSize | None]]
"""The amounts before and after each axis; None is unknown."""


@tf("Pad")
def pad(c: TensorFlowContext, x: Value, paddings: Value) -> PartialTensor:
    """[*S], [R, 2] -> [*S + paddings], padded with zeros."""
    return _pad(c, x, paddings, PartialTensor(x.dtype, Shape(()), (0,)))


@tf("PadV2")
def pad_v2(c: TensorFlowContext, x: Value, paddings: Value, constant_values: Value) -> PartialTensor:
    """[*S], [R, 2], [] -> [*S + paddings], padded with a value."""
    c.with_rank(constant_values.shape, 0)
    return _pad(c, x, paddings, constant_values)


def _pad(c: TensorFlowContext, x: PartialTensor, paddings: PartialTensor, fill: PartialTensor) -> PartialTensor:
    """[*S], [R, 2], fill [] -> [*S + paddings]."""
    shape, pairs = _pairs(c, x.shape, paddings)
    result = Shape(_padded_size(c, d, *pair, axis) for axis, (d, pair) in enumerate(zip(shape, pairs, strict=True)))
    known = known_ints(paddings)
    if known is None or x.dtype in ("string", "bool") or not fill.elements:
        return PartialTensor(x.dtype, result, None)
    amounts = (*known[::2], *known[1::2])
    filling = fill.elements[0]
    return move_elements(x, result, lambda array: pad_elements(array, range(len(shape)), amounts, filling))


def _pairs(c: TensorFlowContext, x: Shape, paddings: PartialTensor) -> tuple[Shape, Pairs]:
    """The input with its rank, the number of rows of `paddings`, and the amounts before and after each axis."""
    matrix = c.with_rank(paddings.shape, 2)
    c.with_value(matrix[1], 2)
    count = c.concrete(matrix[0])
    if count is not None:
        shape = c.with_rank(x, count)
    else:
        shape = x
        c.merge(matrix[0], len(shape))
    amounts = known_dims(paddings) or (None,) * (2 * len(shape))
    return shape, list(zip(amounts[::2], amounts[1::2], strict=True))


def _padded_size(
    c: TensorFlowContext, size: DimSize, before: DimSize | None, after: DimSize | None, axis: int
) -> DimSize:
    """The size of a padded axis. Requires that no amount is negative."""
    for amount in (before, after):
        _check_not_negative(c, amount, "paddings must be non-negative")
    if before is None or after is None:
        return c.fresh(f"pad.{axis}", c.interval(size).lo)
    return c.add(c.add(size, before), after)


def _check_not_negative(c: TensorFlowContext, amount: DimSize | None, message: str) -> None:
    """Require that an amount is at least 0, unless it is unknown."""
    if isinstance(amount, int):
        if amount < 0:
            c.fail(message, amount)
    elif amount is not None and c.prove_le(0, amount) is not True:
        c.at_least(amount, 0, message)


@tf("MirrorPad")
def mirror_pad(c: TensorFlowContext, x: Value, paddings: Value, *, mode: str) -> PartialTensor:
    """[*S], [R, 2] -> [*S + paddings]; reflections are shorter than the axis, or at most as long if symmetric."""
    shape, pairs = _pairs(c, x.shape, paddings)
    border = 1 if mode == "REFLECT" else 0
    dims = [_padded_size(c, d, *pair, axis) for axis, (d, pair) in enumerate(zip(shape, pairs, strict=True))]
    for axis, (size, pair) in enumerate(zip(shape, pairs, strict=True)):
        for amount in pair:
            least = None if amount is None else amount + border
            if least is not None and c.prove_le(least, size) is not True:
                c.at_least(size, least, f"axis {axis} is too short for a reflection of that length")
    known = known_ints(paddings)
    if known is None or x.elements is None or not shape.dims:
        return PartialTensor(x.dtype, Shape(dims), None)

    def reflect(array: Elements) -> Elements:
        import numpy as np

        amounts = list(zip(known[::2], known[1::2], strict=True))
        return np.pad(array, amounts, "reflect" if border else "symmetric")

    return move_elements(x, Shape(dims), reflect)


@tf("MirrorPadGrad")
def mirror_pad_grad(c: TensorFlowContext, x: Shape, paddings: Value) -> Shape:
    """[*S], [R, 2] -> [*S - paddings]."""
    matrix = c.with_rank(paddings.shape, 2)
    count = c.concrete(matrix[0])
    if count is None and x.dims is None:
        return c.unknown_shape()
    shape = x if count is None else c.with_rank(x, count)
    c.merge(paddings.shape, Shape((len(shape), 2)))
    _, pairs = _pairs(c, shape, paddings)
    return Shape(
        c.fresh_at_most(d, f"pad.{axis}")
        if before is None or after is None
        else c.subtract(d, before if after == 0 else before + after)
        for axis, (d, (before, after)) in enumerate(zip(shape, pairs, strict=True))
    )


# -- blocks ------------------------------------------------------------------------------------------------------------


@tf("SpaceToBatchND")
def space_to_batch_nd(c: TensorFlowContext, x: Shape, block_shape: Value, paddings: Value) -> Shape:
    """[N, *S, *T], block [R], paddings [R, 2] -> [N * prod(block), *((S + paddings) / block), *T]."""
    count = _block_rank(c, block_shape, paddings.shape)
    return _space_to_batch(c, x, _block(c, block_shape, count), _block_pairs(c, paddings, count, "paddings"))


@tf("SpaceToBatch")
def space_to_batch(c: TensorFlowContext, x: Shape, paddings: Value, *, block_size: int) -> Shape:
    """[N, H, W, C], [2, 2] -> [N * block_size^2, H', W', C], as SpaceToBatchND."""
    shape = c.with_rank(x, 4)
    c.merge(c.with_rank(paddings.shape, 2), Shape((2, 2)))
    return _space_to_batch(c, shape, _square(c, block_size), _block_pairs(c, paddings, 2, "paddings"))


def _space_to_batch(c: TensorFlowContext, x: Shape, block: Sequence[DimSize | None], pairs: Pairs) -> Shape:
    """[N, *S, *T] -> [N * prod(block), *((S + pairs) / block), *T]."""
    shape = c.with_rank_at_least(x, len(block) + 1)
    batch: DimSize | None = shape[0]
    dims: list[DimSize] = []
    for i, (size, (before, after)) in enumerate(zip(block, pairs, strict=True)):
        batch = None if batch is None or size is None else c.multiply(batch, size)
        if size is None or before is None or after is None:
            dims.append(c.fresh(f"space.{i}"))
            continue
        padded = c.add(c.add(shape[i + 1], before), after)
        dims.append(c.divide(padded, size, evenly_divisible=True))
    return Shape((c.fresh("batch") if batch is None else batch, *dims, *shape[len(block) + 1 :]))


@tf("BatchToSpaceND")
def batch_to_space_nd(c: TensorFlowContext, x: Shape, block_shape: Value, crops: Value) -> Shape:
    """[N, *S, *T], block [R], crops [R, 2] -> [N / prod(block), *(S * block - crops), *T]."""
    count = _block_rank(c, block_shape, crops.shape)
    return _batch_to_space(c, x, _block(c, block_shape, count), _block_pairs(c, crops, count, "crops"))


@tf("BatchToSpace")
def batch_to_space(c: TensorFlowContext, x: Shape, crops: Value, *, block_size: int) -> Shape:
    """[N, H, W, C], [2, 2] -> [N / block_size^2, H', W', C], as BatchToSpaceND."""
    shape = c.with_rank(x, 4)
    c.merge(c.with_rank(crops.shape, 2), Shape((2, 2)))
    return _batch_to_space(c, shape, _square(c, block_size), _block_pairs(c, crops, 2, "crops"))


def _batch_to_space(c: TensorFlowContext, x: Shape, block: Sequence[DimSize | None], pairs: Pairs) -> Shape:
    """[N, *S, *T] -> [N / prod(block), *(S * block - pairs), *T]."""
    shape = c.with_rank_at_least(x, len(block) + 1)
    total: DimSize | None = 1
    dims: list[DimSize] = []
    for i, (size, (before, after)) in enumerate(zip(block, pairs, strict=True)):
        total = None if total is None or size is None else total * size
        if size is None or before is None or after is None:
            dims.append(c.fresh(f"space.{i}"))
            continue
        grown = c.multiply(shape[i + 1], size)
        dims.append(c.subtract(grown, before + after))
    batch = c.fresh_at_most(shape[0], "batch") if total is None else c.divide(shape[0], total, evenly_divisible=True)
    return Shape((batch, *dims, *shape[len(block) + 1 :]))


def _block_rank(c: TensorFlowContext, block: PartialTensor, pairs: Shape) -> int:
    """The number of spatial axes: the length of the block. Raises ShapeError if it is unknown."""
    if block.shape.dims is not None and len(block.shape.dims) != 1:
        c.fail("block_shape must have rank 1", block.shape)
    count = c.concrete(c.with_rank(block.shape, 1)[0])
    if count is None:
        c.fail("block_shape must have known size")
    if count > MAX_DIMENSIONS:
        c.fail(f"block_shape must have at most {MAX_DIMENSIONS} entries", count)
    matrix = c.with_rank(pairs, 2)
    c.merge(matrix, Shape((count, 2)))
    return count


def _square(c: TensorFlowContext, size: int) -> list[DimSize | None]:
    """The sizes of a square block."""
    if size < 1:
        c.fail("block_size must be at least 1", size)
    return [size, size]


def _block(c: TensorFlowContext, block: PartialTensor, count: int) -> Sequence[DimSize | None]:
    """The sizes of the block, None for unknown ones. Requires that each is at least 1."""
    sizes = known_dims(block) or (None,) * count
    for size in sizes:
        if isinstance(size, int) and size < 1:
            c.fail("block_shape must be positive", size)
        if isinstance(size, int) or size is None or c.prove_le(1, size) is True:
            continue
        c.at_least(size, 1, "block_shape must be positive")
    return sizes


def _block_pairs(c: TensorFlowContext, amounts: PartialTensor, count: int, name: str) -> Pairs:
    """The amounts before and after each spatial axis. Requires that none is negative."""
    known = known_dims(amounts) or (None,) * (2 * count)
    for amount in known:
        _check_not_negative(c, amount, f"{name} cannot be negative")
    return list(zip(known[::2], known[1::2], strict=True))


CHANNELS_OF_VECTORS = 4
"""The number of channels in one vector of the format NCHW_VECT_C."""


@tf("SpaceToDepth")
def space_to_depth(c: TensorFlowContext, x: Shape, *, block_size: int, data_format: str = "NHWC") -> Shape:
    """[N, H, W, C] -> [N, H / b, W / b, C * b^2], for blocks of b * b."""
    batch, height, width, channels, rest = _image(c, x, data_format)
    _square(c, block_size)
    height, width = (c.divide(d, block_size, evenly_divisible=True) for d in (height, width))
    return _image_shape(data_format, batch, height, width, c.multiply(channels, block_size * block_size), rest)


@tf("DepthToSpace")
def depth_to_space(c: TensorFlowContext, x: Shape, *, block_size: int, data_format: str = "NHWC") -> Shape:
    """[N, H, W, C] -> [N, H * b, W * b, C / b^2], for blocks of b * b."""
    batch, height, width, channels, rest = _image(c, x, data_format)
    _square(c, block_size)
    height, width = (c.multiply(d, block_size) for d in (height, width))
    depth = c.divide(channels, block_size * block_size, evenly_divisible=True)
    return _image_shape(data_format, batch, height, width, depth, rest)


def _image(
    c: TensorFlowContext, x: Shape, data_format: str
) -> tuple[DimSize, DimSize, DimSize, DimSize, tuple[DimSize, ...]]:
    """The batch, height, width, channels (of NCHW_VECT_C: their vectors), and the inner axis of that format."""
    if data_format == "NHWC":
        batch, height, width, channels = c.with_rank(x, 4)
        return batch, height, width, channels, ()
    if data_format not in ("NCHW", "NCHW_VECT_C"):
        c.fail("data_format must be NHWC, NCHW or NCHW_VECT_C", data_format)
    batch, channels, height, width, *rest = c.with_rank(x, 4 if data_format == "NCHW" else 5)
    for size in rest:
        c.merge(size, CHANNELS_OF_VECTORS)
    return batch, height, width, channels, tuple(rest)


def _image_shape(
    data_format: str, batch: DimSize, height: DimSize, width: DimSize, channels: DimSize, rest: tuple[DimSize, ...]
) -> Shape:
    """The shape in a format; `rest` is the inner axis of NCHW_VECT_C."""
    if data_format == "NHWC":
        return Shape((batch, height, width, channels))
    return Shape((batch, channels, height, width, *rest))


# -- patches -----------------------------------------------------------------------------------------------------------


@tf("ExtractImagePatches")
def extract_image_patches(
    c: TensorFlowContext, images: Shape, *, ksizes: Ints, strides: Ints, rates: Ints, padding: str
) -> Shape:
    """[B, H, W, C] -> [B, rows, columns, window * C]."""
    for name, values in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if len(values) != 4:
            c.fail(f"ExtractImagePatches requires the {name} attribute to contain 4 values, but got: {len(values)}")
    return _patches(c, c.with_rank(images, 4), ksizes, strides, rates, padding)


@tf("ExtractVolumePatches")
def extract_volume_patches(c: TensorFlowContext, x: Shape, *, ksizes: Ints, strides: Ints, padding: str) -> Shape:
    """[B, D, H, W, C] -> [B, planes, rows, columns, window * C]."""
    for name, values in (("ksizes", ksizes), ("strides", strides)):
        if len(values) != 5:
            c.fail(f"ExtractVolumePatches requires the {name} attribute to contain 5 values, but got: {len(values)}")
    return _patches(c, c.with_rank(x, 5), ksizes, strides, (1,) * 5, padding)


def _patches(c: TensorFlowContext, x: Shape, ksizes: Ints, strides: Ints, rates: Ints, padding: str) -> Shape:
    """[B, *S, C] -> [B, *windows, prod(ksizes) * C]."""
    if min(*ksizes, *strides, *rates) < 1:
        c.fail("ksizes, strides and rates must be at least 1", ksizes, strides, rates)
    spatial = range(1, len(x) - 1)
    depth = x[-1]
    sizes: list[DimSize] = []
    for axis in spatial:
        depth = c.multiply(depth, ksizes[axis])
        if padding == "SAME":
            sizes.append(ceildiv(x[axis], strides[axis]))
            continue
        window = (ksizes[axis] - 1) * rates[axis] + 1
        sizes.append(_window_count(c, x[axis], window, strides[axis]))
    return Shape((x[0], *sizes, depth))


def _window_count(c: TensorFlowContext, size: DimSize, window: int, stride: int) -> DimSize:
    """The number of windows of a size without padding: 0 where the window is larger by less than two strides.

    The kernel's division rounds towards 0.
    """
    reach = size + stride - window
    c.at_least(reach, 1 - stride, "Computed output size would be negative")
    return c.max(reach, 0) // stride
