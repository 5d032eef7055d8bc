"""Positions in memory are those of numpy's pad, reshape and transpose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import LimitError, Source
from shapeinf.expr import Dimension, Scope, evaluate
from shapeinf.layout import (
    ArrayType,
    Layout,
    LayoutError,
    PaddedLayout,
    indices,
    lay_out,
    linear_index,
    linear_indices,
    multi_index,
    next_index,
    physical_elements,
    strides,
    take_out,
)
from tests.layout.oracle import memory_of, numbered
from tests.layout.strategies import arrays


def brute(array):
    layout = array.layout
    tail = layout.tail_padding_alignment_in_elements
    return memory_of(numbered(array.dims), layout.minor_to_major, layout.tiles, tail)


@given(arrays())
def test_memory(array):
    memory = brute(array)
    assert physical_elements(array) == len(memory)
    assert lay_out(numbered(array.dims), array.layout, -1).tolist() == memory.tolist()
    assert np.array_equal(take_out(memory, array.dims, array.layout), numbered(array.dims))


@given(arrays(least=1, largest=4, max_rank=3))
def test_every_position_holds_its_element_or_padding(array):
    for linear, number in enumerate(brute(array)):
        index = multi_index(array, linear)
        if number < 0:
            assert index is None
        else:
            assert index == tuple(map(int, np.unravel_index(number, array.dims)))
            assert linear_index(array, index) == linear
    with pytest.raises(LayoutError):
        multi_index(array, len(brute(array)))


@given(arrays(tiled=False, least=1))
def test_strides_are_those_of_numpy(array):
    major_to_minor = array.layout.major_to_minor
    full = np.empty([array.dims[d] for d in major_to_minor], dtype=np.int8).transpose(np.argsort(major_to_minor))
    big = [d for d, size in enumerate(array.dims) if size > 1]  # numpy is free to choose the others
    assert [strides(array)[d] for d in big] == [full.strides[d] for d in big]


@given(arrays(tiled=False, largest=4))
def test_indices_come_in_the_order_of_memory(array):
    visited = [linear_index(array, index) for index in indices(array)]
    assert visited == list(range(array.elements))


@given(arrays(least=1, largest=4, max_rank=3))
def test_next_index_counts_row_major(array):
    index, seen = (0,) * array.rank, []
    while index is not None:
        seen.append(index)
        index = next_index(array, index)
    assert seen == [tuple(map(int, i)) for i in np.ndindex(*array.dims)]


@given(arrays(least=1, largest=5, max_rank=3), st.data())
def test_symbolic_linear_indices_are_those_of_every_binding(array, data):
    scope = Scope()
    sizes = [scope.symbol(f"d{i}") if data.draw(st.booleans()) else size for i, size in enumerate(array.dims)]
    index = [data.draw(st.integers(0, size - 1)) for size in array.dims]
    values = {f"d{i}": size for i, size in enumerate(array.dims)} | {f"i{i}": at for i, at in enumerate(index)}
    index_dims = [scope.symbol(f"i{i}", 0) if data.draw(st.booleans()) else at for i, at in enumerate(index)]
    symbolic = ArrayType("f32", sizes, array.layout)
    linear = linear_index(array, index)
    assert evaluate(linear_index(symbolic, index_dims), values) == linear
    assert evaluate(physical_elements(symbolic), values) == physical_elements(array)
    back = multi_index(symbolic, scope.symbol("place", 0))
    assert [evaluate(at, values | {"place": linear}) for at in back] == index


@given(arrays(tiled=False, largest=4), st.data())
def test_the_padded_layout_is_a_padded_array(array, data):
    padded = [data.draw(st.integers(size, size + 2)) for size in array.dims]
    layout = PaddedLayout(array.layout.minor_to_major, padded, padding_value=-1)
    values = numbered(array.dims)
    full = np.full(padded, -1)
    full[tuple(map(slice, array.dims))] = values
    memory = memory_of(full, layout.minor_to_major)
    assert layout.lay_out(values).tolist() == memory.tolist()
    assert physical_elements(layout.padded(array)) == full.size
    for index in np.ndindex(*array.dims):
        assert memory[layout.linear_index(array, index)] == values[index]
    for linear in range(full.size):
        index = layout.multi_index(array, linear)
        assert (-1 if index is None else values[index]) == memory[linear]
    with pytest.raises(LayoutError, match=r"is outside of|has no elements"):
        layout.multi_index(array, full.size)


def test_symbolic_sizes_of_a_padded_layout():
    scope = Scope()
    n, i = scope.symbol("n"), scope.symbol("i", 0)
    layout, array = PaddedLayout((0, 1), (n + 1, 5)), ArrayType("f32", (n, 3))
    assert layout.linear_index(array, (i, 2)) == i + 2 * (n + 1)
    with pytest.raises(LayoutError, match="is outside of dim 0"):
        layout.linear_index(array, (n, 2))
    assert layout.multi_index(array, 3 * (n + 1)) is None


@pytest.mark.parametrize(
    ("base", "count", "step", "visited"),
    [
        ((0, 0), (0, 3), (0, 1), [(0, 0), (0, 1), (0, 2)]),  # held at its base
        ((1, 0), (0, 3), (0, 2), [(1, 0), (1, 2)]),
        ((0, 0), (0, 3), (1, 1), []),
        ((1, 1), None, None, [(1, 1), (1, 2)]),
    ],
)
def test_ranges_of_indices(base, count, step, visited):
    assert list(indices(ArrayType("f32", (2, 3)), base, count, step)) == visited


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda a: indices(a, base=(2, 0), count=(1, 1)), "leave dim 0"),
        (lambda a: indices(a, base=(-1, 0)), "base must be in 0"),
        (lambda a: indices(a, count=(2, 4)), "leave dim 1"),
        (lambda a: indices(a, step=(0, 1)), "a step of 0 along dim 0"),
        (lambda a: indices(a, count=(2,)), "needs 2 numbers"),
        (lambda a: next_index(a, (2, 0)), "outside of dim 0"),
        (lambda a: linear_index(a, (0, 3)), "outside of dim 1"),
        (lambda a: linear_index(a, (0, -1)), "outside of dim 1"),
        (lambda a: linear_index(a, (0, 0, 0)), "2 numbers, not 3"),
        (lambda a: linear_index(a, (0, 0.5)), "must be an int"),
        (lambda a: multi_index(a, -1), "outside of the 6 elements"),
        (lambda a: multi_index(a, 6), "outside of the 6 elements"),
        (lambda a: multi_index(ArrayType("f32", (3, 0)), 0), "no elements"),
        (lambda a: take_out([1, 2], a.dims, a.layout), "has 6 elements"),
        (lambda a: lay_out([1, 2], a.layout), "2 dims, but the array has 1"),
        (lambda a: lay_out([[1]], a.layout, 0.5), "padding value 0.5"),
        (lambda a: lay_out(np.zeros((1, 1), np.uint8), a.layout, -1), "padding value -1"),
        (lambda a: lay_out([[1]], a.layout, "x"), "padding value 'x'"),
        (lambda a: PaddedLayout((1, 0), (3,)), "2 dims, but the array has 1"),
        (lambda a: PaddedLayout((1, 0), (3, 2)).padded(a), "its padded size is 2"),
    ],
)
def test_errors(wrong, message):
    with pytest.raises(LayoutError, match=message):
        wrong(ArrayType("f32", (2, 3)))


def test_constraints_on_an_index_count():
    scope = Scope()
    n = scope.symbol("n")
    store = ConstraintStore(scope)
    array = ArrayType("f32", (n, 4))
    assert linear_index(array, (3, 1), store) == 13
    store.add_range(n, None, 3, Source("", "assumed"))
    with pytest.raises(LayoutError, match="index 3 is outside of dim 0"):
        linear_index(array, (3, 1), store)
    with pytest.raises(LayoutError, match="symbolic"):
        indices(array)
    with pytest.raises(LayoutError, match="symbolic"):
        linear_indices(array)


def test_sizes_without_a_bound_are_not_known():
    with pytest.raises(LayoutError, match="without a bound"):
        linear_index(ArrayType("f32", (None, 3)), (0, 0))


def test_large_arrays_are_walked_but_not_laid_out():
    huge = ArrayType("s8", (1 << 40, 1 << 20))
    assert next(iter(indices(huge))) == (0, 0)
    with pytest.raises(LimitError):
        linear_indices(huge)
    with pytest.raises(LimitError):
        lay_out([1], Layout((0,), tail_padding_alignment_in_elements=1 << 40))
    with pytest.raises(LimitError):
        linear_indices(ArrayType("s8", [1] * 64))


def test_a_symbolic_linear_index_of_a_symbolic_array_is_arithmetic():
    scope = Scope()
    b, s = scope.symbol("B"), scope.symbol("S")
    array = ArrayType("f32", (b, s), Layout((1, 0), tiles=[(8, 128)]))
    assert linear_index(array, (0, 127)) == 127
    assert isinstance(physical_elements(array), Dimension)
    assert evaluate(physical_elements(array), {"B": 9, "S": 129}) == 2 * 2 * 1024
