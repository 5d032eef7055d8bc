"""The join of lists: items without a known type are zeros of the shape of the others; all items share contents."""

import pytest

from shapeinf.lattice import HandleType, PartialTensor, Shape, ShapeStore, TensorType
from shapeinf.lattice.joins import relax_type

SCALAR = Shape(())
FIVE = PartialTensor("int32", SCALAR, [5])
ANY = TensorType("int32", SCALAR)


def handle(values, length):
    return HandleType("variant", SCALAR, values, length)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (handle((), 0), handle((FIVE,), 1), (FIVE,)),
        (handle((ANY,), 0), handle((FIVE,), 1), (FIVE,)),
        (handle((), 3), handle((FIVE,), 1), (ANY,)),
        (handle((), None), handle((FIVE,), 1), (ANY,)),
        (handle((FIVE,), 2), handle((FIVE,), 1), (FIVE,)),
        (handle((ANY,), 2), handle((FIVE,), 1), (ANY,)),
        (handle(None, 2), handle((FIVE,), 1), None),
    ],
)
def test_items(first, second, expected):
    store = ShapeStore()
    assert relax_type(store.relaxer, first, second, "site").values == expected
    assert relax_type(store.relaxer, second, first, "site").values == expected
