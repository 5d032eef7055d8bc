"""Sizes computed by integers that wrap around, and by floats whose last bit decides, against onnxruntime."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from tests.differential.ort import session_of

INT64, INT32, FLOAT, HALF = TensorProto.INT64, TensorProto.INT32, TensorProto.FLOAT, TensorProto.FLOAT16
SIZES = (1, 2, 3, 5, 7, 49, 343, 1541, 2401, 4097)


def integers(op, constant, dtype, *, first=False):
    """`n op constant` in an integer type, as the end of a slice of `x`."""
    operands = ["c", "i"] if first else ["i", "c"]
    nodes = [
        helper.make_node("Shape", ["x"], ["n"]),
        helper.make_node("Cast", ["n"], ["i"], to=dtype),
        helper.make_node(op, operands, ["e"]),
        helper.make_node("Cast", ["e"], ["end"], to=INT64),
        helper.make_node("Slice", ["x", "zero", "end"], ["y"]),
    ]
    number = np.array([constant], np.int64 if dtype == INT64 else np.int32)
    return model(nodes, {"c": number, "zero": np.array([0])})


def reduced(op, constant, dtype=INT64):
    """A reduction of `n + constant`, modulo 1000, as the end of a slice of `x`."""
    nodes = [
        helper.make_node("Shape", ["x"], ["n"]),
        helper.make_node("Cast", ["n"], ["i"], to=dtype),
        helper.make_node("Add", ["i", "c"], ["e"]),
        helper.make_node(op, ["e"], ["r"]),
        helper.make_node("Mod", ["r", "thousand"], ["m"]),
        helper.make_node("Cast", ["m"], ["end"], to=INT64),
        helper.make_node("Slice", ["x", "zero", "end"], ["y"]),
    ]
    kind = np.int64 if dtype == INT64 else np.int32
    return model(nodes, {"c": np.array([constant], kind), "thousand": np.array([1000], kind), "zero": np.array([0])})


def levels(base):
    """`floor(log(n) / log(base))`, the number of levels of a pyramid, as a size."""
    nodes = [
        helper.make_node("Shape", ["x"], ["n"]),
        helper.make_node("Cast", ["n"], ["f"], to=FLOAT),
        helper.make_node("Log", ["f"], ["a"]),
        helper.make_node("Log", ["base"], ["b"]),
        helper.make_node("Div", ["a", "b"], ["q"]),
        helper.make_node("Floor", ["q"], ["r"]),
        helper.make_node("Cast", ["r"], ["k"], to=INT64),
        helper.make_node("ConstantOfShape", ["k"], ["y"]),
    ]
    return model(nodes, {"base": np.array([base], np.float32)})


def half_precision(constant):
    """`ceil(float16(n) * constant)` as a size."""
    nodes = [
        helper.make_node("Shape", ["x"], ["n"]),
        helper.make_node("Cast", ["n"], ["f"], to=HALF),
        helper.make_node("Mul", ["f", "c"], ["p"]),
        helper.make_node("Ceil", ["p"], ["r"]),
        helper.make_node("Cast", ["r"], ["k"], to=INT64),
        helper.make_node("ConstantOfShape", ["k"], ["y"]),
    ]
    return model(nodes, {"c": np.array([constant], np.float16)})


def range_element(position):
    """The floor of an element of `Range(-3, 10, 0.3)` as a size, plus 4."""
    nodes = [
        helper.make_node("Range", ["start", "limit", "step"], ["r"]),
        helper.make_node("Gather", ["r", "at"], ["g"]),
        helper.make_node("Floor", ["g"], ["f"]),
        helper.make_node("Add", ["f", "four"], ["s"]),
        helper.make_node("Cast", ["s"], ["k"], to=INT64),
        helper.make_node("ConstantOfShape", ["k"], ["y"]),
    ]
    scalars = {"start": -3, "limit": 10, "step": 0.3}
    constants = {name: np.array(value, np.float32) for name, value in scalars.items()}
    return model(nodes, constants | {"at": np.array([position]), "four": np.array([4], np.float32)})


def model(nodes, constants):
    x = helper.make_tensor_value_info("x", FLOAT, ["n"])
    weights = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "g", [x], [helper.make_empty_tensor_value_info("y")], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


MODELS = {
    "n + 2**63-1": integers("Add", 2**63 - 1, INT64),
    "n - -2**63": integers("Sub", -(2**63), INT64),
    "2**63-1 - n": integers("Sub", 2**63 - 1, INT64, first=True),
    "n * 2**62": integers("Mul", 2**62, INT64),
    "n * 2**40": integers("Mul", 2**40, INT64),
    "n + 2**31-1": integers("Add", 2**31 - 1, INT32),
    "n * 2**30": integers("Mul", 2**30, INT32),
    "n * 2**20": integers("Mul", 2**20, INT32),
    "n + 1": integers("Add", 1, INT32),
    **{f"{op} n + 2**53": reduced(op, 2**53) for op in ("ReduceSum", "ReduceProd", "ReduceL1", "ReduceMax")},
    **{f"{op} n + 2": reduced(op, 2) for op in ("ReduceSum", "ReduceProd", "ReduceSumSquare")},
    "ReduceSumSquare n + 40000": reduced("ReduceSumSquare", 40_000),
    "ReduceSumSquare n + 50000 of int32": reduced("ReduceSumSquare", 50_000, INT32),
    **{f"levels {base}": levels(base) for base in (2, 3, 5, 7, 10)},
    "float16 * 0.1": half_precision(0.1),
    "float16 / 3": half_precision(1 / 3),
    **{f"range {position}": range_element(position) for position in (0, 7, 10, 20, 30)},
}


@pytest.mark.parametrize("name", MODELS)
def test_no_size_is_wrong(name):
    graph = MODELS[name]
    result, session = infer_shapes(graph), session_of(graph)
    (inferred,) = result.tensors["y"].shape
    shapes = result.program().masked({"n": list(SIZES)})
    for turn, n in enumerate(SIZES):
        feeds = {value.name: np.zeros(n, np.float32) for value in session.get_inputs()}
        (size,) = session.run(None, feeds)[0].shape
        here = infer_shapes(graph, inputs={"x": [n]})
        assert size in here.interval(here.tensors["y"].shape[0])
        assert result.contract.check(n=n).verdict is not False
        assert size in result.interval(inferred)
        if isinstance(inferred, int) or not inferred.is_anonymous:
            assert evaluate(inferred, {"n": n}) == size
        if "y" in shapes and shapes.valid[turn]:  # not of unknowns
            assert shapes["y"][turn].tolist() == [size]


@pytest.mark.parametrize("size", [49, 343, 2401])
def test_a_size_that_the_last_bit_decides_has_bounds(size):
    """onnxruntime 1.32 computes the upper one for base 7; other results of `log` give the lower one."""
    result = infer_shapes(MODELS["levels 7"], inputs={"x": [size]})
    (levels_,) = result.tensors["y"].shape
    bounds = result.interval(levels_)
    assert 7**bounds.hi == size
    assert bounds.lo == bounds.hi - 1


def test_results_that_all_runtimes_share_are_numbers():
    for size, count in ((1, 0), (48, 1), (50, 2), (342, 2), (344, 3)):
        assert infer_shapes(MODELS["levels 7"], inputs={"x": [size]}).tensors["y"].shape.dims == (count,)


@pytest.mark.parametrize(
    ("name", "assumption"),
    [
        ("n * 2**40", f"n <= {(2**63 - 1) // 2**40}"),
        ("n * 2**20", None),  # which wraps around before the sizes that may be assumed
        ("n + 1", None),  # whose limit no size reaches
        ("n + 2**63-1", None),
    ],
)
def test_assumptions_are_in_the_contract(name, assumption):
    texts = [p.text for p in infer_shapes(MODELS[name]).contract if p.kind == "assumption"]
    assert texts == ([] if assumption is None else [assumption])


def test_an_expression_past_the_caps_of_the_algebra_may_wrap_around():
    """`(n**3 + 2**30 + 1) ** 3` in int32 has coefficients that a dim does not hold."""
    nodes = [
        helper.make_node("Shape", ["x"], ["n"]),
        helper.make_node("Cast", ["n"], ["i"], to=INT32),
        helper.make_node("Pow", ["i", "three"], ["a"]),
        helper.make_node("Add", ["a", "c"], ["b"]),
        helper.make_node("Pow", ["b", "three"], ["p"]),
        helper.make_node("Cast", ["p"], ["end"], to=INT64),
        helper.make_node("Slice", ["x", "zero", "end"], ["y"]),
    ]
    numbers = {"three": np.array([3], np.int32), "c": np.array([2**30 + 1], np.int32), "zero": np.array([0])}
    graph = model(nodes, numbers)
    result = infer_shapes(graph)
    (size,) = result.tensors["y"].shape
    (real,) = session_of(graph).run(None, {"x": np.zeros(100, np.float32)})[0].shape
    assert real == 0
    assert size.is_anonymous
    assert real in result.interval(size)


@pytest.mark.parametrize(("size", "exact"), [(3, True), (200, True), (729, False), (1541, False)])
def test_a_power_that_float64_rounds_is_not_claimed(size, exact):
    """`(n**3)**2 % 1000` as the end of a slice: onnxruntime computes powers of a single number in float64."""
    nodes = [
        helper.make_node("Shape", ["x"], ["n"]),
        helper.make_node("Pow", ["n", "three"], ["cube"]),
        helper.make_node("Pow", ["cube", "two"], ["power"]),
        helper.make_node("Mod", ["power", "thousand"], ["end"]),
        helper.make_node("Slice", ["x", "zero", "end"], ["y"]),
    ]
    constants = {"two": np.array([2]), "three": np.array([3]), "thousand": np.array([1000]), "zero": np.array([0])}
    graph = model(nodes, constants)
    (real,) = session_of(graph).run(None, {"x": np.zeros(size, np.float32)})[0].shape
    here = infer_shapes(graph, inputs={"x": [size]})
    (inferred,) = here.tensors["y"].shape
    assert real in here.interval(inferred)
    assert isinstance(inferred, int) == exact
    anywhere = infer_shapes(graph)
    assert (evaluate(anywhere.tensors["y"].shape[0], {"n": size}) == real) == exact
    assert f"n*n*n*n*n*n <= {2**53}" in [p.text for p in anywhere.contract if p.kind == "assumption"]


@pytest.mark.parametrize(("size", "lowest"), [(126, 1), (127, 0), (140, 0)])
def test_subnormal_floats_may_be_zero(size, lowest):
    """`ceil(2.0 ** -n)` is 1 in onnxruntime, and 0 past n = 126 in TensorFlow 2.21, which flushes subnormal numbers."""
    nodes = [
        helper.make_node("Shape", ["x"], ["n"]),
        helper.make_node("Neg", ["n"], ["minus"]),
        helper.make_node("Cast", ["minus"], ["f"], to=FLOAT),
        helper.make_node("Pow", ["two", "f"], ["p"]),
        helper.make_node("Ceil", ["p"], ["r"]),
        helper.make_node("Cast", ["r"], ["k"], to=INT64),
        helper.make_node("ConstantOfShape", ["k"], ["y"]),
    ]
    here = infer_shapes(model(nodes, {"two": np.array([2], np.float32)}), inputs={"x": [size]})
    bounds = here.interval(here.tensors["y"].shape[0])
    assert (bounds.lo, bounds.hi) == (lowest, 1)
