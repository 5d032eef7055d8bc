"""Computed sizes, constants computed from constants, equal nodes, and nodes in a row.

Cases named after an issue are its kind of defect, in the smallest model: what another tool folded wrongly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from tests.passes.cases.texts import branches, case, function, graph, loop
from tests.passes.models import random


def whole(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def trusted(model: onnx.ModelProto) -> None:
    """A declaration of a value that is wrong for most sizes."""
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("a", onnx.TensorProto.FLOAT, [2, 3]))


def unknown_size(model: onnx.ModelProto) -> None:
    """Some exporters declare an open size as -1."""
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1


SCALAR = np.array(0, np.int64)
ROWS = "s = Shape(x) n = Gather<axis = 0>(s, i) u = Unsqueeze(n, zero)"
"""The number of rows of `x` as a vector `u`."""
NUMBERS = {"i": SCALAR, "zero": whole(0)}
SPLIT = {**NUMBERS, "k": whole(3, 1)}

TWO_BRANCHES = (
    "{0} = If (p) <then_branch = {1} () => (float[N,3] {2}) {{ {2} = Neg(x) }}, "
    "else_branch = {3} () => (float[N,3] {4}) {{ {4} = Exp(x) }}> "
)

RESHAPES = [
    case(
        "fold_shapes",
        "copied-size",
        graph(f"{ROWS} t = Concat<axis = 0>(u, k) y = Reshape(x, t)", outputs="float[N,3,1] y"),
        "Reshape",
        SPLIT,
    ),
    case(
        "fold_shapes",
        "copied-size-with-allowzero",
        graph(f"{ROWS} t = Concat<axis = 0>(u, k) y = Reshape<allowzero = 1>(x, t)", outputs="float[N,3,1] y"),
        "Reshape",
        SPLIT,
    ),
    case(
        "fold_shapes",
        "inferred-size",
        graph(
            f"{ROWS} m = Mul(u, three) t = Concat<axis = 0>(one, m) y = Reshape<allowzero = 1>(x, t)",
            outputs="float[1,M] y",
        ),
        "Reshape",
        {**NUMBERS, "one": whole(1), "three": whole(3)},
    ),
    # At N = 0, the target [1, 0] copies the 3 columns, and fails; [1, -1] would not.
    case(
        "fold_shapes",
        "zero-would-copy",
        graph(f"{ROWS} m = Mul(u, three) t = Concat<axis = 0>(one, m) y = Reshape(x, t)", outputs="float[1,M] y"),
        None,
        {**NUMBERS, "one": whole(1), "three": whole(3)},
    ),
    # [-1, N] fails where N is 0, and [M, N] does not.
    case(
        "fold_shapes",
        "rest-may-be-empty",
        graph(
            f"{ROWS} t = Concat<axis = 0>(three, u) y = Reshape<allowzero = 1>(z, t)",
            "float[N,3] x, float[3,1,N] z",
            "float[3,M] y",
        ),
        "Reshape",
        {**NUMBERS, "three": whole(3)},
    ),
    case(
        "fold_shapes",
        "two-computed-sizes",
        graph(
            "s = Shape(x) a = Gather<axis = 0>(s, j) t = Concat<axis = 0>(k, a) y = Reshape<allowzero = 1>(x, t)",
            "float[N,M] x",
            "float[1,M,N] y",
        ),
        None,
        {"j": whole(1, 0), "k": whole(1)},
        runs=False,
    ),
    # Of issue onnxsim#526: -1 for a size that is not that of the input accepts more.
    case(
        "fold_shapes",
        "onnxsim-526",
        graph(
            "s = Shape(z) t = Concat<axis = 0>(s, k) y = Reshape<allowzero = 1>(x, t)",
            "float[N,3] x, float[M] z",
            "float[K,3] y",
        ),
        None,
        {"k": whole(3)},
    ),
    # Of onnxscript#2963: -1 as a declared size is no number.
    case(
        "fold_shapes",
        "onnxscript-2963",
        graph(f"{ROWS} t = Concat<axis = 0>(u, u) y = Expand(e, t)", outputs="float[M,M] y"),
        None,
        {**NUMBERS, "e": random(1)},
        options={"edit": unknown_size},
        valid=False,
        runs=False,
    ),
    case(
        "fold_shapes",
        "function",
        graph("y = my.f(x)"),
        None,
        options=function("(a) => (c)", "s = Shape(a) c = Reshape(a, s)"),
    ),
    case(
        "fold_shapes",
        "in-branch",
        branches(
            f"{ROWS} t = Concat<axis = 0>(u, k) y = Reshape(x, t)",
            kind="float[N,3,1]",
            otherwise="z = Unsqueeze(x, two)",
        ),
        "If Reshape Unsqueeze",
        {**SPLIT, "two": whole(2)},
    ),
    case(
        "fold_shapes",
        "wrong-declaration",
        graph("a = Relu(x) s = Shape(a) y = Expand(e, s)"),
        None,
        {"e": random(1)},
        options={"edit": trusted},
        runs=False,
        valid=False,
    ),
]

SIZES = [
    case(
        "fold_shapes",
        "constant-size",
        graph("s = Shape(x) c = Gather<axis = 0>(s, one) f = Cast<to = 1>(c) y = Mul(x, f)"),
        "Cast Mul",
        {"one": np.array(1, np.int64)},
    ),
    case(
        "fold_shapes",
        "size-is-an-output",
        graph("s = Shape(x) y = Gather<axis = 0>(s, one)", outputs="int64 y"),
        None,
        {"one": np.array(1, np.int64)},
    ),
    case(
        "fold_shapes",
        "equal-sizes",
        graph(
            f"{ROWS} a = Relu(x) b = Shape(a) c = Slice(b, zero, one) y = Concat<axis = 0>(u, c)", outputs="int64[2] y"
        ),
        "Concat Gather Shape Unsqueeze",
        {**NUMBERS, "one": whole(1)},
    ),
    case(
        "fold_shapes",
        "overridable",
        graph("t = Add(k, one) y = Tile(x, t)", outputs="float[M,K] y"),
        None,
        {"k": whole(0, 1), "one": whole(1)},
        options={"overridable": ["k"]},
    ),
    # A node that fails at a size is kept: an odd number of elements has no two equal parts.
    case(
        "fold_shapes",
        "requires-a-size",
        graph("r = Reshape(x, k) s = Shape(r) c = Gather<axis = 0>(s, i) f = Cast<to = 1>(c) y = Mul(x, f)"),
        None,
        {"i": SCALAR, "k": whole(2, -1)},
        runs=False,
    ),
    # So is one that fails for some indices.
    case(
        "fold_shapes",
        "depends-on-data",
        graph(
            "e = Gather(w, j) s = Shape(e) c = Gather<axis = 0>(s, one) f = Cast<to = 1>(c) y = Mul(x, f)",
            "float[N,3] x, int64[N] j",
        ),
        None,
        {"one": np.array(1, np.int64), "w": random(8, 3)},
    ),
    case(
        "fold_shapes",
        "dead-node-first",
        graph("d = Reshape(x, two) s = Shape(x) c = Gather<axis = 0>(s, one) f = Cast<to = 1>(c) y = Mul(x, f)"),
        "Cast Mul",
        {"one": np.array(1, np.int64), "two": whole(3, -1)},
    ),
    # Of OnnxSlim#192: `start` and `end` of Shape count.
    case("fold_shapes", "onnxslim-192", graph("s = Shape<start = 1>(x) f = Cast<to = 1>(s) y = Mul(x, f)"), "Cast Mul"),
    # Of onnxscript#2520: a size is its own absolute value.
    case(
        "fold_shapes",
        "onnxscript-2520",
        graph(f"{ROWS} t = Concat<axis = 0>(u, k) p = Abs(t) z = Relu(x) y = Expand(z, p)"),
        "Relu",
        {**NUMBERS, "k": whole(3)},
    ),
]

OPERANDS = [
    case(
        "fold_shapes",
        "expand",
        graph(f"{ROWS} t = Concat<axis = 0>(two, u, one) y = Expand(x, t)", outputs="float[2,N,3] y"),
        "Expand",
        {**NUMBERS, "two": whole(2), "one": whole(1)},
    ),
    case(
        "fold_shapes",
        "expand-a-unit",
        graph(f"{ROWS} t = Concat<axis = 0>(u, one) y = Expand(e, t)", outputs="float[N,3] y"),
        None,
        {**NUMBERS, "e": random(1, 3), "one": whole(1)},
    ),
    # Of onnx/optimizer#275: an Expand that adds an axis does something.
    case(
        "fold_shapes", "optimizer-275", graph("y = Expand(x, k)", outputs="float[1,N,3] y"), None, {"k": whole(1, 1, 3)}
    ),
    case(
        "fold_shapes",
        "slice-to-the-end",
        graph(f"{ROWS} z = Relu(x) y = Slice(z, one, u, zero)", outputs="float[M,3] y"),
        "Relu Slice",
        {**NUMBERS, "one": whole(1)},
    ),
    case(
        "fold_shapes",
        "slice-behind-the-end",
        graph(f"{ROWS} m = Add(u, one) z = Relu(x) y = Slice(z, one, m, zero)", outputs="float[M,3] y"),
        "Relu Slice",
        {**NUMBERS, "one": whole(1)},
    ),
    # At N = 0 the end N - 1 is -1, which is the end -1 + N of an axis of N elements, not -1 of them.
    case(
        "fold_shapes",
        "slice-before-the-end",
        graph(f"{ROWS} m = Sub(u, one) y = Slice(x, zero, m, zero)", outputs="float[M,3] y"),
        None,
        {**NUMBERS, "one": whole(1)},
    ),
    case(
        "fold_shapes",
        "slice-before-the-end-of-a-longer-axis",
        graph(
            "s = Shape(x) c = Gather<axis = 0>(s, one) m = Sub(c, one) y = Slice(x, zero, m, one)",
            outputs="float[N,2] y",
        ),
        "Slice",
        {**NUMBERS, "one": whole(1)},
    ),
    case(
        "fold_shapes",
        "slice-backwards",
        graph(f"{ROWS} y = Slice(x, u, zero, zero, back)", outputs="float[M,3] y"),
        None,
        {**NUMBERS, "back": whole(-1)},
    ),
    # Of OnnxSlim#277: two slices of one axis are not one.
    case(
        "fold_shapes",
        "onnxslim-277",
        graph("a = Slice(x, one, big, one) y = Slice(a, zero, one, one)", outputs="float[N,1] y"),
        None,
        {"zero": whole(0), "one": whole(1), "big": whole(2**63 - 1)},
    ),
    case(
        "fold_shapes",
        "whole-slice",
        graph("a = Slice(x, zero, big, one) y = Relu(a)"),
        "Relu",
        {"zero": whole(0), "one": whole(1), "big": whole(2**63 - 1)},
    ),
    case(
        "fold_shapes",
        "reversed-slice",
        graph("a = Slice(x, last, least, one, back) y = Relu(a)"),
        None,
        {"last": whole(-1), "least": whole(-(2**63)), "one": whole(1), "back": whole(-1)},
    ),
    case("fold_shapes", "tile-by-one", graph("a = Tile(x, k) y = Relu(a)"), "Relu", {"k": whole(1, 1)}),
    case("fold_shapes", "pad-by-nothing", graph("a = Pad(x, k) y = Relu(a)"), "Relu", {"k": whole(0, 0, 0, 0)}),
    case("fold_shapes", "pad-and-crop", graph("a = Pad(x, k) y = Relu(a)"), None, {"k": whole(0, 1, 0, -1)}),
    case(
        "fold_shapes",
        "where-true",
        graph("a = Where(t, x, z) y = Relu(a)", "float[N,3] x, float[N,3] z"),
        "Relu",
        {"t": np.array(True)},
    ),
    case(
        "fold_shapes",
        "where-false",
        graph("a = Where(t, z, x) y = Relu(a)", "float[N,3] x, float[N,3] z"),
        "Relu",
        {"t": np.array(False)},
    ),
    case(
        "fold_shapes",
        "where-that-widens",
        graph("a = Where(t, x, z) y = Relu(a)", "float[1,3] x, float[N,3] z"),
        None,
        {"t": np.array(True)},
    ),
    case("fold_shapes", "one-part", graph("a = Concat<axis = 0>(x) y = Relu(a)"), "Relu"),
    case("fold_shapes", "same-order", graph("a = Transpose<perm = [0, 1]>(x) y = Relu(a)"), "Relu"),
    case(
        "fold_shapes",
        "product-with-one",
        graph("a = Mul(x, e) b = Mul(e, a) c = Div(b, e) y = Relu(c)"),
        "Relu",
        {"e": np.ones((1, 1), np.float32)},
    ),
    case("fold_shapes", "quotient-of-one", graph("y = Div(e, x)"), None, {"e": np.ones((1, 1), np.float32)}),
    case(
        "fold_shapes",
        "product-that-widens",
        graph("y = Mul(x, e)", outputs="float[2,N,3] y"),
        None,
        {"e": np.ones((2, 1, 1), np.float32)},
    ),
    # A negative zero plus zero is a positive one.
    case(
        "fold_shapes",
        "sum-with-zero",
        graph("a = Neg(x) r = Relu(a) n = Neg(r) y = Add(n, e)"),
        None,
        {"e": np.zeros(1, np.float32)},
    ),
    case(
        "fold_shapes",
        "sum-of-integers-with-zero",
        graph("a = Add(x, e) b = Add(e, a) c = Sub(b, e) y = Neg(c)", "int64[N,3] x", "int64[N,3] y"),
        "Neg",
        {"e": whole(0)},
    ),
    case(
        "fold_shapes",
        "unsqueeze-and-squeeze",
        graph("a = Unsqueeze(x, k) b = Squeeze(a, k) y = Relu(b)"),
        "Relu",
        {"k": whole(1)},
    ),
    case(
        "fold_shapes",
        "reshape-of-a-view",
        graph("a = Unsqueeze(x, k) y = Reshape(a, t)", outputs="float[N,3,1] y"),
        "Reshape",
        {"k": whole(1), "t": whole(-1, 3, 1)},
    ),
    # Of onnxruntime#28348: 0 copies from another tensor.
    case(
        "fold_shapes",
        "onnxruntime-28348",
        graph("a = Reshape(x, k) y = Reshape<allowzero = 1>(a, t)", "float[0,6,2] x", "float[0,0,3] y"),
        None,
        {"k": whole(3, 2, -1), "t": whole(0, 0, 3)},
        runs=False,
    ),
]

COMPUTED = [
    case("fold_constants", "sum", graph("a = Add(k, k) y = Mul(x, a)"), "Mul", {"k": random(3)}),
    case(
        "fold_constants",
        "integers",
        graph("a = Add(k, k) b = Mul(a, k) y = Tile(x, b)", outputs="float[M,6] y"),
        "Tile",
        {"k": whole(1, 1)},
    ),
    case(
        "fold_constants",
        "moves",
        graph(
            "a = Transpose<perm = [1, 0]>(k) b = Slice(a, one, two, zero, one) c = Concat<axis = 0>(b, b) "
            "d = Gather<axis = 0>(c, one) e = Unsqueeze(d, zero) f = Squeeze(e, zero) y = Add(x, f)"
        ),
        "Add",
        {
            "k": np.array([[1, -0.0], [np.nan, 3], [4, 5]], np.float32).T.copy().T,
            "zero": whole(0),
            "one": whole(1),
            "two": whole(2),
        },
    ),
    case(
        "fold_constants",
        "slice-attributes",
        graph("a = Slice<starts = [-3], ends = [9], axes = [0]>(k) y = Add(x, a)"),
        "Add",
        {"k": random(5)},
        options={"opset": 9},
    ),
    case(
        "fold_constants",
        "reversed",
        graph("a = Slice(k, s, e, z, s) y = Add(x, a)"),
        "Add",
        {"k": random(3), "s": whole(-1), "e": whole(-(2**63)), "z": whole(0)},
    ),
    case(
        "fold_constants",
        "in-loop",
        loop("d = Identity(q) f = Transpose(k) c = Add(a, f)"),
        "Add Identity Loop",
        {"k": random(3, 1)},
    ),
    case("fold_constants", "in-loop-of-the-trip", loop("d = Identity(q) f = Cast<to = 1>(i) c = Add(a, f)"), None),
    case(
        "fold_constants",
        "overridable",
        graph("a = Neg(k) y = Add(x, a)"),
        None,
        {"k": random(3)},
        options={"overridable": ["k"]},
    ),
    case(
        "fold_constants",
        "output",
        graph("y = Neg(k) z = Relu(x)", outputs="float[3] y, float[N,3] z"),
        None,
        {"k": random(3)},
    ),
    case(
        "fold_constants",
        "large-constant",
        graph("a = Transpose(k) y = MatMul(x, a)", outputs="float[N,9000] y"),
        None,
        {"k": random(9000, 3)},
    ),
    case(
        "fold_constants",
        "grows",
        graph("a = Expand(k, s) y = Add(x, a)", "int64[N,1000] x", "int64[N,1000] y"),
        None,
        {"k": whole(2), "s": whole(1000)},
    ),
    case(
        "fold_constants",
        "rounded-differently",
        graph("a = Sqrt(k) y = Add(x, a)"),
        None,
        {"k": np.array([4, 9, 16], np.float32)},
    ),
    case(
        "fold_constants",
        "half-precision",
        graph("a = Add(k, k) b = Cast<to = 1>(a) y = Add(x, b)"),
        None,
        {"k": random(3, dtype=np.float16)},
    ),
    case("fold_constants", "zero-result", graph("a = Sub(k, k) y = Div(x, a)"), None, {"k": random(3)}),
    case(
        "fold_constants",
        "negative-zero",
        graph("a = Mul(k, e) y = Div(x, a)"),
        None,
        {"k": np.array([1, 2, -0.0], np.float32), "e": np.array(3, np.float32)},
    ),
    case(
        "fold_constants", "random", graph("a = RandomNormalLike(k) y = Add(x, a)"), None, {"k": random(3)}, runs=False
    ),
]

EQUAL = [
    case("deduplicate_nodes", "twice", graph("a = Neg(x) b = Neg(x) y = Add(a, b)"), "Add Neg"),
    case(
        "deduplicate_nodes", "chains", graph("a = Neg(x) b = Neg(x) c = Exp(a) d = Exp(b) y = Add(c, d)"), "Add Exp Neg"
    ),
    case(
        "deduplicate_nodes",
        "equal-constants",
        graph("a = Add(x, k) b = Add(x, l) y = Mul(a, b)"),
        "Add Mul",
        {"k": random(3), "l": random(3)},
    ),
    case(
        "deduplicate_nodes",
        "zeros-of-other-sign",
        graph("a = Div(x, k) b = Div(x, l) y = Add(a, b)"),
        None,
        {"k": np.array(0.0, np.float32), "l": np.array(-0.0, np.float32)},
    ),
    case(
        "deduplicate_nodes",
        "constants-of-other-types",
        graph("a = Cast<to = 1>(k) b = Cast<to = 1>(l) c = Add(x, a) y = Add(c, b)"),
        None,
        {"k": whole(1), "l": np.array([1], np.uint64)},
    ),
    case(
        "deduplicate_nodes",
        "overridable",
        graph("a = Add(x, k) b = Add(x, l) y = Mul(a, b)"),
        None,
        {"k": random(3), "l": random(3)},
        options={"overridable": ["k", "l"]},
    ),
    case(
        "deduplicate_nodes",
        "other-attributes",
        graph("a = Softmax<axis = 0>(x) b = Softmax<axis = 1>(x) y = Add(a, b)"),
        None,
    ),
    case(
        "deduplicate_nodes",
        "other-outputs",
        graph(
            "a, m = MaxPool<kernel_shape = [2]>(x) b = MaxPool<kernel_shape = [2]>(x) y = Add(a, b)",
            "float[N,1,3] x",
            "float[N,1,2] y, int64[N,1,2] m",
        ),
        None,
    ),
    case(
        "deduplicate_nodes",
        "order-of-inputs",
        graph("a = Sub(x, k) b = Sub(k, x) y = Mul(a, b)"),
        None,
        {"k": random(3)},
    ),
    case(
        "deduplicate_nodes",
        "random",
        graph("a = RandomNormalLike(x) b = RandomNormalLike(x) y = Sub(a, b)"),
        None,
        runs=False,
    ),
    case(
        "deduplicate_nodes",
        "first-is-output",
        graph("y = Neg(x) b = Neg(x) z = Exp(b)", outputs="float[N,3] y, float[N,3] z"),
        "Exp Neg",
    ),
    case(
        "deduplicate_nodes",
        "second-is-output",
        graph("a = Neg(x) z = Exp(a) y = Neg(x)", outputs="float[N,3] y, float[N,3] z"),
        "Exp Neg",
    ),
    case(
        "deduplicate_nodes",
        "both-are-outputs",
        graph("y = Neg(x) z = Neg(x)", outputs="float[N,3] y, float[N,3] z"),
        None,
    ),
    case("deduplicate_nodes", "in-branch", branches("a = Neg(x) b = Neg(x) y = Add(a, b)"), "Add If Neg Relu"),
    case("deduplicate_nodes", "across-branches", branches("y = Neg(x)", "z = Neg(x)"), None),
    case(
        "deduplicate_nodes",
        "in-and-outside-of-a-branch",
        branches("y = Neg(x)", before="b = Neg(x)", outputs=", float[N,3] b"),
        None,
    ),
    case(
        "deduplicate_nodes",
        "nodes-with-bodies",
        graph(
            TWO_BRANCHES.format("a", "t", "c", "e", "d")
            + TWO_BRANCHES.format("b", "f", "h", "k", "l")
            + "y = Add(a, b)",
            "bool p, float[N,3] x",
        ),
        None,
    ),
    case(
        "deduplicate_nodes",
        "custom-operators",
        graph("a = my.Next(x) b = my.Next(x) y = Add(a, b)"),
        None,
        options={"domains": '"my" : 1'},
        runs=False,
    ),
    case(
        "deduplicate_nodes",
        "calls",
        graph("a = my.f(x) b = my.f(x) y = Add(a, b)"),
        None,
        options=function("(a) => (c)", "c = Neg(a)"),
    ),
    case(
        "deduplicate_nodes",
        "dropout",
        graph("a = Dropout(x, r, t) b = Dropout(x, r, t) y = Sub(a, b)"),
        None,
        {"r": np.array(0.5, np.float32), "t": np.array(True)},
        runs=False,
    ),
]

MERGED = [
    case(
        "merge_nodes",
        "transposes",
        graph(
            "a = Transpose<perm = [1, 2, 0]>(x) y = Transpose<perm = [1, 2, 0]>(a)", "float[N,3,2] x", "float[2,N,3] y"
        ),
        "Transpose",
    ),
    case(
        "merge_nodes",
        "transpose-undone",
        graph(
            "b = Relu(x) a = Transpose<perm = [1, 2, 0]>(b) y = Transpose<perm = [2, 0, 1]>(a)",
            "float[N,3,2] x",
            "float[N,3,2] y",
        ),
        "Relu",
    ),
    case(
        "merge_nodes",
        "transpose-with-readers",
        graph(
            "a = Transpose<perm = [1, 0]>(x) b = Transpose<perm = [1, 0]>(a) y = Relu(b) z = Relu(a)",
            outputs="float[N,3] y, float[3,N] z",
        ),
        None,
    ),
    case("merge_nodes", "reversed-transposes", graph("a = Transpose(x) b = Transpose(a) y = Relu(b)"), None),
    case(
        "merge_nodes",
        "concats",
        graph(
            "a = Concat<axis = 1>(x, z) y = Concat<axis = 1>(z, a, x)", "float[N,3] x, float[N,2] z", "float[N,10] y"
        ),
        "Concat",
    ),
    case(
        "merge_nodes",
        "concats-of-other-axes",
        graph("a = Concat<axis = 0>(x, x) y = Concat<axis = 1>(a, a)", outputs="float[M,6] y"),
        None,
    ),
    case(
        "merge_nodes",
        "concat-read-twice",
        graph("a = Concat<axis = 0>(x, x) y = Concat<axis = 0>(a, a)", outputs="float[M,3] y"),
        None,
    ),
]

CASES = [*RESHAPES, *SIZES, *OPERANDS, *COMPUTED, *EQUAL, *MERGED]
