"""`assert_shapes` and `shapeinf_check` as functions."""

from __future__ import annotations

from typing import Any

import networkx as nx
import onnx
import pytest

from shapeinf import Dim, ShapeInferenceError, UnknownNameError, infer_shapes
from shapeinf.errors import SpecError
from shapeinf.testing import assert_shapes, shapeinf_check

CONVNET = "examples/convnet.onnx"


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        ({"mask": "[batch, 1, height, width]"}, {}),
        ({"mask": "float32[batch, 1, ?, ?]", "half": "[?, 8, height//2, ?]"}, {}),
        ({"image": "[1..8, 3, 2.., ?]"}, {"dims": {"batch": "2..4"}}),
        ({"mask": (2, 1, "height", None)}, {"bind": {"batch": 2}}),
        ({"up": "[batch, 8, height, 2*(width//2)]"}, {"dims": [Dim("height", multiple_of=4)]}),
        ({"image": "float32", "mask": "?"}, {}),
    ],
)
def test_shapes_that_hold(expected: dict[str, Any], options: dict[str, Any]) -> None:
    assert assert_shapes(CONVNET, expected, **options) is not None
    assert_shapes(infer_shapes(CONVNET, **options), expected)


@pytest.mark.parametrize(
    ("expected", "lines"),
    [
        ({"mask": "[batch, 2, height, width]"}, ["axis 1 is 1, not 2", "w4.shape[0] = 1, the shape of a constant"]),
        ({"mask": "[batch, 1, width, width]"}, ["axis 2 is height, not width: no constraint of the model makes them"]),
        ({"mask": "[batch, 1, 7, width]"}, ["axis 2 is height, not 7: ", "joined/Concat"]),
        ({"mask": "int64[batch, 1, height, width]"}, ["it is a tensor of element type float32"]),
        ({"mask": "[batch, 1, height]"}, ["the rank is 4"]),
        ({"image": "[1..8, 3, ?, ?]"}, ["axis 0 is batch, not 1..8: it is within 1.."]),
    ],
)
def test_a_difference_is_explained(expected: dict[str, str], lines: list[str]) -> None:
    with pytest.raises(AssertionError) as error:
        assert_shapes(CONVNET, expected)
    assert all(line in str(error.value) for line in lines), error.value
    (name,) = expected
    assert f"{name}:\n  expected  {expected[name]}\n  inferred  float32[batch, " in str(error.value)


def test_an_unknown_rank_is_explained() -> None:
    model = nx.DiGraph(dialect="onnx", opsets={"": 18}, inputs={"x": ["n"], "s": ["k"]}, outputs=["y"])
    model.add_node("turn", op="Reshape", inputs=["x", "s"], outputs=["y"])
    with pytest.raises(AssertionError, match=r"(?s)the rank is unknown.*turn"):
        assert_shapes(model, {"y": "[n, 1]"})


@pytest.mark.parametrize(
    ("error", "expected", "options"),
    [
        (UnknownNameError, {"mesk": "[1]"}, {}),
        (UnknownNameError, {"mask": "[batsh, 1, ?, ?]"}, {}),
        (SpecError, {"mask": "[batch, 1"}, {}),
        (SpecError, {"mask": ""}, {}),
        (UnknownNameError, {}, {"bind": {"batsh": 1}}),
    ],
)
def test_mistakes_of_a_test_are_no_differences(error: type[Exception], expected: Any, options: Any) -> None:
    with pytest.raises(error):
        assert_shapes(CONVNET, expected, **options)


def test_options_of_a_finished_result_are_refused() -> None:
    with pytest.raises(ShapeInferenceError, match="the result is inferred already"):
        assert_shapes(infer_shapes(CONVNET), {}, bind={"batch": 1})


def test_a_question_adds_no_names_to_a_result() -> None:
    result = infer_shapes(CONVNET)
    before = result.engine.scope.names()
    with pytest.raises(UnknownNameError):
        assert_shapes(result, {"mask": "[unheard, 1, 2, 3]"})
    assert result.engine.scope.names() == before


BROKEN = """
<ir_version: 8, opset_import: ["": 18]>
g (float[n, 3] x, float[4, 5] w) => (float[n, 5] y) { [product] y = MatMul(x, w) }
"""


def test_checks_fail_unless_they_are_ignored() -> None:
    import onnx

    model = onnx.parser.parse_model(BROKEN)
    with pytest.raises(AssertionError, match=r"(?s)1 error.*S101.*product"):
        shapeinf_check(model)
    assert shapeinf_check(model, ignore=["S1"]) == []
    assert shapeinf_check(model, select=["C1"]) == []
    with pytest.raises(AssertionError):
        shapeinf_check(model, ignore=["S1"], select=["S101"])
    with pytest.raises(UnknownNameError, match="diagnostic code"):
        shapeinf_check(model, ignore=["X9"])


def test_ranges_make_a_case_within_them_more_than_a_note() -> None:
    """At 2**63 elements and more a size no longer fits into 64 bits."""
    model = nx.DiGraph(dialect="onnx", opsets={"": 18}, inputs={"x": ["batch", 1024]}, outputs=["y"])
    model.add_node("join", op="Concat", inputs=["x", "x"], outputs=["y"], attrs={"axis": 0})
    for dims in ({"batch": (1, 1 << 58)}, [Dim("batch", 1, 1 << 58)]):
        with pytest.raises(AssertionError, match="join"):
            shapeinf_check(model, dims=dims)
    shapeinf_check(model, dims={"batch": (1, 8)})


def test_values_of_inputs() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]> g (float[n, 6] x, int64[2] shape) => (float[r, s] y) '
        "{ y = Reshape (x, shape) }"
    )
    assert_shapes(model, {"y": "[3, 2*n]"}, values={"shape": [3, -1]})
    assert all(not d.fails for d in shapeinf_check(model, values={"shape": [3, -1]}))
    with pytest.raises(ShapeInferenceError, match="values have no effect"):
        assert_shapes(infer_shapes(model), {"y": "[r, s]"}, values={"shape": [3, -1]})
