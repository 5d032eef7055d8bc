"""Pairs of branches with requirements, against onnxruntime: the shapes of either, and the requirements of both."""

import itertools

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from tests.differential import ort

# Results of branches by name, from x [n, 4], z [m, 4] and some constants.
BRANCHES = {
    "same": "Identity(x)",
    "halves": "Reshape(x, halves)",
    "four": "Reshape(x, four)",
    "two": "Reshape(x, two)",
    "broadcast": "Add(x, three)",
    "concatenated": "Concat<axis = 1>(x, z)",
    "pick": "Gather(x, third)",
    "window": "Conv(y4, kernel)",
}
MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (bool flag, float[n, 4] x, float[m, 4] z) => (y)
<int64[3] halves = {{2, -1, 4}}, int64[2] four = {{4, 4}}, int64[2] two = {{2, 4}}, int64[1] third = {{2}},
 int64[4] image = {{1, 1, -1, 4}}>
{{
  [choice] y = If(flag) <then_branch = a () => (p) {{ {0} p = {1} }}, else_branch = b () => (q) {{ {2} q = {3} }}>
}}"""
SIZES = [{"n": n, "m": m} for n in range(1, 7) for m in (n, 3)]


def model_of(first, second):
    parts = []
    for text in (BRANCHES[first], BRANCHES[second]):
        parts += ["y4 = Reshape(x, image)" if "y4" in text else "", text]
    model = onnx.parser.parse_model(MODEL.format(*parts))
    for name, shape in (("three", [3, 4]), ("kernel", [1, 1, 3, 1])):
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(shape, np.float32), name))
    return model


def real_shapes(model):
    """For each binding, the shapes of the then branch and of the else branch; None for a branch that fails."""
    session = ort.session_of(model)
    shapes = []
    for sizes in SIZES:
        pair = []
        for flag in (True, False):
            arrays = {"x": np.ones((sizes["n"], 4), np.float32), "z": np.ones((sizes["m"], 4), np.float32)}
            try:
                pair.append(session.run(None, {"flag": np.array(flag), **arrays})[0].shape)
            except Exception:  # onnxruntime has no class of its own for what fails at run time
                pair.append(None)
        shapes.append(pair)
    return shapes


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(BRANCHES, 2)))
def test_shapes_and_requirements_of_branches(first, second):
    model = model_of(first, second)
    result = infer_shapes(model)
    for sizes, real in zip(SIZES, real_shapes(model), strict=True):
        possible = [shape for shape in real if shape is not None]
        answer = result.contract.check(sizes).verdict
        assert answer is (False if not possible else None if len(possible) == 1 else True), (sizes, real, answer)
        bound = infer_shapes(model, bind=sizes)
        assert bool([d for d in bound.diagnostics if d.severity == "error"]) is not bool(possible), (sizes, real)
        if not possible:
            continue
        assert all(c.holds(sizes) is not False for c in result.contract.always), (sizes, result.contract)
        assert all(ort.contains(result, result.tensors["y"].shape, shape, sizes, False) for shape in possible)
        if len(possible) == 1:  # the other branch cannot run
            dims = bound.tensors["y"].shape.dims
            assert dims is not None
            assert tuple(evaluate(d, sizes) for d in dims) == possible[0]


# Pairs of branches, and the requirements of the graph whichever branch runs.
COMMON = [
    ("four", "two", ["n >= 2", "n <= 4"]),
    ("halves", "four", ["n % 2 == 0"]),
    ("pick", "window", ["n >= 3"]),
    ("pick", "four", ["n >= 3"]),
    ("same", "four", []),
    ("concatenated", "four", []),
]


@pytest.mark.parametrize(("first", "second", "expected"), COMMON)
def test_common_requirements_of_branches_are_unconditional(first, second, expected):
    """The test above shows that no size that runs is rejected; this one, that common requirements are not left open."""
    contract = infer_shapes(model_of(first, second)).contract
    assert [c.text for c in contract.always] == expected
