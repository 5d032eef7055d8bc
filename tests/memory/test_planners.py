"""Planners always return valid plans, and `best` is never worse than the others."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given

from shapeinf.errors import LimitError, PlanError, UnknownNameError
from shapeinf.memory.planning import (
    PLANNERS,
    Problem,
    Request,
    Slot,
    best,
    best_fit,
    greedy_by_breadth,
    greedy_by_size,
    thorough,
)
from shapeinf.memory.planning.planners import find_planner
from tests.memory.planning_cases import faults, least_arena, most_alive, problems

QUICK = {name: planner for name, planner in PLANNERS.items() if name != "thorough"}


@given(problems())
def test_every_planner_is_valid_and_best_is_the_best(problem):
    plans = {name: planner(problem) for name, planner in QUICK.items()}
    for name, plan in plans.items():
        assert not faults(problem, plan), name
        assert plan.planner == name
    assert plans["best"].arena == min(plan.arena for plan in plans.values())
    assert problem.most_alive == most_alive(problem)
    assert problem.least_arena == least_arena(problem)
    assert most_alive(problem) <= problem.least_arena <= plans["best"].arena


@given(problems(most=5, alignments=(1,)))
def test_best_is_the_optimum_of_five_buffers(problem):
    """Some order of five buffers, each at the lowest free offset, is an optimum; all orders are tried."""
    optimum = min(_lowest(problem.requests, order) for order in itertools.permutations(range(len(problem.requests))))
    assert best(problem).arena == optimum


def _lowest(requests, order):
    offsets = {}
    for i in order:
        met = [
            (offsets[k], offsets[k] + requests[k].size)
            for k in offsets
            if requests[k].lower < requests[i].upper and requests[i].lower < requests[k].upper
        ]
        tries = [0, *(top for _, top in met)]
        offsets[i] = min(o for o in tries if all(o + requests[i].size <= a or b <= o for a, b in met))
    return max((offset + requests[i].size for i, offset in offsets.items()), default=0)


@pytest.mark.parametrize("count", [300, 3000])
@pytest.mark.parametrize("alignment", [1, 64])
def test_many_buffers(count, alignment):
    draw = random.Random(count)
    requests = []
    for i in range(count):
        lower = draw.randrange(count)
        requests.append(
            Request(str(i), lower, lower + draw.randrange(1, 30 if i % 10 else 300), draw.randrange(10_000))
        )
    problem = Problem(requests, alignment)
    for planner in QUICK.values() if count < 1000 else (greedy_by_size, greedy_by_breadth, best_fit):
        plan = planner(problem)
        events = [(t, begins, s) for s in plan.slots for t, begins in ((s.upper, 0), (s.lower, 1))]
        alive = set()
        for _, begins, slot in sorted(events, key=lambda event: event[:2]):
            if begins:
                assert all(slot.top <= s.offset or s.top <= slot.offset for s in alive)
                alive.add(slot)
            else:
                alive.remove(slot)
        assert all(s.offset % alignment == 0 and s.top <= plan.arena for s in plan.slots)


def _smallest_gap(placed, size):
    """The offset of the smallest gap for a size between placed ranges; above all of them where none is large enough."""
    end, gaps = 0, []
    for bottom, top in sorted(placed):
        gaps.append((bottom - end, end))
        end = max(end, top)
    return min(((room, offset) for room, offset in gaps if room >= size), default=(0, end))[1]


def _lowest_gap(placed, size):
    ends = sorted([0, *(top for _, top in placed)])
    return next(end for end in ends if all(end + size <= bottom or top <= end for bottom, top in placed))


def _by_breadth(problem):
    """Points by the bytes in use, and at each point the largest buffers first."""
    requests, order = problem.requests, []
    points = sorted({t for r in requests for t in (r.lower, r.upper)})
    breadth = {t: sum(r.size for r in requests if r.lower <= t < r.upper) for t in points}
    for t in sorted(points, key=lambda t: -breadth[t]):
        alive = [i for i, r in enumerate(requests) if r.lower <= t < r.upper and i not in order]
        order += sorted(alive, key=lambda i: -requests[i].size)
    return order


ORDERS = {
    greedy_by_size: lambda p: sorted(range(len(p.requests)), key=lambda i: -p.requests[i].size),
    greedy_by_breadth: _by_breadth,
    best_fit: lambda p: sorted(range(len(p.requests)), key=lambda i: (p.requests[i].lower, -p.requests[i].size)),
}


@pytest.mark.parametrize("longest", [20, 150, 500])
@pytest.mark.parametrize("planner", ORDERS, ids=lambda planner: planner.__name__)
def test_greedy_planners_follow_their_definitions(planner, longest):
    """A timeline of many parts (`PlacedBlocks`), with lifetimes in one of them, in several, and in all."""
    draw = random.Random(longest)
    starts = [draw.randrange(500) for _ in range(300)]
    lengths = [draw.randrange(1, longest) if draw.random() < 0.9 else draw.randrange(1, 500) for _ in starts]
    sizes = [draw.choice([0, 8, 16, draw.randrange(1, 400)]) for _ in starts]
    problem = Problem(
        [Request(str(i), t, t + d, s) for i, (t, d, s) in enumerate(zip(starts, lengths, sizes, strict=True))]
    )
    gap = _lowest_gap if planner is greedy_by_size else _smallest_gap
    expected = {}
    for i in ORDERS[planner](problem):
        request = problem.requests[i]
        meets = [k for k in expected if starts[k] < request.upper and request.lower < starts[k] + lengths[k]]
        placed = [(expected[k], expected[k] + sizes[k]) for k in meets if sizes[k]]
        expected[i] = gap(placed, request.size) if request.size else 0
    assert {int(slot.name): slot.offset for slot in planner(problem).slots} == expected


def test_the_same_problem_has_the_same_plan_and_thorough_is_no_larger():
    draw = random.Random(5)
    entries = [(draw.randrange(40), draw.randrange(1, 20), draw.randrange(1, 99)) for _ in range(60)]
    problem = Problem([Request(str(i), t, t + d, size) for i, (t, d, size) in enumerate(entries)])
    assert best(problem) == best(problem)
    searched = thorough(problem)
    assert searched.planner == "thorough" and not faults(problem, searched)
    assert searched.arena <= best(problem).arena


@pytest.mark.parametrize(
    ("planner", "offsets"),
    [
        # by size: c 5 at 0, a 4 above it, b 3 does not meet a, and goes above c
        (greedy_by_size, {"a": 5, "b": 5, "c": 0}),
        # by start: a at 0, c above it; b meets c alone, and fits below it
        (best_fit, {"a": 0, "b": 0, "c": 4}),
        # 9 bytes at program points 0 to 3: c, then a above it; then b
        (greedy_by_breadth, {"a": 5, "b": 5, "c": 0}),
    ],
)
def test_by_hand(planner, offsets):
    problem = Problem([Request("a", 0, 3, 4), Request("b", 3, 6, 3), Request("c", 1, 6, 5)])
    assert {slot.name: slot.offset for slot in planner(problem).slots} == offsets


def test_best_fit_takes_the_smallest_gap():
    """Gaps of 5 (below a) and 3 (between a and b) when c comes: it takes the one of 3."""
    problem = Problem(
        [
            Request("p", 0, 2, 5),
            Request("a", 0, 9, 4),
            Request("q", 0, 2, 3),
            Request("b", 0, 9, 2),
            Request("c", 3, 9, 3),
        ]
    )
    # all but c begin together, the larger first: p 0..5, a 5..9, q 9..12, b 12..14
    assert {slot.name: slot.offset for slot in best_fit(problem).slots} == {"p": 0, "a": 5, "q": 9, "b": 12, "c": 9}


def test_sizes_of_zero_and_nothing_at_all():
    empty = Problem([])
    nothing = Problem([Request("x", 0, 5, 0), Request("y", 2, 3, 0)], 64)
    for planner in PLANNERS.values():
        assert planner(empty).arena == 0 and planner(empty).slots == ()
        assert [slot.offset for slot in planner(nothing).slots] == [0, 0]
        assert planner(nothing).arena == 0


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Request("x", 3, 3, 1), PlanError, "empty lifetime"),
        (lambda: Request("x", 0, 1, -1), PlanError, "must not be negative"),
        (lambda: Request("x", 0, 1, True), PlanError, "must be an int"),
        (lambda: Request("x", 0.0, 1, 1), PlanError, "must be an int"),
        (lambda: Slot("x", 0, 1, 1, -4), PlanError, "must not be negative"),
        (lambda: Problem([], 0), PlanError, "an alignment must be an int"),
        (lambda: Problem([], 2**31), PlanError, "an alignment must be an int"),
        (lambda: Problem([Request("x", 0, 1, 1), Request("x", 2, 3, 1)]), PlanError, "two buffers are named 'x'"),
        (lambda: Problem([Request("x", 0, 1, 2**62)]), LimitError, "limit"),
        (lambda: Problem([Request(str(i), 0, 1, 1) for i in range(200_001)]), LimitError, "limit"),
        (lambda: find_planner("greedy_by_sise"), UnknownNameError, "greedy_by_size"),
    ],
)
def test_invalid_problems(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_omnimalloc_is_valid_and_never_larger_than_best():
    pytest.importorskip("omnimalloc", reason="omnimalloc is not there: pip install 'shapeinf[omnimalloc]'")
    from shapeinf.memory.planning.planners import omnimalloc

    draw = random.Random(3)
    entries = [(draw.randrange(40), draw.randrange(1, 20), draw.randrange(99)) for _ in range(80)]
    problem = Problem([Request(str(i), t, t + d, size) for i, (t, d, size) in enumerate(entries)], 16)
    plan = omnimalloc(problem, 0.2)
    assert not faults(problem, plan)
    assert plan.arena <= best(problem).arena
