"""Outputs whose element type is not the one that the file states: some kernels set that of an operand."""

from __future__ import annotations

import json
import random

import attrs
import pytest

from opdefs.tflite.declared import TYPED, TYPED_BY_OPERAND
from shapeinf import infer_shapes
from tests.opdefs.tflite.case import Case
from tests.opdefs.tflite.draws import draw_case
from tests.opdefs.tflite.litert import build, run
from tests.opdefs.tflite.record import RECORDED

pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed: nothing is compared with it")
pytest.importorskip("flatbuffers", reason="flatbuffers is not installed: no file is built")

TABLE = json.loads(RECORDED.read_text(encoding="utf-8"))
OTHER = {"float32": "int32", "int32": "float32", "int64": "float32", "bool": "int8", "int8": "float32"}
QUICK = 2


def operators() -> list[object]:
    """All operators as parameters; all but a slice, the same in every run, are slow."""
    names = sorted(TYPED_BY_OPERAND | TYPED)
    quick = random.Random(34).sample(names, QUICK)
    return [pytest.param(name, marks=[] if name in quick else pytest.mark.slow) for name in names]


def misstated(name: str) -> list[Case]:
    """Models of an operator that run, in which the file states another type of all outputs."""
    seeds = [int(seed) for seed, truth in TABLE[name].items() if "outputs" in truth]
    cases = [draw_case(name, seed) for seed in seeds[:2]]
    return [attrs.evolve(case, outputs=tuple(OTHER.get(t, "float32") for t in case.outputs)) for case in cases]


@pytest.mark.parametrize("name", operators())
def test_the_type_is_that_of_the_kernel(name: str) -> None:
    cases = misstated(name)
    assert cases
    for case, truth in zip(cases, run(cases), strict=True):
        if "types" in truth:
            result = infer_shapes(build(case))
            assert [result.tensors[output].dtype for output in result.graph.outputs] == truth["types"]


def test_other_operators_keep_the_stated_type() -> None:
    [case] = [attrs.evolve(draw_case("MUL", 1), outputs=("int32",))]
    result = infer_shapes(build(case))
    assert [result.tensors[output].dtype for output in result.graph.outputs] == ["int32"] == next(run([case]))["types"]
