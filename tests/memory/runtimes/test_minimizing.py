"""The options of `save(minimize_memory=...)`, and what it says of the memory of a file."""

from __future__ import annotations

from pathlib import Path
from random import Random

import attrs
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import infer_shapes
from shapeinf.engine.compiled import CompiledGraph
from shapeinf.errors import Contradiction, ShapeInferenceError, UnknownNameError
from shapeinf.formats.minimized import MinimizedMemory, RunBytes
from shapeinf.memory.runtimes.onnxruntime.file_orders import file_order
from tests.memory.runtimes.test_onnxruntime_laws import graphs
from tests.vectors import PROJECT

MODEL = '<ir_version: 8, opset_import: ["": 17]> g (float[n] x) => (float[n] y) { a = Exp(x)  y = Relu(a) }'
MEMORY = MinimizedMemory(
    "onnxruntime",
    True,
    "",
    ({"batch": 8, "seq": 64}, {"batch": 1, "seq": 1}),
    RunBytes(3 << 20, 4 << 20),
    RunBytes(4 << 20, 4 << 20),
    False,
    "chains",
    False,
)


def test_the_text_states_the_gain_and_for_which_sizes_it_holds() -> None:
    first, second = str(MEMORY).splitlines()
    assert first == (
        "onnxruntime needs 3 MiB at batch=8, seq=64 (bare file 4 MiB, -25 %), in later runs 4 MiB (as the bare file)"
    )
    held = "no first run{} needs more than with the bare file"
    assert second == f"predicted for a session with all optimizations: {held.format(' at 2 choices of sizes')}"
    assert held.format(" at any size") in str(attrs.evolve(MEMORY, proven=True))
    assert held.format(" at these sizes") in str(attrs.evolve(MEMORY, sizes=MEMORY.sizes[:1]))
    assert held.format("") in str(attrs.evolve(MEMORY, sizes=({},)))
    assert "predicted for the model as it is (why): " in str(attrs.evolve(MEMORY, optimized=False, cause="why"))
    small = attrs.evolve(MEMORY, file=RunBytes((4 << 20) - 4096, 4 << 20))
    assert "-0.1 %" in str(small)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"minimize_memory": "openvino"}, UnknownNameError, "onnxruntime"),
        ({"minimize_memory": "onnxruntime", "annotate": "all"}, ShapeInferenceError, "annotate has no effect"),
        ({"minimize_memory": "onnxruntime", "sizes": {"m": 1}}, UnknownNameError, "'m'"),
        ({"minimize_memory": "onnxruntime", "sizes": {"n": -1}}, ShapeInferenceError, "-1"),
        ({"sizes": {"n": 1}}, ShapeInferenceError, "sizes have no effect"),
    ],
)
def test_wrong_options(options: dict[str, object], error: type[Exception], message: str, tmp_path: Path) -> None:
    target = tmp_path / "m.onnx"
    with pytest.raises(error, match=message):
        infer_shapes(onnx.parser.parse_model(MODEL)).save(target, **options)  # type: ignore[arg-type]
    assert not target.exists()


def test_sizes_that_contradict_the_model(tmp_path: Path) -> None:
    result = infer_shapes(onnx.parser.parse_model(MODEL), dims={"n": (1, 8)})
    with pytest.raises(Contradiction):
        result.save(tmp_path / "m.onnx", minimize_memory="onnxruntime", sizes={"n": 9})


def test_models_of_other_formats(tmp_path: Path) -> None:
    result = infer_shapes(PROJECT / "examples" / "squeezenet.nnef")
    with pytest.raises(ShapeInferenceError, match="for ONNX models"):
        result.save(tmp_path / "m.nnef", minimize_memory="onnxruntime")


@given(graphs(), st.randoms())
def test_an_order_of_a_file_is_topological(compiled: CompiledGraph, random: Random) -> None:
    names = [name for node in compiled.graph.nodes for name in node.outputs]
    ranks = {name: random.randrange(9) for name in names if random.random() < 0.8}
    order = file_order(compiled, ranks)
    assert sorted(order) == list(range(len(compiled.graph.nodes)))
    seen = {*compiled.graph.inputs}
    for index in order:
        node = compiled.graph.nodes[index]
        assert seen.issuperset(node.inputs)
        seen.update(node.outputs)
