"""Quantized tensors: layers with one scale and zero point for their output."""

from __future__ import annotations

from opdefs.pnnx.activation import element_type
from opdefs.pnnx.dialect import pnnx
from opdefs.pnnx.linear import linear_module
from opdefs.pnnx.promotion import DEFAULT_FLOAT
from opdefs.rules.repetition import concat
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value


@pnnx("nn.quantized.Quantize", "torch.quantize_per_tensor")
def quantize(
    c: InferenceContext, input: Shape, scale: Shape | None = None, zero_point: Shape | None = None, *, dtype: str
) -> TensorType:
    """The shape of the input, in the quantized element type `dtype`; scale and zero point are numbers or scalars."""
    return TensorType(element_type(c, dtype), input)


@pnnx("nn.quantized.DeQuantize", "torch.dequantize")
def dequantize(c: InferenceContext, input: Shape) -> TensorType:
    """The shape of the input, in float32."""
    return TensorType(DEFAULT_FLOAT, input)


@pnnx("nn.quantized.Linear", "nn.intrinsic.quantized.LinearReLU")
def linear(
    c: InferenceContext,
    input: Shape,
    weight: Shape | None = None,
    bias: Shape | None = None,
    *,
    in_features: int,
    out_features: int,
) -> Shape:
    """[*N, in_features] -> [*N, out_features], of the quantized element type of the input."""
    return linear_module(c, input, weight, bias, in_features=in_features, out_features=out_features)


@pnnx("nn.quantized.cat")
def cat(c: InferenceContext, *tensors: Value, dim: int = 0) -> PartialTensor:
    """[*A, n, *B], [*A, m, *B], ... -> [*A, n + m + ..., *B], of the element type of the first tensor."""
    if not tensors:
        c.fail("at least one tensor is required")
    return concat(c, tensors, dim)
