"""`Loop`: runs in onnxruntime have the inferred shapes, exact where possible.

A comment derives an expected shape that is not evident from the definition of the operator.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from tests.engine.runtime import F32, check, inferred, ones, parsed, run, shapes


def loop(body, inputs, carried, outputs, before="", after="", limit="trips", go=""):
    """A loop; `body` computes go2 and the values listed after it."""
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
    """Every trip adds 2 rows, and there are T trips: L + 2*T. Each trip has a scalar: [T]."""
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
    """Trip i has [i + 1], and i is 3 in the last of 4 trips."""
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
    """The condition of the body depends on data: 1 to 10 trips, so 1 to 10 elements and at least 3 rows."""
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


def test_a_loop_that_stops_after_its_first_iteration_has_none_under_a_limit_of_0():
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


def test_a_condition_on_a_counter_of_each_iteration_only_bounds_the_trips():
    """The count differs between trips: three trips end at a count of 1, not of 2."""
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


# Rows i + start to i + end of a value in trip i of T, and the size of all, where all trips have equally many.
SLICES = {
    "the row of the trip": (0, 1, "x", "T + 1"),
    "the row before the next one": (0, 0, "x", "1"),
    "the next row, which the last trip has not": (1, 2, "x", None),
    "two rows, of which the last trip has one": (0, 2, "x", None),
    "the row before, in the first trip from the end": (-1, 0, "x", None),
    "the row of a table of another length": (0, 1, "table", None),
    "the next row of a table with one row more": (1, 2, "longer", "T + 1"),
}


@pytest.mark.parametrize("case", SLICES)
def test_rows_of_a_trip_lie_inside_as_far_as_its_number_does(case):
    """The number of a trip is less than that of all trips."""
    start, end, source, rows = SLICES[case]
    text = f"""g (float[T, 4] x, float[S, 4] table, float[1, 4] first) => (y) {{
      trips = Shape<start = 0, end = 1>(x)
      n = Squeeze(trips)
      longer = Concat<axis = 0>(x, first)
      zero = Constant<value = int64[1] {{0}}>()
      start = Constant<value = int64 {{{start}}}>()
      end = Constant<value = int64 {{{end}}}>()
      y = Loop (n, , first) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2) {{
        go2 = Identity(go)
        a = Add(i, start)
        b = Add(i, end)
        from = Unsqueeze(a, zero)
        to = Unsqueeze(b, zero)
        part = Slice({source}, from, to, zero)
        h2 = Concat<axis = 0>(h, part)
      }}>
    }}"""
    runs = [{"x": ones(t, 4), "table": ones(s, 4), "first": ones(1, 4)} for t, s in ((1, 1), (3, 2), (3, 5), (5, 4))]
    size = str(check(text, *runs).tensors["y"].shape)
    assert size == f"[{rows}, 4]" if rows else size not in ("[T + 1, 4]", "[2*T + 1, 4]", "[1, 4]")


def test_a_loop_that_never_runs_returns_its_initial_values():
    """Symbolic sizes of an element keep their names; onnxruntime replaces them by 0, so the runs have numbers."""
    text = """g (int64 n, float[2, 3] x) => (float[] y, float[] z) {
      c = Constant<value = bool {0}>()
      y, z = Loop (n, c, x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2, float[] e) {
        go2 = Identity(go)
        h2 = Concat<axis = 0>(h, h)
        e = Relu(x)
      }>
    }"""
    result = check(text, {"n": 3, "x": ones(2, 3)})
    assert shapes(result, "y", "z") == ["float32[2, 3]", "float32[0, 2, 3]"]
    symbolic = infer_shapes(parsed(text.replace("float[2, 3] x", "float[N, 3] x")))
    assert shapes(symbolic, "y", "z") == ["float32[N, 3]", "float32[0, N, 3]"]


@pytest.mark.parametrize(("trips", "expected"), [(0, 0), (-2, 0), (1, 1)])
def test_a_scan_output_has_an_axis_of_trips_and_the_type_of_its_elements(trips, expected):
    text = """g (float[2, 3] x) => (float[] y, float[] z, float[] twice) {
      n = Constant<value = int64 {TRIPS}>()
      y, z = Loop (n, , x) <body = b (int64 i, bool go, float[2, 3] h) => (bool go2, float[2, 3] h2, float[2, 3] e) {
        go2 = Identity(go)
        h2 = Relu(h)
        e = Relu(h)
      }>
      twice = Concat<axis = 0>(z, z)
    }""".replace("TRIPS", str(trips))
    result = check(text, {"x": ones(2, 3)})
    assert shapes(result, "z", "twice") == [f"float32[{expected}, 2, 3]", f"float32[{2 * expected}, 2, 3]"]


def test_a_scan_output_of_a_loop_that_never_runs_has_no_type_of_a_carried_value():
    text = """g (int64 n, float[N, 3] x) => (float[] y, int64[] z) {
      y, z = Loop (n, , x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2, int64[] e) {
        go2 = Identity(go)
        h2 = Relu(h)
        e = Shape(h2)
      }>
    }"""
    model = parsed(text)
    model.graph.output[1].ClearField("type")
    assert infer_shapes(model, values={"n": 2}).tensors["z"].dtype == "int64"
    result = infer_shapes(model, values={"n": 0})
    assert shapes(result, "z") == ["int64[0, 2]"]
    assert not result.diagnostics


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


def test_values_that_are_swapped_are_joined():
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
    """Each level runs the one below several times: sizes past the work limit are unknown, with the limit as reason."""
    monkeypatch.setattr("shapeinf.solver.budget.WORK_IN_BODIES", 200_000)
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
    """The innermost graph reads `w` of the outermost; its requirements hold where the branch is certain to run."""
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
