"""Peaks of models: the one of the issue by its numbers, others against independent accounts (`accounts`)."""

import json
import random
from itertools import product

import onnx
import pytest

from shapeinf import infer_shapes
from tests.memory.accounts import Account
from tests.memory.test_corpus_models import bytes_of
from tests.vectors import ROOT

KV = ROOT / "memory" / "kv.onnx"
MODELS = sorted((ROOT / "models" / "dev").glob("*.onnx"))
SLICE = set(random.Random(2).sample(MODELS, min(8, len(MODELS))))
PAST, SEQ = "past_sequence_length", "sequence_length"


def cases(many, few):
    """All models in many ways, which is slow, and some of them in a few."""
    if not MODELS:
        return [pytest.param(None, 0, marks=pytest.mark.skip(reason=f"{ROOT}/models/dev is not there"))]
    every = [pytest.param(path, many, id=f"{path.stem}-all", marks=pytest.mark.slow) for path in MODELS]
    return [*(pytest.param(path, few, id=path.stem) for path in MODELS if path in SLICE), *every]


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
    assert related.point.op == free.point.op == "Softmax"
    assert [b.name for b, _ in kv.at(related.sizes).alive] == ["sc", "pr", "kv"]


def test_of_no_past_at_all(kv):
    assert kv.at({"b": 1, PAST: 0, SEQ: 4096}).bytes == 135_266_304
    assert kv.largest(SEQ, 135_266_304, {"b": 1, PAST: 0}).value == 4096
    assert [(r.first, r.last) for r in kv.regions(PAST, {"b": 1, SEQ: 8, PAST: (0, 0)})] == [(0, 0)]


@pytest.mark.parametrize(("path", "count"), cases(200, 6))
def test_the_peak_of_a_corpus_model_is_the_most_of_an_independent_account(path, count):
    """Where no size depends on data, the peak is the largest total; else it is never below it."""
    account = Account(path)
    points = account.points(count, path.stem)
    assert len(points) == count
    for (point, column), most in zip(points, account.most([column for _, column in points]), strict=True):
        actual = account.peak.at(point)
        assert actual.bytes >= most, point
        if account.peak.exact:
            assert None not in column
            assert actual.bytes == most, point


@pytest.mark.parametrize(("path", "count"), cases(3, 1))
def test_the_bound_over_ranges_of_a_corpus_model_is_the_most_of_all_points(path, count):
    """A box around a point in all dims, and a long one in a single dim, with all points worked out one by one."""
    account = Account(path)
    for number, (base, _) in enumerate(account.points(count, f"over {path.stem}")):
        long = account.dims[number % len(account.dims)].name
        for ranges in (
            {name: (size, size + 2) for name, size in base.items()},
            {name: (size, size + 32 * (name == long)) for name, size in base.items()},
        ):
            agree_over(account, ranges)


def agree_over(account, ranges):
    points = [
        dict(zip(ranges, sizes, strict=True)) for sizes in product(*(range(a, b + 1) for a, b in ranges.values()))
    ]
    columns = [column for point in points if account.at_peak(point) for column in [account.at(point)] if column]
    most = max(account.most(columns))
    actual = account.peak.over(ranges)
    assert actual.value >= most
    if account.peak.exact and actual.tight:
        column = account.at({**{name: low for name, (low, _) in ranges.items()}, **actual.sizes})
        assert column is None or actual.value == account.most([column])[0] == most


@pytest.mark.parametrize(("path", "count"), cases(3, 3))
def test_no_recorded_run_of_a_corpus_model_needs_more(path, count):
    """With the real data-dependent sizes; shapes inside of bodies are not recorded."""
    recorded = path.with_suffix(".truth.json")
    if not recorded.exists():
        pytest.skip(f"no runs of {path.stem} are recorded")
    truth = json.loads(recorded.read_text(encoding="utf8"))
    account = Account(path)
    assert len(truth["bindings"]) == count
    for run, binding in enumerate(truth["bindings"]):
        actual = account.peak.at({s.name: binding[s.name] for s in account.dims})
        sizes = [bytes_of(truth["tensors"].get(name, {}), run) for name in account.names]
        assert actual.bytes >= account.most([sizes])[0]


def test_selections_are_at_most_all_elements():
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
    pick (float[n, m] x) => (int64[2, k] where) { where = NonZero(x) }""")
    peak = infer_shapes(model).memory().peak
    assert (peak.at_most, peak.at_least) == (True, False)
    assert peak.at(n=3, m=5).bytes == 2 * 8 * 15
    assert peak.over(n=(1, 8), m=(1, 9)).value == 16 * 72
