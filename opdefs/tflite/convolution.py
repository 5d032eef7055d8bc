"""Convolutions: images are [N, H, W, C], and weights are [O, h, w, I]."""

from __future__ import annotations

import attrs

from opdefs.rules.window import same_size, truncated_window_size
from opdefs.tflite.dialect import tflite
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@attrs.frozen
class Window:
    """The options of sliding windows."""

    padding: str = "SAME"
    stride_w: int = 0
    stride_h: int = 0
    dilation_w_factor: int = 1
    dilation_h_factor: int = 1


@tflite("CONV_2D")
def conv_2d(c: InferenceContext, x: Shape, weights: Shape, bias: Shape | None = None, *, window: Window) -> Shape:
    """[N, H, W, C], [O, h, w, C/groups], [O] -> [N, H', W', O]."""
    x, weights = c.require_rank(x, 4, "the input"), c.require_rank(weights, 4, "the weights")
    groups = "the channels of the input must be a multiple of those of the weights"
    if isinstance(weights[3], int):
        c.divisible(x[3], weights[3], groups)
    return Shape((x[0], *window_sizes(c, x, weights, window), weights[0]))


def window_sizes(c: InferenceContext, x: Shape, weights: Shape, window: Window) -> list[DimSize]:
    """The sizes of height and width behind a window."""
    strides = window.stride_h, window.stride_w
    dilations = window.dilation_h_factor, window.dilation_w_factor
    if min(strides) < 1 or min(dilations) < 1:
        c.fail("strides and dilations must be at least 1", list(strides), list(dilations))
    axes = zip((x[1], x[2]), (weights[1], weights[2]), strides, dilations, strict=True)
    if window.padding == "SAME":
        return [same_size(size, stride) for size, _, stride, _ in axes]
    return [truncated_window_size(c, size, kernel, stride, (0, 0), dilation) for size, kernel, stride, dilation in axes]
