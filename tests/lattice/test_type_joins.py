"""Merge and relax of types, contents included: properties of random partial tensors, and a table of kinds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dimension
from shapeinf.lattice import (
    MapType,
    OptionalType,
    PartialTensor,
    Relaxer,
    SequenceType,
    Shape,
    ShapeStore,
    TensorType,
    merge_type,
    relax_type,
)

SOURCE = Source("n", "required")
ELEMENTS = st.lists(st.one_of(st.none(), st.integers(0, 2)), min_size=2, max_size=2)


def partial(elements):
    return PartialTensor("int64", Shape((2,)), elements)


def contents(tensor, store=None):
    """The concrete contents that a partial tensor allows, over elements 0..2; a symbol is anything in its bounds."""

    def allows(element, value):
        if isinstance(element, Dimension):
            low, high = store.bounds(element)
            return low <= value <= high
        return element is None or element == value

    return {
        (x, y)
        for x in range(3)
        for y in range(3)
        if all(allows(e, v) for e, v in zip(tensor.elements, (x, y), strict=True))
    }


@given(ELEMENTS, ELEMENTS)
def test_merge_of_contents_is_the_intersection(first, second):
    a, b = partial(first), partial(second)
    both = contents(a) & contents(b)
    try:
        merged = merge_type(ShapeStore(), a, b, SOURCE)
    except ShapeError:
        assert not both
        return
    assert contents(merged) == both
    assert merge_type(ShapeStore(), b, a, SOURCE) == merged


@given(ELEMENTS, ELEMENTS)
def test_relax_of_contents_is_above_both(first, second):
    a, b = partial(first), partial(second)
    store, others = ShapeStore(), ShapeStore()
    joined = relax_type(store.relaxer, a, b, "site")
    assert contents(joined, store) >= contents(a) | contents(b)
    assert contents(relax_type(others.relaxer, b, a, "site"), others) == contents(joined, store)


def test_merging_symbolic_elements_adds_a_constraint():
    store = ShapeStore()
    batch = store.scope.symbol("batch")
    merge_type(store, partial((batch, 1)), partial((4, None)), SOURCE)
    assert store.canon(batch) == 4


F32 = TensorType("float32", Shape((2, 3)))
I64 = TensorType("int64", Shape((2, 3)))
OPEN = TensorType(None, Shape.unknown())


@pytest.mark.parametrize(
    ("a", "b", "merged"),
    [
        (F32, OPEN, "float32[2, 3]"),
        (SequenceType(F32), SequenceType(OPEN), "sequence(float32[2, 3])"),
        (OptionalType(OPEN), OptionalType(F32), "optional(float32[2, 3])"),
        (MapType("int64", F32), MapType("int64", OPEN), "map(float32[2, 3])"),
        (F32, I64, None),
        (F32, SequenceType(F32), None),
        (SequenceType(F32), OptionalType(F32), None),
        (MapType("int64", F32), MapType("string", OPEN), None),
    ],
)
def test_merge_of_kinds(a, b, merged):
    if merged is None:
        with pytest.raises(ShapeError):
            merge_type(ShapeStore(), a, b, SOURCE)
    else:
        assert repr(merge_type(ShapeStore(), a, b, SOURCE)) == merged


def test_relax_of_kinds():
    relaxer = Relaxer(ShapeStore())
    assert repr(relax_type(relaxer, F32, I64, "site")) == "?[2, 3]"
    joined = relax_type(relaxer, SequenceType(F32), SequenceType(TensorType("float32", Shape((2,)))), "other")
    assert repr(joined) == "sequence(float32?)"
    with pytest.raises(ShapeError):
        relax_type(relaxer, F32, SequenceType(F32), "site")
