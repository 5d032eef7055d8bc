"""Merge and relax against their meaning: the set C(x) of concrete shapes that a shape allows, by enumeration."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dimension, Scope, evaluate
from shapeinf.lattice import Relaxer, Shape, ShapeFacts, broadcast, merge_shape

SIZES = range(4)
SOURCE = Source("n", "told")
DIMS = st.one_of(st.integers(0, 3), st.just(None), st.sampled_from(["a", "b"]))
SHAPES = st.one_of(st.just("unknown"), st.lists(DIMS, max_size=2).map(tuple))


def build(facts, description):
    if description == "unknown":
        return Shape.unknown()
    return Shape(_dim(facts, d) for d in description)


def _dim(facts, d):
    if d is None:
        return facts.scope.fresh("u", 0)
    return facts.scope.symbol(d, 0) if isinstance(d, str) else d


def concrete(facts, *shapes):
    """All tuples of concrete shapes (sizes 0..3, rank up to 2) that the facts allow for these shapes together."""
    symbols = sorted(set().union(*(_symbols(facts, s) for s in shapes)), key=str)
    found = set()
    for values in itertools.product(SIZES, repeat=len(symbols)):
        env = {s.name: v for s, v in zip(symbols, values, strict=True)}
        if not all(_allowed(facts, s, env) for s in symbols):
            continue
        found.update(itertools.product(*(_values(facts, s, env) for s in shapes)))
    return found


def _symbols(facts, shape):
    dims = facts.canon_shape(shape).dims or ()
    return {s for d in dims if isinstance(d, Dimension) for s in d.symbols()}


def _allowed(facts, symbol, env):
    return env[symbol.name] in facts.interval(symbol)


def _values(facts, shape, env):
    dims = facts.canon_shape(shape).dims
    if dims is None:
        return [t for r in range(3) for t in itertools.product(SIZES, repeat=r)]
    return [tuple(evaluate(d, env) for d in dims)]


@given(SHAPES, SHAPES)
def test_merge_is_the_intersection(first, second):
    facts = ShapeFacts(Scope())
    a, b = build(facts, first), build(facts, second)
    both = {x for x, y in concrete(facts, a, b) if x == y}
    try:
        merged = merge_shape(facts, a, b, SOURCE)
    except ShapeError:
        assert not both
        return
    assert {t[0] for t in concrete(facts, merged)} == both


@given(SHAPES, SHAPES)
def test_merge_is_idempotent_and_commutative(first, second):
    facts = ShapeFacts(Scope())
    a, b = build(facts, first), build(facts, second)
    try:
        merged = merge_shape(facts, a, b, SOURCE)
    except ShapeError:
        with pytest.raises(ShapeError):
            merge_shape(facts, b, a, SOURCE)
        return
    for again in (merge_shape(facts, b, a, SOURCE), merge_shape(facts, merged, a, SOURCE)):
        assert facts.canon_shape(again) == facts.canon_shape(merged)


@given(SHAPES, SHAPES, SHAPES)
def test_merge_is_associative(first, second, third):
    results = []
    for order in ((0, 1, 2), (2, 1, 0)):
        facts = ShapeFacts(Scope())
        shapes = [build(facts, d) for d in (first, second, third)]
        try:
            merged = merge_shape(facts, shapes[order[0]], shapes[order[1]], SOURCE)
            merged = merge_shape(facts, merged, shapes[order[2]], SOURCE)
            results.append(frozenset(concrete(facts, merged)))
        except ShapeError:
            results.append(None)
    assert results[0] == results[1]


@given(SHAPES, SHAPES)
def test_relax_is_above_both(first, second):
    facts = ShapeFacts(Scope())
    a, b = build(facts, first), build(facts, second)
    joined = Relaxer(facts).shape(a, b, "site")
    allowed = {t[0] for t in concrete(facts, joined)}
    assert {t[0] for t in concrete(facts, a)} <= allowed
    assert {t[0] for t in concrete(facts, b)} <= allowed


@given(SHAPES, SHAPES)
def test_relax_at_a_site_is_idempotent_and_commutative_by_handle(first, second):
    facts = ShapeFacts(Scope())
    a, b = build(facts, first), build(facts, second)
    relaxer = Relaxer(facts)
    joined = relaxer.shape(a, b, "site")
    assert relaxer.shape(b, a, "site") == joined
    assert relaxer.shape(a, a, "other") == a
    assert relaxer.shape(joined, a, "site") == joined


@given(st.one_of(st.lists(DIMS, max_size=2).map(tuple)))
def test_the_unknown_shape_is_neutral_in_merge_and_absorbs_in_relax(description):
    facts = ShapeFacts(Scope())
    a = build(facts, description)
    assert Relaxer(facts).shape(a, Shape.unknown(), "site").dims is None
    assert merge_shape(facts, Shape.unknown(), a, SOURCE) == a


@given(SHAPES, SHAPES)
def test_absorption(first, second):
    facts = ShapeFacts(Scope())
    a, b = build(facts, first), build(facts, second)
    before = {t[0] for t in concrete(facts, a)}
    joined = Relaxer(facts).shape(a, b, "site")
    merged = merge_shape(facts, a, joined, SOURCE)
    assert {t[0] for t in concrete(facts, merged)} == before


@pytest.mark.parametrize(
    ("a", "b", "merged"),
    [
        ((2, None), (None, 2), "[2, 2]"),
        ((2, 2), (1, 2), "error"),
        ((None,), (3,), "[3]"),
        ((1, 2), (1, 2, 3), "error"),
    ],
)
def test_tensorflows_merge_examples(a, b, merged):
    facts = ShapeFacts()
    try:
        found = str(merge_shape(facts, build(facts, a), build(facts, b), SOURCE))
    except ShapeError:
        found = "error"
    assert found == merged


@pytest.mark.parametrize(
    ("a", "b", "known"),
    [
        ((2, None), (None, 2), (None, None)),
        ((2, 2), (3, 2), (None, 2)),
        ((2, 2), (1, 2, 3), "unknown"),
        ((4, 5), (4, 5), (4, 5)),
    ],
)
def test_tensorflows_relax_examples(a, b, known):
    facts = ShapeFacts()
    joined = Relaxer(facts).shape(build(facts, a), build(facts, b), "site")
    if known == "unknown":
        assert joined.dims is None
    else:
        assert tuple(d if isinstance(d, int) else None for d in joined) == known


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60))
def test_widening_ends(sizes):
    """However a loop grows, a site changes at most five times: named, two growths an end, the two extremes."""
    facts = ShapeFacts()
    relaxer = Relaxer(facts)
    state, changes = sizes[0], 0
    bounds = None
    for size in sizes:
        state = relaxer.dim(state, size, "loop")
        now = facts.interval(state)
        assert size in now
        changes += now != bounds
        bounds = now
    assert changes <= 8


@given(st.integers(1, 4), st.integers(1, 4), st.booleans(), st.booleans())
def test_broadcast_is_numpys(x, y, hide_x, hide_y):
    """The inferred size equals numpy's at every binding that numpy accepts."""
    facts = ShapeFacts()
    a = facts.scope.symbol("a") if hide_x else x
    b = facts.scope.symbol("b") if hide_y else y
    runs = x == y or 1 in (x, y)
    try:
        found = broadcast(facts, Shape((a,)), Shape((b,)), source=SOURCE)
    except ShapeError:
        assert not runs
        return
    if runs:
        assert evaluate(found[0], {"a": x, "b": y}) == max(x, y)
