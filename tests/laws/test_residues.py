"""Divisibility takes part in every proof and form, and never loses a binding that satisfies every told fact."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.errors import Contradiction, Source
from shapeinf.expr import Scope, evaluate, parse_dim
from shapeinf.lattice import ShapeFacts

NAMES = ("a", "b")
HIGH = 12
EXPRESSIONS = """
a | b | a + 1 | 2*a | a + b | a//2 | (a + 3)//2 | (b + 1)//3 | 4*(a//4) | a*b | a//2*b | (a//2)*(b//2) | (a + b)//4
6 | a%3 | (a + 5)//(b//2 + 1) | max(a, b) | max(a, 2*(a//2) + 1)
"""
TERMS = st.sampled_from(EXPRESSIONS.strip().replace("\n", " | ").split(" | "))
DIVISIBLE = st.tuples(st.sampled_from(["a", "b", "a + 1", "2*a", "3*b + 1", "a//2", "a + b"]), st.integers(2, 6))
TOLD = st.lists(st.one_of(DIVISIBLE, st.tuples(TERMS, TERMS)), min_size=1, max_size=4)


def tell(facts, told):
    for left, right in told:
        e = parse_dim(left, facts.scope)
        if isinstance(right, int):
            facts.tell_divisible(e, right, Source("", f"{left} % {right} == 0"))
        else:
            facts.tell_equal(e, parse_dim(right, facts.scope), Source("", f"{left} == {right}"))


def facts_of(told):
    scope = Scope()
    for name in NAMES:
        scope.symbol(name, 1, HIGH)
    facts = ShapeFacts(scope)
    try:
        tell(facts, told)
    except Contradiction:
        return None
    return facts


def holds(told, env):
    scope = Scope()
    for left, right in told:
        value = evaluate(parse_dim(left, scope), env)
        if value % right if isinstance(right, int) else value != evaluate(parse_dim(right, scope), env):
            return False
    return True


def models(told):
    envs = (dict(zip(NAMES, v, strict=True)) for v in itertools.product(range(1, HIGH + 1), repeat=len(NAMES)))
    return [env for env in envs if holds(told, env)]


@given(TOLD, TERMS, TERMS, st.integers(2, 6))
def test_forms_bounds_and_proofs_are_sound(told, left, right, divisor):
    facts, found = facts_of(told), models(told)
    if facts is None:
        assert not found
        return
    a, b = parse_dim(left, facts.scope), parse_dim(right, facts.scope)
    for env in found:
        x, y = evaluate(a, env), evaluate(b, env)
        assert evaluate(facts.canon(a), env) == x
        assert x in facts.interval(a)
        assert facts.prove_eq(a, b) in (None, x == y)
        assert facts.prove_le(a, b) in (None, x <= y)
        assert facts.divides(divisor, a) in (None, x % divisor == 0)


@given(TOLD, TERMS)
def test_a_canonical_form_is_its_own(told, term):
    facts = facts_of(told)
    if facts is not None:
        once = facts.canon(parse_dim(term, facts.scope))
        assert facts.canon(once) is once or facts.canon(once) == once


@given(st.lists(DIVISIBLE, min_size=1, max_size=4), st.randoms(use_true_random=False), TERMS)
def test_order_does_not_matter(told, random, term):
    told = [(left, right) for left, right in told if left not in ("a + b", "a//2")]  # those may only be kept
    shuffled = random.sample(told, len(told))
    one, two = facts_of(told), facts_of(shuffled)
    assert (one is None) == (two is None)
    if one is not None and two is not None:
        first, second = (str(facts.canon(parse_dim(term, facts.scope))) for facts in (one, two))
        common = Scope()  # the order of printing is that of first mention
        assert first == second or parse_dim(first, common) is parse_dim(second, common)
        assert one.interval(one.scope.symbol("a")) == two.interval(two.scope.symbol("a"))


@given(st.integers(2, 64), st.integers(1, 64), st.integers(1, 64))
def test_quotients_of_a_multiple_are_exact(modulus, divisor, factor):
    facts = ShapeFacts()
    h = facts.scope.symbol("H")
    facts.tell_divisible(h, modulus, Source("", "told"))
    exact = modulus % divisor == 0
    assert (facts.prove_eq(h // divisor * divisor * factor, h * factor) is True) == exact
    assert (facts.canon(h % divisor) == 0) == exact


def test_products_of_parts_have_one_form():
    facts = ShapeFacts()
    b, h, w = (facts.scope.symbol(name) for name in ("B", "H", "W"))
    facts.tell_divisible(h, 8, Source("", "windows"))
    facts.tell_divisible(w, 8, Source("", "windows"))
    assert facts.canon(b * (h // 8) * (w // 8) * 64) is b * h * w
    assert facts.canon(b * h * w // 64) is facts.canon(b * (h // 8) * (w // 8))
    assert facts.canon((h // 8) * w) is facts.canon(h * (w // 8))


# What is told, and the divisibility that it leaves no room for.
IMPOSSIBLE = [
    ([("H", 32)], ("H + 1", 2)),
    ([("H + 3", 6)], ("H", 4)),
    ([("2*H", 4)], ("H + 1", 2)),
    ([("H", 4), ("H//4", 6)], ("H + 4", 8)),
]


@pytest.mark.parametrize(("told", "then"), IMPOSSIBLE)
def test_what_cannot_be_names_both(told, then):
    facts = ShapeFacts()
    tell(facts, told)
    residues = dict(facts.residues)
    with pytest.raises(Contradiction) as caught:
        tell(facts, [then])
    assert caught.value.first.reason == f"{then[0]} % {then[1]} == 0"
    assert caught.value.second is not None
    assert caught.value.second.reason in {f"{left} % {right} == 0" for left, right in told}
    assert facts.residues == residues


@pytest.mark.parametrize(("low", "high"), [(1, 31), (33, 63)])
def test_a_range_without_a_multiple(low, high):
    facts = ShapeFacts()
    h = facts.scope.symbol("H")
    facts.tell_divisible(h, 32, Source("", "stride"))
    with pytest.raises(Contradiction) as caught:
        facts.tell_range(h, low, high, Source("", "range"))
    assert str(caught.value.second) == "stride"
    assert str(facts.interval(h)) == "32.."


def test_a_range_with_one_multiple_is_a_value():
    facts = ShapeFacts()
    h = facts.scope.symbol("H")
    facts.tell_range(h, 1, 63, Source("", "range"))
    facts.tell_divisible(h, 32, Source("", "stride"))
    assert facts.canon(h) == 32


def test_an_equation_of_quotients_is_solved():
    facts = ShapeFacts()
    h, n = facts.scope.symbol("H"), facts.scope.symbol("N")
    facts.tell_divisible(h, 32, Source("", "stride"))
    facts.tell_equal(3 * (h // 32), 12, Source("", "count"))
    assert facts.canon(h) == 128
    facts.tell_divisible(n, 4, Source("", "heads"))
    facts.tell_range(n, 1, 7, Source("", "few"))
    assert facts.canon(n * h) == 512
