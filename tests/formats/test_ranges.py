"""Large index constants: not listed, and yet an index outside of its axis is an error, as in onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

from shapeinf import infer_shapes
from shapeinf.formats import ranges
from tests.engine.runtime import run

COUNT = 6000  # more than are listed


def indices(top, dtype=np.int64, count=COUNT, least=0):
    """Indices from `least` to `top`, both in the middle."""
    array = np.full(count, top // 2, dtype)
    array[count // 2 : count // 2 + 2] = least, top
    return array


def model_of(array, rows, op="Gather", *, attribute=False, **attributes):
    nodes = [helper.make_node(op, ["x", "i"], ["y"], "pick", **attributes)]
    if attribute:
        nodes.insert(0, helper.make_node("Constant", [], ["i"], "held", value=numpy_helper.from_array(array)))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [] if attribute else [numpy_helper.from_array(array, "i")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def as_object(model, folder):
    return model


def as_bytes(model, folder):
    return model.SerializeToString()


def as_file(model, folder):
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    return folder / "m.onnx"


def with_external_data(model, folder):
    (tensor,) = model.graph.initializer
    (folder / "data.bin").write_bytes(b"12345678" + tensor.raw_data + b"more")
    set_external_data(tensor, "data.bin", 8, len(tensor.raw_data))
    tensor.ClearField("raw_data")
    return as_file(model, folder)


def errors(model):
    return [d.message for d in infer_shapes(model).diagnostics if d.severity == "error"]


@pytest.mark.parametrize("source", [as_object, as_bytes, as_file, with_external_data])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("count", [COUNT, 100_000])
def test_an_index_outside_is_seen_wherever_the_indices_lie(tmp_path, source, dtype, count):
    assert errors(source(model_of(indices(99, dtype, count), 100), tmp_path)) == []
    assert errors(source(model_of(indices(99, dtype, count, -100), 100), tmp_path)) == []
    assert "indices must lie in [-100, 100)" in errors(source(model_of(indices(100, dtype, count), 100), tmp_path))[0]
    assert errors(source(model_of(indices(99, dtype, count, -101), 100), tmp_path))


@pytest.mark.parametrize("source", [as_object, as_bytes, as_file])
def test_constants_inside_of_nodes(tmp_path, source):
    assert errors(source(model_of(indices(99), 100, attribute=True), tmp_path)) == []
    assert errors(source(model_of(indices(100), 100, attribute=True), tmp_path))


@pytest.mark.parametrize(("op", "top"), [("Gather", 9), ("GatherElements", 9), ("GatherND", 9), ("Gather", -3)])
def test_the_contract_agrees_with_a_run(op, top):
    shaped = {"GatherElements": (-1, 4), "GatherND": (-1, 1)}.get(op, (-1,))
    model = model_of(indices(max(top, 0), least=min(top, 0)).reshape(shaped), "N", op)
    contract = infer_shapes(model).contract
    for rows in range(1, 13):
        try:
            run(model, {"x": np.zeros((rows, 4), np.float32)})
            runs = True
        except Exception as error:
            assert "out of" in str(error).lower() or "invalid ind" in str(error).lower(), error
            runs = False
        assert contract.check(N=rows).verdict is runs


def test_indices_that_no_rule_asks_for_are_not_looked_at(monkeypatch):
    monkeypatch.setattr(ranges.DeferredRange, "_read", lambda self: pytest.fail("it was read"))
    model = model_of(indices(9), 10)
    model.graph.node[0].CopyFrom(helper.make_node("Shape", ["i"], ["y"]))
    assert str(infer_shapes(model).tensors["y"].shape) == "[1]"


def test_a_range_is_read_once(monkeypatch):
    reads = []
    monkeypatch.setattr(ranges.DeferredRange, "_read", lambda self: reads.append(1) or self.tensor)
    result = infer_shapes(model_of(indices(9), "N"))
    assert result.contract.check(N=12).verdict
    assert result.contract.check(N=13).verdict
    assert len(reads) == 1


@pytest.mark.parametrize("damage", ["short", "long", "elsewhere", "no number", "far", "negative"])
def test_payloads_that_do_not_fit_are_ignored(tmp_path, damage):
    model = model_of(indices(100), 100)
    (tensor,) = model.graph.initializer
    if damage in ("short", "long"):
        tensor.raw_data = tensor.raw_data[:-8] if damage == "short" else tensor.raw_data + b"12345678"
        path = as_file(model, tmp_path)
    else:
        path = with_external_data(model, tmp_path)
        change = {"elsewhere": "no.bin", "no number": "x", "far": str(1 << 70), "negative": "-8"}[damage]
        entries = {entry.key: entry for entry in tensor.external_data}
        entries["location" if damage == "elsewhere" else "offset"].value = change
        path.write_bytes(model.SerializeToString())
    for source in (path, onnx.load_model(path, load_external_data=False)):
        result = infer_shapes(source)
        assert [d for d in result.diagnostics if d.severity == "error"] == []
        assert str(result.tensors["y"].shape) == f"[{COUNT}, 4]"


def test_too_many_are_not_looked_at(monkeypatch):
    monkeypatch.setattr(ranges, "MAX_RANGED", COUNT - 1)
    assert errors(model_of(indices(100), 100)) == []
