"""Memory is released: most of it at once, cycles of dims after enough allocations."""

import gc

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.engine import garbage
from shapeinf.lattice import ShapeStore

MODEL = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
g (float[N, H] x) => (float[N, K] y) { half = Slice <starts = [0], ends = [4]> (x)  y = Add(x, x) }""")


@pytest.fixture
def pace(monkeypatch):
    """A new count of objects, none of which is frozen; Python does not start collections of its own during the test."""
    gc.unfreeze()
    pace = garbage._Pace()
    monkeypatch.setattr(garbage, "_pace", pace)
    threshold = gc.get_threshold()
    gc.set_threshold(1 << 30)
    infer_shapes(MODEL)  # the first one loads operators
    pace.created = 0
    yield pace
    gc.set_threshold(*threshold)
    gc.enable()
    gc.freeze()  # as before the test


def collections():
    return gc.get_stats()[2]["collections"]


def stores():
    """The number of these objects; objects of a compiled build have no weak references."""
    return sum(type(item) is ShapeStore for item in gc.get_objects())


def test_a_result_that_is_dropped_needs_no_collection(pace):
    gc.disable()
    before = stores()
    result = infer_shapes(MODEL)
    assert stores() > before
    del result
    assert stores() == before


def test_garbage_is_collected_after_enough_new_objects(pace, monkeypatch):
    monkeypatch.setattr(garbage, "LEAST", 10_000)
    pace.threshold = 10_000
    before = collections()
    while pace.created < 9_000:  # one inference allocates less than the thousand that is left
        infer_shapes(MODEL)
    assert collections() == before
    while collections() == before:
        infer_shapes(MODEL)
        assert pace.created < 20_000
    assert pace.created < 1_000, "the collection is before the last inference, not after it"
    assert pace.threshold >= 10_000


@pytest.mark.parametrize("switch", [gc.disable, gc.freeze])
def test_programs_that_collect_themselves_are_left_alone(pace, switch):
    pace.threshold = 1
    before = collections()
    switch()
    infer_shapes(MODEL)
    assert collections() == before
    assert gc.isenabled() is (switch is gc.freeze)
