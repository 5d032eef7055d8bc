"""Bytes and strides, concrete and symbolic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import Source
from shapeinf.expr import Scope, evaluate
from shapeinf.layout import (
    OPAQUE,
    TOKEN,
    ArrayType,
    LayoutError,
    TupleType,
    byte_size,
    byte_strides,
    data_byte_size,
    has_degenerate_dims,
    is_effective_scalar,
    is_empty,
    parse_type,
    physical_byte_size,
    strides,
    true_rank,
)
from tests.layout.oracle import memory_of, numbered
from tests.layout.strategies import arrays, layouts

DTYPES = st.sampled_from(["bool", "int8", "float16", "float32", "float64", "complex128"])


@given(st.lists(st.integers(0, 5), max_size=4), DTYPES)
def test_row_major_arrays_are_those_of_numpy(dims, dtype):
    array = ArrayType(dtype, dims)
    ours = np.empty(dims, dtype)
    assert byte_size(array) == physical_byte_size(array) == data_byte_size(array) == ours.nbytes
    assert array.elements == ours.size
    if ours.size:
        assert byte_strides(array) == ours.strides


@given(arrays(largest=4))
def test_data_end_at_the_last_element(array):
    memory = memory_of(
        numbered(array.dims),
        array.layout.minor_to_major,
        array.layout.tiles,
        array.layout.tail_padding_alignment_in_elements,
    )
    assert physical_byte_size(array) == 4 * len(memory)
    held = np.flatnonzero(memory >= 0)
    try:
        assert data_byte_size(array) == 4 * (int(held[-1]) + 1 if len(held) else 0)
    except LayoutError:
        assert len(array.layout.tiles) > 1


@given(st.lists(st.integers(1, 5), max_size=3), st.data())
def test_symbolic_sizes_are_sizes_at_every_binding(dims, data):
    scope = Scope()
    layout = data.draw(layouts(len(dims)))
    values = {f"d{i}": size for i, size in enumerate(dims)}
    array, symbolic = ArrayType("f32", dims, layout), ArrayType("f32", map(scope.symbol, values), layout)
    nested = len(layout.tiles) > 1  # which element is last may then not be known
    for size in (byte_size, physical_byte_size, *(() if nested else (data_byte_size,))):
        assert evaluate(size(symbolic), values) == size(array)
    if not layout.tiles:
        assert [evaluate(s, values) for s in strides(symbolic)] == list(strides(array))


@pytest.mark.parametrize(
    ("text", "unpadded", "room"),
    [
        ("s4[3,3]{1,0:E(4)}", 5, 5),
        ("s4[3,3]", 9, 9),
        ("s1[9]{0:E(1)}", 2, 2),
        ("f32[<=10,3]", 120, 120),
        ("f32[2,3]{1,0:T(8,128)E(4)}", 3, 512),
        ("f32[]{:T(256)}", 4, 1024),
        ("f32[0,3]{1,0:T(8,128)L(4)}", 0, 0),
    ],
)
def test_packed_and_padded(text, unpadded, room):
    array = parse_type(text)
    assert (byte_size(array), physical_byte_size(array)) == (unpadded, room)


def test_tuples_are_tables_of_pointers():
    inner = TupleType([TOKEN, TOKEN, ArrayType("f32", (1000,))])
    assert byte_size(TupleType([inner, OPAQUE])) == 16
    assert byte_size(TupleType([inner, OPAQUE]), pointer_size=4) == 8
    assert (byte_size(TOKEN), byte_size(OPAQUE), byte_size(OPAQUE, pointer_size=4)) == (0, 8, 4)
    with pytest.raises(LayoutError):
        byte_size(TOKEN, pointer_size=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: strides(parse_type("f32[2,3]{1,0:T(2,2)}")), "is tiled"),
        (lambda: byte_strides(parse_type("s4[2,3]{1,0:E(4)}")), "4 bits"),
        (lambda: byte_size(parse_type("f32[?]")), "without a bound"),
        (lambda: data_byte_size(ArrayType("f32", (Scope().symbol("n", 0),))), "not known"),
        (lambda: data_byte_size(parse_type("f32[4,4]{1,0:T(2,2)(2,2,2,2)}")), "overlap in dims"),
    ],
)
def test_errors(wrong, message):
    with pytest.raises(LayoutError, match=message):
        wrong()


def test_three_values():
    scope = Scope()
    n, two, zero = scope.symbol("n", 0), scope.symbol("two", 2), scope.symbol("zero", 0, 0)
    unit = scope.symbol("one", 1, 1)
    for dims, rank, empty, scalar, degenerate in [
        ((n,), None, None, None, None),
        ((n, two), None, None, False, None),
        ((n, 0), None, True, False, None),
        ((two, two), 2, False, False, False),
        ((unit, 1), 0, False, True, True),
        ((zero, n), None, True, False, None),
        ((two, 1), 1, False, False, True),
        ((), 0, False, True, False),
    ]:
        array = ArrayType("f32", dims)
        assert true_rank(array) == rank
        assert is_empty(array) is empty
        assert is_effective_scalar(array) is scalar
        assert has_degenerate_dims(array) is degenerate
    store = ConstraintStore(scope)
    store.add_range(n, 1, 1, Source("", "assumed"))
    assert true_rank(ArrayType("f32", (n, two)), store) == 1
    assert data_byte_size(ArrayType("f32", (n, two)), store) == 4 * n * two
