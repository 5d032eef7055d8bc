"""The tensor files and the quantization file of an NNEF model, compared with its document."""

from __future__ import annotations

import numpy as np
import pytest

from shapeinf import (
    infer_shapes,
)
from shapeinf.errors import NnefError
from shapeinf.formats import load
from tests.formats.nnef.models import PLAIN, model_in, packed, shapes, write_tensor

INDICES = (
    "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [5, 4]);\n"
    "    i = variable<integer>(shape = [2], label = 'i');\n    y = gather(x, i);\n}\n"
)


def test_files_that_are_missing(tmp_path):
    text = PLAIN.replace("y = matmul", "v = variable(shape = [1], label = 'v');\n    y = matmul")
    folder = model_in(tmp_path / "model", text)
    (note,) = infer_shapes(folder).diagnostics
    assert (note.severity, note.code) == ("note", "N703") and "2 of 2 tensor files" in note.message
    assert str(tmp_path) not in note.message  # a baseline holds wherever the model is checked from
    write_tensor(folder / "v.dat", np.zeros(1, np.float32))
    (warning,) = infer_shapes(packed(folder)).diagnostics
    assert (warning.severity, warning.code) == ("warning", "N703") and "'block/w.dat'" in warning.message
    assert infer_shapes(text).diagnostics == []


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((4, 3), np.float32), r"declared as \[3, 4\], but its file 'block/w.dat' has the shape \[4, 3\]"),
        (np.zeros((3, 4, 1), np.float32), r"has the shape \[3, 4, 1\]"),
        (np.zeros(12, np.float32), r"has the shape \[12\]"),
    ],
)
def test_files_of_another_shape(tmp_path, array, message):
    folder = model_in(tmp_path / "model", block__w=array)
    for model in (folder, packed(folder)):
        with pytest.raises(NnefError, match=message) as caught:
            infer_shapes(model)
        assert (caught.value.diagnostics[0].code, caught.value.line) == ("N702", 6)


def test_ranks_are_open_in_the_provisional_dialect(tmp_path):
    text = "version 1.0\ngraph g( x ) -> ( y ) { x = external(shape = [2,3])\n"
    text += "w = variable(shape = [1,3,1], label = 'w') y = add(x, w) }"
    folder = model_in(tmp_path / "model", text, w=np.zeros((1, 3), np.float32))
    assert infer_shapes(folder).diagnostics == []


def test_files_that_are_no_tensors(tmp_path):
    folder = model_in(tmp_path / "model", block__w=np.zeros((3, 4), np.float32))
    data = (folder / "block/w.dat").read_bytes()
    for wrong in (b"", b"PK", data[:-1], data[:60]):
        (folder / "block/w.dat").write_bytes(wrong)
        for model in (folder, packed(folder)):
            with pytest.raises(NnefError, match=r"block/w\.dat.*\[N701\]"):
                infer_shapes(model)


@pytest.mark.parametrize("label", ["../w", "/etc/passwd", "a/../../w", "./w", "a//w"])
def test_labels_stay_inside(tmp_path, label):
    folder = model_in(tmp_path / "model", PLAIN.replace("block/w", label))
    write_tensor(tmp_path / "w.dat", np.zeros((3, 4), np.float32))
    for model in (folder, packed(folder)):
        with pytest.raises(NnefError, match="is not a simple path inside the model"):
            infer_shapes(model)


def test_items_of_another_type(tmp_path):
    folder = model_in(tmp_path / "model", INDICES, i=np.zeros(2, np.float32))
    with pytest.raises(NnefError, match="float items"):
        infer_shapes(folder)


TILED = (
    "version 1.0;\nextension tract_registry tract_core;\ngraph g( x ) -> ( y )\n{\n"
    "    x = external(shape = [S, 6]);\n    s = variable<integer>(shape = [3], label = 's');\n"
    "    y = reshape(x, shape = s);\n}\n"
)


def test_small_contents_are_read_where_they_decide(tmp_path):
    folder = model_in(tmp_path / "model", TILED, s=np.array([0, 2, 3], np.int64))
    for model in (folder, packed(folder)):
        result = infer_shapes(model)
        assert shapes(result)["y"] == "[S, 2, 3]", result.diagnostics


def test_contents_that_a_run_changes_are_not_read(tmp_path):
    text = TILED.replace("    y = reshape", "    u = update(s, s);\n    y = reshape").replace("( y )", "( y, u )")
    folder = model_in(tmp_path / "model", text, s=np.array([0, 2, 3], np.int64))
    assert "s" not in load(folder).unread


def test_large_tensors_are_not_read(tmp_path):
    folder = model_in(tmp_path / "model", PLAIN.replace("[3, 4]", "[3, 1000000]"))
    write_tensor(folder / "block/w.dat", np.zeros((3, 10), np.float32))
    head = bytearray((folder / "block/w.dat").read_bytes()[:128])
    head[4:8] = (12_000_000).to_bytes(4, "little")
    head[16:20] = (1_000_000).to_bytes(4, "little")
    with open(folder / "block/w.dat", "wb") as file:
        file.write(head)
        file.truncate(128 + 12_000_000)
    graph = load(folder)
    assert graph.unread == {} and infer_shapes(graph).diagnostics == []


@pytest.mark.parametrize("items", [np.int32, np.int8, np.uint8, bool])
def test_a_scalar_variable_does_not_have_integers(tmp_path, items):
    folder = model_in(tmp_path / "model", block__w=np.zeros((3, 4), items))
    with pytest.raises(NnefError, match="N702"):
        infer_shapes(folder)
    if items is not bool:
        write_tensor(folder / "block" / "w.dat", np.zeros((3, 4), items), quantized=True)
        assert infer_shapes(folder).diagnostics == []
        write_tensor(folder / "block" / "w.dat", np.zeros((3, 4), items))
        (folder / "graph.quant").write_text('"w": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n')
        assert infer_shapes(folder).diagnostics == []


def test_quantization_of_tensors(tmp_path):
    folder = model_in(
        tmp_path / "model", quantization="'y': linear_quantize(min = [[0.0, 0.0, 0.0, 1.0]], max = 1.0, bits = 8);\n"
    )
    assert [d.code for d in infer_shapes(packed(folder)).diagnostics] == ["N703"]
    (folder / "graph.quant").write_text("\n'y': linear_quantize(min = [[0.0, 1.0]], max = 1.0, bits = 8);\n")
    diagnostic = infer_shapes(folder).diagnostics[1]
    assert (diagnostic.severity, diagnostic.location) == ("error", f"{folder}/graph.quant:2:28")
    assert "quantization parameter 'min'" in diagnostic.render() and "graph.quant:2:28" in diagnostic.render()
    (folder / "graph.quant").write_text("'z': linear_quantize(min = 0.0, max = 1.0, bits = 8);\n")
    with pytest.raises(NnefError, match=r"graph\.quant:1:1: the graph has no tensor 'z' \[N710\]"):
        infer_shapes(folder)
