"""Peaks of models: the one of the issue by its numbers, others against the totals of all moments added up."""

import random

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.algebra import Dimension, evaluate
from shapeinf.errors import Contradiction
from tests.conformance.conftest import ROOT

KV = ROOT / "memory" / "kv.onnx"
MODELS = sorted((ROOT / "models" / "dev").glob("*.onnx"))
SLICE = set(random.Random(2).sample(MODELS, min(8, len(MODELS))))
PAST, SEQ = "past_sequence_length", "sequence_length"


def cases():
    if not MODELS:
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{ROOT}/models/dev is not there"))]
    return [pytest.param(path, id=path.stem, marks=() if path in SLICE else pytest.mark.slow) for path in MODELS]


@pytest.fixture(params=[0, 1], ids=["dims may be 0", "dims are at least 1"])
def kv(request):
    if not KV.exists():
        pytest.skip(f"{KV} is not there: set SHAPEINF_CONFORMANCE to the folder that holds it")
    return infer_shapes(str(KV), min_dim=request.param).memory().peak


def test_the_cache_of_the_issue(kv):
    ranges = {"b": 1, PAST: (0, 4095), SEQ: (1, 4096)}
    related, free = kv.over(ranges, assume=f"{PAST} + {SEQ} <= 4096"), kv.over(ranges)
    assert (related.value, related.tight, related.engine) == (135_266_304, True, "isl")
    assert (free.value, free.tight, free.engine) == (270_499_584, True, "exact")
    assert related.moment.op == free.moment.op == "Softmax"
    assert [b.name for b, _ in kv.at(related.sizes).alive] == ["sc", "pr", "kv"]


def test_of_no_past_at_all(kv):
    assert kv.at({"b": 1, PAST: 0, SEQ: 4096}).bytes == 135_266_304
    assert kv.largest(SEQ, 135_266_304, {"b": 1, PAST: 0}).value == 4096
    assert [(r.first, r.last) for r in kv.regions(PAST, {"b": 1, SEQ: 8, PAST: (0, 0)})] == [(0, 0)]


@pytest.mark.parametrize("path", cases())
def test_no_moment_of_a_corpus_model_needs_more(path):
    """Where no size depends on data, the peak is the largest total; else it is never below it."""
    result = infer_shapes(str(path))
    memory = result.memory()
    known = [b for b in memory.timeline.buffers if b.role in ("activation", "output") and b.size is not None]
    symbols = sorted({s for b in known if isinstance(b.size, Dimension) for s in b.size.symbols()}, key=str)
    draw = random.Random(path.stem)
    for _ in range(40):
        point = {}
        for symbol in symbols:
            low, high = result.interval(symbol).lo or 0, result.interval(symbol).hi
            largest = low + draw.choice((1, 9, 600))
            point[symbol.name] = draw.randint(low, largest if high is None else min(largest, high))
        try:
            found = memory.peak.at({s.name: point[s.name] for s in symbols if not s.symbol.anonymous})
        except Contradiction:
            continue
        totals = [0] * len(memory.timeline.moments)
        for buffer in known:
            if isinstance(buffer.size, int) or not buffer.size.is_anonymous:
                size = evaluate(buffer.size, point)
                for moment in range(buffer.birth, buffer.death):
                    totals[moment] += size
        assert found.bytes >= max(totals)
        if memory.peak.exact:
            assert found.bytes == max(totals) == totals[found.index]


def test_what_nodes_pick_is_at_most_all_of_it():
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
    pick (float[n, m] x) => (int64[2, k] where) { where = NonZero(x) }""")
    peak = infer_shapes(model).memory().peak
    assert (peak.at_most, peak.at_least) == (True, False)
    assert peak.at(n=3, m=5).bytes == 2 * 8 * 15
    assert peak.over(n=(1, 8), m=(1, 9)).value == 16 * 72
