"""Proofs about integer points: sound on random constraints, decisive where intervals are not, with and without isl."""

import pytest
from hypothesis import given

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import Source
from shapeinf.expr import Scope, evaluate, parse_dim
from shapeinf.lattice import ShapeStore
from shapeinf.solver import isl, isl_sets
from shapeinf.solver.answers import Verdict
from shapeinf.solver.budget import Budget
from shapeinf.solver.integer_sets import decide_le, decide_ne, value_range
from shapeinf.solver.upper_bounds import narrow_ranges

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


def narrow_band():
    """Two sizes between lines that are so near that elimination loses integer points."""
    store = ConstraintStore(Scope())
    a, b = store.scope.symbol("a"), store.scope.symbol("b")
    store.add_le(7 * b + 1, 5 * a, Source("first", "at least"))
    store.add_le(5 * a, 7 * b + 3, Source("second", "at most"))
    return store, a


def test_isl_decides_what_stays_open():
    pytest.importorskip("islpy", reason="isl is not installed")
    store, a = narrow_band()
    budget = Budget()
    assert decide_le(store, a, 1, budget) == Verdict(False, "isl")
    assert value_range(store, a, budget) == (2, None)
    assert not budget.needs_isl


def test_without_isl_the_answer_is_undecided_and_names_it(monkeypatch):
    monkeypatch.setattr(isl, "ISL_INSTALLED", False)
    store, a = narrow_band()
    budget = Budget()
    assert decide_le(store, a, 1, budget) == Verdict(None, "interval")
    assert budget.needs_isl
    assert value_range(store, a) is None


def test_past_the_operation_limit_the_answer_is_undecided(monkeypatch):
    store, a = narrow_band()
    monkeypatch.setattr(isl_sets, "MAX_OPERATIONS", 1)
    assert decide_le(store, a, 1) == Verdict(None, "interval")


@pytest.mark.parametrize(("bound", "value"), [(4096, True), (4095, None), (4097, True)])
def test_sums_of_relations(bound, value):
    store = ConstraintStore(Scope())
    a, b, c = (store.scope.symbol(n) for n in "abc")
    store.add_le(a + b, 2048, Source("", "assumed"))
    store.add_le(c - b, 2048, Source("", "assumed"))
    assert store.prove_le(a + c, bound) is None
    assert decide_le(store, a + c, bound).value is value


@pytest.mark.parametrize("relations", [["n + m <= 10", "n - m <= 2"], ["2*n + m <= 12", "m - n <= 1"], ["n + m <= 10"]])
def test_relations_together_narrow_the_ranges_of_their_symbols(relations):
    """The ranges are those of all legal sizes up to 12, tried one by one; `free` has no relation."""
    scope = Scope()
    store = ShapeStore(scope)
    n, m, free = (scope.symbol(name, 1) for name in ("n", "m", "free"))
    sides = [[parse_dim(side, scope) for side in relation.split(" <= ")] for relation in relations]
    for left, right in sides:
        store.add_le(left, right, Source("", "a test"))
    narrow_ranges(store, [n * free, m], Budget())
    sizes = [{"n": a, "m": b} for a in range(1, 13) for b in range(1, 13)]
    legal = [at for at in sizes if all(evaluate(left, at) <= evaluate(right, at) for left, right in sides)]
    for symbol in (n, m):
        tried = [at[symbol.name] for at in legal]
        assert store.bounds(symbol) == (min(tried), max(tried))
    assert store.bounds(free)[1] == float("inf")
