"""Inferred contents of operators on known integers, against onnxruntime, up to and past the limits of their types."""

import itertools

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from shapeinf import infer_shapes
from shapeinf.lattice import FloatInterval
from tests.differential.ort import session_of

TYPES = {"int64": TensorProto.INT64, "int32": TensorProto.INT32}
BINARY = ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
CASTS = {"int64": TensorProto.INT64, "int32": TensorProto.INT32, "float32": TensorProto.FLOAT, "bool": TensorProto.BOOL}
CASTS |= {"float64": TensorProto.DOUBLE, "uint8": TensorProto.UINT8}


SMALL = (-7, -1, 0, 1, 2, 5, 2**11 - 1, 2**11)
"""Numbers whose sums and products both types represent."""


def numbers(dtype):
    """Small numbers, numbers near the powers of two at which float types begin to round, and the limits."""
    limits = np.iinfo(dtype)
    near = [n + d for n in (2**24, 2**31, 2**53) for d in (-1, 0, 1)]
    return [n for n in (*SMALL, *near, limits.min, limits.min + 1, limits.max) if n <= limits.max]


def contents_and_run(op, *operands, **attributes):
    """The inferred contents, None if they are unknown, and those of the run."""
    names = [f"x{i}" for i in range(len(operands))]
    constants = [numpy_helper.from_array(x, name) for name, x in zip(names, operands, strict=True)]
    node = helper.make_node(op, names, ["y"], **attributes)
    output = helper.make_empty_tensor_value_info("y")
    graph = helper.make_graph([node], "g", [], [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    inference = infer_shapes(model).engine.inference
    elements = inference.type_of(inference.compiled.slots["y"]).elements
    return elements, session_of(model).run(None, {})[0]


def assert_equal(elements, real):
    """Require that at least 90 % of the elements are known, and that these equal those of the run."""
    assert elements is not None
    for inferred, computed in zip(elements, real.reshape(-1).tolist(), strict=True):
        assert inferred is None or (inferred == computed and type(inferred) is type(computed))
    assert sum(e is not None for e in elements) >= 0.9 * len(elements)


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("least_and_most", ["small", "limits of the type"])
def test_pairs_of_numbers(op, dtype, least_and_most):
    """One result that wraps around makes numpy compute all of them."""
    pairs = list(itertools.product(SMALL if least_and_most == "small" else numbers(dtype), repeat=2))
    if op in ("Div", "Mod"):  # the least number divided by -1 overflows and aborts
        pairs = [(a, b) for a, b in pairs if b not in (0, -1)]
    left, right = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    assert_equal(*contents_and_run(op, left, right))


@pytest.mark.parametrize(
    "shapes", [((), ()), ((), (1,)), ((1,), (3,)), ((3,), (1, 3)), ((2, 1), (1, 3)), ((2, 3), (3,))]
)
@pytest.mark.parametrize("op", ["Sub", "Max", "Less"])
def test_shapes_that_broadcast(op, shapes):
    left, right = (np.arange(3, 3 + np.prod(shape, dtype=int), dtype=np.int64).reshape(shape) for shape in shapes)
    assert_equal(*contents_and_run(op, left, right * 2))


@pytest.mark.parametrize("target", CASTS)
@pytest.mark.parametrize("dtype", TYPES)
def test_casts(dtype, target):
    assert_equal(*contents_and_run("Cast", np.array(numbers(dtype), dtype), to=CASTS[target]))


@pytest.mark.parametrize("dtype", TYPES)
def test_casts_to_half_precision(dtype):
    """A later operator may compute with the number that the cast rounds, since onnxruntime keeps it in float32."""
    elements, real = contents_and_run("Cast", np.array(numbers(dtype), dtype), to=TensorProto.FLOAT16)
    for number, element, computed in zip(numbers(dtype), elements, real.tolist(), strict=True):
        if isinstance(element, FloatInterval):
            assert element.low <= computed <= element.high
            assert element.low <= float(np.float32(number)) <= element.high
        else:
            assert element is None or element == computed == number
    assert sum(element is not None for element in elements) >= len(SMALL)
