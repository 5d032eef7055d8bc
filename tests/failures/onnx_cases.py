"""Small ONNX models of which only one node can fail, with sizes at which it should.

The node that can fail writes the value `target`. `tools/make_runtime_messages.py` runs the models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import onnx
from onnx import parser


class OnnxCase(NamedTuple):
    """A model, in the text form of onnx.parser, and sizes of its dims.

    Args:
        name: of the case.
        graph: inputs, outputs and nodes.
        legal: sizes at which it runs.
        illegal: changes of these at which it should fail.
        values: contents of inputs; floats are ones, and integers zeros, otherwise.
        data: whether the failure depends on the values.
        fed: the shapes of inputs that are fed instead of the declared ones, for one more message.
    """

    name: str
    graph: str
    legal: Mapping[str, int]
    illegal: Sequence[Mapping[str, int]]
    values: Mapping[str, Any] = {}
    data: bool = False
    fed: Sequence[Mapping[str, tuple[int, ...]]] = ()


NAMES = ("path", "plain", "none", "plain")
"""How the nodes of a model are named; the cases take these in turn."""


def build(case: OnnxCase, names: str) -> onnx.ModelProto:
    """The model of a case, whose nodes are named in one of the ways in `NAMES`."""
    text = f'<ir_version: 9, opset_import: ["": 18, "com.microsoft": 1]> main {case.graph}'
    model = parser.parse_model(text)
    for number, node in enumerate(model.graph.node):
        path = f"/encoder/layers.{number // 3}/{node.op_type}"
        node.name = {"path": f"{path}_{number}", "plain": f"{node.op_type.lower()}_{number}", "none": ""}[names]
    onnx.checker.check_model(model)
    return model


def _case(
    name: str,
    graph: str,
    legal: Mapping[str, int],
    *illegal: Mapping[str, int],
    values: Mapping[str, Any] | None = None,
    data: bool = False,
    fed: Sequence[Mapping[str, tuple[int, ...]]] = (),
) -> OnnxCase:
    return OnnxCase(name, graph, legal, illegal, values or {}, data, fed)


CASES = [
    _case(
        "matmul",
        """(float[n, k] x, float[4, 5] w, float[5, 5] v) => (float[n, 5] y)
        { a = Relu(x) target = MatMul(a, w) b = MatMul(target, v) y = Relu(b) }""",
        {"n": 2, "k": 4},
        {"k": 3},
        {"k": 7, "n": 3},
    ),
    _case(
        "matmul_two_inputs",
        """(float[batch, seq, hidden] x, float[batch, depth, heads] w) => (float[batch, seq, heads] y)
        { a = Abs(x) target = MatMul(a, w) y = Sigmoid(target) }""",
        {"batch": 2, "seq": 3, "hidden": 6, "depth": 6, "heads": 5},
        {"hidden": 4},
        {"depth": 9},
    ),
    _case(
        "matmul_batch",
        """(float[b, 3, 4] x, float[c, 4, 5] w) => (float[d, 3, 5] y)
        { a = Neg(x) target = MatMul(a, w) y = Neg(target) }""",
        {"b": 2, "c": 2},
        {"b": 3},
        {"c": 5},
    ),
    _case(
        "gemm",
        """(float[n, k] x, float[5, 4] w, float[5] bias) => (float[n, 5] y)
        { a = Relu(x) target = Gemm<transB=1>(a, w, bias) y = Tanh(target) }""",
        {"n": 2, "k": 4},
        {"k": 5},
        {"k": 2},
    ),
    _case(
        "gemm_bias",
        """(float[n, 4] x, float[4, 5] w, float[m] bias) => (float[n, 5] y)
        { target = Gemm(x, w, bias) y = Tanh(target) }""",
        {"n": 2, "m": 5},
        {"m": 4},
        {"m": 3},
    ),
    _case(
        "add",
        """(float[n, 4] x, float[m, 4] z) => (float[p, 4] y)
        { a = Exp(x) b = Add(a, a) target = Add(b, z) y = Exp(target) }""",
        {"n": 3, "m": 3},
        {"m": 2},
        {"n": 5},
        {"n": 7, "m": 2},
    ),
    _case(
        "mul_constant",
        """(float[n, c] x) => (float[n, p] y)
        <float[3] scale = {1.0, 2.0, 3.0}>
        { a = Exp(x) target = Mul(a, scale) y = Exp(target) }""",
        {"n": 2, "c": 3},
        {"c": 2},
        {"c": 4},
        fed=[{"x": (2, 3, 4)}],
    ),
    _case(
        "sub_last",
        """(float[b, s, 8] x, float[b, t, 8] z) => (float[b, u, 8] y)
        { a = Softmax(x) target = Sub(a, z) y = Relu(target) }""",
        {"b": 2, "s": 5, "t": 5},
        {"s": 4},
        {"t": 3},
    ),
    _case(
        "div_mask",
        """(float[b, h, s, t] x, float[b, 1, 1, m] mask) => (float[b, h, s, u] y)
        { a = Abs(x) target = Div(a, mask) y = Softmax(target) }""",
        {"b": 1, "h": 2, "s": 3, "t": 3, "m": 3},
        {"m": 4},
        {"t": 5},
    ),
    _case(
        "where",
        """(bool[n, m] q, float[n, k] x) => (float[n, p] y)
        <float zero = {0.0}>
        { a = Relu(x) target = Where(q, a, zero) y = Relu(target) }""",
        {"n": 2, "m": 3, "k": 3},
        {"k": 4},
        {"m": 2},
    ),
    _case(
        "concat",
        """(float[a, c] x, float[b, d] z) => (float[e, c] y)
        { u = Relu(x) target = Concat<axis=0>(u, z) y = Relu(target) }""",
        {"a": 2, "b": 3, "c": 4, "d": 4},
        {"c": 3},
        {"d": 6, "a": 1},
    ),
    _case(
        "concat_three",
        """(float[b, c, h, w] x, float[b, c, i, w] z) => (float[b, e, h, w] y)
        { u = Relu(x) v = Relu(z) target = Concat<axis=1>(u, u, v) y = Relu(target) }""",
        {"b": 1, "c": 2, "h": 4, "i": 4, "w": 3},
        {"h": 5},
        {"i": 3},
    ),
    _case(
        "conv_channels",
        """(float[n, c, h, w] x, float[6, 3, 3, 3] k) => (float[n, 6, p, q] y)
        { a = Relu(x) target = Conv(a, k) y = Relu(target) }""",
        {"n": 1, "c": 3, "h": 6, "w": 6},
        {"c": 4},
        {"c": 1},
    ),
    _case(
        "conv_window",
        """(float[n, 3, h, w] x, float[6, 3, 3, 3] k) => (float[n, 6, p, q] y)
        { a = Relu(x) target = Conv(a, k) y = Abs(target) }""",
        {"n": 1, "h": 6, "w": 6},
        {"h": 2},
        {"w": 1},
    ),
    _case(
        "conv_1d_groups",
        """(float[n, c, t] x, float[6, 2, 3] k) => (float[n, 6, p] y)
        { a = Relu(x) target = Conv<group=2>(a, k) y = Abs(target) }""",
        {"n": 2, "c": 4, "t": 5},
        {"c": 6},
        {"c": 3},
    ),
    _case(
        "conv_transpose",
        """(float[n, c, h, w] x, float[3, 6, 3, 3] k) => (float[n, 6, p, q] y)
        { a = Relu(x) target = ConvTranspose(a, k) y = Abs(target) }""",
        {"n": 1, "c": 3, "h": 4, "w": 4},
        {"c": 2},
        {"c": 5},
    ),
    _case(
        "max_pool",
        """(float[n, 3, h, w] x) => (float[n, 3, p, q] y)
        { a = Relu(x) target = MaxPool<kernel_shape=[3, 3]>(a) y = Abs(target) }""",
        {"n": 1, "h": 6, "w": 6},
        {"h": 1},
        {"w": 2},
    ),
    _case(
        "batch_normalization",
        """(float[n, c, h] x, float[4] s) => (float[n, c, h] y)
        { a = Relu(x) target = BatchNormalization(a, s, s, s, s) y = Abs(target) }""",
        {"n": 2, "c": 4, "h": 3},
        {"c": 3},
        {"c": 5},
    ),
    _case(
        "instance_normalization",
        """(float[n, c, h] x, float[4] s) => (float[n, c, h] y)
        { a = Relu(x) target = InstanceNormalization(a, s, s) y = Abs(target) }""",
        {"n": 2, "c": 4, "h": 3},
        {"c": 3},
        {"c": 8},
    ),
    _case(
        "layer_normalization",
        """(float[n, s, c] x, float[8] g) => (float[n, s, c] y)
        { a = Relu(x) target = LayerNormalization(a, g, g) y = Abs(target) }""",
        {"n": 2, "s": 3, "c": 8},
        {"c": 7},
        {"c": 4},
    ),
    _case(
        "reshape_fixed",
        """(float[n, c] x) => (float[p, 6] y)
        <int64[2] shape = {-1, 6}>
        { a = Relu(x) target = Reshape(a, shape) y = Abs(target) }""",
        {"n": 3, "c": 4},
        {"c": 5},
        {"n": 1},
    ),
    _case(
        "reshape_heads",
        """(float[b, s, hidden] x) => (float[b, s, 4, d] y)
        <int64[4] shape = {0, 0, 4, -1}>
        { a = Relu(x) b1 = Relu(a) target = Reshape(b1, shape) y = Abs(target) }""",
        {"b": 2, "s": 3, "hidden": 8},
        {"hidden": 6},
        {"hidden": 9},
    ),
    _case(
        "reshape_exact",
        """(float[n, s] x) => (float[2, 12] y)
        <int64[2] shape = {2, 12}>
        { a = Relu(x) target = Reshape(a, shape) y = Abs(target) }""",
        {"n": 4, "s": 6},
        {"s": 5},
        {"n": 3},
    ),
    _case(
        "reshape_of_shape",
        """(float[n, s] x, float[m, t] z) => (float[p, q] y)
        { a = Relu(x) shape = Shape(z) target = Reshape(a, shape) y = Abs(target) }""",
        {"n": 4, "s": 6, "m": 3, "t": 8},
        {"m": 2},
        {"s": 5},
    ),
    _case(
        "reshape_value",
        """(float[n, s] x, int64[2] shape) => (float[p, q] y)
        { a = Relu(x) target = Reshape(a, shape) y = Abs(target) }""",
        {"n": 4, "s": 6},
        {"s": 5},
        values={"shape": [3, 8]},
        data=True,
    ),
    _case(
        "gather_constant",
        """(float[n, s] x) => (float[n] y)
        <int64 last = {5}>
        { a = Relu(x) target = Gather<axis=1>(a, last) y = Abs(target) }""",
        {"n": 2, "s": 7},
        {"s": 5},
        {"s": 2},
    ),
    _case(
        "gather_value",
        """(float[10, 4] table, int64[n] ids) => (float[n, 4] y)
        { a = Relu(table) target = Gather(a, ids) y = Abs(target) }""",
        {"n": 2},
        {"n": 3},
        values={"ids": 12},
        data=True,
    ),
    _case(
        "gather_positions",
        """(float[n, s, 4] x) => (float[n, s, 4] y)
        <float[8, 4] table = {1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.,
        1., 1., 1., 1., 1., 1., 1., 1., 1., 1.}, int64 zero = {0}, int64 one = {1}>
        { shape = Shape(x) s0 = Gather(shape, one) range = Range(zero, s0, one) target = Gather(table, range)
        y = Add(x, target) }""",
        {"n": 2, "s": 5},
        {"s": 9},
        {"s": 12},
    ),
    _case(
        "gather_elements",
        """(float[n, s] x, int64[m, t] i) => (float[m, t] y)
        { a = Relu(x) target = GatherElements<axis=1>(a, i) y = Abs(target) }""",
        {"n": 3, "s": 4, "m": 3, "t": 2},
        {"m": 5},
        {"n": 2},
    ),
    _case(
        "gather_nd",
        """(float[n, s] x, int64[m, r] i) => (float[m] y)
        { a = Relu(x) target = GatherND(a, i) y = Abs(target) }""",
        {"n": 3, "s": 4, "m": 3, "r": 2},
        {"r": 3},
        {"r": 5},
    ),
    _case(
        "scatter_elements",
        """(float[n, s] x, int64[m, 2] i, float[k, 2] u) => (float[n, s] y)
        { a = Relu(x) target = ScatterElements<axis=1>(a, i, u) y = Abs(target) }""",
        {"n": 3, "s": 4, "m": 3, "k": 3},
        {"k": 2},
        {"m": 1},
    ),
    _case(
        "scatter_nd",
        """(float[n, s] x, int64[m, 1] i, float[k, t] u) => (float[n, s] y)
        { a = Relu(x) target = ScatterND(a, i, u) y = Abs(target) }""",
        {"n": 3, "s": 4, "m": 2, "k": 2, "t": 4},
        {"t": 3},
        {"k": 1},
    ),
    _case(
        "expand",
        """(float[n, c] x) => (float[p, 3] y)
        <int64[2] shape = {1, 3}>
        { a = Relu(x) target = Expand(a, shape) y = Abs(target) }""",
        {"n": 2, "c": 3},
        {"c": 2},
        {"c": 4},
    ),
    _case(
        "expand_to_shape",
        """(float[n, c] x, float[m, d] z) => (float[p, q] y)
        { a = Relu(x) shape = Shape(z) target = Expand(a, shape) y = Abs(target) }""",
        {"n": 2, "c": 3, "m": 2, "d": 3},
        {"m": 4},
        {"c": 2},
    ),
    _case(
        "split",
        """(float[n, c] x) => (float[n, 3] y, float[n, 3] z)
        <int64[2] parts = {3, 3}>
        { a = Relu(x) target, target2 = Split<axis=1>(a, parts) y = Abs(target) z = Abs(target2) }""",
        {"n": 2, "c": 6},
        {"c": 5},
        {"c": 8},
    ),
    _case(
        "squeeze",
        """(float[n, c, h] x) => (float[n, h] y)
        <int64[1] axes = {1}>
        { a = Relu(x) target = Squeeze(a, axes) y = Abs(target) }""",
        {"n": 2, "c": 1, "h": 3},
        {"c": 2},
        {"c": 5},
    ),
    _case(
        "pad_crop",
        """(float[n, c] x) => (float[n, d] y)
        <int64[4] pads = {0, -2, 0, -2}>
        { a = Relu(x) target = Pad(a, pads) y = Abs(target) }""",
        {"n": 2, "c": 6},
        {"c": 3},
        {"c": 2},
    ),
    _case(
        "pad_reflect",
        """(float[n, c] x) => (float[n, d] y)
        <int64[4] pads = {0, 3, 0, 3}>
        { a = Relu(x) target = Pad<mode="reflect">(a, pads) y = Abs(target) }""",
        {"n": 2, "c": 6},
        {"c": 2},
        {"c": 3},
    ),
    _case(
        "lstm_input",
        """(float[t, b, i] x, float[1, 16, 3] w, float[1, 16, 4] r) => (float[t, 1, b, 4] y)
        { a = Relu(x) target = LSTM<hidden_size=4>(a, w, r) y = Abs(target) }""",
        {"t": 3, "b": 2, "i": 3},
        {"i": 4},
        {"i": 2},
    ),
    _case(
        "lstm_state",
        """(float[t, b, 3] x, float[1, 16, 3] w, float[1, 16, 4] r, float[1, c, 4] h) => (float[t, 1, b, 4] y)
        { a = Relu(x) target = LSTM<hidden_size=4>(a, w, r, , , h, h) y = Abs(target) }""",
        {"t": 3, "b": 2, "c": 2},
        {"c": 3},
        {"b": 5},
    ),
    _case(
        "gru_input",
        """(float[t, b, i] x, float[1, 12, 3] w, float[1, 12, 4] r) => (float[t, 1, b, 4] y)
        { a = Relu(x) target = GRU<hidden_size=4>(a, w, r) y = Abs(target) }""",
        {"t": 3, "b": 2, "i": 3},
        {"i": 4},
        {"i": 1},
    ),
    _case(
        "resize",
        """(float[n, c, h, w] x, float[k] scales) => (float[n, c, p, q] y)
        { a = Relu(x) target = Resize<mode="nearest">(a, , scales) y = Abs(target) }""",
        {"n": 1, "c": 2, "h": 4, "w": 4, "k": 4},
        {"k": 3},
        {"k": 5},
    ),
    _case(
        "einsum",
        """(float[b, i, j] x, float[b, k, d] z) => (float[b, i, d] y)
        { a = Relu(x) target = Einsum<equation="bij,bjd->bid">(a, z) y = Abs(target) }""",
        {"b": 2, "i": 3, "j": 4, "k": 4, "d": 5},
        {"k": 3},
        {"j": 2},
    ),
    _case(
        "attention_scores",
        """(float[b, h, s, d] q, float[b, h, e, t] k, float[b, 1, s, u] mask) => (float[b, h, s, t] y)
        { scores = MatMul(q, k) target = Add(scores, mask) y = Softmax<axis=-1>(target) }""",
        {"b": 1, "h": 2, "s": 3, "d": 4, "e": 4, "t": 5, "u": 5},
        {"u": 4},
        {"t": 6},
    ),
    _case(
        "microsoft_attention",
        """(float[b, s, c] x, float[8, 24] w, float[24] bias) => (float[b, s, 8] y)
        { a = Relu(x) target = com.microsoft.Attention<num_heads=2>(a, w, bias) y = Abs(target) }""",
        {"b": 1, "s": 3, "c": 8},
        {"c": 6},
        {"c": 4},
    ),
    _case(
        "skip_layer_normalization",
        """(float[b, s, 8] x, float[b, t, 8] z, float[8] g) => (float[b, s, 8] y)
        { a = Relu(x) target = com.microsoft.SkipLayerNormalization(a, z, g, g) y = Abs(target) }""",
        {"b": 2, "s": 3, "t": 3},
        {"t": 4},
        {"s": 5},
    ),
    _case(
        "loop_body",
        """(float[n, c] x, float[m, c] z) => (float[n, c] y)
        <int64 trips = {3}, bool go = {1}>
        { y = Loop(trips, go, x) <body = b1 (int64 i, bool cond, float[n, c] carried) => (bool more, float[n, c] next)
        { more = Identity(cond) target = Add(carried, z) next = Tanh(target) }> }""",
        {"n": 3, "c": 2, "m": 3},
        {"m": 2},
        {"m": 4},
    ),
    _case(
        "if_body",
        """(float[n, c] x, float[c2, 4] w) => (float[n, 4] y)
        <bool go = {1}>
        { y = If(go) <then_branch = b1 () => (float[n, 4] t) { target = MatMul(x, w) t = Tanh(target) },
        else_branch = b2 () => (float[n, 4] e) { e0 = MatMul(x, w) e = Neg(e0) }> }""",
        {"n": 3, "c": 2, "c2": 2},
        {"c": 3},
        {"c2": 5},
    ),
    _case(
        "depth_to_space",
        """(float[n, c, h, w] x) => (float[n, d, p, q] y)
        { a = Relu(x) target = DepthToSpace<blocksize=2>(a) y = Abs(target) }""",
        {"n": 1, "c": 8, "h": 2, "w": 3},
        {"c": 6},
        {"c": 3},
    ),
    _case(
        "space_to_depth",
        """(float[n, c, h, w] x) => (float[n, d, p, q] y)
        { a = Relu(x) target = SpaceToDepth<blocksize=2>(a) y = Abs(target) }""",
        {"n": 1, "c": 2, "h": 4, "w": 6},
        {"h": 3},
        {"w": 5},
    ),
    _case(
        "topk",
        """(float[n, c] x) => (float[n, 4] y)
        <int64[1] k = {4}>
        { a = Relu(x) target, i = TopK(a, k) y = Abs(target) }""",
        {"n": 2, "c": 6},
        {"c": 3},
        {"c": 2},
    ),
    _case(
        "u_net_skip",
        """(float[n, 3, h, w] x, float[3, 3, 1, 1] k) => (float[n, 6, h, w] y)
        <float[4] up = {1.0, 1.0, 2.0, 2.0}>
        { a = Conv(x, k) p = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(a) u = Resize<mode="nearest">(p, , up)
        target = Concat<axis=1>(u, a) y = Relu(target) }""",
        {"n": 1, "h": 8, "w": 8},
        {"h": 7},
        {"w": 5},
        {"h": 9},
    ),
    _case(
        "residual_window",
        """(float[n, 3, t] x, float[3, 3, 3] k) => (float[n, 3, t] y)
        { a = Conv(x, k) b = Conv<pads=[1, 1]>(x, k) c = Conv<strides=[2], pads=[1, 1]>(b, k)
        d = Conv<strides=[2], pads=[1, 0]>(b, k) target = Add(c, d) y = Abs(a) }""",
        {"n": 1, "t": 8},
        {"t": 9},
        {"t": 5},
    ),
    _case(
        "flatten_linear",
        """(float[n, 3, h, w] x, float[48, 10] v, float[10] bias) => (float[n, 10] y)
        { a = Relu(x) f = Flatten(a) target = Gemm(f, v, bias) y = Softmax(target) }""",
        {"n": 2, "h": 4, "w": 4},
        {"h": 5},
        {"w": 3},
    ),
    _case(
        "declared_size",
        """(float[n, 6] x) => (float[n, 6] y)
        { a = Relu(x) target = Abs(a) y = Abs(target) }""",
        {"n": 2},
        fed=[{"x": (2, 5)}, {"x": (2, 6, 1)}, {"x": (7,)}],
    ),
    _case(
        "declared_sizes",
        """(float[1, 3, 224, 224] image, float[1, seq] mask) => (float[1, 3, 224, 224] y, float[1, seq] z)
        { y = Relu(image) target = Abs(mask) z = Neg(target) }""",
        {"seq": 2},
        fed=[
            {"image": (2, 3, 224, 224), "mask": (1, 4)},
            {"image": (1, 4, 225, 224), "mask": (1, 4)},
            {"image": (1, 3, 224, 224), "mask": (2, 4)},
        ],
    ),
    _case(
        "equal_names",
        """(int64[batch, seq] ids, float[batch, seq] mask, float[10, 4] table) => (float[batch, seq, 4] y)
        <int64[1] last = {2}>
        { e = Gather(table, ids) m = Unsqueeze(mask, last) target = Mul(e, m) y = Relu(target) }""",
        {"batch": 2, "seq": 3},
        fed=[
            {"ids": (2, 3), "mask": (2, 4), "table": (10, 4)},
            {"ids": (2, 3), "mask": (3, 3), "table": (10, 4)},
        ],
    ),
    _case(
        "element_count",
        """(float[n, c] x) => (float[n, c] y)
        { s = ReduceSum<keepdims=1>(x) a = Add(x, s) t = Transpose<perm=[1, 0]>(a) target = MatMul(a, a)
        y = Add(target, a) z = Relu(t) }""",
        {"n": 3, "c": 3},
        {"c": 4},
        {"n": 2},
    ),
    _case(
        "quantized",
        """(float[n, k] x, uint8[4, 5] w, float s, uint8 z) => (float[n, 5] y)
        { q = QuantizeLinear(x, s, z) v = DequantizeLinear(q, s, z) d = DequantizeLinear(w, s, z) target = MatMul(v, d)
        y = Relu(target) }""",
        {"n": 2, "k": 4},
        {"k": 3},
        {"k": 6},
    ),
    _case(
        "matmul_integer",
        """(uint8[n, k] x, uint8[4, 5] w) => (int32[n, 5] y)
        { target = MatMulInteger(x, w) y = Abs(target) }""",
        {"n": 2, "k": 4},
        {"k": 5},
        {"k": 2},
    ),
    _case(
        "prelu",
        """(float[n, c, h] x, float[3, 1] slope) => (float[n, c, h] y)
        { a = Relu(x) target = PRelu(a, slope) y = Abs(target) }""",
        {"n": 2, "c": 3, "h": 4},
        {"c": 4},
        {"c": 2},
    ),
    _case(
        "max_of_three",
        """(float[n] x, float[m] y0, float[k] z0) => (float[p] y)
        { a = Relu(x) target = Max(a, y0, z0) y = Abs(target) }""",
        {"n": 3, "m": 3, "k": 3},
        {"k": 2},
        {"m": 5},
    ),
    _case(
        "pow_compare",
        """(float[n, c] x, float[n, d] z) => (bool[n, e] y)
        { a = Relu(x) target = Less(a, z) y = Not(target) }""",
        {"n": 3, "c": 4, "d": 4},
        {"d": 3},
        {"c": 2},
    ),
    _case(
        "slice_then_add",
        """(float[n, s] x, float[n, 4] z) => (float[n, 4] y)
        <int64[1] from = {2}, int64[1] to = {6}, int64[1] ax = {1}>
        { a = Slice(x, from, to, ax) target = Add(a, z) y = Abs(target) }""",
        {"n": 2, "s": 8},
        {"s": 4},
        {"s": 5},
    ),
    _case(
        "linear_then_bias",
        """(float[b, s, k] x, float[6, 5] w, float[5] bias) => (float[b, s, 5] y)
        { a = Relu(x) target = MatMul(a, w) c = Add(target, bias) y = Relu(c) }""",
        {"b": 2, "s": 3, "k": 6},
        {"k": 5},
        {"k": 8},
    ),
    _case(
        "conv_relu_fused",
        """(float[n, c, h, w] x) => (float[n, 2, p, q] y)
        <float[2, 2, 1, 1] k = {1.0, 1.0, 1.0, 1.0}>
        { target = Conv(x, k) a = Relu(target) y = Abs(a) }""",
        {"n": 1, "c": 2, "h": 6, "w": 6},
        {"c": 3},
        {"c": 5},
    ),
    _case(
        "matmul_add_fused",
        """(float[n, k] x) => (float[n, 2] y)
        <float[3, 2] w = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, float[2] bias = {1.0, 1.0}>
        { target = MatMul(x, w) a = Add(target, bias) y = Relu(a) }""",
        {"n": 1, "k": 3},
        {"k": 4},
        {"k": 2},
    ),
]
