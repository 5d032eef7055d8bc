"""500 random models of a single operator in LiteRT: no wrong shape, and the same sizes refused."""

from __future__ import annotations

import pytest

from tests.opdefs.tflite.draws import DRAWINGS, draw_case
from tests.opdefs.tflite.graphs import compare
from tests.opdefs.tflite.litert import run

FIRST_SEED = 1000
SEEDS = 4


@pytest.mark.slow
def test_random_models_of_an_operator() -> None:
    pytest.importorskip("ai_edge_litert")
    cases = [draw_case(name, FIRST_SEED + seed) for name in DRAWINGS for seed in range(SEEDS)]
    assert len(cases) >= 500
    found = [(case, texts) for case, truth in zip(cases, run(cases), strict=True) if (texts := compare(case, truth))]
    assert found == []
