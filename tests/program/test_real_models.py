"""Real models: the shapes of all tensors, at all bindings at once, are those of runs in onnxruntime."""

from __future__ import annotations

import json
import random

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from tests.vectors import ROOT

FOLDER = ROOT / "models" / "dev"
MODELS = sorted(path for path in FOLDER.glob("*.onnx") if path.with_suffix(".truth.json").exists())
SLICE = set(random.Random(11).sample(MODELS, min(8, len(MODELS))))
KV = ROOT / "memory" / "kv.onnx"


def cases():
    if not MODELS:
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{FOLDER} is not there"))]
    marks = {path: () if path in SLICE else pytest.mark.slow for path in MODELS}
    return [pytest.param(path, id=path.stem, marks=marks[path]) for path in MODELS]


@pytest.mark.parametrize("path", cases())
def test_a_corpus_model(path):
    truth = json.loads(path.with_suffix(".truth.json").read_text(encoding="utf8"))
    result = infer_shapes(str(path))
    program = result.program()
    runs = truth["bindings"]
    sizes = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    for name, tensor in truth["tensors"].items():  # sizes that depend on data, where an axis is just that
        dims = result.tensors[name].shape.dims if name in result.tensors else None
        for axis, dim in enumerate(dims or ()):
            free = not isinstance(dim, int) and dim.is_symbol and dim.name in program.data_dependent
            if free and all(shape is not None for shape in tensor["shapes"]):
                sizes.setdefault(dim.name, np.array([shape[axis] for shape in tensor["shapes"]]))
    known = {*program.inputs, *program.data_dependent}
    actual = program({name: size for name, size in sizes.items() if name in known})
    ranked = set(actual)
    looked_at = 0
    for name, tensor in truth["tensors"].items():
        if name in ranked and all(shape is not None for shape in tensor["shapes"]):
            assert actual[name].tolist() == tensor["shapes"], name
            assert actual.elements(name).tolist() == [int(np.prod(shape)) for shape in tensor["shapes"]]
            looked_at += 1
    nodes = onnx.load(str(path), load_external_data=False).graph.node
    assert looked_at > len(nodes) // 2


@pytest.mark.skipif(not KV.exists(), reason=f"{KV} is not there")
def test_the_peaks_of_the_issue():
    dims = {"past_sequence_length": (0, 4095), "sequence_length": (1, 4096)}
    program = infer_shapes(str(KV), dims=dims, min_dim=0).program()
    actual = program(b=1, past_sequence_length=[0, 4095, 0], sequence_length=[4096, 4096, 1])
    assert actual.peak[:2].tolist() == [135_266_304, 270_499_584] and not actual.peak_at_least
    rng = np.random.default_rng(3)
    past = rng.integers(0, 4096, 2000)
    rest = 4096 - past
    seq = 1 + rng.integers(0, rest)
    assert program(b=1, past_sequence_length=past, sequence_length=seq).peak.max() <= 135_266_304
