"""The memory of files in LiteRT and TensorFlow Lite Micro: queries, notes, plans, files with offsets.

The expected bytes are those that LiteRT 2.3.0 and tflite-micro 0.dev20261023 allocate.
"""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import MissingSizeError, ModelError, ShapeInferenceError
from shapeinf.formats.tflite import TfliteOptions
from shapeinf.formats.tflite.document import read_document
from shapeinf.memory.runtimes.litert.options import LiteRtOptions
from shapeinf.memory.runtimes.tflite_micro.offline import METADATA
from tests.formats.tflite.files import WHILE, Node, Subgraph, Table, Tensor, options
from tests.memory.litert.models import dense, flattened, written

N = "x.shape[0]"


@pytest.mark.parametrize(("n", "arena"), [(1, 256), (3, 704), (63, 14144)])
def test_the_arena_at_sizes(tmp_path: Path, n: int, arena: int) -> None:
    memory = infer_shapes(str(dense(tmp_path))).memory(runtime="litert")
    found = memory.at({N: n})
    assert (found.allocated, found.arena, found.persistent, found.heap, found.at_least) == (arena, arena, 0, 0, False)
    plan = memory.plan({N: n})
    assert plan.arena == arena and not plan.unplaced and len(plan.slots) == 4


def test_sizes_are_needed(tmp_path: Path) -> None:
    memory = infer_shapes(str(dense(tmp_path))).memory(runtime="litert")
    with pytest.raises(MissingSizeError, match=r"x\.shape\[0\]"):
        memory.at()


@pytest.mark.parametrize(("n", "arena"), [(1, 136), (3, 392)])
def test_a_size_that_a_run_decides(tmp_path: Path, n: int, arena: int) -> None:
    memory = infer_shapes(str(flattened(tmp_path))).memory(runtime="litert")
    found = memory.at({N: n})
    assert (found.arena, found.heap) == (arena, 64 * n)
    assert "dynamic in LiteRT: the outputs of 3 (RESHAPE) get their sizes when they run" in memory.notes


def test_preserved_tensors_share_nothing(tmp_path: Path) -> None:
    result = infer_shapes(str(dense(tmp_path)))
    preserved = result.memory(runtime="litert", options=LiteRtOptions(sharing=False)).at({N: 1})
    assert preserved.arena >= result.memory(runtime="litert").at({N: 1}).arena


def test_a_delegate_keeps_inputs_and_outputs_in_the_arena(tmp_path: Path) -> None:
    memory = infer_shapes(str(dense(tmp_path))).memory(runtime="litert-xnnpack")
    assert memory.name == "litert-xnnpack" and memory.plan({N: 3}).arena == 128 + 192


@pytest.mark.parametrize(("n", "head"), [(1, 192), (3, 576)])
def test_micro(tmp_path: Path, n: int, head: int) -> None:
    found = infer_shapes(str(dense(tmp_path))).memory(runtime="tflite-micro").at({N: n})
    assert (found.head, found.tail, found.at_least) == (head, 1328, False)


def test_offsets_in_a_copy_of_the_file(tmp_path: Path) -> None:
    memory = infer_shapes(str(dense(tmp_path))).memory(runtime="tflite-micro")
    target = tmp_path / "offline.tflite"
    offline = memory.save_offline(target, {N: 3})
    assert offline.head == offline.greedy_head == 576
    document = read_document(target.read_bytes())
    [(name, buffer)] = document.metadata
    place = document.buffer_range(buffer)
    assert name == METADATA and place is not None
    start, length = place
    version, subgraph, count, *offsets = struct.unpack(f"<{length // 4}i", target.read_bytes()[start : start + length])
    assert (version, subgraph, count) == (1, 0, 8) and len(offsets) == 8
    assert [i for i, offset in enumerate(offsets) if offset >= 0] == [0, 3, 6, 7]
    assert document.subgraph(0).tensors[3].dims == (3, 16)
    again = infer_shapes(str(target)).memory(runtime="tflite-micro")
    again.save_offline(tmp_path / "again.tflite")
    assert len(read_document((tmp_path / "again.tflite").read_bytes()).metadata) == 1


def test_several_subgraphs_have_no_offsets(tmp_path: Path) -> None:
    body = Subgraph([Tensor("a", (4,))], [0], [0], [])
    condition = Subgraph([Tensor("a", (4,)), Tensor("c", (1,), "bool", data=b"\0")], [0], [1], [])
    main = Subgraph(
        [Tensor("x", (4,)), Tensor("y", (4,))],
        [0],
        [1],
        [Node(WHILE, [0], [1], options(93, Table({0: ("i", 1), 1: ("i", 2)})))],
    )
    memory = infer_shapes(str(written(tmp_path / "loop.tflite", main, condition, body))).memory(runtime="tflite-micro")
    with pytest.raises(ModelError, match="3 subgraphs"):
        memory.save_offline(tmp_path / "offline.tflite")


def test_models_of_other_formats_are_refused() -> None:
    import onnx

    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[n] x) => (float[n] y) { y = Relu(x) }'
    )
    for runtime in ("litert", "litert-xnnpack", "tflite-micro"):
        with pytest.raises(ShapeInferenceError, match="runs no models of the dialect"):
            infer_shapes(model).memory(runtime=runtime)


def test_the_interpreter_accepts_the_offsets(tmp_path: Path) -> None:
    runtime = pytest.importorskip("tflite_micro.python.tflite_micro.runtime")
    target = tmp_path / "offline.tflite"
    infer_shapes(str(dense(tmp_path))).memory(runtime="tflite-micro").save_offline(target, {N: 3})
    runtime.Interpreter.from_file(str(target), arena_size=1 << 16)


def test_a_member_of_an_archive_has_the_arena_of_its_file(tmp_path: Path) -> None:
    path = dense(tmp_path)
    archive = tmp_path / "models.task"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("first.tflite", path.read_bytes())
        file.write(path, "second.tflite")
    member = infer_shapes(str(archive), format_options=TfliteOptions(member="second.tflite"))
    for runtime in ("litert", "tflite-micro"):
        own = infer_shapes(str(path)).memory(runtime=runtime)
        assert str(member.memory(runtime=runtime).at({N: 2})) == str(own.at({N: 2}))
