"""Element-wise operators of one operand, and their gradients.

`in_place` marks operators of which each output element depends only on the input element at its position: the kernels
reuse the buffer of the operand.
"""

from __future__ import annotations

from math import ceil, isfinite
from typing import Any

from opdefs.rules.contents.arithmetic import absolute, approximate, limit_elements, sign, unary_rule, unknown
from opdefs.rules.contents.bits import inversion
from opdefs.rules.contents.elements import dim_operation, logical_not, map_elements
from opdefs.rules.contents.floats import FloatArithmetic
from opdefs.rules.contents.numpy_functions import numpy_function, positive_part
from opdefs.rules.contents.ordering import insertion_position
from opdefs.rules.contents.truth import infinity_test, is_finite_number, is_not_a_number
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import Dimension, DimSize, maximum, minimum
from shapeinf.lattice import Element, PartialTensor, Shape, element_bits
from shapeinf.ops import Operand, Value


@tf(
    *("Conj", "Cosh", "Dawsn", "Digamma", "Elu"),
    *("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1"),
    *("BesselK1e", "BesselY0", "BesselY1", "Erfc", "Erfinv", "Expint", "FresnelCos", "FresnelSin"),
    *("LeakyRelu", "Lgamma", "Ndtri", "Selu", "Softsign", "Spence", "Tan", "_UnaryOpsComposition"),
    *("RiscAbs", "RiscCeil", "RiscCos", "RiscExp", "RiscFloor", "RiscLog", "RiscLogicalNot", "RiscNeg", "RiscSign"),
    *("RiscUnary", "XlaReducePrecision"),
    in_place=(0,),
)
@tf("Angle", "ComplexAbs", "Imag", "Real", "RiscImag", "RiscIsFinite", "RiscReal")
def same_shape(c: TensorFlowContext, x: Shape) -> Shape:
    """[*S] -> [*S]."""
    return x


_FUNCTIONS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "erf", "exp", "expm1", "log", "log1p", "rsqrt"),
    *("sigmoid", "sin", "sinh", "softplus", "tanh"),
)
_APPROXIMATED = {
    **{name.capitalize(): name for name in _FUNCTIONS},
    "Inv": "reciprocal",
    "Reciprocal": "reciprocal",
}
"""The functions of `float_intervals.APPROXIMATIONS` by operator; the kernels' 1/1 is not 1 in float32."""


@tf(*_APPROXIMATED, in_place=(0,))
def approximated(c: TensorFlowContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: intervals of known floats."""
    return approximate(c, _APPROXIMATED[c.op_def.name], x)


@tf("Softmax", "LogSoftmax")
def softmax(c: TensorFlowContext, logits: Shape) -> Shape:
    """[*S, C] -> [*S, C]."""
    return c.with_rank_at_least(logits, 1)


@tf(
    "ReluGrad",
    "Relu6Grad",
    "LeakyReluGrad",
    "EluGrad",
    "SeluGrad",
    "SoftplusGrad",
    "SoftsignGrad",
    in_place=(0,),
)
def activation_grad(c: TensorFlowContext, gradients: Shape, features: Shape) -> Shape:
    """[*S], [*S] -> [*S]: gradients and features."""
    return c.merge(gradients, features)


@tf("InvGrad", "ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad", in_place=(0, 1))
def unary_gradient(c: TensorFlowContext, y: Shape, dy: Shape) -> Shape:
    """[*S], [*T] of as many elements -> [*S]: the output of the operator, and the gradient."""
    message = "The two arguments to a cwise op must have same number of elements"
    if y.dims is not None and dy.dims is not None and y.dims != dy.dims:
        if c.prove_eq(c.numel(y), c.numel(dy)) is False:
            raise ShapeError(message, operands=(str(y), str(dy)))
        c.merge(c.numel(y), c.numel(dy), message)
    return y


tf("Abs", in_place=(0,))(absolute)
tf("Sign", in_place=(0,))(sign)
tf("Neg", in_place=(0,))(unary_rule(numpy_function("negative"), lambda d: -d, FloatArithmetic.negate))
tf("Relu", in_place=(0,))(unary_rule(positive_part, lambda d: maximum(d, 0), lambda floats, x: floats.maximum(x, 0.0)))
tf("Relu6", in_place=(0,))(
    unary_rule(
        lambda x: x.clip(0, 6),
        lambda d: minimum(maximum(d, 0), 6),
        lambda floats, x: floats.minimum(floats.maximum(x, 0.0), 6.0),
    )
)
tf("Floor", in_place=(0,))(unary_rule(numpy_function("floor"), lambda d: d, FloatArithmetic.floor))
tf("Ceil", in_place=(0,))(unary_rule(numpy_function("ceil"), lambda d: d, FloatArithmetic.ceil))
tf("Round", "Rint", in_place=(0,))(unary_rule(numpy_function("rint"), lambda d: d, FloatArithmetic.round))
tf("Sqrt", in_place=(0,))(unary_rule(numpy_function("sqrt"), unknown, FloatArithmetic.square_root))


def _square(floats: FloatArithmetic, x: Any) -> Any:
    return floats.multiply(x, x)


tf("Square", in_place=(0,))(unary_rule(numpy_function("square"), lambda d: d * d, _square))


@tf("Invert", in_place=(0,))
def invert(c: TensorFlowContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: the bits of integers inverted, which is `-x - 1` for signed ones."""
    return map_elements(x.dtype, x.shape, inversion(c, x.dtype), x)


@tf("PopulationCount")
def population_count(c: TensorFlowContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: the number of bits of each integer that are set."""
    bits = element_bits(x.dtype or "") or 0

    def count(d: DimSize) -> DimSize | None:
        return (d % 2**bits).bit_count() if isinstance(d, int) else None

    return map_elements("uint8", x.shape, dim_operation(count), x)


@tf("LogicalNot", in_place=(0,))
def negation(c: TensorFlowContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: `not x`."""
    return map_elements("bool", x.shape, logical_not, x)


@tf("IsNan", "IsInf")
def is_nan_or_infinite(c: TensorFlowContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: false for sizes, which are finite numbers."""
    test = is_not_a_number if c.op_def.name == "IsNan" else infinity_test()
    return map_elements("bool", x.shape, test, x)


@tf("IsFinite")
def is_finite(c: TensorFlowContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: true for sizes, which are finite numbers."""
    return map_elements("bool", x.shape, is_finite_number, x)


@tf("ClipByValue", in_place=(0,))
def clip_by_value(c: TensorFlowContext, t: Operand, clip_value_min: Operand, clip_value_max: Operand) -> PartialTensor:
    """[*S], limits -> [*S]; contents where the limits are scalars."""
    for limit in (clip_value_min, clip_value_max):
        if limit.shape.dims is None or len(limit.shape.dims) > 0:
            return PartialTensor(t.dtype, t.shape, None)
    return limit_elements(c, t, clip_value_min, clip_value_max)


@tf("StochasticCastToInt")
def stochastic_cast(c: TensorFlowContext, input: Shape, key: Shape, counter: Shape, alg: Shape) -> Shape:
    """[*S], key [*], counter [*], alg [] -> [*S]."""
    c.with_rank(key, 1)
    c.with_rank(counter, 1)
    c.with_rank(alg, 0)
    return input


@tf("Bucketize")
def bucketize(c: TensorFlowContext, input: Value, *, boundaries: tuple[float, ...]) -> PartialTensor:
    """[*S] -> [*S]: the bucket of each number, the number of boundaries that are not above it."""
    import numpy as np

    limits = np.array(boundaries, dtype=np.float32).tolist()
    next_integers = [ceil(limit) if isfinite(limit) else limit for limit in limits]

    def bucket(element: Element) -> Element:
        of_size = isinstance(element, Dimension)  # a size is not below a boundary if it is not below the next integer
        return insertion_position(c, next_integers if of_size else limits, element, after_equal=True)

    return map_elements("int32", input.shape, bucket, input)


@tf("Cross")
def cross_product(c: TensorFlowContext, a: Shape, b: Shape) -> Shape:
    """[*S, 3], [*S, 3] -> [*S, 3]."""
    a, b = c.with_rank_at_least(a, 1), c.with_rank_at_least(b, 1)
    shape = c.merge(a, b)
    if shape.dims is not None:
        c.with_value(shape[-1], 3)
    return c.store.canon_shape(shape)
