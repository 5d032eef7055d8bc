"""Resize and upsample; depth to space and back."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.onnx.dialect import onnx
from opdefs.rules.blocks import blocks_to_channels, channels_to_blocks
from opdefs.rules.contents.elements import known_dims
from opdefs.rules.operands import require_vector
from opdefs.rules.resize import keep_aspect_ratio, scale_size
from opdefs.rules.unknowns import is_steady
from shapeinf.expr import DimSize, minimum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Ints, Value


@onnx("Resize", since=11)
def resize(
    c: InferenceContext,
    x: Shape,
    roi: Shape | None = None,
    scales: Value | None = None,
    sizes: Value | None = None,
    *,
    axes: Ints | None = None,
    keep_aspect_ratio_policy: str = "stretch",
    coordinate_transformation_mode: str = "half_pixel",
) -> Shape:
    """The contents of `sizes`, or the floor of each size times its scale, for `axes` (default: all)."""
    requested = _drop_empty(sizes) or _drop_empty(scales)
    if requested is None:
        return Shape(c.fresh(f"resize.{i}") for i in range(len(x)))
    length = c.require_rank(requested.shape, 1, "scales or sizes")[0]
    if axes is None and isinstance(length, int):
        x = c.require_rank(x, length)
    named = tuple(range(len(x))) if axes is None else c.axes(axes, len(x))
    c.merge(length, len(named), "scales or sizes must have one value per axis")
    cropped = coordinate_transformation_mode == "tf_crop_and_resize"
    if cropped:
        require_vector(c, roi, 2 * len(named), "roi must have a start and an end for each axis")
    old = [x[i] for i in named]
    new = (
        _sizes_of_operand(c, old, sizes, keep_aspect_ratio_policy)
        if requested is sizes
        else _scale_sizes(c, old, requested, cropped)
    )
    dims = list(x)
    for axis, size in zip(named, new, strict=True):
        dims[axis] = c.fresh(f"resize.{axis}") if size is None else size
    return Shape(dims)


def _drop_empty(values: PartialTensor | None) -> PartialTensor | None:
    """The tensor; None for an empty one, which means an absent input."""
    return None if values is None or values.shape.dims == (0,) else values


def _sizes_of_operand(
    c: InferenceContext, old: Sequence[DimSize], sizes: PartialTensor, policy: str
) -> Sequence[DimSize | None]:
    requested = known_dims(sizes) or (None,) * len(old)
    if any(isinstance(d, int) and d < 0 for d in requested):
        c.fail("the items of sizes must be at least 0", list(requested))
    sound = [d if d is not None and c.prove_le(0, d) is True else None for d in requested]
    for size, new in zip(old, sound, strict=True):
        if new is not None and is_steady(c, new):
            _require_scale(c, size, new)
    return sound if policy == "stretch" else keep_aspect_ratio(c, old, sound, policy)


def _require_scale(c: InferenceContext, size: DimSize, new: DimSize) -> None:
    """Require that the scale from a size to another one exists and is not 0: both are empty, or none is."""
    if c.store.bounds(new)[0] >= 1:
        c.at_least(size, 1, "an empty axis cannot be resized to a non-empty one")
    elif c.store.bounds(size)[0] >= 1:
        c.at_least(new, 1, "a scale must be greater than 0: an axis cannot be resized to an empty one")
    else:
        c.merge(minimum(size, 1), minimum(new, 1), "the scale from an axis to its new size must be greater than 0")


def _scale_sizes(
    c: InferenceContext, old: Sequence[DimSize], scales: PartialTensor, cropped: bool
) -> Sequence[DimSize | None]:
    """The floor of each size times its scale; with cropping it also depends on the region, unless the scale is 1."""
    factors = scales.elements or (None,) * len(old)
    return [None if cropped and scale != 1 else scale_size(c, d, scale) for d, scale in zip(old, factors, strict=True)]


@onnx("Resize", since=10)
@onnx("Upsample", since=9)
def resize_by_scales(c: InferenceContext, x: Shape, scales: Value) -> Shape:
    """The floor of each size times its scale."""
    return resize(c, x, None, scales)


@onnx("Upsample", since=7)
def upsample_by_attribute(c: InferenceContext, x: Shape, *, scales: tuple[float, ...]) -> Shape:
    """Before opset 9 the scales are an attribute."""
    return resize(c, x, None, PartialTensor("float32", Shape((len(scales),)), scales))


@onnx("Upsample")
def upsample_image(c: InferenceContext, x: Shape, *, height_scale: float, width_scale: float) -> Shape:
    """Opset 1: [N, C, H, W] by two scales."""
    x = c.require_rank(x, 4, "input")
    return resize(c, x, None, PartialTensor("float32", Shape((4,)), (1.0, 1.0, height_scale, width_scale)))


@onnx("DepthToSpace")
def depth_to_space(c: InferenceContext, x: Shape, *, blocksize: int) -> Shape:
    """[N, C, H, W] -> [N, C/b^2, H*b, W*b]."""
    return channels_to_blocks(c, c.require_rank(x, 4, "input"), blocksize, "blocksize")


@onnx("SpaceToDepth")
def space_to_depth(c: InferenceContext, x: Shape, *, blocksize: int) -> Shape:
    """[N, C, H, W] -> [N, C*b^2, H/b, W/b]."""
    return blocks_to_channels(c, c.require_rank(x, 4, "input"), blocksize, "blocksize")
