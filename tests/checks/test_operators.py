"""Misspelled operators and domains are errors with the nearest name; custom ones are silent."""

from __future__ import annotations

from itertools import permutations

import onnx
import pytest
from onnx import helper

from shapeinf import infer_shapes
from shapeinf.checks import check
from shapeinf.checks.operators import is_misspelled_domain, is_misspelled_operator
from shapeinf.ops import default_registry
from tests.checks.models import model, node


def unary(op: str, domain: str = "") -> onnx.ModelProto:
    proto = model([node(op, "x", "y", domain=domain)], {"x": ["n", 4]}, {"y": None})
    if domain:
        proto.opset_import.add(domain=domain, version=1)
    return proto


def misspelling_messages(proto: onnx.ModelProto) -> list[str]:
    return [d.message for d in check(infer_shapes(proto, declared="check")) if d.code == "C121"]


@pytest.mark.parametrize(
    ("op", "domain", "right"),
    [
        ("Rellu", "", "Relu"),
        ("relu", "", "Relu"),
        ("Sigmiod", "", "Sigmoid"),
        ("LeakyReLu", "", "LeakyRelu"),
        ("FastGelu", "com.microsft", "com.microsoft"),
        ("FastGellu", "com.microsoft", "FastGelu"),
        ("Normaliser", "ai.onnx.ml", "Normalizer"),
        ("Normalizer", "ai.onx.ml", "ai.onnx.ml"),
    ],
)
def test_the_nearest_name_is_in_the_message(op: str, domain: str, right: str) -> None:
    (message,) = misspelling_messages(unary(op, domain))
    assert message.endswith(f"did you mean {right!r}?")


@pytest.mark.parametrize(
    ("op", "domain"),
    [
        ("Relu", ""),
        ("Silu", ""),  # a name that exporters use, one letter from Selu
        ("RRelu", ""),
        ("Relu6", ""),
        ("ATen", ""),
        ("ImageScaler", ""),
        ("Rellu", "com.acme"),  # a domain of no dialect
        ("MyGelu", "com.microsft"),  # no such operator in the near domain
        ("Relu", "com.micro"),
    ],
)
def test_custom_operators_are_silent(op: str, domain: str) -> None:
    assert misspelling_messages(unary(op, domain)) == []


def test_a_function_of_the_model_is_no_misspelling() -> None:
    proto = unary("Rellu", "com.microsft")
    body = [helper.make_node("Relu", ["a"], ["b"])]
    opset = [helper.make_opsetid("", 18)]
    proto.functions.append(helper.make_function("com.microsft", "Rellu", ["a"], ["b"], body, opset))
    assert misspelling_messages(proto) == []


def test_a_misspelled_operator_in_a_branch_is_reported() -> None:
    text = """<ir_version: 9, opset_import: ["" : 18]> g (bool c, float[n] x) => (float[n] y) {
        y = If (c) <then_branch = t () => (float[n] p) { p = Rellu(x) },
                    else_branch = e () => (float[n] q) { q = Relu(x) }>
    }"""
    assert misspelling_messages(onnx.parser.parse_model(text)) == ["no operator is named 'Rellu'; did you mean 'Relu'?"]


def test_the_misspelled_operator_is_the_only_report() -> None:
    """No other node is blamed, and that the operator has no rule is no news."""
    proto = model(
        [node("FusedMatMul", "x z", "y", domain="com.microsft")], {"x": ["n", 4], "z": [4, 3]}, {"y": ["n", 3]}
    )
    proto.opset_import.add(domain="com.microsft", version=1)
    assert [d.code for d in check(infer_shapes(proto, declared="check")) if d.fails or d.code == "S201"] == ["C121"]


@pytest.mark.parametrize("name", ["onnx", "tf", "nnef", "pnnx"])
def test_no_operator_is_a_misspelling_of_another(name: str) -> None:
    """Operators that exist show how near names may be that are right."""
    dialect = default_registry().dialect(name)
    assert dialect is not None
    operators: dict[tuple[str, str], set[str]] = {}
    for domain, op, _ in dialect:
        operators.setdefault((domain, op[:1].lower()), set()).add(op)
    pairs = [p for ops in operators.values() for p in permutations(ops, 2) if is_misspelled_operator(*p)]
    domains = {domain for domain, _ in operators}
    assert (pairs, [p for p in permutations(domains, 2) if is_misspelled_domain(*p)]) == ([], [])
