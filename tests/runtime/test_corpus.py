"""Every model of the corpus that onnxruntime runs has the shapes that we say, at the sizes of its reference data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shapeinf.runtime import verify
from tests.conformance.conftest import ROOT

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: nothing can be verified")

TRUTHS = sorted(path for split in ("dev", "deep") for path in (ROOT / "models" / split).glob("*.truth.json"))
EVERY = 9
"""The slice of the normal run: each ninth model; all of them are slow."""

CASES = [
    pytest.param(path, id=path.name.removesuffix(".truth.json"), marks=[] if i % EVERY == 0 else pytest.mark.slow)
    for i, path in enumerate(TRUTHS)
]


def indices(truth: dict[str, Any], run: int) -> dict[str, Any]:
    """Inputs that are indices or counts, within the bounds of the reference data."""
    rng = np.random.default_rng(run)
    found = {}
    for made in truth["generator"]:
        if made["kind"] in ("int", "scalar_int"):
            given = truth["inputs"][made["name"]]
            array = rng.integers(made["lo"], made["hi"], given["shapes"][run])
            found[made["name"]] = np.asarray(array).astype(given["dtype"])
    return found


@pytest.mark.skipif(not TRUTHS, reason="the corpus is not there: set SHAPEINF_CONFORMANCE to the folder that holds it")
@pytest.mark.parametrize("path", CASES)
def test_every_tensor_is_what_a_run_makes(path: Path) -> None:
    truth = json.loads(path.read_text(encoding="utf-8"))
    model = path.with_name(path.name.replace(".truth.json", ".onnx"))
    for run, binding in enumerate(truth["bindings"]):
        found = verify(model, at=[binding], arrays=indices(truth, run))
        assert found.ok, str(found)
        assert found.runs[0].tensors >= len(truth["tensors"]), "not all tensors were compared"
        assert found.runs[0].unknown == 0, "an element type or a rank is not known"


def test_the_corpus_has_a_slice_for_every_run() -> None:
    if not TRUTHS:
        pytest.skip("the corpus is not there: set SHAPEINF_CONFORMANCE to the folder that holds it")
    assert len(TRUTHS) > 100
