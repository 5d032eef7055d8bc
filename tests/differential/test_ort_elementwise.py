"""Elementwise operators, comparisons, logic, selection by condition, casts and quantization, against onnxruntime."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.differential import ort
from tests.differential.cases import case, tensor
from tests.differential.draws import axis_of, broadcastable, flag, opset, shapes

UNARY = ("Abs", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "LeakyRelu", "Neg", "Relu", "Round", "Selu")
UNARY += ("Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Sqrt", "Tanh", "Identity", "IsNaN", "IsInf", "Shrink")
UNARY += (
    "Softmax",
    "LogSoftmax",
    "Hardmax",
    "Mish",
    "HardSwish",
    "ThresholdedRelu",
    "Celu",
    "Gelu",
    "Log",
    "Reciprocal",
)


def unary(draw):
    op = draw(st.sampled_from(UNARY))
    low = 1 if op.endswith("max") else 0
    return case(op, tensor(draw(shapes(low=low, least=draw(st.integers(0, 1))))), opset=draw(opset(13, 18, 20, 21)))


def arithmetic(draw):
    op = draw(st.sampled_from(("Add", "Sub", "Mul", "Div", "Pow", "Mod")))
    a, b = broadcastable(draw, 2)
    return case(op, tensor(a), tensor(b) + 4, opset=draw(opset(7, 13, 14, 21)), fmod=1 if op == "Mod" else None)


def prelu(draw):
    """The slope broadcasts to the data, not both to each other."""
    shape = draw(shapes())
    slope = [draw(st.sampled_from((n, 1))) for n in shape[draw(st.integers(0, len(shape))) :]]
    return case("PRelu", tensor(shape), tensor(slope), opset=draw(opset(9, 16)))


def integers(draw):
    """Arithmetic of ints; the contents of constants are followed through it."""
    op = draw(st.sampled_from(("Add", "Sub", "Mul", "Div", "Mod")))
    a, b = broadcastable(draw, 2)
    return case(op, tensor(a, "int64"), tensor(b, "int64") * 2 + 1, deciding=(0, 1), opset=draw(opset(13, 14, 21)))


def variadic(draw):
    op = draw(st.sampled_from(("Sum", "Mean", "Max", "Min")))
    operands = broadcastable(draw, draw(st.integers(1, 4)))
    return case(op, *map(tensor, operands), opset=draw(opset(8, 13, 21)))


def comparison(draw):
    op = draw(st.sampled_from(("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")))
    dtype = draw(st.sampled_from(("float32", "int64", "int32")))
    a, b = broadcastable(draw, 2)
    return case(op, tensor(a, dtype), tensor(b, dtype), opset=draw(opset(12, 13, 16, 21)))


def logic(draw):
    op = draw(st.sampled_from(("And", "Or", "Xor")))
    a, b = broadcastable(draw, 2)
    return case(op, tensor(a, "bool"), tensor(b, "bool"), opset=draw(opset(7, 13, 21)))


def negation(draw):
    return case("Not", tensor(draw(shapes()), "bool"))


def bitwise(draw):
    op = draw(st.sampled_from(("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift")))
    a, b = broadcastable(draw, 2)
    direction = "LEFT" if op == "BitShift" else None
    return case(op, tensor(a, "uint32"), tensor(b, "uint32"), direction=direction)


def where(draw):
    dtype = draw(st.sampled_from(("float32", "int64", "string")))
    condition, a, b = broadcastable(draw, 3)
    deciding = draw(st.sampled_from(((), (0,), (0, 1, 2))))
    return case("Where", tensor(condition, "bool"), tensor(a, dtype), tensor(b, dtype), deciding=deciding)


def clip(draw):
    low, high = (draw(st.sampled_from((None, np.float32(0)))) for _ in range(2))
    bounds = [None if v is None else np.array(v) for v in (low, high)]
    return case("Clip", tensor(draw(shapes(least=0))), *bounds, opset=draw(opset(11, 13, 21)))


def dropout(draw):
    ratio = draw(st.sampled_from((None, np.array(0.5, np.float32))))
    return case(
        "Dropout", tensor(draw(shapes(low=1))), ratio, outputs=draw(st.integers(1, 2)), opset=draw(opset(12, 13))
    )


def cumulation(draw):
    shape = draw(shapes(low=1, least=0))
    at = np.array(draw(axis_of(len(shape))))
    return case("CumSum", tensor(shape), at, exclusive=draw(flag), opset=draw(opset(11, 14)))


TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11}


def cast(draw):
    source, target = (draw(st.sampled_from(tuple(TYPES))) for _ in range(2))
    deciding = draw(st.sampled_from(((), (0,))))
    return case(
        "Cast", tensor(draw(shapes(least=0)), source), deciding=deciding, to=TYPES[target], opset=draw(opset(9, 13, 19))
    )


def cast_like(draw):
    source, target = (draw(st.sampled_from(tuple(TYPES))) for _ in range(2))
    return case("CastLike", tensor(draw(shapes()), source), tensor(draw(shapes()), target), opset=draw(opset(15, 19)))


def quantize(draw):
    shape = draw(shapes(low=1))
    at = draw(axis_of(len(shape)))
    scale = tensor([shape[at]] if draw(st.booleans()) else []) + 4
    zero = draw(st.sampled_from((None, "uint8", "int8")))
    zeros = None if zero is None else np.zeros(scale.shape, zero)
    return case("QuantizeLinear", tensor(shape), scale, zeros, axis=at, opset=draw(opset(13, 19, 21)))


def dequantize(draw):
    shape = draw(shapes(low=1))
    at = draw(axis_of(len(shape)))
    scale = tensor([shape[at]] if draw(st.booleans()) else []) + 4
    dtype = draw(st.sampled_from(("uint8", "int8")))
    zeros = draw(st.sampled_from((None, np.zeros(scale.shape, dtype))))
    return case("DequantizeLinear", tensor(shape, dtype), scale, zeros, axis=at, opset=draw(opset(13, 19, 21)))


def dynamic_quantize(draw):
    return case("DynamicQuantizeLinear", tensor(draw(shapes(low=1))), outputs=3, opset=draw(opset(11, 21)))


@ort.sizes
@pytest.mark.parametrize("family", ort.families(globals()))
def test_shapes_match_onnxruntime(family, examples):
    ort.verify(family, examples)
