"""Pooling."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.window import windows
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Ints


@onnx("AveragePool", "LpPool")
def pool(
    c: InferenceContext,
    x: Shape,
    *,
    kernel_shape: Ints,
    auto_pad: str = "NOTSET",
    strides: Ints = (),
    pads: Ints = (),
    dilations: Ints = (),
    ceil_mode: int = 0,
) -> Shape:
    """[N, C, *S] -> [N, C, *window(S)]."""
    x = c.require_rank(x, len(kernel_shape) + 2, "x")
    sizes = windows(c, x[2:], kernel_shape, strides, pads, dilations, auto_pad, bool(ceil_mode), must_fit=False)
    return Shape((*x[:2], *sizes))


@onnx("MaxPool")
def max_pool(
    c: InferenceContext,
    x: Shape,
    *,
    kernel_shape: Ints,
    auto_pad: str = "NOTSET",
    strides: Ints = (),
    pads: Ints = (),
    dilations: Ints = (),
    ceil_mode: int = 0,
) -> tuple[Shape, TensorType]:
    """[N, C, *S] -> [N, C, *window(S)], and the indices of the maxima."""
    shape = pool(
        c,
        x,
        kernel_shape=kernel_shape,
        auto_pad=auto_pad,
        strides=strides,
        pads=pads,
        dilations=dilations,
        ceil_mode=ceil_mode,
    )
    return shape, TensorType("int64", shape)


@onnx("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(c: InferenceContext, x: Shape) -> Shape:
    """[N, C, *S] -> [N, C, 1...]."""
    if len(x) < 2:
        c.fail("pooling needs [N, C, spatial...]", x)
    return Shape((*x[:2], *(1 for _ in x[2:])))
