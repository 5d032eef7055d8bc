"""Preconditions of operands whose sizes have names: onnxruntime runs exactly the legal sizes."""

import itertools

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from tests.differential.ort import session_of

HEADER = '<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1]>'

CASES = {
    "scale of a channel": (17, "float[1, n, 4] x, float[m] s", "y = InstanceNormalization(x, s, s)"),
    "scale that broadcasts": (17, "float[2, n] x, float[m] s", "y = LayerNormalization(x, s)"),
    "parts of an axis": (18, "float[n] x, float[m] z", "a, b, c, y = Split<num_outputs = 4>(x)"),
    "bias of a product": (17, "float[n, 3] x, float[m, 1] s", "y = Gemm<transB = 1>(x, x, s)"),
    "lengths of samples": (17, "float[5, n, 1] x, float[1, m, 1] h", "y = RNN<hidden_size = 1>(x, w, r, , , h)"),
    "indices of elements": (17, "float[n, 3] x, float[m] z", "y = GatherElements<axis = 1>(x, four)"),
    "size of a transposed convolution": (
        17,
        "float[1, 1, n] x, float[m] z",
        "y = ConvTranspose<strides = [3], output_shape = [7]>(x, w)",
    ),
    "choices along an axis": (17, "float[n, 2] x, float[m] z", "y = Expand(x, grown)"),
    "a cache of rotations": (17, "float[2, 1, n] x, float[9, m] s", "y = com.microsoft.RotaryEmbedding(x, p, s, s)"),
    "heads with rotations": (17, "float[2, 3, 1, n] x, float[9, m] s", "y = com.microsoft.RotaryEmbedding(x, p, s, s)"),
    "a part of heads with rotations": (
        17,
        "float[2, 1, n] x, float[9, m] s",
        "y = com.microsoft.RotaryEmbedding<num_heads = 1, rotary_embedding_dim = 5>(x, p, s, s)",
    ),
    "rotations of three positions": (
        17,
        "float[2, 3, 1, n] x, float[9, m] s",
        "y = com.microsoft.MRotaryEmbedding<mrope_section = [1, 1, 0]>(x, ppp, s, s)",
    ),
    "classes of targets": (17, "float[3, n] x, float[m] z", "y = NegativeLogLikelihoodLoss(x, classes)"),
    "classes of targets that are ignored": (
        17,
        "float[3, n] x, float[m] z",
        "y = SoftmaxCrossEntropyLoss<ignore_index = 5>(x, classes)",
    ),
    "groups of output channels": (17, "float[1, 2, n] x, float[m, 1, 1] s", "y = Conv<group = 2>(x, s)"),
    "groups of input channels": (17, "float[1, m, n] x, float[m, 1, 1] s", "y = ConvTranspose<group = 2>(x, s)"),
    "scale of a quantized axis": (17, "float[2, n] x, float[m] s", "q = QuantizeLinear(x, s) y = Cast<to = 1>(q)"),
    "scale of a dequantized axis": (
        17,
        "float[2, n] x, float[m] s",
        "q, t, z = DynamicQuantizeLinear(x) y = DequantizeLinear(q, s)",
    ),
    "sizes that are halves": (17, "float[2, n] x, float[m] z", "h = Shape(x) i = Div(h, halves) y = Resize(x, , , i)"),
    "a crop before a fill with edges": (19, "float[2, n] x, float[m] z", 'y = Pad<mode = "edge">(x, crop)'),
    "a crop before a fill with reflections": (19, "float[2, n] x, float[m] z", 'y = Pad<mode = "reflect">(x, crop)'),
    "a crop behind a fill with edges": (19, "float[2, n] x, float[m] z", 'y = Pad<mode = "edge">(x, shift)'),
}
HELD = {
    "halves": np.array([1, 2]),
    "crop": np.array([0, -2, 0, 1]),
    "shift": np.array([0, 1, 0, -1]),
    "w": np.ones((1, 1, 1), np.float32),
    "r": np.ones((1, 1, 1), np.float32),
    "four": np.zeros((4, 2), np.int64),
    "grown": np.array([3, 2], np.int64),
    "classes": np.array([2, 5, 0]),
    "p": np.zeros(1, np.int64),
    "ppp": np.zeros((3, 2, 1), np.int64),
}


@pytest.mark.parametrize("name", CASES)
def test_legal_sizes_are_those_that_run(name):
    opset, inputs, body = CASES[name]
    model = onnx.parser.parse_model(f"{HEADER.format(opset=opset)} g ({inputs}) => (float[q] y) {{ {body} }}")
    model.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in HELD.items())
    model.graph.output[0].type.tensor_type.ClearField("shape")
    contract, session = infer_shapes(model).contract, session_of(model)
    for sizes in itertools.product(range(1, 9), range(1, 5)):
        named = dict(zip("nm", sizes, strict=True))
        answer = contract.check(named)
        assert (answer.verdict is True and not answer.reasons) is runs(session, model, named), (contract, named)


def runs(session, model, sizes):
    feeds = {
        i.name: np.ones([sizes.get(d.dim_param, d.dim_value) for d in i.type.tensor_type.shape.dim], np.float32)
        for i in model.graph.input
    }
    try:
        session.run(None, feeds)
    except Exception:  # onnxruntime has no class of its own for what fails at run time
        return False
    return True


def windows():
    """Windows of one axis: kernel, stride, dilation, padding of the output, pads."""
    return [w for w in itertools.product((1, 3), (1, 2, 3), (1, 2), (0, 1, 2), (0, 1)) if w[3] < max(w[1], w[2])]


@pytest.mark.parametrize("window", windows(), ids=str)
def test_transposed_convolutions_of_small_inputs_run_where_the_contract_says_so(window):
    kernel, stride, dilation, extra, pad = window
    attributes = f"strides = [{stride}], dilations = [{dilation}], output_padding = [{extra}], pads = [{pad}, {pad}]"
    body = f"y = ConvTranspose<{attributes}>(x, w)"
    model = onnx.parser.parse_model(
        f"{HEADER.format(opset=17)} g (float[1, 1, n] x, float[1, 1, {kernel}] w) => (float[q] y) {{ {body} }}"
    )
    model.graph.output[0].type.tensor_type.ClearField("shape")
    contract, session = infer_shapes(model, min_dim=0).contract, session_of(model)
    for n in range(4):
        answer = contract.check(n=n)
        assert (answer.verdict is True and not answer.reasons) is runs(session, model, {"n": n}), (n, answer)


CACHED = "float[b, 1, P, 8] pk, float[b, 1, P, 8] pv, "
ATTENTION = """
{header} g (float[b, s, 8] q, float[b, s, 8] k, float[b, s, 8] v, {cache} float[b, T] mask) => (y, pk2, pv2, scores) {{
    size = Shape(mask) wide = Gather(size, one) total = Cast<to = 6>(wide)
    rows = Shape<end = 1>(q) less = Sub(wide, one) ends = Expand(less, rows) lengths = Cast<to = 6>(ends)
    y, pk2, pv2, scores = com.microsoft.GroupQueryAttention<num_heads = 1, kv_num_heads = 1, qk_output = 1>(
        q, k, v, {names}, lengths, total
    )
}}"""


@pytest.mark.parametrize("cache", [CACHED, ""], ids=["a cache", "no cache"])
def test_attention_over_a_cache_runs_where_the_contract_says_so(cache):
    """onnxruntime's condition on batches is no condition of the operator: `check` names it beside a "yes"."""
    text = ATTENTION.format(header=HEADER.format(opset=17), cache=cache, names="pk, pv" if cache else ", ")
    model = onnx.parser.parse_model(text)
    model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "one"))
    result, session = infer_shapes(model), session_of(model)
    names = ("b", "s", "T", "P") if cache else ("b", "s", "T")
    for sizes in itertools.product((1, 2), (1, 3), range(1, 8), *([(1, 3, 4)] if cache else [])):
        named = dict(zip(names, sizes, strict=True))
        answer = result.contract.check(named)
        feeds = attention_feeds(model, named)
        try:
            outputs = session.run(None, feeds)
        except Exception as refusal:  # onnxruntime has no class of its own for what fails at run time
            expected = "batch_size must be 1" in str(refusal)
            assert answer.verdict is expected and answer.reasons, (named, answer, refusal)
        else:
            assert answer.verdict is True and not answer.reasons, (named, answer)
            shapes = [[evaluate(d, named) for d in result.tensors[o.name].shape] for o in model.graph.output]
            assert shapes == [list(output.shape) for output in outputs], named


def attention_feeds(model, sizes):
    return {
        i.name: np.zeros([sizes.get(d.dim_param, d.dim_value) for d in i.type.tensor_type.shape.dim], np.float32)
        for i in model.graph.input
    }


@pytest.mark.parametrize(
    ("sizes", "totals"),
    [((2, 3, 4), {7: False, 3: True}), ((2, 5, 1), {6: False}), ((1, 3, 4), {7: True}), ((2, 1, 4), {5: True})],
)
def test_attention_over_a_cache_depends_on_a_total_that_is_an_input(sizes, totals):
    """Where onnxruntime refuses some total, `check` can't tell."""
    text = f"""{HEADER.format(opset=17)} g (
        float[b, s, 8] q, float[b, s, 8] k, float[b, s, 8] v, {CACHED} int32[b] lengths, int32 total
    ) => (y, pk2, pv2) {{
        y, pk2, pv2 = com.microsoft.GroupQueryAttention<num_heads = 1, kv_num_heads = 1>(
            q, k, v, pk, pv, lengths, total
        )
    }}"""
    model = onnx.parser.parse_model(text)
    named = dict(zip(("b", "s", "P"), sizes, strict=True))
    session, answer = session_of(model), infer_shapes(model).contract.check(named)
    assert (answer.verdict is True and not answer.reasons) is all(totals.values()), answer
    for total, succeeds in totals.items():
        feeds = attention_feeds(model, named)
        feeds["lengths"] = np.full(named["b"], total - 1, np.int32)
        feeds["total"] = np.array(total, np.int32)
        try:
            session.run(None, feeds)
        except Exception:  # onnxruntime has no class of its own for what fails at run time
            assert not succeeds, total
        else:
            assert succeeds, total


def test_a_contract_lists_an_assumption_once():
    body = 'y = Pad<mode = "reflect">(x, pads)'
    model = onnx.parser.parse_model(f"{HEADER.format(opset=17)} g (float[n] x) => (float[m] y) {{ {body} }}")
    model.graph.initializer.append(numpy_helper.from_array(np.array([-1, 2]), "pads"))
    kinds = [precondition.kind for precondition in infer_shapes(model).contract]
    assert kinds.count("assumption") == 1, kinds
