"""Reshapes and transposes that move nothing, against memory that numpy lays out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import Source
from shapeinf.expr import Scope
from shapeinf.expr.evaluation import evaluate
from shapeinf.layout import (
    ArrayType,
    Layout,
    LayoutError,
    align_layouts,
    deduce_transpose,
    dims_unmodified_by_reshape,
    permute_dims,
    reshape_is_bitcast,
    transpose_is_bitcast,
)
from tests.layout.oracle import memory_of, numbered, orders, reshape_keeps_memory
from tests.layout.strategies import layouts


def parts(array):
    return array.layout.minor_to_major, array.layout.tiles, array.layout.tail_padding_alignment_in_elements


@st.composite
def reshapes(draw, tiled=False):
    """A row of factors, cut at two different sets of positions into the dims of two arrays."""
    factors = draw(st.lists(st.sampled_from([1, 2, 2, 3, 4]), max_size=5))

    def cut():
        ends = sorted(draw(st.sets(st.integers(1, len(factors) - 1)))) if len(factors) > 1 else []
        bounds = [0, *ends, len(factors)] if factors else [0]
        dims = [math.prod(factors[a:b]) for a, b in itertools.pairwise(bounds)]
        for at in draw(st.lists(st.integers(0, len(dims)), max_size=1)):
            dims.insert(at, 1)
        return ArrayType("f32", dims, draw(layouts(len(dims), tiled)))

    return cut(), cut()


@given(reshapes())
def test_reshape(pair):
    source, target = pair
    assert reshape_is_bitcast(source, target) is reshape_keeps_memory(
        source.dims, parts(source), target.dims, parts(target)
    )


@given(reshapes(tiled=True))
def test_reshape_with_tiles(pair):
    source, target = pair
    assert reshape_is_bitcast(source, target) is reshape_keeps_memory(
        source.dims, parts(source), target.dims, parts(target)
    )


@given(st.lists(st.integers(1, 4), max_size=4), st.booleans(), st.data())
def test_transpose(dims, tiled, data):
    order = data.draw(st.permutations(range(len(dims))))
    source = ArrayType("f32", dims, data.draw(layouts(len(dims), tiled)))
    moved = [dims[d] for d in order]
    target = ArrayType("f32", moved, data.draw(layouts(len(dims), tiled)))
    same = np.array_equal(
        memory_of(numbered(dims), *parts(source)), memory_of(numbered(dims).transpose(order), *parts(target))
    )
    assert transpose_is_bitcast(source, target, order) is same
    assert transpose_is_bitcast(source, permute_dims(source, order), order) is True


@given(st.data())
def test_symbolic_answers_hold_at_every_binding(data):
    scope = Scope()
    low = data.draw(st.sampled_from([0, 1, 2]))
    names = [scope.symbol(name, low, 3) for name in "ab"]
    factors = data.draw(st.lists(st.sampled_from([*names, 2, 1]), min_size=1, max_size=4))

    def cut(row):
        where = st.integers(0, len(row))
        bounds = sorted({0, len(row), *data.draw(st.lists(where, max_size=2))})
        dims = []
        for begin, end in itertools.pairwise(bounds):
            size = 1
            for factor in row[begin:end]:
                size = size * factor
            dims.append(size)
        return ArrayType("f32", dims, data.draw(layouts(len(dims), data.draw(st.booleans()))))

    source, target = cut(factors), cut(data.draw(st.permutations(factors)))
    answer = reshape_is_bitcast(source, target)
    for a, b in itertools.product(range(low, 4), repeat=2):
        dims, target_dims = ([evaluate(d, {"a": a, "b": b}) for d in t.dims] for t in (source, target))
        same = reshape_keeps_memory(dims, parts(source), target_dims, parts(target))
        if 0 in dims and answer is not None:
            assert answer
        elif answer is not None:
            assert answer is same


@pytest.mark.parametrize(
    ("source", "first", "target", "second", "answer"),
    [
        ("B S", (1, 0), "B*S", (0,), True),
        ("B S 64", (2, 1, 0), "B*S 8 8", (2, 1, 0), True),
        ("B S 64", (2, 1, 0), "B S*64", (0, 1), None),  # the same where B or S*64 is 1
        ("B S", (0, 1), "B*S", (0,), None),  # the same where B or S is 1
        ("T U", (0, 1), "T*U", (0,), False),  # T and U are at least 2
        ("B S", (1, 0), "B S+1", (1, 0), False),  # not even a reshape
        ("B S", (1, 0), "S B", (1, 0), True),  # row-major to row-major
        ("B 1 S", (2, 1, 0), "B S", (1, 0), True),
    ],
)
def test_symbolic_reshapes(source, first, target, second, answer):
    scope = Scope()
    symbols = {"B": scope.symbol("B"), "S": scope.symbol("S"), "T": scope.symbol("T", 2), "U": scope.symbol("U", 2)}
    dims, target_dims = ([eval(word, {}, symbols) for word in text.split()] for text in (source, target))
    before, after = ArrayType("f32", dims, Layout(first)), ArrayType("f32", target_dims, Layout(second))
    assert reshape_is_bitcast(before, after) is answer
    assert reshape_is_bitcast(after, before) is answer


@pytest.mark.parametrize(
    ("source", "first", "target", "second", "dims", "answer"),
    [
        ("B S 64", (2, 1, 0), "S B 64", (2, 0, 1), (1, 0, 2), True),
        ("B S 64", (2, 1, 0), "S B 64", (2, 1, 0), (1, 0, 2), None),  # the same where B or S is 1
        ("T U 64", (2, 1, 0), "U T 64", (2, 1, 0), (1, 0, 2), False),
        ("B S", (1, 0), "B S", (1, 0), (1, 0), None),  # a transpose only where B is S
        ("B S", (1, 0), "S B+1", (0, 1), (1, 0), False),
        ("B 1 S", (2, 1, 0), "B S 1", (2, 1, 0), (0, 2, 1), True),
    ],
)
def test_symbolic_transposes(source, first, target, second, dims, answer):
    scope = Scope()
    symbols = {"B": scope.symbol("B"), "S": scope.symbol("S"), "T": scope.symbol("T", 2), "U": scope.symbol("U", 2)}
    sizes, target_sizes = ([eval(word, {}, symbols) for word in text.split()] for text in (source, target))
    before, after = ArrayType("f32", sizes, Layout(first)), ArrayType("f32", target_sizes, Layout(second))
    assert transpose_is_bitcast(before, after, dims) is answer


def test_constraints_decide():
    scope = Scope()
    h, w, n = (scope.symbol(name) for name in ("h", "w", "n"))
    store = ConstraintStore(scope)
    source, target = ArrayType("f32", (h, 4 * w)), ArrayType("f32", (n,))
    assert reshape_is_bitcast(source, target, store=store) is None
    store.add_equal(n, 4 * h * w, Source("", "assumed"))
    assert reshape_is_bitcast(source, target, store=store) is True


def test_tiles_that_divide_are_digits():
    scope = Scope()
    b = scope.symbol("b")
    tiles = [(8, 128)]
    source = ArrayType("f32", (8 * b, 256), Layout((1, 0), tiles))
    assert reshape_is_bitcast(source, ArrayType("f32", (b, 8, 256), Layout((2, 1, 0), tiles))) is True
    assert reshape_is_bitcast(source, ArrayType("f32", (2048 * b,))) is False
    inside = ArrayType("f32", (b, 8, 2, 128), Layout((3, 1, 2, 0)))
    assert reshape_is_bitcast(source, inside) is True


def test_constraints_prove_that_tiles_divide():
    scope = Scope()
    n = scope.symbol("n")
    store = ConstraintStore(scope)
    source = ArrayType("f32", (n, 128), Layout((1, 0), [(8, 128)]))
    plain = ArrayType("f32", (n, 128))
    assert reshape_is_bitcast(source, plain, store=store) is None
    store.add_divisible(n, 8, Source("", "assumed"))
    assert reshape_is_bitcast(source, plain, store=store) is True


def test_large_padded_arrays_differ():
    tiles = [(8, 128)]
    source = ArrayType("f32", (1001, 1001), Layout((1, 0), tiles))
    assert reshape_is_bitcast(source, source) is True
    assert reshape_is_bitcast(source, ArrayType("f32", (1001, 1001), Layout((0, 1), tiles))) is False


def test_element_types_count():
    a, b = ArrayType("f32", (2,)), ArrayType("s32", (2,))
    packed = ArrayType("s4", (2,), Layout((0,), element_size_in_bits=4))
    assert reshape_is_bitcast(a, b) is False
    assert reshape_is_bitcast(a, b, ignore_dtype=True) is True
    assert reshape_is_bitcast(packed, ArrayType("s4", (2,))) is False


@given(reshapes())
def test_a_layout_is_returned_where_it_exists(pair):
    source, target = pair
    aligned = align_layouts(source, target)
    possible = any(
        reshape_keeps_memory(source.dims, parts(source), target.dims, (order,)) for order in orders(target.rank)
    )
    assert (aligned is not None) is possible
    if aligned is not None:
        assert aligned.dims == target.dims
        assert reshape_keeps_memory(source.dims, parts(source), target.dims, parts(aligned))


@given(reshapes())
def test_unmodified_dims(pair):
    source, target = pair
    actual = dims_unmodified_by_reshape(source, target)
    number = numbered(source.dims)
    for i, j in actual:
        assert source.dims[i] == target.dims[j]
        along = np.broadcast_to(np.arange(source.dims[i]).reshape([-1] + [1] * (source.rank - i - 1)), number.shape)
        others = np.arange(target.dims[j]).reshape([-1] + [1] * (target.rank - j - 1))
        assert np.array_equal(along.reshape(target.dims), np.broadcast_to(others, target.dims))


@given(st.lists(st.integers(1, 3), max_size=3), st.data())
def test_deduced_transposes(dims, data):
    source = ArrayType("f32", dims, data.draw(layouts(len(dims), False)))
    target = ArrayType("f32", data.draw(st.permutations(dims)), data.draw(layouts(len(dims), False)))
    order = deduce_transpose(source, target)
    if order is None:
        physical = [[t.dims[d] for d in t.layout.major_to_minor] for t in (source, target)]
        assert physical[0] != physical[1]
    else:
        moved = numbered(dims).transpose(order)
        assert moved.shape == target.dims
        assert np.array_equal(memory_of(numbered(dims), *parts(source)), memory_of(moved, *parts(target)))


def test_symbolic_alignment():
    scope = Scope()
    b, s = scope.symbol("B"), scope.symbol("S")
    source = ArrayType("f32", (b, s, 64), Layout((1, 2, 0)))
    aligned = align_layouts(source, ArrayType("f32", (b, s, 8, 8)))
    assert aligned is not None
    assert aligned.layout == Layout((1, 3, 2, 0))
    assert align_layouts(source, ArrayType("f32", (b, s * 64))) is None
    assert dims_unmodified_by_reshape(source, ArrayType("f32", (b * s, 64))) == [(2, 1)]


def test_empty_arrays_are_always_aligned():
    aligned = align_layouts(ArrayType("f32", (0, 3)), ArrayType("f32", (5, 0)))
    assert aligned is not None
    assert reshape_is_bitcast(ArrayType("f32", (0, 3)), aligned) is True


@pytest.mark.parametrize("check", [align_layouts, dims_unmodified_by_reshape])
def test_an_invalid_reshape_is_refused(check):
    with pytest.raises(LayoutError, match="differ in their number of elements"):
        check(ArrayType("f32", (2, 3)), ArrayType("f32", (5,)))


@given(st.lists(st.integers(1, 3), max_size=3), st.lists(st.integers(0, 4), max_size=3))
def test_no_transpose_of_other_numbers(dims, order):
    assume(sorted(order) != list(range(len(dims))))
    with pytest.raises(LayoutError):
        transpose_is_bitcast(ArrayType("f32", dims), ArrayType("f32", dims), order)
