"""Memory goes back: most of it at once, cycles of dims when enough was made."""

import gc
import weakref

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.engine import collection

MODEL = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
g (float[N, H] x) => (float[N, K] y) { half = Slice <starts = [0], ends = [4]> (x)  y = Add(x, x) }""")


@pytest.fixture
def pace(monkeypatch):
    """A count of its own; Python by itself collects nothing meanwhile, whatever the tests before have left."""
    made = collection._Pace()
    monkeypatch.setattr(collection, "_pace", made)
    threshold = gc.get_threshold()
    gc.set_threshold(1 << 30)
    infer_shapes(MODEL)  # the first one loads operators
    made.made = 0
    yield made
    gc.set_threshold(*threshold)
    gc.unfreeze()
    gc.enable()


def collections():
    return gc.get_stats()[2]["collections"]


def test_a_result_that_is_dropped_needs_no_collection(pace):
    gc.disable()
    result = infer_shapes(MODEL)
    inference, store = weakref.ref(result.inference), weakref.ref(result.inference.store)
    del result
    assert inference() is None and store() is None


def test_what_is_left_is_collected_when_enough_was_made(pace, monkeypatch):
    monkeypatch.setattr(collection, "LEAST", 10_000)
    pace.enough = 10_000
    before = collections()
    while pace.made < 9_000:  # one inference makes less than the thousand that is left
        infer_shapes(MODEL)
    assert collections() == before
    while pace.made:
        infer_shapes(MODEL)
        assert pace.made < 20_000
    assert collections() > before
    assert pace.enough >= 10_000


@pytest.mark.parametrize("switch", [gc.disable, gc.freeze])
def test_programs_that_collect_themselves_are_left_alone(pace, switch):
    pace.enough = 1
    before = collections()
    switch()
    infer_shapes(MODEL)
    assert collections() == before
    assert gc.isenabled() is (switch is gc.freeze)
