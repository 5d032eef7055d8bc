"""Expressions: printing and parsing are inverse, limits hold for every entry, damage ends in typed errors."""

from __future__ import annotations

import contextlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import infer_shapes
from shapeinf.errors import ExpressionError, LimitError, ModelError, ShapeError
from shapeinf.expressions import evaluate_expression
from shapeinf.formats.pnnx.expression import (
    ARITIES,
    Argument,
    Call,
    ListOf,
    Literal,
    format_expression,
    kuiper,
    parse,
    reverse_polish,
    tokenize,
    walk,
)
from shapeinf.report.expression_report import ValueRecord, report_expression

DEEP = 100_000

LITERALS = st.one_of(
    st.booleans(),
    st.none(),
    st.integers(-(10**40), 10**40),
    st.floats(),
    st.complex_numbers(),
    st.sampled_from([-0.0, 0.0, 1e300, 5e-324, complex(-0.0, -0.0), complex(float("nan"), float("-inf"))]),
)
LEAVES = st.one_of(LITERALS.map(Literal), st.integers(0, 10**9).map(Argument))


def parents(items):
    calls = st.sampled_from(sorted(ARITIES)).flatmap(
        lambda name: st.lists(items, min_size=ARITIES[name][0], max_size=ARITIES[name][1]).map(
            lambda values: Call(tuple(values), function=name)
        )
    )
    return calls | st.lists(items, max_size=4).map(lambda values: ListOf(tuple(values)))


TREES = st.recursive(LEAVES, parents, max_leaves=30)


@given(TREES)
def test_what_is_printed_is_parsed_to_the_same_tree(tree):
    text = format_expression(tree)
    again = parse(text)
    assert again == tree and hash(again) == hash(tree) and format_expression(again) == text
    assert "".join(token.text for token in tokenize(text)) == text


@given(TREES, TREES)
def test_trees_are_equal_where_their_texts_are(a, b):
    assert (a == b) == (str(a) == str(b))


@given(TREES)
def test_positions_are_those_of_the_tokens(tree):
    text = str(tree)
    starts = {token.start for token in tokenize(text)}
    assert {node.position for node in walk(parse(text))} <= starts


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("", 0, "unexpected end of expression"),
        ("add", 3, "expected '('"),
        ("add(@0,@1]", 9, "expected ',' or ')'"),
        ("[@0)", 3, "expected ',' or ']'"),
        ("[1,]", 3, "unexpected ']'"),
        ("[,1]", 1, "unexpected ','"),
        (")", 0, "unexpected ')'"),
        ("@", 1, "expected digits after '@'"),
        ("-", 0, "bad number"),
        ("-x", 0, "bad number"),
        ("1.", 1, "bad number"),
        ("1e+", 1, "bad number"),
        ("1-2", 1, "trailing input"),
        ("1j", 1, "bad number"),
        ("add(@0@1)", 6, "expected ',' or ')'"),
        ("True(1)", 4, "trailing input"),
        ("add(@0(1),2)", 6, "expected ',' or ')'"),
        ("neg(@0,@1)", 0, "neg takes 1 argument, got 2"),
        ("size(@0,1,2)", 0, "size takes 1..2 arguments, got 3"),
        ("neg(add(@0))", 4, "add takes 2 arguments, got 1"),
        ("[1,[2", 5, "expected ',' or ']' before end"),
        ("add(é,1)", 4, "illegal character 'é'"),
    ],
)
def test_a_malformed_text_is_an_error_with_its_position(text, position, reason):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert (caught.value.position, caught.value.reason) == (position, reason)
    line, caret = caught.value.excerpt()
    assert len(caret) <= len(line) + 1


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1e5", "-0.0", "1e-05", "[]", "[[],[1]]", "1.5-2.5j"])
def test_numbers_and_lists(text):
    assert parse(str(parse(text))) == parse(text)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("neg(" * DEEP + "@0" + ")" * DEEP, 3996),
        ("[" * DEEP + "]" * DEEP, 999),
        ("neg(" * DEEP, 3996),
        ("add(1," * DEEP, 5994),
    ],
)
def test_deep_nesting_is_a_limit(text, position):
    with pytest.raises(LimitError, match=f"position {position}; the limit is 1000"):
        parse(text)
    with pytest.raises(LimitError, match="limit"):
        evaluate_expression(text)
    param = f"7767517\n1 1\npnnx.Expression e 0 1 0 expr={text}\n"
    (diagnostic,) = infer_shapes(param).diagnostics
    assert diagnostic.severity == "error" and "1000 levels" in diagnostic.message


def test_deep_trees_cannot_be_constructed():
    """So that none is too deep to be printed, compared, evaluated or freed."""
    node = Argument(0)
    with pytest.raises(LimitError, match="levels of nesting"):
        for _ in range(DEEP):
            node = Call((node,), function="neg")
    assert parse(str(node)) == node and len(reverse_polish(node)) == node.depth == 1000
    wide = ListOf((Literal(1),) * 100_000)
    with pytest.raises(LimitError, match="nodes"):
        ListOf((wide, wide))


def test_the_depth_limit_is_that_of_the_tree():
    deepest = "neg(" * 999 + "@0" + ")" * 999
    assert parse(deepest).depth == 1000
    assert evaluate_expression(deepest, [[2, "n"]]).shape.dims[0] == 2
    with pytest.raises(LimitError):
        parse(f"neg({deepest})")


@pytest.mark.parametrize(
    "text", ["1" * 2_000, "@" + "1" * 2_000, "1" * 2_000_000, "[" + "1," * 400_000 + "1]", "0." + "1" * 2_000]
)
def test_long_texts_are_limits(text):
    with pytest.raises(LimitError):
        parse(text)


@pytest.mark.parametrize("text", ["add(" * DEEP, "add(@0,@1" + ")" * 2_000_000, "@" + "1" * 2_000])
def test_limits_of_the_subset_of_kuiper_infer(text):
    with pytest.raises(LimitError):
        kuiper.parse(text)


@pytest.mark.parametrize(
    ("text", "codes", "log"),
    [
        ("@12", [12], ["NUM: 12"]),
        (" a dd ( @ 0 , @1 ) ", [0, 1, -2], ["NUM: 0", "ADD", "NUM: 1"]),
        ("add(@0,div(@1,@2))", [0, 1, 2, -6, -2], ["NUM: 0", "ADD", "NUM: 1", "DIV", "NUM: 2"]),
    ],
)
def test_numbers_and_log_of_kuiper_infer(text, codes, log):
    tree = kuiper.parse(text)
    assert (kuiper.node_codes(tree), kuiper.in_order_log(tree)) == (codes, log)


def test_a_tree_outside_of_the_subset_has_no_numbers():
    for text in ("sub(@0,@1)", "add(@0,1)", "[@0]"):
        with pytest.raises(ExpressionError, match="not part of the subset"):
            kuiper.node_codes(parse(text))
        with pytest.raises(ExpressionError):
            kuiper.in_order_log(parse(text))


# -- damage

SEEDS = (
    "add(add(mul(@0,@1),mul(@2,add(add(add(@0,@2),@3),@4))),@5)",
    "[mul(neg(floor_divide(neg(size(@0,0)),2)),2),-1]",
    "[int(floor(mul(size(@0,2),1.5))),int(ceil(div(size(@0,3),3)))]",
    "or(and(@0,3),lshift(@0,1))",
    "mul(@0,1.000000e+00+2.000000e+00j)",
    "pow(remainder(size(@1,-1),3),max(2,min(5,size(@0,1))))",
    "[size(@0),True,None,torch.float(@3),sqrt(-1.5e+3)]",
)
PIECES = [*"()[],@-0j \n\0é", "@0", "@7", "1e", "99999999999999999999", "1.5", "nan", "True", "None"]
PIECES += ["size", "add(", "lshift(1,", "pow(10,", "neg("]
SHAPES = ([1, 2, "h", "w"], "[2,1,1]i64", "[1,1]bool", "[]i64", None, "[1]f16")


def damaged(number):
    """An expression with some pieces replaced, removed or repeated; every second one with tokens of the same kind."""
    choose = random.Random(number)
    text = choose.choice(SEEDS)
    for _ in range(choose.randint(1, 3)):
        if number % 2:
            token = choose.choice(tokenize(text))
            start, end = token.start, token.end
            piece = choose.choice([t.text for seed in SEEDS for t in tokenize(seed) if t.kind is token.kind])
        else:
            start = choose.randint(0, len(text))
            end = min(len(text), start + choose.choice((0, 0, 1, 1, 2, 5)))
            piece = choose.choice((*PIECES, text[start:end] * 3, ""))
        text = text[:start] + piece + text[end:]
    return text


def results(numbers):
    """How many damaged expressions have a value; every other one ends in a typed error."""
    count = 0
    for number in numbers:
        text = damaged(number)
        try:
            parse(text)
            evaluate_expression(text, SHAPES)
            count += 1
        except (ModelError, ShapeError):
            pass
        with contextlib.suppress(ModelError):
            kuiper.parse(text)
    return count


def test_a_slice_of_damaged_expressions():
    assert results(range(400)) > 20


@pytest.mark.slow
def test_all_damaged_expressions():
    results(range(20_000))


@pytest.mark.parametrize(
    ("text", "shapes", "value"),
    [
        ("[size(@0,0),2]", ["[N,3]"], ValueRecord("tensor", "int64", (2,), ("N", 2))),
        ("add(@0,1)", ["[N,3]"], ValueRecord("tensor", "float32", ("N", 3))),
        ("add(@0,1)", [None], ValueRecord("tensor", "float32", None)),
        ("add(2,3)", [], ValueRecord("tensor", "int64", (), (5,))),
        ("add(@0,1)", [], None),
    ],
)
def test_the_report_has_the_shape_and_the_contents_of_the_value(text, shapes, value):
    assert report_expression(text, shapes).value == value
