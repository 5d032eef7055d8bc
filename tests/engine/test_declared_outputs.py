"""Wrong declarations of node outputs never change an input: they are reported, and all queries hold for every size."""

from __future__ import annotations

import onnx
import pytest
from onnx import parser

from shapeinf import infer_shapes
from tests.engine.runtime import shapes

HEADER = '<ir_version: 8, opset_import: ["" : 17]>'


def read(text: str) -> onnx.ModelProto:
    return parser.parse_model(f"{HEADER} g {text}")


def inputs(result) -> list[str]:
    return [str(result.tensors[name]) for name in result.graph.inputs]


CASES = {
    "an output of a reduced axis": (
        "(float[?, 5] x) => (int64[1] y) { y = ArgMax <axis = 1, keepdims = 0> (x) }",
        ["float32[x.shape[0], 5]"],
        "y.shape[0] (1)",
    ),
    "an inner value": (
        "(float[?, 5] x) => (float[?, 5] y) <float[8, 5] h> { h = Relu (x) y = Relu (h) }",
        ["float32[x.shape[0], 5]"],
        "h.shape[0] (8)",
    ),
    "a sum of two inputs": (
        "(float[?] x, float[?] z) => (float[7] y) { y = Concat <axis = 0> (x, z) }",
        ["float32[x.shape[0]]", "float32[z.shape[0]]"],
        "y.shape[0] (7)",
    ),
    "a part of an input": (
        "(float[1, 3, ?] x) => (float[1, 3, 4] y) { y = MaxPool <kernel_shape = [2], strides = [2]> (x) }",
        ["float32[1, 3, x.shape[2]]"],
        "y.shape[2] (4)",
    ),
    "a count joined with an input": (
        "(float[?] x, int64[?] z) => (int64[7] y) { c = NonZero (x) zero = Constant <value_ints = [0]> () "
        "s = Squeeze (c, zero) y = Concat <axis = 0> (s, z) }",
        ["float32[x.shape[0]]", "int64[z.shape[0]]"],
        "y.shape[0] (7)",
    ),
}


@pytest.mark.parametrize(("text", "wanted", "reported"), CASES.values(), ids=list(CASES))
def test_the_inputs_stay_as_they_are_and_the_declaration_is_reported(text, wanted, reported) -> None:
    result = infer_shapes(read(text))
    assert inputs(result) == wanted
    (note,) = [d for d in result.diagnostics if d.code == "S122"]
    assert note.severity == "warning"
    assert reported in note.message


def test_all_unused_sizes_of_a_model_are_one_diagnostic() -> None:
    text = "(float[?, 5] x) => (float[1, 5] y) <float[1, 5] a, float[1, 5] b> { a = Relu(x) b = Relu(a) y = Relu(b) }"
    (note,) = infer_shapes(read(text)).diagnostics
    assert (note.code, note.node) == ("S122", "a")
    assert "2 more declared sizes" in note.message


def test_a_size_that_a_later_node_requires_is_no_news() -> None:
    text = "(float[?, 6] x) => (float[1, 6] y) <int64[2] s = {1, 6}, float[1, 6] a> { a = Relu(x) y = Reshape(a, s) }"
    result = infer_shapes(read(text))
    assert inputs(result) == ["float32[1, 6]"]
    assert not result.diagnostics


def test_a_new_name_is_the_name_of_an_axis_of_an_input() -> None:
    result = infer_shapes(read("(float[?, 5] x) => (float[batch, 5] y) { y = Relu (x) }"))
    assert shapes(result, "x", "y") == ["float32[batch, 5]", "float32[batch, 5]"]


@pytest.mark.parametrize(
    "text",
    [
        "(float[?] x, float[?] z) => (float[n] y, float[n] w) { y = Relu (x) w = Relu (z) }",
        "(float[?] x, float[n] z) => (float[n] y, float[n] w) { y = Relu (x) w = Relu (z) }",
        "(float[?] x, float[?] z) => (float[n] y, float[n] w) { y = Relu (x) w = Concat <axis = 0> (x, z) }",
        "(float[?] x, float[?] z) => (int64[1, n] y, float[n] w, float[n] v) "
        "{ y = NonZero (x) w = Relu (x) v = Relu (z) }",
    ],
)
def test_one_name_for_two_axes_equates_no_inputs(text) -> None:
    result = infer_shapes(read(text))
    x, z = (result.tensors[name].shape[0] for name in ("x", "z"))
    assert x != z
    assert {c.kind for c in result.contract.preconditions} == set()


def test_the_name_of_one_axis_leaves_another_one_open() -> None:
    """y is x itself, so that n is x; w is longer, and its declaration as n is not used."""
    text = "(float[?] x, float[?] z) => (float[n] y, float[n] w) { y = Relu (x) w = Concat <axis = 0> (x, z) }"
    result = infer_shapes(read(text))
    assert shapes(result, "y", "w") == ["float32[n]", "float32[z.shape[0] + n]"]


def test_an_input_of_unknown_rank_stays_so() -> None:
    proto = read("(float[?] x) => (float[1, 5] y) { y = Relu (x) }")
    proto.graph.input[0].type.tensor_type.ClearField("shape")
    result = infer_shapes(proto)
    assert result.tensors["x"].shape.dims is None
    assert result.tensors["y"].shape.dims is None


def test_axes_that_may_be_absent_stay_open() -> None:
    """Squeeze of [?, 4]: the declared rank says that the first axis has size 1; that is not used."""
    result = infer_shapes(read("(float[?, 4] x) => (float[4] y) { y = Squeeze (x) }"))
    assert inputs(result) == ["float32[x.shape[0], 4]"]
    assert result.contract.check({"x.shape[0]": 3}).verdict is not False


def test_a_declared_size_of_data_still_counts() -> None:
    """Nothing but the data decides it: the declaration limits no input."""
    result = infer_shapes(read("(float[n, 2] x) => (int64[2, 7] y) { y = NonZero (x) }"))
    assert shapes(result, "x", "y") == ["float32[n, 2]", "int64[2, 7]"]
    assert not result.diagnostics


WRONG = CASES["an output of a reduced axis"][0]


def test_all_queries_agree_on_other_sizes() -> None:
    result = infer_shapes(read(WRONG))
    assert result.contract.check({"x.shape[0]": 3}).verdict is True
    assert result.memory().peak.at({"x.shape[0]": 3}).bytes == 24
    assert result.program()({"x.shape[0]": 3})["y"].tolist() == [[3]]


def test_the_runtime_agrees() -> None:
    pytest.importorskip("onnxruntime")
    from shapeinf.runtime import verify

    assert verify(read(WRONG), at=[{"x.shape[0]": 3}]).ok


def test_an_update_forgets_what_no_longer_holds() -> None:
    result = infer_shapes(read(WRONG))
    assert [d.code for d in result.update({"x": [1, 5]}).diagnostics] == []
    assert [d.code for d in result.update({"x": [None, 5]}).diagnostics] == ["S122"]
