"""onnxruntime's quantizers and transformer optimizer, plain and with `patched`: what worked works, with equal numbers.

Each run is a process of its own with a temporary folder as its current one: the tools leave files there.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.vectors import PROJECT, ROOT

pytest.importorskip("onnxruntime")
pytest.importorskip("sympy")

CORPUS = sorted((ROOT / "models" / "dev").glob("*.onnx"))
CHOSEN = random.Random(35).sample(CORPUS, min(len(CORPUS), 60))
QUICK = {"gru.ts", "detr.ts+ortext"}
"""Models of the default run; onnxruntime's own inference of the second is incomplete."""
CHOSEN = sorted({*CHOSEN, *(path for path in CORPUS if path.stem in QUICK)})


def run(path: Path, folder: Path, *options: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The outcome of each tool, and the outputs of the models that they wrote."""
    folder.mkdir()
    truth, results = path.with_name(f"{path.stem}.truth.json"), folder / "results.npz"
    command = [sys.executable, "-m", "tests.compat.tool_runs", str(path), str(truth), str(results), *options]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
    if "ReorderOutput" in done.stderr:
        pytest.skip("the model is made for processors with other vectors")
    assert done.returncode == 0, done.stderr[-2000:]
    with np.load(results) as arrays:
        return json.loads(done.stdout), dict(arrays)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow) for path in CHOSEN]
    or [pytest.param(None, marks=pytest.mark.skip("the corpus is not there: set SHAPEINF_CONFORMANCE"))],
)
def test_tools(path: Path, tmp_path: Path) -> None:
    plain, expected = run(path, tmp_path / "plain")
    outcomes, results = run(path, tmp_path / "patched", "--patched")
    assert [name for name, outcome in outcomes.items() if outcome != "ok" and plain[name] == "ok"] == []
    assert outcomes["quant_pre_process"] == "ok"
    assert not list((tmp_path / "patched").glob("sym_shape_infer_temp*"))
    assert expected.keys() <= results.keys()
    for name, array in expected.items():
        if name.endswith("/number of nodes"):
            assert name != "optimize_model/number of nodes" or results[name] <= array  # not fewer fusions
        elif array.dtype.kind in "fc":
            np.testing.assert_allclose(results[name], array, rtol=1e-5, atol=1e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(results[name], array, err_msg=name)
