"""Bounds of expressions without one of their symbols, against the values of the expressions."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from shapeinf.constraints import ConstraintStore
from shapeinf.expr import Dimension, Scope, evaluate, maximum, minimum
from shapeinf.solver.elimination import Elimination

from .strategies import BINDINGS, EXPRESSIONS

LIMITS = {
    "x": lambda x, y: x,
    "x + y": lambda x, y: x + y,
    "x*y": lambda x, y: x * y,
    "the larger": lambda x, y: max(x, y),
    "the smaller": lambda x, y: min(x, y),
}


def symbolic(name, x, y):
    return {"the larger": maximum, "the smaller": minimum}.get(name, LIMITS[name])(x, y)


@given(EXPRESSIONS, st.sampled_from(sorted(LIMITS)), st.lists(BINDINGS, min_size=1, max_size=12))
def test_bounds_hold_and_omit_the_eliminated_symbol(expression, name, bindings):
    build, meaning = expression
    scope = Scope()
    store = ConstraintStore(scope)
    x, y, z = (scope.symbol(n, 1, 9) for n in "xyz")
    scope.limits[z] = symbolic(name, x, y)
    without = Elimination(store, lambda symbol: symbol != z and not symbol.symbol.anonymous)
    d = build(scope)
    upper, lower = without.upper(d), without.lower(d)
    for bound in (upper, lower):
        assert not isinstance(bound, Dimension) or z not in bound.symbols()
    for env in bindings:
        if env["z"] <= LIMITS[name](env["x"], env["y"]):
            assert upper is None or meaning(env) <= evaluate(upper, env)
            assert lower is None or meaning(env) >= evaluate(lower, env)


def test_a_minimum_is_bounded_by_each_of_its_arguments():
    """`k*min(n, i + 1)` without `i <= 2*m`: no more than `k*n`, and no more than `k*(2*m + 1)`."""
    scope = Scope()
    store = ConstraintStore(scope)
    k, n, m = (scope.symbol(name, 1) for name in "knm")
    i = scope.fresh("i")
    scope.limits[i] = 2 * m
    upper = Elimination(store, lambda symbol: symbol != i).upper(4 * k * minimum(n, i + 1))
    for sizes in product((1, 3, 8), repeat=3):
        env = dict(zip("knm", sizes, strict=True))
        assert evaluate(upper, env) == 4 * env["k"] * min(env["n"], 2 * env["m"] + 1)
