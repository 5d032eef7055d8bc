"""Summaries: each number against one of another tool or a closed form."""

from __future__ import annotations

import pickle
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from shapeinf import infer_shapes
from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.formats import load
from shapeinf.report import summarize, to_json
from shapeinf.report.model import named_dims
from shapeinf.report.summary_text import summary_as_lines, summary_cells
from shapeinf.report.text import dims_text
from tests.engine.runtime import parsed

ROOT = Path(__file__).resolve().parents[2]
CONVNET = str(ROOT / "examples" / "convnet.onnx")
SIZES = {"batch": 2, "height": 32, "width": 16}


def test_parameters_and_bytes_are_those_of_the_initializers() -> None:
    model = onnx.load(CONVNET)
    arrays = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    summary = summarize(infer_shapes(CONVNET))
    assert summary.parameters.value == sum(array.size for array in arrays)
    assert summary.weight_bytes.value == sum(array.nbytes for array in arrays)


def test_macs_and_peak_at_sizes_are_closed_forms() -> None:
    n, h, w = SIZES.values()
    convolutions = n * h * w * (3 * 8 * 9) + n * (h // 2) * (w // 2) * (8 * 16 * 9) + n * h * w * 16
    transposed = n * (h // 2) * (w // 2) * 16 * 8 * 4
    summary = summarize(infer_shapes(CONVNET), SIZES)
    assert summary.macs.value == convolutions + transposed
    joined = 4 * n * h * w * (8 + 8 + 8 + 8)  # act, up, and both in joined
    assert summary.peak_bytes.value == joined
    assert not summary.macs.formula.isdigit()


def test_without_sizes_amounts_are_formulas() -> None:
    summary = summarize(infer_shapes(CONVNET))
    assert summary.macs.value is None and "batch" in summary.macs.formula
    assert summary.peak_bytes.value is None and summary.peak_bytes.note == "needs sizes of batch, height, width"


def test_wrong_sizes_are_errors() -> None:
    result = infer_shapes(CONVNET)
    with pytest.raises(UnknownNameError, match="batsh"):
        summarize(result, {"batsh": 1})
    with pytest.raises(ShapeInferenceError, match="height"):
        summarize(result, {**SIZES, "height": 31})


def test_operators_of_bodies_and_functions_are_counted() -> None:
    branch = "(float[n] y) { k = Constant<value = int64[1] {1}>()  y = Add(x, x) }"
    bodies = f"<then_branch = t () => {branch}, else_branch = e () => {branch}>"
    text = f"g (float[n] x, bool c) => (float[n] y) {{ y = If(c) {bodies} }}"
    summary = summarize(infer_shapes(parsed(text)))
    assert (summary.nodes, summary.inner_nodes) == (1, 4)
    assert {item.op: item.count for item in summary.operators} == {"If": 1, "Constant": 2, "Add": 2}


def test_legal_sizes_are_listed_where_the_range_is_finite() -> None:
    assert summarize(infer_shapes(CONVNET)).legal_sizes == {}
    summary = summarize(infer_shapes(CONVNET, dims={"height": "2..99", "width": (2, 5)}))
    assert summary.legal_sizes == {"height": "height in 2, 4, ..., 98"}
    (width,) = [record for record in summary.preconditions if record.symbols == ("width",)]
    assert width.sizes == (2, 4), "few sizes are listed by the precondition itself"


def test_what_is_unknown_and_not_counted() -> None:
    text = "g (float[n] x) => (float[n] y) { u = NonZero(x)  v = my.Own(x)  y = Relu(x) }"
    summary = summarize(infer_shapes(parsed(text)))
    causes = " ".join(cause for group in summary.unknowns for cause in group.causes)
    assert "NonZero" in causes and "my.Own" in causes
    assert summary.uncounted["Own"] == 1 and summary.macs.note == "at least"


ONES = ", ".join(["1"] * 128)
ROWS = f"""g (float[1, 8] x, int64[2] rows) => (float[1, 16] a, float[n, 16] b)
    <float[8, 16] w = {{{ONES}}}> {{ a = MatMul(x, w)  e = Expand(x, rows)  b = MatMul(e, w) }}"""
"""Two products: one of fixed sizes, one with as many rows as the contents of an input say."""

BOUNDED = f"""g (float[n] c, float[n, 8] x) => (float[m, 16] b) <float[8, 16] w = {{{ONES}}}, int64[1] k = {{0}}> {{
    z = NonZero(c)  i = Squeeze(z, k)  g = Gather(x, i)  b = MatMul(g, w) }}"""
"""A product of as many rows as an input has elements that are not 0, at most `n`."""


def macs_everywhere(text: str, sizes: dict[str, int]) -> tuple[str, str, str, str]:
    """The note of the multiply-accumulates in Python and JSON, and how text and table show it."""
    result = infer_shapes(parsed(text))
    summary = summarize(result, sizes)
    lines = "\n".join(summary_as_lines(summary))
    cell = summary_cells("m", summary)[5]
    assert to_json(summary)["macs"]["note"] == summary.macs.note
    at = result.cost().at(sizes)
    (shown,) = [
        line for line in lines.split("\n") if line.strip().startswith(("always:", "n=")) and "bytes" not in line
    ]
    assert ("at least" in shown, "at most" in shown) == (at.at_least, at.at_most)
    return summary.macs.note, shown.partition(": ")[2], cell, str(summary.macs.value)


def test_a_bound_is_never_shown_as_exact() -> None:
    """The note comes from what was counted, never from the text of the formula."""
    assert macs_everywhere(ROWS, {}) == ("at least", "at least 128", ">= 128", "128")
    assert macs_everywhere(BOUNDED, {"n": 4}) == ("at most", "at most 512", "<= 512", "512")


def test_what_is_neither_a_lower_nor_an_upper_bound() -> None:
    """Some nodes are not counted, others with their upper bounds."""
    from shapeinf.texts import bound_note, qualify

    assert [bound_note(a, b) for a in (False, True) for b in (False, True)] == [
        "",
        "at most",
        "at least",
        "without some parts at most",
    ]
    assert qualify("5", True, True) == "without some parts at most 5" and qualify("5", False, False) == "5"


POOL = "g (float[n, 3, h, w] x) => (float[n, 3, p, q] y) { y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) }"


def test_assumed_bounds_are_apart() -> None:
    """A window is assumed to fit; check and solve answer for smaller sizes too."""
    result = infer_shapes(parsed(POOL))
    dims = {dim.name: (str(dim.bounds), str(dim.assumed)) for dim in named_dims(result)}
    assert dims == {"h": ("1..", "2.."), "n": ("1..", "None"), "w": ("1..", "2..")}
    assert dims_text(named_dims(result)) == "h 1.., n 1.., w 1..; formulas hold for h 2.., w 2.."
    for size in (1, 2, 3):
        assert result.contract.check(n=1, h=size, w=size).verdict is True
    assert result.contract.solve("h", range(1, 4)).values == (1, 2, 3)
    (record,) = [d for d in to_json(summarize(result))["dims"] if d["name"] == "h"]
    assert record["bounds"]["min"] == 1 and record["assumed"] == {"min": 2, "max": None}


def test_required_bounds_stay() -> None:
    """A bound that a node requires is no assumption; nor is one of the user."""
    text = "g (float[n] x) => (float[m] y) { y = Slice(x, s, e)  s = Constant<value_ints = [1]>() e = Identity(s) }"
    assert all(dim.assumed is None for dim in named_dims(infer_shapes(parsed(text))))
    result = infer_shapes(parsed(POOL), dims={"h": (5, 9)})
    dims = {dim.name: (str(dim.bounds), str(dim.assumed)) for dim in named_dims(result)}
    assert dims["h"] == ("5..9", "None") and dims["w"] == ("1..", "2..")


def test_a_summary_is_plain_data() -> None:
    summary = summarize(infer_shapes(CONVNET), SIZES)
    assert pickle.loads(pickle.dumps(summary)) == summary


def origin_of_onnx() -> tuple[object, str, str]:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [])
    model = helper.make_model(graph, producer_name="exporter", producer_version="2.1", ir_version=9)
    return model.SerializeToString(), "exporter 2.1", "IR version 9"


def test_the_producer_of_an_onnx_model_by_both_readers() -> None:
    data, producer, version = origin_of_onnx()
    assert isinstance(data, bytes)
    for model in (data, onnx.ModelProto.FromString(data)):
        graph = load(model)
        assert (graph.producer, graph.file_version) == (producer, version)


def test_the_versions_of_other_formats() -> None:
    assert load(str(ROOT / "examples" / "squeezenet.nnef")).file_version == "version 1.0"
    assert load(str(ROOT / "examples" / "recurrent.pbtxt")).file_version == "GraphDef"


def test_the_producer_of_a_saved_model() -> None:
    def field(number: int, data: bytes) -> bytes:
        return bytes([number << 3 | 2, len(data)]) + data

    node = field(1, field(1, b"x") + field(2, b"Placeholder"))
    meta = field(2, field(1, field(4, b"serve") + field(5, b"2.16.1")) + field(2, node))
    graph = load(b"\x08\x01" + meta)
    assert (graph.producer, graph.file_version) == ("TensorFlow 2.16.1", "SavedModel")
