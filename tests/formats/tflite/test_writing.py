"""Written files have the inferred sizes, and all else stays as it was."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest

from shapeinf import bind, infer_shapes
from shapeinf.errors import ModelError, ShapeInferenceError
from shapeinf.formats import load
from tests.formats.tflite.files import (
    ADD,
    RESHAPE,
    Node,
    Subgraph,
    Table,
    Tensor,
    encode,
    file,
    flattening,
    ints,
    model,
)
from tests.formats.tflite.test_reading import archive, branches


def claims(graph: object) -> dict[str, tuple[int | None, ...] | None]:
    return {name: declared.dims for name, declared in graph.declared.items()}  # type: ignore[attr-defined]


def wrong() -> Subgraph:
    """As `flattening`, with a claim that holds for a batch of 1 only."""
    subgraph = flattening()
    tensors = [*subgraph.tensors[:2], Tensor("y", [1, 16])]
    return Subgraph(tensors, subgraph.inputs, subgraph.outputs, subgraph.nodes)


def test_a_file_with_correct_sizes_is_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "new.tflite"
    infer_shapes(file(flattening())).save(path)
    assert path.read_bytes() == file(flattening())


def test_inferred_sizes_replace_claims(tmp_path: Path) -> None:
    path = tmp_path / "new.tflite"
    infer_shapes(file(wrong())).save(path)
    new = load(path)
    assert claims(new) == {"x": (None, 4, 4), "y": (None, 16)}
    assert len(path.read_bytes()) - len(file(wrong())) in range(64, 1024, 64)
    again = tmp_path / "again.tflite"
    infer_shapes(path).save(again)
    assert again.read_bytes() == path.read_bytes()
    assert str(infer_shapes(again).tensors["y"]) == "float32[x.shape[0], 16]"


def test_another_rank_is_written_with_ones(tmp_path: Path) -> None:
    subgraph = wrong()
    tensors = [*subgraph.tensors[:2], Tensor("y", [5])]
    path = tmp_path / "new.tflite"
    infer_shapes(file(Subgraph(tensors, [0], [2], subgraph.nodes))).save(path)
    assert claims(load(path))["y"] == (None, 16)


def test_bodies_are_written(tmp_path: Path) -> None:
    path = tmp_path / "new.tflite"
    infer_shapes(file(branches(), wrong(), flattening())).save(path)
    new = load(path)
    assert claims(new.functions["", "subgraph 1", ""]) == {"x": (None, 4, 4), "y": (None, 16)}
    assert claims(new)["y"] == (None, 16)


def test_bound_sizes_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "new.tflite"
    bind(file(flattening()), {"x.shape[0]": 3}).save(path)
    assert claims(load(path)) == {"x": (3, 4, 4), "y": (3, 16)}
    with pytest.raises(ShapeInferenceError, match="cannot express"):
        bind(file(flattening()), {"x.shape[0]": "2..4"}).save(tmp_path / "range.tflite")
    assert not (tmp_path / "range.tflite").exists()


def test_positions_in_the_file_move(tmp_path: Path) -> None:
    """Contents behind the tables, and an archive of metadata behind the model."""
    root = model(wrong())
    root[4][1] = Table({1: ("Q", 0), 2: ("Q", 8)})
    root[4][1][1] = ("Q", len(encode(root)))
    data = encode(root) + ints(-1, 16)
    appended = io.BytesIO(data)
    appended.seek(0, io.SEEK_END)
    with zipfile.ZipFile(appended, "a") as opened:
        opened.writestr("labels.txt", "cat")
    old, new = tmp_path / "old.tflite", tmp_path / "new.tflite"
    old.write_bytes(appended.getvalue())
    infer_shapes(old).save(new)
    assert new.stat().st_size > old.stat().st_size
    assert str(infer_shapes(new).tensors["y"]) == "float32[x.shape[0], 16]"
    with zipfile.ZipFile(new) as opened:
        assert opened.read("labels.txt") == b"cat"
        assert opened.infolist()[0].header_offset == new.stat().st_size - old.stat().st_size + len(data)


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.tflite"
    with pytest.raises(ModelError, match="is a member of an archive"):
        infer_shapes(archive({"a.tflite": file(wrong())})).save(path)
    newer = model(wrong())
    newer[12] = ("i", 7)
    with pytest.raises(ModelError, match="has fields of a newer schema"):
        infer_shapes(encode(newer)).save(path)
    large = Subgraph(
        [Tensor("x", [1 << 30, 4]), Tensor("target", [1], "int32", data=ints(-1)), Tensor("y", [1])],
        [0],
        [2],
        [Node(RESHAPE, [0, 1], [2])],
    )
    with pytest.raises(ModelError, match="cannot express the size 4294967296"):
        infer_shapes(file(large)).save(path)
    assert not path.exists()


def test_shared_tables_stay_as_they_are(tmp_path: Path) -> None:
    """A tensor of a second subgraph with the same bytes does not change."""
    adding = Subgraph([Tensor("a", [1]), Tensor("b", [7])], [0], [1], [Node(ADD, [0, 0], [1])])
    path = tmp_path / "new.tflite"
    infer_shapes(file(wrong(), adding)).save(path)
    data = path.read_bytes()
    assert data.count(struct.pack("<2i", 1, 7)) == file(wrong(), adding).count(struct.pack("<2i", 1, 7))
    assert claims(load(path))["y"] == (None, 16)
