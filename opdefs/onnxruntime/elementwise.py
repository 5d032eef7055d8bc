"""Temporaries of operators on single elements of operands that broadcast, and of activations."""

from __future__ import annotations

from itertools import pairwise

from opdefs.onnxruntime.kernels import MS, onnxruntime
from shapeinf.expr import maximum
from shapeinf.memory.runtimes.kernels import KernelContext, Scratch

onnxruntime.none(
    *("Abs", "Neg", "Floor", "Ceil", "Reciprocal", "Sqrt", "Exp", "Log", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan"),
    *("Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Erf", "Sign", "Round", "Relu", "Sigmoid", "HardSigmoid"),
    *("Elu", "Selu", "LeakyRelu", "ThresholdedRelu", "Softplus", "Softsign", "Celu", "Shrink", "Gelu", "IsNaN"),
    *("IsInf", "Not", "BitwiseNot", "Add", "Sub", "Mul", "Div", "Pow", "Mod", "PRelu", "Equal", "Less", "Greater"),
    *("LessOrEqual", "GreaterOrEqual", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift"),
    *("Cast", "Clip", "Dropout"),
)
onnxruntime.none("Gelu", "QuickGelu", "ScaledSiLU", "SampleOp", domain=MS)


@onnxruntime.scratch("Where")
def select(c: KernelContext) -> Scratch:
    """The elements of each side where the condition selects them, and zeros: two tensors, which are then merged."""
    return selected_sides(c, 1, 2)


def selected_sides(c: KernelContext, first: int, second: int) -> Scratch:
    """A tensor for each of two inputs, broadcast with the condition, which is input 0."""
    sides = [c.product(c.width(side), *c.broadcast(c.input(0), c.input(side))) for side in (first, second)]
    return Scratch(sides, first=True)


@onnxruntime.scratch("Max", "Min", "Sum", "Mean")
def accumulation(c: KernelContext) -> Scratch:
    """The result so far of three and more operands: two of them live at a time, the last one with the output."""
    shapes = [c.input(index) for index in range(len(c.types))]
    results = [c.product(c.width(0), *c.broadcast(*shapes[:count])) for count in range(2, len(shapes))]
    if len(results) < 2:
        return Scratch(results, first=True)
    pairs = [c.total(*pair) for pair in pairwise(results)]
    return Scratch(results[-1:], before_outputs=[maximum(*pairs)], first=True)


@onnxruntime.scratch("BiasGelu", "FastGelu", domain=MS)
def gelu(c: KernelContext) -> Scratch:
    """A tensor like the input, if there is a bias."""
    return Scratch([c.input_bytes(0)] if c.has_input(1) else [])
