"""Branches, loops, scans and functions: what runs in onnxruntime has the shapes that we say, exact where that can be.

Texts of expected shapes are derived in a comment, or are what the operator's definition says outright.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from shapeinf import ModelError, ShapeError, infer_shapes
from shapeinf.ops import Dialect, OpRegistry, default_registry
from tests.engine.runtime import agree, check, inferred, parsed, run, shapes

F32 = "float32"


def ones(*shape):
    return np.ones(shape, F32)


# -- If

BRANCHES = """
  y = If (c) <
    then_branch = a () => (float[] p) { p = THEN },
    else_branch = b () => (float[] q) { q = ELSE }
  >
"""


def branches(then, other, inputs="bool c, float[N, 4] x, float[M, 4] z", before="", after=""):
    body = BRANCHES.replace("THEN", then).replace("ELSE", other)
    return f"g ({inputs}) => (float[] y) {{ {before} {body} {after} }}"


def test_a_decided_branch_is_the_only_one():
    text = branches("Relu(x)", "Shape(x)", "float[N, 4] x", "c = Constant<value = bool {1}>()")
    assert shapes(inferred(text), "y") == ["float32[N, 4]"]
    text = branches("Shape(x)", "Relu(x)", "float[N, 4] x", "c = Constant<value = bool {0}>()")
    assert shapes(inferred(text), "y") == ["float32[N, 4]"]


def test_facts_decide_a_branch():
    """With 5 rows or more the first branch runs, whatever N is; with fewer than 4 it is the other."""
    before = """
      s = Shape<start = 0, end = 1>(x)
      four = Constant<value = int64[1] {4}>()
      more = Greater(s, four)
      c = Squeeze(more)
    """
    text = branches("Transpose(x)", "Relu(x)", "float[N, 3] x", before)
    assert shapes(check(text, {"x": ones(7, 3)}, dims={"N": "5..8"}), "y") == ["float32[3, N]"]
    assert shapes(check(text, {"x": ones(2, 3)}, dims={"N": "1..3"}), "y") == ["float32[N, 3]"]
    (first, second) = check(text, {"x": ones(7, 3)}, {"x": ones(2, 3)}).tensors["y"].shape
    assert not isinstance(first, int) and not isinstance(second, int)


@pytest.mark.parametrize(
    ("then", "other", "expected"),
    [
        ("Relu(x)", "Tanh(x)", "float32[N, 4]"),
        ("Concat<axis = 1>(x, x)", "Concat<axis = 1>(x, x)", "float32[N, 8]"),
    ],
)
def test_what_both_branches_agree_on_is_known(then, other, expected):
    runs = [{"c": c, "x": ones(3, 4), "z": ones(5, 4)} for c in (True, False)]
    assert shapes(check(branches(then, other), *runs), "y") == [expected]


def test_sizes_that_differ_are_bounded_by_both_branches():
    result = check(
        branches("Relu(x)", "Concat<axis = 0>(x, x)", "bool c, float[3, 4] x"),
        *({"c": c, "x": ones(3, 4)} for c in (True, False)),
    )
    rows, columns = result.tensors["y"].shape
    assert columns == 4
    assert str(result.interval(rows)) == "3..6"


def test_ranks_that_differ_are_unknown():
    runs = [{"c": c, "x": ones(3, 4), "z": ones(5, 4)} for c in (True, False)]
    result = check(branches("Relu(x)", "ReduceSum<keepdims = 0>(x)"), *runs)
    assert shapes(result, "y") == ["float32?"]


def test_facts_of_an_undecided_branch_are_forgotten_outside():
    """The product needs K = 3, but only where that branch runs: outside K may be anything."""
    text = """g (bool c, float[N, K] x, float[3, 4] w) => (float[] y, float[] r) {
      y = If (c) <
        then_branch = a () => (float[] p) { m = MatMul(x, w)  p = ReduceSum<keepdims = 0>(m) },
        else_branch = b () => (float[] q) { q = ReduceSum<keepdims = 0>(x) }
      >
      r = Relu(x)
    }"""
    result = check(
        text,
        {"c": True, "x": ones(2, 3), "w": ones(3, 4)},
        {"c": False, "x": ones(2, 7), "w": ones(3, 4)},
    )
    assert shapes(result, "x", "r", "y") == ["float32[N, K]", "float32[N, K]", "float32[]"]


def test_facts_of_a_decided_branch_hold_outside():
    text = """g (float[N, K] x, float[3, 4] w) => (float[] y, float[] r) {
      c = Constant<value = bool {1}>()
      y = If (c) <
        then_branch = a () => (float[] p) { p = MatMul(x, w) },
        else_branch = b () => (float[] q) { q = Relu(x) }
      >
      r = Relu(x)
    }"""
    result = check(text, {"x": ones(2, 3), "w": ones(3, 4)})
    assert shapes(result, "x", "r", "y") == ["float32[N, 3]", "float32[N, 3]", "float32[N, 4]"]


def test_one_branch_may_contradict_the_other():
    """Only one of the products can ever run; the other is not wrong as long as its branch does not."""
    text = """g (bool c, float[N, K] x, float[3, 4] w, float[5, 4] v) => (float[] y, float[] r) {
      y = If (c) <
        then_branch = a () => (float[] p) { p = MatMul(x, w) },
        else_branch = b () => (float[] q) { q = MatMul(x, v) }
      >
      r = Relu(x)
    }"""
    w, v = ones(3, 4), ones(5, 4)
    result = check(text, {"c": True, "x": ones(2, 3), "w": w, "v": v}, {"c": False, "x": ones(2, 5), "w": w, "v": v})
    assert shapes(result, "y", "r") == ["float32[N, 4]", "float32[N, K]"]
    assert not result.diagnostics


def test_a_broken_law_is_an_error_only_where_the_branch_runs():
    broken = "MatMul(x, w)"
    text = branches(broken, "Relu(x)", "bool c, float[N, 4] x, float[5, 4] w")
    assert [d.severity for d in inferred(text).diagnostics if d.code.startswith("S1")] == ["warning"]
    text = branches(broken, "Relu(x)", "float[N, 4] x, float[5, 4] w", "c = Constant<value = bool {1}>()")
    (error,) = inferred(text).diagnostics
    assert (error.severity, error.op) == ("error", "MatMul (version 19)")
    assert error.node.startswith("y/")


def test_branches_need_equally_many_outputs():
    text = """g (bool c, float[N] x) => (float[] y) {
      y = If (c) <then_branch = a () => (float[] p) { p = Relu(x) },
                  else_branch = b () => (float[] q, float[] r) { q = Relu(x) r = Relu(x) }>
    }"""
    assert "as many outputs" in inferred(text).diagnostics[0].message


def test_branches_may_give_sequences():
    text = """g (bool c, float[N, 4] x, float[M, 4] z) => (float[] y) {
      s = If (c) <then_branch = a () => (seq(float[]) p) { p = SequenceConstruct(x, z) },
                  else_branch = b () => (seq(float[]) q) { q = SequenceConstruct(z, z) }>
      y = ConcatFromSequence<axis = 0>(s)
    }"""
    result = check(text, *({"c": c, "x": ones(3, 4), "z": ones(5, 4)} for c in (True, False)))
    assert result.tensors["s"].kind == "sequence"
    assert result.tensors["y"].shape[1] == 4


# -- Loop


def loop(body, inputs, carried, outputs, before="", after="", limit="trips", go=""):
    """A loop; `body` makes go2 and the values listed after it."""
    return f"g ({inputs}) => ({outputs}) {{ {before} {carried} = Loop ({limit}, {go}) <body = {body}> {after} }}"


CACHE = """g (float[T] steps, float[B, L, 8] cache, float[B, 2, 8] new) => (float[] y, float[] z) {
  trips = Shape<start = 0, end = 1>(steps)
  n = Squeeze(trips)
  y, z = Loop (n, , cache) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2, float[] e) {
    go2 = Identity(go)
    h2 = Concat<axis = 1>(h, new)
    e = ReduceSum<keepdims = 0>(new)
  }>
}"""


def test_a_growing_cache_has_its_exact_size():
    """Every trip adds 2 rows, and there are T trips: L + 2*T. Of each trip one scalar is kept: [T]."""
    runs = [{"steps": ones(t), "cache": ones(3, 5, 8), "new": ones(3, 2, 8)} for t in (1, 4)]
    result = check(CACHE, *runs)
    assert shapes(result, "y", "z") == ["float32[B, 2*T + L, 8]", "float32[T]"]


def test_a_counter_carried_by_the_loop_is_known_after_it():
    """The counter starts at 3 and gains 2 a trip."""
    text = """g (float[T] steps) => (float[] y) {
      trips = Shape<start = 0, end = 1>(steps)
      n = Squeeze(trips)
      three = Constant<value = int64 {3}>()
      two = Constant<value = int64 {2}>()
      k = Loop (n, , three) <body = b (int64 i, bool go, int64 h) => (bool go2, int64 h2) {
        go2 = Identity(go)
        h2 = Add(h, two)
      }>
      zero = Constant<value = int64[1] {0}>()
      shape = Unsqueeze(k, zero)
      y = ConstantOfShape(shape)
    }"""
    assert shapes(check(text, {"steps": ones(1)}, {"steps": ones(6)}), "y") == ["float32[2*T + 3]"]


def test_the_iteration_number_is_known_inside_the_body():
    """Trip i makes [i + 1], and i is 3 in the last of 4 trips."""
    text = """g (float[2] x) => (float[] y) {
      n = Constant<value = int64 {4}>()
      y = Loop (n, , x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2) {
        go2 = Identity(go)
        one = Constant<value = int64[1] {1}>()
        zero = Constant<value = int64[1] {0}>()
        k = Unsqueeze(i, zero)
        shape = Add(k, one)
        h2 = ConstantOfShape(shape)
      }>
    }"""
    assert shapes(check(text, {"x": ones(2)}), "y") == ["float32[4]"]


@pytest.mark.parametrize(("trips", "rows"), [(0, 2), (1, 4), (3, 16)])
def test_a_loop_that_doubles_a_size_is_unrolled(trips, rows):
    """2 rows doubled three times are 16, not 4."""
    text = f"""g (float[2, 3] x) => (float[] y, float[] z) {{
      n = Constant<value = int64 {{{trips}}}>()
      y, z = Loop (n, , x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2, int64 e) {{
        go2 = Identity(go)
        h2 = Concat<axis = 0>(h, h)
        e = Identity(i)
      }}>
    }}"""
    model = parsed(text)
    model.graph.output[1].type.tensor_type.elem_type = onnx.TensorProto.INT64
    result = infer_shapes(model)
    assert result.tensors["y"].shape.dims == (rows, 3)
    assert run(model, {"x": ones(2, 3)})["y"].shape == (rows, 3)
    if trips:
        assert str(result.tensors["z"]) == f"int64[{trips}]"


def test_a_loop_that_doubles_a_size_unknown_times_is_bounded_below():
    text = """g (int64 n, float[2, 3] x) => (float[] y) {
      y = Loop (n, , x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2) {
        go2 = Identity(go)
        h2 = Concat<axis = 0>(h, h)
      }>
    }"""
    result = check(text, *({"n": n, "x": ones(2, 3)} for n in (0, 1, 2, 5)))
    rows, columns = result.tensors["y"].shape
    assert columns == 3
    assert str(result.interval(rows)) == "2.."


def test_a_shape_that_stays_is_known_whatever_the_number_of_trips():
    text = """g (int64 n, bool c, float[N, 3] x) => (float[] y, float[] z) {
      y, z = Loop (n, c, x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2, float[] e) {
        s = ReduceSum<keepdims = 0>(h)
        zero = Constant<value = float {0.0}>()
        go2 = Greater(s, zero)
        h2 = Relu(h)
        e = Transpose(h)
      }>
    }"""
    x = ones(2, 3)
    runs = [{"n": n, "c": True, "x": x} for n in (1, 4)]
    result = check(text, *runs, {"n": 4, "c": True, "x": -x})
    assert shapes(result, "y") == ["float32[N, 3]"]
    assert shapes(result, "z")[0].endswith(", 3, N]")


def test_a_while_loop_runs_at_least_once_when_its_condition_starts_true():
    """The body stops it when it likes: 1 to 10 trips, so 1 to 10 elements and 3 rows at least."""
    text = """g (float[1, 3] x) => (float[] y, float[] z) {
      n = Constant<value = int64 {10}>()
      c = Constant<value = bool {1}>()
      y, z = Loop (n, c, x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2, float[] e) {
        s = ReduceSum<keepdims = 0>(h)
        many = Constant<value = float {30.0}>()
        go2 = Less(s, many)
        h2 = Concat<axis = 0>(h, x, x)
        e = ReduceSum<keepdims = 0>(x)
      }>
    }"""
    result = check(text, {"x": ones(1, 3)}, {"x": 20 * ones(1, 3)}, {"x": -ones(1, 3)})
    rows, columns = result.tensors["y"].shape
    assert columns == 3
    assert str(result.interval(rows)) == "3..21"
    (trips,) = result.tensors["z"].shape
    assert str(result.interval(trips)) == "1..10"
    assert rows is 2 * trips + 1  # two more rows a trip, however many trips there are


def test_a_loop_that_stops_after_one_trip_makes_none_under_a_limit_of_0():
    """go2 is false in every trip, so there is one trip or, for n of 0, none: 2 or 4 rows."""
    text = """g (int64 n, float[2, 3] x) => (float[] y) {
      c = Constant<value = bool {1}>()
      y = Loop (n, c, x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2) {
        zero = Constant<value = int64 {0}>()
        go2 = Less(i, zero)
        h2 = Concat<axis = 0>(h, x)
      }>
    }"""
    result = check(text, *({"n": n, "x": ones(2, 3)} for n in (0, 1, 5)))
    assert str(result.interval(result.tensors["y"].shape[0])) == "2..4"


@pytest.mark.parametrize("limit", [9223372036854775807, 2147483647, 100])
def test_a_while_loop_over_a_counter_has_a_known_number_of_trips(limit):
    """As exporters write `while i < n and k < n`: the counter starts at 0, so there is one trip a row."""
    text = f"""g (float[N, 2] x) => (float[] z) {{
      most = Constant<value = int64 {{{limit}}}>()
      zero = Constant<value = int64 {{0}}>()
      one = Constant<value = int64 {{1}}>()
      s = Shape<start = 0, end = 1>(x)
      n = Squeeze(s)
      c = Less(zero, n)
      k, z = Loop (most, c, zero) <body = b (int64 i, bool go, int64 k) => (bool go2, int64 k2, float[] e) {{
        k2 = Add(k, one)
        first = Less(k2, n)
        i2 = Add(i, one)
        second = Less(i2, n)
        go2 = And(first, second)
        e = Gather(x, k)
      }}>
    }}"""
    result = check(text, {"x": ones(1, 2)}, {"x": ones(5, 2)})
    trips, columns = result.tensors["z"].shape
    assert (str(trips), columns) == ("N" if limit > 100 else "min(N, 100)", 2)


def test_a_condition_on_what_each_trip_counts_anew_only_bounds_the_trips():
    """The count of one trip is not that of another: three trips end at a count of 1, not of 2."""
    text = """g (float[4, n] x) => (float[] y) {
      lim = Constant<value_int = 100>()
      go = Constant<value = bool {1}>()
      y = Loop(lim, go) <body = b (int64 i, bool c) => (bool c2, float[] o) {
        o = Gather<axis = 1>(x, i)
        found = NonZero(o)
        sizes = Shape(found)
        one = Constant<value_int = 1>()
        count = Gather(sizes, one)
        c2 = Less(i, count)
      }>
    }"""
    x = ones(4, 9) * (np.arange(4)[:, None] < np.array([4, 3, 1, *[0] * 6], F32))
    result = check(text, {"x": x})
    trips, rows = result.tensors["y"].shape
    assert (trips.is_symbol, "found" in trips.name, str(result.interval(trips)), rows) == (True, False, "1..5", 4)


def test_a_condition_on_the_iteration_number_counts_the_trips():
    """go2 of trip i is (i < 2), so trips 0, 1, 2 run and no more: 3 elements."""
    text = """g (float[N] x) => (float[] y, float[] z) {
      n = Constant<value = int64 {9}>()
      c = Constant<value = bool {1}>()
      y, z = Loop (n, c, x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2, float[] e) {
        two = Constant<value = int64 {2}>()
        go2 = Less(i, two)
        h2 = Concat<axis = 0>(h, x)
        e = Relu(x)
      }>
    }"""
    assert shapes(check(text, {"x": ones(5)}), "y", "z") == ["float32[4*N]", "float32[3, N]"]


def test_a_loop_that_never_runs_gives_what_it_was_given():
    text = """g (int64 n, float[N, 3] x) => (float[] y, float[] z) {
      c = Constant<value = bool {0}>()
      y, z = Loop (n, c, x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2, float[] e) {
        go2 = Identity(go)
        h2 = Concat<axis = 0>(h, h)
        e = Relu(x)
      }>
    }"""
    result = check(text, {"n": 3, "x": ones(2, 3)})
    assert shapes(result, "y") == ["float32[N, 3]"]


def test_a_negative_limit_is_no_trip():
    text = """g (float[N, 3] x) => (float[] y) {
      n = Constant<value = int64 {-1}>()
      y = Loop (n, , x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2) {
        go2 = Identity(go)
        h2 = Concat<axis = 0>(h, h)
      }>
    }"""
    assert shapes(check(text, {"x": ones(2, 3)}), "y") == ["float32[N, 3]"]


def test_a_rank_that_changes_is_unknown():
    text = """g (int64 n, float[2] x) => (float[] y) {
      y = Loop (n, , x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2) {
        go2 = Identity(go)
        zero = Constant<value = int64[1] {0}>()
        h2 = Unsqueeze(h, zero)
      }>
    }"""
    assert shapes(check(text, {"n": 0, "x": ones(2)}, {"n": 3, "x": ones(2)}), "y") == ["float32?"]


def test_values_that_swap_places_are_joined():
    """After an even number of trips y is x, after an odd one it is z."""
    text = """g (int64 n, float[2, 3] x, float[5, 3] z) => (float[] y, float[] u) {
      y, u = Loop (n, , x, z) <body = b (int64 i, bool go, float[] h, float[] k) => (bool go2, float[] k2, float[] h2) {
        go2 = Identity(go)
        h2 = Identity(h)
        k2 = Identity(k)
      }>
    }"""
    result = check(text, *({"n": n, "x": ones(2, 3), "z": ones(5, 3)} for n in (0, 1, 2)))
    rows, columns = result.tensors["y"].shape
    assert columns == 3
    assert str(result.interval(rows)) == "2..5"


SEQUENCE = """g (float[T] steps, float[B, 2, 8] x) => (float[] y, float[] z, int64 k) {
  trips = Shape<start = 0, end = 1>(steps)
  n = Squeeze(trips)
  empty = SequenceEmpty<dtype = 1>()
  s = Loop (n, , empty) <body = b (int64 i, bool go, seq(float[]) h) => (bool go2, seq(float[]) h2) {
    go2 = Identity(go)
    h2 = SequenceInsert(h, x)
  }>
  k = SequenceLength(s)
  y = ConcatFromSequence<axis = 1>(s)
  z = ConcatFromSequence<axis = 1, new_axis = 1>(s)
}"""


def test_a_sequence_appended_to_in_a_loop_knows_its_length():
    """T elements of 2 rows are 2*T rows side by side, or T times 2 along a new axis."""
    result = check(SEQUENCE, *({"steps": ones(t), "x": ones(3, 2, 8)} for t in (1, 4)))
    assert shapes(result, "y", "z") == ["float32[B, 2*T, 8]", "float32[B, T, 2, 8]"]


def test_loops_in_loops():
    """Every outer trip runs T inner trips of 1 row each: after 3 outer trips L + 3*T rows."""
    text = """g (float[T] steps, float[L, 8] x, float[1, 8] row) => (float[] y) {
      trips = Shape<start = 0, end = 1>(steps)
      n = Squeeze(trips)
      three = Constant<value = int64 {3}>()
      y = Loop (three, , x) <body = outer (int64 i, bool go, float[] h) => (bool go2, float[] h2) {
        go2 = Identity(go)
        h2 = Loop (n, , h) <body = inner (int64 j, bool on, float[] k) => (bool on2, float[] k2) {
          on2 = Identity(on)
          k2 = Concat<axis = 0>(k, row)
        }>
      }>
    }"""
    result = check(text, *({"steps": ones(t), "x": ones(2, 8), "row": ones(1, 8)} for t in (1, 5)))
    assert shapes(result, "y") == ["float32[3*T + L, 8]"]


def nested(depth):
    """A body of loops in loops, whose innermost doubles its rows."""
    inner = f"Concat<axis = 0>(h{depth}, h{depth})"
    if depth:
        inner = f"Loop (n, c{depth}, h{depth}) <body = {nested(depth - 1)}>"
    signature = f"b{depth} (int64 i{depth}, bool c{depth}, float[] h{depth}) => (bool d{depth}, float[] o{depth})"
    return f"{signature} {{ d{depth} = Identity(c{depth}) o{depth} = {inner} }}"


def test_loops_in_loops_in_loops_end(monkeypatch):
    """Each level runs the one below several times: what would take too long is unknown, with that as the reason."""
    monkeypatch.setattr("shapeinf.engine.inference.MAX_WORK_IN_BODIES", 20_000)
    text = f"g (int64 n, bool c, float[N, 3] x) => (float[] y) {{ y = Loop (n, c, x) <body = {nested(12)}> }}"
    result = inferred(text)
    assert result.tensors["y"].shape.dims is None
    assert "run too many nodes" in result.diagnostics[0].message


def test_a_branch_in_a_loop_is_decided_by_the_iteration_number():
    """Only trip 0 takes the first branch, which adds a row; the 3 others add two: L + 7."""
    text = """g (float[L, 8] x, float[1, 8] row) => (float[] y) {
      n = Constant<value = int64 {4}>()
      y = Loop (n, , x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2) {
        go2 = Identity(go)
        zero = Constant<value = int64 {0}>()
        first = Equal(i, zero)
        h2 = If (first) <then_branch = t () => (float[] p) { p = Concat<axis = 0>(h, row) },
                         else_branch = e () => (float[] q) { q = Concat<axis = 0>(h, row, row) }>
      }>
    }"""
    assert shapes(check(text, {"x": ones(2, 8), "row": ones(1, 8)}), "y") == ["float32[L + 7, 8]"]


def test_a_body_reads_the_graphs_around_it():
    """The innermost graph reads `w` of the outermost; what it demands of it holds where the branch runs for sure."""
    text = """g (float[T] steps, float[N, 8] x, float[K, 8] w) => (float[] y) {
      trips = Shape<start = 0, end = 1>(steps)
      n = Squeeze(trips)
      c = Constant<value = bool {1}>()
      y = Loop (n, , x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2) {
        go2 = Identity(go)
        h2 = If (c) <then_branch = t () => (float[] p) { p = MatMul(h, w) },
                     else_branch = e () => (float[] q) { q = Relu(h) }>
      }>
    }"""
    result = check(text, {"steps": ones(2), "x": ones(3, 8), "w": ones(8, 8)})
    assert shapes(result, "y") == ["float32[N, 8]"]


def test_a_body_may_hide_an_outer_name():
    text = """g (int64 n, float[N, 8] x, float[K] h) => (float[] y, float[] r) {
      y = Loop (n, , x) <body = b (int64 i, bool go, float[] inside) => (bool go2, float[] out) {
        go2 = Identity(go)
        out = Relu(inside)
      }>
      r = Relu(h)
    }"""
    assert shapes(inferred(text), "y", "r") == ["float32[N, 8]", "float32[K]"]


def test_what_a_body_cannot_find_is_an_error():
    text = branches("Relu(nowhere)", "Relu(x)")
    with pytest.raises(ModelError, match="nowhere"):
        inferred(text)


# -- Scan

SCAN = """g (float[D] start, float[T, D] xs) => (float[] y, float[] z) {
  y, z = Scan <num_scan_inputs = 1, ATTRIBUTES body = b (float[] h, float[] x) => (float[] h2, float[] e) {
    h2 = Add(h, x)
    e = Concat<axis = 0>(h, x)
  }> (start, xs)
}"""


@pytest.mark.parametrize(
    ("attributes", "xs", "expected"),
    [
        ("", "T, D", "float32[T, 2*D]"),
        ("scan_input_axes = [1], ", "D, T", "float32[T, 2*D]"),
        ("scan_input_axes = [-1], scan_output_axes = [-1], ", "D, T", "float32[2*D, T]"),
        ("scan_output_axes = [1], scan_output_directions = [1], ", "T, D", "float32[2*D, T]"),
    ],
)
def test_a_scan_keeps_its_state_and_stacks_its_outputs(attributes, xs, expected):
    text = SCAN.replace("ATTRIBUTES ", attributes).replace("T, D] xs", f"{xs}] xs")
    runs = [{"start": ones(3), "xs": ones(*(t if name == "T" else 3 for name in xs.split(", ")))} for t in (1, 5)]
    assert shapes(check(text, *runs), "y", "z") == ["float32[D]", expected]


def test_a_scan_learns_backwards_from_its_state():
    """The state keeps its shape: [N] + [4] must be [N] again, so N is 4."""
    text = SCAN.replace("ATTRIBUTES ", "").replace("float[D] start", "float[N] start").replace("T, D]", "T, 4]")
    result = check(text, {"start": ones(4), "xs": ones(5, 4)})
    assert shapes(result, "y") == ["float32[4]"]


def test_scans_of_two_inputs_must_be_of_one_length():
    text = """g (float[T, 3] a, float[6, 3] b) => (float[] z) {
      z = Scan <num_scan_inputs = 2, body = s (float[] p, float[] q) => (float[] e) { e = Add(p, q) }> (a, b)
    }"""
    result = check(text, {"a": ones(6, 3), "b": ones(6, 3)})
    assert shapes(result, "a", "z") == ["float32[6, 3]", "float32[6, 3]"]
    assert "equal length" in inferred(text, inputs={"a": [5, 3]}).diagnostics[0].message


def test_a_state_that_changes_its_shape_is_an_error():
    text = """g (float[3] start, float[T, 3] xs) => (float[] y) {
      y = Scan <num_scan_inputs = 1, body = b (float[] h, float[] x) => (float[] h2) { h2 = Concat<axis = 0>(h, x) }>
        (start, xs)
    }"""
    (error,) = inferred(text).diagnostics
    assert "state 0 must keep its shape" in error.message


def test_a_scan_of_opset_8_has_a_batch_axis_that_its_body_does_not_see():
    text = """g (float[B, D] start, float[B, T, D] xs) => (float[] y, float[] z) {
      y, z = Scan <num_scan_inputs = 1, body = b (float[] h, float[] x) => (float[] h2, float[] e) {
        h2 = Add(h, x)
        e = Concat<axis = 0>(h, x)
      }> ( , start, xs)
    }"""
    result = check(text, {"start": ones(2, 3), "xs": ones(2, 5, 3)}, opset=8)
    assert shapes(result, "y", "z") == ["float32[B, D]", "float32[B, T, 2*D]"]


def test_a_scan_without_states():
    text = """g (float[T, N, 3] xs) => (float[] z) {
      z = Scan <num_scan_inputs = 1, body = b (float[] x) => (float[] e) { e = Transpose(x) }> (xs)
    }"""
    assert shapes(check(text, {"xs": ones(5, 2, 3)}), "z") == ["float32[T, 3, N]"]


# -- SequenceMap


def test_a_map_over_a_sequence_keeps_its_length():
    """Both elements get 3 columns more: 7 and 8."""
    text = """g (float[N, 4] a, float[N, 5] b, float[N, 3] extra) => (float[] y, float[] e) {
      s = SequenceConstruct(a, b)
      m = SequenceMap <body = f (float[] x, float[] w) => (float[] o) { o = Concat<axis = 1>(x, w) }> (s, extra)
      one = Constant<value = int64 {1}>()
      e = SequenceAt(m, one)
      y = ConcatFromSequence<axis = 1>(m)
    }"""
    result = check(text, {"a": ones(2, 4), "b": ones(2, 5), "extra": ones(2, 3)})
    rows, columns = result.tensors["m"].shape
    assert (result.tensors["m"].kind, str(rows), str(result.interval(columns))) == ("sequence", "N", "7..8")
    assert shapes(result, "y") == ["float32[N, 15]"]


def test_a_map_over_two_sequences():
    text = """g (float[N, 4] a, float[M] b) => (float[] y) {
      s = SequenceConstruct(a, a, a)
      t = SequenceConstruct(b, b, b)
      m, k = SequenceMap <body = f (float[] x, float[] w) => (float[] o, float[] p) {
        o = Transpose(x)
        p = Concat<axis = 0>(w, w)
      }> (s, t)
      y = ConcatFromSequence<axis = 0, new_axis = 1>(m)
      z = ConcatFromSequence<axis = 0>(k)
    }"""
    result = check(text, {"a": ones(2, 4), "b": ones(5)})
    assert shapes(result, "y", "z") == ["float32[3, 4, N]", "float32[6*M]"]


# -- functions of the model

FUNCTIONS = """
<domain: "my", opset_import: ["" : 19, "my" : 1]>
"""


def with_functions(graph, *functions):
    return graph + "".join(FUNCTIONS + function for function in functions)


def test_a_function_is_inferred_for_each_call():
    """The same function gives [N, 8] rows doubled, and a vector doubled."""
    text = with_functions(
        "g (float[N, 8] x, float[M] v) => (float[] y, float[] z) { y = my.Twice(x) z = my.Twice(v) }",
        "Twice (p) => (q) { q = Concat<axis = 0>(p, p) }",
    )
    result = check(text, {"x": ones(2, 8), "v": ones(5)})
    assert shapes(result, "y", "z") == ["float32[2*N, 8]", "float32[2*M]"]


def test_attributes_of_a_function_and_their_defaults():
    text = with_functions(
        "g (float[N, 8] x) => (float[] y, float[] z) { y = my.Join(x) z = my.Join<axis = 1>(x) }",
        "Join <axis: int = 0> (p) => (q) { q = Concat<axis: int = @axis>(p, p) }",
    )
    result = check(text, {"x": ones(2, 8)})
    assert shapes(result, "y", "z") == ["float32[2*N, 8]", "float32[N, 16]"]


def test_an_attribute_that_is_not_given_is_not_there():
    """Transpose without `perm` reverses the axes."""
    text = with_functions(
        "g (float[A, B, C] x) => (float[] y, float[] z) { y = my.Turn(x) z = my.Turn<perm = [1, 0, 2]>(x) }",
        "Turn <perm> (p) => (q) { q = Transpose<perm: ints = @perm>(p) }",
    )
    result = check(text, {"x": ones(2, 3, 4)})
    assert shapes(result, "y", "z") == ["float32[C, B, A]", "float32[B, A, C]"]


def test_an_attribute_reaches_a_function_inside_a_function():
    text = with_functions(
        "g (float[N, 8] x) => (float[] y) { y = my.Outer<axis = 1>(x) }",
        "Outer <axis> (p) => (q) { r = my.Join<axis: int = @axis>(p) q = Relu(r) }",
        "Join <axis: int = 0> (p) => (q) { q = Concat<axis: int = @axis>(p, p) }",
    )
    assert shapes(check(text, {"x": ones(2, 8)}), "y") == ["float32[N, 16]"]


def test_an_attribute_reaches_a_body_inside_a_function():
    text = with_functions(
        "g (bool c, float[N, 8] x) => (float[] y) { y = my.Maybe<axis = 1>(c, x) }",
        """Maybe <axis: int = 0> (c, p) => (q) {
          q = If (c) <then_branch = t () => (r) { r = Concat<axis: int = @axis>(p, p) },
                      else_branch = e () => (s) { t = Relu(p) s = Concat<axis: int = @axis>(t, t) }>
        }""",
    )
    assert shapes(inferred(text), "y") == ["float32[N, 16]"]


def test_values_go_into_functions_and_come_out():
    """The function computes a shape from a shape."""
    text = with_functions(
        """g (float[N, 4, 2] x) => (float[] y) {
          s = Shape(x)
          t = my.Flat(s)
          y = Reshape(x, t)
        }""",
        """Flat (s) => (t) {
          zero = Constant<value = int64[1] {0}>()
          one = Constant<value = int64[1] {1}>()
          three = Constant<value = int64[1] {3}>()
          first = Slice(s, zero, one)
          rest = Slice(s, one, three)
          product = ReduceProd<keepdims = 1>(rest)
          t = Concat<axis = 0>(first, product)
        }""",
    )
    assert shapes(check(text, {"x": ones(3, 4, 2)}), "y") == ["float32[N, 8]"]


def test_a_call_may_leave_out_inputs_and_outputs():
    text = with_functions(
        "g (float[N, 8] x) => (float[] y) { y = my.Two(x) }",
        "Two (p, bias) => (q, r) { q = Relu(p) r = Shape(p) }",
    )
    assert shapes(inferred(text), "y") == ["float32[N, 8]"]


def test_a_call_with_too_many_inputs_is_an_error():
    text = with_functions(
        "g (float[N, 8] x) => (float[] y) { y = my.One(x, x) }",
        "One (p) => (q) { q = Relu(p) }",
    )
    (error,) = inferred(text).diagnostics
    assert (error.code, error.node) == ("S103", "y")


@pytest.mark.parametrize(
    "functions",
    [
        ("F (p) => (q) { q = my.F(p) }",),
        ("F (p) => (q) { q = my.G(p) }", "G (p) => (q) { q = my.F(p) }"),
        (
            """F (p) => (q) {
              c = Constant<value = bool {1}>()
              q = If (c) <then_branch = t () => (r) { r = my.F(p) }, else_branch = e () => (s) { s = Relu(p) }>
            }""",
        ),
    ],
    ids=["direct", "through another", "in a branch"],
)
def test_a_function_that_calls_itself_is_an_error(functions):
    with pytest.raises(ModelError, match="calls itself"):
        inferred(with_functions("g (float[N] x) => (float[] y) { y = my.F(x) }", *functions))


def test_a_function_that_is_never_called_may_call_itself():
    text = with_functions("g (float[N] x) => (float[] y) { y = Relu(x) }", "F (p) => (q) { q = my.F(p) }")
    assert shapes(inferred(text), "y") == ["float32[N]"]


def test_overloads_are_functions_of_their_own():
    model = parsed(
        with_functions(
            "g (float[N, 8] x) => (float[] y, float[] z) { y = my.F(x) z = my.F(x) }",
            "F (p) => (q) { q = Concat<axis = 0>(p, p) }",
            "F (p) => (q) { q = Concat<axis = 1>(p, p) }",
        )
    )
    model.graph.node[1].overload = model.functions[1].overload = "columns"
    result = infer_shapes(model)
    assert shapes(result, "y", "z") == ["float32[2*N, 8]", "float32[N, 16]"]
    for name, real in run(model, {"x": ones(2, 8)}).items():
        agree(result, name, real, {"N": 2})


def test_a_function_has_opsets_of_its_own():
    """Squeeze takes its axes as an attribute before opset 13, as an input since."""
    text = """g (float[1, N, 1] x) => (float[] y) { y = my.F(x) }
    <domain: "my", opset_import: ["" : 11]>
    F (p) => (q) { q = Squeeze<axes = [0]>(p) }"""
    assert shapes(inferred(text), "y") == ["float32[N, 1]"]


def test_an_operator_of_the_standard_wins_over_a_function_of_its_name():
    text = """g (float[N, 8] x) => (float[] y) { y = Relu(x) }
    <domain: "", opset_import: ["" : 19]>
    Relu (p) => (q) { q = Shape(p) }"""
    assert shapes(inferred(text), "y") == ["float32[N, 8]"]


def test_facts_of_a_function_hold_for_its_caller():
    text = with_functions(
        "g (float[N, K] x, float[3, 4] w) => (float[] y, float[] r) { y = my.F(x, w) r = Relu(x) }",
        "F (p, w) => (q) { q = MatMul(p, w) }",
    )
    result = check(text, {"x": ones(2, 3), "w": ones(3, 4)})
    assert shapes(result, "x", "y", "r") == ["float32[N, 3]", "float32[N, 4]", "float32[N, 3]"]


def test_an_error_in_a_function_names_the_call_and_the_node():
    text = with_functions(
        "g (float[N, 5] x, float[3, 4] w) => (float[] y) { y = my.F(x, w) }",
        "F (p, w) => (q) { q = MatMul(p, w) }",
    )
    (error,) = inferred(text).diagnostics
    assert (error.severity, error.node, error.op) == ("error", "y/q", "MatMul (version 19)")
    with pytest.raises(ShapeError) as caught:
        inferred(text, mode="strict")
    assert caught.value.node == "y/q"


def test_functions_nest_only_so_deep():
    """A chain of functions is no recursion, but hostile when it is long."""
    functions = [f"F{i} (p) => (q) {{ q = my.F{i + 1}(p) }}" for i in range(100)]
    text = with_functions(
        "g (float[N] x) => (float[] y) { y = my.F0(x) }", *functions, "F100 (p) => (q) { q = Relu(p) }"
    )
    with pytest.raises(ModelError, match="deeper than"):
        inferred(text)


# -- operators that the standard defines by others

WITHOUT_RULES = {
    "Celu": "Celu<alpha = 2.0>(x)",
    "Clip": "Clip(x)",
    "HardSwish": "HardSwish(x)",
    "MeanVarianceNormalization": "MeanVarianceNormalization<axes = [0, 2]>(x)",
    "ReduceSumSquare": "ReduceSumSquare<keepdims = 0>(x)",
    "ReduceLogSumExp": "ReduceLogSumExp<keepdims = 1>(x)",
    "Softmax": "Softmax<axis = 1>(x)",
    "Range": "Range(a, b, s)",
    "LayerNormalization": "LayerNormalization(x, w)",
}


class Expanding(Dialect):
    """The ONNX dialect without the rules of some operators, so that their definitions are expanded."""

    def __init__(self, *without):
        super().__init__("onnx")
        self.whole = default_registry().dialect("onnx")
        self.without = without

    def lookup(self, domain, op, version):
        return self.whole.schemas(domain, op, version) if op in self.without else self.whole.lookup(domain, op, version)


@pytest.mark.parametrize("op", sorted(WITHOUT_RULES))
def test_the_standards_definition_of_an_operator_is_expanded(op):
    text = f"""g (float[2, 3, 4] x, float[4] w) => (float[] y) {{
      a = Constant<value = float {{1.0}}>()
      b = Constant<value = float {{7.0}}>()
      s = Constant<value = float {{2.0}}>()
      y = {WITHOUT_RULES[op]}
    }}"""
    registry = OpRegistry(Expanding(op))
    result = check(text, {"x": ones(2, 3, 4), "w": ones(4)}, registry=registry)
    assert result.tensors["y"].shape.rank == infer_shapes(parsed(text)).tensors["y"].shape.rank
    assert not [d for d in result.diagnostics if d.code == "S201"]
