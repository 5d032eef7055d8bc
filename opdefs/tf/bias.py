"""Biases: vectors added along the channels."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape


def channel_axis(data_format: str, rank: int) -> int:
    """The axis of the channels: 1 of formats that name them second, such as NCHW and NCDHW, else the last."""
    return 1 if data_format.startswith("NC") else rank - 1


@tf("BiasAdd", in_place=(0,))
def bias_add(c: TensorFlowContext, value: Shape, bias: Shape, *, data_format: str = "NHWC") -> Shape:
    """[*S] with C channels, [C] -> [*S]."""
    value = c.with_rank_at_least(value, 3 if data_format == "NCHW" else 2)
    bias = c.with_rank(bias, 1)
    if value.dims is None:
        return value
    axis = channel_axis(data_format, len(value))
    return c.replace_dim(value, axis, c.merge(value[axis], bias[0]))


@tf("BiasAddV1", in_place=(0,))
def bias_add_of_the_last_axis(c: TensorFlowContext, value: Shape, bias: Shape) -> Shape:
    """[*S, C], [C] -> [*S, C]."""
    return bias_add(c, value, bias)


@tf("BiasAddGrad")
def bias_add_grad(c: TensorFlowContext, out_backprop: Shape, *, data_format: str = "NHWC") -> Shape:
    """[*S] with C channels -> [C]."""
    value = c.with_rank_at_least(out_backprop, 3 if data_format == "NCHW" else 2)
    return c.vector(c.dim(value, 1 if data_format.startswith("NC") else -1))
