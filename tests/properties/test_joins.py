"""Limits of joins: no less than any of the sides, and none where a side depends on the join itself."""

from hypothesis import given
from hypothesis import strategies as st

from shapeinf.expr import Scope, evaluate
from shapeinf.lattice import Alternatives, ShapeStore

from .strategies import BINDINGS, EXPRESSIONS

SIDES = st.lists(st.tuples(EXPRESSIONS, EXPRESSIONS), min_size=1, max_size=5)


def branches(store, same_iteration=True):
    """Two branches about which nothing is known, for sides of the same iteration."""
    return Alternatives((store,), (store,), lambda symbol: False) if same_iteration else None


@given(SIDES, st.booleans(), BINDINGS)
def test_no_side_is_larger(pairs, same_iteration, env):
    scope = Scope()
    store = ShapeStore(scope)
    sides = branches(store, same_iteration)
    joined = [store.relaxer.dim(a(scope), b(scope), "site", alternatives=sides) for (a, _), (b, _) in pairs]
    sites = {d for d in joined if not isinstance(d, int) and d in scope.limits}
    for ((_, left), (_, right)), join in zip(pairs, joined, strict=True):
        if not isinstance(join, int) and join in sites:
            most = scope.limits[join]
            if isinstance(most, int) or not any(s.symbol.anonymous for s in most.symbols()):
                assert max(left(env), right(env)) <= evaluate(most, env)


@given(EXPRESSIONS, EXPRESSIONS, st.integers(1, 3), st.booleans(), st.booleans())
def test_a_side_that_depends_on_the_join_has_no_limit(first, second, step, same_iteration, late):
    scope = Scope()
    store = ShapeStore(scope)
    relaxer, alternatives = store.relaxer, branches(store, same_iteration)
    a, b = first[0](scope), second[0](scope)
    joined = relaxer.dim(a, b, "site", alternatives=alternatives)
    if joined in (a, b):
        return
    relaxer.dim(joined, joined + step, "site", alternatives=alternatives)
    if late:
        relaxer.dim(joined, a, "site", alternatives=alternatives)
    assert joined not in scope.limits


@given(EXPRESSIONS, st.integers(0, 9))
def test_sides_of_different_trips_must_be_the_same_in_all_of_them(expression, lowest):
    """An unnamed symbol may be another size in each trip, so it bounds only dims of the same trip."""
    scope = Scope()
    store = ShapeStore(scope)
    relaxer = store.relaxer
    a, unknown = expression[0](scope), scope.fresh("unknown of a trip", lowest)
    once = relaxer.dim(a, unknown, "once", alternatives=branches(store))
    over = relaxer.dim(a, unknown, "over")
    assert once in scope.limits
    assert over not in scope.limits
