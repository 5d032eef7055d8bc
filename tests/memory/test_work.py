"""Queries with a small work budget: sound, and they report that the budget was reached."""

from __future__ import annotations

import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from shapeinf.solver.budget import CUT, WORK_OF_COMMAND, Budget, raise_total, total_budget
from tests.engine.runtime import parsed

TWO = """g (float[a, b] x, float[c, d] z) => (float[] y, float[] v) {
    p = Concat<axis = 0>(x, x)  q = Add(x, x)  r = Concat<axis = 1>(z, z)  y = Relu(q)  s = Exp(r)
    v = MatMul(p, s) }"""
RANGES = {"a": (1, 9), "b": (1, 8), "d": (1, 40)}


@pytest.mark.parametrize("work", [0, 1, 1000, 100_000, 5_000_000])
def test_bounds_are_sound_with_any_work(work):
    result = infer_shapes(parsed(TWO))
    memory = result.memory(work=work)
    bound = memory.peak.over(RANGES)
    sizes = {"a": 9, "b": 8, "c": 8, "d": 40}
    assert bound.value >= max(evaluate(term.size, sizes) for term in result.memory().peak.terms)
    assert bound.cut == (CUT in str(bound))
    largest = memory.peak.largest("a", 4096, {name: r for name, r in RANGES.items() if name != "a"})
    if largest.value is not None:
        assert result.memory().peak.over({**RANGES, "a": largest.value}).value <= 4096
    assert largest.cut == (CUT in str(largest)) or largest.proven


def test_sizes_that_are_not_checked_are_reported():
    text = "g (float[n, 4] x, float[m, 4] z) => (float[] y) { a = Relu(x)  y = my.Unheard(a, z) }"
    contract = infer_shapes(parsed(text)).contract
    actual = contract.solve("n", range(1, 20), work=0)
    assert set(actual.values) | set(actual.untried) == set(range(1, 20))
    assert (CUT in str(actual)) == bool(actual.untried)
    assert contract.solve("n", range(1, 20)).values == tuple(range(1, 20))


def test_the_budget_of_sizes_counts_each_inference():
    """Of a small graph too, where the inference takes most of its time apart from the nodes."""
    contract = infer_shapes(
        parsed("g (float[n, m] x, float[a, b] z) => (y) { s = Shape(z)  y = Reshape(x, s) }")
    ).contract
    actual = contract.solve("n", range(1, 500), work=20_000)
    assert actual.engine == "evaluation"
    assert 0 < len(actual.values) <= 20


def test_a_budget_stays_cut():
    budget = Budget(10)
    assert [budget.take(n) for n in (4, 7, 1)] == [True, False, False]


def test_all_budgets_of_a_command_take_from_one():
    with total_budget(100) as total:
        budgets = [Budget(80), Budget(80)]
        assert [budget.take(60) for budget in budgets] == [True, False]
        assert total.cut and [budget.remaining for budget in budgets] == [0, 0]
    assert Budget(80).take(60)


def test_the_work_on_the_dims_of_a_model_is_taken_from_the_total():
    with total_budget() as total:
        result = infer_shapes(parsed(TWO))
        assert total.steps > WORK_OF_COMMAND
        before = total.spent
        result.engine.store.scope.work += 7
        assert total.spent == before + 7


def test_an_option_raises_the_total():
    with total_budget() as total:
        raise_total(2 * WORK_OF_COMMAND)
        assert total.remaining == 2 * WORK_OF_COMMAND
    raise_total(1)  # nothing outside of a command


def test_long_chains_of_sizes_that_depend_on_data_end():
    chain = "  ".join(f"n{i} = NonZero(n{i - 1})" for i in range(1, 300))
    text = f"g (float[N, M] x) => (int64[2, K] n299) {{ n0 = NonZero(x)  {chain} }}"
    assert infer_shapes(parsed(text)).memory().peak.over(N=(1, 4), M=(1, 4)).value is not None


def test_totals_of_many_dims_end():
    names = [f"d{i}" for i in range(300)]
    inputs = f"float[{', '.join(names)}] x"
    text = f"g ({inputs}) => (float[] y) {{ a = Relu(x)  y = Transpose(a) }}"
    assert len(infer_shapes(parsed(text)).memory().peak.terms) == 1


def test_sizes_past_the_largest_float_have_no_bound():
    """`N * 2**1200` bytes, with no upper bound of N."""
    shape = ", ".join(["1099511627776"] * 30)
    text = f"g (float[n, 4] x) => (float[] y) <int64[30] s = {{{shape}}}, int64[32] t = {{{shape}, 1, 1}}> " + (
        "{ a = Expand(x, t)  y = Add(a, a) }"
    )
    bound = infer_shapes(parsed(text)).memory().peak.over({})
    assert (bound.value, bound.unbounded) == (None, ("n",))
