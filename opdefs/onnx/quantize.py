"""Quantization and dequantization: per tensor, per axis, or per block."""

from __future__ import annotations

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.scales import constrain_scales
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@onnx("QuantizeLinear", since=13)
def quantize(
    c: InferenceContext,
    x: Shape,
    scale: Shape,
    zero: Shape | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> TensorType:
    """[*S] -> [*S] in the type of the zero point, else `output_dtype`, else uint8."""
    named = dtype_name(output_dtype)
    zero_type = c.dtype(2)
    dtype = zero_type or named or "uint8"
    c.state_types(dtype)
    if named is not None and zero_type not in (None, named):
        c.fail("output_dtype must equal the type of the zero point", named, zero_type)
    constrain_scales(c, x, scale, zero, axis, block_size)
    return TensorType(dtype, x)


@onnx("QuantizeLinear")
def quantize_per_tensor(c: InferenceContext, x: Shape, scale: Shape, zero: Shape | None = None) -> TensorType:
    """Before opset 13: [*S] -> [*S] with one scale for the tensor."""
    dtype = c.dtype(2) or "uint8"
    c.state_types(dtype)
    constrain_scales(c, x, scale, zero, None)
    return TensorType(dtype, x)


@onnx("DequantizeLinear", since=13)
def dequantize(
    c: InferenceContext,
    x: Shape,
    scale: Shape,
    zero: Shape | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> TensorType:
    """[*S] -> [*S] in `output_dtype`, else the type of the scale."""
    dtype = dtype_name(output_dtype) or c.dtype(1)
    c.state_types(dtype)
    constrain_scales(c, x, scale, zero, axis, block_size)
    return TensorType(dtype, x)


@onnx("DequantizeLinear")
def dequantize_per_tensor(c: InferenceContext, x: Shape, scale: Shape, zero: Shape | None = None) -> TensorType:
    """Before opset 13: [*S] -> [*S] with one scale for the tensor."""
    dtype = c.dtype(1)
    c.state_types(dtype)
    constrain_scales(c, x, scale, zero, None)
    return TensorType(dtype, x)


@onnx("DynamicQuantizeLinear")
def dynamic_quantize(c: InferenceContext, x: Shape) -> tuple[Shape, Shape, Shape]:
    """[*S] -> [*S], and a scale and a zero point that are scalars."""
    return x, Shape(()), Shape(())
