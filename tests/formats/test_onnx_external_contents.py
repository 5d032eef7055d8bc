"""Reading ONNX: contents of constants in other files are read when a rule needs them, from the folder of the model."""

from __future__ import annotations

import contextlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx.external_data_helper import set_external_data

from shapeinf import ModelError, ShapeInferenceError, infer_shapes
from shapeinf.formats.onnx.source import read
from tests.formats.onnx_models import SHAPE, agreed, external, model_of


def test_small_external_data_are_read_when_a_rule_wants_them(tmp_path):
    path = external(tmp_path / "m.onnx", SHAPE, "data.bin", 16)
    (tmp_path / "data.bin").write_bytes(b"\xff" * 16 + SHAPE.tobytes())
    graph = read(path)
    assert graph.external
    assert set(graph.unread) == {"t", "w"}
    assert graph.constants["t"].elements is None
    assert graph.unread["t"]().elements == (-1, 2, 4)
    assert str(infer_shapes(path).tensors["y"]) == "float32[batch, 2, 4]"


@pytest.mark.parametrize("size", [1, 100_000])
@pytest.mark.parametrize("doc", [False, True])
def test_a_file_knows_that_it_has_external_data(tmp_path, size, doc):
    """Also when only a large weight has, whose data are not needed; exporters write an empty doc string before it."""
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[size])
    weight.raw_data = b""
    set_external_data(weight, "data.bin", 0, 4 * size)
    weight.ClearField("raw_data")
    if doc:
        weight.doc_string = ""
    model = model_of([], initializers=[weight])
    assert agreed(model).external
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(ModelError, match="outside the folder of the new model"):
        infer_shapes(tmp_path / "m.onnx").save(tmp_path / "elsewhere" / "m.onnx")


def test_external_data_that_rules_want_are_opened_once(tmp_path, monkeypatch):
    """The shape, and the weight of the product, which is small enough for contents."""
    path = external(tmp_path / "m.onnx", SHAPE, "data.bin")
    (tmp_path / "data.bin").write_bytes(SHAPE.tobytes())
    opened = []
    graph = read(path)
    for name, load in list(graph.unread.items()):
        graph.unread[name] = lambda name=name, load=load: opened.append(name) or load()
    infer_shapes(graph)
    assert opened.count("t") == 1
    assert opened.count("w") <= 1


def test_a_missing_data_file_leaves_contents_unknown(tmp_path):
    path = external(tmp_path / "m.onnx", SHAPE, "data.bin")
    result = infer_shapes(path)
    assert result.tensors["t"].shape.dims == (3,)
    assert result.tensors["y"].shape.rank == 3
    assert result.tensors["r"].dtype == "float32"


def test_external_data_of_a_model_without_a_folder_stay_unknown(tmp_path):
    path = external(tmp_path / "m.onnx", SHAPE, "data.bin")
    (tmp_path / "data.bin").write_bytes(SHAPE.tobytes())
    assert infer_shapes(path.read_bytes()).tensors["y"].shape.rank == 3


@pytest.mark.parametrize("how", ["up", "absolute", "link"])
def test_a_path_that_leaves_the_folder_is_an_error(tmp_path, how):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(SHAPE.tobytes())
    location = {"up": "../secret.bin", "absolute": str(tmp_path / "secret.bin"), "link": "link.bin"}[how]
    if how == "link":
        (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    path = external(folder / "m.onnx", SHAPE, location)
    with pytest.raises(ModelError, match="outside the model's folder"):
        infer_shapes(path)


def test_external_data_of_a_tensor_without_a_name_are_nobodys(tmp_path):
    path = external(tmp_path / "m.onnx", SHAPE, "data.bin", name="")
    assert [note.code for note in infer_shapes(path).diagnostics if note.severity == "error"] == ["S103"]
    assert agreed(onnx.load_model(path, load_external_data=False)).unread.keys() == {"w"}


LOCATIONS = ["a\0b", "\0", "x" * 5000, "a/" * 3000, ".", "..", "m.onnx/data.bin", "\u202e.bin", "CON", "\n"]
OFFSETS = ["-1", "x", "", "1e3", "9" * 30, "9" * 6000, "\0", "25", str(2**63), "\u0663"]


@pytest.mark.parametrize("location", LOCATIONS)
def test_locations_that_make_no_sense_are_unknown_or_errors_of_ours(tmp_path, location):
    path = external(tmp_path / "m.onnx", SHAPE, location)
    with contextlib.suppress(ModelError):
        assert infer_shapes(path).tensors["y"].shape.rank == 3


@pytest.mark.parametrize("key", ["offset", "length"])
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("size", [3, 5000], ids=["small", "large"])
def test_invalid_offsets_in_a_data_file(tmp_path, key, offset, size):
    path = external(tmp_path / "m.onnx", np.arange(size), "data.bin")
    (tmp_path / "data.bin").write_bytes(np.arange(size).tobytes())
    model = onnx.load_model(path, load_external_data=False)
    entries = {entry.key: entry for entry in model.graph.initializer[0].external_data}
    entries[key].value = offset
    path.write_bytes(model.SerializeToString())
    with contextlib.suppress(ModelError):
        infer_shapes(path)


def test_a_data_file_that_is_too_short_is_an_error_of_ours(tmp_path):
    path = external(tmp_path / "m.onnx", SHAPE, "data.bin", 16)
    (tmp_path / "data.bin").write_bytes(SHAPE.tobytes())
    with pytest.raises(ShapeInferenceError):
        infer_shapes(path)


def test_external_data_of_text_forms_lie_in_their_folder(tmp_path):
    model = onnx.load_model(external(tmp_path / "m.onnx", SHAPE, "data.bin"), load_external_data=False)
    (tmp_path / "data.bin").write_bytes(SHAPE.tobytes())
    onnx.save_model(model, tmp_path / "m.textproto", format="textproto")
    assert str(infer_shapes(tmp_path / "m.textproto").tensors["y"]) == "float32[batch, 2, 4]"
