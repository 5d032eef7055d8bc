"""`Result.why`: what is said of messages and sizes of small models."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
import pytest
from onnx import parser

from shapeinf import Result, infer_shapes
from shapeinf.errors import UnknownNameError
from shapeinf.report.failures import failure_lines

TWO = "(float[n, k] x, float[4, 5] w, float[m, 5] b) => (float[p, 5] y) { [mm] h = MatMul(x, w) [add] y = Add(h, b) }"


def result_of(graph: str) -> Result:
    model: onnx.ModelProto = parser.parse_model(f'<ir_version: 9, opset_import: ["": 17]> g {graph}')
    return infer_shapes(model)


def failed(op: str, name: str, status: str = "failed") -> str:
    return f"Non-zero status code returned while running {op} node. Name:'{name}' Status Message: {status}"


def test_the_violated_condition_has_its_node_sizes_and_nearest_legal_sizes() -> None:
    report = result_of(TWO).why(failed("MatMul", "mm"), at={"n": 2, "k": 3, "m": 2})
    assert (report.verdict, report.sizes_from, dict(report.sizes)) == ("violated", "user", {"n": 2, "k": 3, "m": 2})
    (condition,) = report.conditions
    assert condition.match is not None and (condition.match.node, condition.match.evidence) == ("mm", "name")
    assert condition.condition == "k == 4" and dict(condition.dims) == {"k": 3}
    assert [(near.dim, near.size, near.instead) for near in condition.nearest] == [("k", 4, 3)]
    assert condition.operands[0].startswith("x  float32[2, 3]")


def test_nearest_sizes_are_legal_for_the_other_sizes() -> None:
    result = result_of(TWO)
    sizes = {"n": 6, "k": 4, "m": 4}
    (condition,) = result.why(failed("Add", "add"), at=sizes).conditions
    assert condition.nearest
    for near in condition.nearest:
        assert result.contract.check({**sizes, near.dim: near.size}).verdict is True


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("Incompatible shapes: [3,5] vs. [2,5]\n\t [[{{node add}}]]", {"n": 3, "k": 4, "m": 2}),
        ("[CPU] MatMul node with name 'mm' Check\nMatmul shape A: (2.3) shape B: (4.5)", {"n": 2, "k": 3}),
    ],
)
def test_sizes_are_those_of_the_operands_that_the_message_prints(text: str, sizes: dict[str, int]) -> None:
    report = result_of(TWO).why(text)
    assert (report.verdict, report.sizes_from, dict(report.sizes)) == ("violated", "message", sizes)


def test_operands_that_a_node_cannot_have_exclude_it() -> None:
    graph = """(float[n, 5] x, float[m, 5] z, float[r, 7] u, float[s, 7] v) => (float[p, 5] y, float[q, 7] w)
    { [one] y = Add(x, z) [two] w = Add(u, v) }"""
    text = (
        "While validating node 'opset1::Add Add_99 (opset1::R r[0]:f32[3,7], opset1::R q[0]:f32[2,7]) -> (f32[?,7])' "
        "with friendly_name 'Add_99':\nArgument shapes are inconsistent."
    )
    report = result_of(graph).why(text)
    assert report.verdict == "violated"
    assert report.conditions[0].match is not None and report.conditions[0].match.node == "two"


def test_without_sizes_the_conditions_of_the_node_are_listed() -> None:
    report = result_of(TWO).why(failed("MatMul", "mm"))
    assert report.verdict == "possible" and report.explained
    assert [condition.condition for condition in report.conditions] == ["k == 4"]


def test_all_nodes_that_fit_are_named() -> None:
    graph = "(float[n, 5] x, float[m, 5] z) => (float[p, 5] y) { a = Add(x, z) b = Relu(a) y = Add(b, z) }"
    report = result_of(graph).why(failed("Add", ""))
    assert [node.node for node in report.nodes] == ["a", "y"]


def test_where_all_conditions_hold_no_cause_is_invented() -> None:
    report = result_of(TWO).why(failed("MatMul", "mm"), at={"n": 2, "k": 4, "m": 2})
    assert (report.verdict, report.conditions, report.explained) == ("holds", (), False)


def test_indices_are_data() -> None:
    graph = "(float[9, 4] t, int64[n] i) => (float[n, 4] y) { [g] y = Gather(t, i) }"
    report = result_of(graph).why(failed("Gather", "g", "indices element out of data bounds, idx=12"), at={"n": 2})
    assert report.verdict == "depends on data" and "i" in report.notes[0]


def test_a_declared_size_that_no_node_needs() -> None:
    text = "Got invalid dimensions for input: x for the following indices\n index: 1 Got: 5 Expected: 6\n Please fix"
    report = result_of("(float[n, 6] x) => (float[n, 6] y) { y = Relu(x) }").why(text)
    assert report.verdict == "violated" and report.sizes_from == "message"
    assert report.conditions[0].condition == "x.shape[1] == 6" and report.conditions[0].input == "x"
    assert report.notes == (
        "no node of the graph requires the declared sizes: the declaration can be a dim with a name",
    )


def test_a_declared_size_that_a_node_needs() -> None:
    text = "Got invalid dimensions for input: x for the following indices\n index: 1 Got: 5 Expected: 4\n Please fix"
    report = result_of("(float[n, 4] x, float[4, 2] w) => (float[n, 2] y) { [mm] y = MatMul(x, w) }").why(text)
    assert [c.condition for c in report.conditions] == ["x.shape[1] == 4", "x.shape[1] == 4"]
    assert report.conditions[1].match is not None and report.conditions[1].match.node == "mm"


def test_a_rank() -> None:
    text = "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid rank for input: x Got: 3 Expected: 2 Please fix"
    report = result_of(TWO).why(text)
    assert report.verdict == "violated" and report.conditions[0].condition == "input x has rank 2"


def test_one_name_with_two_sizes() -> None:
    graph = "(float[b, s] x, float[b, s] m) => (float[b, s] y) { [mul] y = Mul(x, m) }"
    report = result_of(graph).why(failed("Mul", "mul"), shapes={"x": (2, 3), "m": (2, 4)})
    assert report.verdict == "violated"
    assert report.conditions[0].match is not None and report.conditions[0].match.node == "mul"
    assert report.conditions[-1].condition == "x.shape[1] == m.shape[1]"


def test_a_condition_of_a_body() -> None:
    graph = """(float[n, 2] x, float[m, 2] z) => (float[n, 2] y) <int64 t = {3}, bool go = {1}>
    { y = Loop(t, go, x) <body = b (int64 i, bool c, float[n, 2] a) => (bool d, float[n, 2] e)
    { d = Identity(c) [sum] f = Add(a, z) e = Tanh(f) }> }"""
    text = failed("Loop", "", failed("Add", "sum", "2 by 3"))
    report = result_of(graph).why(text, at={"n": 3, "m": 2})
    assert report.verdict == "violated" and report.nodes[0].node.endswith("/sum")


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("mm", "mm"),
        ("h", "mm"),
        ("fused mm", "mm"),
        ("mm/MatMulAddFusion", "mm"),
        ("mm/WithoutBiases", "mm"),
        ("mm + add", "mm"),
        ("h_nchwc", "mm"),
        ("StatefulPartitionedCall/model/mm", "mm"),
        ("h:0", "mm"),
        ("MatMul_0", "mm"),
        ("Add_1", "add"),
    ],
)
def test_names_that_runtimes_made(name: str, node: str) -> None:
    report = result_of(TWO).why(failed("Fused", name))
    assert report.nodes[0].node == node


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[ONNXRuntimeError] : 3 : NO_SUCHFILE : Load model from a.onnx failed: File doesn't exist", "missing"),
        ("Could not find an implementation for Trilu(14) node with name 't'", "does not have this operator"),
        ("Unexpected input data type. Actual: (tensor(double)) , expected: (tensor(float))", "element types"),
        ("Required inputs (['x']) are missing from input feed (['y']).", "names of inputs"),
    ],
)
def test_causes_that_are_not_sizes(text: str, says: str) -> None:
    report = result_of(TWO).why(text, at={"k": 3})
    assert (report.verdict, report.conditions) == ("other cause", ()) and says in report.notes[0]


def test_an_allocation_names_the_tensors_of_its_size() -> None:
    text = failed("Add", "add", "Failed to allocate memory for requested buffer of size 80000")
    report = result_of(TWO).why(text, at={"n": 4000, "k": 4, "m": 4000})
    assert report.verdict == "other cause" and report.message is not None and report.message.requested == 80000
    assert {tensor.name for tensor in report.tensors} == {"h", "b", "y"}


def test_an_allocation_without_sizes() -> None:
    report = result_of(TWO).why("Failed to allocate memory for requested buffer of size 80000")
    assert report.tensors == () and "80000 bytes" in report.notes[-1]


def test_texts_of_no_runtime() -> None:
    report = result_of(TWO).why("it does not work")
    assert (report.verdict, report.message, report.explained) == ("unknown", None, False)
    assert result_of(TWO).why("it does not work", at={"k": 3, "n": 2, "m": 2}).verdict == "violated"


def test_a_node_of_another_model() -> None:
    report = result_of(TWO).why(failed("Conv", "conv_17"))
    assert report.nodes == () and report.notes[0].startswith("the message names no node of this model")


def test_dims_and_inputs_must_exist() -> None:
    with pytest.raises(UnknownNameError):
        result_of(TWO).why("", at={"zz": 3})
    with pytest.raises(UnknownNameError):
        result_of(TWO).why("", shapes={"zz": (3,)})


HOSTILE = [
    "\x1b[31mred",
    "a'b",
    "a' Status Message: b",
    "x\ny",
    "\u202eabc",
    "]]}}",
    "(((((",
    "%s{0}",
    " + ".join("ab"),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_printed_as_text(name: str) -> None:
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["": 17]> g {TWO}')
    model.graph.node[0].name = name
    result = infer_shapes(model)
    for text in (failed("MatMul", name), f"[[{{{{node {name}}}}}]]", f"[CPU] MatMul node with name '{name}' Check"):
        lines: Sequence[str] = list(failure_lines(result.why(text, at={"n": 2, "k": 3, "m": 2})))
        assert any("k == 4" in line for line in lines)
