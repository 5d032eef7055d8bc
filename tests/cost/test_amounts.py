"""Costs of single operators: closed forms from their definitions."""

import onnx.parser
import pytest

from shapeinf import infer_shapes


def infer(text, opset=17):
    header = f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1, "com.example" : 1]>'
    return infer_shapes(onnx.parser.parse_model(f"{header} {text}"))


def factors(amount):
    return sorted(str(amount).split("*"))


CASES = [
    # a graph; multiply-accumulates; other operations; parameters
    ("g (float[n, 8] x, float[8, 4] w) => (y) { y = MatMul(x, w) }", "32*n", "0"),
    ("g (float[b, n, k] x, float[b, k, m] w) => (y) { y = MatMul(x, w) }", "b*k*m*n", "0"),
    ("g (float[k] x, float[k] w) => (y) { y = MatMul(x, w) }", "k", "0"),
    ("g (float[n, 8] x, float[4, 8] w, float[4] b) => (y) { y = Gemm<transB=1>(x, w, b) }", "32*n", "4*n"),
    ("g (float[8, n] x, float[8, 4] w) => (y) { y = Gemm<transA=1>(x, w) }", "32*n", "0"),
    (
        "g (float[n, 6, h, w] x, float[8, 3, 3, 3] k, float[8] b) => (y) "
        "{ y = Conv<group=2, pads=[1, 1, 1, 1], strides=[2, 2]>(x, k, b) }",
        "216*n*((h + 1)//2)*((w + 1)//2)",
        "8*n*((h + 1)//2)*((w + 1)//2)",
    ),
    ("g (float[n, 4, h] x, float[4, 2, 3] k) => (y) { y = ConvTranspose<strides=[2]>(x, k) }", "24*h*n", "0"),
    ("g (float[n, 4, 8] x) => (y) { y = MaxPool<kernel_shape=[2], strides=[2]>(x) }", "0", "32*n"),
    ("g (float[n, 4, h] x) => (y) { y = GlobalAveragePool(x) }", "0", "4*h*n"),
    ("g (float[n, 4] x) => (y) { y = Tanh(x) }", "0", "4*n"),
    ("g (float[n, 4] x, float[4] s) => (y) { y = Add(x, s) }", "0", "4*n"),
    ("g (float[n] x, float[n] s, float[n] t) => (y) { y = Sum(x, s, t) }", "0", "2*n"),
    ("g (float[n, 4] x) => (y) { y = Softmax(x) }", "0", "20*n"),
    ("g (float[n, 4] x, float[4] s, float[4] t) => (y) { y = LayerNormalization(x, s, t) }", "0", "28*n"),
    ("g (float[n, 4] x) => (y) { y = ReduceMax<axes=[1]>(x) }", "0", "4*n"),
    ("g (float[n, m] x) => (y) { y = Transpose(x) }", "0", "0"),
    ('g (float[b, i] x, float[i, j] w) => (y) { y = Einsum<equation="bi,ij->bj">(x, w) }', "b*i*j", "0"),
    ('g (float[b, i] x, float[b, i] w) => (y) { y = Einsum<equation="bi,bi->bi">(x, w) }', "0", "b*i"),
    ('g (float[b, h, i] x, float[i, j] w) => (y) { y = Einsum<equation="...i,ij->...j">(x, w) }', "b*h*i*j", "0"),
    ('g (float[i, i] x) => (y) { y = Einsum<equation="ii">(x) }', "0", "i"),
    (
        "g (float[t, b, 5] x, float[1, 16, 5] w, float[1, 16, 4] r) => (y) { y = LSTM<hidden_size=4>(x, w, r) }",
        "144*b*t",  # 4 gates of 4 units, each 5 + 4 products
        "36*b*t",
    ),
    (
        "g (float[t, b, 5] x, float[2, 12, 5] w, float[2, 12, 4] r, float[2, 24] z) => (y) "
        '{ y = GRU<hidden_size=4, direction="bidirectional">(x, w, r, z) }',
        "216*b*t",
        "112*b*t",
    ),
    ("g (int8[n, 8] x, int8[8, 4] w) => (y) { y = MatMulInteger(x, w) }", "32*n", "0"),
    (
        "g (float[1, 2, 4, w] x) => (y) { s = Constant<value_floats = [1.0, 1.0, 2.0, 1.0]>() "
        'y = Resize<mode="linear">(x, , s) }',
        "32*w",
        "0",
    ),
]


@pytest.mark.parametrize("text, macs, operations", CASES)
def test_formulas(text, macs, operations):
    cost = infer(text).cost()
    assert not cost.uncounted
    assert (factors(cost.total.macs), factors(cost.total.operations)) == (factors(macs), factors(operations))


def test_attention_of_grouped_heads():
    cost = infer(
        "g (float[b, s, 64] q, float[b, t, 32] k, float[b, t, 32] v) => (y) "
        "{ y = Attention<q_num_heads=4, kv_num_heads=2>(q, k, v) }",
        23,
    ).cost()
    assert str(cost.total.macs) == "128*b*s*t"  # 4 heads of 16 twice
    assert str(cost.total.operations) == "24*b*s*t"  # a scale and a softmax of 4 heads


BYTES = [
    # a graph; bytes read; bytes written
    ("g (float[n, 8] x, float[8, 4] w) => (y) { y = MatMul(x, w) }", "32*n + 128", "16*n"),
    ("g (float[n, 8] x) => (y) { y = Relu(x) }", "32*n", "32*n"),
    ("g (float[n, 8] x) => (y) { y = Flatten(x) }", "0", "0"),  # a view
    ("g (float[n, 8] x) => (y) { y = Shape(x) }", "0", "16"),
    ("g (float[1000, 8] x, int64[n] i) => (y) { y = Gather(x, i) }", "40*n", "32*n"),  # the rows, not the table
    ("g (float16[n] x) => (y) { y = Cast<to=1>(x) }", "2*n", "4*n"),
    ("g (float[n, 8] x, float[8] s) => (m) { , m = LayerNormalization(x, s) }", "32*n + 32", "4*n"),  # the mean only
]


@pytest.mark.parametrize("text, read, written", BYTES)
def test_bytes(text, read, written):
    total = infer(text).cost().total
    assert (str(total.bytes_read), str(total.bytes_written)) == (read, written)


def test_intensity():
    cost = infer("g (float[n, 8] x, float[8, 4] w) => (y) { y = MatMul(x, w) }").cost()
    assert cost.total.intensity is None
    total = cost.at(n=4).total
    assert total.intensity == 256 / (128 + 128 + 64)


NOT_COUNTED = [
    ("g (float[n] x) => (y) { y = com.example.Own(x) }", "the operator is not known"),
    ("g (float[n] x) => (y) { y = Unique(x) }", "the number of comparisons depends on data"),
    ("g (float x) => (y) { y = Relu(x) }", ""),
    ('g (float[n, 4] x) => (y) { y = Einsum<equation="abc,d->a">(x, x) }', None),
    (
        "g (float[1, n, 1] x) => (y) { y = DFT(x) }",
        "the operations of a transform of symbolic length are not a polynomial",
    ),
]


@pytest.mark.parametrize("text, reason", NOT_COUNTED)
def test_what_is_not_counted_is_listed(text, reason):
    cost = infer(text).cost()
    if reason == "":
        assert not cost.uncounted and len(cost.nodes) == 1
    else:
        (item,) = cost.uncounted
        assert not cost.nodes and cost.total.macs == 0
        assert reason is None or item.reason.startswith(reason)
        assert item.reason


def test_strings_have_no_bytes_but_a_cost():
    cost = infer("g (string[n] x) => (y) { y = Identity(x) z = Unsqueeze(x, y) c = Concat<axis=0>(x, x) }").cost()
    assert [(item.op, item.amount) for item in cost.uncounted if item.op == "Concat"] == [("Concat", "bytes")]
    assert "Concat" in cost.by_operator
