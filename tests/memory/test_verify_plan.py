"""Plans for timelines, and diagnostics of `verify_plan`: by hand, by brute force, and by damage of every kind."""

from __future__ import annotations

import itertools

import attrs
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import infer_shapes
from shapeinf.errors import ShapeError, ShapeInferenceError, Source, UnknownNameError
from shapeinf.expr import Scope, evaluate, parse_dim
from shapeinf.lattice import Shape, ShapeStore
from shapeinf.memory import Buffer, Timeline
from shapeinf.memory.planning import PLANNERS, Plan, Slot, Unplaced, plan, verification, verify_plan
from shapeinf.memory.planning.verification import MAX_OVERLAPS
from tests.memory.planning_cases import problems

WORDS = "overlap, too small, misaligned, missing, unknown, arena, lifetime, apart, unbounded, too many"
KINDS = {f"P{number}": word for number, word in enumerate(WORDS.split(", "), 101)}
"""A word for each code, as docs/plan.md describes it."""


def model(*buffers, ranges=None, relations=()):
    """A timeline of buffers (name, size as text, birth, death[, role[, values]]), and the store of its dims."""
    scope = Scope()
    for name, (low, high) in (ranges or {}).items():
        scope.symbol(name, low, high)
    store = ShapeStore(scope)
    for left, right in relations:
        store.add_le(parse_dim(left, scope), parse_dim(right, scope), Source("", "assumed"))
    candidate = []
    for name, size, birth, death, *more in buffers:
        role, values = (*more, *("activation", (name,))[len(more) :])
        dim = None if size is None else parse_dim(str(size), scope)
        candidate.append(
            Buffer(name, dim, birth, death, role, "uint8", Shape.unknown(), values, "" if size else "no idea")
        )
    return Timeline((), tuple(candidate)), store


CHAIN = (("a", "4*n", 0, 2), ("b", "8*n", 1, 3), ("c", "n*m", 2, 4, "output"), ("x", "4*n", 0, 4, "input"))
RANGES = {"n": (1, 10), "m": (1, 6)}


def kinds(diagnostics):
    return sorted((KINDS[d.code], d.tensor) for d in diagnostics)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"n": 2, "m": 3}, {"a": 8, "b": 16, "c": 6}),
        ({"n": 2}, {"a": 8, "b": 16, "c": 12}),
        (None, {"a": 40, "b": 80, "c": 60}),
    ],
)
def test_slots_are_as_large_as_their_tensors_can_be(sizes, expected):
    timeline, store = model(*CHAIN, ranges=RANGES)
    candidate = plan(timeline, store, sizes, alignment=16)
    assert {slot.name: slot.size for slot in candidate.slots} == expected
    assert candidate.unplaced == () and candidate.alignment == 16 and candidate.planner == "best"
    assert all(slot.offset % 16 == 0 for slot in candidate.slots)
    assert verify_plan(candidate, timeline, store, sizes) == []


def test_slots_that_are_too_small_by_rough_bounds():
    timeline, store = model(*CHAIN, ranges=RANGES, relations=[("n + m", "7")])
    candidate = plan(timeline, store)
    assert {slot.name: slot.size for slot in candidate.slots}["c"] == 12  # 3*4, not 6*6
    assert verify_plan(candidate, timeline, store) == []
    rough = {d.tensor: d for d in verify_plan(candidate, timeline, store, work=0)}
    assert {KINDS[d.code] for d in rough.values()} == {"too small"}
    assert " at most (the work budget was reached" in rough["c"].message


def test_roles():
    timeline, store = model(*CHAIN, ranges=RANGES)
    assert {slot.name for slot in plan(timeline, store, roles=["input"]).slots} == {"x"}


@pytest.mark.parametrize(
    ("size", "cause"),
    [(None, "no idea"), ("4*q", "its size 4*q has no upper bound"), ("n - 20", "its size n - 20 is negative")],
)
def test_tensors_without_a_size_are_unplaced(size, cause):
    timeline, store = model(("a", "4*n", 0, 2), ("b", size, 1, 3), ranges=RANGES)
    candidate = plan(timeline, store)
    assert candidate.unplaced == (Unplaced("b", cause),)
    assert [slot.name for slot in candidate.slots] == ["a"]
    assert kinds(verify_plan(candidate, timeline, store)) == [("unbounded", "b")]


def test_an_unbounded_dim_with_a_size_is_placed():
    timeline, store = model(("b", "4*q", 1, 3))
    candidate = plan(timeline, store, {"q": 5})
    assert candidate["b"].size == 20
    assert verify_plan(candidate, timeline, store, {"q": 5}) == []


@pytest.mark.parametrize(
    ("sizes", "error", "text"),
    [
        ({"k": 2}, UnknownNameError, "no dim is named 'k'"),
        ({"n": 11}, ShapeError, "11"),
        ({"n": 10, "m": 6}, ShapeError, "m = 6 is requested and cannot hold .because assumed."),
        ({"n": "2"}, ShapeInferenceError, "must be an int"),
    ],
)
def test_unknown_dims_and_illegal_sizes(sizes, error, text):
    timeline, store = model(*CHAIN, ranges=RANGES, relations=[("n + m", "12")])
    for run in (lambda: plan(timeline, store, sizes), lambda: verify_plan(Plan([], 0), timeline, store, sizes)):
        with pytest.raises(error, match=text):
            run()


DATA_DEPENDENT = """
<ir_version: 8, opset_import: ["" : 17]>
pick (float[n, 3] x, float[] y) => (int64[2, k] places, float[m] z) { places = NonZero(x)  z = Relu(y) }"""


def test_data_dependent_tensors_have_the_bytes_of_their_bound_and_unnamed_axes_have_labels():
    actual = onnx.parser.parse_model(DATA_DEPENDENT)
    actual.graph.input[1].type.tensor_type.shape.dim.add()  # an axis without a name
    memory = infer_shapes(actual).memory()
    sizes = {"n": 5, "y.shape[0]": 7}
    candidate = memory.plan(sizes)
    assert {slot.name: slot.size for slot in candidate.slots} == {"places": 2 * 15 * 8, "z": 28}, "all 15 are not zero"
    assert candidate.unplaced == () and memory.verify_plan(candidate, sizes) == []
    assert kinds(memory.verify_plan(candidate)) == [("unbounded", "places"), ("unbounded", "z")]
    assert memory.peak.at(sizes).bytes == 2 * 15 * 8 + 28


def test_near_names_are_searched_for_a_few_unknown_names(monkeypatch):
    monkeypatch.setattr(verification, "MAX_NAMES_MATCHED", 2)
    timeline, store = model(("tensor", "4", 0, 1))
    plan = Plan([Slot(f"tensr{i}", 0, 1, 4, 0) for i in range(4)], 4)
    actual = [d for d in verify_plan(plan, timeline, store) if KINDS[d.code] == "unknown"]
    assert [d.tensor for d in actual] == ["tensr0", "tensr1", "tensr2", "tensr3"]
    assert ["did you mean 'tensor'?" in d.message for d in actual] == [True, True, False, False]


def test_an_unknown_planner_and_slot():
    timeline, store = model(*CHAIN, ranges=RANGES)
    with pytest.raises(UnknownNameError, match="best_fit"):
        plan(timeline, store, planner="bestfit")
    with pytest.raises(UnknownNameError, match="no slot is named 'aa'"):
        plan(timeline, store)["aa"]


QUICK = sorted(PLANNERS.keys() - {"thorough"})
SIZES = st.sampled_from(["n", "4*n", "n*m", "8*m", "16", "n + m", "max(n, m)*4", "(n + 1)//2", "0", "n*n"])
TIMES = st.tuples(st.integers(0, 6), st.integers(1, 4))


@given(
    st.lists(st.tuples(SIZES, TIMES), max_size=7),
    st.sampled_from(QUICK),
    st.sampled_from([1, 8, 64]),
)
def test_a_plan_for_a_range_is_valid_at_every_binding_in_it(entries, planner, alignment):
    buffers = [(f"b{i}", size, birth, birth + length) for i, (size, (birth, length)) in enumerate(entries)]
    timeline, store = model(*buffers, ranges={"n": (1, 4), "m": (1, 5)}, relations=[("n + m", "7")])
    candidate = plan(timeline, store, planner=planner, alignment=alignment)
    assert verify_plan(candidate, timeline, store) == []
    used = {str(s) for b in timeline.buffers if not isinstance(b.size, int) for s in b.size.symbols()}
    for n, m in itertools.product(range(1, 5), range(1, 6)):
        if n + m <= 7:
            binding = {name: value for name, value in (("n", n), ("m", m)) if name in used}
            assert all(candidate[b.name].size >= evaluate(b.size, binding) for b in timeline.buffers)
            assert verify_plan(candidate, timeline, store, binding) == []


@given(problems(alignments=(1,)), st.data())
def test_overlaps_are_those_of_brute_force(problem, data):
    offsets = st.integers(0, max([1, *(r.size for r in problem.requests)]) * 3)
    candidate = problem.plan([data.draw(offsets) for _ in problem.requests])
    timeline, store = model(*((r.name, r.size, r.lower, r.upper) for r in problem.requests))
    expected = {
        (a.name, b.name)
        for a, b in itertools.combinations(candidate.slots, 2)
        if max(a.lower, b.lower) < min(a.upper, b.upper) and max(a.offset, b.offset) < min(a.top, b.top)
    }
    actual = verify_plan(candidate, timeline, store)
    assert {KINDS[d.code] for d in actual} <= {"overlap"}
    assert sorted((d.tensor, *d.operands) for d in actual) == sorted(expected)


GOOD = {"a": (0, 2, 40, 0), "b": (1, 3, 80, 64), "c": (2, 4, 60, 0)}


def a_plan(changes=None, arena=144, alignment=8, unplaced=(), without=()):
    """A valid plan for CHAIN over RANGES, and a change to it."""
    entries = {name: where for name, where in {**GOOD, **(changes or {})}.items() if name not in without}
    return Plan([Slot(name, *where) for name, where in entries.items()], arena, alignment, "", unplaced)


@pytest.mark.parametrize(
    ("candidate", "expected", "texts"),
    [
        (a_plan(), [], []),
        (a_plan(without=["b"]), [("missing", "b")], ["it has no slot, and needs 80 bytes"]),
        (
            a_plan(without=["b"], unplaced=[Unplaced("b", "too hard")]),
            [("missing", "b")],
            ["needs 80 bytes; cause in the plan: too hard"],
        ),
        (a_plan({"b": (1, 3, 79, 64)}), [("too small", "b")], ["its slot has 79 bytes, it needs 80"]),
        (a_plan({"b": (1, 3, 80, 65)}, 145), [("misaligned", "b")], ["its offset 65 is not a multiple of 8"]),
        (a_plan({"bb": (0, 1, 8, 152)}, 160), [("unknown", "bb")], ["no tensor is named 'bb'; did you mean 'b'?"]),
        (a_plan(unplaced=[Unplaced("bb", "")]), [("unknown", "bb")], []),
        (a_plan(arena=143), [("arena", "b")], ["ends at byte 144, after the end of the arena of 143 bytes"]),
        (
            a_plan({"b": (2, 3, 80, 64)}),
            [("lifetime", "b")],
            ["its live range is [2, 3) in the plan, [1, 3) in the model"],
        ),
        (a_plan({"b": (1, 2, 80, 64)}), [("lifetime", "b")], []),
        (a_plan({"b": (0, 9, 80, 64)}), [], []),
        (
            a_plan({"b": (1, 3, 80, 32)}),
            [("overlap", "a"), ("overlap", "b")],
            ["bytes [0, 40) at program points [0, 2) and b: bytes [32, 112) at program points [1, 3) share memory"],
        ),
        # an overlap only because the plan has longer live ranges
        (a_plan({"a": (0, 3, 40, 0)}), [("overlap", "a")], ["by the lifetimes of the plan"]),
        # an overlap only because a slot is too small for its tensor
        (a_plan({"a": (0, 2, 40, 0), "b": (1, 3, 80, 32), "c": (2, 4, 60, 112)}, 172), [("overlap", "a")], []),
        (
            a_plan({"a": (0, 2, 8, 0), "b": (1, 3, 80, 8), "c": (2, 4, 60, 88)}, 148),
            [("overlap", "a"), ("too small", "a")],
            ["bytes [0, 40) at program points [0, 2) and b: bytes [8, 88)"],
        ),
        # an input may have a slot
        (a_plan({"x": (0, 4, 40, 144)}, 184), [], []),
        (a_plan({"x": (0, 4, 40, 0)}), [("overlap", "a"), ("overlap", "c")], []),
    ],
)
def test_damage_of_every_kind_is_reported(candidate, expected, texts):
    timeline, store = model(*CHAIN, ranges=RANGES)
    actual = verify_plan(candidate, timeline, store)
    assert kinds(actual) == expected
    for text in texts:
        assert any(text in str(d) for d in actual), actual


def test_a_plan_may_be_enough_for_a_binding_only():
    timeline, store = model(*CHAIN, ranges=RANGES)
    small = a_plan({"c": (2, 4, 40, 0)})
    assert kinds(verify_plan(small, timeline, store)) == [("too small", "c")]
    assert verify_plan(small, timeline, store, {"n": 8, "m": 5}) == []


def test_alignment_of_the_plan_or_of_the_caller():
    timeline, store = model(*CHAIN, ranges=RANGES)
    assert kinds(verify_plan(a_plan({"b": (1, 3, 80, 72)}, 152), timeline, store, alignment=64)) == [
        ("misaligned", "b")
    ]


def test_values_that_share_a_buffer():
    """A slot may stand for any value of a buffer; several for values of a buffer share an offset and may overlap."""
    timeline, store = model(("a", 8, 0, 4, "activation", ("a", "view")), ("b", 8, 1, 2))
    b = Slot("b", 1, 2, 8, 8)
    first, view = Slot("a", 0, 2, 8, 0), Slot("view", 1, 4, 8, 0)
    assert verify_plan(Plan([attrs.evolve(first, name="view", upper=4), b], 16), timeline, store) == []
    assert verify_plan(Plan([first, view, b], 16), timeline, store) == []
    apart = verify_plan(Plan([first, attrs.evolve(view, offset=16), b], 24), timeline, store)
    assert kinds(apart) == [("apart", "view")]
    assert kinds(verify_plan(Plan([first, b], 16), timeline, store)) == [("lifetime", "a")]


def test_an_unused_value_has_a_slot_at_its_producer():
    timeline, store = model(("a", 8, 1, 1), ("b", 8, 0, 3))
    candidate = plan(timeline, store, alignment=1)
    assert candidate.arena == 16 and (candidate["a"].lower, candidate["a"].upper) == (1, 2)
    assert verify_plan(candidate, timeline, store) == []


def test_tensors_of_no_bytes_need_no_slot():
    timeline, store = model(("a", 8, 0, 2), ("nothing", "0", 0, 2))
    assert verify_plan(Plan([Slot("a", 0, 2, 8, 0)], 8), timeline, store) == []
    assert plan(timeline, store)["nothing"].size == 0


def test_the_overlaps_of_a_hostile_plan_are_counted_out():
    count = 3000
    timeline, store = model(*((f"b{i}", 8, 0, 2) for i in range(count)))
    actual = verify_plan(Plan([Slot(f"b{i}", 0, 2, 8, 0) for i in range(count)], 8), timeline, store)
    assert [KINDS[d.code] for d in actual] == ["overlap"] * MAX_OVERLAPS + ["too many"]


def test_a_planner_is_not_monotone_but_its_plan_for_a_range_is_valid():
    """By hand. With d of 6 bytes it lies at the bottom, e on it, b at 8; with 5, e lies below d, and b ends at 13."""
    buffers = [("a", "2", 3, 4), ("b", "2", 2, 4), ("c", "6", 3, 5), ("d", "n", 0, 3), ("e", "6", 0, 1)]
    timeline, store = model(*buffers, ranges={"n": (1, 6)})
    full = plan(timeline, store, alignment=1, planner="greedy_by_size")
    smaller = plan(timeline, store, {"n": 5}, alignment=1, planner="greedy_by_size")
    assert (full.arena, smaller.arena) == (12, 13)
    for n in range(1, 7):
        assert verify_plan(full, timeline, store, {"n": n}) == []
