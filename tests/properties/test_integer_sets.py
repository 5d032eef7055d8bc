"""Proofs about integer points: sound on random constraints, decisive where intervals are not, with and without isl."""

import pytest
from hypothesis import given

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import Source
from shapeinf.expr import Scope, evaluate, parse_dim
from shapeinf.solver import isl, polytopes
from shapeinf.solver.answers import Verdict
from shapeinf.solver.budget import Budget
from shapeinf.solver.integer_sets import decide_le, decide_ne, value_range

from .test_constraints import EQUATIONS, TERMS, models, store_of


@given(EQUATIONS, TERMS, TERMS)
def test_proofs_are_sound(equations, left, right):
    store = store_of(equations)
    if store is None:
        return
    a, b = parse_dim(left, store.scope), parse_dim(right, store.scope)
    at_most, differ = decide_le(store, a, b), decide_ne(store, a, b)
    for env in models(equations):
        x, y = evaluate(a, env), evaluate(b, env)
        assert at_most.value in (None, x <= y)
        assert differ.value in (None, x != y)


def unet():
    """Two halvings whose skip connections must meet: H is a multiple of 4."""
    store = ConstraintStore(Scope())
    h = store.scope.symbol("H")
    half = (h + 1) // 2
    store.add_equal(2 * ((half + 1) // 2), half, Source("concat2", "axis 2 must be equal"))
    store.add_equal(2 * half, h, Source("concat1", "axis 2 must be equal"))
    return store, h


def test_divisibility_through_nested_floors():
    store, h = unet()
    assert store.prove_le(h % 4, 0) is None
    assert decide_le(store, h % 4, 0) == Verdict(True, "exact")
    assert decide_ne(store, h, 6) == Verdict(True, "exact")
    assert decide_ne(store, h, 8) == Verdict(None, "exact")


def test_nothing_is_solved_where_intervals_decide():
    store, h = unet()
    assert decide_le(store, 1, h) == Verdict(True, "interval")


def long_period():
    """Windows of a large stride whose numbers must agree: no size below 99,992 is legal."""
    store = ConstraintStore(Scope())
    h = store.scope.symbol("H")
    store.add_equal(2 * ((h + 199981) // 199982), (h + 99990) // 99991, Source("concat", "axis 2 must be equal"))
    return store, h


def test_isl_decides_what_is_left_open():
    pytest.importorskip("islpy", reason="isl is not installed")
    store, h = long_period()
    budget = Budget()
    assert value_range(store, h, budget) == (99_992, None)
    assert not budget.needs_isl


def test_without_isl_an_open_question_says_so(monkeypatch):
    store, h = long_period()
    monkeypatch.setattr(isl, "ISL_INSTALLED", False)
    budget = Budget()
    assert value_range(store, h, budget) is None
    assert budget.needs_isl


def test_past_the_operation_limit_a_question_stays_open(monkeypatch):
    store, h = long_period()
    monkeypatch.setattr(polytopes, "MAX_OPERATIONS", 1)
    assert value_range(store, h) is None


@pytest.mark.parametrize(("bound", "value"), [(4096, True), (4095, None), (4097, True)])
def test_sums_of_relations(bound, value):
    store = ConstraintStore(Scope())
    a, b, c = (store.scope.symbol(n) for n in "abc")
    store.add_le(a + b, 2048, Source("", "assumed"))
    store.add_le(c - b, 2048, Source("", "assumed"))
    assert store.prove_le(a + c, bound) is None
    assert decide_le(store, a + c, bound).value is value
