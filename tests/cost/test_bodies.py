"""Costs of loops, branches and functions: sums over their trips, by hand."""

import onnx.parser
import pytest

from shapeinf import infer_shapes

HEADER = '<ir_version: 8, opset_import: ["" : 17, "f" : 1]>'


def cost_of(text, **options):
    return infer_shapes(onnx.parser.parse_model(f"{HEADER} {text}"), **options).cost()


STEP = "(int64 i, bool ci, float[n, 8] h) => (bool co, float[n, 8] ho) { co = Identity(ci) ho = MatMul(h, w) }"
TRUE = "t = Constant<value = bool {1}>()"


def loop(count, inputs="", body=STEP):
    return f"g (float[n, 8] x, float[8, 8] w{inputs}) => (y) {{ {TRUE} {count} y = Loop(m, t, x)<body = b {body}> }}"


LENGTH = "s = Shape<start = 0, end = 1>(x) m = Squeeze(s)"


@pytest.mark.parametrize(
    "count, macs",
    [("m = Constant<value_int = 5>()", "320*n"), (LENGTH, "64*n*n"), ("m = Constant<value_int = 0>()", "0")],
)
def test_a_loop_multiplies_by_its_trips(count, macs):
    cost = cost_of(loop(count))
    assert str(cost.total.macs) == macs and not cost.uncounted


def test_a_trip_count_that_depends_on_data_has_no_bound():
    cost = cost_of(loop("", ", int64 m"))
    assert str(cost.total.macs) == "64*n*`y.limit`"
    at = cost.at(n=2)
    assert at.at_least and [item.node for item in at.uncounted] == ["y/ho"]
    assert at.total.macs == 0


def test_sizes_that_grow_are_summed_exactly():
    body = (
        "(int64 i, bool ci, float[q, 8] h) => (bool co, float[r, 8] ho) "
        "{ co = Identity(ci) a = Relu(h) ho = Concat<axis = 0>(a, e) }"
    )
    cost = cost_of(f"g (float[n, 8] x, float[1, 8] e) => (y) {{ {TRUE} {LENGTH} y = Loop(m, t, x)<body = b {body}> }}")
    for n in (1, 2, 7):
        assert cost.at(n=n).total.operations == sum(8 * (n + trip) for trip in range(n))
    assert not cost.at(n=3).at_most


def test_sequences_of_squares():
    """Sums of the powers of the trip's number, against a loop in Python."""
    from shapeinf.cost.repetition import repeat
    from shapeinf.engine.records import Repetition
    from shapeinf.expr import evaluate
    from shapeinf.lattice import ShapeStore

    store = ShapeStore()
    n, i, k = store.scope.symbol("n"), store.scope.fresh("i", 0), store.scope.symbol("k")
    amount = 5 * i * i * i * k + 3 * i * i + 7 * i + k + 2
    total = repeat(store, amount, Repetition(n, i))
    for trips in (0, 1, 2, 9):
        expected = sum(5 * t**3 * 4 + 3 * t * t + 7 * t + 4 + 2 for t in range(trips))
        assert evaluate(total, {"n": trips, "k": 4}) == expected


def test_a_branch_counts_the_maximum_and_reports_both():
    cost = cost_of(
        "g (float[n, 8] x, float[8, 8] w, bool p) => (y) { y = If(p) <"
        "then_branch = a () => (float[n, 8] u) { u = MatMul(x, w) }, "
        "else_branch = b () => (float[n, 8] v) { v = Relu(x) }> }"
    )
    (node,) = cost.nodes
    assert (node.op, str(node.macs), str(node.operations), node.bounded) == ("If", "64*n", "8*n", True)
    (branches,) = cost.branches
    assert {label: str(amounts.flops) for label, amounts in branches.branches.items()} == {
        "then_branch": "128*n",
        "else_branch": "8*n",
    }
    assert cost.at(n=2).at_most


def test_a_decided_branch_is_the_only_one():
    cost = cost_of(
        "g (float[n, 8] x, float[8, 8] w) => (y) { p = Constant<value = bool {0}>() y = If(p) <"
        "then_branch = a () => (float[n, 8] u) { u = MatMul(x, w) }, "
        "else_branch = b () => (float[n, 8] v) { v = Relu(x) }> }"
    )
    assert cost.total.macs == 0 and str(cost.total.operations) == "8*n"
    assert not cost.branches and cost.nodes[-1].op == "Relu"


def test_calls_of_a_function_are_expanded_every_time():
    text = """g (float[n, 8] x, float[8, 8] w) => (z) { y = f.twice(x, w) z = f.twice(y, w) }
    <domain: "f", opset_import: ["" : 17]> twice (x, w) => (y) { a = MatMul(x, w) y = MatMul(a, w) }"""
    cost = cost_of(text)
    assert str(cost.total.macs) == "256*n"
    assert [node.op for node in cost.nodes] == ["MatMul"] * 4
    assert len({node.name for node in cost.nodes}) == 4


def test_a_weight_counts_once():
    cost = cost_of(
        "g (float[n, 4] x) => (y) <float[4, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, "
        "int64[2] s = {-1, 4}, float k = {2}> "
        "{ a = MatMul(x, w) b = MatMul(a, w) v = Identity(w) c = MatMul(b, v) d = Mul(c, k) y = Reshape(d, s) }"
    )
    assert cost.total.parameters == 16  # neither the shape of a reshape nor a scalar
    assert [node.parameters for node in cost.nodes if node.op == "MatMul"] == [16, 0, 0]


def test_the_table_of_a_lookup_is_a_weight_and_its_indices_are_not():
    cost = cost_of(
        "g (int64[n] i) => (y) <float[3, 2] t = {1, 2, 3, 4, 5, 6}, int64[2] k = {0, 1}> "
        "{ a = Gather(t, i) b = Gather(t, k) y = Concat<axis = 0>(a, b) }"
    )
    assert cost.total.parameters == 6


FAILING = "k = Constant<value_ints = [35, 7]>() w = ConstantOfShape(k) {name} = MatMul(x, w)"  # x has 36 columns
GOOD = "{name} = Relu(x)"
BRANCHES = """g (bool c, float[n, 36] x) => (float[] y) {{
    y = If (c) <then_branch = t () => (float[] p) {{ {then} }}, else_branch = e () => (float[] q) {{ {other} }}> }}"""


@pytest.mark.parametrize("failing", ["then", "else"])
def test_a_branch_that_fails_for_certain_costs_nothing(failing):
    """It does not run where the graph runs: cost and memory are those of the other branch, exactly."""
    then, other = (FAILING, GOOD) if failing == "then" else (GOOD, FAILING)
    text = BRANCHES.format(then=then.format(name="p"), other=other.format(name="q"))
    result = infer_shapes(onnx.parser.parse_model(f"{HEADER} {text}"))
    cost, peak = result.cost(), result.memory().peak
    assert str(cost.total.operations) == "36*n" and str(cost.total.macs) == "0" and not cost.uncounted
    assert not cost.at(n=3).at_most and not cost.at(n=3).at_least
    assert (peak.at(n=3).bytes, peak.at_least, peak.unbounded) == (3 * 36 * 4 * 2, False, ())


def test_where_both_branches_fail_both_are_counted():
    text = BRANCHES.format(then=FAILING.format(name="p"), other=FAILING.format(name="q"))
    result = infer_shapes(onnx.parser.parse_model(f"{HEADER} {text}"))
    assert {buffer.name for buffer, _ in result.memory().peak.at(n=3).alive} >= {"y/w", "y"}
