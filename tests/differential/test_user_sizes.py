"""Values and bounds of data-dependent sizes that users specify, against runs of onnxruntime within these."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
import pytest

from shapeinf import Dim, Result, ShapeError, ShapeInferenceError, infer_shapes
from shapeinf.contract.contract import Answer
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.expr import Dimension, evaluate
from tests.differential.ort import session_of

RUNS = [pytest.param(40, id="few"), pytest.param(800, id="many", marks=pytest.mark.slow)]

VALUES = {
    "reduce": ("int64[k] v", "y = ReduceSum <keepdims=0> (x, v)"),
    "keep": ("int64[k] v", "y = ReduceMax (x, v)"),
    "expand": ("int64[k] v", "y = Expand (x, v)"),
    "reshape": ("int64[k] v", "y = Reshape (x, v)"),
    "tile": ("int64[2] v", "y = Tile (x, v)"),
    "pad": ("int64[4] v", "y = Pad (x, v)"),
    "fill": ("int64[k] v", "y = ConstantOfShape (v)"),
    "top": ("int64[1] v", "y, i = TopK <axis=1> (x, v)"),
    "squeeze": ("int64[k] v", "u = Unsqueeze (x, v) y = Relu (u)"),
    "range": ("int64 v", "o = Constant <value_int=1> () d = Add (v, v) z = Sub (o, o) y = Range (z, d, o)"),
    "slice": ("int64[1] v", "z = Constant <value_ints=[0]> () a = Constant <value_ints=[1]> () y = Slice (x, z, v, a)"),
    "gather": ("int64[k] v", "g = Gather <axis=1> (x, v) y = Concat <axis=1> (g, x)"),
}
"""Models by name: the input whose value the user specifies, and the nodes."""


def model_of(inputs: str, nodes: str, elem: int = onnx.TensorProto.FLOAT) -> onnx.ModelProto:
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 18]> g ({inputs}) => (float[] y) {{ {nodes} }}'
    )
    model.graph.output[0].CopyFrom(onnx.ValueInfoProto(name="y"))
    model.graph.output[0].type.tensor_type.elem_type = elem
    return model


def run(model: onnx.ModelProto, feeds: Mapping[str, Any]) -> Any:
    """The output y; None if onnxruntime rejects the inputs."""
    try:
        return session_of(model).run(["y"], dict(feeds))[0]
    except Exception:  # onnxruntime raises classes of its own and plain RuntimeErrors
        return None


def agrees(result: Result, shape: tuple[int, ...], sizes: Mapping[str, int]) -> bool:
    """Whether the inferred shape of y contains a real one at these sizes of the inputs."""
    dims = result.tensors["y"].shape.dims
    if dims is None:
        return True
    return len(dims) == len(shape) and all(fits(result, d, n, sizes) for d, n in zip(dims, shape, strict=True))


def fits(result: Result, dim: Any, size: int, sizes: Mapping[str, int]) -> bool:
    if not isinstance(dim, Dimension):
        return bool(dim == size)
    if {s.name for s in dim.symbols()} <= sizes.keys():
        return int(evaluate(dim, sizes)) == size
    bounds = result.interval(dim)
    return (bounds.lo is None or bounds.lo <= size) and (bounds.hi is None or size <= bounds.hi)


def draw_value(rng: random.Random, name: str) -> Any:
    if name == "range":
        return rng.randint(0, 5)
    count = {"tile": 2, "pad": 4, "top": 1, "slice": 1}.get(name, rng.randint(0, 3))
    if name in ("reduce", "keep"):  # onnxruntime accepts duplicate axes, which ONNX does not define
        return rng.sample([0, 1, 2, -3], count)
    return [rng.choice([0, 1, 2, 3, -1, 6]) for _ in range(count)]


def hide(rng: random.Random, value: Any) -> Any:
    """The value with some elements replaced by unknowns or by sizes of x."""
    if not isinstance(value, list) or rng.random() < 0.4:
        return value
    return [rng.choice([element, None]) for element in value]


def value_cases(count: int) -> Iterator[tuple[str, Any, Any, dict[str, int]]]:
    rng = random.Random(18)
    for _ in range(count):
        name = rng.choice(list(VALUES))
        value = draw_value(rng, name)
        yield name, value, hide(rng, value), {"n": rng.randint(1, 4), "m": rng.randint(1, 4)}


def verdict(result: Result, sizes: Mapping[str, int]) -> Answer:
    return result.contract.check({name: n for name, n in sizes.items() if result.engine.scope.has(name)})


@pytest.mark.parametrize("count", RUNS)
def test_values(count: int) -> None:
    ran = 0
    for name, value, specified, sizes in value_cases(count):
        declared, nodes = VALUES[name]
        elem = onnx.TensorProto.INT64 if name == "range" else onnx.TensorProto.FLOAT
        model = model_of(f"float[n, m] x, {declared}", nodes, elem)
        x = np.zeros((sizes["n"], sizes["m"]), np.float32)
        real = run(model, {"x": x, "v": np.array(value, np.int64)})
        where = (name, value, specified, sizes)
        try:
            result = infer_shapes(model, values={"v": specified}, min_dim=0)
        except ShapeError:
            assert real is None, where
            continue
        if certain_violations(result.engine.inference):
            assert real is None, (where, result.diagnostics)
            continue
        answer = verdict(result, sizes)
        if real is None:
            assert answer.verdict is not True or _has_unknown(specified), (where, str(answer))  # it contains sizes
            continue
        ran += 1
        assert answer.verdict is not False, (where, str(answer))
        assert agrees(result, real.shape, sizes), (where, result.tensors["y"], real.shape)
    assert ran > count // 4


NODE_SIZES = {
    "nonzero": ("c = NonZero (x) y = Transpose (c)", "c.count"),
    "joined": ("c = NonZero (x) t = Transpose (c) y = Concat <axis=0> (t, w)", "c.count"),
    "added": ("c = NonZero (x) y = Add (c, r)", "c.count"),
    "gathered": ("c = NonZero (x) t = Transpose (c) g = GatherND (x, t) y = Concat <axis=0> (g, x)", "c.count"),
    "sliced": (
        "c = NonZero (x) a = Constant <value_ints=[1]> () e = Constant <value_ints=[2]> () "
        "z = Constant <value_ints=[0]> () y = Slice (c, z, e, a)",
        "c.count",
    ),
    "branch": (
        "p = ReduceMax <keepdims=0> (x) b = Cast <to=9> (p) "
        "y = If (b) <then_branch = t () => (int64[1, k] q) { q = NonZero (x) }, "
        "else_branch = e () => (int64[1, one] o) { o = Identity (r) }>",
        "y/q.count",
    ),
}


def node_size_cases(count: int) -> Iterator[tuple[str, str, str, int, int, np.ndarray[Any, Any], int]]:
    rng = random.Random(81)
    for _ in range(count):
        name = rng.choice(list(NODE_SIZES))
        nodes, size = NODE_SIZES[name]
        data = np.array([rng.random() < 0.6 for _ in range(rng.randint(1, 6))], np.float32)
        low = rng.choice([0, 1, 2, 3])
        yield name, nodes, size, low, low + rng.choice([0, 0, 1, 2, 5]), data, rng.choice([1, 2, 3])


@pytest.mark.parametrize("count", RUNS)
def test_bounds_of_sizes_that_depend_on_data(count: int) -> None:
    within = 0
    for name, nodes, size, low, high, data, rows in node_size_cases(count):
        elem = onnx.TensorProto.FLOAT if name == "gathered" else onnx.TensorProto.INT64
        model = model_of("float[n] x, int64[w, 1] w, int64[1, r] r", nodes, elem)
        where = (name, low, high, data.tolist(), rows)
        try:
            if within % 2:
                result = infer_shapes(model, dims={size: (low, high), "n": "1..6"})
            else:
                relations = [f"`{size}` >= {low}", f"`{size}` <= {high}"]
                result = infer_shapes(model, assume=relations, dims={"n": "1..6"})
        except ShapeInferenceError as error:
            pytest.fail(f"{where}: {error}")
        found = int(np.count_nonzero(data))
        if not low <= found <= high:
            continue
        within += 1
        feeds = {"x": data, "w": np.zeros((rows, 1), np.int64), "r": np.zeros((1, rows), np.int64)}
        sizes = {"n": len(data), "w": rows, "r": rows}
        real = run(model, feeds)
        answer = verdict(result, sizes)
        if real is None:
            assert answer.verdict is not True, (where, str(answer))
            continue
        assert answer.verdict is not False, (where, str(answer))
        assert agrees(result, real.shape, sizes), (where, result.tensors["y"], real.shape)
        smaller = result.without_assumptions({"n": 0})
        assert smaller is not None and agrees(smaller, real.shape, sizes), where
        updated = result.update({"x": [len(data)]})
        assert agrees(updated, real.shape, sizes), (where, updated.tensors["y"], real.shape)
        peak = updated.memory().peak.over({"w": rows, "r": rows})
        assert peak.value is None or peak.at_least or peak.value >= real.nbytes, (where, peak)
    assert within > count // 8


def _has_unknown(value: Any) -> bool:
    return isinstance(value, list) and None in value


# A range of n, the start and the step of a slice of [n, 2], and its size if that is one number in the whole range.
LONG_STEPS = {
    "past all sizes": (1, 20, 0, 20, 1),
    "the largest size": (1, 20, 0, 19, None),
    "none, or one": (0, 20, 0, 50, None),
    "from the second": (2, 20, 1, 30, 1),
    "from the second, where there may be none": (1, 20, 1, 30, None),
    "two steps": (11, 20, 0, 10, 2),
    "backwards": (1, 20, -1, -20, 1),
}


@pytest.mark.parametrize("case", LONG_STEPS)
def test_a_step_past_all_sizes_takes_one_element(case: str) -> None:
    least, most, start, step, count = LONG_STEPS[case]
    end = 2**31 - 1 if step > 0 else -(2**31)
    starts = f"s = Constant <value_ints=[{start}]> () e = Constant <value_ints=[{end}]> ()"
    nodes = f"{starts} a = Constant <value_ints=[0]> () t = Constant <value_ints=[{step}]> () y = Slice (x, s, e, a, t)"
    model = model_of("float[n, 2] x", nodes)
    result = infer_shapes(model, dims=[Dim("n", least)], assume=f"n <= {most}")
    size = result.tensors["y"].shape[0]
    assert (size == count) if count is not None else not isinstance(size, int)
    for n in range(least, most + 1):
        real = run(model, {"x": np.ones((n, 2), np.float32)})
        assert evaluate(size, {"n": n}) == real.shape[0], n
