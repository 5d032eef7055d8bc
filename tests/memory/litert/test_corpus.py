"""The arenas of LiteRT and TensorFlow Lite Micro for real files, against `tflite/arena.json`, where these are there.

Most arenas are exact to the byte; all are within 2 %. `approx` marks one that was measured to some bytes only.
"""

from __future__ import annotations

import json
import lzma
import random
from typing import Any

import pytest

from shapeinf import infer_shapes
from shapeinf.formats.tflite.reader import read
from shapeinf.result import Result
from tests.vectors import ROOT

FOLDER = ROOT / "tflite"
ARENAS: dict[str, Any] = (
    json.loads((FOLDER / "arena.json").read_text(encoding="utf-8")) if (FOLDER / "arena.json").is_file() else {}
)
TAILS = {"mltk_keyword_spotting_mobilenetv2": 16, "mww_okay_nabu": 64}
"""The bytes by which the tail may differ, for the order in which kernels take blocks of several sizes."""
QUICK = 8
missing = pytest.mark.skipif(not ARENAS, reason="the arenas do not exist: set SHAPEINF_CONFORMANCE to their folder")


def cases() -> list[Any]:
    """All models as parameters; all but a slice, the same in every run, are slow."""
    quick = random.Random(34).sample(sorted(ARENAS), min(QUICK, len(ARENAS)))
    return [pytest.param(name, marks=[] if name in quick else pytest.mark.slow) for name in ARENAS] or ["none"]


def inferred(name: str, run: dict[str, Any]) -> Result:
    """The result at the sizes of a run."""
    graph = read(lzma.decompress((FOLDER / "dev" / f"{name}.tflite.xz").read_bytes()))
    keys = {tuple(map(int, key.split(":"))): dims for key, dims in run["inputs"].items()}
    sizes = {graph.model.names[key]: dims for key, dims in keys.items()}
    return infer_shapes(graph, inputs={value: dims for value, dims in sizes.items() if value in graph.inputs})


@missing
@pytest.mark.parametrize("name", cases())
def test_arenas(name: str) -> None:
    for run in ARENAS[name]["runs"]:
        result = inferred(name, run)
        if "litert" in run:
            arenas, measured = result.memory(runtime="litert").at(), run["litert"]
            slack = 64 if "approx" in measured else 0
            assert arenas.allocated == pytest.approx(measured["arena_after_allocate"], abs=slack)
            assert arenas.arena == pytest.approx(measured["arena_after_invoke"], abs=slack)
        if "tflm" in run:
            arena = result.memory(runtime="tflite-micro").at()
            assert arena.head == run["tflm"]["head"]
            assert arena.tail == pytest.approx(run["tflm"]["tail"], abs=TAILS.get(name, 0))


@missing
@pytest.mark.slow
def test_most_arenas_with_the_default_delegate() -> None:
    exact = total = 0
    for name, model in ARENAS.items():
        for run in model["runs"]:
            if "litert_xnnpack" in run:
                found = inferred(name, run).memory(runtime="litert-xnnpack").at().allocated
                exact += found == run["litert_xnnpack"]["arena_after_allocate"]
                total += 1
    assert exact >= 0.85 * total
