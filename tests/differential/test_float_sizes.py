"""Sizes that are computed through floats, against onnxruntime near the sizes at which each type begins to round.

A chain of operators leads from `Shape` to the size of a `ConstantOfShape`. onnxruntime runs the same chain on a vector
of sizes, which may be larger than the sizes of any tensor.
"""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from shapeinf import infer_shapes
from shapeinf.expr import evaluate, parse_dim
from shapeinf.lattice import numpy_dtype
from shapeinf.lattice.dtypes import ONNX_CODES
from tests.differential.ort import session_of

FLOATS = ("float16", "bfloat16", "float32", "float64")
NARROW = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")
BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
POWERS = (3, 4, 5, 8, 11, 16, 20, 23, 24, 25, 31, 53, 54)
MAXIMA = (240, 448, 464, 57344, 61440, 65504, 65519, 65520)
SIZES = sorted(
    {*range(1, 70), *(2**k + e for k in POWERS for e in (-1, 0, 1)), *(m + e for m in MAXIMA for e in (-1, 0, 1))}
)
SIZES += sorted(int(n) for n in np.random.default_rng(7).integers(1, 2**26, 200))
CONSTANTS = (2, 3, 7, 10, 255, 0.5, 1.5, 0.25, 0.1, 0.6, 0.7, 0.8, 1 / 3, 0.375, 2.3, 1e-3, 1000, 4096)
"""As a float32, 0.1, 0.6 and 1/3 are slightly larger, 0.7 and 0.8 slightly smaller or larger; 0.375 is exact."""


class Chain:
    """Nodes from the vector `n` of int64 to `k`."""

    def __init__(self, dtype):
        self.dtype, self.nodes, self.weights, self.last = dtype, [], [], "n"

    def constant(self, value):
        array = np.array([value]).astype(numpy_dtype(self.dtype))
        self.weights.append(onnx.numpy_helper.from_array(array, f"c{len(self.weights)}"))
        return self.weights[-1].name

    def then(self, op, *others, first=False, **attributes):
        name = f"{op}{len(self.nodes)}"
        inputs = [*others, self.last] if first else [self.last, *others]
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        self.last = name
        return self

    def cast(self, dtype):
        return self.then("Cast", to=ONNX_CODES[dtype])

    def run(self, sizes):
        """The results of onnxruntime at these sizes; None if it lacks a kernel."""
        n, k = (helper.make_tensor_value_info(name, TensorProto.INT64, [None]) for name in ("n", self.last))
        graph = helper.make_graph(self.nodes, "chain", [n], [k], self.weights)
        try:
            session = session_of(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))
        except Exception:  # no kernel, or no such type for one of the operators
            return None
        return session.run(None, {"n": np.array(sizes, np.int64)})[0]

    @np.errstate(all="ignore")
    def computed(self, sizes):
        """The results of numpy at these sizes, rounded after every operator; -1 for results that are too large."""
        values = {w.name: onnx.numpy_helper.to_array(w) for w in self.weights} | {"n": np.array(sizes, np.int64)}
        for node in self.nodes:
            x = values[node.input[0]]
            if node.op_type == "Cast":
                (to,) = (a.i for a in node.attribute)
                result = truncate_to_int(x) if to == TensorProto.INT64 else x.astype(numpy_dtype(self.dtype))
            else:
                result = NUMPY[node.op_type](*(values[name] for name in node.input)).astype(x.dtype)
            values[node.output[0]] = result
        return values[self.last]

    def model(self):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        shape, fill = helper.make_node("Shape", ["x"], ["n"]), helper.make_node("ConstantOfShape", [self.last], ["y"])
        graph = helper.make_graph([shape, *self.nodes, fill], "chain", [x], [y], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


NUMPY = {"Div": np.divide, "Mul": np.multiply, "Add": np.add, "Sub": np.subtract, "Floor": np.floor, "Ceil": np.ceil}
NUMPY |= {"Round": np.rint, "Neg": np.negative, "Reciprocal": lambda x: 1 / x, "Sqrt": np.sqrt, "Abs": np.abs}
NUMPY |= {"Pow": lambda x, y: np.power(x.astype(np.float64), y.astype(np.float64))}


def truncate_to_int(x):
    """Floats without their fractions; -1 for those outside of int64."""
    wide = x.astype(np.float64)
    return np.where(np.isfinite(wide) & (np.abs(wide) < 2.0**63), wide, -1).astype(np.int64)


def after(dtype, *steps):
    """A chain through a float type; a step is an operator, or an operator with a constant on its right or left."""
    chain = Chain(dtype).cast(dtype)
    for step in steps:
        if isinstance(step, str):
            chain.then(step)
        elif isinstance(step[0], str):
            chain.then(step[0], chain.constant(step[1]))
        else:
            chain.then(step[1], chain.constant(step[0]), first=True)
    return chain.cast("int64")


def chains(dtype, constants):
    for value in constants:
        for op in ("Div", "Mul"):
            for ending in ((), ("Floor",), ("Ceil",), ("Round",)):
                yield after(dtype, (op, value), *ending)
        for step in (("Add", value), ("Sub", value), (value, "Sub"), (value, "Div")):
            yield after(dtype, step)
        yield after(dtype, ("Div", value), "Ceil", ("Mul", value))
        yield after(dtype, ("Mul", value), ("Mul", value), "Floor")
        yield after(dtype, ("Mul", value), ("Add", 0.5), "Floor")
    for steps in (("Neg", "Floor"), ("Reciprocal",), ("Sqrt",), (("Pow", 2),), (("Mul", 0.5), ("Mul", 2)), ("Abs",)):
        yield after(dtype, *steps)
    yield after(dtype, ("Sub", 10), ("Mul", 0.1), "Floor")
    yield after(dtype, ("Sub", 10), ("Div", 3))
    yield after(dtype, "Neg", ("Div", 3), "Round", "Neg")


def wrong(chain, bound, real):
    """All sizes at which the run of a chain differs from the inferred size, with N up to a bound (None: any).

    Sizes that an assumption excludes do not count; an assumption about an intermediate unknown excludes all.
    """
    result = infer_shapes(chain.model(), dims={"N": f"1..{bound or ''}"})
    if [d for d in result.diagnostics if d.severity == "error"]:  # a size is negative
        runs = [n for n, k in zip(SIZES, real.tolist(), strict=True) if k >= 0 and n <= (bound or n)]
        return [f"{result.diagnostics}, yet N={n} runs" for n in runs]
    (dim,) = result.tensors["y"].shape
    preconditions = [
        precondition for precondition in result.contract.preconditions if precondition.kind == "assumption"
    ]
    for n, k in zip(SIZES, real.tolist(), strict=True):
        if (
            (bound is not None and n > bound)
            or k < 0
            or not all(precondition.holds({"N": n}) for precondition in preconditions)
        ):
            continue
        if isinstance(dim, int) or not dim.is_anonymous:
            value = evaluate(dim, {"N": n})
            if value != k:
                yield f"N={n} of 1..{bound}: {dim} is {value}, not {k}"
        elif k not in result.interval(dim):
            yield f"N={n} of 1..{bound}: {result.interval(dim)} does not contain {k}"


def problems(chain, bounds):
    """The contradictions of numpy, else those of onnxruntime; None if that lacks kernels."""
    computed = [] if chain.dtype in NARROW else [p for b in bounds for p in wrong(chain, b, chain.computed(SIZES))]
    real = chain.run(SIZES)
    return computed or (None if real is None else [p for b in bounds for p in wrong(chain, b, real)])


def bounds_of(dtype, many):
    """Upper bounds of N: near the numbers at which the type begins to round, with `many` those of all types."""
    largest = (448, 65504, 65520)
    powers = (8, 10, 11, 16, 23, 24, 53) if many else (BITS[dtype],) if dtype in BITS else (2, 3, 4)
    return (None, 100, *(2**k + e for k in powers for e in (0, 1)), *(largest if many or dtype in NARROW else ()))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("many", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_arithmetic_is_that_of_the_type(dtype, many):
    pytest.importorskip("onnxruntime")
    constants = CONSTANTS if many else (3, 0.5, 0.1, 0.7)
    by_chain = {describe(c): problems(c, bounds_of(dtype, many)) for c in chains(dtype, constants)}
    assert not [f"{name}: {p[0]}" for name, p in by_chain.items() if p]
    assert dtype == "bfloat16" or sum(p is not None for p in by_chain.values()) > 5 * len(constants)


@pytest.mark.parametrize("dtype", (*FLOATS, *NARROW))
def test_casts_round_where_the_type_does(dtype):
    pytest.importorskip("onnxruntime")
    assert problems(after(dtype), bounds_of(dtype, many=True)) == []


EXACT = [
    ("float32", (("Div", 2), "Ceil", ("Mul", 2)), "2*((N + 1)//2)", 2**24),
    ("float32", (("Div", 3), "Floor"), "N//3", 2**24),
    ("float32", (("Mul", 0.1), "Floor"), "N//10", 13421773),
    ("float32", (("Mul", 0.6),), "3*N//5", 3355443),
    ("float32", (("Mul", 0.5), ("Add", 0.5)), "(N + 1)//2", 2**24 - 1),
    ("float64", (("Div", 7), "Ceil"), "(N + 6)//7", 2**53),
]


@pytest.mark.parametrize(("dtype", "steps", "size", "limit"), EXACT)
def test_sizes_are_known_up_to_a_limit_in_the_contract(dtype, steps, size, limit):
    """The sizes and limits are those of the docstring of `rules.contents.floats`; see the tests above for runs."""
    result = infer_shapes(after(dtype, *steps).model())
    (symbol,) = result.tensors["x"].shape
    (dim,) = result.tensors["y"].shape
    assert dim is parse_dim(size, symbol.scope)
    assert [c.text for c in result.contract.preconditions if c.kind == "assumption"] == [f"N <= {limit}"]


@pytest.mark.parametrize(("dtype", "limit"), [("float16", 2**11), ("bfloat16", 2**8), ("float8e4m3fn", 2**4)])
def test_narrow_types_hold_sizes_only_by_proof(dtype, limit):
    inside, outside = (infer_shapes(after(dtype).model(), dims={"N": f"1..{n}"}) for n in (limit, limit + 1))
    assert str(inside.tensors["y"].shape) == "[N]"
    assert not any(c.kind == "assumption" for r in (inside, outside) for c in r.contract.preconditions)
    assert str(outside.interval(outside.tensors["y"].shape[0])) == f"1..{limit + 2}"


def describe(chain):
    weights = {w.name: onnx.numpy_helper.to_array(w).item() for w in chain.weights}
    return " ".join(f"{n.op_type}({', '.join(str(weights[i]) for i in n.input if i in weights)})" for n in chain.nodes)
