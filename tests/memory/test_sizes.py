"""Bytes of values: element counts times widths, by hand or by numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.expr import evaluate
from shapeinf.lattice import MapType, OptionalType, SequenceType, Shape, ShapeStore, TensorType, element_bits
from shapeinf.lattice.dtypes import ONNX_NAMES
from shapeinf.layout import ELEMENT_TYPES
from shapeinf.memory.sizes import size_of
from shapeinf.solver.long_dims import sum_dims

WIDTHS = {
    **dict.fromkeys(("int2", "uint2"), 2),
    **dict.fromkeys(("int4", "uint4", "float4e2m1"), 4),
    **dict.fromkeys(("float6e2m3", "float6e3m2"), 6),
    **dict.fromkeys(("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0"), 8),
    "bfloat16": 16,
}
"""From the comments on TensorProto.DataType in onnx.proto."""


@pytest.mark.parametrize("name", sorted(set(ONNX_NAMES.values()) - {"string"}))
def test_every_element_type_of_onnx_has_its_width(name):
    assert element_bits(name) == (WIDTHS[name] if name in WIDTHS else np.dtype(name).itemsize * 8)


@pytest.mark.parametrize("name", [None, "string", "variant", "object", "", "float"])
def test_element_types_without_a_width(name):
    store = ShapeStore()
    assert element_bits(name) is None
    size = size_of(store, TensorType(name, Shape((2, 3))))
    assert size.bytes is None
    assert size.cause


@given(st.lists(st.integers(0, 7), max_size=4), st.sampled_from(["uint2", "int4", "float6e2m3", "float8e5m2", "int64"]))
def test_packed_elements_fill_full_bytes(values, dtype):
    """Concrete and symbolic: ceil(elements * bits / 8)."""
    store = ShapeStore()
    wanted = math.ceil(math.prod(values) * element_bits(dtype) / 8)
    assert size_of(store, TensorType(dtype, Shape(values))).bytes == wanted
    named = [store.scope.symbol(f"s{i}", 0) for i in range(len(values))]
    size = size_of(store, TensorType(dtype, Shape(named))).bytes
    assert evaluate(size, {f"s{i}": value for i, value in enumerate(values)}) == wanted


def test_sizes_are_canonical_under_the_constraints():
    store = ShapeStore()
    n, m = store.scope.symbol("N"), store.scope.symbol("M")
    store.add_equal(m, n + 1, None)
    assert size_of(store, TensorType("float16", Shape((m, 2)))).bytes is 4 * n + 4


def test_products_and_sums_go_past_the_caps_of_the_algebra():
    """Nine factors (the cap is degree 8), 70 terms (the cap is 64), coefficients past 2**128."""
    store = ShapeStore()
    names = [store.scope.symbol(f"s{i}") for i in range(70)]
    nine = size_of(store, TensorType("float32", Shape(names[:9]))).bytes
    assert evaluate(nine, {f"s{i}": i + 1 for i in range(9)}) == 4 * math.factorial(9)
    total = sum_dims(store.scope, names)
    assert len(total.terms) == 70
    assert evaluate(total, {f"s{i}": 1 for i in range(70)}) == 70
    huge = size_of(store, TensorType("int8", Shape((2**62, 2**62, 2**62, names[0])))).bytes
    assert evaluate(huge, {"s0": 3}) == 3 * 2**186
    assert not store.scope.capped


def test_a_size_with_too_long_a_formula_has_a_cause():
    store = ShapeStore()
    long = sum_dims(store.scope, [store.scope.symbol(f"s{i}") for i in range(70)])
    size = size_of(store, TensorType("int8", Shape((long, long))))
    assert size.bytes is None
    assert "too long" in size.cause


def test_numbers_that_could_not_be_printed_are_no_sizes():
    store = ShapeStore()
    for more in ((), (store.scope.symbol("n"),)):
        size = size_of(store, TensorType("int8", Shape((*(2**62,) * 1000, *more))))
        assert size.bytes is None
        assert "too long" in size.cause


def test_containers():
    store = ShapeStore()
    n = store.scope.symbol("N")
    rows, row = TensorType("float32", Shape((n, 2))), TensorType("float32", Shape((2,)))
    assert size_of(store, SequenceType(rows, items=(rows, row))).bytes == 8 * n + 8
    assert size_of(store, SequenceType(row, n)).bytes == 8 * n
    assert size_of(store, OptionalType(row)).bytes == 8
    joined = TensorType("float32", Shape((store.scope.fresh("any"),)))
    for unknown in (SequenceType(joined, 3), SequenceType(row), MapType("int64", row), None):
        size = size_of(store, unknown)
        assert size.bytes is None
        assert size.cause


@pytest.mark.parametrize("element", ELEMENT_TYPES, ids=lambda element: element.name)
def test_layouts_know_the_same_widths(element):
    assert element_bits(element.dtype) == element.bits
