"""Every vector of PNNX's expressions: tokens, trees, order, values, symbols, malformed texts, KuiperInfer's subset."""

from __future__ import annotations

import math

import pytest

from shapeinf.errors import ExpressionError, ShapeError
from shapeinf.expr import Dimension, evaluate
from shapeinf.expressions import evaluate_expression
from shapeinf.formats.pnnx.expression import (
    ARITIES,
    Argument,
    Call,
    ListOf,
    kuiper,
    parse,
    reverse_polish,
    tokenize,
)
from shapeinf.lattice.dtypes import SHORT_NAMES
from tests.vectors import need, vectors

FILE = "pnnx/pnnx_expr.json"
VECTORS = vectors(FILE)


def cases(kind):
    return [pytest.param(case, id=f"{i}-{case['expr'][:40]!r}") for i, case in enumerate((VECTORS or {}).get(kind, []))]


def test_the_vectors_are_there():
    vectors_of = need(VECTORS, FILE)
    assert all(vectors_of[kind] for kind in ("valid", "symbolic", "malformed", "shape_errors", "real_expressions"))


def test_the_functions_are_those_of_pnnx():
    assert {name: list(arity) for name, arity in ARITIES.items()} == need(VECTORS, FILE)["functions"]


def as_vector(node):
    """A tree in the form of the vectors."""
    if isinstance(node, (Call, ListOf)):
        return [node.function if isinstance(node, Call) else "list", *map(as_vector, node.items)]
    if isinstance(node, Argument):
        return {"arg": node.index}
    kind = {int: "int", float: "float", complex: "complex"}.get(type(node.value), "const")
    return {kind: node.value}


def with_complex(tree):
    """A tree of the vectors with complex numbers for their texts."""
    if isinstance(tree, list):
        return [tree[0], *map(with_complex, tree[1:])]
    return {"complex": complex(tree["complex"])} if "complex" in tree else tree


def label(item):
    """The label of an item in the order of a vector; numbers are replaced by their values."""
    if isinstance(item, str) and item.endswith("j"):
        return reverse_polish(parse(item))[0]
    return item if isinstance(item, str) else repr(item)


@pytest.mark.parametrize("case", cases("valid"))
def test_tokens_tree_and_order(case):
    assert [[t.kind.value, t.text, t.start, t.end] for t in tokenize(case["expr"])] == case["tokens"]
    tree = parse(case["expr"])
    assert as_vector(tree) == with_complex(case["ast"])
    assert reverse_polish(tree) == [label(item) for item in case["rpn"]]
    assert parse(str(tree)) == tree


@pytest.mark.parametrize("case", cases("valid"))
def test_values(case):
    shapes = [f"{x['shape']}{x['dtype']}" for x in case["inputs"]]
    value, truth = evaluate_expression(case["expr"], shapes), case["result"]
    if truth["kind"] == "tensor":
        assert (list(value.shape), value.dtype) == (truth["shape"], SHORT_NAMES[truth["dtype"]])
    else:
        is_list = truth["kind"] == "list"
        assert list(value.elements) == (truth["value"] if is_list else [truth["value"]])
        assert value.shape.dims == ((len(truth["value"]),) if is_list else ())
        assert value.dtype == {"int": "int64", "list": "int64", "float": "float64"}[truth["kind"]]
        assert all(type(e) is (float if truth["kind"] == "float" else int) for e in value.elements)


BINDINGS = ((2, 3, 5, 7), (6, 4, 9, 8), (1, 2, 16, 31))


@pytest.mark.parametrize("case", cases("symbolic"))
def test_symbolic_sizes(case):
    value, truth = evaluate_expression(case["expr"], case["inputs"]), case["result"]
    if isinstance(truth, str) and truth.startswith("unknown"):
        (size,) = value.shape
        assert isinstance(size, Dimension) and str(size) not in ("N", "M")
        return
    inferred = value.shape.dims if value.elements is None else value.elements
    if truth is None:
        assert inferred is None
        return
    expected = truth if isinstance(truth, list) else [truth]
    for sizes in BINDINGS:
        names = dict(zip("NMHW", sizes, strict=True))
        assert [evaluate(d, names) for d in inferred] == [_number(text, names) for text in expected]


def _number(text, names):
    """A size of the vectors, such as `floor(H/4)`, at a binding."""
    if not isinstance(text, str):
        return text
    return eval(text, {"floor": math.floor, "ceil": math.ceil, **names})


@pytest.mark.parametrize("case", cases("malformed"))
def test_malformed_texts(case):
    with pytest.raises(ExpressionError) as caught:
        parse(case["expr"])
    assert (caught.value.position, caught.value.reason) == (case["pos"], case["reason"])
    assert str(caught.value.position) in str(caught.value)


@pytest.mark.parametrize("case", cases("shape_errors"))
def test_undefined_values(case):
    with pytest.raises(ShapeError):
        evaluate_expression(case["expr"], case["inputs"])


@pytest.mark.parametrize("case", cases("real_expressions"))
def test_expressions_of_files(case):
    if case["parses"]:
        assert parse(str(parse(case["expr"]))) == parse(case["expr"])
        return
    with pytest.raises(ExpressionError) as caught:
        parse(case["expr"])
    assert [caught.value.position, caught.value.reason] == case["error"]


@pytest.mark.parametrize("case", [*cases("valid"), *cases("malformed")])
def test_the_subset_of_kuiper_infer(case):
    """Without `div`, an exercise of KuiperInfer. Like its HEAD, shapeinf rejects text behind an expression."""
    text, truth = case["expr"], case["kuiper"]
    if truth["accepts"]:
        tokens, tree = kuiper.tokenize(text, division=False), kuiper.parse(text, division=False)
        assert [int(token.number) for token in tokens] == truth["token_types"]
        assert [token.text for token in tokens] == truth["token_strs"]
        assert kuiper.node_codes(tree) == truth["rpn_num_index"]
        assert kuiper.in_order_log(tree) == truth["inorder_log"]
        return
    with pytest.raises(ExpressionError) as caught:
        kuiper.parse(text, division=False)
    if truth["why"] == "lexer":
        assert caught.value.position == truth["pos"]
    else:
        assert [int(token.number) for token in kuiper.tokenize(text, division=False)] == truth["token_types"]


def test_no_number_of_a_vector_is_nan():
    """At least some sizes are known: otherwise the comparisons above would prove nothing."""
    values = [case["result"]["value"] for case in need(VECTORS, FILE)["valid"] if case["result"]["kind"] == "float"]
    assert values and not any(map(math.isnan, values))
