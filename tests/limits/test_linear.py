"""The work of every query grows with the number of nodes, counted in calls of functions: times differ by machine.

`python -m tests.limits.linear NODES...` measures seconds.
"""

import contextlib
import cProfile
import gc
import io

import pytest

from tests.limits.linear import layers, queries

MOST_GROWTH = 1.3
"""The factor by which the calls for each node may grow with the graph."""


def calls(nodes):
    """The number of calls that each query makes on a graph."""
    counts = {}
    with uncollected():
        for name, query in queries(layers(nodes)).items():
            profile = cProfile.Profile()
            with contextlib.redirect_stdout(io.StringIO()):
                profile.runcall(query)
            counts[name] = sum(entry.callcount for entry in profile.getstats())
    return counts


@contextlib.contextmanager
def uncollected():
    """No garbage is collected while the context is open: the finalizers of other tests are calls as well."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def check(few, many):
    calls(80)  # imports what the queries need
    before, after = calls(few), calls(many)
    growth = {name: after[name] / many / (before[name] / few) for name in before}
    assert not {name: factor for name, factor in growth.items() if factor > MOST_GROWTH}


def test_a_slice():
    check(80, 320)


@pytest.mark.slow
def test_large_graphs():
    check(10_000, 50_000)
