"""Peaks by hand: expectations are arithmetic, or the numbers of the issue."""

import functools
import operator

import pytest

from shapeinf.errors import (
    BytesError,
    Contradiction,
    LimitError,
    MissingSizeError,
    ShapeInferenceError,
    Source,
    UnknownNameError,
)
from shapeinf.expr import ceildiv, maximum, minimum, parse_dim
from shapeinf.lattice import Shape, ShapeStore
from shapeinf.memory import Buffer, ProgramPoint, Timeline
from shapeinf.memory.peak import Peak, terms
from shapeinf.memory.planning import Unplaced, plan
from shapeinf.memory.sizes import parse_bytes
from shapeinf.solver import dominance, isl
from shapeinf.solver.budget import NEEDS_ISL

MiB = 1 << 20


def buffer(name, size, birth, death, role="activation", cause=""):
    return Buffer(name, size, birth, death, role, "uint8", Shape([]), (name,), cause)


def peak_of(store, *buffers, points=5, **more):
    """A peak of (name, size, birth, death, ...) tuples."""
    timeline = Timeline(tuple(ProgramPoint(f"n{i}", "Op") for i in range(points)), tuple(buffer(*b) for b in buffers))
    return Peak(timeline, store, **more)


def store_of(*bounds, relations=()):
    """A store with symbols of (name, low, high), and relations `expression >= 0`."""
    store = ShapeStore()
    for name, *pair in bounds:
        store.scope.symbol(name, *pair)
    for text in relations:
        store.add_le(0, parse_dim(text, store.scope), Source("", "assumed"))
    return store


def kv(store):
    """The model of the issue with b = 1: at Softmax `kv`, `sc` and `pr` are alive; inputs do not count."""
    p, s = store.scope.symbol("past", 0), store.scope.symbol("seq")
    both = p + s
    return peak_of(
        store,
        ("past", 4 * 64 * p, 0, 1, "input"),
        ("kv", 4 * 64 * both, 0, 5, "output"),
        ("kt", 4 * 64 * both, 1, 3),
        ("sc", 4 * s * both, 2, 4),
        ("pr", 4 * s * both, 3, 5),
        ("y", 4 * 64 * s, 4, 5, "output"),
    )


@pytest.mark.parametrize(
    ("assume", "expected"), [("past + seq <= 4096", 135_266_304), ((), 270_499_584)], ids=["related", "free"]
)
def test_the_cache_of_the_issue(assume, expected):
    actual = kv(ShapeStore()).over(past=(0, 4095), seq=(1, 4096), assume=assume)
    assert (actual.value, actual.tight, actual.point.node) == (expected, True, "n3")
    assert actual.engine == ("isl" if assume else "exact")
    assert kv(ShapeStore()).at(actual.sizes).bytes == expected


def test_without_isl_a_bound_is_larger_and_says_so(monkeypatch):
    monkeypatch.setattr(isl, "ISL_INSTALLED", False)
    actual = kv(ShapeStore()).over(past=(0, 4095), seq=(1, 4096), assume="past + seq <= 4096")
    assert actual.value is not None and actual.value > 135_266_304 and not actual.tight
    assert str(actual).endswith(f"(interval, may be less; {NEEDS_ISL})")
    largest = kv(ShapeStore()).largest("seq", "128MiB", past=(0, 4095), assume="past + seq <= 4096")
    assert not largest.proven
    assert str(largest).startswith("no size of seq is known to fit into 134217728 bytes (")
    assert str(largest).endswith(f"{NEEDS_ISL})")


def test_live_buffers_at_the_peak():
    actual = kv(ShapeStore()).at(past=0, seq=4096)
    assert [(b.name, size) for b, size in actual.alive] == [("sc", 64 * MiB), ("pr", 64 * MiB), ("kv", MiB)]
    assert str(actual).splitlines()[0] == "135266304 bytes at Op 'n3'"
    assert (actual.at_least, actual.at_most) == (False, False)


def test_the_example_of_the_design_notes():
    store = store_of(("B", 1), ("p", 0), ("s", 1))
    size = parse_dim("B*(4*s*(p + s) + 768*s + 512*p)", store.scope)
    actual = peak_of(store, ("a", size, 0, 1)).over(B=8, assume="p + s <= 4096")
    assert (actual.value, actual.engine, actual.tight) == (8 * 70_254_592, "isl", True)


@pytest.mark.parametrize(
    ("size", "bounds", "assume", "most"),
    [
        (
            "4*b*h*q*k",
            [("b", 1, 4), ("h", 12, 12), ("q", 1, 512), ("k", 1, 512)],
            "q + k <= 600",
            4 * 4 * 12 * 300 * 300,
        ),
        ("64*((H + 1)//2)*((H + 3)//4)", [("H", 1, 101)], (), 64 * 51 * 26),
        ("H*((H + 1)//2)", [("H", 1, 1000)], "H % 32 == 0", 992 * 496),
        ("H*W", [("H", 1), ("W", 1)], "H % 64 == 0 and W <= 32 and H + 2*W <= 500", 384 * 32),
        ("max(a, b)*a", [("a", 1, 50), ("b", 1, 90)], "a + b <= 100", 50 * 50),
        ("n*m", [("n", 1), ("m", 1)], "3*n + 5*m <= 11", 2),
        ("max(2*a, b)", [("a", 1), ("b", 1)], "a + b <= 10", 18),
    ],
)
def test_bounds_over_relations(size, bounds, assume, most):
    store = store_of(*bounds)
    actual = peak_of(store, ("t", parse_dim(size, store.scope), 0, 1)).over(assume=assume)
    assert (actual.value, actual.tight) == (most, True)


def test_no_bound_names_the_symbol():
    store = store_of(("b", 1), ("s", 1, 8))
    actual = peak_of(store, ("t", parse_dim("b*s", store.scope), 0, 1)).over()
    assert (actual.value, actual.unbounded, str(actual)) == (None, ("b",), "no bound (b has none)")


def test_terms_that_are_never_more_are_left_out():
    store = store_of(("b", 1), ("s", 1))
    b, s = store.scope.symbol("b"), store.scope.symbol("s")
    peak = peak_of(
        store, ("small", b, 0, 1), ("same", 8 * b * s, 1, 2), ("again", 8 * b * s, 2, 3), ("other", 100 * b, 3, 4)
    )
    assert str(peak) == "max(8*b*s, 100*b)"
    assert [(str(t.size), t.points) for t in peak.terms] == [("8*b*s", (1, 2)), ("100*b", (3,))]
    assert peak.exact


@pytest.mark.parametrize(
    ("relation", "expected"), [((), "max(4*a, 4*b)"), (("a - b",), "4*a"), (("a + c - b - 9", "4 - c"), "4*a")]
)
def test_relations_decide_which_terms_can_win(relation, expected):
    store = store_of(("a", 1), ("b", 1), ("c", 1), relations=relation)
    a, b = store.scope.symbol("a"), store.scope.symbol("b")
    assert str(peak_of(store, ("t", 4 * a, 0, 1), ("u", 4 * b, 1, 2))) == expected


def test_sums_are_not_capped():
    store = ShapeStore()
    symbols = [store.scope.symbol(f"d{i}") for i in range(100)]
    half = symbols[0] // 2
    peak = peak_of(
        store, *((d.name, d * d, 0, 1) for d in symbols), ("half", half, 0, 1), ("most", maximum(*symbols[:2]), 1, 2)
    )
    store.add_le(symbols[0], 10**12, Source("", "assumed"))
    assert peak.at({d.name: 10**12 for d in symbols}).bytes == 100 * 10**24 + 10**12 // 2
    actual = peak.over({d.name: 10**12 for d in symbols[5:]}, assume=[f"d{i} <= {i + 7}" for i in range(5)])
    assert actual.value == 95 * 10**24 + sum((i + 7) ** 2 for i in range(5)) + 3
    assert peak.largest("d0", 10**10, {d.name: 10 for d in symbols[1:]}).value == 99999
    assert not store.scope.capped


def test_more_work_than_is_sane_is_refused(monkeypatch):
    monkeypatch.setattr(terms, "MAX_WORK", 10)
    store = ShapeStore()
    peak = peak_of(store, *((f"t{i}", store.scope.symbol(f"d{i}"), i, i + 3) for i in range(9)), points=12)
    with pytest.raises(LimitError):
        str(peak)


def test_data_dependent_sizes_have_their_bounds():
    store = store_of(("H", 1), ("W", 1))
    h, w = store.scope.symbol("H"), store.scope.symbol("W")
    n, m, free = (store.scope.fresh(name) for name in ("nonzero", "kept", "unique"))
    store.add_le(n, h * w, Source("nonzero", "no more than there are"))
    store.add_le(2 * m, n, Source("kept", "half of them"))
    store.add_range(m, 0, 300, Source("kept", "at most 300"))
    peak = peak_of(store, ("n", 16 * n, 0, 1), ("m", 8 * m, 1, 2))
    assert (peak.bounded, peak.at_most, peak.at_least, peak.exact) == (("n", "m"), True, False, False)
    assert str(peak) == "at most 16*H*W"
    assert peak.at(H=100, W=50).bytes == 16 * 5000
    alone = peak_of(store, ("m", 8 * m, 1, 2))
    assert [alone.at(H=h, W=5).bytes for h in (3, 1000)] == [8 * 7, 8 * 300]
    unbounded = peak_of(store, ("f", 4 * free * h, 0, 2), ("g", 4 * h, 1, 2), ("u", None, 0, 5, "activation", "why"))
    assert [str(u) for u in unbounded.unbounded] == ["f: unique has no upper bound", "u: why"]
    assert str(unbounded) == "at least 4*H"
    assert unbounded.at(H=3).at_least
    assert str(unbounded.at(H=3)).startswith("at least 12 bytes")
    assert str(unbounded.over(H=(1, 3))) == "at least 12 (exact, tight)"
    assert "without the buffers of unknown size" in str(unbounded.largest("H", 100))


def test_only_the_symbols_without_a_bound_are_named():
    store = store_of(("H", 1))
    some, any_, more = store.scope.fresh("some", 0, 9), store.scope.fresh("any"), store.scope.fresh("more")
    peak = peak_of(store, ("a", some * any_, 0, 1), ("b", 4 * any_ + more + some, 0, 1))
    assert [reason.cause for reason in peak.unbounded] == ["any has no upper bound", "any, more have no upper bound"]


def test_a_formula_past_the_caps_is_no_name_that_a_user_has_to_know():
    """The rows of a concatenation of 80 inputs are a sum of 80 terms, and the algebra keeps 64."""
    store = store_of(*((f"n{i}", 1) for i in range(80)))
    rows = functools.reduce(operator.add, [store.scope.symbol(f"n{i}") for i in range(80)])
    timeline = Timeline((ProgramPoint("join", "Concat"),), (buffer("all", 4 * rows, 0, 1),))
    cause = "its size, or the formula of it, is too long: a sum of 64 and 1 terms, past the limit of 64 terms"
    assert [str(reason) for reason in Peak(timeline, store).unbounded] == [f"all: {cause}"]
    assert plan(timeline, store).unplaced == (Unplaced("all", cause),)


def test_bounds_below_a_minus_are_lower_bounds():
    store = store_of(("H", 1))
    n = store.scope.fresh("cut", 2, 9)
    peak = peak_of(store, ("t", 100 * store.scope.symbol("H") - 3 * n, 0, 1), ("u", 5 * (n // 2) + maximum(n, 4), 1, 2))
    assert peak.at(H=1).bytes == 94
    assert str(peak) == "at most 100*H - 6"


def test_a_name_that_no_input_has_depends_on_data():
    store = store_of(("H", 1), ("found", 0), ("lost", 0))
    h, actual, lost = (store.scope.symbol(name) for name in ("H", "found", "lost"))
    store.add_le(actual, h * h, Source("nonzero", "no more than there are"))
    peak = peak_of(store, ("t", 16 * actual, 0, 1), ("u", 4 * lost, 0, 1), labels={h: "H"})
    assert str(peak) == "without some parts at most 16*H*H"
    assert [str(u) for u in peak.unbounded] == ["u: lost has no upper bound"]
    with pytest.raises(UnknownNameError):
        peak.at(H=3, actual=5)


def test_unnamed_axes_have_the_names_of_contracts():
    store = ShapeStore()
    d = store.scope.fresh("x.0", 1)
    odd = store.scope.symbol("batch _size")
    peak = peak_of(store, ("t", d * odd, 0, 1), labels={d: "x.shape[0]", odd: "`batch _size`"})
    assert str(peak) == "x.shape[0]*`batch _size`"
    assert peak.at({"x.shape[0]": 3, "batch _size": 4}).bytes == 12
    assert peak.over({"x.shape[0]": (1, 3), "batch _size": 4}).sizes == {"x.shape[0]": 3, "`batch _size`": 4}
    assert peak.largest("x.shape[0]", 12, {"batch _size": 4}).value == 3


def forced():
    """A batch that a node forces to 1, and an H in 1..64 that must be divisible by 8."""
    store = store_of(("batch", 1), ("H", 1, 64))
    store.add_equal(store.scope.symbol("batch"), 1, Source("reshape", "element count must not change"))
    store.add_divisible(store.scope.symbol("H"), 8, Source("concat", "halves must meet"))
    p, q = (store.scope.symbol(name) for name in "pq")
    store.add_disjunction("{0} == {1} or {0} == 1 or {1} == 1", Source("add", "dims must broadcast"), p, q)
    return peak_of(
        store, ("t", store.scope.symbol("H") * store.scope.symbol("batch"), 0, 1), ("u", maximum(p, q), 1, 2)
    )


@pytest.mark.parametrize(
    ("sizes", "error", "words"),
    [
        ({"H": 8, "p": 1, "q": 1, "batchs": 3}, UnknownNameError, "no dim is named 'batchs'; did you mean 'batch'"),
        ({"H": 8, "p": 1}, MissingSizeError, "no size for q: bind it"),
        ({"H": 8, "p": 1, "q": 1, "batch": 4}, Contradiction, "element count must not change (reshape)"),
        ({"H": 12, "p": 1, "q": 1}, Contradiction, "halves must meet (concat)"),
        ({"H": 72, "p": 1, "q": 1}, Contradiction, "H = 72 is requested and cannot hold"),
        ({"H": 8, "p": 3, "q": 2}, Contradiction, "dims must broadcast (add)"),
        ({"H": 8, "p": 0, "q": 1}, Contradiction, "p is assumed to be at least 1; infer with min_dim=0 for less"),
        (
            {"H": 8, "p": -1, "q": 1},
            Contradiction,
            "p = -1 is requested and cannot hold (because p is assumed to be at least 1)",
        ),
        ({"H": "8", "p": 0, "q": 1}, ShapeInferenceError, "the size of H must be an int"),
    ],
)
def test_errors_of_queries_name_the_cause(sizes, error, words):
    with pytest.raises(error) as caught:
        forced().at(sizes)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("limits", "count"),
    [((), 40), (["MAX_COEFFICIENTS"], 40), (["MAX_COMPARED"], 79), (["MAX_COEFFICIENTS", "MAX_COMPARED"], 80)],
    ids=["none", "proofs alone", "one is compared with", "nothing is compared"],
)
def test_past_its_limits_more_terms_remain_and_results_stay(monkeypatch, limits, count):
    """Forty dims, each with a total that is less than half of another."""
    for limit in limits:
        monkeypatch.setattr(dominance, limit, 1)
    store = store_of(*((f"n{i}", 1) for i in range(40)))
    sizes = [(1 + most) * store.scope.symbol(f"n{i}") for most in (0, 7) for i in range(40)]
    peak = peak_of(store, *((f"t{at}", size, at, at + 1) for at, size in enumerate(sizes)), points=80)
    assert len(peak.terms) == count
    assert peak.at({f"n{i}": i + 1 for i in range(40)}).bytes == 8 * 40
    assert peak.over({f"n{i}": (1, i + 2) for i in range(40)}).value == 8 * 41


def test_a_constraint_on_other_dims_does_not_couple_this_dim():
    store = store_of(("p", 1), ("q", 1), ("k", 1))
    p, q, k = (store.scope.symbol(name) for name in "pqk")
    store.add_disjunction("{0} == {1} or {0} == 1 or {1} == 1", Source("add", "dims must broadcast"), p, q)
    peak = peak_of(store, ("t", 16 * maximum(p, q) + k, 0, 1))
    legal = [(a, b) for a in (2, 3) for b in range(1, 6) if a == b or 1 in (a, b)]
    most = max(16 * max(pair) for pair in legal)
    assert peak.largest("k", 1000, p=(2, 3), q=(1, 5)).value == 1000 - most


def test_the_calls_of_the_issue_word_for_word():
    store = store_of(("batch", 1), ("past", 0), ("seq", 1))
    batch, past, seq = (store.scope.symbol(name) for name in ("batch", "past", "seq"))
    peak = peak_of(store, ("scores", 4 * batch * seq * (past + seq), 0, 1))
    ranged = peak.over(batch=(1, 8), seq=(1, 4096), assume=["past+seq<=4096"])
    assert (ranged.value, ranged.engine) == (4 * 8 * 4096 * 4096, "isl")
    only = peak_of(store, ("scores", 4 * batch * seq * seq, 0, 1))
    assert only.at(batch=4, seq=512).bytes == 4 * 4 * 512 * 512
    assert only.largest("seq", limit="64MiB", batch=4).value == 2048  # 16 * 2048 ** 2 == 64 MiB


def test_dims_with_the_names_of_arguments_go_into_the_mapping():
    store = store_of(("name", 1), ("limit", 1), ("sizes", 1))
    name, limit, sizes = (store.scope.symbol(text) for text in ("name", "limit", "sizes"))
    peak = peak_of(store, ("t", name * limit * sizes, 0, 1))
    assert peak.at(name=2, limit=3, sizes=5).bytes == 30
    assert peak.largest("limit", 100, {"sizes": 5}, name=2).value == 10


def test_a_size_in_both_mapping_and_keywords_is_refused():
    for query in (forced().at, forced().over):
        with pytest.raises(ShapeInferenceError, match="H is specified twice: 8 and 16"):
            query({"H": 8}, H=16)


def test_all_dims_without_a_bound_are_named_not_just_those_of_a_single_point():
    store = store_of(("a", 1), ("b", 1), ("c", 1, 4))
    a, b, c = (store.scope.symbol(name) for name in "abc")
    actual = peak_of(store, ("t", 4 * a * c, 0, 1), ("u", 8 * b, 1, 2), ("v", c * c, 2, 3)).over()
    assert (actual.value, actual.unbounded, str(actual)) == (None, ("a", "b"), "no bound (a, b have none)")


def test_dims_that_constraints_fix_need_no_size():
    assert forced().at(H=8, p=5, q=1).bytes == 8
    assert forced().at(H=8, p=9, q=1, batch=1).bytes == 9


@pytest.mark.parametrize("query", [lambda p: p.over(H=(65, 80)), lambda p: p.over(H=(1, 64), assume="H <= 7")])
def test_ranges_that_cannot_be(query):
    with pytest.raises(Contradiction):
        query(forced())


def test_division_by_zero_is_an_answer_in_words():
    store = store_of(("a", 1), ("b", 1))
    peak = peak_of(store, ("t", store.scope.symbol("a") // (store.scope.symbol("b") - 1), 0, 1))
    assert peak.at(a=9, b=4).bytes == 3
    with pytest.raises(ShapeInferenceError, match="divides by zero for these sizes"):
        peak.at(a=9, b=1)


def test_no_program_points():
    peak = Peak(Timeline((), ()), ShapeStore())
    assert (str(peak), peak.at().bytes, peak.at().point, peak.over().value) == ("0", 0, None, 0)


@pytest.mark.parametrize(
    ("size", "limit", "known", "expected"),
    [
        ("4*b*s*s", "64MiB", {"b": 4}, 2048),
        ("4*b*s*s", 15, {"b": 4}, None),
        ("4*b*s*s", "16 GiB", {"b": (1, 4)}, 32768),
        ("4*b*s*s", 10**30, {"b": 1, "s": (1, 77)}, 77),
        ("100 - s", 60, {"s": (1, 90)}, 90),
        ("s*(100 - s)", 99, {"s": (1, 98)}, 1),
        ("s + 10*(s % 7)", 60, {"s": (1, 100)}, 56),
        ("64*((s + 1)//2)", 640, {}, 20),
    ],
)
def test_largest(size, limit, known, expected):
    store = store_of(("b", 1), ("s", 1))
    actual = peak_of(store, ("t", parse_dim(size, store.scope), 0, 1)).largest("s", limit, known)
    assert (actual.value, actual.proven, actual.unlimited) == (expected, True, False)


def test_largest_that_runs():
    store = store_of(("s", 1))
    s = store.scope.symbol("s")
    store.add_divisible(s, 32, Source("concat", "halves must meet"))
    peak = peak_of(store, ("t", 10 * s, 0, 1))
    assert str(peak.largest("s", 1000)) == "s = 96 needs 960 of 1000 bytes"
    assert str(peak.largest("s", 319)) == "no size of s fits into 319 bytes"
    assert peak.largest("s", 10**6, s=(1, 100)).value == 96


def test_largest_where_other_dims_follow():
    actual = kv(ShapeStore()).largest("seq", 100 * MiB, past=(0, 4095), assume="past + seq <= 4096")
    assert actual.value == max(s for s in range(1, 4097) if 256 * 4096 + 8 * s * 4096 <= 100 * MiB)
    assert (actual.bytes, actual.proven) == (256 * 4096 + 8 * actual.value * 4096, True)


def test_largest_without_an_end():
    store = store_of(("s", 1), ("b", 1))
    b, s = store.scope.symbol("b"), store.scope.symbol("s")
    assert peak_of(store, ("t", 4 * b, 0, 1)).largest("s", 8, b=2).unlimited
    assert "every size of s" in str(peak_of(store, ("t", 4 * b, 0, 1)).largest("s", 8, b=2))
    for size, missing in ((b * s, "b"), (maximum(20 - s, 3), "s")):
        with pytest.raises(MissingSizeError, match=f"for {missing}:"):
            peak_of(store, ("t", size, 0, 1)).largest("s", 8)


def test_a_dim_that_equals_another_dim_is_queried():
    store = store_of(("H", 1), ("W", 1))
    h, w = store.scope.symbol("H"), store.scope.symbol("W")
    store.add_equal(h, w, Source("add", "sizes must be equal"))
    peak = peak_of(store, ("t", h * w, 0, 1))
    assert [peak.largest(name, 100).value for name in "HW"] == [10, 10]
    assert [len(peak.regions(name, {name: (1, 9)})) for name in "HW"] == [1, 1]
    assert peak.at(W=5).bytes == peak.at(H=5, W=5).bytes == 25
    with pytest.raises(Contradiction, match="sizes must be equal"):
        peak.at(H=5, W=6)


def test_regions():
    store = store_of(("s", 1), ("b", 1))
    b, s = store.scope.symbol("b"), store.scope.symbol("s")
    peak = peak_of(store, ("t", 100 * b, 0, 1), ("u", b * ceildiv(s, 2), 1, 2))
    actual = peak.regions("s", b=3, s=(1, 400))
    assert [(r.first, r.last, r.point.node) for r in actual] == [(1, 200, "n0"), (201, 400, "n1")]
    with pytest.raises(MissingSizeError, match="for b"):
        peak.regions("s", s=(1, 400))
    with pytest.raises(MissingSizeError, match="for s"):
        peak.regions("s", b=3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("64MiB", 64 * MiB),
        (" 1.5 GB ", 1_500_000_000),
        ("7", 7),
        ("2 kb", 2000),
        ("0.5KiB", 512),
        ("9 bytes", 9),
        (0, 0),
    ],
)
def test_amounts_of_memory(text, expected):
    assert parse_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "MiB", "64 MiBs", "-1", -1, True, None, 1.5, "1e9", "5 iB", "1,5 GB", "nan"])
def test_amounts_of_memory_that_are_none(text):
    with pytest.raises(BytesError, match="is not an amount of memory"):
        parse_bytes(text)


def test_constraints_of_nodes_narrow_the_ranges():
    store = store_of(("batch", 1), ("seq", 1), ("H", 1))
    b, s, h = (store.scope.symbol(name) for name in ("batch", "seq", "H"))
    store.add_disjunction("{0} == {1} or {0} == 1 or {1} == 1", Source("add", "must broadcast"), minimum(s, 64), s)
    store.add_equal(2 * ((h + 31) // 32), (h + 15) // 16, Source("concat", "sizes must meet"))
    peak = peak_of(store, ("t", 4 * b * s * ((h + 15) // 16), 0, 1))
    actual = peak.over(batch=8, seq=(1, 512), H=(1, 499))
    runs = [h for h in range(1, 500) if 2 * ((h + 31) // 32) == (h + 15) // 16]
    assert (actual.value, actual.tight) == (4 * 8 * 64 * max((h + 15) // 16 for h in runs), True)
    assert actual.sizes["seq"] == 64
    assert actual.sizes["H"] in runs
    assert peak.largest("H", 4 * 8 * 64 * 12, batch=8, seq=64).value == max(h for h in runs if (h + 15) // 16 <= 12)
    assert peak.largest("seq", 10**9, batch=8, H=32).value == 64
