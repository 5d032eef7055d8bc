"""Element-wise operators: the shape of the input, or numpy broadcasting.

`in_place` marks operators whose output elements need only the input element at the same position; ONNX Runtime's
kernels mark most of them `MayInplace`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.arithmetic import (
    absolute,
    approximate_rule,
    binary_rule,
    division_rule,
    extreme,
    floored_remainder,
    integer_division,
    limit_elements,
    numpy_broadcast,
    power,
    reciprocal,
    sign,
    total,
    truncated_remainder,
    unary_rule,
    unknown,
)
from opdefs.rules.contents.bits import bitwise_operation, inversion, shift_operation
from opdefs.rules.contents.elements import dim_operation, fold_elements, is_float, known_ints, map_elements
from opdefs.rules.contents.floats import FloatArithmetic
from opdefs.rules.contents.numpy_functions import numpy_function, positive_part
from opdefs.rules.contents.progressions import add, multiply, subtract
from opdefs.rules.contents.rearrangement import keep_band
from opdefs.rules.contents.truth import infinity_test, is_not_a_number
from opdefs.rules.operands import require_broadcast_size, require_broadcast_to, require_scalar, require_single
from opdefs.rules.reduction import mean_by_weight, running_total
from shapeinf.expr import maximum
from shapeinf.lattice import PartialTensor, Shape, Type
from shapeinf.ops import InferenceContext, Operand, Value


@onnx(
    *("Celu", "Cosh", "Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Selu", "Shrink", "Softsign"),
    *("Swish", "Tan", "ThresholdedRelu"),
    in_place=(0,),
)
@onnx(*("LRN", "LpNormalization", "MeanVarianceNormalization"))
def same_shape(c: InferenceContext, x: Shape, *others: Shape | None) -> Shape:
    """The shape of the first input."""
    return x


@onnx("PRelu", since=7, in_place=(0,))
def parametric_relu(c: InferenceContext, x: Shape, slope: Shape) -> Shape:
    """[*S], a slope that broadcasts to it -> [*S]."""
    require_broadcast_to(c, slope, x, "the slope must broadcast to the shape of the input")
    return x


@onnx("PRelu", in_place=(0,))
def parametric_relu_by_channel(c: InferenceContext, x: Shape, slope: Shape) -> Shape:
    """Before opset 7: one slope, or one per channel."""
    if x.dims is not None and slope.dims is not None and len(x.dims) > 1:
        require_broadcast_size(c, c.numel(slope), x.dims[1], "the slope must have one element, or one per channel")
    return x


@onnx("Softmax", "LogSoftmax", "Hardmax")
def along_axis(c: InferenceContext, x: Shape, *, axis: int | None = None) -> Shape:
    """The shape of the input, of rank 1 or more; the axis is the last by default (before opset 13 the second)."""
    if x.dims is not None:
        if not x.dims:
            c.fail("the input must have rank 1 or more", x)
        at = axis if axis is not None else -1 if c.version >= 13 else min(1, len(x.dims))
        if c.version >= 13 or at != len(x.dims):  # before opset 13 all axes may be in front of the axis
            c.axis(at, len(x.dims))
    return x


@onnx("Trilu", in_place=(0,))
def triangle(c: InferenceContext, x: Value, k: Value | None = None, *, upper: int = 1) -> PartialTensor:
    """[*B, N, M] -> [*B, N, M]: zeros below, or without `upper` above, the diagonal `k`, a single element."""
    if x.shape.dims is not None and len(x.shape.dims) < 2:
        c.fail("the input must have rank 2 or more", x.shape)
    require_single(c, None if k is None else k.shape, "k must have exactly one element")
    named = (0,) if k is None else known_ints(k)
    if x.elements is None or not named:
        return PartialTensor(x.dtype, x.shape, None)
    return keep_band(x, -named[0], None) if upper else keep_band(x, None, named[0])


def _axis_of_operand(c: InferenceContext, x: Shape, axis: PartialTensor) -> int | None:
    """The axis that the one-element input `axis` holds; None if it or the rank is unknown."""
    require_single(c, axis.shape, "axis must have exactly one element")
    if x.dims == ():
        c.fail("the input must have rank 1 or more", x)
    known = known_ints(axis)
    return c.axis(known[0], len(x)) if known and x.dims is not None else None


@onnx("CumSum", "CumProd")
def cumulative(c: InferenceContext, x: Value, axis: Value, *, exclusive: int = 0, reverse: int = 0) -> PartialTensor:
    """[*S] -> [*S]: the running sums or products along the axis in the single element of `axis`."""
    along, operation = _axis_of_operand(c, x.shape, axis), c.op_def.name.removeprefix("Cum")
    return running_total(c, x, along, exclusive=bool(exclusive), reverse=bool(reverse), operation=operation)


@onnx("Identity", views={0: 0})
def identity(c: InferenceContext, x: Type) -> Type:
    """The input, with its contents."""
    return x


onnx("Abs", in_place=(0,))(absolute)
onnx("Neg", in_place=(0,))(unary_rule(numpy_function("negative"), lambda d: -d, FloatArithmetic.negate))
onnx("Relu", in_place=(0,))(
    unary_rule(positive_part, lambda d: maximum(d, 0), lambda floats, x: floats.maximum(x, 0.0))
)
onnx("Floor", in_place=(0,))(unary_rule(numpy_function("floor"), lambda d: d, FloatArithmetic.floor))
onnx("Ceil", in_place=(0,))(unary_rule(numpy_function("ceil"), lambda d: d, FloatArithmetic.ceil))
onnx("Round", in_place=(0,))(unary_rule(numpy_function("rint"), lambda d: d, FloatArithmetic.round))
onnx("Sqrt", in_place=(0,))(unary_rule(numpy_function("sqrt"), unknown, FloatArithmetic.square_root))
for _name in ("exp", "log", "sin", "cos", "atan", "asin", "acos", "sinh", "asinh", "acosh", "atanh", "tanh", "sigmoid"):
    onnx(_name.capitalize(), in_place=(0,))(approximate_rule(_name))
onnx("Erf", in_place=(0,))(approximate_rule("erf"))
onnx("Softplus", in_place=(0,))(approximate_rule("softplus"))
onnx("Reciprocal", in_place=(0,))(reciprocal)
onnx("Sign", in_place=(0,))(sign)


_arithmetic_rule = partial(binary_rule, numpy_broadcast)
onnx("Add", since=7, in_place=(0, 1))(
    _arithmetic_rule(numpy_function("add"), lambda a, b: a + b, FloatArithmetic.add, add)
)
onnx("Sub", since=7, in_place=(0, 1))(
    _arithmetic_rule(numpy_function("subtract"), lambda a, b: a - b, FloatArithmetic.subtract, subtract)
)
onnx("Mul", since=7, in_place=(0, 1))(
    _arithmetic_rule(numpy_function("multiply"), lambda a, b: a * b, FloatArithmetic.multiply, multiply)
)
onnx("Div", since=7, in_place=(0, 1))(division_rule(numpy_broadcast))


@onnx("Mod", in_place=(0, 1))
def modulo(c: InferenceContext, a: Operand, b: Operand, *, fmod: int = 0) -> PartialTensor:
    """Numpy broadcasting; the sign of the divisor, with `fmod` that of the dividend."""
    remainder = truncated_remainder(c) if fmod else floored_remainder(c)
    concrete = numpy_function("fmod") if fmod else numpy_function("mod")
    shape = c.broadcast(a.shape, b.shape)
    if is_float(a.dtype):
        return fold_elements(None, shape, concrete, dim_operation(remainder), a, b)
    return integer_division(c, shape, concrete, remainder, a, b)


@onnx("Pow", since=7, in_place=(0,))
def pow_(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
    """Numpy broadcasting; contents for small integer exponents. The element type is that of the base."""
    return power(c, c.broadcast(a.shape, b.shape), a, b, FloatArithmetic.power_or_root)


def _extreme_rule(name: str) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, *xs: Operand) -> PartialTensor:
        """Numpy broadcasting of any number of inputs."""
        return extreme(c, name, c.broadcast(*(x.shape for x in xs)), *xs)

    return rule


onnx("Max", since=8, in_place=(0, 1))(_extreme_rule("Max"))
onnx("Min", since=8, in_place=(0, 1))(_extreme_rule("Min"))


@onnx("Sum", since=8, in_place=(0, 1))
def sum_(c: InferenceContext, *xs: Operand) -> PartialTensor:
    """Numpy broadcasting of any number of inputs; contents where all are known."""
    return total(c, c.broadcast(*(x.shape for x in xs)), xs)


@onnx("Mean", since=8, in_place=(0, 1))
def mean(c: InferenceContext, *xs: Operand) -> PartialTensor:
    """Numpy broadcasting of any number of inputs; contents where all are known."""
    dtype = xs[0].dtype
    shape = c.broadcast(*(x.shape for x in xs))
    return map_elements(dtype, shape, lambda *elements: mean_by_weight(c, dtype, elements), *xs)


@onnx("BitwiseAnd", "BitwiseOr", "BitwiseXor", in_place=(0, 1))
def bitwise(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
    """Numpy broadcasting; contents where both are known, or where one is a constant of few groups of bits."""
    name = c.op_def.name.removeprefix("Bitwise").lower()
    return map_elements(a.dtype, c.broadcast(a.shape, b.shape), bitwise_operation(c, a.dtype, name), a, b)


@onnx("BitwiseNot", in_place=(0,))
def bitwise_not(c: InferenceContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: all bits inverted."""
    return map_elements(x.dtype, x.shape, inversion(c, x.dtype), x)


@onnx("BitShift", in_place=(0, 1))
def bit_shift(c: InferenceContext, a: Operand, b: Operand, *, direction: str) -> PartialTensor:
    """Numpy broadcasting; a shift by a known number of bits is a product or a quotient."""
    if direction not in ("LEFT", "RIGHT"):
        c.fail("direction must be LEFT or RIGHT", direction)
    operation = shift_operation(c, a.dtype, left=direction == "LEFT")
    return map_elements(a.dtype, c.broadcast(a.shape, b.shape), operation, a, b)


@onnx("IsNaN")
def is_nan(c: InferenceContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: false for sizes and their fractions."""
    return map_elements("bool", x.shape, is_not_a_number, x)


@onnx("IsInf")
def is_inf(c: InferenceContext, x: Operand, *, detect_negative: int = 1, detect_positive: int = 1) -> PartialTensor:
    """[*S] -> [*S]: false for sizes and their fractions."""
    return map_elements("bool", x.shape, infinity_test(bool(detect_negative), bool(detect_positive)), x)


@onnx("Max", "Min", "Sum", "Mean", in_place=(0, 1))
def equal_shapes(c: InferenceContext, *xs: Shape) -> Shape:
    """Before opset 8: no broadcasting, all inputs have the same shape."""
    result = xs[0]
    for x in xs[1:]:
        result = c.merge(result, x, "inputs must have the same shape: before opset 8 they do not broadcast")
    return result


@onnx("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less", in_place=(0,))
def limited_broadcast(c: InferenceContext, a: Shape, b: Shape, *, axis: int = 0, broadcast: int = 0) -> Shape:
    """Before opset 7: the shape of the first input; the second equals it, or part of it with `broadcast`."""
    if not broadcast:
        c.expect(a, b, "inputs must have the same shape: the attribute broadcast is not set")
    return a


@onnx("SwiGLU", in_place=(0, 1))
def swiglu(c: InferenceContext, gate: Shape, x: Shape) -> Shape:
    """[*S], [*S] -> [*S]; no broadcasting."""
    return c.merge(gate, x, "A and B must have the same shape")


@onnx("Clip", in_place=(0,))
def clip(c: InferenceContext, x: Value, low: Value | None = None, high: Value | None = None) -> PartialTensor:
    """The shape of the input; its contents are clipped where they and the bounds, which are inputs, are known."""
    if low is None and high is None and c.version < 11:
        return PartialTensor(x.dtype, x.shape, None)
    for bound, name in ((low, "min"), (high, "max")):
        require_single(c, None if bound is None else bound.shape, f"{name} must have exactly one element")
    return limit_elements(c, x, low, high)


# In versions 7 to 11, which are for inference only, the output is the input; others may drop elements.
@onnx("Dropout", since=7, views={0: 0})
@onnx("Dropout", since=12, in_place=(0,))
@onnx("Dropout", in_place=(0,))
def dropout(
    c: InferenceContext, x: Value, ratio: Shape | None = None, training: Value | None = None
) -> tuple[PartialTensor, Shape]:
    """Output and mask have the shape of the input, which is the output unless `training_mode` is or may be true."""
    require_scalar(c, ratio, "ratio")
    require_scalar(c, None if training is None else training.shape, "training_mode")
    infers = c.version >= 7 and (training is None or training.elements == (False,))
    return x if infers else PartialTensor(x.dtype, x.shape, None), x.shape
