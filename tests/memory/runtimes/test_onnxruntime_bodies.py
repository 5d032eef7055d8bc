"""Random models with loops, scans and branches in each other: predicted and measured bytes of sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
from shapeinf.runtime.allocation_counter import AllocationCounter, SessionOptions, counter_obstacle
from shapeinf.runtime.protocol import Refusal
from tests.differential.random_graphs import bodies

QUICK = (3, 16, 28, 31)
SLOW = (*range(60), 86, 134, 159, 219, 259, 268, 301, 417)
DIMS = (32, 24)
ROUNDING = 512
"""Bytes that a prediction may be below: blocks are multiples of 256."""


@pytest.fixture(scope="module")
def counter() -> Iterator[AllocationCounter]:
    if obstacle := counter_obstacle():
        pytest.skip(obstacle)
    with AllocationCounter(timeout=60) as counter:
        yield counter


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[] if seed in QUICK else pytest.mark.slow) for seed in sorted({*QUICK, *SLOW})]
)
@pytest.mark.parametrize("level", ["off", pytest.param("all", marks=pytest.mark.slow)])
def test_a_random_model_with_bodies(seed: int, level: str, counter: AllocationCounter, tmp_path: Path) -> None:
    """No prediction is below the measured bytes, and one that is no bound is within 2 %."""
    model, path = bodies.drawn(seed), tmp_path / "model.onnx"
    onnx.save(model, path)
    rng = np.random.default_rng(seed)
    every = {name: rng.standard_normal(DIMS).astype(np.float32) for name in ("x", "z")}
    every |= {"n": np.array(rng.integers(0, 5)), "flag": np.array(rng.random() < 0.5)}
    arrays = {value.name: every[value.name] for value in model.graph.input}
    sessions = [
        SessionOptions(optimized=level == "all", pattern=pattern, runs=1 + pattern) for pattern in (False, True)
    ]
    try:
        plain, recorded = counter.measure_all(str(path), arrays, sessions)
    except Refusal as refusal:
        pytest.skip(f"onnxruntime does not run it: {refusal}")
    values = {name: every[name].item() for name in ("n", "flag") if name in arrays}
    result = infer_shapes(path, bind={"a": DIMS[0], "b": DIMS[1], "c": DIMS[0]}, values=values)
    run = result.memory(runtime="onnxruntime", options=OnnxRuntimeOptions(optimize=level)).at()  # type: ignore[arg-type]
    predicted = (run.first.bytes, run.first_with_blocks, run.later)
    for bytes_, measured in zip(predicted, (*plain.peaks, *recorded.peaks), strict=True):
        assert run.first.at_least or bytes_ >= measured - min(ROUNDING, measured // 100)
        assert run.first.at_most or bytes_ <= max(measured * 1.02, measured + ROUNDING)
