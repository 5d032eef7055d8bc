"""The corpus of real models, and inputs for runs of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.conformance.conftest import ROOT

TRUTHS = sorted(path for split in ("dev", "deep") for path in (ROOT / "models" / split).glob("*.truth.json"))
MISSING = "the corpus is not there: set SHAPEINF_CONFORMANCE to the folder that holds it"


def model_name(truth: Path) -> str:
    return truth.name.removesuffix(".truth.json")


def runs(truth_path: Path) -> Iterator[tuple[Path, dict[str, int], dict[str, Any], int]]:
    """For each binding the model, the sizes, inputs that are indices or counts, and the number of tensors."""
    truth = json.loads(truth_path.read_text(encoding="utf-8"))
    model = truth_path.with_name(f"{model_name(truth_path)}.onnx")
    for run, binding in enumerate(truth["bindings"]):
        yield model, binding, _indices(truth, run), len(truth["tensors"])


def _indices(truth: dict[str, Any], run: int) -> dict[str, Any]:
    """Inputs that are indices or counts, within the bounds of the reference data."""
    rng = np.random.default_rng(run)
    arrays = {}
    for generator in truth["generator"]:
        if generator["kind"] in ("int", "scalar_int"):
            reference = truth["inputs"][generator["name"]]
            array = rng.integers(generator["lo"], generator["hi"], reference["shapes"][run])
            arrays[generator["name"]] = np.asarray(array).astype(reference["dtype"])
    return arrays
