"""Resampling, and blocks of depth as blocks of space."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import known_dims
from opdefs.rules.operands import vector
from opdefs.rules.resize import kept_ratio, scaled
from shapeinf.expr import Dim
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
    """The given sizes, or the floor of each size times its scale; of the named axes, all without `axes`."""
    given = _given(sizes) or _given(scales)
    if given is None:
        return Shape(c.fresh(f"resize.{i}") for i in range(len(x)))
    length = c.require_rank(given.shape, 1, "scales or sizes")[0]
    if axes is None and isinstance(length, int):
        x = c.require_rank(x, length)
    named = tuple(range(len(x))) if axes is None else c.axes(axes, len(x))
    c.merge(length, len(named), "scales or sizes must hold one value an axis")
    cropped = coordinate_transformation_mode == "tf_crop_and_resize"
    if cropped:
        vector(c, roi, 2 * len(named), "roi must hold a start and an end for each axis")
    old = [x[i] for i in named]
    new = _sizes(c, old, sizes, keep_aspect_ratio_policy) if given is sizes else _scaled(c, old, given, cropped)
    dims = list(x)
    for axis, size in zip(named, new, strict=True):
        dims[axis] = c.fresh(f"resize.{axis}") if size is None else size
    return Shape(dims)


def _given(values: PartialTensor | None) -> PartialTensor | None:
    """An empty tensor stands for an input that is not given."""
    return None if values is None or values.shape.dims == (0,) else values


def _sizes(c: InferenceContext, old: Sequence[Dim], sizes: PartialTensor, policy: str) -> Sequence[Dim | None]:
    wanted = known_dims(sizes) or (None,) * len(old)
    if any(isinstance(d, int) and d < 0 for d in wanted):
        c.fail("sizes must not be negative", list(wanted))
    sound = [d if d is not None and c.prove_le(0, d) is True else None for d in wanted]
    for size, new in zip(old, sound, strict=True):
        if new is not None and c.store.bounds(new)[0] >= 1:
            c.at_least(size, 1, "an axis without elements has none to make others of")
    return sound if policy == "stretch" else kept_ratio(c, old, sound, policy)


def _scaled(c: InferenceContext, old: Sequence[Dim], scales: PartialTensor, cropped: bool) -> Sequence[Dim | None]:
    """With cropping the size depends on the region too, except where a scale is 1 (and the region is the whole)."""
    factors = scales.elements or (None,) * len(old)
    return [None if cropped and f != 1 else scaled(c, d, f) for d, f in zip(old, factors, strict=True)]


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
    n, channels, h, w = c.require_rank(x, 4, "input")
    _check_block(c, blocksize)
    c.divisible(channels, blocksize**2, "channels must be divisible by blocksize squared")
    return Shape((n, channels // blocksize**2, h * blocksize, w * blocksize))


@onnx("SpaceToDepth")
def space_to_depth(c: InferenceContext, x: Shape, *, blocksize: int) -> Shape:
    """[N, C, H, W] -> [N, C*b^2, H/b, W/b]."""
    n, channels, h, w = c.require_rank(x, 4, "input")
    _check_block(c, blocksize)
    for d in (h, w):
        c.divisible(d, blocksize, "height and width must be divisible by blocksize")
    return Shape((n, channels * blocksize**2, h // blocksize, w // blocksize))


def _check_block(c: InferenceContext, blocksize: int) -> None:
    if blocksize < 1:
        c.fail("blocksize must be at least 1", blocksize)
