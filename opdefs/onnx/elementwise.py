"""Element-wise operators: the shape of the input, or numpy broadcasting.

`in_place` marks operators whose output elements need only the input element at the same position; ONNX Runtime's
kernels mark most of them `MayInplace`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import (
    Operation,
    dim_operation,
    drop_overflow,
    fold_elements,
    is_float,
    known_dims,
    known_ints,
    map_elements,
    truncated_quotient,
)
from opdefs.rules.floats import FloatArithmetic, float_operation
from opdefs.rules.operands import require_broadcast_size, require_broadcast_to, require_scalar, require_single
from opdefs.rules.progressions import add, multiply, running_sum, subtract
from shapeinf.expr import Dim, Dimension, maximum, minimum
from shapeinf.lattice import Element, PartialTensor, Progression, Shape, Type
from shapeinf.ops import InferenceContext, Operand, Value


@onnx(
    *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Celu", "Cos", "Cosh", "Elu", "Erf", "Gelu"),
    *("HardSigmoid", "HardSwish", "IsInf", "IsNaN", "LeakyRelu", "Mish", "Selu"),
    *("Shrink", "Sigmoid", "Sin", "Sinh", "Softplus", "Softsign", "Swish", "Tan", "Tanh", "ThresholdedRelu"),
    in_place=(0,),
)
@onnx(*("LRN", "LpNormalization", "MeanVarianceNormalization"))
def same_shape(c: InferenceContext, x: Shape, *others: Shape | None) -> Shape:
    """The shape of the first input."""
    return x


@onnx("PRelu", since=7, in_place=(0,))
def parametric_relu(c: InferenceContext, x: Shape, slope: Shape) -> Shape:
    """The shape of the input, to which the slope broadcasts."""
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
def triangle(c: InferenceContext, x: Shape, k: Shape | None = None) -> Shape:
    """[*B, N, M] -> the same; `k` has one element."""
    if x.dims is not None and len(x.dims) < 2:
        c.fail("the input must have rank 2 or more", x)
    require_single(c, k, "k must have exactly one element")
    return x


def _read_axis(c: InferenceContext, x: Shape, axis: PartialTensor) -> int | None:
    """The axis that a one-element input holds, None if unknown."""
    require_single(c, axis.shape, "axis must have exactly one element")
    if x.dims == ():
        c.fail("the input must have rank 1 or more", x)
    known = known_ints(axis)
    return c.axis(known[0], len(x)) if known and x.dims is not None else None


@onnx("CumProd")
def cumulative_product(c: InferenceContext, x: Shape, axis: Value) -> Shape:
    """The shape of the input."""
    _read_axis(c, x, axis)
    return x


@onnx("CumSum")
def cumulative_sum(
    c: InferenceContext, x: Value, axis: Value, *, exclusive: int = 0, reverse: int = 0
) -> PartialTensor:
    """The shape of the input; contents of vectors."""
    along, elements = _read_axis(c, x.shape, axis), known_dims(x)
    if x.shape.rank != 1 or elements is None or None in elements or is_float(x.dtype):
        if x.contents is None or along is None:
            return PartialTensor(x.dtype, x.shape, None)
        return running_sum(x, along, bool(exclusive), bool(reverse))
    ordered = [e for e in elements if e is not None][:: -1 if reverse else 1]
    sums = list(accumulate(ordered))
    sums = [s - e if exclusive else s for s, e in zip(sums, ordered, strict=True)]
    return PartialTensor(x.dtype, x.shape, [drop_overflow(x.dtype, s) for s in sums[:: -1 if reverse else 1]])


@onnx("Identity", views={0: 0})
def identity(c: InferenceContext, x: Type) -> Type:
    """The input itself, contents too."""
    return x


OnElements = Callable[..., Element]
"""A method of `FloatArithmetic`."""


def _unary_rule(
    concrete: Callable[[Any], Any], symbolic: Callable[[Dim], Dim | None], rounded: OnElements | None = None
) -> Callable[..., PartialTensor]:
    """`rounded` is the operation on floats."""

    def rule(c: InferenceContext, x: Operand) -> PartialTensor:
        """Element by element."""
        floats = rounded is not None and is_float(x.dtype)
        operation = float_operation(c, x.dtype, concrete, rounded) if floats else dim_operation(symbolic)  # type: ignore[arg-type]
        return fold_elements(x.dtype, x.shape, concrete, operation, x)

    return rule


def _unknown(_: Dim) -> Dim | None:
    return None


def _absolute(c: InferenceContext, x: Operand) -> PartialTensor:
    """`|x|`, symbolic where the sign is known."""

    def operation(d: Dim) -> Dim | None:
        return d if c.prove_le(0, d) is True else -d if c.prove_le(d, 0) is True else None

    return fold_elements(x.dtype, x.shape, np.abs, dim_operation(operation), x)


onnx("Abs", in_place=(0,))(_absolute)
onnx("Neg", in_place=(0,))(_unary_rule(np.negative, lambda d: -d, FloatArithmetic.negate))
onnx("Relu", in_place=(0,))(_unary_rule(lambda x: np.maximum(x, 0), lambda d: maximum(d, 0)))
onnx("Floor", in_place=(0,))(_unary_rule(np.floor, lambda d: d, FloatArithmetic.floor))
onnx("Ceil", in_place=(0,))(_unary_rule(np.ceil, lambda d: d, FloatArithmetic.ceil))
onnx("Round", in_place=(0,))(_unary_rule(np.rint, lambda d: d, FloatArithmetic.round))
onnx("Sqrt", in_place=(0,))(_unary_rule(np.sqrt, _unknown))
onnx("Exp", in_place=(0,))(_unary_rule(np.exp, _unknown))
onnx("Log", in_place=(0,))(_unary_rule(np.log, _unknown))
onnx("Reciprocal", in_place=(0,))(_unary_rule(lambda x: 1 / x, _unknown, lambda floats, x: floats.divide(1.0, x)))
onnx("Sign", in_place=(0,))(_unary_rule(np.sign, _unknown))


def _binary_rule(
    concrete: Callable[[Any, Any], Any],
    symbolic: Callable[[Dim, Dim], Dim],
    rounded: OnElements,
    even: Callable[[PartialTensor, PartialTensor, Shape], PartialTensor],
) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
        """Numpy broadcasting; contents where both are known."""
        shape = c.broadcast(a.shape, b.shape)
        if a.__class__ is Progression or b.__class__ is Progression:
            return even(a, b, shape)
        return fold_elements(None, shape, concrete, _arithmetic(c, a.dtype, concrete, symbolic, rounded), a, b)

    return rule


def _arithmetic(
    c: InferenceContext,
    dtype: str | None,
    concrete: Callable[..., Any],
    symbolic: Callable[..., Dim | None],
    rounded: OnElements,
) -> Operation:
    """An operation on elements of any type of numbers: integers that would wrap around are unknown, floats rounded."""
    if is_float(dtype):
        return float_operation(c, dtype, concrete, rounded)
    operation = dim_operation(symbolic)
    return lambda *elements: drop_overflow(dtype, operation(*elements))


onnx("Add", since=7, in_place=(0, 1))(_binary_rule(np.add, lambda a, b: a + b, FloatArithmetic.add, add))
onnx("Sub", since=7, in_place=(0, 1))(_binary_rule(np.subtract, lambda a, b: a - b, FloatArithmetic.subtract, subtract))
onnx("Mul", since=7, in_place=(0, 1))(_binary_rule(np.multiply, lambda a, b: a * b, FloatArithmetic.multiply, multiply))


@onnx("Div", since=7, in_place=(0, 1))
def divide(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
    """Broadcasting; integers divide towards zero, fractions of sizes stay known until they are rounded."""
    shape = c.broadcast(a.shape, b.shape)
    if is_float(a.dtype):
        return fold_elements(
            None, shape, np.divide, float_operation(c, a.dtype, np.divide, FloatArithmetic.divide), a, b
        )
    quotient = dim_operation(truncated_quotient(c))
    if _may_have_zero(c, b):
        return map_elements(None, shape, quotient, a, b)
    return fold_elements(None, shape, _integer_quotient, quotient, a, b)


def _integer_quotient(a: Any, b: Any) -> Any:
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) == (b < 0), quotient, -quotient).astype(a.dtype)


@onnx("Mod", in_place=(0, 1))
def modulo(c: InferenceContext, a: Operand, b: Operand, *, fmod: int = 0) -> PartialTensor:
    """Broadcasting; Python's sign unless `fmod`."""

    def remainder(x: Dim, y: Dim) -> Dim | None:
        return x % y if c.prove_le(1, y) is True and (not fmod or c.prove_le(0, x) is True) else None

    shape = c.broadcast(a.shape, b.shape)
    if not is_float(a.dtype) and _may_have_zero(c, b):
        return map_elements(None, shape, dim_operation(remainder), a, b)
    return fold_elements(None, shape, np.fmod if fmod else np.mod, dim_operation(remainder), a, b)


def _may_have_zero(c: InferenceContext, divisors: PartialTensor) -> bool:
    """Whether a known divisor may be 0: integer division by 0 is undefined and may abort, so it is advised against."""
    zeros = [d for d in divisors.elements or () if d == 0 or (isinstance(d, Dimension) and c.store.bounds(d)[0] == 0)]
    for d in zeros:
        if isinstance(d, (int, Dimension)):
            c.advise_at_most(1, d, "some runtimes abort on integer division by 0")
    return bool(zeros)


@onnx("Pow", since=7, in_place=(0,))
def power(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
    """Broadcasting; contents for known operands and small integer exponents. The element type is that of the base."""

    def integer_power(x: Dim, y: Dim) -> Dim | None:
        if not isinstance(y, int) or not 0 <= y <= 4:
            return None
        total: Dim = 1
        for _ in range(y):
            total = total * x
        return total

    def float_power(x: Any, y: Any) -> Any:
        return np.power(x.astype(float), y).astype(x.dtype)

    operation = (
        dim_operation(integer_power)
        if not is_float(a.dtype)
        else float_operation(c, a.dtype, float_power, FloatArithmetic.power)
    )
    return fold_elements(a.dtype, c.broadcast(a.shape, b.shape), float_power, operation, a, b)


def _extreme_rule(name: str) -> Callable[..., PartialTensor]:
    concrete = np.maximum if name == "Max" else np.minimum

    def rule(c: InferenceContext, *xs: Operand) -> PartialTensor:
        """Broadcasting of any number of inputs."""
        shape = c.broadcast(*(x.shape for x in xs))
        pick = maximum if name == "Max" else minimum
        return fold_elements(None, shape, lambda *arrays: _reduce(concrete, arrays), dim_operation(pick), *xs)

    return rule


def _reduce(operation: Callable[[Any, Any], Any], arrays: tuple[Any, ...]) -> Any:
    result = arrays[0]
    for array in arrays[1:]:
        result = operation(result, array)
    return result


onnx("Max", since=8, in_place=(0, 1))(_extreme_rule("Max"))
onnx("Min", since=8, in_place=(0, 1))(_extreme_rule("Min"))


@onnx("Sum", since=8, in_place=(0, 1))
def sum_(c: InferenceContext, *xs: Operand) -> PartialTensor:
    """Broadcasting of any number of inputs; contents where all are known."""

    def sum_arrays(*arrays: Any) -> Any:
        return _reduce(np.add, arrays)

    def sum_floats(floats: FloatArithmetic, *elements: Element) -> Element:
        return reduce(floats.add, elements)

    shape = c.broadcast(*(x.shape for x in xs))
    operation = _arithmetic(c, xs[0].dtype, sum_arrays, lambda *dims: sum(dims), sum_floats)
    return fold_elements(None, shape, sum_arrays, operation, *xs)


@onnx("Mean", since=8, in_place=(0, 1))
@onnx("BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", in_place=(0, 1))
def broadcasting(c: InferenceContext, *xs: Shape) -> Shape:
    """Numpy broadcasting of any number of inputs."""
    return c.broadcast(*xs)


@onnx("Max", "Min", "Sum", "Mean", in_place=(0, 1))
def equal_shapes(c: InferenceContext, *xs: Shape) -> Shape:
    """Before opset 8: no broadcasting, all inputs have the same shape."""
    result = xs[0]
    for x in xs[1:]:
        result = c.merge(result, x, "inputs must have the same shape (no broadcasting before opset 8)")
    return result


@onnx("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less", in_place=(0,))
def limited_broadcast(c: InferenceContext, a: Shape, b: Shape, *, axis: int = 0, broadcast: int = 0) -> Shape:
    """Before opset 7: the shape of the first input; the second equals it, or part of it with `broadcast`."""
    if not broadcast:
        c.expect(a, b, "inputs must have the same shape (no broadcast attribute)")
    return a


@onnx("SwiGLU", in_place=(0, 1))
def gated(c: InferenceContext, gate: Shape, x: Shape) -> Shape:
    """Both inputs have the same shape; no broadcasting."""
    return c.merge(gate, x, "gate and value must have the same shape")


@onnx("Clip", in_place=(0,))
def clip(c: InferenceContext, x: Value, low: Value | None = None, high: Value | None = None) -> PartialTensor:
    """The shape of the input; contents clipped where bounds and contents are known (bounds as inputs)."""
    if low is None and high is None and c.version < 11:
        return PartialTensor(x.dtype, x.shape, None)
    for bound in (low, high):
        require_single(c, None if bound is None else bound.shape, "a bound must have exactly one element")
    result = x
    for bound, concrete, pick in ((low, np.maximum, maximum), (high, np.minimum, minimum)):
        if bound is not None and bound.shape.dims in ((), (1,)):
            result = fold_elements(x.dtype, x.shape, concrete, dim_operation(pick), result, bound)
        elif bound is not None:
            result = PartialTensor(x.dtype, x.shape, None)  # no scalar
    return result


# Versions 7 to 11 are for inference only, where the output is the input; others may drop elements.
@onnx("Dropout", since=7, views={0: 0})
@onnx("Dropout", since=12, in_place=(0,))
@onnx("Dropout", in_place=(0,))
def dropout(
    c: InferenceContext, x: Shape, ratio: Shape | None = None, training: Shape | None = None
) -> tuple[Shape, Shape]:
    """Output and mask have the shape of the input."""
    require_scalar(c, ratio, "the ratio")
    require_scalar(c, training, "training_mode")
    return x, x
