"""XLA's products and gathers, compared with the outputs of its compiler (`tf.function(jit_compile=True)`)."""

import pytest

from opdefs.tf import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import evaluate
from shapeinf.lattice import PartialTensor, Shape, ShapeStore
from shapeinf.ops import Call

# the sizes of both operands, DotDimensionNumbers, the sizes of the result
PRODUCTS = [
    ([1, 4, 2, 2], [4, 1], b"\n\x02\x00\x01\x12\x02\x01\x00", [2, 2]),
    ([1, 1, 2, 1], [2, 1, 1, 4, 5], b'\n\x01\x00\x12\x01\x02\x1a\x02\x03\x02"\x02\x01\x00', [1, 2, 1, 4, 5]),
    ([4, 2], [2], b'\x1a\x01\x01"\x01\x00', [2, 4]),
    ([3, 1, 3, 5, 5], [1, 3, 3, 5], b'\n\x01\x02\x12\x01\x02\x1a\x02\x00\x01"\x02\x01\x00', [3, 1, 5, 5, 5]),
    ([1, 3], [1, 3], b'\n\x01\x01\x12\x01\x01\x1a\x01\x00"\x01\x00', [1]),
]

# the sizes of the operand, the indices and the slices, GatherDimensionNumbers, the sizes of the result
GATHERS = [
    ([5, 6, 7], [3, 2], [1, 2, 7], b"\n\x02\x01\x02\x12\x01\x00\x1a\x02\x00\x01 \x01", [3, 2, 7]),
    ([5, 6, 7], [4, 3, 3], [1, 1, 1], b"\x12\x03\x00\x01\x02\x1a\x03\x00\x01\x02 \x02", [4, 3]),
    ([5, 6], [2, 3], [2, 6], b"\n\x02\x00\x02\x1a\x02\x00\x01", [2, 3, 6]),
    ([9], [4], [1], b"\x12\x01\x00\x1a\x01\x00 \x01", [4]),
    ([9, 4], [4, 2], [3, 1], b"\n\x01\x01\x12\x01\x01\x1a\x01\x00 \x02", [4, 3, 2]),
]


def infer(op, dims, numbers, *, symbolic=False, slices=None):
    """The sizes of the result at the sizes of the operands."""
    store, known, inputs = ShapeStore(), {}, []
    for index, sizes in enumerate(dims):
        names = [f"i{index}d{axis}" for axis in range(len(sizes))]
        known |= dict(zip(names, sizes, strict=True))
        axes = [store.scope.symbol(name, 1) for name in names] if symbolic else sizes
        inputs.append(PartialTensor("float32", Shape(axes), None))
    if slices is not None:
        inputs.append(PartialTensor("int32", Shape((len(slices),)), slices))
    attributes = {"T": "float32", "LhsT": "float32", "RhsT": "float32", "preferred_element_type": "float32"}
    attributes |= {"Tindices": "int32", "dimension_numbers": numbers}
    (output,) = Call(tf.lookup("", op, 0), attributes, 0, (True,)).run(inputs, store, "node").types
    return [evaluate(store.canon(size), known) for size in output.shape]


@pytest.mark.parametrize("symbolic", [False, True], ids=["concrete", "symbolic"])
@pytest.mark.parametrize(("lhs", "rhs", "numbers", "expected"), PRODUCTS)
def test_products(lhs, rhs, numbers, expected, symbolic):
    assert infer("XlaDotV2", (lhs, rhs), numbers.decode(), symbolic=symbolic) == expected


@pytest.mark.parametrize("symbolic", [False, True], ids=["concrete", "symbolic"])
@pytest.mark.parametrize(("operand", "indices", "slices", "numbers", "expected"), GATHERS)
def test_gathers(operand, indices, slices, numbers, expected, symbolic):
    assert infer("XlaGather", (operand, indices), numbers.decode(), symbolic=symbolic, slices=slices) == expected


@pytest.mark.parametrize("damaged", ["\x0a", "\x0a\x09\x01", "\x0a\x01\x07\x12\x01\x00", "\x0a\x01\x00", "junk"])
def test_damaged_dimension_numbers(damaged):
    with pytest.raises(ShapeError):
        infer("XlaDotV2", ([2, 3], [2, 3]), damaged)
