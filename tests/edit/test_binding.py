"""`bind`: saved models have the new dims everywhere and run in onnxruntime; dims that cannot run are rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from shapeinf import BindError, InferenceOptions, ModelError, ShapeError, UnknownNameError, bind, infer_shapes

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def make(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, list[Any] | None],
    outputs: list[str],
    constants: dict[str, Any] | None = None,
    inner: dict[str, list[Any]] | None = None,
) -> onnx.ModelProto:
    """A model of float inputs with these shapes."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()]
    computed = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    declared = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (inner or {}).items()]
    weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", values, computed, weights, value_info=declared)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def fixed_batch_model() -> onnx.ModelProto:
    """x [batch, seq, 4] whose batch a Reshape fixes to 1."""
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"], name="Reshape_331")]
    return make(nodes, {"x": ["batch", "seq", 4]}, ["y"], {"shape": np.array([1, 0, 2, 2])})


def table_model(size: int = 512) -> onnx.ModelProto:
    """x [batch, seq, 4] plus the first seq rows of a position table: seq is at most the rows of the table."""
    nodes = [
        helper.make_node("Expand", ["row", "shape"], ["table"], name="Table"),
        helper.make_node("Concat", ["x", "table"], ["y"], name="Join", axis=2),
    ]
    constants = {"row": np.zeros((1, size, 1), np.float32), "shape": np.array([2, size, 1])}
    return make(nodes, {"x": ["batch", "seq", 4]}, ["y"], constants)


def dims(value: onnx.ValueInfoProto) -> list[int | str]:
    return [d.dim_value if d.HasField("dim_value") else d.dim_param for d in value.type.tensor_type.shape.dim]


def save_bound(model: Any, path: Path, wanted: dict[str, Any], **options: Any) -> onnx.ModelProto:
    bind(model, wanted, options=InferenceOptions(**options)).save(path, annotate="all")
    after = onnx.load(path)
    onnx.checker.check_model(after, full_check=True)
    return after


def chain_model() -> onnx.ModelProto:
    """y = relu(concat(x, x) along axis 0)."""
    nodes = [helper.make_node("Concat", ["x", "x"], ["h"], axis=0), helper.make_node("Relu", ["h"], ["y"])]
    return make(nodes, {"x": ["batch", "seq"]}, ["y"], inner={"h": ["2*batch", "seq"]})


@pytest.mark.parametrize(
    ("wanted", "x", "h"),
    [
        ({"batch": 4}, [4, "seq"], [8, "seq"]),
        ({"batch": "4", "seq": "7"}, [4, 7], [8, 7]),
        ({"batch": 4, "seq": "1..512"}, [4, "seq"], [8, "seq"]),
        ({"batch": (3, 3)}, [3, "seq"], [6, "seq"]),
        ({"seq": "tokens"}, ["batch", "tokens"], ["2*batch", "tokens"]),
        ({"batch": "n", "seq": "n"}, ["n", "n"], ["2*n", "n"]),
        ({"seq": "3*batch + 1"}, ["batch", "3*batch + 1"], ["2*batch", "3*batch + 1"]),
        ({"seq": "2*batch", "batch": 4}, [4, 8], [8, 8]),
        ({}, ["batch", "seq"], ["2*batch", "seq"]),
    ],
)
def test_dims_are_written_everywhere(
    tmp_path: Path, wanted: dict[str, Any], x: list[int | str], h: list[int | str]
) -> None:
    after = save_bound(chain_model(), tmp_path / "m.onnx", wanted)
    assert dims(after.graph.input[0]) == x
    assert {v.name: dims(v) for v in after.graph.value_info} == {"h": h}
    assert dims(after.graph.output[0]) == h
    again = infer_shapes(str(tmp_path / "m.onnx"), declared="check")
    assert again.diagnostics == []


def test_a_frozen_example_runs_and_takes_no_other_size(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    after = save_bound(EXAMPLES / "decoder.onnx", path, {"batch": 2, "seq": 5})
    assert dims(after.graph.input[0]) == [2, 5]
    assert all(isinstance(d, int) for v in (*after.graph.value_info, *after.graph.output) for d in dims(v))
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert session.run(None, {"tokens": np.zeros((2, 5), np.int64)})[0].shape == (2, 5, 100)
    with pytest.raises(Exception, match="tokens"):
        session.run(None, {"tokens": np.zeros((3, 5), np.int64)})


def test_weights_and_nodes_stay(tmp_path: Path) -> None:
    before = onnx.load(EXAMPLES / "decoder.onnx")
    after = save_bound(EXAMPLES / "decoder.onnx", tmp_path / "m.onnx", {"batch": 2, "seq": "1..8"})
    assert list(after.graph.initializer) == list(before.graph.initializer)
    assert list(after.graph.node) == list(before.graph.node)


def test_bounds_stay_in_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "m.onnx")
    save_bound(chain_model(), Path(path), {"batch": "2..8", "seq": "..512"}, assume=["batch <= seq"])
    result = infer_shapes(path)
    bounds = {name: str(result.interval(result.engine.scope.symbol(name))) for name in ("batch", "seq")}
    assert bounds == {"batch": "2..8", "seq": "1..512"}
    bind(path, {"seq": "tokens"}).save(path)
    assert sorted(infer_shapes(path).graph.assumptions) == sorted(
        ["batch <= tokens", "batch >= 2", "batch <= 8", "tokens <= 512"]
    )
    with pytest.raises(ShapeError, match="tokens=2000 is specified by the user"):
        bind(path, {"tokens": 2000})
    bind(path, {"tokens": 512, "batch": 8}).save(path)
    assert infer_shapes(path).graph.assumptions == []


@pytest.mark.parametrize("wanted", [{"batch": 2}, {"batch": "2..8"}, {"batch": "1..8"}, {"batch": "..8"}])
def test_a_fixed_batch_is_rejected_with_the_node(wanted: dict[str, Any]) -> None:
    with pytest.raises(BindError) as caught:
        bind(fixed_batch_model(), wanted)
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.node == "Reshape_331"
    assert "cannot run" in str(caught.value)
    session = ort.InferenceSession(fixed_batch_model().SerializeToString(), providers=["CPUExecutionProvider"])
    session.run(None, {"x": np.zeros((1, 3, 4), np.float32)})


def test_sizes_that_the_graph_forces_are_reported_and_written(tmp_path: Path) -> None:
    bound = bind(fixed_batch_model(), {"seq": 6})
    assert [(precondition.text, precondition.node) for precondition in bound.result.contract] == [
        ("batch == 1", "Reshape_331")
    ]
    bound.save(tmp_path / "m.onnx")
    after = onnx.load(tmp_path / "m.onnx")
    assert dims(after.graph.input[0]) == [1, 6, 4]
    assert dims(after.graph.output[0]) == [1, 6, 2, 2]


@pytest.mark.parametrize(("low", "high", "fine"), [(1, 512, False), (512, 512, True), (511, 512, False)])
def test_a_range_must_be_legal_from_end_to_end(low: int, high: int, fine: bool) -> None:
    """The table has 512 rows and two batches: batch is 2, seq is 512."""
    if fine:
        assert bind(table_model(), {"seq": (low, high), "batch": 2}).result.contract.preconditions == ()
        return
    with pytest.raises(BindError, match="seq is requested as") as caught:
        bind(table_model(), {"seq": (low, high)})
    assert caught.value.diagnostics[0].node == "Join"


@pytest.mark.parametrize(("low", "high"), [(a, b) for a in range(1, 5) for b in range(a, 5)])
def test_a_range_over_sizes_that_broadcast_or_not(low: int, high: int) -> None:
    """The added constant has 3 rows: onnxruntime decides which sizes of the batch broadcast."""
    nodes = [helper.make_node("Add", ["x", "rows"], ["y"], name="add")]
    model = make(nodes, {"x": ["batch", 4]}, ["y"], {"rows": np.zeros((3, 1), np.float32)})
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])

    def runs(size: int) -> bool:
        try:
            session.run(None, {"x": np.zeros((size, 4), np.float32)})
        except Exception:
            return False
        return True

    if all(map(runs, range(low, high + 1))):
        bind(model, {"batch": (low, high)})
    else:
        with pytest.raises(BindError) as caught:
            bind(model, {"batch": (low, high)})
        assert caught.value.diagnostics[0].node == "add"


@pytest.mark.parametrize(
    ("wanted", "hint"), [({"batsh": 4}, "did you mean 'batch'"), ({"seq": "2*bach"}, "did you mean 'batch'")]
)
def test_an_unknown_name_has_suggestions(wanted: dict[str, Any], hint: str) -> None:
    with pytest.raises(UnknownNameError, match=hint):
        bind(chain_model(), wanted)


def test_a_wrong_graph_is_called_so() -> None:
    nodes = [helper.make_node("Add", ["x", "w"], ["y"], name="sum")]
    model = make(nodes, {"x": ["batch", 3]}, ["y"], {"w": np.zeros((1, 4), np.float32)})
    with pytest.raises(BindError, match="the graph fails, whatever its dims are"):
        bind(model, {"batch": 4})


def test_shapes_of_inputs_that_contradict_the_graph_are_the_cause() -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    model = make(nodes, {"x": [None, None], "w": [4, 5]}, ["y"])
    with pytest.raises(BindError, match="the graph cannot run with the requested shapes of its inputs"):
        bind(model, {}, options=InferenceOptions(inputs={"x": [2, 3]}))


def test_shapes_bind_dims_without_a_name(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    model = make(nodes, {"x": [None, 3, None]}, ["y"])
    after = save_bound(model, tmp_path / "m.onnx", {}, inputs={"x": "[batch, 3, 8]"})
    assert dims(after.graph.input[0]) == ["batch", 3, 8]
    after = save_bound(model, tmp_path / "m.onnx", {"batch": 2}, inputs={"x": {0: "batch"}})
    assert dims(after.graph.input[0]) == [2, 3, ""]
    with pytest.raises(UnknownNameError, match="no input is named 'xx'"):
        bind(model, {}, options=InferenceOptions(inputs={"xx": "[1]"}))


TRACT = """version 1.0;
extension tract_symbol B;
extension tract_symbol S;
extension tract_assert S <= 4096;
graph net( x ) -> ( y )
{
    x = tract_core_external(shape = [B, 2*S, 64], datum_type = 'f32');
    y = relu(x);
}
"""
FINAL = """version 1.0;
graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8]);
    y = relu(x);
}
"""
PROVISIONAL = """version 1.0
graph net( x ) -> ( y )
{
    x = external(shape = [0, 0, 4])
    y = relu(x)
}
"""
"""An extent of 0 is not specified (3.3.4)."""


@pytest.mark.parametrize(
    ("text", "wanted", "inputs", "lines"),
    [
        (PROVISIONAL, {}, {"x": "[2, ?, 4]"}, ["shape = [2, 0, 4]"]),
        (TRACT, {"B": 4, "S": "1..512"}, {}, ["shape = [4, 2 * S, 64]", "S >= 1;", "S <= 512;", "S <= 4096;"]),
        (TRACT, {"B": 4, "S": 8}, {}, ["shape = [4, 16, 64]"]),
        (TRACT, {"S": "T"}, {}, ["shape = [B, 2 * T, 64]", "tract_symbol T;", "tract_assert T <= 4096;"]),
        (TRACT, {"S": "B + 1"}, {}, ["shape = [B, 2 * B + 2, 64]", "tract_assert B + 1 <= 4096;"]),
        (FINAL, {}, {"x": "[4, 3, 16]"}, ["shape = [4, 3, 16]", "# [4, 3, 16]"]),
    ],
)
def test_documents(tmp_path: Path, text: str, wanted: dict[str, Any], inputs: dict[str, str], lines: list[str]) -> None:
    bound = bind(text, wanted, options=InferenceOptions(inputs=inputs))
    path = tmp_path / "net.nnef"
    bound.save(path)
    written = path.read_text()
    for line in lines:
        assert line in written
    again = infer_shapes(str(path))
    assert str(again.tensors["y"]) == str(bound.tensors["y"])
    if wanted.get("S") == 8:
        assert "tract_assert" not in written


def test_a_document_without_names_takes_numbers_only(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot express batch"):
        bind(FINAL, options=InferenceOptions(inputs={"x": "[batch, 3, 8]"})).save(tmp_path / "net.nnef")
    assert list(tmp_path.iterdir()) == []


def test_both_readers_find_the_bounds(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    after = save_bound(chain_model(), path, {"batch": "2..8"})
    assert infer_shapes(after).graph.assumptions == infer_shapes(path).graph.assumptions == ["batch >= 2", "batch <= 8"]
