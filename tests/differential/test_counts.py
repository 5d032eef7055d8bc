"""The number of nonzero elements, against onnxruntime: of constant tensors, and of the same tensor twice."""

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from tests.differential.ort import session_of

SIZES = [{"N": n, "M": m} for n in (1, 2, 5) for m in (1, 3, 70)]
FILLS = ("float[1] {0.0}", "float[1] {2.0}", "int64[1] {0}", "int64[1] {-7}", "int32[1] {1}")
FILLS += ("bool[1] {1}", "bool[1] {0}", "uint8[1] {200}")
CHAINS = (
    "y = NonZero(f)",
    "g = Cast<to = 9>(f) y = NonZero(g)",
    "g = Cast<to = 1>(f) h = Cast<to = 7>(g) y = NonZero(h)",
    "g = Reshape(f, flat) y = NonZero(g)",
    "g = Reshape(f, flat) h = Unsqueeze(g, zero) y = NonZero(h)",
    "g = Transpose(f) y = NonZero(g)",
    "g = Unsqueeze(f, zero) wide = Constant<value_ints = [4, 1, 1]>() h = Expand(g, wide) y = NonZero(h)",
    "one = Constant<value_ints = [1]>() g = Slice(f, zero, one) y = NonZero(g)",
)


def model(text):
    return onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 21]> ' + text)


def ran(proto, sizes, x=None):
    fill = np.ones(tuple(sizes.values()), np.float32) if x is None else x
    return session_of(proto).run(None, {"x": fill})


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("fill", FILLS)
def test_constant_tensors_have_all_or_no_nonzeros(fill, chain):
    pytest.importorskip("onnxruntime")
    start = "flat = Constant<value_ints = [-1]>() zero = Constant<value_ints = [0]>() s = Shape(x)"
    proto = model(f"g (float[N, M] x) => (int64[r, k] y) {{ {start} f = ConstantOfShape<value = {fill}>(s) {chain} }}")
    rank, count = infer_shapes(proto).tensors["y"].shape
    for sizes in SIZES:
        (real,) = ran(proto, sizes)
        assert (rank, evaluate(count, sizes)) == real.shape, sizes


def test_nonzeros_of_other_tensors_are_counted_at_run_time():
    proto = model(
        "g (float[N, M] x) => (y) { s = Shape(x) r = ConstantOfShape<value = float[1] {0.5}>(s) y = NonZero(r) }"
    )
    count = infer_shapes(proto).tensors["y"].shape[1]
    assert str(infer_shapes(proto).interval(count)) == "0.."


TWICE = "g (float[N, M] x) => (y) { a = NonZero(x) b = NonZero(x) y = Add(a, b) }"
APART = "g (float[N, M] x) => (y) { n = Neg(x) a = NonZero(x) b = NonZero(n) y = Concat<axis = 1>(a, b) }"
IN_A_BODY = """g (float[N, M] x) => (y) {
  three = Constant<value_int = 3>() yes = Constant<value = bool {1}>()
  y = Loop (three, yes) <body = b (int64 i, bool go) => (again, out) {
    again = Identity(go)
    f = Cast<to = 1>(i)
    moved = Sub(x, f)
    left = NonZero(moved)
    right = NonZero(moved)
    both = Concat<axis = 1>(left, right)
    s = Shape(both)
    out = Identity(s)
  }>
}"""


def test_counts_of_the_same_tensor_are_equal():
    result = infer_shapes(model(TWICE))
    a, b, y = (result.tensors[name].shape[1] for name in "aby")
    assert a is b is y
    assert not result.contract.preconditions
    x = np.array([[0, 1, 2], [0, 0, 3]], np.float32)
    (real,) = ran(model(TWICE), {"N": 2, "M": 3}, x)
    assert real.shape == (2, 3)


def test_counts_of_different_tensors_may_differ():
    result = infer_shapes(model(APART))
    assert result.tensors["a"].shape[1] is not result.tensors["b"].shape[1]


def test_counts_differ_from_trip_to_trip():
    """Both counts are equal in each trip, but differ from trip to trip."""
    pytest.importorskip("onnxruntime")
    proto = model(IN_A_BODY)
    result = infer_shapes(proto)
    (real,) = ran(proto, {"N": 2, "M": 3}, np.array([[0, 1, 2], [0, 0, 1]], np.float32))
    assert real[:, 1].tolist() == [6, 8, 10]
    assert [str(d) for d in result.tensors["y"].shape] == ["3", "2"]


def test_an_update_keeps_counts_equal():
    proto = model(TWICE)
    result = infer_shapes(proto, inputs={"x": [4, "M"]}).update({"x": [5, 7]})
    assert result.tensors["a"].shape[1] is result.tensors["b"].shape[1]
    assert str(result.interval(result.tensors["a"].shape[1])) == "0..35"
