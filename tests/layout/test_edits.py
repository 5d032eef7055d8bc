"""Edits of dims keep memory; comparisons name the differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.expr import Scope
from shapeinf.layout import (
    OPAQUE,
    TOKEN,
    ArrayType,
    Layout,
    LayoutError,
    Split,
    TupleType,
    compatible,
    delete_dim,
    descending,
    drop_degenerate_dims,
    equal,
    insert_dim,
    layouts_equal,
    move_dim_to_major,
    parse_type,
    permute_dims,
    same_dims,
)
from tests.layout.oracle import memory_of, numbered
from tests.layout.strategies import arrays, physical_types


def memory(values, array):
    return memory_of(values, array.layout.minor_to_major, array.layout.tiles).tolist()


@given(arrays(), st.data())
def test_permuted_dims_keep_memory(array, data):
    order = data.draw(st.permutations(range(array.rank)))
    values = numbered(array.dims)
    moved = permute_dims(array, order)
    assert moved.dims == values.transpose(order).shape
    assert memory(values.transpose(order), moved) == memory(values, array)


@given(arrays())
def test_descending_keeps_memory(array):
    values = numbered(array.dims)
    actual = descending(array)
    assert actual.layout.minor_to_major == Layout.descending(array.rank).minor_to_major
    assert memory(values.transpose(array.layout.major_to_minor), actual) == memory(values, array)


@given(arrays(tiled=False), st.booleans(), st.data())
def test_a_dim_of_size_1_changes_nothing_in_memory(array, minor, data):
    at = data.draw(st.integers(0, array.rank))
    values = numbered(array.dims)
    wider = insert_dim(array, at, 1, minor=minor)
    assert memory(np.expand_dims(values, at), wider) == memory(values, array)
    assert delete_dim(wider, at) == array
    assert 1 not in drop_degenerate_dims(wider).dims


@given(arrays(tiled=False, largest=3), st.integers(0, 3), st.data())
def test_a_new_major_dim_repeats_memory(array, size, data):
    at = data.draw(st.integers(0, array.rank))
    values = np.stack([numbered(array.dims) + i * array.elements for i in range(size)], at) if size else None
    wider = insert_dim(array, at, size)
    expected = [i * array.elements + n for i in range(size) for n in memory(numbered(array.dims), array)]
    assert wider.dims == (*array.dims[:at], size, *array.dims[at:])
    if values is not None:
        assert memory(values, wider) == expected


def test_all_that_a_dim_has_moves_with_it():
    array = ArrayType("s4", (4, None, 6), Layout((1, 0, 2), splits=[Split(0, (2,)), Split(2, (3,))]))
    assert str(permute_dims(array, (2, 0, 1))) == "s4[6,4,?]{2,1,0:SC(1:2)(0:3)}"
    assert str(delete_dim(array, 0)) == "s4[?,6]{0,1:SC(1:3)}"
    assert str(insert_dim(array, 1, 5, dynamic=True)) == "s4[4,<=5,?,6]{2,0,3,1:SC(0:2)(3:3)}"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda a: permute_dims(a, (0, 0)),
        lambda a: permute_dims(a, (0,)),
        lambda a: delete_dim(a, 2),
        lambda a: delete_dim(a, -3),
        lambda a: insert_dim(a, 3, 1),
        lambda a: insert_dim(a, 0, -1),
        lambda a: insert_dim(a, -1, 1),
        lambda a: move_dim_to_major(a.layout, 2),
        lambda a: move_dim_to_major(Layout(()), 0),
    ],
)
def test_errors(wrong):
    with pytest.raises(LayoutError):
        wrong(ArrayType("f32", (2, 3)))


@given(physical_types(), physical_types())
def test_equal_is_equality_where_nothing_is_symbolic(a, b):
    assert equal(a, a) is True
    assert equal(a, b) is (a == b)
    assert compatible(a, b) is compatible(b, a)
    assert layouts_equal(a, b) is layouts_equal(b, a)
    if equal(a, b, ignoring=["layout", "dynamic"]):
        assert compatible(a, b)


@pytest.mark.parametrize(
    ("a", "b", "ignoring", "answer"),
    [
        ("f32[2]", "s32[2]", ["dtype"], True),
        ("f32[2]", "s32[2]", ["float precision"], False),
        ("f32[2]", "f8e5m2[2]", ["float precision"], True),
        ("f32[2,3]", "f32[2,3]{0,1}", ["layout"], True),
        ("f32[<=2]", "f32[2]", ["dynamic"], True),
        ("f32[<=2]", "f32[2]", ["layout"], False),
        ("f32[?]", "f32[<=2]", [], False),
        ("f32[?]", "f32[<=2]", ["dynamic"], True),
        ("(f32[?], token[])", "(f32[<=2], token[])", ["dynamic"], True),
        ("(f32[2])", "f32[2]", ["dtype", "layout", "dynamic"], False),
        ("token[]", "opaque[]", ["dtype"], False),
        ("f32[2]", "f32[2,1]", ["layout"], False),
    ],
)
def test_ignored_aspects(a, b, ignoring, answer):
    assert equal(parse_type(a), parse_type(b), ignoring=ignoring) is answer


def test_symbolic_comparisons():
    scope = Scope()
    n, m = scope.symbol("n"), scope.symbol("m")
    array = ArrayType("f32", (n, 2))
    assert equal(array, ArrayType("f32", (n, 2))) is True
    assert equal(array, ArrayType("f32", (m, 2))) is None
    assert equal(array, ArrayType("f32", (n + 1, 2))) is False
    assert compatible(TupleType([array, TOKEN]), TupleType([ArrayType("f32", (m, 3)), TOKEN])) is False
    assert same_dims(array, ArrayType("s8", (None, 2))) is True


def test_values_without_a_layout_differ_from_arrays():
    array = ArrayType("f32", (2,))
    assert layouts_equal(TOKEN, OPAQUE) is True
    assert layouts_equal(TOKEN, array) is layouts_equal(array, TOKEN) is False


def test_unknown_aspects_are_refused():
    with pytest.raises(LayoutError, match="cannot ignore"):
        equal(TOKEN, TOKEN, ignoring=["color"])
