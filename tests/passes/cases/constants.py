"""Constant nodes, and casts of constants."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import helper

from tests.passes.cases.texts import branches, case, function, graph, loop
from tests.passes.models import Case, random


def two_values(model: onnx.ModelProto) -> None:
    model.graph.node[0].attribute.append(helper.make_attribute("value_int", 2))


def other_value(model: onnx.ModelProto) -> None:
    model.graph.node[0].attribute[0].name = "value_other"


def type_of_value(data_type: int) -> Any:
    def edit(model: onnx.ModelProto) -> None:
        model.graph.node[0].attribute[0].t.data_type = data_type

    return edit


def outside(model: onnx.ModelProto) -> None:
    """The constant is in a file that does not exist."""
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="absent.bin")


def cast_to(target: int) -> Any:
    def edit(model: onnx.ModelProto) -> None:
        next(node for node in model.graph.node if node.op_type == "Cast").attribute[0].i = target

    return edit


def casts(target: int, array: Any, after: str | None = "Relu", *, name: str, runs: bool = True) -> Case:
    kind = {
        1: "float",
        6: "int32",
        7: "int64",
        9: "bool",
        10: "float16",
        11: "double",
        16: "bfloat16",
        2: "uint8",
        17: "float8e4m3fn",
        8: "string",
    }[target]
    text = graph(f"c = Cast<to = {target}>(k) y = my.Use(c) u = Relu(x)", outputs=f"{kind} y, float[N,3] u")
    after = None if after is None else "Relu my::Use"
    return case(
        "fold_cast",
        name,
        text,
        after,
        {"k": array},
        options={"domains": '"my" : 1', "opset": 19, "ir_version": 9},
        runs=False,
    )


CASTS = [
    *(
        casts(*item[1:], name=item[0])
        for item in [
            ("widened", 1, random(3, dtype=np.float16)),
            ("narrowed", 10, random(3)),
            ("truncated", 7, np.array([1.9, -1.9], np.float32)),
            ("to-bool", 9, random(3)),
            ("from-bool", 1, np.array([True, False])),
            ("wrapped", 2, np.array([300, -1])),
            ("infinite", 10, np.array([1e6, -np.inf, np.nan], np.float32)),
            ("to-bfloat16", 16, random(5)),
            ("from-bfloat16", 1, random(5).astype(ml_dtypes.bfloat16)),
            ("double-overflow", 1, np.array([1e300])),
            ("scalar", 11, np.array(0.1, np.float32)),
            ("out-of-range", 6, np.array([3e9], np.float32), None),
            ("negative-to-unsigned", 2, np.array([-1.0], np.float32), None),
            ("nan-to-integer", 7, np.array([np.nan], np.float32), None),
            ("two-to-63", 7, np.array([2.0**63]), None),
            ("to-string", 8, random(3), None),
            ("to-float8", 17, random(3), None),
            ("from-string", 1, np.array(["1.5"]), None),
            ("rounded-twice", 10, np.array([1 + 2.0**-11 + 2.0**-30]), None),
            ("rounded-twice-bfloat16", 16, np.array([1 + 2.0**-8 + 2.0**-30]), None),
        ]
    ),
    case("fold_cast", "same-type", graph("a = Cast<to = 1>(x) y = Relu(a)"), "Relu"),
    case(
        "fold_cast",
        "same-type-inferred",
        graph("a = Shape(x) b = Cast<to = 7>(a) y = Add(b, b)", outputs="int64[2] y"),
        "Add Shape",
    ),
    case("fold_cast", "numbers", graph("a = Cast<to = 1>(k) y = Add(x, a)"), "Add", {"k": random(3, dtype=np.float64)}),
    case(
        "fold_cast",
        "in-branch",
        branches("a = Cast<to = 1>(k) y = Add(x, a)"),
        "Add If Relu",
        {"k": random(3, dtype=np.float64)},
    ),
    case(
        "fold_cast",
        "chain",
        graph("a = Cast<to = 11>(k) b = Cast<to = 1>(a) y = Add(x, b)"),
        "Add",
        {"k": random(3, dtype=np.float16)},
    ),
    case(
        "fold_cast",
        "same-type-in-function",
        graph("y = my.f(x)"),
        None,
        options=function("(a) => (c)", "b = Cast<to = 1>(a) c = Relu(b)"),
    ),
    case("fold_cast", "no-constant", graph("a = Cast<to = 7>(x) y = Cast<to = 1>(a)"), None),
    case(
        "fold_cast",
        "overridable",
        graph("a = Cast<to = 1>(k) y = Add(x, a)"),
        None,
        {"k": random(3, dtype=np.float64)},
        options={"overridable": ["k"]},
    ),
    case(
        "fold_cast",
        "ir-3",
        graph("a = Cast<to = 1>(k) y = Add(x, a)"),
        "Add",
        {"k": random(3, dtype=np.float64)},
        options={"ir_version": 3, "opset": 9},
    ),
    case(
        "fold_cast",
        "output",
        graph("y = Cast<to = 1>(k) z = Relu(x)", outputs="float[3] y, float[N,3] z"),
        None,
        {"k": random(3, dtype=np.float64)},
    ),
    case(
        "fold_cast",
        "target-by-call",
        graph("y = my.f<to = 1>(x)"),
        None,
        options=function("<to>(a) => (c)", "b = Cast<to: int = @to>(a) c = Relu(b)"),
    ),
    case(
        "fold_cast",
        "unknown-types",
        graph("a = my.f(x) b = Cast<to = 1>(a) y = my.f(b)"),
        None,
        options={"domains": '"my" : 1', "edit": cast_to(99)},
        valid=False,
        runs=False,
    ),
    case(
        "fold_cast",
        "unknown-target",
        graph("a = Cast<to = 1>(k) y = Relu(x)"),
        None,
        {"k": random(3)},
        options={"edit": cast_to(99)},
        valid=False,
        runs=False,
    ),
]

CONSTANTS = [
    case(
        "constant_to_initializer",
        "tensor",
        graph("k = Constant<value = float[3] {1.0, 2.0, 3.0}>() y = Add(x, k)"),
        "Add",
    ),
    case(
        "constant_to_initializer",
        "numbers",
        graph(
            (
                "a = Constant<value_float = 2.0>() b = Constant<value_floats = [1.0, 2.0, 3.0]>() c = "
                "Constant<value_ints = [1]>() d = Mul(x, a) e = Add(d, b) y = ReduceSum<keepdims = 1>(e, c)"
            ),
            outputs="float[N,1] y",
        ),
        "Add Mul ReduceSum",
    ),
    case(
        "constant_to_initializer",
        "integer",
        graph("k = Constant<value_int = 1>() y = Gather<axis = 1>(x, k)", outputs="float[N] y"),
        "Gather",
    ),
    case(
        "constant_to_initializer",
        "texts",
        graph(
            (
                'a = Constant<value_string = "ä">() b = Constant<value_strings = ["a", "b"]>() c = Equal(a, b) '
                "y = Cast<to = 1>(c)"
            ),
            outputs="float[2] y",
        ),
        "Cast Equal",
        options={"opset": 19, "ir_version": 9},
    ),
    case(
        "constant_to_initializer",
        "captured",
        branches("y = Add(x, k)", before="k = Constant<value_float = 2.0>()"),
        "Add If Relu",
    ),
    case(
        "constant_to_initializer",
        "in-branch",
        branches("k = Constant<value_float = 2.0>() y = Add(x, k)"),
        "Add If Relu",
    ),
    case(
        "constant_to_initializer",
        "same-name-in-both-branches",
        branches("k = Constant<value_float = 2.0>() y = Add(x, k)", "k = Constant<value_float = 3.0>() z = Add(x, k)"),
        "Add Add If",
    ),
    case(
        "constant_to_initializer",
        "in-loop",
        loop("d = Identity(q) k = Constant<value_float = 2.0>() c = Add(a, k)"),
        "Add Identity Loop",
    ),
    case(
        "constant_to_initializer",
        "ir-3",
        graph("k = Constant<value = float[3] {1.0, 2.0, 3.0}>() y = Add(x, k)"),
        "Add",
        options={"ir_version": 3, "opset": 8},
    ),
    case(
        "constant_to_initializer",
        "ir-3-in-branch",
        branches("k = Constant<value = float[3] {1.0, 2.0, 3.0}>() y = Add(x, k)"),
        "Add If Relu",
        options={"ir_version": 3, "opset": 8},
    ),
    case(
        "constant_to_initializer",
        "ir-3-same-name-in-both-branches",
        branches(
            "k = Constant<value = float[1] {1.0}>() y = Add(x, k)",
            "k = Constant<value = float[1] {2.0}>() z = Add(x, k)",
        ),
        "Add Add If",
        options={"ir_version": 3, "opset": 8},
    ),
    case(
        "constant_to_initializer",
        "empty",
        graph("k = Constant<value = float[0] {}>() a = Reshape(x, s) b = Concat<axis = 0>(a, k) y = Reshape(b, t)"),
        "Concat Reshape Reshape",
        {"s": np.array([-1]), "t": np.array([-1, 3])},
    ),
    case(
        "constant_to_initializer",
        "output",
        graph("y = Constant<value_float = 2.0>() z = Relu(x)", outputs="float y, float[N,3] z"),
        None,
        runs=False,
    ),
    case(
        "constant_to_initializer",
        "branch-output",
        branches("y = Constant<value_float = 2.0>()", "z = ReduceSum<keepdims=0>(x)", kind="float"),
        None,
        runs=False,
    ),
    case(
        "constant_to_initializer",
        "unknown-value",
        graph("k = Constant<value_float = 1.0>() y = Add(x, k)"),
        None,
        options={"edit": other_value},
        valid=False,
        runs=False,
    ),
    case(
        "constant_to_initializer",
        "two-values",
        graph("k = Constant<value_float = 1.0>() y = Add(x, k)"),
        None,
        options={"edit": two_values},
        valid=False,
        runs=False,
    ),
    case(
        "constant_to_initializer",
        "in-function",
        graph("y = my.f(x)"),
        None,
        options=function("(a) => (c)", "b = Constant<value_float = 2.0>() c = Add(a, b)"),
    ),
    case(
        "constant_to_initializer",
        "value-by-call",
        graph("y = my.f<k = 2.0>(x)"),
        None,
        options=function("<k>(a) => (c)", "b = Constant<value_float: float = @k>() c = Add(a, b)"),
    ),
]

UNREADABLE = [
    case(
        "constant_to_initializer",
        "type-unknown",
        graph("k = Constant<value = float[3] {1.0, 2.0, 3.0}>() y = Add(x, k)"),
        None,
        options={"edit": type_of_value(0)},
        valid=False,
        runs=False,
    ),
    case(
        "fold_cast",
        "file-absent",
        graph("a = Cast<to = 1>(k) y = Add(x, a)"),
        None,
        {"k": random(3, dtype=np.float64)},
        options={"edit": outside},
        valid=False,
        runs=False,
    ),
]

CASES = [*UNREADABLE, *CASTS, *CONSTANTS]
