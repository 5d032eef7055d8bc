"""Peaks against brute force: every point of small boxes, with sizes and relations evaluated by Python."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.errors import Contradiction
from shapeinf.expr import parse_dim
from shapeinf.inputs.assumptions import add_assumptions
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak import Peak
from shapeinf.solver.monotonicity import is_monotone_in

from .strategies import HIGH, NAMES, RELATIONS, SIZES, timelines, value


@given(timelines(), st.randoms(use_true_random=False))
def test_at_is_the_largest_total_of_all_points(case, random):
    store = case.store()
    points = list(case.legal_sizes())
    if store is None:
        assert not points
        return
    peak = Peak(case.timeline(store.scope), store)
    for point in random.sample(points, min(len(points), 12)):
        actual = peak.at(point)
        assert actual.bytes == case.peak(point) == case.total(actual.index, point)
        assert sum(size for _, size in actual.alive) == actual.bytes
        assert [size for _, size in actual.alive] == sorted((size for _, size in actual.alive), reverse=True)
        assert actual.point == peak.timeline.points[actual.index]


@given(timelines(1))
def test_sizes_that_violate_a_relation_are_refused(case):
    store = case.store()
    if store is None:
        return
    peak = Peak(case.timeline(store.scope), store)
    legal = list(case.legal_sizes())
    for point in list(case.legal_sizes(()))[::5]:
        if point not in legal:
            with pytest.raises(Contradiction):
                peak.at(point)


@given(timelines(0), st.lists(st.sampled_from(RELATIONS), max_size=2, unique=True), st.integers(2, HIGH))
def test_over_is_an_upper_bound(case, assumed, high):
    store = case.store()
    peak = Peak(case.timeline(store.scope), store)
    points = list(case.legal_sizes(assumed, high))
    try:
        actual = peak.over({name: (1, high) for name in NAMES}, assume=assumed)
    except Contradiction:
        assert not points
        return
    most = max((case.peak(point) for point in points), default=None)
    if most is None:
        assert not actual.tight
        return
    assert actual.value >= most
    if actual.tight or actual.engine == "exact":
        assert actual.value == most
        assert any(case.peak(p) == most and actual.sizes.items() <= p.items() for p in points)


@given(timelines(2), st.integers(1, 300), st.fixed_dictionaries({name: st.integers(1, HIGH) for name in NAMES[1:]}))
def test_largest_with_all_other_dims_bound(case, limit, others):
    store = case.store()
    legal = [point for point in case.legal_sizes() if others.items() <= point.items()]
    if store is None:
        return
    try:
        actual = Peak(case.timeline(store.scope), store).largest("x", limit, others)
    except Contradiction:
        assert not legal
        return
    fits = [point["x"] for point in legal if case.peak(point) <= limit]
    assert actual.value == max(fits, default=None)
    assert not actual.unlimited
    if actual.value is not None:
        assert actual.bytes == case.peak({**others, "x": actual.value})


@given(timelines(2), st.integers(1, 300))
def test_largest_for_all_sizes_of_others(case, limit):
    store = case.store()
    if store is None:
        return
    points = list(case.legal_sizes())
    actual = Peak(case.timeline(store.scope), store).largest("x", limit)
    most = {x: max(case.peak(p) for p in points if p["x"] == x) for x in {p["x"] for p in points}}
    fits = [x for x, size in most.items() if size <= limit]
    if actual.value is not None and actual.value in most:
        assert most[actual.value] <= actual.bytes <= limit
    if actual.proven and points:
        assert actual.value == max(fits, default=None)


@given(st.sampled_from(SIZES), st.sampled_from(NAMES), timelines(2))
def test_monotone_dims_are_monotone(text, name, case):
    store = case.store()
    if store is None:
        return
    d, symbol = parse_dim(text, store.scope), store.scope.symbol(name)
    if not is_monotone_in(store, d, symbol):
        return
    low, high = store.bounds(symbol)
    for point in case.legal_sizes():
        values = [value(text, {**point, name: v}) for v in range(int(low), int(high) + 1)]
        assert values == sorted(values)


LIMITS = st.lists(
    st.sampled_from(("z <= x*y", "z <= x + y", "2*z <= y + 3", "z <= max(x, y)", "z + x <= 9", "z <= 4", "3*z <= x*x")),
    min_size=1,
    max_size=2,
    unique=True,
)


@given(timelines(0), LIMITS)
def test_data_dependent_sizes_never_exceed_their_bound(case, limits):
    store = ShapeStore()
    for name in ("x", "y"):
        store.scope.symbol(name, 1, HIGH)
    store.scope.fresh("z", 1)
    add_assumptions(store, limits)
    peak = Peak(case.timeline(store.scope), store)
    for x, y in product(range(1, HIGH + 1, 2), repeat=2):
        points = [{"x": x, "y": y, "z": z} for z in range(1, HIGH * HIGH + 1)]
        most = [case.peak(point) for point in points if all(value(text, point) for text in limits)]
        if most and not peak.at_least:
            assert peak.at(x=x, y=y).bytes >= max(most)
        if most and peak.exact:
            assert peak.at(x=x, y=y).bytes == max(most)


@given(timelines(1))
def test_the_text_is_the_maximum_in_python(case):
    store = case.store()
    if store is None or case.relations:
        return
    text = str(Peak(case.timeline(store.scope), store))
    for point in list(case.legal_sizes())[::7]:
        assert value(text, point) == case.peak(point)


@given(timelines(0), st.fixed_dictionaries({name: st.integers(1, HIGH) for name in NAMES[1:]}))
def test_regions_name_the_winner(case, others):
    store = case.store()
    peak = Peak(case.timeline(store.scope), store)
    regions = peak.regions("x", others)
    covered = [x for region in regions for x in range(region.first, region.last + 1)]
    assert covered == list(range(1, HIGH + 1))
    for region in regions:
        for x in (region.first, region.last):
            point = {**others, "x": x}
            assert case.total(region.term.points[0], point) == case.peak(point)
