"""The arenas of single operators in TensorFlow Lite Micro, against what its interpreter allocates: `micro.json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from tests.memory.litert.record_micro import RECORDED, case_of
from tests.opdefs.tflite.litert import build
from tests.opdefs.tflite.record import RECORDED as RUNS

pytest.importorskip("ai_edge_litert", reason="its schema writes the models")

MICRO: dict[str, dict[str, list[int]]] = json.loads(RECORDED.read_text(encoding="utf-8"))
OUTPUTS = json.loads(RUNS.read_text(encoding="utf-8"))

OPEN = {"LOG_SOFTMAX"}
"""Operators whose persistent memory is not known."""


@pytest.mark.parametrize("name", MICRO)
def test_the_arena_of_an_operator(name: str, tmp_path: Path) -> None:
    for seed, measured in MICRO[name].items():
        path = tmp_path / f"{seed}.tflite"
        path.write_bytes(build(case_of(name, int(seed), OUTPUTS[name][seed]["outputs"])))
        found = infer_shapes(path).memory(runtime="tflite-micro").at()
        assert found.at_least == (name in OPEN), seed
        assert found.head == measured[0] and (found.tail == measured[1] or name in OPEN), seed
