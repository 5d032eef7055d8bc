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
from shapeinf.solver.dominance import is_monotone_in

from .drawn import HIGH, NAMES, RELATIONS, SIZES, drawn, value


@given(drawn(), st.randoms(use_true_random=False))
def test_at_is_the_most_of_all_moments(case, random):
    store = case.store()
    points = list(case.points())
    if store is None:
        assert not points
        return
    peak = Peak(case.timeline(store.scope), store)
    for point in random.sample(points, min(len(points), 12)):
        found = peak.at(point)
        assert found.bytes == case.peak(point) == case.total(found.index, point)
        assert sum(size for _, size in found.alive) == found.bytes
        assert [size for _, size in found.alive] == sorted((size for _, size in found.alive), reverse=True)
        assert found.moment == peak.timeline.moments[found.index]


@given(drawn(1))
def test_what_breaks_a_relation_is_no_answer(case):
    store = case.store()
    if store is None:
        return
    peak = Peak(case.timeline(store.scope), store)
    legal = list(case.points())
    for point in list(case.points(()))[::5]:
        if point not in legal:
            with pytest.raises(Contradiction):
                peak.at(point)


@given(drawn(0), st.lists(st.sampled_from(RELATIONS), max_size=2, unique=True), st.integers(2, HIGH))
def test_over_is_an_upper_bound(case, assumed, high):
    store = case.store()
    peak = Peak(case.timeline(store.scope), store)
    points = list(case.points(assumed, high))
    try:
        found = peak.over({name: (1, high) for name in NAMES}, assume=assumed)
    except Contradiction:
        assert not points
        return
    most = max((case.peak(point) for point in points), default=None)
    if most is None:
        assert not found.tight
        return
    assert found.value >= most
    if found.tight or found.engine == "exact":
        assert found.value == most
        assert any(case.peak(p) == most and found.sizes.items() <= p.items() for p in points)


@given(drawn(2), st.integers(1, 300), st.fixed_dictionaries({name: st.integers(1, HIGH) for name in NAMES[1:]}))
def test_largest_with_all_others_given(case, budget, others):
    store = case.store()
    legal = [point for point in case.points() if others.items() <= point.items()]
    if store is None:
        return
    try:
        found = Peak(case.timeline(store.scope), store).largest("x", budget, others)
    except Contradiction:
        assert not legal
        return
    fits = [point["x"] for point in legal if case.peak(point) <= budget]
    assert found.value == max(fits, default=None)
    assert not found.unlimited
    if found.value is not None:
        assert found.bytes == case.peak({**others, "x": found.value})


@given(drawn(2), st.integers(1, 300))
def test_largest_for_all_sizes_of_others(case, budget):
    store = case.store()
    if store is None:
        return
    points = list(case.points())
    found = Peak(case.timeline(store.scope), store).largest("x", budget)
    most = {x: max(case.peak(p) for p in points if p["x"] == x) for x in {p["x"] for p in points}}
    fits = [x for x, size in most.items() if size <= budget]
    if found.value is not None and found.value in most:
        assert most[found.value] <= found.bytes <= budget
    if found.proven and points:
        assert found.value == max(fits, default=None)


@given(st.sampled_from(SIZES), st.sampled_from(NAMES), drawn(2))
def test_what_is_said_to_grow_grows(text, name, case):
    store = case.store()
    if store is None:
        return
    d, symbol = parse_dim(text, store.scope), store.scope.symbol(name)
    if not is_monotone_in(store, d, symbol):
        return
    low, high = store.bounds(symbol)
    for point in case.points():
        values = [value(text, {**point, name: v}) for v in range(int(low), int(high) + 1)]
        assert values == sorted(values)


LIMITS = st.lists(
    st.sampled_from(("z <= x*y", "z <= x + y", "2*z <= y + 3", "z <= max(x, y)", "z + x <= 9", "z <= 4", "3*z <= x*x")),
    min_size=1,
    max_size=2,
    unique=True,
)


@given(drawn(0), LIMITS)
def test_what_depends_on_data_is_never_more(case, limits):
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


@given(drawn(1))
def test_the_text_is_the_maximum_in_python(case):
    store = case.store()
    if store is None or case.relations:
        return
    text = str(Peak(case.timeline(store.scope), store))
    for point in list(case.points())[::7]:
        assert value(text, point) == case.peak(point)


@given(drawn(0), st.fixed_dictionaries({name: st.integers(1, HIGH) for name in NAMES[1:]}))
def test_regions_name_the_winner(case, others):
    store = case.store()
    peak = Peak(case.timeline(store.scope), store)
    regions = peak.regions("x", others)
    covered = [x for region in regions for x in range(region.first, region.last + 1)]
    assert covered == list(range(1, HIGH + 1))
    for region in regions:
        for x in (region.first, region.last):
            point = {**others, "x": x}
            assert case.total(region.term.moments[0], point) == case.peak(point)
