"""The corpus of real models, and inputs for runs of them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.vectors import ROOT

TRUTHS = sorted(path for split in ("dev", "deep") for path in (ROOT / "models" / split).glob("*.truth.json"))
MAX_BYTES = 1 << 23
"""The largest model of the slice in bytes."""
MISSING = "the corpus does not exist: set SHAPEINF_CONFORMANCE to the folder that holds it"


def model_name(truth: Path) -> str:
    return truth.name.removesuffix(".truth.json")


def model_path(truth: Path) -> Path:
    return truth.with_name(f"{model_name(truth)}.onnx")


def corpus_cases(count: int) -> list[Any]:
    """The models of the corpus as parameters of a test; all but a random slice, the same in every run, are slow."""
    small = [path for path in TRUTHS if model_path(path).stat().st_size < MAX_BYTES]
    quick = random.Random(14).sample(small, min(count, len(small)))
    return [pytest.param(path, id=model_name(path), marks=[] if path in quick else pytest.mark.slow) for path in TRUTHS]


def runs(truth_path: Path) -> Iterator[tuple[Path, dict[str, int], dict[str, Any], int]]:
    """For each binding the model, the sizes, inputs that are indices or counts, and the number of tensors."""
    truth = json.loads(truth_path.read_text(encoding="utf-8"))
    for run, binding in enumerate(truth["bindings"]):
        yield model_path(truth_path), binding, _indices(truth, run), len(truth["tensors"])


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
