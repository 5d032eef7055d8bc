"""Element-wise operators of one operand, normalizations, and changes of the element type."""

from __future__ import annotations

from typing import Any

from opdefs.rules.contents.arithmetic import absolute, approximate, sign, unary_rule, unknown
from opdefs.rules.contents.constants import constant_tensor, zero_of
from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.elements import logical_not, map_elements, name_scalar
from opdefs.rules.contents.floats import FloatArithmetic
from opdefs.rules.contents.numpy_functions import numpy_function, positive_part
from opdefs.rules.operands import require_broadcast_to
from opdefs.rules.reduction import running_total
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.elementwise import bucketize
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import (
    axis_of,
    drop_quantized,
    output_type,
    require_rank_between,
    rule_of_numbers,
    scalar_value,
)
from shapeinf.expr import maximum, minimum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Operand, Value

tflite("ABS", "STABLEHLO_ABS", in_place=(0,))(rule_of_numbers(absolute))
tflite("SIGN", in_place=(0,))(rule_of_numbers(sign))
tflite("NEG", "STABLEHLO_NEGATE", in_place=(0,))(
    rule_of_numbers(unary_rule(numpy_function("negative"), lambda d: -d, FloatArithmetic.negate))
)
tflite("RELU", in_place=(0,))(
    rule_of_numbers(unary_rule(positive_part, lambda d: maximum(d, 0), lambda floats, x: floats.maximum(x, 0.0)))
)


def _clip(low: int, high: int) -> Any:
    """The rule of a function that clips to constant limits."""
    return rule_of_numbers(
        unary_rule(
            lambda x: x.clip(low, high),
            lambda d: minimum(maximum(d, low), high),
            lambda floats, x: floats.minimum(floats.maximum(x, float(low)), float(high)),
        )
    )


tflite("RELU6", in_place=(0,))(_clip(0, 6))
tflite("RELU_N1_TO_1", in_place=(0,))(_clip(-1, 1))
tflite("RELU_0_TO_1", in_place=(0,))(_clip(0, 1))
tflite("FLOOR", "STABLEHLO_FLOOR", in_place=(0,))(
    rule_of_numbers(unary_rule(numpy_function("floor"), lambda d: d, FloatArithmetic.floor))
)
tflite("CEIL", in_place=(0,))(rule_of_numbers(unary_rule(numpy_function("ceil"), lambda d: d, FloatArithmetic.ceil)))
tflite("ROUND", in_place=(0,))(rule_of_numbers(unary_rule(numpy_function("rint"), lambda d: d, FloatArithmetic.round)))
tflite("SQRT", in_place=(0,))(rule_of_numbers(unary_rule(numpy_function("sqrt"), unknown, FloatArithmetic.square_root)))
tflite("SQUARE", in_place=(0,))(
    rule_of_numbers(unary_rule(numpy_function("square"), lambda d: d * d, lambda floats, x: floats.multiply(x, x)))
)

_FUNCTIONS = {
    "COS": "cos",
    "EXP": "exp",
    "LOG": "log",
    "LOGISTIC": "sigmoid",
    "RSQRT": "rsqrt",
    "SIN": "sin",
    "STABLEHLO_COSINE": "cos",
    "STABLEHLO_EXPONENTIAL": "exp",
    "STABLEHLO_LOG": "log",
    "STABLEHLO_LOGISTIC": "sigmoid",
    "STABLEHLO_RSQRT": "rsqrt",
    "STABLEHLO_TANH": "tanh",
    "TANH": "tanh",
}


@tflite(*_FUNCTIONS, in_place=(0,))
def transcendental(c: TensorFlowContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: intervals of known floats."""
    return approximate(c, _FUNCTIONS[c.op_def.name], drop_quantized(x))


@tflite("ELU", "GELU", "HARD_SWISH", "LEAKY_RELU", "STABLEHLO_CBRT", in_place=(0,))
@tflite("DEQUANTIZE", "DENSIFY", "FAKE_QUANT", "QUANTIZE", "COMPLEX_ABS", "IMAG", "REAL")
def same_sizes(c: TensorFlowContext, x: Shape) -> Shape:
    """[*S] -> [*S]."""
    return x


@tflite("LOGICAL_NOT", in_place=(0,))
def negated(c: TensorFlowContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: `not x`."""
    return map_elements("bool", x.shape, logical_not, x)


@tflite("ZEROS_LIKE")
def zeros_like(c: TensorFlowContext, x: Shape) -> PartialTensor:
    """[*S] -> [*S]: zeros."""
    dtype = output_type(c) or c.dtype(0)
    return constant_tensor(dtype, x, zero_of(dtype))


@tflite("SOFTMAX", in_place=(0,))
def softmax(c: TensorFlowContext, x: Shape) -> Shape:
    """[*S, C] -> [*S, C]."""
    if x.dims == ():
        c.fail("the input must have rank 1 or more", x)
    return x


@tflite("LOG_SOFTMAX")
def log_softmax(c: TensorFlowContext, x: Shape) -> Shape:
    """[*S, C] -> [*S, C]."""
    return x


@tflite("L2_NORMALIZATION")
def l2_normalization(c: TensorFlowContext, x: Shape) -> Shape:
    """[*S, C] -> [*S, C]."""
    return require_rank_between(c, x, 1)


@tflite("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(c: TensorFlowContext, x: Shape) -> Shape:
    """[N, H, W, C] -> [N, H, W, C]."""
    return c.require_rank(x, 4)


@tflite("PRELU")
def prelu(c: TensorFlowContext, x: Shape, alpha: Shape) -> Shape:
    """[*S], a slope that broadcasts to it -> [*S]."""
    require_broadcast_to(c, alpha, x, "alpha must broadcast to the input")
    return x


@tflite("CAST", in_place=(0,))
@tflite("STABLEHLO_CONVERT")
def cast(c: TensorFlowContext, x: Value) -> PartialTensor:
    """[*S] -> [*S], in the declared type of the output; the types in the options are not read."""
    dtype = output_type(c)
    if dtype == x.dtype:
        return x
    return name_scalar(c, convert(c, drop_quantized(x), dtype, saturate=False))


@tflite("BUCKETIZE")
def buckets(c: TensorFlowContext, x: Value, *, boundaries: tuple[float, ...] = ()) -> PartialTensor:
    """[*S] -> [*S]: the number of boundaries that are not above each number."""
    return bucketize(c, drop_quantized(x), boundaries=boundaries)


@tflite("CUMSUM")
def cumsum(
    c: TensorFlowContext, x: Value, axis: Value, *, exclusive: bool = False, reverse: bool = False
) -> PartialTensor:
    """[*S], axis [] -> [*S]: running sums along the axis."""
    known = scalar_value(c, axis, "axis")
    along = None if not isinstance(known, int) else axis_of(c, known, len(x.shape))
    return running_total(c, drop_quantized(x), along, exclusive=exclusive, reverse=reverse)
