"""Numbers of expressions against Python: random ones over three sizes, with the sizes known and as symbols."""

from __future__ import annotations

import math
import operator
import random

import pytest

from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dimension, evaluate
from shapeinf.expressions import evaluate_expression
from shapeinf.formats.pnnx.expression import Literal, parse
from shapeinf.lattice import Quotient


def power(a, b):
    if abs(a) >= 1000 or abs(b) >= 32:
        raise OverflowError("this test computes no number that large")
    return a**b


def left_shift(a, b):
    if b >= 40:
        raise OverflowError("this test computes no number that large")
    return a << b


PYTHON = {
    "neg": operator.neg,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "trunc": math.trunc,
    "int": int,
    "square": lambda x: x * x,
    "torch.float": float,
    "torch.long": int,
    "torch.bool": bool,
    "sqrt": math.sqrt,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "max": max,
    "min": min,
    "maximum": max,
    "minimum": min,
    "pow": power,
    "fmod": math.fmod,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": left_shift,
    "rshift": operator.rshift,
}
UNARY, BINARY = list(PYTHON)[:12], list(PYTHON)[12:]
TYPES = {bool: "bool", int: "int64", float: "float64"}
LITERALS = ("0", "1", "2", "3", "-2", "5", "7", "16", "-1", "0.5", "1.5", "2.0", "0.1", "0.3333", "-2.5")


def generate(choose, depth):
    """A random expression over the sizes of @0."""
    if depth == 0 or choose.random() < 0.15:
        return f"size(@0,{choose.randint(0, 2)})" if choose.random() < 0.6 else choose.choice(LITERALS)
    if choose.random() < 0.4:
        return f"{choose.choice(UNARY)}({generate(choose, depth - 1)})"
    return f"{choose.choice(BINARY)}({generate(choose, depth - 1)},{generate(choose, depth - 1)})"


def compute(tree, sizes):
    """Python's value. Raises where Python does."""
    if isinstance(tree, Literal):
        return tree.value
    if tree.function == "size":
        return sizes[tree.items[1].value]
    return PYTHON[tree.function](*(compute(item, sizes) for item in tree.items))


def truth_of(text, sizes):
    """Python's value; None where it raises, or where our test does not compute a number that large."""
    try:
        value = compute(parse(text), sizes)
    except (ZeroDivisionError, ValueError, OverflowError, TypeError):
        return None
    return None if isinstance(value, complex) or math.isnan(value) else value


def bound(element, binding):
    """An element at a binding; None where it has an unknown."""
    if isinstance(element, Quotient):
        parts = bound(element.numerator, binding), bound(element.denominator, binding)
        return None if None in parts else parts[0] / parts[1]
    if not isinstance(element, Dimension):
        return element
    names = {str(symbol) for symbol in element.symbols()}
    return evaluate(element, binding) if names <= binding.keys() else None


def known_values(numbers):
    """How many of these expressions have a known value with symbolic sizes; each value must be that of Python."""
    known = 0
    for number in numbers:
        choose = random.Random(number)
        text, sizes = generate(choose, choose.randint(1, 4)), [choose.randint(1, 40) for _ in range(3)]
        truth = truth_of(text, sizes)
        for shape in (sizes, ["a", "b", "c"]):
            try:
                value = evaluate_expression(text, [shape])
            except ShapeInferenceError:
                assert truth is None, text
                continue
            if truth is None:
                continue
            (element,) = value.elements or (None,)
            inferred = bound(element, dict(zip("abc", sizes, strict=True)))
            assert inferred is None or inferred == truth, (text, sizes, truth, value)
            assert value.dtype in (None, TYPES[type(truth)]), (text, truth, value)
            known += inferred is not None and shape is not sizes
    return known


def test_a_slice_of_random_expressions():
    assert known_values(range(200)) > 40


@pytest.mark.slow
def test_many_random_expressions():
    known_values(range(10_000))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("floor_divide(size(@0,0),0.1)", "float64[]{?}"),  # 219 for 22: 0.1 is more than a tenth
        ("floor_divide(size(@0,0),0.5)", "float64[]{2*a}"),
        ("floor(mul(size(@0,0),1.5))", "int64[]{a + a//2}"),
        ("rshift(size(@0,0),3)", "int64[]{a//8}"),
        ("lshift(1,70)", "int64[]{?}"),
        ("square(4294967296)", "int64[]{0}"),  # integers of torch wrap around
        ("pow(size(@0,0),2)", "int64[]{a*a}"),
        ("pow(2,-1)", "float64[]{0.5}"),
        ("max(1,2.5)", "?[]"),
        ("[size(@0,0),2.5]", "float64[2]{a, 2.5}"),
    ],
)
def test_values(text, value):
    assert repr(evaluate_expression(text, [["a"]])) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("floor_divide(1,0)", "the divisor must not be 0"),
        ("and(1.5,2)", "and is not defined for float64"),
        ("size(2,0)", "size takes a tensor, not a number"),
        ("size(@0,1.5)", "the axis of size must be an integer"),
        ("add([1],2)", "add takes tensors and numbers, not a list"),
        ("pow(torch.long(@0),-2)", "the exponent of a power of integers must be at least 0"),
        ("int(@0)", "int takes a number or a tensor of one element"),
        ("size(@1)", "the expression refers to @1, but the node has 1 inputs"),
    ],
)
def test_undefined_values(text, message):
    with pytest.raises(ShapeInferenceError, match=message):
        evaluate_expression(text, [[3]])
