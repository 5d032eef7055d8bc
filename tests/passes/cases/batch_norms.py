"""Conv, ConvTranspose and Gemm before a batch normalization."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.passes.cases.texts import annotated, same_output_twice
from tests.passes.models import Case, random, statistics

NORM = "y = BatchNormalization(c, s, o, m, v)"
IMAGE = "float[N,3,6,6] x"


OUTPUT = "float[N,4,a,b] y"


def fused(name: str, text: str, after: str | None = "Conv", **rest: Any) -> Case:
    rest.setdefault("constants", {"w": random(4, 3, 3, 3), **statistics(4)})
    return Case(name=name, passes=("fuse_bn",), text=text, after=after, rtol=1e-4, atol=1e-4, **rest)


def conv(body: str, inputs: str = IMAGE, outputs: str = "float[N,4,a,b] y") -> str:
    return f"g ({inputs}) => ({outputs}) {{ {body} }}"


def parameters(**changed: Any) -> dict[str, Any]:
    return {"w": random(4, 3, 3, 3), **statistics(4), **changed}


CASES = [
    fused(
        "1d",
        conv(f"c = Conv(x, w) {NORM}", "float[N,3,9] x", "float[N,4,7] y"),
        constants=parameters(w=random(4, 3, 3)),
    ),
    fused(
        "3d",
        conv(f"c = Conv(x, w) {NORM}", "float[N,3,4,4,4] x", "float[N,4,3,3,3] y"),
        constants=parameters(w=random(4, 3, 2, 2, 2)),
    ),
    fused("groups", conv(f"c = Conv<group=2>(x, w) {NORM}", "float[N,6,6,6] x")),
    fused("bias", conv(f"c = Conv(x, w, b) {NORM}"), constants=parameters(b=random(4))),
    fused("empty-bias", conv(f'c = Conv(x, w, "") {NORM}')),
    fused("padded", conv(f"c = Conv<pads=[1,1,1,1],strides=[2,2]>(x, w) {NORM}")),
    fused("epsilon", conv("c = Conv(x, w) y = BatchNormalization<epsilon=0.25>(c, s, o, m, v)")),
    fused(
        "transposed",
        conv(f"c = ConvTranspose(x, w) {NORM}"),
        "ConvTranspose",
        constants=parameters(w=random(3, 4, 3, 3)),
    ),
    fused(
        "transposed-1d-groups",
        conv(f"c = ConvTranspose<group=2>(x, w, b) {NORM}", "float[N,6,9] x", "float[N,4,a] y"),
        "ConvTranspose",
        constants=parameters(w=random(6, 2, 3), b=random(4)),
    ),
    fused(
        "shared-weight",
        conv(f"c = Conv(x, w) {NORM} z = Conv(x, w)", outputs="float[N,4,a,b] y, float[N,4,a,b] z"),
        "Conv Conv",
    ),
    fused("weight-is-output", conv(f"c = Conv(x, w) {NORM}", outputs="float[N,4,a,b] y, float[4,3,3,3] w")),
    fused(
        "gemm",
        conv(f"c = Gemm(x, w) {NORM}", "float[N,3] x", "float[N,4] y"),
        "Gemm",
        constants=parameters(w=random(3, 4)),
    ),
    fused(
        "gemm-alpha-beta",
        conv(f"c = Gemm<alpha=0.5,beta=0.3,transB=1>(x, w, b) {NORM}", "float[N,3] x", "float[N,4] y"),
        "Gemm",
        constants=parameters(w=random(4, 3), b=random(1, 4)),
    ),
    fused(
        "gemm-transposed-input",
        conv(f"c = Gemm<transA=1>(x, w, b) {NORM}", "float[3,N] x", "float[N,4] y"),
        "Gemm",
        constants=parameters(w=random(3, 4), b=random(1)),
    ),
    fused(
        "gemm-number",
        conv(f"c = Gemm<beta=2.0>(x, w, b) {NORM}", "float[N,3] x", "float[N,4] y"),
        "Gemm",
        constants=parameters(w=random(3, 4), b=random()),
    ),
    fused(
        "gemm-bias-by-row",
        conv(f"c = Gemm(x, w, b) {NORM}", "float[4,3] x", "float[4,4] y"),
        None,
        constants=parameters(w=random(3, 4), b=random(4, 1)),
    ),
    fused(
        "gemm-bias-matrix",
        conv(f"c = Gemm(x, w, b) {NORM}", "float[2,3] x", "float[2,4] y"),
        None,
        constants=parameters(w=random(3, 4), b=random(2, 4)),
    ),
    fused(
        "double",
        conv(f"c = Conv(x, w) {NORM}", "double[N,3,6,6] x", "double[N,4,a,b] y"),
        constants={"w": random(4, 3, 3, 3, dtype=np.float64), **statistics(4, np.float64)},
        runs=False,
    ),
    fused(
        "half",
        conv(f"c = Conv(x, w) {NORM}", "float16[N,3,6,6] x", "float16[N,4,a,b] y"),
        constants={"w": random(4, 3, 3, 3, dtype=np.float16), **statistics(4, np.float16)},
        runs=False,
    ),
    fused(
        "bfloat16",
        conv(f"c = Conv(x, w) {NORM}", "bfloat16[N,3,6,6] x", "bfloat16[N,4,a,b] y"),
        constants={"w": random(4, 3, 3, 3, dtype=ml_dtypes.bfloat16), **statistics(4, ml_dtypes.bfloat16)},
        runs=False,
        options={"opset": 22, "ir_version": 10},
    ),
    fused(
        "half-with-float-statistics",
        conv(f"c = Conv(x, w) {NORM}", "float16[N,3,6,6] x", "float16[N,4,a,b] y"),
        constants={"w": random(4, 3, 3, 3, dtype=np.float16), **statistics(4)},
        runs=False,
    ),
    fused("zero-variance", conv(f"c = Conv(x, w) {NORM}"), constants=parameters(v=np.zeros(4, np.float32))),
    fused("ir-3", conv(f"c = Conv(x, w) {NORM}"), options={"ir_version": 3, "opset": 8}),
    fused(
        "opset-7",
        conv("c = Conv(x, w) y = BatchNormalization<spatial=1>(c, s, o, m, v)"),
        options={"ir_version": 3, "opset": 7},
    ),
    fused(
        "test-before-7",
        conv("c = Conv(x, w) y = BatchNormalization<is_test=1>(c, s, o, m, v)"),
        options={"ir_version": 3, "opset": 6},
        runs=False,
    ),
    fused("output-twice", conv(f"c = Conv(x, w) {NORM}"), options={"edit": same_output_twice}, valid=False, runs=False),
    fused(
        "in-branch",
        (
            "g (bool p, float[N,3,6,6] x) => (float[N,4,4,4] r) { r = If (p) <then_branch = t () => "
            "(float[N,4,4,4] y) { c = Conv(x, w) y = BatchNormalization(c, s, o, m, v) }, else_branch = e "
            "() => (float[N,4,4,4] z) { z = Conv(x, w) }> }"
        ),
        "If Conv Conv",
    ),
    fused(
        "in-loop",
        (
            "g (int64 n, bool p, float[N,3,6,6] x) => (float[N,3,6,6] r) { r = Loop (n, p, x) <body = b "
            "(int64 i, bool q, float[N,3,6,6] a) => (bool d, float[N,3,6,6] y) { d = Identity(q) c = "
            "Conv(a, w) y = BatchNormalization(c, s, o, m, v) }> }"
        ),
        "Conv Identity Loop",
        constants={"w": random(3, 3, 1, 1), **statistics(3)},
    ),
    fused(
        "in-scan",
        (
            "g (float[T,3,6,6] x) => (float[T,1,4,4,4] r) { r = Scan <num_scan_inputs = 1, body = b "
            "(float[3,6,6] a) => (float[1,4,4,4] y) { f = Unsqueeze(a, zero) c = Conv(f, w) y = "
            "BatchNormalization(c, s, o, m, v) }> (x) }"
        ),
        "Conv Scan Unsqueeze",
        constants=parameters(zero=np.array([0])),
    ),
    fused(
        "in-branch-of-ir-3",
        (
            "g (bool p, float[N,3,6,6] x) => (float[N,4,4,4] r) { r = If (p) <then_branch = t () => "
            "(float[N,4,4,4] y) { c = Conv(x, w) y = BatchNormalization(c, s, o, m, v) }, else_branch = e "
            "() => (float[N,4,4,4] z) { c = Conv(x, w) z = BatchNormalization(c, s, o, m, v) }> }"
        ),
        "Conv Conv If",
        options={"ir_version": 3, "opset": 9},
    ),
    Case(
        name="other-reader-is-dead",
        passes=("fuse_bn", "remove_dead"),
        text=conv(f"c = Conv(x, w) {NORM} d = Relu(c)"),
        constants=parameters(),
        after="Conv",
        rtol=1e-4,
        atol=1e-4,
    ),
    # guards
    *(
        fused(f"annotated-{name}", conv(f"c = Conv(x, w) {NORM}"), None, options={"edit": annotated(name)}, runs=False)
        for name in ("c", "y", "w")
    ),
    fused(
        "output-and-relu",
        conv("c = Conv(x, w) d = BatchNormalization(c, s, o, m, v) y = Relu(d)", outputs=f"{OUTPUT}, float[N,4,a,b] c"),
        None,
    ),
    fused(
        "read-in-middle-of-branch",
        "g (bool p, float[N,3,6,6] x) => (float[N,4,4,4] r) { c = Conv(x, w) r = If (p) <"
        "then_branch = t () => (float[N,4,4,4] y) { d = BatchNormalization(c, s, o, m, v) y = Relu(d) }, "
        "else_branch = e () => (float[N,4,4,4] z) { z = Conv(x, w) }> }",
        None,
    ),
    fused(
        "no-product",
        conv("c = Relu(x) y = BatchNormalization(c, s, o, m, v)", outputs="float[N,3,a,b] y"),
        None,
        constants=statistics(3),
    ),
    fused("other-domain", conv(f"c = my.Conv(x, w) {NORM}"), None, options={"domains": '"my" : 1'}, runs=False),
    fused(
        "own-convolution",
        conv(f"c = my.Conv(x, w) {NORM}"),
        None,
        options={
            "domains": '"my" : 1',
            "functions": '<domain: "my", opset_import: ["" : 17]> Conv (a, b) => (c) { c = Conv(a, b) }',
        },
    ),
    fused(
        "in-function",
        conv("y = my.f(x, w, s, o, m, v)"),
        None,
        options={
            "domains": '"my" : 1',
            "functions": (
                '<domain: "my", opset_import: ["" : 17]> f (a, w, s, o, m, v) => (y) { c = Conv(a, w) y = '
                "BatchNormalization(c, s, o, m, v) }"
            ),
        },
    ),
    fused(
        "constants-in-function",
        conv("y = my.f(x)", outputs="float[N,1,6,6] y"),
        None,
        constants={},
        options={
            "domains": '"my" : 1',
            "functions": (
                '<domain: "my", opset_import: ["" : 17]> f (a) => (y) { w = Constant<value = float[1,3,1,1] '
                "{1.0,2.0,3.0}>() s = Constant<value = float[1] {2.0}>() c = Conv(a, w) y = "
                "BatchNormalization(c, s, s, s, s) }"
            ),
        },
    ),
    fused("result-is-output", conv(f"c = Conv(x, w) {NORM}", outputs="float[N,4,a,b] y, float[N,4,a,b] c"), None),
    fused(
        "two-readers", conv(f"c = Conv(x, w) {NORM} z = Relu(c)", outputs="float[N,4,a,b] y, float[N,4,a,b] z"), None
    ),
    fused(
        "read-in-branch",
        (
            "g (bool p, float[N,3,6,6] x) => (float[N,4,4,4] r) { c = Conv(x, w) r = If (p) <then_branch = "
            "t () => (float[N,4,4,4] y) { y = BatchNormalization(c, s, o, m, v) }, else_branch = e () => "
            "(float[N,4,4,4] z) { z = Identity(k) }> }"
        ),
        None,
        constants=parameters(k=random(2, 4, 4, 4)),
        runs=False,
    ),
    fused(
        "read-in-function-call-and-here",
        conv(f"c = Conv(x, w) {NORM} z = my.f(c)", outputs="float[N,4,a,b] y, float[N,4,a,b] z"),
        None,
        options={
            "domains": '"my" : 1',
            "functions": '<domain: "my", opset_import: ["" : 17]> f (a) => (b) { b = Relu(a) }',
        },
    ),
    fused(
        "dynamic-scale",
        conv(f"c = Conv(x, w) {NORM}", f"{IMAGE}, float[4] s"),
        None,
        constants={k: v for k, v in parameters().items() if k != "s"},
    ),
    fused(
        "dynamic-weight", conv(f"c = Conv(x, w) {NORM}", f"{IMAGE}, float[4,3,3,3] w"), None, constants=statistics(4)
    ),
    fused("dynamic-bias", conv(f"c = Conv(x, w, b) {NORM}", f"{IMAGE}, float[4] b"), None),
    fused("overridable-weight", conv(f"c = Conv(x, w) {NORM}"), None, options={"overridable": ["w"]}),
    fused("overridable-mean", conv(f"c = Conv(x, w) {NORM}"), None, options={"overridable": ["m"]}),
    fused("training", conv("c = Conv(x, w) y, n, u = BatchNormalization<training_mode=1>(c, s, o, m, v)"), None),
    fused(
        "training-without-statistics",
        conv("c = Conv(x, w) y = BatchNormalization<training_mode=1>(c, s, o, m, v)"),
        None,
        valid=False,
        runs=False,
    ),
    fused(
        "training-before-7",
        conv("c = Conv(x, w) y = BatchNormalization(c, s, o, m, v)"),
        None,
        options={"ir_version": 3, "opset": 6},
        runs=False,
    ),
    fused(
        "five-outputs",
        conv("c = Conv(x, w) y, a1, a2, a3, a4 = BatchNormalization(c, s, o, m, v)"),
        None,
        options={"opset": 9},
        runs=False,
    ),
    fused(
        "an-element-each",
        conv(
            "c = Conv(x, w) y = BatchNormalization<spatial=0>(c, s, o, m, v)",
            outputs="float[N,4,1,1] y",
            inputs="float[N,3,3,3] x",
        ),
        None,
        options={"ir_version": 3, "opset": 8},
        constants={"w": random(4, 3, 3, 3), **{k: v.reshape(4, 1, 1) for k, v in statistics(4).items()}},
        runs=False,
    ),
    fused(
        "an-element-each-of-one",
        conv("c = Conv(x, w) y = BatchNormalization<spatial=0>(c, s, o, m, v)"),
        None,
        options={"ir_version": 3, "opset": 8},
        runs=False,
    ),
    fused(
        "negative-variance", conv(f"c = Conv(x, w) {NORM}"), None, constants=parameters(v=np.full(4, -1, np.float32))
    ),
    fused(
        "no-variance-no-epsilon",
        conv("c = Conv(x, w) y = BatchNormalization<epsilon=0.0>(c, s, o, m, v)"),
        None,
        constants=parameters(v=np.zeros(4, np.float32)),
    ),
    fused(
        "infinite",
        conv(f"c = Conv(x, w) {NORM}"),
        None,
        constants=parameters(s=np.full(4, 1e38, np.float32), w=np.full((4, 3, 3, 3), 1e4, np.float32)),
    ),
    fused(
        "infinite-half",
        conv(f"c = Conv(x, w) {NORM}", "float16[N,3,6,6] x", "float16[N,4,a,b] y"),
        None,
        constants={
            "w": np.full((4, 3, 3, 3), 3e4, np.float16),
            **statistics(4, np.float16),
            "s": np.full(4, 9, np.float16),
        },
        runs=False,
    ),
    fused(
        "other-channels",
        conv(f"c = Conv(x, w) {NORM}"),
        None,
        constants={"w": random(4, 3, 3, 3), **statistics(1)},
        valid=False,
        runs=False,
    ),
    fused(
        "statistics-of-two-lengths",
        conv(f"c = Conv(x, w) {NORM}"),
        None,
        constants=parameters(m=random(2)),
        valid=False,
        runs=False,
    ),
    fused(
        "statistics-of-rank-two",
        conv(f"c = Conv(x, w) {NORM}"),
        None,
        constants=parameters(m=random(4, 1)),
        valid=False,
        runs=False,
    ),
    fused(
        "whole-numbers",
        conv(f"c = Gemm(x, w) {NORM}", "int32[N,3] x", "int32[N,4] y"),
        None,
        constants=parameters(w=np.ones((3, 4), np.int32)),
        valid=False,
        runs=False,
    ),
    fused(
        "bias-of-two",
        conv(f"c = Conv(x, w, b) {NORM}"),
        None,
        constants=parameters(b=random(2)),
        valid=False,
        runs=False,
    ),
    fused(
        "gemm-weight-of-rank-three",
        conv(f"c = Gemm(x, w) {NORM}", "float[N,3] x", "float[N,4] y"),
        None,
        constants=parameters(w=random(3, 4, 1)),
        valid=False,
        runs=False,
    ),
    fused(
        "weight-of-rank-two",
        conv(f"c = Conv(x, w) {NORM}", "float[N,3,6,6] x"),
        None,
        constants=parameters(w=random(4, 3)),
        valid=False,
        runs=False,
    ),
    fused(
        "transposed-groups-of-five",
        conv(f"c = ConvTranspose<group=5>(x, w) {NORM}", "float[N,8,6,6] x"),
        None,
        constants={"w": random(8, 4, 3, 3), **statistics(20)},
        valid=False,
        runs=False,
    ),
]
