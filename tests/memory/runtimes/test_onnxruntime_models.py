"""Models that others measured in onnxruntime 1.32: peaks, later runs, regions of the arena, held bytes."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterator
from typing import Any

import pytest

from shapeinf import Result, infer_shapes
from shapeinf.errors import UnknownNameError
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
from shapeinf.memory.runtimes.onnxruntime.session_memory import RunAt
from tests.vectors import ROOT

FOLDER, MODELS = ROOT / "runtime_memory", ROOT / "models" / "dev"
DATA_DEPENDENT = {"if_shapes.os.onnx": "data choose the branch: the peak is that of the larger one"}
VALUES = {"loop_decoder.os.onnx": {"steps": 6}}
"""The values of inputs in the measured runs: the number of trips of a loop."""
OTHERWISE = {
    "resnet18.ts+qdq.onnx all": "the number of channels in the blocked layout depends on the processor",
}
"""Rows whose peak is an upper bound."""


def rows(optimization: str) -> Iterator[Any]:
    import json

    for path in sorted((FOLDER / "dev").glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
            if not row["annotated"] and row["optimization"] == optimization and row["file"] not in DATA_DEPENDENT:
                yield pytest.param(row, id=f"{row['file']} {optimization}")


def sizes_of(row: Any) -> dict[str, int]:
    """The sizes of a row; a mask over a cache is as long as the cache and the new tokens."""
    sizes = dict(row["binding"])
    return {**sizes, "past_seq": sizes["past"] + sizes["seq"]} if "past" in sizes else sizes


def infer_bound(row: Any) -> tuple[Result, dict[str, int]]:
    path, sizes = MODELS / row["file"], sizes_of(row)
    values = VALUES.get(row["file"])
    try:
        return infer_shapes(path, bind=sizes, values=values), sizes
    except UnknownNameError:  # a model with a cache and no mask
        sizes.pop("past_seq")
        return infer_shapes(path, bind=sizes), sizes


def run_of(row: Any, options: OnnxRuntimeOptions | None = None) -> RunAt:
    result, sizes = infer_bound(row)
    return result.memory(runtime="onnxruntime", options=options).at(sizes)


def check_peak(run: RunAt, row: Any) -> None:
    if f"{row['file']} {row['optimization']}" in OTHERWISE:
        assert run.first.bytes > row["measured_peak"] and run.first.at_most
    else:
        assert run.first.bytes == row["measured_peak"]


PLAIN = [row for row in rows("off") if row.values[0]["order"] != "order of the optimized file"]
"""Models that a session with all optimizations off runs as they are."""


@pytest.mark.skipif(not PLAIN, reason="the vectors of runtimes are missing")
def test_there_are_vectors() -> None:
    assert len(PLAIN) > 60


def sample(parameters: list[Any], count: int) -> list[Any]:
    """Some of the rows in every run, the others as slow tests."""
    chosen = set(random.Random(32).sample(range(len(parameters)), min(count, len(parameters))))
    return [
        p if i in chosen else pytest.param(*p.values, id=p.id, marks=pytest.mark.slow) for i, p in enumerate(parameters)
    ]


@pytest.mark.parametrize("row", sample(PLAIN, 12))
def test_the_peak_of_a_model_without_optimizations(row: Any) -> None:
    run = run_of(row)
    check_peak(run, row)
    assert run.first.at_least == any(buffer.role != "weight" for buffer in run.unknown)


OTHER_LATER = {
    "gpt2.dyn.onnx": "the first run with a pattern takes one region more",
    "hubert.dyn.onnx": "a size that depends on data has its upper bound",
    "mobilenetv3.dyn.onnx": "the session replaces functions, which its optimized model shows",
    "resnet18.ts+qop.onnx": "a kernel takes its packed weights from the arena when the session is created",
    "unet_transpose.dyn.onnx": "a kernel takes its packed weights from the arena when the session is created",
}
"""Models whose later runs or regions are not predicted, with the reason where it is known."""
LATER = [row for row in PLAIN if row.values[0]["file"] not in OTHER_LATER]


@pytest.mark.parametrize("row", sample(LATER, 8))
def test_later_runs_and_the_arena(row: Any) -> None:
    run = run_of(row)
    assert run.later == row["pattern_peak_run2_no_arena"]
    assert [list(run.first_regions or ()), list(run.later_regions or ())] == row["default_regions_run1_then_run2"]
    assert run.held == row["held_after_creation"]


OPTIMIZED = [*rows("ext"), *rows("all")]
LEVELS = {"ext": "extended", "all": "all"}


@pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="onnxruntime is not installed")
@pytest.mark.parametrize("row", sample(OPTIMIZED, 6))
def test_the_peak_of_an_optimized_model(row: Any) -> None:
    check_peak(run_of(row, OnnxRuntimeOptions(optimize=LEVELS[row["optimization"]])), row)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "formula", "measured"),
    [("bare", "2048*batch*seq", 16_777_216), ("annotated", "2560*batch*seq", 20_971_520)],
)
def test_declared_shapes_may_cost_memory(name: str, formula: str, measured: int) -> None:
    """Equal names of dims let a session keep a buffer for a later value, in use when nothing needs it."""
    path = FOLDER / "annotation_raises_peak" / f"{name}.onnx"
    if not path.exists():
        pytest.skip("the vectors of runtimes are missing")
    memory = infer_shapes(path).memory(runtime="onnxruntime")
    run = memory.at(batch=64, seq=128)
    assert str(memory.peak) == formula and run.first.bytes == measured
    assert sum(size for _, size in run.idle) == (0 if name == "bare" else 2 * 1024 * 64 * 128)
