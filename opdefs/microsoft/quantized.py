"""Quantized element-wise operators, pooling, reductions and concatenation; changes of element type."""

from __future__ import annotations

from opdefs.microsoft.conv import move_channels_first, move_channels_last
from opdefs.microsoft.dialect import MS, onnx
from opdefs.onnx.cast import dtype_name
from opdefs.onnx.concat import concat
from opdefs.onnx.conv import global_pool, pool
from opdefs.onnx.reduction import reduce_by_attribute
from opdefs.rules.contents.elements import requested_dims
from opdefs.rules.operands import require_scalar_inputs, require_single, require_single_inputs
from opdefs.rules.requested import size_or_fresh
from opdefs.rules.scales import constrain_scales
from opdefs.rules.window import Window
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Ints, Value


@onnx("QuantizeLinear", domain=MS)
def quantize(
    c: InferenceContext, x: Shape, scale: Shape, zero: Shape | None = None, *, axis: int | None = None
) -> TensorType:
    """[*S] -> [*S] in the type of the zero point, else uint8."""
    constrain_scales(c, x, scale, zero, 1 if axis is None else axis)
    return TensorType(c.dtype(2) or "uint8", x)


@onnx("DequantizeLinear", domain=MS)
def dequantize(
    c: InferenceContext, x: Shape, scale: Shape, zero: Shape | None = None, *, axis: int | None = None
) -> TensorType:
    """[*S] -> [*S] in the type of the scale."""
    constrain_scales(c, x, scale, zero, 1 if axis is None else axis)
    return TensorType(c.dtype(1), x)


@onnx("QuantizeWithOrder", domain=MS)
def quantize_with_order(c: InferenceContext, x: Shape, scale: Shape) -> TensorType:
    """[*S] -> [*S] in int8."""
    return TensorType("int8", x)


@onnx("DequantizeWithOrder", domain=MS)
def dequantize_with_order(c: InferenceContext, x: Shape, scale: Shape, *, to: int) -> TensorType:
    """[*S] -> [*S] in the type `to`."""
    return TensorType(dtype_name(to), x)


@onnx("QuantizeBFP", domain=MS)
def quantize_bfp(c: InferenceContext, x: Shape) -> tuple[TensorType, PartialTensor, TensorType]:
    """[*S] -> bytes of unspecified length, the shape [rank] of the input, its strides [rank]."""
    if x.dims is None:
        shape = PartialTensor("int64", Shape((c.fresh("rank"),)), None)
    else:
        shape = PartialTensor("int64", Shape((len(x),)), x)
    return TensorType("uint8", Shape((c.fresh("bytes"),))), shape, TensorType("int64", shape.shape)


@onnx("DequantizeBFP", domain=MS)
def dequantize_bfp(c: InferenceContext, x: Shape, shape: Value, strides: Shape, *, dtype: int = 1) -> TensorType:
    """[bytes] -> the sizes in `shape`, in the type `dtype`."""
    c.require_rank(x, 1, "x")
    dims = (size_or_fresh(c, d, f"shape.{i}") for i, d in enumerate(requested_dims(c, shape)))
    return TensorType(dtype_name(dtype), Shape(dims))


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
    """[*A], [*B] -> [*broadcast(A, B)]; scales and zero points are scalars."""
    require_scalar_inputs(c, (a_scale, a_zero), 1)
    require_scalar_inputs(c, (b_scale, b_zero, c_scale, c_zero), 4)
    return c.broadcast(a, b)


@onnx("QLinearLeakyRelu", "QLinearSigmoid", domain=MS, in_place=(0,))
@onnx("QLinearSoftmax", "QOrderedGelu", domain=MS)
def quantized_unary(c: InferenceContext, x: Shape, *scales: Shape | None) -> Shape:
    """[*S] -> [*S]; scales and zero points have one element."""
    require_single_inputs(c, scales, 1)
    return x


@onnx("QLinearWhere", domain=MS, in_place=(1, 4))
def quantized_where(
    c: InferenceContext, condition: Shape, x: Shape, x_scale: Shape, x_zero: Shape, y: Shape, *scales: Shape | None
) -> Shape:
    """Numpy broadcasting of condition, X and Y; scales and zero points have one element."""
    require_single_inputs(c, (x_scale, x_zero), 2)
    require_single_inputs(c, scales, 5)
    return c.broadcast(condition, x, y)


@onnx("QLinearConcat", domain=MS)
def quantized_concat(c: InferenceContext, scale: Shape, zero: Shape, *xs: Value, axis: int) -> TensorType:
    """Triples of a tensor, its scale and its zero point: [*A, n, *B], [*A, m, *B], ... -> [*A, n + m + ..., *B]."""
    if not xs or len(xs) % 3:
        c.fail(
            "the inputs after Y_scale and Y_zero_point must be triples of a tensor, its scale and its zero point",
            len(xs),
        )
    for v in (scale, zero, *(x.shape for i, x in enumerate(xs) if i % 3)):
        require_single(c, v, "each scale and zero point must have exactly one element")
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
    """The sizes of the axes become 1, or the axes are removed without `keepdims`; scales are scalars."""
    require_scalar_inputs(c, (x_scale, x_zero, y_scale, y_zero), 1)
    return reduce_by_attribute(c, x, axes=axes, keepdims=keepdims).shape


@onnx("ReduceSumInteger", domain=MS)
def integer_sum(c: InferenceContext, x: Value, *, axes: Ints, keepdims: int) -> Shape:
    """The sizes of the axes become 1, or the axes are removed without `keepdims`; int32 or uint32, as declared."""
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
    require_scalar_inputs(c, (x_scale, x_zero, y_scale, y_zero), 1)
    result = pool(c, move_channels_first(x) if channels_last else x, window=window, ceil_mode=ceil_mode)
    return move_channels_last(result) if channels_last else result


@onnx("QLinearGlobalAveragePool", domain=MS)
def quantized_global_average_pool(
    c: InferenceContext, x: Shape, *scales: Shape | None, channels_last: int = 0
) -> Shape:
    """[N, C, *S] -> [N, C, 1...], or [N, *S, C] -> [N, 1..., C]; scales and zero points have one element."""
    require_single_inputs(c, scales, 1)
    return move_channels_last(global_pool(c, move_channels_first(x))) if channels_last else global_pool(c, x)
