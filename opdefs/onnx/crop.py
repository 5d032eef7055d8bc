"""Images cut, padded or put together to a given size."""

from __future__ import annotations

from math import prod

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import MAX_RANK, known_dims, known_ints
from opdefs.rules.window import pad_pairs, spatial, window_size
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext, Ints, Value


@onnx("CenterCropPad")
def center_crop_pad(c: InferenceContext, x: Shape, shape: Value, *, axes: Ints | None = None) -> Shape:
    """The named axes (all without `axes`) become what `shape` says."""
    named = c.axes(range(len(x)) if axes is None else axes, len(x))
    if shape.shape.rank == 0:
        c.expect(shape.shape, Shape((len(named),)), "`shape` must be a vector")
        raise c.unknowable("`shape` is no vector")
    c.merge(c.require_rank(shape.shape, 1, "shape")[0], len(named), "`shape` must hold one size an axis")
    wanted = known_dims(shape) or (None,) * len(named)
    dims = list(x)
    for axis, size in zip(named, wanted, strict=True):
        dims[axis] = _size(c, size, axis)
    return Shape(dims)


def _size(c: InferenceContext, size: Dim | None, axis: int) -> Dim:
    if isinstance(size, int) and size < 0:
        c.fail("a size must be at least 0", size)
    return c.fresh(f"size.{axis}") if size is None or c.prove_le(0, size) is not True else size


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
    """[N, C*prod(block), L] -> [N, C, *image], where L is the number of blocks that fit into the image."""
    n, rows, columns = c.require_rank(x, 3, "input")
    length = c.require_rank(image.shape, 1, "image_shape")[0]
    other = c.require_rank(block.shape, 1, "block_shape")[0]
    rank = c.concrete(c.merge(length, other, "image_shape and block_shape must be of equal length"))
    if rank is None or rank > MAX_RANK:
        raise c.unknowable("the number of spatial axes is not known" if rank is None else f"more than {MAX_RANK} axes")
    sizes = [_size(c, d, i) for i, d in enumerate(known_dims(image) or (None,) * rank)]
    kernel = known_ints(block)
    if kernel is None:
        return Shape((n, c.fresh("channels"), *sizes))
    if any(k < 1 for k in kernel):
        c.fail("a block must be at least 1 in each axis", kernel)
    c.divisible(rows, prod(kernel), "axis 1 must be divisible by the size of a block")
    steps, spread = spatial(strides, rank, 1, c, "strides"), spatial(dilations, rank, 1, c, "dilations")
    blocks = [window_size(*w) for w in zip(sizes, kernel, steps, pad_pairs(pads, rank, c), spread, strict=True)]
    c.merge(columns, c.numel(blocks), "axis 2 must hold the blocks that fit into the image")
    return Shape((n, rows // prod(kernel), *sizes))
