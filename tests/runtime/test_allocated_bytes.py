"""A file with annotations needs no more memory in onnxruntime than the bare file; measured, not predicted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.formats.files import ANNOTATE
from shapeinf.runtime.allocation_counter import AllocationCounter, SessionOptions, counter_obstacle
from shapeinf.runtime.feeds import feeds
from tests.runtime.corpus import MISSING, TRUTHS, corpus_cases, runs
from tests.vectors import PROJECT

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: nothing can be measured")

TOLERANCE = 1.01
SMALL = 512
"""Bytes more that are no failure: vectors of a few numbers, whose static sizes cannot be written differently, wait."""

SESSIONS = {
    f"{level}, {'arena' if arena else 'plain'}": SessionOptions(optimized=level == "all", arena=arena)
    for level in ("off", "all")
    for arena in (False, True)
}

OTHER_MACHINE = {"resnet18.ts+ortall": "onnxruntime optimized it for blocks of channels of another processor"}


class Peaks:
    """The peaks of runs, by the options of sessions."""

    def __init__(self, counter: AllocationCounter) -> None:
        self.counter = counter

    def peaks(self, path: Path, arrays: dict[str, Any]) -> dict[str, int]:
        """The peak in bytes of one run, by the options of the session."""
        measured = self.counter.measure_all(str(path), arrays, list(SESSIONS.values()))
        return {name: allocations.peaks[0] for name, allocations in zip(SESSIONS, measured, strict=True)}


@pytest.fixture(scope="module")
def counter() -> Iterator[Peaks]:
    if counter_obstacle():
        pytest.skip(counter_obstacle())
    with AllocationCounter() as running:
        yield Peaks(running)


def inputs_at(path: Path, binding: dict[str, int], arrays: dict[str, Any]) -> dict[str, Any]:
    """Arrays for the inputs of a model at these sizes."""
    bound = infer_shapes(path, bind=binding)
    shapes = {name: tuple(int(str(d)) for d in bound.tensors[name].shape.require()) for name in bound.graph.inputs}
    return next(inputs for _, inputs in feeds(bound, shapes, arrays, seed=0))


def annotated(path: Path, folder: Path, annotate: Any) -> Path:
    """The model saved with annotations."""
    result = infer_shapes(path)
    target = folder / f"{annotate}.onnx"
    result.save(target, external_data="embed" if result.graph.external else None, annotate=annotate)
    return target


def larger_peaks(peaks: dict[str, int], bare: dict[str, int]) -> set[str]:
    """The options of sessions with which a file needs more memory than the bare one."""
    return {option for option in bare if peaks[option] > bare[option] * TOLERANCE + SMALL}


@pytest.mark.parametrize("name", ["convnet", "decoder"])
def test_an_example_with_annotations_needs_no_more_memory(name: str, counter: Peaks, tmp_path: Path) -> None:
    path = PROJECT / "examples" / f"{name}.onnx"
    sizes = {dim: 32 for dim in ("batch", "height", "width", "seq")}
    names = {str(d) for info in infer_shapes(path).tensors.values() for d in info.shape.require()}
    arrays = inputs_at(path, {dim: size for dim, size in sizes.items() if dim in names}, {})
    bare = counter.peaks(path, arrays)
    for annotate in ("chains", "io"):
        peaks = counter.peaks(annotated(path, tmp_path, annotate), arrays)
        assert not larger_peaks(peaks, bare), (annotate, peaks, bare)


def test_equal_texts_make_buffers_wait(counter: Peaks, tmp_path: Path) -> None:
    """Why equal dims have different texts: the planner keeps the buffer of `a`, while `large` lives, for `c`."""
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[n] x, int64[2] shape) => (float y) {
          s = Shape(x)
          first = ReduceSum<keepdims = 0>(x)
          a = Expand(first, s)
          second = ReduceSum<keepdims = 0>(a)
          large = Expand(second, shape)
          third = ReduceSum<keepdims = 0>(large)
          c = Expand(third, s)
          y = ReduceSum<keepdims = 0>(c)
        }"""
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    arrays = {"x": np.zeros(1 << 16, np.float32), "shape": np.array([1 << 8, 1 << 8], np.int64)}
    bare = counter.peaks(path, arrays)["off, plain"]
    files = {annotate: annotated(path, tmp_path, annotate) for annotate in ANNOTATE}
    peaks = {annotate: counter.peaks(file, arrays)["off, plain"] for annotate, file in files.items()}
    assert peaks["chains"] <= bare and peaks["io"] <= bare < peaks["all"], (peaks, bare)


def test_in_place_chains_save_memory(counter: Peaks, tmp_path: Path) -> None:
    """The runtime cannot infer that `d` and `e` have one shape; the file declares it."""
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[n, 4] x) => (float y) {
          s = Shape(x)
          first = ReduceSum<keepdims = 0>(x)
          d = Expand(first, s)
          e = Relu(d)
          y = ReduceSum<keepdims = 0>(e)
        }"""
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    arrays = {"x": np.zeros((1 << 14, 4), np.float32)}
    bare, chains = (counter.peaks(file, arrays)["off, plain"] for file in (path, annotated(path, tmp_path, "chains")))
    assert chains < 0.6 * bare


@pytest.mark.skipif(not TRUTHS, reason=MISSING)
@pytest.mark.parametrize("truth", corpus_cases(6))
def test_a_real_model_with_annotations_needs_no_more_memory(truth: Path, counter: Peaks, tmp_path: Path) -> None:
    """Without an arena, whose regions double: a larger one may be needed by a different order of the same sizes."""
    reason = OTHER_MACHINE.get(truth.name.removesuffix(".truth.json"))
    for path, binding, arrays, _ in runs(truth):
        inputs = inputs_at(path, binding, arrays)
        bare = counter.peaks(path, inputs) if reason is None else pytest.skip(reason)
        peaks = counter.peaks(annotated(path, tmp_path, "chains"), inputs)
        assert not {option for option in larger_peaks(peaks, bare) if "arena" not in option}, (peaks, bare)
