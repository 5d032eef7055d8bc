"""Floating-point operations of single operators against TensorFlow's profiler, and the conventions that differ."""

from __future__ import annotations

import json

import pytest

from shapeinf import infer_shapes
from tests.cost.record_tf import CALLS, RECORDED

COUNTS = json.loads(RECORDED.read_text(encoding="utf-8"))

CONVENTIONS = {
    # operator: the profiler's operations for ours, and why
    "L2Loss": (lambda ours: 3 * (ours // 2) - 1, "it adds a division for each element, and has one sum less"),
    "Rsqrt": (lambda ours: 2 * ours, "it counts a root and a division"),
    "Relu": (lambda ours: 0, "it has no formula for it"),
}


@pytest.mark.parametrize("name", CALLS)
def test_operations_are_those_of_the_profiler(name, tmp_path):
    for number, call in enumerate(COUNTS[name]):
        path = tmp_path / f"{number}.pbtxt"
        path.write_text(call["graph"], encoding="utf-8")
        (node,) = [node for node in infer_shapes(path).cost().nodes if node.name == "call"]
        expected, why = CONVENTIONS.get(name, (lambda ours: ours, ""))
        assert expected(node.flops) == call["flops"], why
