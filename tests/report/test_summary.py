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
from shapeinf.report import summarize
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
