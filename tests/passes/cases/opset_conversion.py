"""Forms of operators that later opsets replaced, and models whose meaning a higher opset would change."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.passes.models import Case, random, statistics

CLIP = "y = Clip<min = -0.5, max = 0.5>({})"
"""A node whose new form requires opset 11."""
SQUEEZE = "q = Unsqueeze<axes = [0]>({}) y = Squeeze<axes = [0]>(q)"
"""Nodes whose new forms require opset 13."""
REDUCE = "y = ReduceMax<axes = [1]>({})"
"""A node whose new form requires opset 18."""


SLICE = "y = Slice<starts = [1], ends = [3], axes = [1]>({})"
"""A node whose new form requires opset 10."""


def form(
    name: str, opset: int, opset_after: int, text: str, after: str | None, constants: Any = None, **rest: Any
) -> Case:
    options = {"opset": opset, "ir_version": 3 if opset < 9 else 7, **rest.pop("options", {})}
    return Case(
        name=name,
        passes=("normalize_forms",),
        text=text,
        after=after,
        opset_after=opset_after,
        constants=constants or {},
        options=options,
        **rest,
    )


def left(name: str, opset: int, text: str, constants: Any = None, **rest: Any) -> Case:
    """A model whose opset must not rise."""
    return form(name, opset, opset, text, None, constants, **rest)


def graph(body: str, inputs: str = "float[N,3] x", outputs: str = "float[N,3] y") -> str:
    return f"g ({inputs}) => ({outputs}) {{ {body} }}"


def function(signature: str, body: str, opset: int) -> dict[str, Any]:
    text = f'<domain: "my", opset_import: ["" : {opset}]> f {signature} {{ {body} }}'
    return {"domains": '"my" : 1', "functions": text, "ir_version": 8}


IMAGE, LARGE = "float[N,3,4,4] x", "float[N,3,8,8] y"
SCALES = np.array([1, 1, 2, 2], np.float32)

FIRES = [
    form("slice", 7, 10, graph("y = Slice<starts = [1], ends = [3], axes = [1]>(x)", outputs="float[N,2] y"), "Slice"),
    form(
        "slice-6", 6, 10, graph("y = Slice<starts = [1], ends = [3], axes = [1]>(x)", outputs="float[N,2] y"), "Slice"
    ),
    form(
        "slice-6-without-axes",
        6,
        11,
        graph(
            "a = Slice<starts = [1, -2], ends = [9223372036854775807, 3]>(x) b = Relu(a) y = Clip<max = 0.5>(b)",
            "float[4,3] x",
            "float[3,2] y",
        ),
        "Clip Relu Slice",
    ),
    *(
        form(
            f"broadcast-6-{name}",
            6,
            10,
            graph(f"a = Add<broadcast = 1{axis}>(x, k) {SLICE.format('a')}", "float[N,3,4] x", "float[N,2,4] y"),
            "Add Slice",
            {"k": random(*shape)},
            runs=False,
        )
        for name, axis, shape in (
            ("last", "", (4,)),
            ("scalar", ", axis = 1", ()),
            ("one", ", axis = 1", (1,)),
            ("aligned", ", axis = 1", (3, 4)),
            ("from-axis", ", axis = 1", (3,)),
            ("from-the-end", ", axis = -2", (3,)),
        )
    ),
    form(
        "same-shape-6",
        6,
        10,
        graph(f"a = Mul(x, x) {SLICE.format('a')}", "float[N,3] x", "float[N,2] y"),
        "Mul Slice",
        runs=False,
    ),
    form(
        "inference-6",
        6,
        10,
        graph(
            f"a = BatchNormalization<is_test = 1>(x, s, o, m, v) b = Dropout<is_test = 1>(a) {SLICE.format('b')}",
            outputs="float[N,2] y",
        ),
        "BatchNormalization Dropout Slice",
        statistics(3),
        runs=False,
    ),
    form(
        "slope-6",
        6,
        10,
        graph(f"a = PRelu(x, k) {SLICE.format('a')}", "float[N,3,4] x", "float[N,2,4] y"),
        "PRelu Slice",
        {"k": random(3)},
        runs=False,
    ),
    form(
        "gemm-6",
        6,
        10,
        graph(f"a = Gemm<broadcast = 1>(x, w, k) {SLICE.format('a')}", outputs="float[N,2] y"),
        "Gemm Slice",
        {"w": random(3, 4), "k": random(4)},
        runs=False,
    ),
    form(
        "slice-without-axes",
        9,
        10,
        graph("y = Slice<starts = [1, -2], ends = [9223372036854775807, 3]>(x)", "float[4,3] x", "float[3,2] y"),
        "Slice",
    ),
    form("clip", 7, 11, graph(CLIP.format("x")), "Clip"),
    form("clip-max", 10, 11, graph("y = Clip<max = 0.5>(x)"), "Clip"),
    form("clip-half", 10, 11, graph(CLIP.format("x"), "float16[N,3] x", "float16[N,3] y"), "Clip"),
    form("clip-double", 10, 11, graph(CLIP.format("x"), "double[N,3] x", "double[N,3] y"), "Clip", runs=False),
    form(
        "clip-inferred-half",
        10,
        11,
        graph(f"a = Cast<to = 10>(x) {CLIP.format('a')}", outputs="float16[N,3] y"),
        "Cast Clip",
    ),
    form(
        "clip-in-branch",
        10,
        11,
        (
            "g (bool p, float[N,3] x) => (float[N,3] r) { r = If (p) <then_branch = t () => (float[N,3] y) "
            "{ y = Clip<min = 0.0>(x) }, else_branch = e () => (float[N,3] z) { z = Clip<max = 0.0>(x) }> }"
        ),
        "Clip Clip If",
    ),
    form(
        "clip-in-branch-of-ir-3",
        8,
        11,
        (
            "g (bool p, float[N,3] x) => (float[N,3] r) { r = If (p) <then_branch = t () => (float[N,3] y) "
            "{ y = Clip<min = 0.0>(x) }, else_branch = e () => (float[N,3] z) { z = Clip<max = 0.0>(x) }> }"
        ),
        "Clip Clip If",
    ),
    form(
        "clip-in-loop",
        9,
        11,
        (
            "g (int64 n, bool p, float[N,3] x) => (float[N,3] r) { r = Loop (n, p, x) <body = b (int64 i, "
            "bool q, float[N,3] a) => (bool d, float[N,3] c) { d = Not(q) c = Clip<min = 0.0>(a) }> }"
        ),
        "Clip Loop Not",
    ),
    form(
        "clip-in-scan",
        9,
        11,
        (
            "g (float[T,3] x) => (float[T,3] r) { r = Scan <num_scan_inputs = 1, body = b (float[3] a) => "
            "(float[3] c) { c = Clip<min = 0.0>(a) }> (x) }"
        ),
        "Clip Scan",
    ),
    form(
        "clip-in-function",
        10,
        11,
        graph("y = my.f(x)"),
        "my::f",
        options=function("(a) => (c)", "b = Clip<min = 0.0>(a) c = Neg(b)", 10),
        runs=False,
    ),
    form("pad", 9, 11, graph("y = Pad<pads = [0, 1, 0, 2], value = 0.5>(x)", outputs="float[N,6] y"), "Pad"),
    form(
        "pad-reflect", 7, 11, graph('y = Pad<mode = "reflect", pads = [0, 1, 0, 1]>(x)', outputs="float[N,5] y"), "Pad"
    ),
    form(
        "pad-half",
        9,
        11,
        graph("y = Pad<pads = [0, 1, 0, 2], value = 0.5>(x)", "float16[N,3] x", "float16[N,6] y"),
        "Pad",
        runs=False,
    ),
    form("dropout", 7, 12, graph("y = Dropout<ratio = 0.3>(x)"), "Dropout"),
    form("dropout-unread-mask", 7, 12, graph("y, k = Dropout<ratio = 0.3>(x)"), "Dropout"),
    form(
        "squeeze",
        9,
        13,
        graph("a = Unsqueeze<axes = [0, 2]>(x) b = Relu(a) y = Squeeze<axes = [0, 2]>(b)"),
        "Relu Squeeze Unsqueeze",
    ),
    form(
        "squeeze-without-axes",
        12,
        13,
        graph("a = Squeeze(x) y = Unsqueeze<axes = [0]>(a)", "float[1,3] x", "float[1,3] y"),
        "Squeeze Unsqueeze",
    ),
    form(
        "split",
        9,
        13,
        graph("y, z = Split<axis = 1, split = [1, 2]>(x)", outputs="float[N,1] y, float[N,2] z"),
        "Split",
    ),
    form("reduce-sum", 7, 13, graph("y = ReduceSum<axes = [1]>(x)", outputs="float[N,1] y"), "ReduceSum"),
    *(
        form(
            f"reduce-{name}",
            13,
            18,
            graph(f"y = Reduce{name}<axes = [1], keepdims = 0>(x)", outputs="float[N] y"),
            f"Reduce{name}",
            rtol=1e-6,
        )
        for name in ("L1", "L2", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")
    ),
    form(
        "batch-normalization",
        8,
        9,
        graph("y = BatchNormalization<spatial = 1>(x, s, o, m, v)"),
        "BatchNormalization",
        statistics(3),
    ),
    form(
        "upsample-7",
        7,
        11,
        graph('y = Upsample<mode = "nearest", scales = [1.0, 1.0, 2.0, 2.0]>(x)', IMAGE, LARGE),
        "Resize",
    ),
    form(
        "upsample-7-to-9",
        7,
        9,
        graph(
            "n = BatchNormalization<spatial = 1>(x, s, o, m, v)"
            " u = Upsample<scales = [1.0, 1.0, 2.0, 2.0]>(n)"
            " y = ConvTranspose<output_shape = [17, 17], strides = [2, 2]>(u, w)",
            IMAGE,
            "float[N,2,17,17] y",
        ),
        "BatchNormalization Upsample ConvTranspose",
        {"w": random(3, 2, 3, 3), **statistics(3)},
    ),
    form(
        "upsample-9",
        9,
        11,
        graph('y = Upsample<mode = "linear">(x, k)', IMAGE, LARGE),
        "Resize",
        {"k": SCALES},
        rtol=1e-5,
        atol=1e-6,
    ),
    form(
        "upsample-bilinear",
        8,
        11,
        graph('y = Upsample<mode = "bilinear", scales = [1.0, 1.0, 2.0, 2.0]>(x)', IMAGE, LARGE),
        "Resize",
        rtol=1e-5,
        atol=1e-6,
        runs=False,
    ),
    form("resize-10", 10, 11, graph('y = Resize<mode = "nearest">(x, k)', IMAGE, LARGE), "Resize", {"k": SCALES}),
    form(
        "resize-10-uneven",
        10,
        11,
        graph('y = Resize<mode = "nearest">(x, k)', IMAGE, "float[N,3,6,7] y"),
        "Resize",
        {"k": np.array([1, 1, 1.5, 1.75], np.float32)},
    ),
    form(
        "resize-10-smaller-linear",
        10,
        11,
        graph('y = Resize<mode = "linear">(x, k)', IMAGE, "float[N,3,2,2] y"),
        "Resize",
        {"k": SCALES**-1},
        rtol=1e-5,
        atol=1e-6,
    ),
    # what else changes on the way
    form(
        "topk",
        9,
        11,
        graph(f"a, b = TopK<k = 2>(x) {CLIP.format('a')}", outputs="float[N,2] y, int64[N,2] b"),
        "Clip TopK",
    ),
    form(
        "softmax-of-last-axis",
        9,
        13,
        graph(f"a = Softmax<axis = 1>(x) {SQUEEZE.format('a')}"),
        "Softmax Squeeze Unsqueeze",
        rtol=1e-6,
    ),
    form(
        "softmax-without-axis",
        11,
        13,
        graph(f"a = LogSoftmax(x) {SQUEEZE.format('a')}"),
        "LogSoftmax Squeeze Unsqueeze",
        rtol=1e-6,
    ),
    form(
        "softmax-negative-axis",
        11,
        13,
        graph(f"a = Hardmax<axis = -1>(x) {SQUEEZE.format('a')}", "float[A,B,3] x", "float[A,B,3] y"),
        "Hardmax Squeeze Unsqueeze",
    ),
    form(
        "softmax-negative-axis-unknown-rank",
        11,
        13,
        graph(f"b = my.f(x) a = Softmax<axis = -1>(b) {SQUEEZE.format('a')} z = my.f(y)", "float[N,4] x", "float[N] z"),
        "Softmax Squeeze Unsqueeze my::f my::f",
        options={"domains": '"my" : 1'},
        runs=False,
    ),
    form(
        "split-equally",
        13,
        18,
        graph(f"a, b, c = Split<axis = 1>(x) {REDUCE.format('a')}", outputs="float[N,1] y, float[N,1] b, float[N,1] c"),
        "ReduceMax Split",
    ),
    form(
        "scatter",
        10,
        11,
        graph(f"a = Scatter<axis = 1>(x, i, u) {CLIP.format('a')}", "float[2,3] x, float[2,1] u", "float[2,3] y"),
        "Clip ScatterElements",
        {"i": np.array([[2], [0]])},
    ),
    form(
        "roi-align",
        15,
        18,
        graph(
            (
                "a = RoiAlign<output_height = 2, output_width = 2, spatial_scale = 0.5>(x, k, i) y = "
                "ReduceMax<axes = [1]>(a)"
            ),
            "float[1,3,6,6] x",
            "float[2,1,2,2] y",
        ),
        "ReduceMax RoiAlign",
        {"k": np.array([[0, 0, 7, 7], [1, 2, 9, 8]], np.float32), "i": np.array([0, 0])},
        rtol=1e-6,
    ),
    form(
        "resize-11-to-18",
        11,
        18,
        graph(
            (
                'a = Resize<mode = "nearest", coordinate_transformation_mode = "half_pixel">(x, r, k) y = '
                "ReduceMax<axes = [1], keepdims = 1>(a)"
            ),
            IMAGE,
            "float[N,1,8,8] y",
        ),
        "ReduceMax Resize",
        {"k": SCALES, "r": np.zeros(0, np.float32)},
    ),
    form(
        "conv-transpose-explicit",
        9,
        11,
        graph(f"a = ConvTranspose<pads = [1, 1, 1, 1]>(x, w) {CLIP.format('a')}", IMAGE, "float[N,2,4,4] y"),
        "Clip ConvTranspose",
        {"w": random(3, 2, 3, 3)},
    ),
    form(
        "everything-7-to-13",
        7,
        13,
        graph(
            (
                f"a = Dropout<ratio = 0.3>(x) b = Slice<starts = [0], ends = [2]>(a) c = Pad<pads = [0, 1, 0, "
                f"1]>(b) d = Clip<min = 0.0>(c) {SQUEEZE.format('d')}"
            ),
            "float[4,3] x",
            "float[2,5] y",
        ),
        "Clip Dropout Pad Slice Squeeze Unsqueeze",
    ),
    # as far as a node allows it
    form(
        "only-to-10",
        9,
        10,
        graph(
            "a = Slice<starts = [1], ends = [3], axes = [1]>(x) b = OneHot(i, d, a2) y = Clip<min = 0.0>(a)",
            "float[N,3] x, int64[N] i",
            "float[N,2] y, float[N,4] b",
        ),
        "Clip OneHot Slice",
        {"d": np.array([4]), "a2": np.array([0, 1], np.float32)},
    ),
]


LEFT = [
    left("without-ends", 9, graph("y = Slice<starts = [0]>(x)"), valid=False, runs=False),
    left("new-already", 18, graph("y = Clip(x, k)"), {"k": np.array(0, np.float32)}, options={"ir_version": 8}),
    left("reduction-of-all-axes", 13, graph("y = ReduceMax(x)", outputs="float[1,1] y")),
    left(
        "before-6", 5, graph(f"a = Add<broadcast = 1, axis = 1>(x, k) {CLIP.format('a')}"), {"k": random(3)}, runs=False
    ),
    left(
        "variable-broadcasts-from-an-axis",
        6,
        graph(
            f"a = Add<broadcast = 1, axis = 0>(x, k) {SLICE.format('a')}", "float[N,3] x, float[N] k", "float[N,2] y"
        ),
        runs=False,
    ),
    left(
        "rank-unknown-6",
        6,
        graph(f"a = my.f(x) b = Add<broadcast = 1, axis = 1>(a, k) {SLICE.format('b')}", outputs="float[N,2] y"),
        {"k": random(3)},
        options={"domains": '"my" : 1'},
        runs=False,
    ),
    left(
        "too-many-axes-6",
        6,
        graph(f"a = Add<broadcast = 1, axis = 1>(x, k) {SLICE.format('a')}", outputs="float[N,2] y"),
        {"k": random(3, 1)},
        valid=False,
        runs=False,
    ),
    left(
        "slope-of-unknown-rank-6",
        6,
        graph(f"a = my.f(x) b = PRelu(a, k) {SLICE.format('b')}", outputs="float[N,2] y"),
        {"k": random(3)},
        options={"domains": '"my" : 1'},
        runs=False,
    ),
    left(
        "sequence-6",
        6,
        graph(f"a = RNN<hidden_size = 4>(x, w, r) {SLICE.format('a')}", "float[S,B,3] x", "float[S,2,B,4] y"),
        {"w": random(1, 4, 3), "r": random(1, 4, 4)},
        runs=False,
    ),
    left("trains-6", 6, graph(f"a = Dropout(x) {SLICE.format('a')}", outputs="float[N,2] y"), runs=False),
    left(
        "statistics-6",
        6,
        graph(f"a = BatchNormalization(x, s, o, m, v) {SLICE.format('a')}", outputs="float[N,2] y"),
        statistics(3),
        runs=False,
    ),
    left(
        "variable-slope-6",
        6,
        graph(f"a = PRelu(x, k) {SLICE.format('a')}", "float[N,3,4] x, float[3] k", "float[N,2,4] y"),
        runs=False,
    ),
    left(
        "upsample-1",
        6,
        graph(f"a = Upsample<height_scale = 2.0, width_scale = 2.0>(x) {SLICE.format('a')}", IMAGE, "float[N,2,8,8] y"),
        valid=False,
        runs=False,
    ),
    left(
        "function-of-another-opset",
        10,
        graph(f"a = my.f(x) {CLIP.format('a')}"),
        options=function("(a) => (c)", "c = Neg(a)", 9),
        runs=False,
    ),
    left(
        "function-with-attributes",
        10,
        graph(f"a = my.f<alpha = 0.5>(x) {CLIP.format('a')}"),
        options=function("<alpha>(a) => (c)", "c = Elu<alpha: float = @alpha>(a)", 10),
        runs=False,
    ),
    left(
        "type-unknown",
        10,
        graph("a = my.f(x) b = Clip<min = 0.0>(a) y = my.f(b)"),
        options={"domains": '"my" : 1'},
        runs=False,
    ),
    left("mask-of-floats", 9, graph(f"a, k = Dropout(x) {CLIP.format('a')}", outputs="float[N,3] y, float[N,3] k")),
    left("mask-read", 9, graph(f"a, k = Dropout(x) b = Mul(a, k) {CLIP.format('b')}")),
    left("mask-of-truth-values", 10, graph("y, k = Dropout<ratio = 0.3>(x)", outputs="float[N,3] y, bool[N,3] k")),
    left(
        "an-element-each",
        8,
        graph(f"a = BatchNormalization<spatial = 0>(x, s, o, m, v) {CLIP.format('a')}"),
        statistics(3),
        runs=False,
    ),
    left(
        "training",
        13,
        graph(f"a, m2, v2, p, q = BatchNormalization(x, s, o, m, v) {REDUCE.format('a')}", outputs="float[N,1] y"),
        statistics(3),
        runs=False,
    ),
    left(
        "softmax-joins-axes",
        12,
        graph(f"a = Softmax<axis = 1>(x) {SQUEEZE.format('a')}", "float[A,B,3] x", "float[A,B,3] y"),
    ),
    left(
        "softmax-of-unknown-rank",
        12,
        graph(f"b = my.f(x) a = Softmax(b) {SQUEEZE.format('a')} z = my.f(y)", "float[N,4] x", "float[N] z"),
        options={"domains": '"my" : 1'},
        runs=False,
    ),
    left(
        "scan-8",
        8,
        (
            "g (float[B,T,3] x) => (float[B,T,3] r) { r = Scan <num_scan_inputs = 1, body = b (float[3] a) "
            '=> (float[3] c) { c = Clip<min = 0.0>(a) }> ("", x) }'
        ),
        runs=False,
    ),
    left(
        "one-hot",
        10,
        graph(f"b = OneHot(i, d, e) {CLIP.format('x')}", "float[N,3] x, int64[N] i", "float[N,3] y, float[N,4] b"),
        {"d": np.array([4]), "e": np.array([0, 1], np.float32)},
    ),
    left(
        "conv-transpose-of-stated-size",
        10,
        graph(
            f"a = ConvTranspose<output_shape = [9, 9], strides = [2, 2]>(x, w) {CLIP.format('a')}",
            IMAGE,
            "float[N,2,9,9] y",
        ),
        {"w": random(3, 2, 3, 3)},
    ),
    left(
        "conv-transpose-same",
        10,
        graph(
            f'a = ConvTranspose<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, w) {CLIP.format("a")}',
            IMAGE,
            "float[N,2,8,8] y",
        ),
        {"w": random(3, 2, 3, 3)},
    ),
    left(
        "resize-10-shrinks",
        10,
        graph('y = Resize<mode = "nearest">(x, k)', "float[N,3,5,5] x", "float[N,3,2,2] y"),
        {"k": np.array([1, 1, 0.5, 0.5], np.float32)},
    ),
    left(
        "tf-half-pixel-for-nn",
        12,
        graph(
            (
                'a = Resize<mode = "nearest", coordinate_transformation_mode = "tf_half_pixel_for_nn">(x, r, k) '
                "q = Unsqueeze<axes = [0]>(a) y = Squeeze<axes = [0]>(q)"
            ),
            IMAGE,
            LARGE,
        ),
        {"k": SCALES, "r": np.zeros(0, np.float32)},
    ),
    left(
        "scales-and-sizes",
        15,
        graph('a = Resize<mode = "nearest">(x, r, k, z) y = ReduceMax<axes = [1]>(a)', IMAGE, "float[N,1,8,8] y"),
        {"k": SCALES, "r": np.zeros(0, np.float32), "z": np.array([2, 3, 8, 8])},
        valid=False,
        runs=False,
    ),
]

CASES = [*FIRES, *LEFT]
