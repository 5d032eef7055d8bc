"""Which operators of onnxruntime share buffers: the table of others, and runs of three nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from shapeinf.runtime.allocation_counter import AllocationCounter, SessionOptions, counter_obstacle
from tests.memory.runtimes.kernel_cases import BINARY, UNARY
from tests.memory.runtimes.kernel_models import MS, NCHWC, kernels
from tests.vectors import need, vectors

NAME = "runtime_memory/inplace.json"
TABLE = vectors(NAME)
OPSET = 20
SHAPE = (64, 4, 64)
SECOND: dict[str, list[Any]] = {
    **{op: [np.ones(SHAPE, np.float32)] for op in BINARY},
    "Reshape": [np.array(SHAPE)],
    "ScatterElements": [np.zeros(SHAPE, np.int64), np.ones(SHAPE, np.float32)],
    "Max": [np.ones(SHAPE, np.float32)],
}
"""The constants after the first input."""
ATTRIBUTES: dict[str, dict[str, Any]] = {"Cast": {"to": 1}, "Transpose": {"perm": [0, 1, 2]}}
OTHERS = {
    *("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Size", "Shape", "Flatten", "TopK", "NonZero"),
    *("RandomNormalLike", "RandomUniformLike", "IsNaN", "IsInf"),
}
"""Operators whose output has another shape or another type than the input."""
SAME = sorted({*UNARY, *BINARY, "Cast", "Reshape", "ScatterElements", "Max", "Transpose"} - OTHERS)


@pytest.fixture(scope="module")
def counter() -> Iterator[AllocationCounter]:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: nothing can be measured")
    if counter_obstacle():
        pytest.skip(counter_obstacle())
    with AllocationCounter() as running:
        yield running


def chain(op: str) -> onnx.ModelProto:
    """A value that only `op` reads, its result, and a small result of that: at `op` one buffer lives, or two do."""
    constants = SECOND.get(op, [])
    names = [f"c{index}" for index in range(len(constants))]
    nodes = [
        helper.make_node("ReduceMax", ["x", "axis"], ["small"], keepdims=1),
        helper.make_node("Expand", ["small", "shape"], ["a"]),
        helper.make_node(op, ["a", *names], ["b"], **ATTRIBUTES.get(op, {})),
        helper.make_node("ReduceMax", ["b", "axis"], ["y"], keepdims=1),
    ]
    initializers = [
        *(numpy_helper.from_array(array, name) for name, array in zip(names, constants, strict=True)),
        numpy_helper.from_array(np.array([0, 1, 2]), "axis"),
        numpy_helper.from_array(np.array(SHAPE), "shape"),
    ]
    x = helper.make_tensor_value_info("x", 1, [1, 1, 1])
    y = helper.make_tensor_value_info("y", 1, None)
    shared = helper.make_tensor_value_info("a", 1, SHAPE)
    graph = helper.make_graph(nodes, "g", [x], [y], initializers, value_info=[shared])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


@pytest.mark.parametrize("op", SAME)
def test_an_operator_shares_its_buffer_as_the_rules_say(op: str, counter: AllocationCounter, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(chain(op), path)
    peak = counter.measure(str(path), {"x": np.ones((1, 1, 1), np.float32)}, SessionOptions(runs=2)).peaks[-1]
    size = 4 * int(np.prod(SHAPE))
    shares = kernels().find_in_place("", op, OPSET) == 0 or kernels().find_alias("", op, OPSET) == 0
    assert (peak < 1.5 * size) == shares, (peak, size)


def test_the_table_of_shared_buffers() -> None:
    need(TABLE, NAME)
    for op, position in TABLE["alias_always"].items():
        assert kernels().find_alias("", op, OPSET) == position
    for op in TABLE["may_inplace_input_to_output0"]["input 0"]:
        assert kernels().find_in_place("", op, OPSET) == 0
    for domain, op in ((MS, "FusedConv"), (NCHWC, "Conv")):
        assert f"{domain} {op}" in TABLE["may_inplace_input_to_output0"]["input 3"]
        assert kernels().find_in_place(domain, op, 1) == 3
    for op in TABLE["never_though_one_may_expect_it"]:
        for domain in ("", MS):
            assert kernels().find_in_place(domain, op, OPSET) is None
            assert kernels().find_alias(domain, op, OPSET) is None
