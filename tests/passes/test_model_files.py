"""Model files: text forms, and weights in other files, which are kept, copied or embedded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.files import ExternalData
from shapeinf.formats.onnx import saving
from shapeinf.formats.protobuf.pieces import FilePart
from shapeinf.passes import clean, model_files, weights
from shapeinf.passes.model_files import read_model

BIG, BIAS = 64 * 64 * 4, 64 * 4


def network() -> onnx.ModelProto:
    """A Conv and an Add to fuse, an Identity, a Reshape by a constant, a MatMul."""
    draw = np.random.default_rng(7)
    arrays = {
        "k": draw.random((64, 3, 1, 1), np.float32),
        "b": draw.random((64, 1, 1), np.float32),
        "shape": np.array([-1, 64]),
        "m": draw.random((64, 64), np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "k"], ["c"]),
        helper.make_node("Add", ["c", "b"], ["a"]),
        helper.make_node("Identity", ["a"], ["i"]),
        helper.make_node("Reshape", ["i", "shape"], ["r"]),
        helper.make_node("MatMul", ["r", "m"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 64])
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def save_apart(folder: Path, name: str = "m.onnx", data: str = "m.bin") -> Path:
    """The network with all weights in another file of the folder."""
    onnx.save_model(
        network(),
        folder / name,
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=data,
        size_threshold=0,
    )
    return folder / name


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return save_apart(folder)


def initializers(path: Path, *, load: bool = True) -> dict[str, onnx.TensorProto]:
    return {tensor.name: tensor for tensor in onnx.load(path, load_external_data=load).graph.initializer}


def entries(tensor: onnx.TensorProto) -> dict[str, str]:
    return {entry.key: entry.value for entry in tensor.external_data}


def outputs(path: Path) -> npt.NDArray[np.float32]:
    runtime = pytest.importorskip("onnxruntime")
    loaded = onnx.load(path)  # onnxruntime itself reads no shapes from other files
    session = runtime.InferenceSession(loaded.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(3).random((2, 3, 8, 8), np.float32)
    (result,) = session.run(None, {"x": x})
    return np.asarray(result)


def operators(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path, load_external_data=False).graph.node]


# -- text forms


@pytest.mark.parametrize("suffix", [".onnxtxt", ".json", ".textproto", ".pbtxt"])
def test_text_forms_in_and_out(tmp_path: Path, suffix: str) -> None:
    source, result, back = tmp_path / f"m{suffix}", tmp_path / f"out{suffix}", tmp_path / "back.onnx"
    onnx.save_model(network(), source)
    clean(source).save(result)
    assert operators(result) == ["Conv", "Reshape", "MatMul"]
    clean(result).save(back)
    np.testing.assert_allclose(outputs(back), outputs(source), rtol=1e-5, atol=1e-5)


def test_models_in_memory_stay_as_they_are(model: Path, tmp_path: Path) -> None:
    proto, other = network(), ir.load(model)
    before, nodes = proto.SerializeToString(), len(list(other.graph))
    for source in (proto, before, other):
        assert clean(source, ["remove_identity"]).report.counts() == {"remove_identity": 1}
    assert proto.SerializeToString() == before
    assert len(list(other.graph)) == nodes


# -- weights in other files


@pytest.mark.parametrize("external", ["keep", "copy", "embed"])
def test_numbers_and_operators_are_the_same_wherever_the_weights_go(model: Path, external: ExternalData) -> None:
    expected = outputs(model)
    out = model.with_name("out.onnx")
    clean(model).save(out, external_data=external)
    assert operators(out) == ["Conv", "Reshape", "MatMul"]
    np.testing.assert_allclose(outputs(out), expected, rtol=1e-5, atol=1e-5)


def test_keep_refers_to_the_same_bytes(model: Path) -> None:
    before = initializers(model, load=False)
    clean(model).save(model.with_name("out.onnx"))
    after = initializers(model.with_name("out.onnx"), load=False)
    assert entries(after["m"]) == entries(before["m"])
    assert entries(after["k"]) == entries(before["k"])
    bias = next(tensor for name, tensor in after.items() if name not in ("k", "m", "shape"))
    assert bias.data_location == TensorProto.DEFAULT and list(bias.dims) == [64]


def test_keep_in_a_folder_that_does_not_hold_the_weights_is_an_error_that_says_what_to_do(
    model: Path, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(ModelError, match=r"m\.bin', outside the folder of the new model.*copy or embed"):
        clean(model).save(tmp_path / "there" / "out.onnx")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["here", "m.bin", "m.onnx", "there"]


def test_keep_in_the_folder_above_refers_down(model: Path, tmp_path: Path) -> None:
    clean(model).save(tmp_path / "out.onnx")
    assert entries(initializers(tmp_path / "out.onnx", load=False)["m"])["location"] == "here/m.bin"


def test_copy_writes_what_is_needed_next_to_the_model(model: Path, tmp_path: Path) -> None:
    clean(model).save(tmp_path / "out.onnx", external_data="copy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "out.onnx", "out.onnx.data"]
    after = initializers(tmp_path / "out.onnx", load=False)
    assert entries(after["m"])["location"] == "out.onnx.data"
    assert after["shape"].data_location == TensorProto.DEFAULT  # small: shapes depend on it
    # The kernel and the bias have less than 1024 bytes; the rest is at its old place of a page.
    assert BIG <= (tmp_path / "out.onnx.data").stat().st_size < BIG + 4096
    loaded = numpy_helper.to_array(initializers(tmp_path / "out.onnx")["m"])
    assert np.array_equal(loaded, numpy_helper.to_array(initializers(model)["m"]))


def test_copies_of_one_tensor_are_stored_once(model: Path, tmp_path: Path) -> None:
    proto = onnx.load(model, load_external_data=False)
    proto.graph.node.append(helper.make_node("MatMul", ["y", "m"], ["z"]))
    proto.graph.output[0].name = "z"
    onnx.save_model(proto, model)
    cleaned = clean(model, ["split_parameters"])
    assert cleaned.report.counts() == {"split_parameters": 1}
    cleaned.save(tmp_path / "out.onnx", external_data="copy")
    assert len(initializers(tmp_path / "out.onnx")) == 5
    assert BIG <= (tmp_path / "out.onnx.data").stat().st_size < BIG + 4096


def test_embed_leaves_one_file(model: Path, tmp_path: Path) -> None:
    clean(model).save(tmp_path / "out.onnx", external_data="embed")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "out.onnx"]
    assert all(t.data_location == TensorProto.DEFAULT for t in initializers(tmp_path / "out.onnx", load=False).values())


def test_more_than_2_gb_in_one_file_is_a_limit(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cleaned = clean(model)
    for module in (saving, model_files):
        monkeypatch.setattr(module, "MAX_PROTOBUF", BIG - 1)
    with pytest.raises(LimitError, match="copy or keep them"):
        cleaned.save(model.with_name("out.onnx"), external_data="embed")
    with pytest.raises(LimitError, match="copy them to a file of their own"):
        clean(network()).save(model.with_name("out.onnx"))
    clean(network()).save(model.with_name("out.onnx"), external_data="copy")
    assert entries(initializers(model.with_name("out.onnx"), load=False)["m"])["location"] == "out.onnx.data"


@pytest.mark.parametrize(("data", "target"), [("m.bin", "m.bin"), ("out.onnx.data", "out.onnx"), ("m.bin", "link")])
def test_no_file_is_overwritten_that_the_model_reads(tmp_path: Path, data: str, target: str) -> None:
    model = save_apart(tmp_path, data=data)
    (tmp_path / "link").symlink_to(tmp_path / data)
    before = (tmp_path / data).read_bytes()
    with pytest.raises(ModelError, match="the model reads its weights from this file"):
        clean(model).save(tmp_path / target, external_data="copy")
    assert (tmp_path / data).read_bytes() == before


def test_a_failed_copy_leaves_no_file(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FilePart, "chunks", failing)
    (tmp_path / "out.onnx").write_bytes(b"before")
    with pytest.raises(ModelError, match="No space left"):
        clean(model).save(tmp_path / "out.onnx", external_data="copy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "out.onnx"]
    assert (tmp_path / "out.onnx").read_bytes() == b"before"


# -- data that are not there


def test_weights_that_no_pass_needs_are_never_read(model: Path) -> None:
    """Without the data file, Identity is removed, and the weights stay where they are."""
    model.with_name("m.bin").unlink()
    cleaned = clean(model)
    assert cleaned.report.counts() == {"remove_identity": 1}
    assert [(item.pass_name, item.reason.partition(": ")[2]) for item in cleaned.report.skipped] == [
        ("fuse_bias_add", "its data file 'm.bin' is missing")
    ]
    cleaned.save(model.with_name("out.onnx"))
    assert entries(initializers(model.with_name("out.onnx"), load=False)["m"])["location"] == "m.bin"
    for external in ("copy", "embed"):
        with pytest.raises(ModelError, match=r"its data file 'm\.bin' is missing"):
            cleaned.save(model.with_name("other.onnx"), external_data=external)  # type: ignore[arg-type]
    assert sorted(path.name for path in model.parent.iterdir()) == ["m.onnx", "out.onnx"]


def test_only_the_weights_that_a_pass_needs_are_read(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: set[str] = set()
    original = weights.external_bytes

    def recording(tensor: ir.ExternalTensor) -> bytes:
        read.add(tensor.name)
        return original(tensor)

    monkeypatch.setattr(weights, "external_bytes", recording)
    clean(model).save(model.with_name("out.onnx"))
    assert "b" in read
    assert "m" not in read


@pytest.mark.parametrize("external", ["copy", "embed"])
def test_short_data_are_an_error(model: Path, external: ExternalData) -> None:
    with open(model.with_name("m.bin"), "r+b") as file:
        file.truncate(100)
    cleaned = clean(model)
    assert any("in 'm.bin', a file of 100 bytes" in item.reason for item in cleaned.report.skipped)
    with pytest.raises(ModelError, match=r"in 'm\.bin', a file of 100 bytes"):
        cleaned.save(model.with_name("out.onnx"), external_data=external)
    assert not model.with_name("out.onnx").exists()


@pytest.mark.parametrize("change", [{"offset": "-4"}, {"length": "8"}, {"offset": "99999999"}, {"offset": "many"}])
def test_entries_that_are_wrong_are_errors(model: Path, change: dict[str, str]) -> None:
    proto = onnx.load(model, load_external_data=False)
    tensor = next(tensor for tensor in proto.graph.initializer if tensor.name == "m")
    for entry in tensor.external_data:
        entry.value = change.get(entry.key, entry.value)
    onnx.save_model(proto, model)
    with pytest.raises(ModelError):
        clean(model).save(model.with_name("out.onnx"), external_data="embed")
    assert not model.with_name("out.onnx").exists()


def escapes(folder: Path) -> Iterator[str]:
    outside = folder.parent / "outside.bin"
    outside.write_bytes(bytes(BIG))
    (folder / "link.bin").symlink_to(outside)
    (folder / "up").symlink_to(folder.parent)
    yield from ("../outside.bin", str(outside), "link.bin", "up/outside.bin", "a/../../outside.bin", "a\0b")


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("kind", ["path", "message", "ir"])
def test_locations_outside_the_folder_are_refused(
    model: Path, number: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model.parent)
    location = list(escapes(model.parent))[number]
    proto = onnx.load(model, load_external_data=False)
    next(
        e for t in proto.graph.initializer if t.name == "m" for e in t.external_data if e.key == "location"
    ).value = location
    model.write_bytes(proto.SerializeToString())
    source = {"path": model, "message": proto}.get(kind) or ir.from_proto(proto)
    with pytest.raises(ModelError, match=r"outside the model's folder|not a path"):
        clean(source)


def test_the_folder_of_a_message_is_not_guessed(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder of the weights too: they belong to a file, and a message comes from none."""
    monkeypatch.chdir(model.parent)
    cleaned = clean(onnx.load(model, load_external_data=False), verify=True)
    assert cleaned.report.counts() == {"remove_identity": 1}
    assert cleaned.comparison is not None and "a folder that is unknown" in cleaned.comparison.refused
    with pytest.raises(ModelError, match="the folder of its data is unknown: read the model from its file"):
        cleaned.save("out.onnx", external_data="embed")


def test_hard_links_and_links_inside_the_folder_are_read(model: Path) -> None:
    os.link(model.with_name("m.bin"), model.with_name("again.bin"))
    model.with_name("m.bin").rename(model.with_name("data.bin"))
    model.with_name("m.bin").symlink_to("data.bin")
    assert clean(model, verify=True).report.counts() == {"remove_identity": 1, "fuse_bias_add": 1}


def test_values_of_constants_in_other_files(model: Path, tmp_path: Path) -> None:
    proto = onnx.load(model, load_external_data=False)
    tensors = [tensor for tensor in proto.graph.initializer if tensor.name == "m"]
    proto.graph.node.insert(0, helper.make_node("Constant", [], ["m"], value=tensors[0]))
    proto.graph.initializer.remove(tensors[0])
    model.write_bytes(proto.SerializeToString())
    cleaned = clean(model)
    assert cleaned.report.counts()["constant_to_initializer"] == 1
    cleaned.save(tmp_path / "out.onnx", external_data="copy")
    np.testing.assert_allclose(outputs(tmp_path / "out.onnx"), outputs(save_apart(tmp_path)), rtol=1e-5, atol=1e-5)
    clean(model, []).save(tmp_path / "same.onnx", external_data="embed")
    assert read_model(tmp_path / "same.onnx").graph.node(0).op_type == "Constant"


UNSORTED = """<ir_version: 8, opset_import: ["": 17]> g (bool c, float[n, 4] x) => (float[n, 4] y) {
    y = If(c) <then_branch = t () => (float[n, 4] a) { b = Abs(late) i = Identity(b) a = Relu(i) },
               else_branch = e () => (float[n, 4] a) { a = Identity(late) }>
    late = Sqrt(first)
    first = Identity(x)
}"""


def test_nodes_in_any_order_are_cleaned() -> None:
    """onnxruntime sorts the nodes of a graph; the checker of onnx, which accepts the result, does not."""
    before = onnx.parser.parse_model(UNSORTED)
    after = clean(before).to_proto()
    onnx.checker.check_model(after)
    assert [node.op_type for node in after.graph.node] == ["Sqrt", "If"]
    feeds = {"c": np.array(True), "x": np.random.default_rng(0).random((3, 4), np.float32)}
    runtime = pytest.importorskip("onnxruntime")
    real, expected = (runtime.InferenceSession(m.SerializeToString()).run(None, feeds) for m in (after, before))
    np.testing.assert_array_equal(real[0], expected[0])


def test_a_cycle_is_an_error() -> None:
    cycle = "g (float[n] x) => (float[n] y) { y = Add(x, z) z = Relu(y) }"
    with pytest.raises(ModelError, match="cycle"):
        clean(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {cycle}'))


def reads_missing_values(in_body: bool) -> bytes:
    """A model with a node, or a body with a node, that reads a value which does not exist; its name rings a bell."""
    node = helper.make_node("Identity", ["missing\a"], ["y"])
    if in_body:
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        body = helper.make_graph([node], "body", [], [y])
        node = helper.make_node("If", ["c"], ["z"], then_branch=body, else_branch=body)
    c = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    last = helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None)
    return bytes(helper.make_model(helper.make_graph([node], "g", [c], [last])).SerializeToString())


@pytest.mark.parametrize(("in_body", "message"), [(False, r"reads 'missing\x07'"), (True, "before it exists")])
def test_a_missing_value_is_one_error_and_no_log_of_a_library(in_body: bool, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(reads_missing_values(in_body))
    with pytest.raises(ModelError) as error:
        read_model(str(path))
    assert message in str(error.value)
    command = [sys.executable, "-m", "shapeinf", "clean", str(path), "-o", str(tmp_path / "out.onnx")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert message in run.stderr
    assert run.stderr.count("\n") == 1
    assert "\a" not in run.stderr
