"""No check reports an error or a warning for the models of the corpus, even if the user bounds their dims."""

from __future__ import annotations

from typing import Any

import pytest

from shapeinf.checks import check_files
from tests.vectors import ROOT

MODELS = ROOT / "models" / "dev"
DECODERS = sorted(map(str, MODELS.glob("*_past*.onnx")))
"""Decoders with a cache, whose mask must be as long as past and tokens together: no declared dim states that."""


@pytest.mark.skipif(not DECODERS, reason="the corpus of models is not there")
@pytest.mark.parametrize("assumptions", [{"dims": {"batch": "1..8"}}, {"bind": {"batch": 1}}])
def test_decoders_with_a_bounded_batch_have_no_findings(assumptions: dict[str, Any]) -> None:
    checks = check_files(DECODERS, **assumptions)
    assert [check.path for check in checks if check.fails] == []


@pytest.mark.slow
@pytest.mark.skipif(not DECODERS, reason="the corpus of models is not there")
@pytest.mark.parametrize("assumptions", [{}, {"min_dim": 0}, {"dims": {"batch": "1..8", "seq": "1..64"}}])
def test_no_model_has_findings(assumptions: dict[str, Any]) -> None:
    checks = check_files(str(MODELS), **assumptions)
    assert len(checks) > 100 and [check.path for check in checks if check.fails] == []
