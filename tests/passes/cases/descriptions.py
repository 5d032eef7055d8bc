"""Annotations, names of inner scopes, weights that cannot be read, damaged nodes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx

from tests.passes.models import Case, random, statistics

NODES = "{ c = Conv(x, w) n = BatchNormalization(c, s, o, m, v) y = Relu(n) }"
NORMALIZED = "g (float[N,3,6,6] x) => (float[N,4,a,b] y) " + NODES
WEIGHTS = {"w": random(4, 3, 3, 3), **statistics(4)}


def annotated(name: str) -> Callable[[onnx.ModelProto], None]:
    def edit(model: onnx.ModelProto) -> None:
        annotation = model.graph.quantization_annotation.add(tensor_name=name)
        annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")

    return edit


def without_data(model: onnx.ModelProto) -> None:
    """The weight of 432 bytes is in a file that does not exist."""
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="absent.bin")


def without_attributes(model: onnx.ModelProto) -> None:
    del model.graph.node[1].attribute[:]


def untouched(name: str, passes: str, text: str, **rest) -> Case:
    return Case(name=name, passes=(passes,), text=text, **rest)


CASES = [
    untouched("annotated-result", "fuse_bn", NORMALIZED, constants=WEIGHTS, options={"edit": annotated("c")}),
    untouched("annotated-weight", "fuse_bn", NORMALIZED, constants=WEIGHTS, options={"edit": annotated("w")}),
    untouched(
        "annotated-copy",
        "remove_identity",
        "g (float[3] x) => (float[3] y) { i = Identity(x) y = Add(i, w) }",
        constants={"w": random(3)},
        options={"edit": annotated("i")},
    ),
    untouched(
        "weight-without-data",
        "fuse_bn",
        NORMALIZED,
        constants=WEIGHTS,
        options={"edit": without_data},
        runs=False,
        valid=False,
    ),
    untouched(
        "product-is-output-and-norm-is-none",
        "fuse_bn",
        NORMALIZED.replace("b] y", "b] y, float[N,4,a,b] c"),
        constants=WEIGHTS,
    ),
    untouched(
        "norm-within-branch",
        "fuse_bn",
        "g (bool p, float[2,3,6,6] x) => (float[2,4,4,4] r) { c = Conv(x, w) r = If (p) <then_branch = "
        "t () => (float[2,4,4,4] y) { n = BatchNormalization(c, s, o, m, v) y = Relu(n) }, else_branch = e () => "
        "(float[2,4,4,4] z) { z = Identity(k) }> }",
        constants={**WEIGHTS, "k": random(2, 4, 4, 4)},
    ),
    untouched(
        "name-within-branch",
        "remove_identity",
        "g (bool p, float[3] x) => (float[3] r, float[3] y) { u = Relu(x) r = If (p) <then_branch = "
        "t () => (float[3] q) { y = Neg(x) q = Add(y, u) }, else_branch = e () => (float[3] z) { z = Neg(x) }> "
        "y = Identity(u) }",
        runs=False,
    ),
    untouched(
        "damaged-node",
        "normalize_forms",
        "g (float[3] x) => (float[a] y) { c = Clip<min=0.0>(x) y, i = TopK<k=2>(c) }",
        options={"edit": without_attributes, "opset": 9},
        runs=False,
        valid=False,
    ),
    untouched(
        "broadcast-by-attribute",
        "fuse_bias_add",
        "g (float[3,3] x) => (float[3,3] y) { t = Gemm<broadcast=1>(x, w, b) y = Add<broadcast=1, axis=0>(t, k) }",
        constants={"w": random(3, 3), "b": random(3), "k": np.arange(3, dtype=np.float32)},
        options={"opset": 6},
        runs=False,
    ),
]
