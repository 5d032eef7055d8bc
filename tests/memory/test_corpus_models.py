"""Real models: at every program point the bytes of an independent account with the shapes of onnxruntime's runs.

The shapes of all tensors of three runs are stored next to each model.
"""

from __future__ import annotations

import json
import math
import random

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from tests.memory import independent
from tests.memory.storage import replay
from tests.vectors import ROOT

FOLDER = ROOT / "models" / "dev"
MODELS = sorted(path for path in FOLDER.glob("*.onnx") if path.with_suffix(".truth.json").exists())
SLICE = set(random.Random(6).sample(MODELS, min(8, len(MODELS))))
WIDTHS = {name: 32 for name in ("float32", "int32")} | {"int64": 64, "float64": 64, "float16": 16, "bool": 8}
WIDTHS |= {"int8": 8, "uint8": 8}


def cases():
    if not MODELS:
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{FOLDER} is not there"))]
    marks = {path: () if path in SLICE else pytest.mark.slow for path in MODELS}
    return [pytest.param(path, id=path.stem, marks=marks[path]) for path in MODELS]


def bytes_of(tensor, run):
    shapes = tensor.get("shapes")  # a sequence has none
    if tensor.get("dtype") not in WIDTHS or not shapes or shapes[run] is None:
        return None
    return WIDTHS[tensor["dtype"]] // 8 * math.prod(shapes[run])


def symbols_of_run(result, truth, run):
    """The sizes of a run: of named dims as bound, of unknown ones where they are an axis."""
    values = dict(truth["bindings"][run])
    for name, tensor in truth["tensors"].items():
        known = result.tensors[name].shape.dims if name in result.tensors else None
        for dim, real in zip(known or (), tensor.get("shapes", [()] * 9)[run] or (), strict=False):
            if not isinstance(dim, int) and dim.is_symbol:
                values.setdefault(dim.name, real)
    return values


@pytest.mark.parametrize("path", cases())
def test_the_totals_of_a_corpus_model(path):
    truth = json.loads(path.with_suffix(".truth.json").read_text(encoding="utf8"))
    graph = onnx.load(str(path), load_external_data=False).graph
    result = infer_shapes(str(path))
    timeline = result.memory().timeline
    outer = {name for node in graph.node for name in node.output} - independent.stored(graph)
    index_of = {node.name or next(o for o in node.output if o): index for index, node in enumerate(graph.node)}
    points = {index_of[m.node]: t for t, m in enumerate(timeline.points) if m.node in index_of}
    assert sorted(points) == list(range(len(graph.node)))
    outputs = {value.name for value in graph.output}
    last = {name: at for at, node in enumerate(graph.node) for name in independent.reads(node)}
    last |= dict.fromkeys(outputs, len(graph.node))
    producer_of = {name: at for at, node in enumerate(graph.node) for name in node.output if name in outer and name}
    counted = [b for b in timeline.buffers if b.role in ("activation", "output") and b.name in outer]
    for run in range(len(truth["bindings"])):
        values = symbols_of_run(result, truth, run)
        sizes = {name: bytes_of(tensor, run) for name, tensor in truth["tensors"].items()}
        for buffer in counted:
            missing = [s for s in getattr(buffer.size, "symbols", tuple)() if s.name not in values]
            if missing:  # an unknown size of a loop's result: there is nothing to compare
                assert all(s.symbol.anonymous for s in missing)
                sizes[buffer.name] = None
        wanted, actual = [0] * len(graph.node), [0] * len(graph.node)
        for name, at in producer_of.items():
            if sizes.get(name) is not None:
                for t in range(at, max(last.get(name, at), at) + 1):
                    if t < len(wanted):
                        wanted[t] += sizes[name]
        for buffer in counted:
            if sizes.get(buffer.name) is None:
                continue
            assert buffer.size is not None, f"{buffer.name} has no size: {buffer.cause}"
            size = evaluate(buffer.size, values)
            assert size == sizes[buffer.name], buffer
            for index, t in points.items():
                actual[index] += size if buffer.birth <= t < buffer.death else 0
        assert actual == wanted


@pytest.mark.parametrize("path", cases())
def test_shared_storage_of_a_corpus_model_is_never_read_after_it_was_overwritten(path):
    result = infer_shapes(str(path))
    base = result.memory().timeline
    for options in ({"aliases": True}, {"in_place": True}, {"aliases": True, "in_place": True}):
        replay(result, result.memory(**options).timeline, base)
