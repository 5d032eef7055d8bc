"""XLA's windows, compared with the outputs of its compiler (`tf.function(jit_compile=True)`, random attributes)."""

import pytest

from opdefs.tf import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import evaluate
from shapeinf.lattice import PartialTensor, Shape, ShapeStore
from shapeinf.ops import Call

# the sizes of both operands, strides, paddings, dilations of the input and the kernel, ConvolutionDimensionNumbers,
# groups of batches, the sizes of the result
CONVOLUTIONS = [
    (
        [6, 4, 7, 8],
        [2, 6, 8, 1],
        [3, 1],
        [[1, 0], [1, 0]],
        [1, 3],
        [1, 2],
        b"\x18\x01 \x022\x02\x00\x038\x01H\x02P\x03Z\x02\x03\x02b\x02\x00\x01",
        1,
        [3, 20, 4, 8],
    ),
    (
        [4, 6, 4],
        [2, 3, 8],
        [1],
        [[1, 0]],
        [1],
        [2],
        b"\x18\x01 \x022\x01\x008\x02@\x01H\x01P\x02Z\x01\x00b\x01\x00",
        1,
        [3, 4, 8],
    ),
    (
        [6, 2, 3, 4],
        [8, 3, 6, 3],
        [2, 3],
        [[1, 1], [1, 2]],
        [3, 1],
        [2, 1],
        b"\x18\x022\x02\x01\x038\x03H\x03Z\x02\x02\x01b\x02\x01\x02",
        1,
        [8, 3, 1, 4],
    ),
    (
        [4, 9, 6, 7],
        [1, 4, 6, 8],
        [2, 2],
        [[2, 0], [2, 0]],
        [3, 1],
        [2, 1],
        b"\x18\x02 \x032\x02\x00\x01@\x02H\x03P\x01Z\x02\x03\x01b\x02\x02\x00",
        2,
        [4, 8, 11, 2],
    ),
    ([8, 6, 4], [3, 1, 8], [3], [[1, -1]], [3], [2], b" \x022\x01\x018\x02@\x01P\x01Z\x01\x00b\x01\x02", 1, [4, 8, 8]),
    (
        [3, 5, 6, 2, 4],
        [8, 1, 4, 6, 2],
        [1, 3, 3],
        [[2, 2], [0, -1], [2, -1]],
        [2, 1, 1],
        [2, 2, 2],
        b"\x18\x032\x03\x04\x02\x018\x04@\x02H\x03Z\x03\x03\x01\x00b\x03\x01\x04\x02",
        1,
        [8, 5, 2, 4, 0],
    ),
    (
        [5, 8, 9, 4, 6],
        [2, 8, 6, 4, 2],
        [2, 3, 3],
        [[0, -1], [1, 3], [0, 2]],
        [2, 2, 2],
        [2, 2, 2],
        b"\x18\x02 \x012\x03\x04\x00\x038\x03@\x04H\x04P\x03Z\x03\x00\x01\x02b\x03\x00\x01\x02",
        1,
        [3, 6, 5, 8, 4],
    ),
    (
        [5, 9, 4, 6],
        [6, 8, 3, 3],
        [2, 2],
        [[2, 0], [2, -1]],
        [3, 3],
        [2, 2],
        b" \x012\x02\x03\x028\x02@\x03H\x02P\x03Z\x02\x00\x01b\x02\x01\x00",
        2,
        [11, 6, 2, 8],
    ),
    (
        [4, 7, 3, 6, 6],
        [6, 8, 4, 3, 3],
        [3, 1, 3],
        [[2, 2], [0, 3], [2, 3]],
        [1, 1, 2],
        [2, 2, 1],
        b" \x012\x03\x04\x02\x03@\x03P\x01Z\x03\x01\x02\x04b\x03\x03\x04\x02",
        1,
        [4, 8, 5, 3, 0],
    ),
]

# the sizes of the input and the windows, strides, dilations of both, paddings, the sizes of the result
REDUCTIONS = [
    (
        [5, 9, 5, 1],
        [2, 2, 4, 2],
        [1, 3, 1, 3],
        [3, 1, 2, 1],
        [1, 1, 1, 1],
        [[1, 1], [1, 1], [2, 0], [1, 3]],
        [14, 4, 8, 2],
    ),
    ([7, 2, 4], [2, 3, 1], [2, 2, 2], [2, 1, 3], [2, 1, 2], [[0, 2], [2, 2], [2, 2]], [7, 2, 7]),
    ([3, 7, 7], [3, 4, 2], [1, 3, 2], [3, 2, 1], [1, 1, 2], [[2, 0], [1, 0], [1, 1]], [7, 4, 4]),
    ([7, 7, 7], [2, 4, 3], [2, 3, 2], [2, 1, 3], [2, 2, 2], [[1, 3], [0, 2], [1, 3]], [8, 1, 10]),
    ([3, 8, 1], [1, 4, 2], [2, 1, 1], [2, 1, 2], [2, 1, 2], [[0, 1], [1, 2], [0, 2]], [3, 8, 1]),
    ([7, 9, 7], [1, 1, 2], [2, 2, 3], [3, 2, 3], [2, 1, 2], [[1, 2], [2, 1], [0, 0]], [11, 10, 6]),
    ([9, 8, 2], [2, 1, 4], [2, 3, 3], [3, 3, 3], [2, 2, 2], [[1, 1], [1, 3], [0, 2]], [13, 9, 0]),
    ([7], [3], [3], [2], [2], [[0, 1]], [4]),
]


def integers(values, shape):
    return PartialTensor("int32", Shape(shape), values)


def pairs(padding):
    return integers([size for pair in padding for size in pair], (len(padding), 2))


def sizes(store, name, dims, symbolic):
    """The sizes, or symbols for them."""
    return [store.scope.symbol(f"{name}{axis}", 1) for axis in range(len(dims))] if symbolic else dims


def tensor(dims):
    return PartialTensor("float32", Shape(dims), None)


def infer(op, store, inputs, **attributes):
    types = {name: "float32" for name in ("T", "LhsT", "RhsT", "preferred_element_type")}
    call = Call(tf.lookup("", op, 0), {**types, "Tindices": "int32", **attributes}, 0, (True,))
    (output,) = call.run(inputs, store, "node").types
    return output.shape


def conv(store, lhs, rhs, strides, padding, lhs_dilation, rhs_dilation, numbers, groups):
    vectors = [integers(values, (len(values),)) for values in (strides, lhs_dilation, rhs_dilation)]
    inputs = [lhs, rhs, vectors[0], pairs(padding), vectors[1], vectors[2], integers([1], ())]
    return infer("XlaConvV2", store, inputs, dimension_numbers=numbers, batch_group_count=groups)


@pytest.mark.parametrize("symbolic", [False, True], ids=["concrete", "symbolic"])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions(case, symbolic):
    lhs, rhs, strides, padding, lhs_dilation, rhs_dilation, numbers, groups, expected = case
    store = ShapeStore()
    operands = [tensor(sizes(store, name, dims, symbolic)) for name, dims in (("l", lhs), ("r", rhs))]
    shape = conv(store, *operands, strides, padding, lhs_dilation, rhs_dilation, numbers.decode(), groups)
    known = {f"{name}{axis}": size for name, dims in (("l", lhs), ("r", rhs)) for axis, size in enumerate(dims)}
    assert [evaluate(size, known) for size in shape] == expected


@pytest.mark.parametrize("symbolic", [False, True], ids=["concrete", "symbolic"])
@pytest.mark.parametrize("case", REDUCTIONS)
def test_reductions(case, symbolic):
    dims, window, strides, base_dilation, window_dilation, padding, expected = case
    store = ShapeStore()
    vectors = [integers(v, (len(v),)) for v in (window, strides, base_dilation, window_dilation)]
    inputs = [tensor(sizes(store, "x", dims, symbolic)), tensor([]), *vectors, pairs(padding)]
    shape = infer("XlaReduceWindow", store, inputs)
    assert [evaluate(size, {f"x{axis}": size for axis, size in enumerate(dims)}) for size in shape] == expected


@pytest.mark.parametrize(
    "damaged", ["", "\x18", "\x1a\x09\x01", "\x18\x02", "junk", "\x09\x00", "\x18\x7f \x032\x01\x00"]
)
def test_damaged_dimension_numbers(damaged):
    ones = [1, 1]
    with pytest.raises(ShapeError, match="dimension_numbers must"):
        conv(ShapeStore(), tensor([2, 3, 4, 5]), tensor([2, 3, 4, 5]), ones, [ones, ones], ones, ones, damaged, 1)


def test_lost_bytes_give_unknown_sizes():
    ones = [1, 1]
    shape = conv(ShapeStore(), tensor([2, 3, 4, 5]), tensor([2] * 4), ones, [ones, ones], ones, ones, "\x18\ufffd", 1)
    assert len(shape) == 4
    assert not any(isinstance(size, int) for size in shape)
