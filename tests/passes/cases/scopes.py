"""Identities, dead nodes and shared parameters, in every scope."""

from __future__ import annotations

import numpy as np
import onnx

from tests.passes.cases.texts import branches, case, function, graph, loop, same_output_twice
from tests.passes.models import random


def identity_without_input(model: onnx.ModelProto) -> None:
    node = next(node for node in model.graph.node if node.op_type == "Identity")
    node.input[0] = ""


IDENTITIES = [
    case(
        "remove_identity",
        "inner-scope-has-the-name",
        branches("b = Exp(a) c = Add(b, a) y = Relu(c)", before="b = Neg(x) a = Identity(b)"),
        None,
        valid=False,
        runs=False,
    ),
    case("remove_identity", "middle", graph("a = Identity(x) y = Relu(a)"), "Relu"),
    case("remove_identity", "chain", graph("a = Identity(x) b = Identity(a) c = Identity(b) y = Relu(c)"), "Relu"),
    case("remove_identity", "output", graph("a = Relu(x) y = Identity(a)"), "Relu"),
    case(
        "remove_identity",
        "output-and-reader",
        graph("a = Relu(x) y = Identity(a) b = Neg(a)", outputs="float[N,3] y, float[N,3] b"),
        "Neg Relu",
    ),
    case(
        "remove_identity",
        "second-output-of-source",
        graph("a, b = TopK(x, k) y = Identity(a)", outputs="float[N,2] y, int64[N,2] b"),
        "TopK",
        {"k": np.array([2])},
    ),
    case("remove_identity", "captured", branches("y = Relu(a)", before="a = Identity(x)"), "If Relu Relu"),
    case("remove_identity", "in-branch", branches("a = Identity(x) y = Relu(a)"), "If Relu Relu"),
    case(
        "remove_identity",
        "in-loop",
        loop("d = Identity(q) e = Identity(a) f = Relu(e) c = Identity(f)"),
        "Identity Loop Relu",
    ),
    case("remove_identity", "between-loop-body-input-and-output", loop("d = Identity(q) c = Identity(a)"), None),
    case(
        "remove_identity",
        "in-scan",
        (
            "g (float[T,3] x) => (float[T,3] r) { r = Scan <num_scan_inputs = 1, body = b (float[3] a) => "
            "(float[3] c) { e = Identity(a) f = Relu(e) c = Identity(f) }> (x) }"
        ),
        "Relu Scan",
    ),
    case(
        "remove_identity",
        "in-function",
        graph("y = my.f(x)"),
        "my::f",
        options=function("(a) => (c)", "b = Identity(a) c = Relu(b)"),
    ),
    case(
        "remove_identity",
        "function-with-attributes",
        graph("y = my.f<alpha = 0.5>(x)"),
        "my::f",
        options=function("<alpha>(a) => (c)", "b = Identity(a) c = Elu<alpha: float = @alpha>(b)"),
    ),
    case(
        "remove_identity",
        "function-of-another-opset",
        graph("y = my.f(x)"),
        "my::f",
        options=function("(a) => (c)", "b = Identity(a) c = Relu(b)", 16),
    ),
    case(
        "remove_identity",
        "sequence",
        "g (seq(float[A,B]) x) => (float[C,D] y) { a = Identity(x) y = SequenceAt(a, k) }",
        "SequenceAt",
        {"k": np.array(0)},
    ),
    case(
        "remove_identity",
        "optional",
        "g (float[N,3] x) => (float[N,3] y) { a = Optional(x) b = Identity(a) y = OptionalGetElement(b) }",
        "Optional OptionalGetElement",
    ),
    case(
        "remove_identity",
        "shadowed",
        branches(
            "b = Neg(x) y = Identity(b)",
            "b = Exp(x) z = Identity(b)",
            before="a = Identity(x)",
            outputs=", float[N,3] a",
        ),
        "Exp Identity If Neg",
    ),
    case("remove_identity", "of-initializer", graph("a = Identity(k) y = Add(x, a)"), "Add", {"k": random(3)}),
    case(
        "remove_identity",
        "of-overridable",
        graph("a = Identity(k) y = Add(x, a)"),
        "Add",
        {"k": random(3)},
        options={"overridable": ["k"]},
    ),
    case("remove_identity", "input-to-output", graph("y = Identity(x)"), None),
    case(
        "remove_identity",
        "initializer-to-output",
        graph("y = Identity(k) z = Relu(x)", outputs="float[3] y, float[N,3] z"),
        None,
        {"k": random(3)},
    ),
    case(
        "remove_identity",
        "two-outputs",
        graph("z = Relu(x) y = Identity(z)", outputs="float[N,3] y, float[N,3] z"),
        None,
    ),
    case(
        "remove_identity",
        "two-identities-of-one-output",
        graph("a = Relu(x) y = Identity(a) z = Identity(a)", outputs="float[N,3] y, float[N,3] z"),
        "Identity Relu",
    ),
    case(
        "remove_identity",
        "output-twice",
        graph("a = Relu(x) y = Identity(a)"),
        "Relu",
        options={"edit": same_output_twice},
        valid=False,
        runs=False,
    ),
    case(
        "remove_identity",
        "branch-returns-outer",
        branches("y = Identity(a)", before="a = Neg(x)", outputs=", float[N,3] a"),
        None,
    ),
    case(
        "remove_identity",
        "other-domain",
        graph("a = my.Identity(x) y = Relu(a)"),
        None,
        options={"domains": '"my" : 1'},
        runs=False,
    ),
    case(
        "remove_identity",
        "own-identity",
        graph("a = my.f(x) y = Relu(a)"),
        None,
        options=function("(a) => (c)", "c = Neg(a)"),
    ),
    case(
        "remove_identity",
        "without-input",
        graph("a = Identity(x) b = Relu(x) y = Relu(b)"),
        None,
        options={"edit": identity_without_input},
        valid=False,
        runs=False,
    ),
]

DEAD = [
    case("remove_dead", "node", graph("a = Neg(x) b = Exp(a) y = Relu(x)"), "Relu"),
    case("remove_dead", "initializer", graph("y = Relu(x)"), "Relu", {"k": random(3)}),
    case("remove_dead", "captured", branches("y = Add(x, a)", before="a = Neg(x) b = Exp(a)"), "Add If Neg Relu"),
    case("remove_dead", "in-branch", branches("a = Neg(x) y = Relu(x)"), "If Relu Relu"),
    case(
        "remove_dead",
        "branches",
        graph(
            (
                "c = Neg(x) r = If (p) <then_branch = t () => (float[N,3] u) { u = Relu(c) }, else_branch = e "
                "() => (float[N,3] z) { z = Exp(c) }> y = Relu(x)"
            ),
            "bool p, float[N,3] x",
        ),
        "Relu",
    ),
    case("remove_dead", "in-loop", loop("d = Identity(q) e = Exp(a) c = Neg(a)"), "Identity Loop Neg"),
    case(
        "remove_dead",
        "in-function",
        graph("y = my.f(x)"),
        "my::f",
        options=function("(a) => (c)", "b = Exp(a) c = Neg(a)"),
    ),
    case("remove_dead", "random", graph("a = RandomNormalLike(x) y = Relu(x)"), "Relu"),
    case("remove_dead", "ir-3", graph("y = Relu(x)"), "Relu", {"k": random(3)}, options={"ir_version": 3, "opset": 9}),
    case("remove_dead", "overridable", graph("y = Relu(x)"), None, {"k": random(3)}, options={"overridable": ["k"]}),
    case(
        "remove_dead",
        "other-outputs-of-a-live-node",
        graph("a, b = Split<axis = 1>(x, k) y = Relu(a)", outputs="float[N,1] y"),
        None,
        {"k": np.array([1, 2])},
    ),
    case(
        "remove_dead",
        "initializer-is-output",
        graph("y = Relu(x)", outputs="float[N,3] y, float[3] k"),
        None,
        {"k": random(3)},
    ),
    case("remove_dead", "unread-input", graph("y = Relu(x)", "float[N,3] x, float[N,3] z"), None),
]

SHARED = [
    case("split_parameters", "twice-by-one-node", graph("a = Mul(k, k) y = Add(x, a)"), "Add Mul", {"k": random(3)}),
    case("split_parameters", "two-nodes", graph("a = Mul(x, k) y = Add(a, k)"), "Add Mul", {"k": random(3)}),
    case("split_parameters", "captured", branches("y = Mul(x, k)", "z = Add(x, k)"), "Add If Mul", {"k": random(3)}),
    case(
        "split_parameters",
        "output",
        graph("y = Mul(x, k)", outputs="float[N,3] y, float[3] k"),
        "Mul",
        {"k": random(3)},
    ),
    case(
        "split_parameters",
        "ir-3",
        graph("a = Mul(x, k) y = Add(a, k)"),
        "Add Mul",
        {"k": random(3)},
        options={"ir_version": 3, "opset": 9},
    ),
    case(
        "split_parameters",
        "texts",
        graph("a = Equal(k, k) b = Cast<to = 1>(a) y = Add(x, b)"),
        "Add Cast Equal",
        {"k": np.array(["a", "b", "c"])},
        options={"opset": 19, "ir_version": 9},
    ),
    case("split_parameters", "one-reader", graph("y = Mul(x, k)"), None, {"k": random(3)}),
    case(
        "split_parameters",
        "overridable",
        graph("a = Mul(x, k) y = Add(a, k)"),
        None,
        {"k": random(3)},
        options={"overridable": ["k"]},
    ),
    case("deduplicate", "two", graph("a = Mul(x, k) y = Add(a, l)"), "Add Mul", {"k": random(3), "l": random(3)}),
    case(
        "deduplicate",
        "output",
        graph("a = Mul(x, k) y = Add(a, l)", outputs="float[N,3] y, float[3] l"),
        "Add Mul",
        {"k": random(3), "l": random(3)},
    ),
    case(
        "deduplicate",
        "texts",
        graph("a = Equal(k, l) b = Cast<to = 1>(a) y = Add(x, b)"),
        "Add Cast Equal",
        {"k": np.array(["a", "b", "c"]), "l": np.array(["a", "b", "c"])},
        options={"opset": 19, "ir_version": 9},
    ),
    case(
        "deduplicate",
        "captured",
        branches("y = Mul(x, k)", "z = Add(x, l)"),
        "Add If Mul",
        {"k": random(3), "l": random(3)},
    ),
    case(
        "deduplicate",
        "two-outputs",
        graph("y = Mul(x, k)", outputs="float[N,3] y, float[3] k, float[3] l"),
        None,
        {"k": random(3), "l": random(3)},
    ),
    case(
        "deduplicate",
        "other-type",
        graph("a = Mul(x, k) b = Cast<to = 1>(l) y = Add(a, b)"),
        None,
        {"k": np.zeros(3, np.float32), "l": np.zeros(3, np.int32)},
    ),
    case(
        "deduplicate",
        "other-shape",
        graph("a = Mul(x, k) y = Add(a, l)"),
        None,
        {"k": np.ones(3, np.float32), "l": np.ones((1, 3), np.float32)},
    ),
    case(
        "deduplicate",
        "signed-zeros",
        graph("a = Div(k, k) b = Div(l, l) c = Add(a, b) y = Add(c, x)"),
        None,
        {"k": np.zeros(3, np.float32), "l": -np.zeros(3, np.float32)},
    ),
    case(
        "deduplicate",
        "overridable",
        graph("a = Mul(x, k) y = Add(a, l)"),
        None,
        {"k": random(3), "l": random(3)},
        options={"overridable": ["k"]},
    ),
    case(
        "deduplicate",
        "other-scopes",
        branches("y = Mul(x, k)", "z = Add(x, l)")
        .replace("{ y =", "<float[3] k = {1.0, 2.0, 3.0}> { y =")
        .replace("{ z =", "<float[3] l = {1.0, 2.0, 3.0}> { z ="),
        None,
    ),
]

CASES = [*IDENTITIES, *DEAD, *SHARED]
