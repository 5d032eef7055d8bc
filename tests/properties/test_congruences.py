"""Divisibility takes part in every proof and form, and never loses a binding that satisfies every constraint."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.errors import Contradiction, Source
from shapeinf.expr import Scope, evaluate, parse_dim
from shapeinf.lattice import ShapeStore

NAMES = ("a", "b")
HIGH = 12
EXPRESSIONS = """
a | b | a + 1 | 2*a | a + b | a//2 | (a + 3)//2 | (b + 1)//3 | 4*(a//4) | a*b | a//2*b | (a//2)*(b//2) | (a + b)//4
6 | a%3 | (a + 5)//(b//2 + 1) | max(a, b) | max(a, 2*(a//2) + 1)
"""
TERMS = st.sampled_from(EXPRESSIONS.strip().replace("\n", " | ").split(" | "))
DIVISIBLE = st.tuples(st.sampled_from(["a", "b", "a + 1", "2*a", "3*b + 1", "a//2", "a + b"]), st.integers(2, 6))
CONSTRAINTS = st.lists(st.one_of(DIVISIBLE, st.tuples(TERMS, TERMS)), min_size=1, max_size=4)


def add_all(store, constraints):
    for left, right in constraints:
        e = parse_dim(left, store.scope)
        if isinstance(right, int):
            store.add_divisible(e, right, Source("", f"{left} % {right} == 0"))
        else:
            store.add_equal(e, parse_dim(right, store.scope), Source("", f"{left} == {right}"))


def store_of(constraints):
    scope = Scope()
    for name in NAMES:
        scope.symbol(name, 1, HIGH)
    store = ShapeStore(scope)
    try:
        add_all(store, constraints)
    except Contradiction:
        return None
    return store


def holds(constraints, env):
    scope = Scope()
    for left, right in constraints:
        value = evaluate(parse_dim(left, scope), env)
        if value % right if isinstance(right, int) else value != evaluate(parse_dim(right, scope), env):
            return False
    return True


def models(constraints):
    envs = (dict(zip(NAMES, v, strict=True)) for v in itertools.product(range(1, HIGH + 1), repeat=len(NAMES)))
    return [env for env in envs if holds(constraints, env)]


@given(CONSTRAINTS, TERMS, TERMS, st.integers(2, 6))
def test_forms_bounds_and_proofs_are_sound(constraints, left, right, divisor):
    store, legal = store_of(constraints), models(constraints)
    if store is None:
        assert not legal
        return
    a, b = parse_dim(left, store.scope), parse_dim(right, store.scope)
    for env in legal:
        x, y = evaluate(a, env), evaluate(b, env)
        assert evaluate(store.canon(a), env) == x
        assert x in store.interval(a)
        assert store.prove_eq(a, b) in (None, x == y)
        assert store.prove_le(a, b) in (None, x <= y)
        assert store.divides(divisor, a) in (None, x % divisor == 0)


@given(CONSTRAINTS, TERMS)
def test_a_canonical_form_is_its_own(constraints, term):
    store = store_of(constraints)
    if store is not None:
        once = store.canon(parse_dim(term, store.scope))
        assert store.canon(once) is once or store.canon(once) == once


@given(st.lists(DIVISIBLE, min_size=1, max_size=4), st.randoms(use_true_random=False), TERMS)
def test_order_does_not_matter(constraints, random, term):
    constraints = [
        (left, right) for left, right in constraints if left not in ("a + b", "a//2")
    ]  # those may stay pending
    shuffled = random.sample(constraints, len(constraints))
    left, right = store_of(constraints), store_of(shuffled)
    assert (left is None) == (right is None)
    if left is not None and right is not None:
        first, second = (str(store.canon(parse_dim(term, store.scope))) for store in (left, right))
        common = Scope()  # the order of printing is that of first mention
        assert first == second or parse_dim(first, common) is parse_dim(second, common)
        assert left.interval(left.scope.symbol("a")) == right.interval(right.scope.symbol("a"))


@given(st.integers(2, 64), st.integers(1, 64), st.integers(1, 64))
def test_quotients_of_a_multiple_are_exact(modulus, divisor, factor):
    store = ShapeStore()
    h = store.scope.symbol("H")
    store.add_divisible(h, modulus, Source("", "required"))
    exact = modulus % divisor == 0
    assert (store.prove_eq(h // divisor * divisor * factor, h * factor) is True) == exact
    assert (store.canon(h % divisor) == 0) == exact


def test_products_of_parts_have_the_same_form():
    store = ShapeStore()
    b, h, w = (store.scope.symbol(name) for name in ("B", "H", "W"))
    store.add_divisible(h, 8, Source("", "windows"))
    store.add_divisible(w, 8, Source("", "windows"))
    assert store.canon(b * (h // 8) * (w // 8) * 64) is b * h * w
    assert store.canon(b * h * w // 64) is store.canon(b * (h // 8) * (w // 8))
    assert store.canon((h // 8) * w) is store.canon(h * (w // 8))


# Constraints, and a divisibility that contradicts them.
IMPOSSIBLE = [
    ([("H", 32)], ("H + 1", 2)),
    ([("H + 3", 6)], ("H", 4)),
    ([("2*H", 4)], ("H + 1", 2)),
    ([("H", 4), ("H//4", 6)], ("H + 4", 8)),
]


@pytest.mark.parametrize(("constraints", "then"), IMPOSSIBLE)
def test_a_contradiction_names_both_sources(constraints, then):
    store = ShapeStore()
    add_all(store, constraints)
    congruences = dict(store.congruences)
    with pytest.raises(Contradiction) as caught:
        add_all(store, [then])
    assert caught.value.first.reason == f"{then[0]} % {then[1]} == 0"
    assert caught.value.second is not None
    assert caught.value.second.reason in {f"{left} % {right} == 0" for left, right in constraints}
    assert store.congruences == congruences


@pytest.mark.parametrize(("low", "high"), [(1, 31), (33, 63)])
def test_a_range_without_a_multiple(low, high):
    store = ShapeStore()
    h = store.scope.symbol("H")
    store.add_divisible(h, 32, Source("", "stride"))
    with pytest.raises(Contradiction) as caught:
        store.add_range(h, low, high, Source("", "range"))
    assert str(caught.value.second) == "stride"
    assert str(store.interval(h)) == "32.."


def test_a_range_with_a_single_multiple_is_a_value():
    store = ShapeStore()
    h = store.scope.symbol("H")
    store.add_range(h, 1, 63, Source("", "range"))
    store.add_divisible(h, 32, Source("", "stride"))
    assert store.canon(h) == 32


def test_an_equation_of_quotients_is_solved():
    store = ShapeStore()
    h, n = store.scope.symbol("H"), store.scope.symbol("N")
    store.add_divisible(h, 32, Source("", "stride"))
    store.add_equal(3 * (h // 32), 12, Source("", "count"))
    assert store.canon(h) == 128
    store.add_divisible(n, 4, Source("", "heads"))
    store.add_range(n, 1, 7, Source("", "few"))
    assert store.canon(n * h) == 512
