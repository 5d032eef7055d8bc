"""Merge and relax against their meaning: the set C(x) of concrete shapes that a shape allows, by enumeration."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dimension, Scope, evaluate
from shapeinf.lattice import Relaxer, Shape, ShapeStore, broadcast, merge_shape

SIZES = range(4)
SOURCE = Source("n", "required")
DIMS = st.one_of(st.integers(0, 3), st.just(None), st.sampled_from(["a", "b"]))
SHAPES = st.one_of(st.just("unknown"), st.lists(DIMS, max_size=2).map(tuple))


def build(store, description):
    if description == "unknown":
        return Shape.unknown()
    return Shape(_dim(store, d) for d in description)


def _dim(store, d):
    if d is None:
        return store.scope.fresh("u", 0)
    return store.scope.symbol(d, 0) if isinstance(d, str) else d


def concrete(store, *shapes):
    """All tuples of concrete shapes (sizes 0..3, rank up to 2) that the constraints allow for these shapes together."""
    symbols = sorted(set().union(*(_symbols(store, s) for s in shapes)), key=str)
    tuples = set()
    for values in itertools.product(SIZES, repeat=len(symbols)):
        env = {s.name: v for s, v in zip(symbols, values, strict=True)}
        if not all(_allowed(store, s, env) for s in symbols):
            continue
        tuples.update(itertools.product(*(_values(store, s, env) for s in shapes)))
    return tuples


def _symbols(store, shape):
    dims = store.canon_shape(shape).dims or ()
    return {s for d in dims if isinstance(d, Dimension) for s in d.symbols()}


def _allowed(store, symbol, env):
    return env[symbol.name] in store.interval(symbol)


def _values(store, shape, env):
    dims = store.canon_shape(shape).dims
    if dims is None:
        return [t for r in range(3) for t in itertools.product(SIZES, repeat=r)]
    return [tuple(evaluate(d, env) for d in dims)]


@given(SHAPES, SHAPES)
def test_merge_is_the_intersection(first, second):
    store = ShapeStore(Scope())
    a, b = build(store, first), build(store, second)
    both = {x for x, y in concrete(store, a, b) if x == y}
    try:
        merged = merge_shape(store, a, b, SOURCE)
    except ShapeError:
        assert not both
        return
    assert {t[0] for t in concrete(store, merged)} == both


@given(SHAPES, SHAPES)
def test_merge_is_idempotent_and_commutative(first, second):
    store = ShapeStore(Scope())
    a, b = build(store, first), build(store, second)
    try:
        merged = merge_shape(store, a, b, SOURCE)
    except ShapeError:
        with pytest.raises(ShapeError):
            merge_shape(store, b, a, SOURCE)
        return
    for again in (merge_shape(store, b, a, SOURCE), merge_shape(store, merged, a, SOURCE)):
        assert store.canon_shape(again) == store.canon_shape(merged)


@given(SHAPES, SHAPES, SHAPES)
def test_merge_is_associative(first, second, third):
    results = []
    for order in ((0, 1, 2), (2, 1, 0)):
        store = ShapeStore(Scope())
        shapes = [build(store, d) for d in (first, second, third)]
        try:
            merged = merge_shape(store, shapes[order[0]], shapes[order[1]], SOURCE)
            merged = merge_shape(store, merged, shapes[order[2]], SOURCE)
            results.append(frozenset(concrete(store, merged)))
        except ShapeError:
            results.append(None)
    assert results[0] == results[1]


@given(SHAPES, SHAPES)
def test_relax_is_above_both(first, second):
    store = ShapeStore(Scope())
    a, b = build(store, first), build(store, second)
    joined = Relaxer(store).shape(a, b, "site")
    allowed = {t[0] for t in concrete(store, joined)}
    assert {t[0] for t in concrete(store, a)} <= allowed
    assert {t[0] for t in concrete(store, b)} <= allowed


@given(SHAPES, SHAPES)
def test_relax_at_a_site_is_idempotent_and_commutative_by_handle(first, second):
    store = ShapeStore(Scope())
    a, b = build(store, first), build(store, second)
    relaxer = Relaxer(store)
    joined = relaxer.shape(a, b, "site")
    assert relaxer.shape(b, a, "site") == joined
    assert relaxer.shape(a, a, "other") == a
    assert relaxer.shape(joined, a, "site") == joined


@given(st.one_of(st.lists(DIMS, max_size=2).map(tuple)))
def test_the_unknown_shape_is_neutral_in_merge_and_absorbs_in_relax(description):
    store = ShapeStore(Scope())
    a = build(store, description)
    assert Relaxer(store).shape(a, Shape.unknown(), "site").dims is None
    assert merge_shape(store, Shape.unknown(), a, SOURCE) == a


@given(SHAPES, SHAPES)
def test_absorption(first, second):
    store = ShapeStore(Scope())
    a, b = build(store, first), build(store, second)
    before = {t[0] for t in concrete(store, a)}
    joined = Relaxer(store).shape(a, b, "site")
    merged = merge_shape(store, a, joined, SOURCE)
    assert {t[0] for t in concrete(store, merged)} == before


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
    store = ShapeStore()
    try:
        text = str(merge_shape(store, build(store, a), build(store, b), SOURCE))
    except ShapeError:
        text = "error"
    assert text == merged


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
    store = ShapeStore()
    joined = Relaxer(store).shape(build(store, a), build(store, b), "site")
    if known == "unknown":
        assert joined.dims is None
    else:
        assert tuple(d if isinstance(d, int) else None for d in joined) == known


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60))
def test_widening_ends(sizes):
    """However a loop grows, a site changes at most five times: named, two widenings of each end, the two extremes."""
    store = ShapeStore()
    relaxer = Relaxer(store)
    state, changes = sizes[0], 0
    bounds = None
    for size in sizes:
        state = relaxer.dim(state, size, "loop")
        now = store.interval(state)
        assert size in now
        changes += now != bounds
        bounds = now
    assert changes <= 8


@given(st.integers(1, 4), st.integers(1, 4), st.booleans(), st.booleans())
def test_broadcast_is_numpys(x, y, hide_x, hide_y):
    """The inferred size equals numpy's at every binding that numpy accepts."""
    store = ShapeStore()
    a = store.scope.symbol("a") if hide_x else x
    b = store.scope.symbol("b") if hide_y else y
    runs = x == y or 1 in (x, y)
    try:
        shape = broadcast(store, Shape((a,)), Shape((b,)), source=SOURCE)
    except ShapeError:
        assert not runs
        return
    if runs:
        assert evaluate(shape[0], {"a": x, "b": y}) == max(x, y)
