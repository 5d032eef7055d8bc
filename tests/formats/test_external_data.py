"""Weights in other files: kept, copied or embedded by all that saves ONNX models, with the same numbers afterwards."""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

from shapeinf import LimitError, ModelError, ShapeInferenceError, bind, infer_shapes, rebatch
from shapeinf.errors import MissingDataWarning, UnknownNameError
from shapeinf.formats.files import ExternalData
from shapeinf.formats.onnx import saving
from shapeinf.formats.onnx.external_tensors import external_tensors
from shapeinf.formats.onnx.saving import lay_out
from shapeinf.formats.protobuf.pieces import FilePart

EXAMPLES = Path(__file__).parents[2] / "examples"
WIDTH = 64
BYTES = WIDTH * WIDTH * 4

Save = Callable[..., None]


def weights(seed: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((WIDTH, WIDTH)).astype(np.float32)


def place(name: str, file: str, offset: int, array: npt.NDArray[Any]) -> onnx.TensorProto:
    """A tensor whose bytes lie in a file."""
    tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(array.dtype), dims=array.shape)
    tensor.raw_data = b""
    set_external_data(tensor, file, offset, array.nbytes)
    tensor.ClearField("raw_data")
    return tensor


def network(folder: Path) -> Path:
    """Weights in two files: of an initializer, of a `Constant`, of a branch, of a function; and a small vector."""
    (folder / "parts").mkdir(parents=True)
    arrays = [weights(seed) for seed in range(4)]
    bias = np.arange(WIDTH, dtype=np.float32)
    (folder / "m.bin").write_bytes(b"".join(a.tobytes() for a in arrays[:3]) + bias.tobytes())
    (folder / "parts" / "other.bin").write_bytes(bytes(4096 * 3) + arrays[3].tobytes())
    branch = helper.make_graph(
        [helper.make_node("MatMul", ["c", "w1"], ["branch"])],
        "then",
        [],
        [helper.make_tensor_value_info("branch", TensorProto.FLOAT, None)],
        [place("w1", "m.bin", BYTES, arrays[1])],
    )
    other = helper.make_graph(
        [helper.make_node("Relu", ["c"], ["same"])],
        "else",
        [],
        [helper.make_tensor_value_info("same", TensorProto.FLOAT, None)],
    )
    call = helper.make_function(
        "my",
        "Scale",
        ["p"],
        ["q"],
        [
            helper.make_node("Constant", [], ["w3"], value=place("w3", "parts/other.bin", 4096 * 3, arrays[3])),
            helper.make_node("MatMul", ["p", "w3"], ["q"]),
        ],
        [helper.make_opsetid("", 18)],
    )
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["a"], name="first"),
        helper.make_node("Add", ["a", "bias"], ["b"], name="add"),
        helper.make_node("Constant", [], ["w2"], value=place("w2", "m.bin", 2 * BYTES, arrays[2])),
        helper.make_node("MatMul", ["b", "w2"], ["c"], name="second"),
        helper.make_node("If", ["flag"], ["d"], then_branch=branch, else_branch=other),
        helper.make_node("Scale", ["d"], ["y"], domain="my"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", WIDTH]),
            helper.make_tensor_value_info("flag", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", WIDTH])],
        [place("w0", "m.bin", 0, arrays[0]), place("bias", "m.bin", 3 * BYTES, bias)],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("my", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=[call])
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    return folder / "m.onnx"


def outputs(path: Path) -> npt.NDArray[np.float32]:
    """What onnxruntime computes of the file itself."""
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(3).random((2, WIDTH), np.float32)
    return np.asarray(session.run(None, {"x": x, "flag": np.array(True)})[0])


def locations(path: Path) -> list[tuple[str, str, int]]:
    return [(t.name, t.location, int(t.offset)) for t in external_tensors(path.read_bytes())]


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def save_inferred(model: Path, out: Path, **options: Any) -> None:
    infer_shapes(model).save(out, **options)


def save_bound(model: Path, out: Path, **options: Any) -> None:
    bind(model, {"n": "1..8"}).save(out, **options)


WAYS = {"infer": save_inferred, "bind": save_bound}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return network(tmp_path / "here")


# -- the numbers


@pytest.mark.parametrize("external_data", ["keep", "copy", "embed"])
@pytest.mark.parametrize("way", WAYS)
def test_the_saved_model_computes_the_same_bits(
    model: Path, tmp_path: Path, way: str, external_data: ExternalData
) -> None:
    out = (model.parent if external_data == "keep" else tmp_path) / "out.onnx"
    WAYS[way](model, out, external_data=external_data)
    assert np.array_equal(outputs(out), outputs(model))
    onnx.checker.check_model(str(out), full_check=True)
    assert "value_info" in str(onnx.load(out, load_external_data=False).graph)


@pytest.mark.parametrize("external_data", ["copy", "embed"])
def test_rebatch(tmp_path: Path, external_data: ExternalData) -> None:
    graph = helper.make_graph(
        [helper.make_node("Reshape", ["x", "shape"], ["r"]), helper.make_node("MatMul", ["r", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, WIDTH])],
        [numpy_helper.from_array(np.array([2, WIDTH]), "shape"), place("w", "w.bin", 0, weights(0))],
    )
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "w.bin").write_bytes(weights(0).tobytes())
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "m.onnx")
    rebatch(folder / "m.onnx").save(tmp_path / "out.onnx", external_data=external_data)
    runtime = pytest.importorskip("onnxruntime")
    x = np.random.default_rng(3).random((2, WIDTH), np.float32)
    before, after = (
        runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
        for path in (folder / "m.onnx", tmp_path / "out.onnx")
    )
    assert np.array_equal(before, after)


# -- the files


def test_keep_refers_down_from_the_folder_above(model: Path, tmp_path: Path) -> None:
    infer_shapes(model).save(tmp_path / "out.onnx")
    assert {location for _, location, _ in locations(tmp_path / "out.onnx")} == {"here/m.bin", "here/parts/other.bin"}
    assert [offset for *_, offset in locations(tmp_path / "out.onnx")] == [o for *_, o in locations(model)]
    assert np.array_equal(outputs(tmp_path / "out.onnx"), outputs(model))


def test_keep_in_the_same_folder_by_another_path_changes_nothing(model: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(model.parent)
    infer_shapes(model).save(tmp_path / "link" / "out.onnx", external_data="keep")
    assert locations(model.with_name("out.onnx")) == locations(model)


@pytest.mark.parametrize("folder", ["there", "here/parts"])
def test_keep_never_writes_a_location_that_leads_up(model: Path, tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    before = files(tmp_path)
    with pytest.raises(ModelError, match=r"outside the folder of the new model.*copy or embed"):
        infer_shapes(model).save(tmp_path / folder / "out.onnx")
    assert files(tmp_path) == before


def test_copy_keeps_the_layout_of_a_file(model: Path, tmp_path: Path) -> None:
    infer_shapes(model).save(tmp_path / "out.onnx", external_data="copy")
    assert files(tmp_path) == ["here/m.bin", "here/m.onnx", "here/parts/other.bin", "out.onnx", "out.onnx.data"]
    places = {name: (location, offset) for name, location, offset in locations(tmp_path / "out.onnx")}
    assert places == {
        "w0": ("out.onnx.data", 0),
        "w1": ("out.onnx.data", BYTES),
        "w2": ("out.onnx.data", 2 * BYTES),
        "w3": ("out.onnx.data", 3 * BYTES),
    }
    stored = {t.name: t for t in onnx.load(tmp_path / "out.onnx", load_external_data=False).graph.initializer}
    assert stored["bias"].data_location == TensorProto.DEFAULT  # small: shapes may depend on it
    assert (tmp_path / "out.onnx.data").read_bytes() == b"".join(weights(seed).tobytes() for seed in range(4))


def test_embed_leaves_one_file_that_stands_alone(model: Path, tmp_path: Path) -> None:
    infer_shapes(model).save(tmp_path / "out.onnx", external_data="embed")
    assert locations(tmp_path / "out.onnx") == []
    expected = outputs(model)
    for path in (model, model.with_name("m.bin")):
        path.unlink()
    assert np.array_equal(outputs(tmp_path / "out.onnx"), expected)


@pytest.mark.parametrize("suffix", ["onnxtxt", "json", "textproto"])
def test_text_forms(model: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out.{suffix}"
    infer_shapes(model).save(out, external_data="copy")
    back = onnx.load(out, format=suffix, load_external_data=False).SerializeToString()
    assert {t.location for t in external_tensors(back)} == {f"out.{suffix}.data"}
    infer_shapes(out).save(tmp_path / "back.onnx")
    assert np.array_equal(outputs(tmp_path / "back.onnx"), outputs(model))


def shared(folder: Path) -> Path:
    """Two names for the same bytes, and a third tensor that overlaps both."""
    folder.mkdir()
    (folder / "w.bin").write_bytes(np.concatenate([weights(0), weights(1)]).tobytes())
    tensors = [place("a", "w.bin", 0, weights(0)), place("b", "w.bin", 0, weights(0))]
    tensors.append(place("c", "w.bin", BYTES // 2, weights(0)))
    nodes = [helper.make_node("Sum", ["x", "a", "b", "c"], ["y"])]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [WIDTH, WIDTH]) for name in "xy")
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y], tensors)), folder / "m.onnx")
    return folder / "m.onnx"


def test_shared_bytes_are_copied_once(tmp_path: Path) -> None:
    infer_shapes(shared(tmp_path / "here")).save(tmp_path / "out.onnx", external_data="copy")
    assert (tmp_path / "out.onnx.data").stat().st_size == BYTES * 3 // 2
    assert [offset for *_, offset in locations(tmp_path / "out.onnx")] == [0, 0, BYTES // 2]


@pytest.mark.parametrize(
    ("parts", "offsets"),
    [
        ([("w", 0, 10), ("w", 10, 10)], [0, 10]),
        ([("w", 17, 10), ("w", 4096, 10)], [17, 4096]),
        ([("w", 4096 * 5, 10), ("w", 4096 * 9 + 1, 10)], [0, 4097]),
        ([("w", 0, 5000), ("v", 0, 10)], [0, 8192]),
        ([("w", 100, 10), ("w", 0, 200), ("w", 150, 100)], [100, 0, 150]),
    ],
)
def test_offsets_keep_their_place_of_a_page(parts: list[tuple[str, int, int]], offsets: list[int]) -> None:
    starts, copied = lay_out([FilePart(*part) for part in parts])
    assert [starts[FilePart(*part)] for part in parts] == offsets
    ends = [start + part.count for start, part in copied]
    assert all(end <= start for end, (start, _) in zip(ends, copied[1:], strict=False))


# -- what cannot be written


@pytest.mark.parametrize("external_data", ["copy", "embed"])
@pytest.mark.parametrize("damage", ["missing", "short"])
def test_absent_data_are_an_error_before_anything_is_written(
    model: Path, tmp_path: Path, external_data: ExternalData, damage: str
) -> None:
    data = model.with_name("m.bin")
    if damage == "missing":
        data.unlink()
    else:
        os.truncate(data, BYTES)
    before = files(tmp_path)
    text = "its data file 'm.bin' is missing" if damage == "missing" else "of 16384 bytes"
    with pytest.raises(ModelError, match=text):
        infer_shapes(model).save(tmp_path / "out.onnx", external_data=external_data)
    assert files(tmp_path) == before


def test_keep_works_without_the_data_and_says_so(model: Path, tmp_path: Path) -> None:
    model.with_name("m.bin").unlink()
    with pytest.warns(MissingDataWarning, match=r"the file with its weights, 'm\.bin', is missing"):
        infer_shapes(model).save(model.with_name("out.onnx"))
    with pytest.warns(MissingDataWarning, match=r"'m\.bin'"):
        infer_shapes(model).save(tmp_path / "above.onnx")
    assert ("w0", "here/m.bin", 0) in locations(tmp_path / "above.onnx")


def test_nothing_is_said_where_the_data_are_there(model: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        infer_shapes(model).save(model.with_name("out.onnx"))


@pytest.mark.parametrize("location", ["../outside.bin", "/etc/hostname", "up/outside.bin", "a\0b", ""])
@pytest.mark.parametrize("external_data", ["keep", "copy", "embed"])
def test_locations_that_lead_out_of_the_folder(
    model: Path, tmp_path: Path, location: str, external_data: ExternalData
) -> None:
    (tmp_path / "outside.bin").write_bytes(bytes(BYTES))
    (model.parent / "up").symlink_to(tmp_path)
    proto = onnx.load(model, load_external_data=False)
    proto.graph.initializer[0].external_data[0].value = location
    model.write_bytes(proto.SerializeToString())
    target = model.with_name("out.onnx")
    if location or external_data != "keep":
        with pytest.raises(ModelError):
            infer_shapes(model).save(target, external_data=external_data)
        assert not target.exists()


@pytest.mark.parametrize(("source", "target"), [("m.bin", "m.bin"), ("out.onnx.data", "out.onnx"), ("m.bin", "link")])
def test_a_file_that_the_model_reads_is_never_overwritten(tmp_path: Path, source: str, target: str) -> None:
    path = shared(tmp_path / "here")
    (path.parent / "w.bin").rename(path.parent / source)
    proto = onnx.load(path, load_external_data=False)
    for tensor in proto.graph.initializer:
        tensor.external_data[0].value = source
    path.write_bytes(proto.SerializeToString())
    (path.parent / "link").symlink_to(source)
    before = (path.parent / source).read_bytes()
    with pytest.raises(ModelError, match="the model reads its weights from this file"):
        infer_shapes(path).save(path.parent / target, external_data="copy")
    assert (path.parent / source).read_bytes() == before


def test_a_message_has_no_folder(model: Path, tmp_path: Path) -> None:
    result = infer_shapes(onnx.load(model, load_external_data=False))
    for external_data in ("copy", "embed"):
        with pytest.raises(ModelError, match="the folder of its data is unknown: read the model from its file"):
            result.save(tmp_path / "out.onnx", external_data=external_data)  # type: ignore[arg-type]
    with pytest.warns(MissingDataWarning):
        result.save(tmp_path / "out.onnx")
    result.save(model.with_name("out.onnx"))
    assert np.array_equal(outputs(model.with_name("out.onnx")), outputs(model))


def test_a_model_past_2_gb_is_a_limit_that_names_copy(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "MAX_PROTOBUF", 3 * BYTES)
    with pytest.raises(LimitError, match="more than 2 GB: copy or keep them"):
        infer_shapes(model).save(tmp_path / "out.onnx", external_data="embed")
    assert not (tmp_path / "out.onnx").exists()


def test_words_and_formats_that_have_no_external_data(tmp_path: Path) -> None:
    result = infer_shapes(EXAMPLES / "squeezenet.nnef")
    with pytest.raises(ShapeInferenceError, match="external_data has no effect: NNEF models have no external data"):
        result.save(tmp_path / "out.nnef", external_data="copy")
    with pytest.raises(UnknownNameError, match="'kept'; did you mean 'keep'"):
        infer_shapes(EXAMPLES / "convnet.onnx").save(tmp_path / "o.onnx", external_data="kept")  # type: ignore[arg-type]
    assert files(tmp_path) == []


# -- disks that are full


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        pytest.skip(f"no mount: {error}")
    if done.returncode:
        pytest.skip(f"mount is not permitted: {done.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def large(folder: Path) -> Path:
    """A model of 512 KiB of weights in another file."""
    folder.mkdir()
    array = np.ones((512, 256), np.float32)
    (folder / "w.bin").write_bytes(array.tobytes())
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in (("x", 512), ("y", 256))
    )
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [place("w", "w.bin", 0, array)]
    )
    onnx.save(helper.make_model(graph), folder / "m.onnx")
    return folder / "m.onnx"


@pytest.mark.parametrize("external_data", ["copy", "embed"])
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, small_disk: Path, external_data: ExternalData) -> None:
    result = infer_shapes(large(tmp_path / "here"))
    (small_disk / "out.onnx").write_bytes(b"before")
    with pytest.raises(ModelError, match="cannot be written: No space left on device"):
        result.save(small_disk / "out.onnx", external_data=external_data)
    assert files(small_disk) == ["out.onnx"]
    assert (small_disk / "out.onnx").read_bytes() == b"before"


@pytest.mark.parametrize("external_data", ["copy", "embed"])
def test_a_disk_that_fails_leaves_nothing_behind(
    tmp_path: Path, external_data: ExternalData, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(part: FilePart) -> Iterator[bytes]:
        yield bytes(10)
        raise OSError(5, "Input/output error")

    result = infer_shapes(large(tmp_path / "here"))
    monkeypatch.setattr(FilePart, "chunks", failing)
    with pytest.raises(ModelError, match="Input/output error"):
        result.save(tmp_path / "out.onnx", external_data=external_data)
    assert files(tmp_path) == ["here/m.onnx", "here/w.bin"]


# -- more than 2 GB


@pytest.mark.slow
def test_more_than_2_gb(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    side, count = 16384, 3
    tensors = [TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[side, side]) for i in range(count)]
    for i, tensor in enumerate(tensors):
        tensor.raw_data = b""
        set_external_data(tensor, "w.bin", i * side * side * 4, side * side * 4)
        tensor.ClearField("raw_data")
    with open(folder / "w.bin", "wb") as file:
        file.truncate(count * side * side * 4)
        file.seek(4 * 5)
        file.write(np.float32(3).tobytes())
    nodes = [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(count)]
    x = helper.make_tensor_value_info("x0", TensorProto.FLOAT, ["n", side])
    y = helper.make_tensor_value_info(f"x{count}", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "m.onnx")
    result = infer_shapes(folder / "m.onnx")
    with pytest.raises(LimitError, match="more than 2 GB: copy or keep them"):
        result.save(tmp_path / "out.onnx", external_data="embed")
    result.save(tmp_path / "out.onnx", external_data="copy")
    assert (tmp_path / "out.onnx.data").stat().st_size == count * side * side * 4
    with open(tmp_path / "out.onnx.data", "rb") as file:
        assert np.frombuffer(file.read(24), np.float32).tolist() == [0, 0, 0, 0, 0, 3]
    assert [offset for *_, offset in locations(tmp_path / "out.onnx")] == [i * side * side * 4 for i in range(count)]
