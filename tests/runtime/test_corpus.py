"""Every model of the corpus that onnxruntime runs has the inferred shapes, at the sizes of its reference data."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapeinf.runtime import verify
from tests.runtime.corpus import MISSING, TRUTHS, corpus_cases, runs

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: nothing can be verified")


@pytest.mark.skipif(not TRUTHS, reason=MISSING)
@pytest.mark.parametrize("path", corpus_cases(12))
def test_every_tensor_has_its_inferred_type(path: Path) -> None:
    for model, binding, arrays, tensors in runs(path):
        verification = verify(model, at=[binding], arrays=arrays)
        assert verification.ok, str(verification)
        assert verification.runs[0].tensors >= tensors, "not all tensors were compared"
        assert verification.runs[0].unknown == 0, "an element type or a rank is not known"


def test_the_corpus_is_not_empty() -> None:
    if not TRUTHS:
        pytest.skip(MISSING)
    assert len(TRUTHS) > 100
