"""The arena of ExecuTorch, against what ExecuTorch 1.5.1 planned: `executorch_programs.json`.

`tools/make_executorch_programs.py` wrote the file. An ONNX model with the same nodes, tensors and views stands for each
program; its operators are unknown, and the types of all values are declared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from shapeinf import infer_shapes
from shapeinf.errors import MissingSizeError, ShapeInferenceError
from shapeinf.memory.planning import Request
from shapeinf.memory.runtimes.executorch.algorithms import greedy, naive
from shapeinf.memory.runtimes.executorch.arena_memory import ArenaMemory
from shapeinf.memory.runtimes.executorch.options import ExecuTorchOptions
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions

PROGRAMS = json.loads((Path(__file__).parent / "executorch_programs.json").read_text(encoding="utf-8"))
NAMES = [program["name"] for program in PROGRAMS]
WHERE = [(True, True), (False, True), (True, False), (False, False)]
"""Whether inputs, and outputs, are in the arena: the order of the recorded arenas."""
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def model_of(program: dict[str, Any]) -> onnx.ModelProto:
    """The ONNX model that stands for a program."""
    types = {
        name: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), dims)
        for name, (dtype, dims) in program["tensors"].items()
    }
    nodes = []
    for kind, reads, writes in program["nodes"]:
        view = kind == "view"
        nodes.append(
            helper.make_node("Reshape", [reads[0], "flat"], writes, writes[0])
            if view
            else helper.make_node("Kernel", reads, writes, writes[0], domain="com.example")
        )
    ends = {*program["inputs"], *program["outputs"]}
    graph = helper.make_graph(
        nodes,
        "program",
        [types[name] for name in program["inputs"]],
        [types[name] for name in dict.fromkeys(program["outputs"])],
        [numpy_helper.from_array(np.array([-1]), "flat")],
        value_info=[info for name, info in types.items() if name not in ends],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)])


def arena_of(text: str, **options: Any) -> ArenaMemory:
    """The memory of a model in the text form of ONNX."""
    model = onnx.parser.parse_model(HEAD + text)
    return infer_shapes(model).memory(runtime="executorch", options=ExecuTorchOptions(**options))


@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
@pytest.mark.parametrize("algorithm", ["greedy", "naive"])
def test_arenas_are_those_of_executorch(program: dict[str, Any], algorithm: Any) -> None:
    result = infer_shapes(model_of(program), dims={name: tuple(ends) for name, ends in program["ranges"].items()})
    arenas = []
    for inputs, outputs in WHERE:
        options = ExecuTorchOptions(algorithm, inputs=inputs, outputs=outputs)
        memory = result.memory(runtime="executorch", options=options)
        plan = memory.plan()
        arenas.append(plan.arena)
        assert not plan.unplaced and not memory.verify_plan(plan)
    assert arenas == program["arenas"][algorithm]


@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
def test_offsets_are_those_of_executorch(program: dict[str, Any]) -> None:
    result = infer_shapes(model_of(program), dims={name: tuple(ends) for name, ends in program["ranges"].items()})
    memory = result.memory(runtime="executorch")
    slots = {slot.name: slot for slot in memory.plan().slots}
    owner = {value: buffer.name for buffer in memory.timeline.buffers for value in buffer.values}
    assert set(owner) >= set(program["offsets"])
    for name, offset in program["offsets"].items():
        assert slots[owner[name]].offset == offset, name


def test_our_planner_needs_as_much_for_a_unet_and_less_for_attention() -> None:
    arenas = {}
    for name in ("unet", "attention"):
        memory = infer_shapes(model_of(PROGRAMS[NAMES.index(name)])).memory(runtime="executorch")
        arenas[name] = memory.plan().arena, memory.plan(planner="best").arena
    assert arenas["unet"] == (131_072, 131_072)
    assert arenas["attention"][1] < arenas["attention"][0]


def test_the_arena_of_a_graph_lies_behind_those_of_its_bodies() -> None:
    """Recorded from `torch.cond`: the offsets of the main graph and of both branches, and an arena of 1296 bytes."""
    memory = arena_of(
        """g (float[4, 16] x, bool p) => (float[4, 16] w) {
          y = Relu(x)
          z = If(p) <
            then_branch = a () => (float[4, 16] a3) { a1 = Sigmoid(y) a2 = Add(a1, y) a3 = Tanh(a2) },
            else_branch = b () => (float[4, 16] b1) { b1 = Exp(y) }>
          n = Neg(z)
          w = Add(n, x)
        }"""
    )
    plan = memory.plan()
    offsets = {slot.name: slot.offset for slot in plan.slots}
    branches = {"z/a1": 0, "z/a2": 256, "z/a3": 0, "z/b1": 0}
    assert offsets == {"x": 1024, "p": 1280, "y": 768, "z": 512, "n": 768, "w": 512, **branches}
    assert plan.arena == 1296 and not memory.verify_plan(plan)


def test_the_slices_of_a_scan_are_in_the_arena_of_its_body() -> None:
    memory = arena_of(
        """g (float[3, 8] x) => (float[3, 8] y) {
          y = Scan <num_scan_inputs = 1, body = b (float[8] s) => (float[8] t) { r = Relu(s) t = Exp(r) }> (x)
        }"""
    )
    assert {slot.name: slot.size for slot in memory.plan().slots} == {"x": 96, "y": 96, "y/s": 32, "y/r": 32, "y/t": 32}


def test_only_reshaped_values_share_storage() -> None:
    memory = arena_of(
        """g (float[4, 6] x) => (float[24] z) {
          a = Relu(x)
          shape = Constant <value_ints = [24]> ()
          b = Reshape(a, shape)
          axes = Constant <value_ints = [0]> ()
          c = Unsqueeze(b, axes)
          d = Squeeze(c, axes)
          z = Neg(d)
        }"""
    )
    assert [slot.name for slot in memory.plan().slots] == ["x", "a", "c", "d", "z"]


def test_sizes_are_at_the_upper_bound_of_each_dim() -> None:
    model = onnx.parser.parse_model(HEAD + "g (float[n, 4] x) => (float[n, 4] y) { y = Relu(x) }")
    memory = infer_shapes(model, dims={"n": (1, 5)}).memory(runtime="executorch")
    assert memory.plan().arena == 160 and memory.plan({"n": 3}).arena == 96


def test_a_dim_without_an_upper_bound_is_named() -> None:
    memory = arena_of("g (float[n, m] x) => (float[n, m] y) { y = Relu(x) }")
    with pytest.raises(MissingSizeError, match="no upper bound for m: ") as caught:
        memory.plan({"n": 3})
    assert caught.value.names == ("m",) and caught.value.bounds


def test_a_size_that_depends_on_data_has_its_upper_bound() -> None:
    memory = arena_of("g (float[4] x) => (int64[1, k] y) { y = NonZero(x) }")
    assert memory.plan()["y"].size == 32


def test_options_and_dialects_of_others_are_refused(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(HEAD + "g (float[4] x) => (float[4] y) { y = Relu(x) }")
    with pytest.raises(ShapeInferenceError, match="the options of executorch are ExecuTorchOptions"):
        infer_shapes(model).memory(runtime="executorch", options=OnnxRuntimeOptions())  # type: ignore[call-overload]
    network = tmp_path / "graph.nnef"
    network.write_text("version 1.0; graph g(x) -> (y) { x = external(shape = [2]); y = relu(x); }", encoding="utf-8")
    with pytest.raises(ShapeInferenceError, match="executorch runs no models of the dialect 'nnef'"):
        infer_shapes(network).memory(runtime="executorch")


def test_a_free_segment_is_preferred_to_room_in_another() -> None:
    """By hand: c begins the first segment, d the second, b is where c is not yet, and a where d is not yet."""
    requests = [Request("a", 0, 2, 16), Request("b", 1, 3, 16), Request("c", 3, 5, 48), Request("d", 3, 4, 16)]
    assert greedy(requests, 16) == ([48, 0, 0, 48], 64)
    assert naive(requests, 16) == ([0, 16, 32, 80], 96)
