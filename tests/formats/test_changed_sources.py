"""What is saved has the shapes of what was read: where the source has changed since, it is refused, or not needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from shapeinf import Result, bind, infer_shapes, rebatch
from shapeinf.errors import ChangedFileError, ModelError, UnknownFormatError
from shapeinf.formats.protobuf.large_file import LargeFile
from shapeinf.formats.read_files import MAX_STORED, ReadFiles

EXAMPLES = Path("examples")
LARGE = MAX_STORED + 4096
"""Bytes of a model whose bytes do not stay in memory, unless it has just been written."""


def model(width: int, padding: int = 0) -> onnx.ModelProto:
    """x @ w with a weight of `width` columns; `padding` bytes that nothing reads make the file large."""
    weight = numpy_helper.from_array(np.ones((4, width), np.float32), "w")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", "M"])
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], "g", [x], [y], [weight])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if padding:
        proto.metadata_props.add(key="padding", value="a" * padding)
    return proto


def delete(path: Path, new: bytes) -> None:
    path.unlink()


def truncate(path: Path, new: bytes) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def empty(path: Path, new: bytes) -> None:
    path.write_bytes(b"")


def overwrite(path: Path, new: bytes) -> None:
    path.write_bytes(new)


def replace(path: Path, new: bytes) -> None:
    other = path.with_name("other")
    other.write_bytes(new)
    os.replace(other, path)


def overwrite_in_secret(path: Path, new: bytes) -> None:
    """Same size, same inode, and the old time of the last change of contents."""
    before = path.stat()
    old = path.read_bytes()
    path.write_bytes(new + old[len(new) :] if len(new) < len(old) else new[: len(old)])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def become_folder(path: Path, new: bytes) -> None:
    path.unlink()
    path.mkdir()


def become_pipe(path: Path, new: bytes) -> None:
    path.unlink()
    os.mkfifo(path)


CHANGES = [delete, truncate, empty, overwrite, replace, overwrite_in_secret, become_folder, become_pipe]
Change = Callable[[Path, bytes], None]


def age(path: Path) -> None:
    """Make a file look old, so that its bytes do not stay in memory."""
    os.utime(path, (1_000_000_000, 1_000_000_000))


def outputs_of(path: Path) -> dict[str, str]:
    return {name: str(info) for name, info in infer_shapes(path, declared="check").outputs.items()}


def assert_true_or_refused(save: Callable[[Path], Any], source: Path, target: Path, expected: dict[str, str]) -> bool:
    """Whether the target was written: then it has the graph and the shapes of what was read."""
    try:
        save(target)
    except ChangedFileError as error:
        assert str(source) in str(error) and not target.exists()
        assert not list(target.parent.glob(".*.part"))
        return False
    assert outputs_of(target) == expected
    return True


# -- one file --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
@pytest.mark.parametrize("edit", ["infer", "bind", "rebatch"])
def test_a_changed_onnx_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edit: str, large: bool, change: Change
) -> None:
    path = tmp_path / "m.onnx"
    padding = LARGE if large else 0
    path.write_bytes(model(8, padding).SerializeToString())
    monkeypatch.setattr("shapeinf.formats.read_files.RECENT", 0)
    result: Any = infer_shapes(path)
    if edit == "bind":
        result = bind(path, {"N": 3})
    elif edit == "rebatch":
        fixed = bind(path, {"N": 3})
        fixed.save(tmp_path / "fixed.onnx")
        shutil.move(tmp_path / "fixed.onnx", path)
        result = rebatch(path)
    expected = "float32[3, 8]" if edit == "bind" else f"float32[{'batch' if edit == 'rebatch' else 'N'}, 8]"
    change(path, model(16, padding).SerializeToString())
    written = assert_true_or_refused(result.save, path, tmp_path / "out.onnx", {"y": expected})
    assert written is not large


def test_a_file_that_has_just_been_written_is_kept(tmp_path: Path) -> None:
    """The times of a file have the resolution of a clock tick, within which it may change again."""
    path = tmp_path / "m.onnx"
    path.write_bytes(model(8, LARGE).SerializeToString())
    result = infer_shapes(path)
    overwrite(path, model(16, LARGE).SerializeToString())
    result.save(tmp_path / "out.onnx")
    assert outputs_of(tmp_path / "out.onnx") == {"y": "float32[N, 8]"}


def read_old(path: Path) -> ReadFiles:
    """The record of a file that was written long before it was read, whose bytes are not kept."""
    files = ReadFiles(str(path), read=1 << 62)
    with path.open("rb") as file:
        files.add(str(path), file)
    return files


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_detected(tmp_path: Path, change: Change) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abcdefgh")
    age(path)
    files = read_old(path)
    files.check()
    change(path, b"ABCDEFGH")
    with pytest.raises(ChangedFileError, match="file"):
        files.check()
    with pytest.raises(ChangedFileError), files.open():
        pass


def test_another_folder_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is that of the folder in which the model was read."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder, width in (("a", 8), ("b", 16)):
        (tmp_path / folder / "m.onnx").write_bytes(model(width, LARGE).SerializeToString())
    monkeypatch.setattr("shapeinf.formats.read_files.RECENT", 0)
    monkeypatch.chdir(tmp_path / "a")
    result = infer_shapes("m.onnx")
    monkeypatch.chdir(tmp_path / "b")
    result.save("out.onnx")
    assert outputs_of(tmp_path / "b" / "out.onnx") == {"y": "float32[N, 8]"}


def test_a_model_may_replace_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.onnx"
    for padding in (0, LARGE):
        path.write_bytes(model(8, padding).SerializeToString())
        monkeypatch.setattr("shapeinf.formats.read_files.RECENT", 0)
        result = infer_shapes(path)
        result.save(path)
        assert outputs_of(path) == {"y": "float32[N, 8]"}
        if padding:
            with pytest.raises(ChangedFileError):
                result.save(tmp_path / "other.onnx")


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.write(write, model(8).SerializeToString())
    os.close(write)
    result = infer_shapes(f"/dev/fd/{read}")
    os.close(read)
    result.save(tmp_path / "out.onnx")
    assert outputs_of(tmp_path / "out.onnx") == {"y": "float32[N, 8]"}


FORMS = ["convnet.onnxtxt", "convnet.json", "convnet.textproto", "recurrent.pbtxt", "recurrent.pb"]
FORMS += ["squeezenet.nnef", "enhancer.pnnx.param", "saved"]


def write_form(folder: Path, name: str) -> tuple[Path, Path, Path]:
    """A model in a form: what to read, the file that changes, and the target."""
    if name == "saved":
        tensorflow_graph = EXAMPLES / "recurrent.pbtxt"
        infer_shapes(tensorflow_graph).save(folder / "graph.pb")
        graph = (folder / "graph.pb").read_bytes()
        meta = b"\x12" + _varint(len(graph)) + graph
        (folder / "saved").mkdir()
        (folder / "saved" / "saved_model.pb").write_bytes(b"\x08\x01\x12" + _varint(len(meta)) + meta)
        return folder / "saved", folder / "saved" / "saved_model.pb", folder / "out"
    path = folder / name
    if name.startswith("convnet"):
        infer_shapes(EXAMPLES / "convnet.onnx").save(path)
    elif name == "recurrent.pb":
        infer_shapes(EXAMPLES / "recurrent.pbtxt").save(path)
    else:
        shutil.copy(EXAMPLES / name, path)
    return path, path, folder / f"out{''.join(path.suffixes)}"


def _varint(value: int) -> bytes:
    from shapeinf.formats.protobuf.wire import encode_varint

    return encode_varint(value)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, change: Change) -> None:
    """Each form of a model, small and kept, or read again and refused."""
    for stored in (0, MAX_STORED):
        folder = tmp_path / str(stored)
        folder.mkdir()
        source, file, target = write_form(folder, name)
        monkeypatch.setattr("shapeinf.formats.read_files.RECENT", 0)
        monkeypatch.setattr("shapeinf.formats.read_files.MAX_STORED", stored)
        result = infer_shapes(source)
        expected = {output: str(info) for output, info in result.outputs.items()}
        change(file, file.read_bytes()[: file.stat().st_size // 3])
        written = assert_true_or_refused(result.save, file, target, expected)
        assert written or not stored


def test_a_folder_that_is_empty_now_has_no_saved_model(tmp_path: Path) -> None:
    (tmp_path / "saved").mkdir()
    with pytest.raises(UnknownFormatError):
        infer_shapes(tmp_path / "saved")


# -- while it is copied ----------------------------------------------------------------------------------------------


def change_when_copied(monkeypatch: pytest.MonkeyPatch, change: Callable[[], None]) -> None:
    """Change a file between the copy of its bytes and the appearance of the new file."""
    synchronize, changes = os.fsync, [change]

    def fsync(descriptor: int) -> None:
        synchronize(descriptor)
        for pending in changes[:]:
            changes.remove(pending)
            pending()

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_that_changes_while_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    path, target = tmp_path / "m.onnx", tmp_path / "out.onnx"
    path.write_bytes(model(8, LARGE).SerializeToString())
    target.write_bytes(b"before")
    monkeypatch.setattr("shapeinf.formats.read_files.RECENT", 0)
    result = infer_shapes(path)
    change_when_copied(monkeypatch, lambda: change(path, model(16, LARGE).SerializeToString()))
    with pytest.raises(ChangedFileError, match=r"m\.onnx"):
        result.save(target)
    assert target.read_bytes() == b"before" and not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("external_data", ["copy", "embed"])
def test_weights_that_change_while_they_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, external_data: Any, change: Change
) -> None:
    onnx.save(model(64), tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    result = infer_shapes(tmp_path / "m.onnx")
    (tmp_path / "out").mkdir()
    change_when_copied(monkeypatch, lambda: change(tmp_path / "m.data", bytes(1024)))
    with pytest.raises(ModelError, match=r"m\.data"):
        result.save(tmp_path / "out" / "m.onnx", external_data=external_data)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("change", CHANGES)
def test_a_graph_of_tensorflow_that_changes_while_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    monkeypatch.setattr("shapeinf.formats.read_files.RECENT", 0)
    monkeypatch.setattr("shapeinf.formats.read_files.MAX_STORED", 0)
    source, file, target = write_form(tmp_path, "recurrent.pb")
    result = infer_shapes(source)
    change_when_copied(monkeypatch, lambda: change(file, file.read_bytes()[:100]))
    with pytest.raises(ChangedFileError):
        result.save(target)
    assert not target.exists()


def test_a_large_model_that_is_truncated_while_it_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes are read when they are copied."""
    monkeypatch.setattr("shapeinf.formats.protobuf.large_file.LARGE_FILE", 0)
    from shapeinf.formats.protobuf.pieces import piece_bytes

    path = tmp_path / "file"
    path.write_bytes(bytes(1 << 20))
    with read_old(path).open() as buffer:
        os.truncate(path, 4096)
        with pytest.raises(ChangedFileError, match="shorter while it was read"):
            b"".join(map(bytes, piece_bytes(buffer, [(0, 1 << 20)])))


def test_weights_with_a_forged_time(tmp_path: Path) -> None:
    """The time of the contents can be set, but not that of the last change of the file."""
    onnx.save(model(64), tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    result = infer_shapes(tmp_path / "m.onnx")
    time.sleep(0.05)
    overwrite_in_secret(tmp_path / "m.data", bytes(1024))
    with pytest.raises(ChangedFileError, match="written after"):
        result.save(tmp_path / "out.onnx", external_data="copy")


# -- other files -----------------------------------------------------------------------------------------------------


def external_model(folder: Path, target: list[int]) -> Path:
    """Reshape by a shape in another file, and a product with a weight in the same file."""
    shape = numpy_helper.from_array(np.array(target, np.int64), "shape")
    weight = numpy_helper.from_array(np.ones((target[-1], 64), np.float32), "w")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["r"]), helper.make_node("MatMul", ["r", "w"], ["y"])]
    graph = helper.make_graph(nodes, "g", [x], [y], [shape, weight])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(proto, folder / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    return folder / "m.onnx"


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("external_data", ["keep", "copy", "embed"])
def test_data_that_shapes_depend_on(tmp_path: Path, change: Change, external_data: Any) -> None:
    path = external_model(tmp_path, [2, 2, 8])
    data = tmp_path / "m.data"
    age(data)
    result = infer_shapes(path)
    assert str(result.outputs["y"]) == "float32[2, 2, 64]"
    (tmp_path / "new").mkdir()
    external_model(tmp_path / "new", [4, 1, 8])
    change(data, (tmp_path / "new" / "m.data").read_bytes())
    with pytest.raises(ChangedFileError, match=r"m\.data"):
        result.save(tmp_path / "out.onnx", external_data=external_data)
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize("external_data", ["keep", "copy", "embed"])
def test_weights_that_were_written_since(tmp_path: Path, external_data: Any) -> None:
    """No shape depends on them, but the model would have the weights of another one."""
    proto = model(64)
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    result = infer_shapes(tmp_path / "m.onnx")
    result.save(tmp_path / "before.onnx", external_data=external_data)
    later = (tmp_path / "m.data").stat().st_mtime + 5
    (tmp_path / "m.data").write_bytes(bytes(2048))
    os.utime(tmp_path / "m.data", (later, later))
    with pytest.raises(ModelError, match=r"written after|has changed since"):
        result.save(tmp_path / "out.onnx", external_data=external_data)


@pytest.mark.parametrize("change", [delete, truncate, empty])
def test_tensor_files_of_a_document(tmp_path: Path, change: Change) -> None:
    from tests.formats.nnef.models import write_tensor

    (tmp_path / "graph.nnef").write_text(
        "version 1.0;\ngraph g(x) -> (y)\n{\n  x = external(shape = [1, 4]);\n"
        "  w = variable(shape = [1, 4], label = 'w');\n  y = add(x, w);\n}\n"
    )
    write_tensor(tmp_path / "w.dat", np.ones((1, 4), np.float32))
    age(tmp_path / "w.dat")
    result = infer_shapes(tmp_path)
    change(tmp_path / "w.dat", b"")
    with pytest.raises(ChangedFileError, match=r"w\.dat"):
        result.save(tmp_path / "out.nnef")


# -- a result whose source has changed is not run either ------------------------------------------------------------


def test_a_runtime_runs_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shapeinf.formats.onnx.model_bytes import model_bytes, path_or_bytes

    path = tmp_path / "m.onnx"
    path.write_bytes(model(8).SerializeToString())
    graph = infer_shapes(path).graph
    assert path_or_bytes(graph) == str(path)
    path.write_bytes(model(16).SerializeToString())
    assert onnx.load_model_from_string(model_bytes(graph)).graph.initializer[0].dims[1] == 8
    with pytest.raises(ChangedFileError):
        path_or_bytes(graph)


def test_pickled_results_are_not_saved(tmp_path: Path) -> None:
    import pickle

    from shapeinf.errors import NotPickledError

    result: Result = infer_shapes(EXAMPLES / "convnet.onnx")
    pickled: Any = pickle.loads(pickle.dumps(result))
    with pytest.raises(NotPickledError):
        pickled.save(tmp_path / "out.onnx")


def read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each file be read as a large one whose bytes do not stay in memory."""
    for constant in ("read_files.RECENT", "read_files.MAX_STORED", "protobuf.large_file.LARGE_FILE"):
        monkeypatch.setattr(f"shapeinf.formats.{constant}", 0)
    monkeypatch.setattr("shapeinf.formats.protobuf.large_file._WINDOW", 64)


@pytest.mark.parametrize("saves", [False, True])
@pytest.mark.parametrize("access", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("name", ["convnet.onnx", "recurrent.pb", "saved"])
def test_a_source_that_is_truncated_while_fields_are_scanned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, access: int, saves: bool
) -> None:
    """At an access when it is read, and when it is saved."""
    read_in_parts(monkeypatch)
    source, file, target = write_form(tmp_path, name)
    result = infer_shapes(source) if saves else None
    count = 0

    def read(large: LargeFile, start: int, size: int) -> bytes:
        nonlocal count
        count += 1
        if count == access:
            os.truncate(file, 100)
        return read_part(large, start, size)

    read_part = LargeFile._read
    monkeypatch.setattr(LargeFile, "_read", read)
    with pytest.raises(ChangedFileError):
        infer_shapes(source) if result is None else result.save(target)
    assert count >= access and not target.exists()


_RACE = """
import os, pathlib, sys, threading
from shapeinf import infer_shapes
from shapeinf.errors import ModelError
from shapeinf.formats import read_files
read_files.RECENT = read_files.MAX_STORED = 0
path, target = map(pathlib.Path, sys.argv[1:])
data = path.read_bytes()
for delay in range(20):
    path.write_bytes(data)
    try:
        timer = threading.Timer(delay / 500, os.truncate, (path, 4096))
        if delay % 2:
            timer.start()
            infer_shapes(path)
        else:
            result = infer_shapes(path)
            timer.start()
            result.save(target)
    except ModelError as error:
        print(type(error).__name__)
    finally:
        timer.join()
"""


@pytest.mark.parametrize("name", ["m.onnx", "m.pb"])
def test_a_source_that_a_thread_truncates(tmp_path: Path, name: str) -> None:
    """A file of 20 MB, at moments of a clock, in a process of its own: no signal, and no other error."""
    if name == "m.onnx":
        onnx.save(model(64, padding=20_000_000), tmp_path / name)
    else:
        infer_shapes(EXAMPLES / "recurrent.pbtxt").save(tmp_path / name)
        tail = b"\x1a" + _varint(20_000_000) + bytes(20_000_000)  # a field that no reader knows
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + tail)
    command = [sys.executable, "-c", _RACE, tmp_path / name, tmp_path / f"out-{name}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.split()) <= {"ChangedFileError", "ModelError"}
