"""A dimension agrees with Python's ints in every operation, bound, text and substitution."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.expr import Scope, ceildiv, evaluate, interval, maximum, parse_dim, substitute

from .strategies import BINDINGS, EXPRESSIONS, NAMES, NESTED


@given(EXPRESSIONS, BINDINGS)
def test_value_and_bounds_are_those_of_python(expression, env):
    build, meaning = expression
    dim = build(Scope())
    value = meaning(env)
    capped = not isinstance(dim, int) and any(s.symbol.anonymous for s in dim.symbols())
    if not capped:
        assert evaluate(dim, env) == value
    assert value in interval(dim)


SOME_SIZES = (1, 2, 3, 5, 8, 9)


@given(st.one_of(NESTED, EXPRESSIONS))
def test_bounds_contain_the_values_of_all_assignments(expression):
    build, meaning = expression
    bounds = interval(build(Scope()))
    for sizes in product(SOME_SIZES, repeat=len(NAMES)):
        assert meaning(dict(zip(NAMES, sizes, strict=True))) in bounds


ENDS = st.lists(st.integers(-3, 4), min_size=2, max_size=2).map(sorted)


@given(ENDS, ENDS)
def test_bounds_of_a_quotient_for_divisors_of_any_sign(top, bottom):
    scope = Scope()
    bounds = interval(scope.symbol("top", *top) // scope.symbol("bottom", *bottom))
    for a in range(top[0], top[1] + 1):
        assert all(a // b in bounds for b in range(bottom[0], bottom[1] + 1) if b)


FACTORS = st.integers(-3, 3)


@given(EXPRESSIONS, EXPRESSIONS, EXPRESSIONS, FACTORS, FACTORS, BINDINGS)
def test_bounds_of_a_remainder_of_a_symbolic_divisor(number, divisor, rest, factor, times, env):
    """`rest + factor * (number mod divisor) + times * divisor`: remainders lie between 0 and the divisor."""
    builds, meanings = zip(number, divisor, rest, strict=True)
    scope = Scope()
    n, q, r = (build(scope) for build in builds)
    q = maximum(q, 1) if isinstance(q, int) or (interval(q).lo or 0) < 1 else q
    bounds = interval(r + factor * (n % q) + times * q)
    n, q, r = (meaning(env) for meaning in meanings)
    q = max(q, 1)
    assert r + factor * (n % q) + times * q in bounds


def test_a_remainder_is_less_than_its_symbolic_divisor():
    size = Scope().symbol("size", 1)
    for divisor in (size, 2 * size - 1, size * size + 1):
        for number in (-2, 7, 3 * size + 5):
            assert interval(number % divisor).lo is not None
            assert (interval(number % divisor).lo or 0) >= 0
            assert (interval(divisor - number % divisor).lo or 0) >= 1


@given(EXPRESSIONS, st.lists(BINDINGS, min_size=2, max_size=4))
def test_many_bindings_at_once(expression, envs):
    build, meaning = expression
    dim = build(Scope())
    if isinstance(dim, int) or dim.is_anonymous:
        return
    arrays = {n: np.array([env[n] for env in envs]) for n in NAMES}
    assert np.broadcast_to(evaluate(dim, arrays), (len(envs),)).tolist() == [meaning(env) for env in envs]


@given(EXPRESSIONS)
def test_text_reads_back_as_the_same_object(expression):
    scope = Scope()
    dim = expression[0](scope)
    if not isinstance(dim, int) and not dim.is_anonymous:
        again = parse_dim(str(dim), scope)
        assert again is dim


@given(EXPRESSIONS, EXPRESSIONS, EXPRESSIONS)
def test_ring_axioms_hold_by_identity(a, b, c):
    scope = Scope()
    x, y, z = (e[0](scope) for e in (a, b, c))
    if scope.capped:
        return
    same = _same
    assert same(x + y, y + x)
    assert same(x * y, y * x)
    assert same((x + y) + z, x + (y + z))
    assert same(x - x, 0)
    products = (x * (y + z), x * y + x * z)
    assert scope.capped or same(*products)


@given(EXPRESSIONS, EXPRESSIONS, st.integers(1, 6))
def test_division_identities_hold_by_identity(a, b, p):
    scope = Scope()
    x, y = a[0](scope), b[0](scope)
    if scope.capped:
        return
    assert _same(p * (x // p) + x % p, x)
    assert _same((x + p * y) // p, x // p + y)


@given(st.lists(st.integers(-9, 9), min_size=3, max_size=3), st.sampled_from((3, 5, 7, 9, 31)), st.integers(1, 4))
def test_rounding_up_is_canonical(factors, p, step):
    """A size, or its quotient by a step, rounded up to a multiple (of an odd number: halves may have two forms)."""
    scope = Scope()
    x, y = scope.symbol("x"), scope.symbol("y")
    for size in (factors[0] * x + factors[1] * y + factors[2], (x + factors[2]) // step):
        up = ceildiv(size, p)
        assert _same(-((-size) // p), up)
        assert _same(size - ((p - 1) * size) // p, up)
        assert _same(size + (-size) % p, p * up)
        assert _same(size + (p - size % p) % p, p * up)


@given(EXPRESSIONS, BINDINGS)
def test_both_signs_of_a_quotient_mean_the_same(expression, env):
    build, meaning = expression
    scope = Scope()
    d = build(scope)
    if scope.capped or isinstance(d, int):
        return
    for p in (2, 3, 4, 6, 7):
        assert evaluate(-((-d) // p), env) == evaluate(ceildiv(d, p), env) == -(-meaning(env) // p)


@given(EXPRESSIONS, EXPRESSIONS)
def test_maximum_is_idempotent_and_commutative(a, b):
    scope = Scope()
    x, y = a[0](scope), b[0](scope)
    left, right = maximum(x, y), maximum(y, x)
    assert scope.capped or (_same(left, right) and _same(maximum(x, x), x))


@given(EXPRESSIONS, BINDINGS, st.sampled_from(NAMES), st.integers(1, 9))
def test_substituting_is_evaluating(expression, env, name, value):
    scope = Scope()
    dim = expression[0](scope)
    if isinstance(dim, int) or dim.is_anonymous:
        return
    bound = substitute(dim, {scope.symbol(name): value})
    assert evaluate(bound, env) == expression[1]({**env, name: value})


def _same(a, b):
    return a is b or (isinstance(a, int) and a == b)
