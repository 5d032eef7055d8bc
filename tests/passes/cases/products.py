"""Conv, ConvTranspose and Gemm before an Add, and batch normalizations with no such node before them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx.external_data_helper import set_external_data

from tests.passes.models import Case, random, statistics

IMAGE = "float[N,3,6,6] x"
ADD_SHAPES: Mapping[str, tuple[int, ...]] = {"channels": (4, 1, 1), "lifted": (1, 4, 1, 1), "number": (), "one": (1,)}


def added(name: str, text: str, after: str | None = "Conv", **rest: Any) -> Case:
    rest.setdefault("constants", {"w": random(4, 3, 3, 3), "k": random(4, 1, 1)})
    return Case(name=name, passes=("fuse_bias_add",), text=text, after=after, rtol=1e-4, atol=1e-4, **rest)


def converted(name: str, text: str, after: str | None = "Conv", **rest: Any) -> Case:
    rest.setdefault("constants", statistics(3))
    return Case(name=name, passes=("bn_to_conv",), text=text, after=after, rtol=1e-4, atol=1e-4, **rest)


def conv(body: str, inputs: str = IMAGE, outputs: str = "float[N,4,a,b] y") -> str:
    return f"g ({inputs}) => ({outputs}) {{ {body} }}"


def without_numbers(model: onnx.ModelProto) -> None:
    """The addend is in another file, and a message has no folder."""
    tensor = next(tensor for tensor in model.graph.initializer if tensor.name == "k")
    set_external_data(tensor, "absent.bin")
    tensor.ClearField("raw_data")


ADDED = [
    added(
        "numbers-in-another-file",
        conv("c = Conv(x, w) y = Add(c, k)"),
        None,
        options={"edit": without_numbers},
        runs=False,
        valid=False,
    ),
    *(
        added(
            f"constant-{name}",
            conv("c = Conv(x, w) y = Add(c, k)"),
            constants={"w": random(4, 3, 3, 3), "k": random(*shape)},
        )
        for name, shape in ADD_SHAPES.items()
    ),
    added("first-operand", conv("c = Conv(x, w) y = Add(k, c)")),
    added(
        "bias",
        conv("c = Conv(x, w, b) y = Add(c, k)"),
        constants={"w": random(4, 3, 3, 3), "b": random(4), "k": random(4, 1, 1)},
    ),
    added("twice", conv("c = Conv(x, w) d = Add(c, k) y = Add(k, d)")),
    added(
        "1d",
        conv("c = Conv(x, w) y = Add(c, k)", "float[N,3,6] x", "float[N,4,4] y"),
        constants={"w": random(4, 3, 3), "k": random(4, 1)},
    ),
    added(
        "transposed",
        conv("c = ConvTranspose<group=3>(x, w) y = Add(c, k)", outputs="float[N,6,a,b] y"),
        "ConvTranspose",
        constants={"w": random(3, 2, 3, 3), "k": random(6, 1, 1)},
    ),
    added(
        "gemm",
        conv("c = Gemm(x, w) y = Add(c, k)", "float[N,3] x", "float[N,4] y"),
        "Gemm",
        constants={"w": random(3, 4), "k": random(4)},
    ),
    added(
        "gemm-beta",
        conv("c = Gemm<alpha=0.5,beta=0.25>(x, w, b) y = Add(c, k)", "float[N,3] x", "float[N,4] y"),
        "Gemm",
        constants={"w": random(3, 4), "b": random(4), "k": random(1, 4)},
    ),
    added(
        "shared-constant",
        conv("c = Conv(x, w) y = Add(c, k) z = Mul(x, q) u = Add(z, q)", outputs="float[N,4,a,b] y, float[N,3,6,6] u"),
        "Add Conv Mul",
        constants={"w": random(4, 3, 3, 3), "k": random(4, 1, 1), "q": random()},
    ),
    added(
        "other-product-second",
        conv("c = Conv(x, w) d = Conv(x, u) y = Add(c, d)"),
        None,
        constants={"w": random(4, 3, 3, 3), "u": random(4, 3, 3, 3)},
    ),
    added("relu-between", conv("c = Conv(x, w) d = Relu(c) y = Add(d, k)"), None),
    added("same-operand-twice", conv("c = Conv(x, w) y = Add(c, c)"), None),
    added("result-is-output", conv("c = Conv(x, w) y = Add(c, k)", outputs="float[N,4,a,b] y, float[N,4,a,b] c"), None),
    added(
        "two-readers",
        conv("c = Conv(x, w) y = Add(c, k) z = Relu(c)", outputs="float[N,4,a,b] y, float[N,4,a,b] z"),
        None,
    ),
    added(
        "more-axes",
        conv("c = Conv(x, w) y = Add(c, k)", outputs="float[1,N,4,a,b] y"),
        None,
        constants={"w": random(4, 3, 3, 3), "k": random(1, 1, 4, 1, 1)},
    ),
    added(
        "more-axes-of-one",
        conv("c = Conv(x, w) y = Add(c, k)", outputs="float[1,N,4,a,b] y"),
        None,
        constants={"w": random(4, 3, 3, 3), "k": random(1, 1, 1, 1, 1)},
    ),
    added(
        "before-7",
        conv("c = Conv(x, w) y = Add<broadcast = 1, axis = 1>(c, k)"),
        None,
        options={"opset": 6, "ir_version": 3},
        runs=False,
    ),
    added(
        "last-axis",
        conv("c = Conv(x, w) y = Add(c, k)", outputs="float[N,4,4,4] y"),
        None,
        constants={"w": random(4, 3, 3, 3), "k": random(4)},
    ),
    added(
        "every-pixel",
        conv("c = Conv(x, w) y = Add(c, k)", outputs="float[N,4,4,4] y"),
        None,
        constants={"w": random(4, 3, 3, 3), "k": random(4, 4, 4)},
    ),
    added(
        "by-batch",
        conv("c = Conv(x, w) y = Add(c, k)", "float[2,3,6,6] x", "float[2,4,4,4] y"),
        None,
        constants={"w": random(4, 3, 3, 3), "k": random(2, 1, 1, 1)},
    ),
    added(
        "wider-channels",
        conv("c = Conv(x, w) y = Add(c, k)"),
        None,
        constants={"w": random(1, 3, 3, 3), "k": random(4, 1, 1)},
    ),
    added(
        "dynamic",
        conv("c = Conv(x, w) y = Add(c, k)", f"{IMAGE}, float[4,1,1] k"),
        None,
        constants={"w": random(4, 3, 3, 3)},
    ),
    added(
        "infinite",
        conv("c = Conv(x, w, b) y = Add(c, k)"),
        None,
        constants={
            "w": random(4, 3, 3, 3),
            "b": np.full(4, 3e38, np.float32),
            "k": np.full((4, 1, 1), 3e38, np.float32),
        },
    ),
    added(
        "gemm-by-row",
        conv("c = Gemm(x, w) y = Add(c, k)", "float[4,3] x", "float[4,4] y"),
        None,
        constants={"w": random(3, 4), "k": random(4, 1)},
    ),
    added(
        "outer-constant-in-branch",
        (
            "g (bool p, float[N,3,6,6] x) => (float[N,4,4,4] r) { r = If (p) <then_branch = t () => "
            "(float[N,4,4,4] y) { c = Conv(x, w) y = Add(c, k) }, else_branch = e () => (float[N,4,4,4] z) "
            "{ z = Conv(x, w) }> }"
        ),
        "Conv Conv If",
    ),
    added(
        "shadowed-constant",
        (
            "g (bool p, float[N,3,6,6] x) => (float[N,4,4,4] r) { r = If (p) <then_branch = t () => "
            "(float[N,4,4,4] y) <float[4,1,1] k2 = {1.0, 2.0, 3.0, 4.0}> { c = Conv(x, w) y = Add(c, k2) }, "
            "else_branch = e () => (float[N,4,4,4] z) <float[4,1,1] k2 = {5.0, 6.0, 7.0, 8.0}> { c = "
            "Conv(x, w) z = Add(c, k2) }> }"
        ),
        "Conv Conv If",
        constants={"w": random(4, 3, 3, 3)},
    ),
]

CONVERTED = [
    converted("1d", conv("y = BatchNormalization(x, s, o, m, v)", "float[N,3,5] x", "float[N,3,5] y")),
    converted("2d", conv("y = BatchNormalization(x, s, o, m, v)", outputs="float[N,3,6,6] y")),
    converted("3d", conv("y = BatchNormalization(x, s, o, m, v)", "float[N,3,2,2,2] x", "float[N,3,2,2,2] y")),
    converted(
        "before-7",
        conv("y = BatchNormalization<is_test=1>(x, s, o, m, v)", outputs="float[N,3,6,6] y"),
        options={"ir_version": 3, "opset": 6},
        runs=False,
    ),
    converted(
        "half",
        conv("y = BatchNormalization(x, s, o, m, v)", "float16[N,3,6,6] x", "float16[N,3,6,6] y"),
        constants=statistics(3, np.float16),
        runs=False,
    ),
    converted(
        "infinite",
        conv("y = BatchNormalization(x, s, o, m, v)", outputs="float[N,3,6,6] y"),
        None,
        constants={**statistics(3), "s": np.full(3, 3e38, np.float32)},
    ),
    converted(
        "in-branch",
        (
            "g (bool p, float[N,3,6,6] x) => (float[N,3,6,6] r) { r = If (p) <then_branch = t () => "
            "(float[N,3,6,6] y) { y = BatchNormalization(x, s, o, m, v) }, else_branch = e () => "
            "(float[N,3,6,6] z) { z = Identity(x) }> }"
        ),
        "Conv Identity If",
    ),
    converted("rank-2", conv("y = BatchNormalization(x, s, o, m, v)", "float[N,3] x", "float[N,3] y"), None),
    converted(
        "unknown-rank",
        conv("c = my.f(x) d = BatchNormalization(c, s, o, m, v) y = my.f(d)", outputs="float[N,3] y"),
        None,
        options={"domains": '"my" : 1'},
        runs=False,
    ),
    converted(
        "unknown-type",
        conv(
            "t = Constant <value_ints = [1, 3, 6, 6]> () c = my.f(x) d = Reshape(c, t) "
            "y = BatchNormalization(d, s, o, m, v)",
            outputs="float[1,3,6,6] y",
        ),
        None,
        options={"domains": '"my" : 1'},
        runs=False,
    ),
    converted(
        "in-function",
        conv("y = my.f(x, s, o, m, v)", outputs="float[N,3,6,6] y"),
        None,
        options={
            "domains": '"my" : 1',
            "functions": (
                '<domain: "my", opset_import: ["" : 17]> f (a, s, o, m, v) => (y) { y = BatchNormalization(a, '
                "s, o, m, v) }"
            ),
        },
    ),
    converted(
        "constants-in-function",
        conv("y = my.f(x)", outputs="float[N,3,6,6] y"),
        None,
        constants={},
        options={
            "domains": '"my" : 1',
            "functions": (
                '<domain: "my", opset_import: ["" : 17]> f (a) => (y) { s = Constant<value = float[3] '
                "{1.0,2.0,3.0}>() y = BatchNormalization(a, s, s, s, s) }"
            ),
        },
    ),
    converted(
        "training",
        conv("y, n, u = BatchNormalization<training_mode=1>(x, s, o, m, v)", outputs="float[N,3,6,6] y"),
        None,
    ),
    converted(
        "training-half-used",
        conv("y, n, u = BatchNormalization<training_mode=1>(x, s, o, m, v)", outputs="float[N,3,6,6] y, float[3] n"),
        None,
    ),
    converted(
        "dynamic",
        conv("y = BatchNormalization(x, s, o, m, v)", f"{IMAGE}, float[3] s", "float[N,3,6,6] y"),
        None,
        constants={k: v for k, v in statistics(3).items() if k != "s"},
    ),
]

CASES = [*ADDED, *CONVERTED]
