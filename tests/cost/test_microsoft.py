"""Costs of ONNX Runtime's operators: those of the standard operators of which the definitions compose them."""

import onnx.parser
import pytest

from shapeinf import infer_shapes

HEADER = '<ir_version: 8, opset_import: ["" : 20, "com.microsoft" : 1]>'

PAIRS = [
    # name; values with their types; the operator; what it computes by its definition
    ("FastGelu", "float[n, 8] x", "y = com.microsoft.FastGelu(x)", "y = Gelu(x)"),
    (
        "FastGelu with a bias",
        "float[n, 8] x, float[8] b",
        "y = com.microsoft.FastGelu(x, b)",
        "s = Add(x, b) y = Gelu(s)",
    ),
    ("BiasGelu", "float[n, 8] x, float[8] b", "y = com.microsoft.BiasGelu(x, b)", "s = Add(x, b) y = Gelu(s)"),
    (
        "BiasSoftmax",
        "float[n, 8] x, float[n, 8] b",
        "y = com.microsoft.BiasSoftmax<axis = 1, is_inner_broadcast = 1>(x, b)",
        "s = Add(x, b) y = Softmax(s)",
    ),
    (
        "BiasSplitGelu",
        "float[n, 3, 8] x, float[8] b",
        "y = com.microsoft.BiasSplitGelu(x, b)",
        "s = Add(x, b) l, r = Split<axis = 2, num_outputs = 2>(s) g = Gelu(r) y = Mul(l, g)",
    ),
    (
        "SkipLayerNormalization",
        "float[n, t, 8] x, float[n, t, 8] s, float[8] g",
        "y = com.microsoft.SkipLayerNormalization(x, s, g)",
        "a = Add(x, s) y = LayerNormalization(a, g)",
    ),
    (
        "SkipLayerNormalization with shift and bias",
        "float[n, t, 8] x, float[n, t, 8] s, float[8] g, float[8] h, float[8] b",
        "y = com.microsoft.SkipLayerNormalization(x, s, g, h, b)",
        "a = Add(x, s) c = Add(a, b) y = LayerNormalization(c, g, h)",
    ),
    (
        "FusedConv",
        "float[n, 3, h, 9] x, float[4, 3, 3, 3] w, float[4] b",
        'y = com.microsoft.FusedConv<activation = "Relu">(x, w, b)',
        "a = Conv(x, w, b) y = Relu(a)",
    ),
    (
        "FusedConv with a sum",
        "float[n, 3, 8, 9] x, float[4, 3, 3, 3] w, float[4] b, float[n, 4, 6, 7] z",
        'y = com.microsoft.FusedConv<activation = "Relu">(x, w, b, z)',
        "a = Conv(x, w, b) s = Add(a, z) y = Relu(s)",
    ),
    (
        "FusedGemm",
        "float[8, n] x, float[8, 4] w, float[4] b",
        'y = com.microsoft.FusedGemm<transA = 1, activation = "Relu">(x, w, b)',
        "a = Gemm<transA = 1>(x, w, b) y = Relu(a)",
    ),
    (
        "GemmFastGelu",
        "float[n, 8] x, float[8, 4] w, float[4] b",
        "y = com.microsoft.GemmFastGelu(x, w, b)",
        "a = MatMul(x, w) s = Add(a, b) y = Gelu(s)",
    ),
    (
        "FusedMatMul",
        "float[n, 8, t] x, float[n, 8, 5] w",
        "y = com.microsoft.FusedMatMul<transA = 1>(x, w)",
        "a = Transpose<perm = [0, 2, 1]>(x) y = MatMul(a, w)",
    ),
    (
        "FusedMatMulActivation",
        "float[n, t, 8] x, float[n, 8, 5] w",
        'y = com.microsoft.FusedMatMulActivation<activation = "Relu">(x, w)',
        "a = MatMul(x, w) y = Relu(a)",
    ),
    (
        "DynamicQuantizeMatMul",
        "float[n, 8] x, uint8[8, 5] w, float s",
        "y = com.microsoft.DynamicQuantizeMatMul(x, w, s)",
        "q, qs, qz = DynamicQuantizeLinear(x) y = MatMulInteger(q, w, qz)",
    ),
    (
        "GemmaRotaryEmbedding",
        "float[n, t, 4] e, " + ", ".join(f"float16[n, 5, t, 4] {name}" for name in ("q", "qr", "k", "kr")),
        "y, z = com.microsoft.GemmaRotaryEmbedding(e, q, qr, k, kr)",
        "i = Constant<value_ints = [1]>() c = Cos(e) cc = Cast<to = 10>(c) cu = Unsqueeze(cc, i) s = Sin(e) "
        "sc = Cast<to = 10>(s) su = Unsqueeze(sc, i) a = Mul(q, cu) b = Mul(qr, su) y = Add(a, b) "
        "d = Mul(k, cu) f = Mul(kr, su) z = Add(d, f)",
    ),
    (
        "RouterGateUpProj",
        "float16[n, t, 8] x, float16[8, 14] w",
        "y, z = com.microsoft.RouterGateUpProj<router_size = 4>(x, w)",
        "p = MatMul(x, w) c = Constant<value_ints = [4, 5, 5]>() y, g, u = Split<axis = 2>(p, c) "
        "a = Gelu(g) z = Mul(a, u)",
    ),
]


def amounts(text, graph_inputs):
    cost = infer_shapes(onnx.parser.parse_model(f"{HEADER} g ({graph_inputs}) => (y) {{ {text} }}")).cost()
    assert not cost.uncounted
    return str(cost.total.macs), str(cost.total.operations)


@pytest.mark.parametrize(("inputs", "operator", "composed"), [pytest.param(*p[1:], id=p[0]) for p in PAIRS])
def test_an_operator_costs_what_its_definition_costs(inputs, operator, composed):
    assert amounts(operator, inputs) == amounts(composed, inputs)
