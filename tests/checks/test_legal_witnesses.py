"""What `check` reports holds at sizes with which the graph runs; the declarations of the file are never believed.

The runtime is the oracle: at each printed witness onnxruntime runs the graph, and the output has the computed size.
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import onnx
import pytest
from onnx import parser

from shapeinf import infer_shapes
from shapeinf.checks import check
from tests.checks.models import model, node, numbers, weights

HEADER = '<ir_version: 8, opset_import: ["" : 17]> g '


def read(text: str) -> onnx.ModelProto:
    return parser.parse_model(HEADER + text)


def failing(proto: onnx.ModelProto, **options):
    return [d for d in check(infer_shapes(proto, declared="check", **options), options.get("dims")) if d.fails]


def codes(proto: onnx.ModelProto, **options) -> list[str]:
    return [d.code for d in failing(proto, **options)]


# -- a declaration that every legal size satisfies

FIXED = """(float[batch, 6] x) => (float[1, 6] y) <int64[2] s = {1, 6}, float[%d, 6] a>
    { a = Relu(x) y = Reshape(a, s) }"""


def test_a_number_that_a_later_node_requires_is_not_stale() -> None:
    """Relu is right: its value_info [1, 6] holds at the one batch with which the Reshape runs."""
    text = (
        "(float[batch, 6] x) => (float[1, 6] y) <int64[2] s = {1, 6}, float[1, 6] a> { a = Relu(x) y = Reshape(a, s) }"
    )
    (only,) = failing(read(text))
    assert (only.code, only.node) == ("C101", "y")
    assert "can only be 1" in only.message
    assert not only.cause


def test_another_number_is_stale() -> None:
    text = (
        "(float[batch, 6] x) => (float[1, 6] y) <int64[2] s = {1, 6}, float[2, 6] a> { a = Relu(x) y = Reshape(a, s) }"
    )
    assert {(d.code, d.node) for d in failing(read(text))} == {("C110", "a"), ("C101", "y")}


def related_names(big: str = "big_height") -> onnx.ModelProto:
    """A latent [height] and a condition of twice its size, halved by a convolution."""
    conv = node("Conv", "cond w", "c", pads=[1, 1, 1, 1], strides=[2, 2])
    inputs = {"x": ["batch", 4, "height", "width"], "cond": ["batch", 4, big, "big_width"]}
    nodes = [conv, node("Add", "x c", "y")]
    return model(nodes, inputs, {"y": ["batch", 4, "height", "width"]}, constants=[weights("w", 4, 4, 3, 3)])


@pytest.mark.parametrize("big", ["big_height", "2_height"])
def test_sizes_that_solve_an_equation_are_tried(big) -> None:
    assert codes(related_names(big)) == []


def test_a_window_that_only_multiples_fill_is_no_failure() -> None:
    """Undecided for names: H // 32 rows of windows need an H that is a multiple of 32."""
    text = """(float[b, height, width, 2] x) => (float[?, ?, ?, ?, ?, ?] y)
        <int64[1] two = {2}, int64[1] k = {32}, int64[1] c = {2}> {
        n = Shape <start = 0, end = 1> (x) h = Shape <start = 1, end = 2> (x) w = Shape <start = 2, end = 3> (x)
        hq = Div(h, k) wq = Div(w, k) s = Concat <axis = 0> (n, hq, k, wq, k, c) y = Reshape <allowzero = 1> (x, s) }"""
    assert "C115" not in codes(read(text))


# -- defaults, sums, assumed bounds


def with_default(first: str) -> onnx.ModelProto:
    proto = read(f"(float[n, {first}] x, float[k, m] w) => (float[n, ?] y) {{ y = MatMul(x, w) }}")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros((3, 4), np.float32), "w"))
    return proto


def test_the_default_of_an_input_holds_in_what_if_runs() -> None:
    assert codes(with_default("3")) == []
    (only,) = failing(with_default("j"))
    assert (only.code, only.message.partition(" is declared")[0]) == ("C101", "j (x.shape[1])")


def test_a_cache_and_tokens_that_fill_a_context_are_right() -> None:
    nodes = [node("Concat", "a b", "c", axis=1), node("MatMul", "c w", "y")]
    inputs = {"a": [1, "x"], "b": [1, "z"]}
    assert codes(model(nodes, inputs, {"y": None}, constants=[weights("w", 32, 16)])) == []


def test_a_sum_that_the_export_fixed_is_reported() -> None:
    nodes = [node("Concat", "a b", "c", axis=1), node("Reshape", "c s", "y")]
    proto = model(nodes, {"a": [1, "x"], "b": [1, "z"]}, {"y": None}, constants=[numbers("s", 4, 8)])
    assert codes(proto) == ["C101"]


def test_an_assumed_bound_is_no_bound() -> None:
    """A Cast of sizes to float is exact up to 2**24: nothing says that the sizes are that small."""
    text = """(float[N, M, 4] x) => (float[?, ?] y) <float[3, 2] w = {1, 0, 0, 2, 0, 0}> {
        s = Shape(x) t = Cast <to = 1> (s) r = MatMul(t, w) u = Cast <to = 7> (r) y = ConstantOfShape(u) }"""
    result = infer_shapes(read(text), declared="check")
    assert [d.code for d in check(result) if d.code in ("C130", "C140")] == []
    ranged = infer_shapes(read(text), declared="check", dims={"N": "1..65536", "M": "1..65536"})
    assert "C130" in [d.code for d in check(ranged, {"N": "1..65536", "M": "1..65536"})]


# -- stale declarations inside the graph


def chain(x: list, declared: list, y: list, length: int = 3, op: str = "Relu") -> onnx.ModelProto:
    names = ["x", *(f"h{i}" for i in range(length)), "y"]
    nodes = [node(op, a, b) for a, b in itertools.pairwise(names)]
    return model(nodes, {"x": x}, {"y": y}, {name: declared for name in names[1:-1]})


@pytest.mark.parametrize(
    ("x", "declared", "sizes"),
    [
        ([8, 3], [1, 3], "x.shape[0] = 1 (8 now)"),
        (["n", 3], [1, 3], "n = 1"),
        (["n", 3, "h", "w"], [1, 3, 224, 224], "n = 1, h = 224, w = 224"),
        (["n", "s", 4], ["n", 7, 4], "s = 7"),
    ],
)
def test_an_output_that_was_edited_with_the_inputs_is_right(x, declared, sizes) -> None:
    """The edit left the value_info: one diagnostic, with the count and an example; the output is right."""
    (only,) = failing(chain(x, declared, x))
    assert (only.code, only.node, only.tensor) == ("C110", "make_h0", "h0")
    assert "declarations of 3 values" in only.message
    assert sizes in only.message
    assert "h0 is declared as" in only.message


def test_sizes_behind_windows_are_of_the_same_edit() -> None:
    nodes = [
        node("Conv", "x w", "a", pads=[1, 1, 1, 1]),
        node("MaxPool", "a", "b", kernel_shape=[2, 2], strides=[2, 2]),
        node("GlobalAveragePool", "b", "c"),
        node("Flatten", "c", "y"),
    ]
    declared = {"a": [1, 4, 224, 224], "b": [1, 4, 112, 112], "c": [1, 4, 1, 1]}
    constants = [weights("w", 4, 3, 3, 3)]
    for x, y in ((["N", 3, "H", "W"], ["N", 4]), ([8, 3, 256, 256], [8, 4])):
        (only,) = failing(model(nodes, {"x": x}, {"y": y}, declared, constants))
        assert (only.code, only.node) == ("C110", "make_a")
        assert "3 values" in only.message


def test_another_element_type_of_all_values_is_one_diagnostic() -> None:
    text = (
        "(float16[n, 3] x) => (float16[n, 3] y) <float[n, 3] a, float[n, 3] b> { a = Relu(x) b = Relu(a) y = Relu(b) }"
    )
    (only,) = failing(read(text))
    assert (only.code, only.node) == ("C110", "a")
    assert "2 values inside the graph are of float32, not of float16" in only.message


def test_a_wrong_output_is_still_reported_beside_stale_values() -> None:
    proto = chain(["n", 3], [1, 3], ["n", 4])
    found = failing(proto)
    assert [(d.code, d.node) for d in found] == [("C110", "make_h0"), ("C111", "make_y")]
    assert "declared as 4 on axis 1 but the graph computes 3" in found[1].message


def test_values_that_are_wrong_for_several_reasons_are_reported_each() -> None:
    proto = chain(["n", 3], ["n", 3], ["n", 3])
    for value, size in zip(proto.graph.value_info, (4, 5, 3), strict=True):
        value.type.tensor_type.shape.dim[1].dim_value = size
    assert [(d.code, d.tensor) for d in failing(proto)] == [("C110", "h0"), ("C110", "h1")]


# -- behind an error

BROKEN = """(float[4, 8] x, float[9, 5] w, float[4, 5] z, float[4, 6] q) => (float[4, 5] y, float[?, ?] v)
    <float[8, 5] a, float[8, 5] b, float[2, 3] c> { [one] a = MatMul(x, w) [two] b = Add(a, z) [three] c = Relu(b)
    [four] y = Relu(c) %s }"""
INDEPENDENT = "[five] v = Concat <axis = 0> (z, q)"


def test_an_error_that_follows_from_another_one_is_not_reported() -> None:
    for declared in ("trust", "check"):
        result = infer_shapes(read(BROKEN % "[five] v = Relu(q)"), declared=declared)
        assert [(d.code, d.node) for d in result.diagnostics] == [("S101", "one")]
    assert [(d.code, d.node) for d in failing(read(BROKEN % "[five] v = Relu(q)"))] == [("S101", "one")]


def test_the_only_node_behind_an_error_is_not_reported() -> None:
    text = """(float[4, 8] x, float[9, 5] w, float[4, 5] z) => (float[8, 5] y) <float[8, 5] a>
        { [one] a = MatMul(x, w) [two] y = Add(a, z) }"""
    result = infer_shapes(read(text), declared="trust")
    assert [(d.code, d.node) for d in result.diagnostics] == [("S101", "one")]


def test_an_error_of_its_own_behind_another_one_is() -> None:
    for declared in ("trust", "check"):
        result = infer_shapes(read(BROKEN % INDEPENDENT), declared=declared)
        assert [(d.code, d.node) for d in result.diagnostics] == [("S101", "one"), ("S101", "five")]
    assert {(d.code, d.node) for d in failing(read(BROKEN % INDEPENDENT))} == {("S101", "one"), ("S101", "five")}


# -- texts of other tools


def pooled(text: str) -> onnx.ModelProto:
    pool = node("MaxPool", "x", "a", kernel_shape=[2, 2], strides=[2, 2])
    declared = ["n", 3, text, 4]
    return model([pool, node("Relu", "a", "y")], {"x": ["n", 3, "height", 8]}, {"y": declared}, {"a": declared})


@pytest.mark.parametrize(
    "text",
    ["ceiling(height/2)", "floor(height/2) + 5", "floor(height/2 - 1/2) + 1", "height//2 + 5", "Max(height, 3)"],
)
def test_expressions_of_other_tools_are_compared(text) -> None:
    assert codes(pooled(text)) == ["C110", "C111"]


@pytest.mark.parametrize(
    "text",
    ["floor(height/2)", "height//2", "floor(height/2 - 1) + 1", "floor(0.5*height)", "(height - Mod(height, 2))//2"],
)
def test_right_expressions_of_other_tools_are_silent(text) -> None:
    assert codes(pooled(text)) == []


@pytest.mark.parametrize("text", ["height/2", "floor(height/2", "floor(0.333333333333333*height)", "height^2", "h(x)"])
def test_an_unreadable_text_is_a_name(text) -> None:
    assert codes(pooled(text)) == []


# -- the runtime runs at each witness

WITNESSES = {
    "a stale batch": chain(["n", 3], [1, 3], ["n", 3], 1),
    "a wrong output": chain(["n", 3], ["n", 3], [2, 3], 1),
    "an odd height": pooled("ceiling(height/2)"),
    "a double": model([node("Concat", "x x", "y", axis=0)], {"x": ["n", 3]}, {"y": ["n", 3]}),
    "beside a fixed axis": model(
        [node("Relu", "x", "a"), node("MatMul", "a w", "b"), node("Concat", "b b", "y", axis=0)],
        {"x": ["n", "k"]},
        {"y": ["n", 5]},
        {"a": ["n", 4]},
        [weights("w", 4, 5)],
    ),
    "beside a multiple": model(
        [node("Reshape", "x s", "a"), node("Relu", "x", "y")],
        {"x": ["n", 2]},
        {"a": None, "y": [3, 2]},
        constants=[numbers("s", -1, 7)],
    ),
}


@pytest.mark.parametrize("proto", WITNESSES.values(), ids=list(WITNESSES))
def test_the_runtime_runs_at_each_witness(proto) -> None:
    runtime = pytest.importorskip("onnxruntime")
    differences = [d for d in failing(proto) if d.code in ("C110", "C111")]
    assert differences
    extended = onnx.ModelProto.FromString(proto.SerializeToString())
    known = {value.name for value in extended.graph.output}
    extended.graph.output.extend(v for v in extended.graph.value_info if v.name not in known)
    session = runtime.InferenceSession(extended.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    for difference in differences:
        size, sizes = re.search(r": (\d+) for (.*)$", difference.message).groups()
        binding = {name: int(n) for name, n in (pair.split(" = ") for pair in sizes.split(", "))}
        result = infer_shapes(proto, bind=binding)
        dims = {name: result.tensors[name].shape for name in result.graph.inputs}
        feeds = {n: np.zeros([d if isinstance(d, int) else 2 for d in shape], np.float32) for n, shape in dims.items()}
        shapes = {n: v.shape for n, v in zip(names, session.run(None, feeds), strict=True)}
        assert shapes[difference.tensor][difference.axis] == int(size)
