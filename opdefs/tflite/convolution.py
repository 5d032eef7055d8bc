"""Convolutions and pooling: images are [N, H, W, C], filters [M, *K, C]."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.operands import is_unit, require_count, require_elements, require_groups, require_multiple
from opdefs.rules.reshaping import shape_of_sizes
from opdefs.rules.window import (
    ASSUMED_TO_FIT,
    NOT_NEGATIVE,
    describe_windows,
    same_size,
    truncated_window_size,
    window_size,
)
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from shapeinf.expr import DimSize, maximum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value

BIAS = "the bias must have one value for each output channel"
EMPTY = "the input must have elements in each image"


@attrs.frozen
class ImageWindow:
    """The options of convolutions of images."""

    padding: str = "SAME"
    stride_w: int = 0
    stride_h: int = 0
    dilation_w_factor: int = 1
    dilation_h_factor: int = 1

    @property
    def strides(self) -> tuple[int, ...]:
        """Those of height and width."""
        return self.stride_h, self.stride_w

    @property
    def dilations(self) -> tuple[int, ...]:
        """Those of height and width."""
        return self.dilation_h_factor, self.dilation_w_factor


@attrs.frozen
class VolumeWindow:
    """The options of convolutions of volumes."""

    padding: str = "SAME"
    stride_d: int = 0
    stride_w: int = 0
    stride_h: int = 0
    dilation_d_factor: int = 1
    dilation_w_factor: int = 1
    dilation_h_factor: int = 1

    @property
    def strides(self) -> tuple[int, ...]:
        """Those of depth, height and width."""
        return self.stride_d, self.stride_h, self.stride_w

    @property
    def dilations(self) -> tuple[int, ...]:
        """Those of depth, height and width."""
        return self.dilation_d_factor, self.dilation_h_factor, self.dilation_w_factor


def window_counts(
    c: TensorFlowContext,
    sizes: Sequence[DimSize],
    kernel: Sequence[DimSize],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
) -> list[DimSize]:
    """The output sizes of windows along some axes; quotients are rounded towards zero, and must not be negative."""
    axes = zip(sizes, kernel, strides, dilations, strict=True)
    counts = [_window_count(c, size, window, stride, dilation, padding) for size, window, stride, dilation in axes]
    describe_windows(c, counts, kernel, strides, None if padding == "SAME" else [(0, 0)] * len(counts), dilations)
    return counts


def _window_count(
    c: TensorFlowContext, size: DimSize, window: DimSize, stride: int, dilation: int, padding: str
) -> DimSize:
    if stride < 1:
        c.fail("a stride must be at least 1", stride)
    if padding == "SAME":
        return same_size(size, stride)
    if isinstance(size, int) and isinstance(window, int):
        reach = size + stride - (window - 1) * dilation - 1
        if reach <= -stride:
            c.fail(NOT_NEGATIVE, size, window)
        return max(reach, 0) // stride
    return truncated_window_size(c, size, window, stride, (0, 0), dilation)


def _present_bias(c: TensorFlowContext, bias: Shape | None, outputs: DimSize) -> None:
    """Require a bias with one value for each output channel."""
    if bias is None:
        c.fail("the kernel requires a bias")
    require_count(c, bias, outputs, BIAS)


def _optional_bias(c: TensorFlowContext, bias: Shape | None, outputs: DimSize) -> None:
    """Require that a bias that is listed is present, and has one value for each output channel."""
    if bias is None and len(c.types) > 2:
        c.fail("the bias must be present, or not be listed as an input")
    require_count(c, bias, outputs, BIAS)


@tflite("CONV_2D")
def conv_2d(c: TensorFlowContext, x: Shape, weights: Shape, bias: Shape | None = None, *, window: ImageWindow) -> Shape:
    """[N, H, W, C], [M, h, w, C/groups], bias [M] -> [N, H', W', M]."""
    batch, height, width, channels = c.require_rank(x, 4)
    outputs, h, w, depth = c.require_rank(weights, 4, "the filter")
    require_elements(c, (height, width, channels, depth), EMPTY)
    require_groups(c, channels, depth, "the input channels must be a multiple of the channels of the filter")
    groups = channels if is_unit(depth) else channels // depth
    require_multiple(c, outputs, groups, "the output channels must be a multiple of the groups")
    _present_bias(c, bias, outputs)
    sizes = window_counts(c, (height, width), (h, w), window.strides, window.dilations, window.padding)
    return Shape((batch, *sizes, outputs))


@tflite("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(
    c: TensorFlowContext, x: Shape, weights: Shape, bias: Shape | None = None, *, window: ImageWindow
) -> Shape:
    """[N, H, W, C], [1, h, w, C*m], bias [C*m] -> [N, H', W', C*m]."""
    batch, height, width, channels = c.require_rank(x, 4)
    first, h, w, outputs = c.require_rank(weights, 4, "the filter")
    require_elements(c, (height, width, channels), EMPTY)
    c.merge(first, 1, "the first axis of the filter must have size 1")
    require_groups(c, outputs, channels, "the output channels must be a multiple of the input channels")
    _optional_bias(c, bias, outputs)
    sizes = window_counts(c, (height, width), (h, w), window.strides, window.dilations, window.padding)
    return Shape((batch, *sizes, outputs))


@tflite("CONV_3D")
def conv_3d(
    c: TensorFlowContext, x: Shape, weights: Shape, bias: Shape | None = None, *, window: VolumeWindow
) -> Shape:
    """[N, D, H, W, C], [d, h, w, C, M], bias [M] -> [N, D', H', W', M]."""
    batch, *spatial, channels = c.require_rank(x, 5)
    *kernel, depth, outputs = c.require_rank(weights, 5, "the filter")
    require_elements(c, (*spatial, channels), EMPTY)
    c.merge(channels, depth, "the input must have the channels of the filter")
    require_count(c, bias, outputs, BIAS)
    sizes = window_counts(c, spatial, kernel, window.strides, window.dilations, window.padding)
    return Shape((batch, *sizes, outputs))


@attrs.frozen
class TransposedWindow:
    """The options of transposed convolutions of images."""

    padding: str = "SAME"
    stride_w: int = 0
    stride_h: int = 0


@tflite("TRANSPOSE_CONV")
def transpose_conv(
    c: TensorFlowContext,
    output_shape: Value,
    weights: Shape,
    x: Shape,
    bias: Shape | None = None,
    *,
    window: TransposedWindow,
) -> PartialTensor:
    """Sizes [4], [M, h, w, C], [N, H, W, C], bias [M] -> the sizes in the first input.

    A convolution of these sizes must have the height and width of the input.
    """
    outputs, *kernel, depth = c.require_rank(weights, 4, "the filter")
    _, *spatial, channels = c.require_rank(x, 4)
    c.merge(channels, depth, "the input must have the channels of the filter")
    require_count(c, bias, outputs, BIAS)
    result = stated_shape(c, output_shape, 4)
    if known_dims(output_shape):
        strides = window.stride_h, window.stride_w
        counts = window_counts(c, list(result.shape)[1:3], kernel, strides, (1, 1), window.padding)
        for size, count in zip(spatial, counts, strict=True):
            c.merge(size, count, "a convolution of the output sizes must have the sizes of the input")
    return result


@tflite("CONV_3D_TRANSPOSE")
def conv_3d_transpose(
    c: TensorFlowContext, output_shape: Value, weights: Shape, x: Shape, bias: Shape | None = None
) -> PartialTensor:
    """Sizes [5], [d, h, w, M, C], [N, D, H, W, C], bias [M] -> the sizes in the first input."""
    *_, outputs, depth = c.require_rank(weights, 5, "the filter")
    c.merge(c.require_rank(x, 5)[4], depth, "the input must have the channels of the filter")
    require_count(c, bias, outputs, BIAS)
    return stated_shape(c, output_shape, 5)


def stated_shape(c: TensorFlowContext, sizes: PartialTensor, rank: int) -> PartialTensor:
    """The tensor whose sizes are the contents of a vector of `rank` elements."""
    c.merge(c.require_rank(sizes.shape, 1, "the vector of output sizes")[0], rank, f"the sizes must be {rank} numbers")
    return PartialTensor(None, shape_of_sizes(c, known_dims(sizes) or (None,) * rank, "size"), None)


@attrs.frozen
class PoolWindow:
    """The options of pooling."""

    padding: str = "SAME"
    stride_w: int = 0
    stride_h: int = 0
    filter_width: int = 0
    filter_height: int = 0


@tflite("AVERAGE_POOL_2D", "L2_POOL_2D", "MAX_POOL_2D")
def pool_2d(c: TensorFlowContext, x: Shape, *, window: PoolWindow) -> Shape:
    """[N, H, W, C] -> [N, H', W', C]; an input that is shorter than the window has no windows."""
    batch, height, width, channels = c.require_rank(x, 4)
    kernel, strides = (window.filter_height, window.filter_width), (window.stride_h, window.stride_w)
    if min(*kernel, *strides) < 1:
        c.fail("windows and strides must be at least 1", kernel, strides)
    axes = zip((height, width), kernel, strides, strict=True)
    sizes = [_pool_count(c, *axis, window.padding) for axis in axes]
    if window.padding != "SAME":
        sizes[0] = _rows_of_pool(c, sizes[0], width, window.filter_width - 2 * window.stride_w)
    describe_windows(c, sizes, kernel, strides, None if window.padding == "SAME" else [(0, 0)] * 2, (1, 1))
    return Shape((batch, *sizes, channels))


def _pool_count(c: TensorFlowContext, size: DimSize, window: int, stride: int, padding: str) -> DimSize:
    if padding == "SAME":
        return same_size(size, stride)
    count = window_size(size, window, stride, (0, 0), 1)
    if c.prove_le(window, size) is True or c.assume_at_most(window, size, ASSUMED_TO_FIT, include_user_sizes=True):
        return count
    return maximum(count, 0)


def _rows_of_pool(c: TensorFlowContext, rows: DimSize, width: DimSize, too_short: int) -> DimSize:
    """The number of windows along the height: 0 where the number along the width is computed as a negative one."""
    if c.prove_le(too_short + 1, width) is True:
        return rows
    return 0 if c.prove_le(width, too_short) is True else c.fresh_at_most(rows, "windows")
