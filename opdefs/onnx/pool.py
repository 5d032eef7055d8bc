"""Pooling."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.window import Window, advise_no_cropping, windows
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@onnx("AveragePool", "LpPool")
def pool(c: InferenceContext, x: Shape, *, window: Window, ceil_mode: int = 0) -> Shape:
    """[N, C, *S] -> [N, C, *window(S)]."""
    kernel = window.kernel_shape
    if not kernel:
        c.fail("the required attribute 'kernel_shape' is missing")
    x = c.require_rank(x, len(kernel) + 2, "x")
    _advise_elements(c, x)
    return Shape((*x[:2], *windows(c, x[2:], kernel, window, bool(ceil_mode), must_fit=False)))


@onnx("MaxPool")
def max_pool(c: InferenceContext, x: Shape, *, window: Window, ceil_mode: int = 0) -> tuple[Shape, TensorType]:
    """[N, C, *S] -> [N, C, *window(S)], and the indices of the maxima."""
    shape = pool(c, x, window=window, ceil_mode=ceil_mode)
    advise_no_cropping(c, x, window)
    return shape, TensorType("int64", shape)


@onnx("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(c: InferenceContext, x: Shape) -> Shape:
    """[N, C, *S] -> [N, C, 1...]."""
    if len(x) < 2:
        c.fail("pooling needs [N, C, spatial...]", x)
    _advise_elements(c, x)
    return Shape((*x[:2], *(1 for _ in x[2:])))


def _advise_elements(c: InferenceContext, x: Shape) -> None:
    """Note that onnxruntime pools no images without elements; there may be no images."""
    for size in x[1:]:
        if not isinstance(size, int) or size < 1:
            c.advise_at_most(1, size, "some runtimes pool no images without elements")
