"""Pooling with windows of random sizes."""

from __future__ import annotations

from math import floor

from opdefs.rules.contents.elements import to_dim
from opdefs.rules.contents.float_formats import FLOAT32
from opdefs.rules.contents.floats import FloatArithmetic
from opdefs.tf.common import shape_of_rank
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Floats, Value


@tf("FractionalAvgPool", "FractionalMaxPool")
def fractional_pool(
    c: TensorFlowContext,
    value: Shape,
    *,
    pooling_ratio: Floats,
) -> tuple[Shape, Shape, Shape]:
    """[N, H, W, C] -> each size divided by its ratio; the boundaries of windows of rows [H' + 1] and columns [W' + 1].

    N windows have N + 1 boundaries, as in the kernel; TensorFlow's shape function returns N.
    """
    x = c.with_rank(value, 4)
    if len(pooling_ratio) != 4:
        raise ShapeError("pooling_ratio field must specify 4 dimensions")
    sizes = [_quotient(c, size, ratio) for size, ratio in zip(x, pooling_ratio, strict=True)]
    return Shape(sizes), c.vector(c.add(sizes[1], 1)), c.vector(c.add(sizes[2], 1))


def _quotient(c: TensorFlowContext, size: DimSize, ratio: float) -> DimSize:
    """`floor(size / ratio)`, where ratio and quotient are rounded to float32."""
    if ratio < 0:
        raise ShapeError(f"pooling_ratio {ratio} is negative")
    if not 0 < ratio < FLOAT32.largest:
        raise ShapeError(f"pooling_ratio {ratio} is not a positive number")
    import numpy as np

    if isinstance(size, int):
        return floor(float(np.float32(size) / np.float32(ratio)))
    floats = FloatArithmetic(c, FLOAT32)
    quotient = to_dim(floats.floor(floats.divide(size, float(np.float32(ratio)))))
    return c.unknown_dim() if quotient is None else quotient


@tf("FractionalAvgPoolGrad")
def fractional_avg_pool_grad(
    c: TensorFlowContext,
    orig_input_tensor_shape: Value,
    out_backprop: Shape,
    row_pooling_sequence: Shape,
    col_pooling_sequence: Shape,
) -> Shape:
    """[4], [N, H', W', C], [H' + 1], [W' + 1] -> the shape in `orig_input_tensor_shape`."""
    return shape_of_rank(c, 0, 4)
