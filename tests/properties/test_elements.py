"""Elements that are moved without numpy are those that numpy moves."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.elements import select_elements
from opdefs.rules.repetition import broadcast_elements
from shapeinf.expr import Scope
from shapeinf.lattice import Condition, PartialTensor, Shape, ShapeStore
from shapeinf.ops import InferenceContext, OpDef

SIZES = st.lists(st.integers(0, 4), max_size=4)
BOUNDS = st.none() | st.integers(-5, 5)
SLICES = st.builds(slice, BOUNDS, BOUNDS, st.sampled_from((1, 2, -1, -3)))


def numbered(sizes):
    return np.arange(np.prod(sizes, dtype=int)).reshape(sizes)


@settings(deadline=None)
@given(st.data(), SIZES)
def test_slices(data, sizes):
    array = numbered(sizes)
    parts = [data.draw(SLICES) for _ in sizes]
    indices = [range(size)[part] for size, part in zip(sizes, parts, strict=True)]
    assert select_elements(array.reshape(-1).tolist(), sizes, indices) == array[tuple(parts)].reshape(-1).tolist()


@settings(deadline=None)
@given(SIZES, st.lists(st.integers(1, 3), max_size=2), st.lists(st.integers(0, 4), min_size=4, max_size=4))
def test_broadcasts(sizes, leading, repeats):
    array = numbered(sizes)
    shape = leading + [repeat if size == 1 else size for size, repeat in zip(sizes, repeats, strict=False)]
    result = broadcast_elements(PartialTensor("int64", Shape(sizes), array.reshape(-1).tolist()), Shape(shape))
    assert result.shape == Shape(shape)
    assert list(result.elements) == np.broadcast_to(array, shape).reshape(-1).tolist()


def test_an_empty_tensor_has_no_positions():
    """Whatever the lengths of its other axes: a list of all positions of these would fill the memory."""
    assert select_elements([], [4096, 4096, 4096, 0], [range(4096)] * 3 + [[]]) == []


def context():
    """That of a node without inputs."""
    return InferenceContext(OpDef("Cast", "onnx"), [], {}, ShapeStore(), "node")


INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
EDGES = [
    side * float(2**bits) + offset
    for side in (1, -1)
    for bits in (7, 8, 15, 16, 31, 32, 52)
    for offset in (-1, -0.5, 0, 0.5)
]


@settings(deadline=None)
@given(st.sampled_from(INTEGERS), st.lists(st.sampled_from(EDGES) | st.floats(), min_size=1, max_size=8))
def test_floats_that_an_integer_type_holds_are_truncated(dtype, numbers):
    """Those of numpy's limits; the others are unknown, as are NaN and infinities."""
    limits = np.iinfo(dtype)
    expected = [
        math.trunc(x) if math.isfinite(x) and limits.min <= math.trunc(x) <= limits.max else None for x in numbers
    ]
    result = convert(context(), PartialTensor("float64", Shape([len(numbers)]), numbers), dtype)
    assert (result.dtype, list(result.elements)) == (dtype, expected)


def test_truth_values_stay():
    """Also next to those that depend on sizes."""
    values = (True, Condition(Scope().symbol("n") - 4), False, None)
    assert convert(context(), PartialTensor("bool", Shape([len(values)]), values), "bool").elements == values
