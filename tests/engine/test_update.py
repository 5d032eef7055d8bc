"""An updated result equals the result of one inference with all inputs."""

from __future__ import annotations

import re

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapeinf import Dim, ShapeError, infer_shapes
from tests.checks.models import join_model, model, node, numbers

PLAIN = model([node("Relu", "x", "y")], {"x": ["batch", 3], "z": ["batch", 6]}, {"y": None})
MODELS = {
    "nothing is learned": PLAIN,
    "nodes learn": join_model("Concat", "batch", "total", axis=1),
    "nodes require": model(
        [node("Reshape", "x s", "h"), node("Concat", "x z", "y", axis=1)],
        {"x": ["batch", 6], "z": [None, 6]},
        {"y": None},
        constants=[numbers("s", -1, 4)],
    ),
}
AXIS = st.one_of(
    st.sampled_from([None, "batch", "n", 4, 8, "2..6", "n=0..4", (1, 9)]),
    st.builds(Dim, st.sampled_from(["batch", "n"]), st.integers(0, 2), st.integers(8, 16)),
    st.builds(lambda n: Dim("n", multiple_of=n), st.integers(1, 4)),
)
FULL = st.tuples(AXIS, st.sampled_from([6, None])).map(list)
SHAPES = st.dictionaries(st.sampled_from(["x", "z"]), FULL, min_size=1)


def outline(result):
    """What users see of a result, without the numbers of unknowns."""
    tensors = {name: str(info) for name, info in result.tensors.items()}
    bounds = {
        name: [str(result.interval(dim)) for dim in info.shape.dims or ()] for name, info in result.tensors.items()
    }
    outlined = tensors, bounds, str(result.contract), result.policy, list(map(str, result.diagnostics))
    return re.sub(r"#\d+", "", str(outlined))


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(sorted(MODELS)), st.lists(SHAPES, min_size=1, max_size=3), st.sampled_from([0, 1, 2]))
def test_full_shapes_replace_previous_shapes(name, updates, min_dim) -> None:
    """Of earlier shapes only the names of dims remain, without bounds."""
    result = infer_shapes(MODELS[name], min_dim=min_dim)
    for update in updates:
        result = result.update(update)
    together = {k: v for update in updates for k, v in update.items()}
    assert outline(result) == outline(infer_shapes(MODELS[name], inputs=together, min_dim=min_dim))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(MODELS)), AXIS, AXIS)
def test_single_axes_change_previous_shapes(name, first, second) -> None:
    result = infer_shapes(MODELS[name], inputs={"x": [first, 6]}).update({"z": {0: second}})
    assert outline(result) == outline(infer_shapes(MODELS[name], inputs={"x": [first, 6], "z": {0: second}}))


RESHAPE = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 18]> g (float[n, 6] x, int64[k] s) => (float[] y) { y = Reshape (x, s) }'
)
WRONG = model([node("Relu", "x", "y")], {"x": ["batch", 3], "z": ["batch", 6]}, {"y": ["batch", 4]})
ODD_NAME = model([node("Relu", "x", "y")], {"x": ["a (", 3], "z": ["batch", 6]}, {"y": None})
POOL = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 18]> g (float[1, 3, h] x, float[1, 4, m] z) => (float[] y, float[] w)'
    "{ y = MaxPool <kernel_shape = [5], strides = [2]> (x) w = Concat <axis = 1> (x, z) }"
)
OPTIONS = {
    "dims": (PLAIN, {"dims": {"batch": (2, 6)}}, [None, 3]),
    "dims, of an axis without a name": (PLAIN, {"dims": {"x.shape[0]": (2, 6)}, "inputs": {"x": [None, 3]}}, [None, 4]),
    "dims, of an axis that had a range": (
        PLAIN,
        {"dims": {"x.shape[0]": "2.."}, "inputs": {"x": ["1..9", 3]}},
        [None, 4],
    ),
    "bind": (PLAIN, {"bind": {"batch": 4}}, ["batch", 5]),
    "bind, of an axis without a name": (PLAIN, {"bind": {"x.shape[0]": 4}, "inputs": {"x": [None, 3]}}, [None, 4]),
    "assume": (PLAIN, {"assume": "batch <= 9"}, ["batch", 5]),
    "assume, of an axis without a name": (PLAIN, {"assume": "x.shape[0] <= 9", "inputs": {"x": [None, 3]}}, [None, 4]),
    "assume, redundant": (PLAIN, {"assume": "x.shape[0] <= 9", "inputs": {"x": ["1..4", 3]}}, ["1..20", 4]),
    "values": (RESHAPE, {"values": {"s": [3, -1]}}, ["n", 9]),
    "values, of dims": (RESHAPE, {"values": {"s": ["n", 2, 3]}}, ["n", 6]),
    "min_dim": (PLAIN, {"min_dim": 0}, ["n", None]),
    "declared, trusted": (WRONG, {"declared": "trust"}, ["n", 3]),
    "declared, ignored": (WRONG, {"declared": "ignore"}, ["n", 3]),
    "a bound below min_dim": (PLAIN, {}, [Dim("batch", min=0, max=4), 3]),
    "a name that is no expression": (ODD_NAME, {}, ["n", 3]),
}


@pytest.mark.parametrize(("graph", "options", "shape"), OPTIONS.values(), ids=OPTIONS)
def test_options_survive_an_update(graph, options, shape) -> None:
    """An update is an inference of the last shapes with the same options, and so is a second one."""
    updated = infer_shapes(graph, **options).update({"x": shape})
    fresh = outline(infer_shapes(graph, **{**options, "inputs": {"x": shape}}))
    assert outline(updated) == fresh
    assert outline(updated.update({"x": [7, 3]}).update({"x": shape})) == fresh


def test_the_mode_survives_an_update() -> None:
    with pytest.raises(ShapeError, match="element count"):
        infer_shapes(MODELS["nodes require"], mode="strict").update({"x": [1, 3]})


def test_an_update_assumes_again_what_did_not_hold_for_earlier_shapes() -> None:
    """A window is assumed to fit into its input: not where x is as short as z, which must be of equal size."""
    result = infer_shapes(POOL, inputs={"z": [1, 4, 2]})
    assert str(result.tensors["y"].shape) == "[1, 3, 0]"
    assert outline(result.update({"z": [1, 4, "h"]})) == outline(infer_shapes(POOL, inputs={"z": [1, 4, "h"]}))


def test_bounds_of_a_named_dim_survive_an_update() -> None:
    """Also those below `min_dim`, which need a symbol that may be so small."""
    result = infer_shapes(PLAIN).update({"x": [Dim("batch", min=0, max=4), 3]})
    assert str(result.interval(result.tensors["y"].shape[0])) == "0..4"
    assert result.policy == "named dims are at least 1, batch at least 0"
    wider = result.update({"x": [Dim("batch", max=9), 3]})
    assert str(wider.interval(wider.tensors["y"].shape[0])) == "1..9"


def test_the_policy_survives_an_update() -> None:
    result = infer_shapes(PLAIN, min_dim=0).update({"x": ["n", 3]})
    assert str(result.interval(result.tensors["y"].shape[0])) == "0.."
    assert infer_shapes(PLAIN).update({"x": ["n", 3]}).contract.check(n=0).verdict is True


def test_ranges_of_dims_that_are_gone_are_ignored() -> None:
    result = infer_shapes(PLAIN, inputs={"x": ["rows", 3]}, dims={"rows": (1, 4)}).update({"x": [7, 3]})
    assert str(result.tensors["y"].shape) == "[7, 3]"


def test_dims_of_a_result_are_shapes_of_its_update() -> None:
    """They belong to the old inference, and the update may create another one."""
    result = infer_shapes(MODELS["nodes learn"])
    batch = result.tensors["x"].shape[0]
    updated = result.update({"x": [2 * batch, 6], "z": [2 * batch, 6]})
    assert str(updated.tensors["y"].shape) == "[2*batch, 12]"
