"""Temporaries of operators that work on single elements of operands that broadcast."""

from __future__ import annotations

from opdefs.onnxruntime.kernels import onnxruntime
from shapeinf.memory.runtimes.kernels import KernelContext, Scratch

onnxruntime.none(
    *("Abs", "Neg", "Floor", "Ceil", "Reciprocal", "Sqrt", "Exp", "Log", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan"),
    *("Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Erf", "Sign", "Round", "Relu", "Sigmoid", "HardSigmoid"),
    *("Elu", "Selu", "LeakyRelu", "ThresholdedRelu", "Softplus", "Softsign", "Celu", "Shrink", "Gelu", "IsNaN"),
    *("IsInf", "Not", "BitwiseNot", "Add", "Sub", "Mul", "Div", "Pow", "Mod", "PRelu", "Equal", "Less", "Greater"),
    *("LessOrEqual", "GreaterOrEqual", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift"),
    *("Cast", "CastLike", "Clip"),
)


@onnxruntime.scratch("Where")
def select(c: KernelContext) -> Scratch:
    """The elements of each side where the condition selects them, and zeros: two tensors that are then merged."""
    condition = c.input(0)
    sides = [c.product(c.width(side), *c.broadcast(condition, c.input(side))) for side in (1, 2)]
    return Scratch(with_outputs=sides)
