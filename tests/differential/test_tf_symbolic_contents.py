"""Contents that need several operators: sums in the gradient of a broadcast, and integers that depend on data."""

import itertools

import numpy as np
import pytest

from opdefs.tf import tf
from shapeinf.expr import evaluate
from shapeinf.lattice import PartialTensor, Shape, ShapeStore
from shapeinf.ops import Call


def run(store, op, *types, **attributes):
    op_def = tf.lookup("", op, 0)
    return Call(op_def, attributes, 0, (True,) * len(op_def.outputs)).run(types, store, "node").types


def symbols(store, dims):
    return [store.scope.symbol(d, 1) if isinstance(d, str) else d for d in dims]


GRADIENTS = [
    (("b", 8), (8,)),
    (("b", "h", "w", 4), ("b", "h", "w", 1)),
    (("b", 1, "w"), ("b", "h", "w")),
    (("h", 1), (1, "w")),
    (("b", "h"), ("h",)),
    (("h", 1), ("b", 1, "w")),
]


@pytest.mark.parametrize(("first", "second"), GRADIENTS, ids=str)
@pytest.mark.parametrize("sizes", list(itertools.product((1, 2), (1, 3), (1, 5))), ids=str)
def test_the_gradient_of_a_broadcast_has_the_shape_of_its_operand(first, second, sizes):
    bindings = dict(zip("bhw", sizes, strict=True))
    store = ShapeStore()
    shapes = [symbols(store, dims) for dims in (first, second)]
    contents = [PartialTensor("int32", Shape((len(dims),)), dims) for dims in shapes]
    axes = run(store, "BroadcastGradientArgs", *contents, T="int32")
    (result,) = run(store, "Add", *(PartialTensor("float32", Shape(dims), None) for dims in shapes), T="float32")
    numbers = [[bindings.get(d, d) for d in dims] for dims in (first, second)]
    spread = np.broadcast_shapes(*numbers)
    for operand, summed in zip(numbers, axes, strict=True):
        (gradient,) = run(store, "Sum", result, summed, keep_dims=True, T="float32", Tidx="int32")
        expected = [1] * (len(spread) - len(operand)) + operand
        assert [evaluate(d, bindings) for d in gradient.shape] == expected


@pytest.mark.parametrize("limit", [0, 7, "n"])
@pytest.mark.parametrize(("op", "pick"), [("Minimum", min), ("Maximum", max)])
def test_an_integer_of_the_run_is_bounded_by_a_known_one(op, pick, limit):
    store = ShapeStore()
    (known,) = symbols(store, [limit])
    scalar = Shape(())
    operands = PartialTensor("int32", scalar, None), PartialTensor("int32", scalar, [known])
    for pair in (operands, operands[::-1]):
        (result,) = run(store, op, *pair, T="int32")
        low, high = store.bounds(result.elements[0])
        for unknown, size in itertools.product((-3, 0, 4, 1000), (1, 7, 20)):
            assert low <= pick(unknown, size if limit == "n" else limit) <= high


def test_a_limit_bounds_the_size_that_it_requests():
    store = ShapeStore()
    (n,) = symbols(store, ["n"])
    scalar = Shape(())
    unknown = PartialTensor("int32", scalar, None)
    (limit,) = run(store, "Minimum", unknown, PartialTensor("int32", scalar, [n]), T="int32")
    zero, one = (PartialTensor("int32", scalar, [value]) for value in (0, 1))
    (result,) = run(store, "Range", zero, limit, one, Tidx="int32")
    (size,) = result.shape
    assert store.bounds(size)[0] == 0
    assert store.scope.limits[size] == n


@pytest.mark.parametrize(
    ("op", "operand", "attributes"),
    [
        ("Cast", PartialTensor("float32", Shape(()), None), {"SrcT": "float32", "DstT": "int32"}),
        ("Max", PartialTensor("int32", Shape((5,)), None), {"T": "int32"}),
    ],
)
def test_what_is_computed_from_an_unknown_integer_stays_comparable(op, operand, attributes):
    store = ShapeStore()
    axes = [] if op == "Cast" else [PartialTensor("int32", Shape(()), [0])]
    (unknown,) = run(store, op, operand, *axes, **attributes)
    target = PartialTensor("int32", Shape(()), [40])
    (rest,) = run(store, "Sub", target, unknown, T="int32")
    (total,) = run(store, "AddV2", rest, unknown, T="int32")
    assert total.elements == (40,)
    assert store.bounds(unknown.elements[0])[0] < 0


UNARY = {
    "Abs": np.abs,
    "Sign": np.sign,
    "Neg": np.negative,
    "Square": np.square,
    "Relu": lambda x: np.maximum(x, 0),
    "Relu6": lambda x: np.clip(x, 0, 6),
}


@pytest.mark.parametrize("op", UNARY)
def test_a_function_of_a_symbolic_integer(op):
    store = ShapeStore()
    (n,) = symbols(store, ["n"])
    (result,) = run(store, op, PartialTensor("int32", Shape(()), [n - 5]), T="int32")
    for size in (1, 4, 5, 6, 10, 11, 12, 40):
        assert evaluate(result.elements[0], {"n": size}) == UNARY[op](size - 5)


@pytest.mark.parametrize(("index", "least"), [(0, 1), (1, 2), (-1, 1), (-2, 2)])
def test_an_index_needs_its_element(index, least):
    """TensorFlow fails at `x[index]` for each smaller size of the axis."""
    store = ShapeStore()
    n = store.scope.symbol("n", 0)
    vectors = [PartialTensor("int32", Shape((1,)), [value]) for value in (index, 0, 1)]
    run(store, "StridedSlice", PartialTensor("float32", Shape((n, 3)), None), *vectors, T="float32", Index="int32",
        shrink_axis_mask=1)  # fmt: skip
    assert store.bounds(n)[0] == least


@pytest.mark.parametrize("image", [[20, 30, 3], None])
def test_the_slice_of_a_distorted_box_has_all_channels(image):
    store, op = ShapeStore(), "SampleDistortedBoundingBox"
    size = PartialTensor("int32", Shape((3,)), image)
    begin, extent, _ = run(store, op, size, PartialTensor("float32", Shape((1, 0, 4)), None), T="int32")
    assert (begin.elements[2], extent.elements[2]) == (0, -1)


@pytest.mark.parametrize("size", ["n", 7])
@pytest.mark.parametrize(("low", "high", "interior"), [(0, 0, 0), (1, 2, 0), (0, 3, 2), (-1, -2, 0), (-2, 1, 3)])
def test_the_size_of_an_xla_pad(size, low, high, interior):
    store = ShapeStore()
    dims = symbols(store, [size])
    vectors = [PartialTensor("int64", Shape((1,)), [value]) for value in (low, high, interior)]
    value = PartialTensor("float32", Shape(()), None)
    x = PartialTensor("float32", Shape(dims), None)
    (result,) = run(store, "XlaPad", x, value, *vectors, T="float32", Tindices="int64")
    padded = np.full(low + high + 7 + 6 * interior, 0)  # the operation semantics of XLA
    assert evaluate(result[0] if isinstance(result, Shape) else result.shape[0], {"n": 7}) == len(padded)
