"""Quantized element-wise operators, pooling, reductions and concatenation; changes of element type."""

from __future__ import annotations

from opdefs.microsoft.conv import move_channels_first, move_channels_last
from opdefs.microsoft.dialect import MS, onnx
from opdefs.onnx.cast import dtype_name
from opdefs.onnx.concat import concat
from opdefs.onnx.conv import global_pool, pool
from opdefs.onnx.reduction import reduce_by_attribute
from opdefs.rules.elements import requested_dims
from opdefs.rules.operands import constrain_scales, require_scalar, require_single
from opdefs.rules.window import Window
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Ints, Value


@onnx("QuantizeLinear", domain=MS)
def quantize(
    c: InferenceContext, x: Shape, scale: Shape, zero: Shape | None = None, *, axis: int | None = None
) -> TensorType:
    """The shape of the input; the type of the zero point, else uint8."""
    constrain_scales(c, x, scale, zero, 1 if axis is None else axis)
    return TensorType(c.dtype(2) or "uint8", x)


@onnx("DequantizeLinear", domain=MS)
def dequantize(
    c: InferenceContext, x: Shape, scale: Shape, zero: Shape | None = None, *, axis: int | None = None
) -> TensorType:
    """The shape of the input, in the type of the scale."""
    constrain_scales(c, x, scale, zero, 1 if axis is None else axis)
    return TensorType(c.dtype(1), x)


@onnx("QuantizeWithOrder", domain=MS)
def quantize_with_order(c: InferenceContext, x: Shape, scale: Shape) -> TensorType:
    """The shape of the input, in int8."""
    return TensorType("int8", x)


@onnx("DequantizeWithOrder", domain=MS)
def dequantize_with_order(c: InferenceContext, x: Shape, scale: Shape, *, to: int) -> TensorType:
    """The shape of the input, in the type `to`."""
    return TensorType(dtype_name(to), x)


@onnx("QuantizeBFP", domain=MS)
def quantize_bfp(c: InferenceContext, x: Shape) -> tuple[TensorType, PartialTensor, TensorType]:
    """A flat tensor of bytes of unspecified length; the shape of the input; its strides."""
    if x.dims is None:
        rank = Shape((c.fresh("rank"),))
        return (
            TensorType("uint8", Shape((c.fresh("bytes"),))),
            PartialTensor("int64", rank, None),
            TensorType("int64", rank),
        )
    rank = Shape((len(x),))
    return TensorType("uint8", Shape((c.fresh("bytes"),))), PartialTensor("int64", rank, x), TensorType("int64", rank)


@onnx("DequantizeBFP", domain=MS)
def dequantize_bfp(c: InferenceContext, x: Shape, shape: Value, strides: Shape, *, dtype: int = 1) -> TensorType:
    """The contents of `shape`, in the type `dtype`."""
    c.require_rank(x, 1, "x")
    dims = requested_dims(c, shape)
    known = (c.fresh(f"shape.{i}") if d is None or c.prove_le(0, d) is not True else d for i, d in enumerate(dims))
    return TensorType(dtype_name(dtype), Shape(known))


SCALE = "a scale or zero point"


@onnx("QLinearAdd", "QLinearMul", domain=MS, in_place=(0, 3))
def quantized_binary(
    c: InferenceContext,
    a: Shape,
    a_scale: Shape,
    a_zero: Shape | None,
    b: Shape,
    b_scale: Shape,
    b_zero: Shape | None,
    c_scale: Shape,
    c_zero: Shape | None = None,
) -> Shape:
    """Numpy broadcasting; scales and zero points are scalars."""
    for v in (a_scale, a_zero, b_scale, b_zero, c_scale, c_zero):
        require_scalar(c, v, SCALE)
    return c.broadcast(a, b)


@onnx("QLinearLeakyRelu", "QLinearSigmoid", domain=MS, in_place=(0,))
@onnx("QLinearSoftmax", "QOrderedGelu", domain=MS)
def quantized_unary(c: InferenceContext, x: Shape, *scales: Shape | None) -> Shape:
    """The shape of the first input."""
    for v in scales:
        require_single(c, v, f"{SCALE} must have exactly one element")
    return x


@onnx("QLinearWhere", domain=MS, in_place=(1, 4))
def quantized_where(
    c: InferenceContext, condition: Shape, x: Shape, x_scale: Shape, x_zero: Shape, y: Shape, *scales: Shape | None
) -> Shape:
    """Numpy broadcasting of condition, x and y."""
    for v in (x_scale, x_zero, *scales):
        require_single(c, v, f"{SCALE} must have exactly one element")
    return c.broadcast(condition, x, y)


@onnx("QLinearConcat", domain=MS)
def quantized_concat(c: InferenceContext, scale: Shape, zero: Shape, *xs: Value, axis: int) -> TensorType:
    """Inputs are triples (tensor, scale, zero point); the sizes of the tensors along `axis` add up."""
    if not xs or len(xs) % 3:
        c.fail("inputs must be triples of a tensor, its scale and its zero point", len(xs))
    for v in (scale, zero, *(x.shape for i, x in enumerate(xs) if i % 3)):
        require_single(c, v, f"{SCALE} must have exactly one element")
    return TensorType(c.dtype(1), concat(c, *xs[::3], axis=axis).shape)


@onnx("QLinearReduceMean", domain=MS)
def quantized_mean(
    c: InferenceContext,
    x: Value,
    x_scale: Shape,
    x_zero: Shape | None,
    y_scale: Shape,
    y_zero: Shape | None = None,
    *,
    axes: Ints,
    keepdims: int,
) -> Shape:
    """The axes become 1, or are removed without `keepdims`."""
    for v in (x_scale, x_zero, y_scale, y_zero):
        require_scalar(c, v, SCALE)
    return reduce_by_attribute(c, x, axes=axes, keepdims=keepdims).shape


@onnx("ReduceSumInteger", domain=MS)
def integer_sum(c: InferenceContext, x: Value, *, axes: Ints, keepdims: int) -> Shape:
    """The axes become 1, or are removed without `keepdims`; 32 bits, signed or unsigned as declared."""
    return reduce_by_attribute(c, x, axes=axes, keepdims=keepdims).shape


@onnx("QLinearAveragePool", domain=MS)
def quantized_average_pool(
    c: InferenceContext,
    x: Shape,
    x_scale: Shape,
    x_zero: Shape | None,
    y_scale: Shape,
    y_zero: Shape | None = None,
    *,
    window: Window,
    ceil_mode: int = 0,
    channels_last: int = 0,
) -> Shape:
    """[N, C, *S] -> [N, C, *window(S)], or [N, *S, C] -> [N, *window(S), C]."""
    x = c.require_rank(x, len(window.kernel_shape) + 2, "x")
    for v in (x_scale, x_zero, y_scale, y_zero):
        require_scalar(c, v, SCALE)
    result = pool(c, move_channels_first(x) if channels_last else x, window=window, ceil_mode=ceil_mode)
    return move_channels_last(result) if channels_last else result


@onnx("QLinearGlobalAveragePool", domain=MS)
def quantized_global_average_pool(
    c: InferenceContext, x: Shape, *scales: Shape | None, channels_last: int = 0
) -> Shape:
    """[N, C, *S] -> [N, C, 1..], or [N, *S, C] -> [N, 1.., C]."""
    for v in scales:
        require_single(c, v, f"{SCALE} must have exactly one element")
    return move_channels_last(global_pool(c, move_channels_first(x))) if channels_last else global_pool(c, x)
