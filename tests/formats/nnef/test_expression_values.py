"""The values of NNEF expressions: operators, comprehensions, recursion, and the positions of errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.formats.nnef.language.ast import NOWHERE, Binary, Number, Unary
from tests.formats.nnef.evaluation import (
    graph_text,
    problem,
    value,
)

TABLE = [
    # 3.3.5 arithmetic, and its precedence
    ("7 / 2", 3),
    ("-7 / 2", -4),
    ("7.0 / 2.0", 3.5),
    ("2 ^ 10", 1024),
    ("2.0 ^ -1.0", 0.5),
    ("9.0 ^ 0.5", 3.0),
    ("1 + 2 * 3 ^ 2 - 3", 16),
    ("-1 + 3", 2),
    ("+5", 5),
    ("99999999999999999999 + 1", 100000000000000000000),
    # comparisons and logic
    ("1 < 2", True),
    ("2 <= 1", False),
    ("'a' == 'a'", True),
    ("'a' != 'b'", True),
    ("true == false", False),
    ("[1,2] == [1,2]", True),
    ("(1,[2,3]) != (1,[2,4])", True),
    ("!true || 1 < 2 && true", True),
    ("false && 1 / 0 == 1", False),
    ("true || 1 / 0 == 1", True),
    # arrays and strings
    ("[1] + [2,3]", (1, 2, 3)),
    ("[] + [1]", (1,)),
    ("[1,2] * 2", (1, 2, 1, 2)),
    ("[1] * 0", ()),
    ("'a' + 'b' * 2", "abb"),
    ("2 in [1,2]", True),
    ("(1,2) in [(3,4),(1,2)]", True),
    ("3 + 1 in [1,2]", False),
    ("[5,6,7][1]", 6),
    ("'abc'[1]", "b"),
    ("(4,5)[1]", 5),
    ("[1,2,3][1:]", (2, 3)),
    ("[1,2,3][:2]", (1, 2)),
    ("[1,2,3][:]", (1, 2, 3)),
    ("[1,2,3][2:1]", ()),
    ("[1,2,3][3:]", ()),
    ("'abc'[1:3]", "bc"),
    # select and comprehensions
    ("1 if true else 1 / 0", 1),
    ("1 if false else 2 if false else 3", 3),
    ("[for i in [1,2,3] yield i * 2]", (2, 4, 6)),
    ("[for i in [1,2,3] if i != 2 yield i]", (1, 3)),
    ("[for i in [1,2], j in [3,4] yield i * j]", (3, 8)),
    ("[for r in [[1,2],[3]] yield [for i in r yield i + 1]]", ((2, 3), (4,))),
    ("[for i in [] yield i]", ()),
    # 3.3.6 functions
    ("length_of([1,2])", 2),
    ("length_of('abc')", 3),
    ("range_of([7,8])", (0, 1)),
    ("range_of('ab')", (0, 1)),
    ("shape_of(x)", (2, 3, 8, 8)),
    ("shape_of(x)[1] * 2", 6),
    ("shape_of(1.0)", ()),
    ("integer(2.9)", 2),
    ("integer(-2.5)", -3),
    ("integer('-12')", -12),
    ("integer(true)", 1),
    ("scalar(3)", 3.0),
    ("scalar('1.5e1')", 15.0),
    ("scalar(false)", 0.0),
    ("logical(0)", False),
    ("logical('x')", True),
    ("logical('')", False),
    ("string(12)", "12"),
    ("string(true)", "true"),
    ("string(2.5)", "2.5"),
    ("string('a')", "a"),
]


@pytest.mark.parametrize(("text", "expected"), TABLE, ids=[text for text, _ in TABLE])
def test_expressions(text, expected):
    result = value(text)
    assert result == expected
    assert type(result) is type(expected)


PROBLEMS = [
    ("1 / 0", "N501", "1 / 0"),
    ("1.0 / 0.0", "N501", "1.0 / 0.0"),
    ("0 ^ -1", "N501", "-1"),
    ("(0.0 - 8.0) ^ 0.5", "N501", "0.0 - 8.0"),
    ("[1] * -1", "N501", "-1"),
    ("[1,2][2]", "N501", "2]"),
    ("[1,2][-1]", "N501", "-1"),
    ("[1,2][0:3]", "N501", "3]"),
    ("[for i in [1], j in [1,2] yield i]", "N501", "[for"),
    ("integer('1.9')", "N501", "'1.9'"),
    ("scalar('one')", "N501", "'one'"),
    ("1 if x > 0.0 else 2", "N502", "x > 0.0"),
    ("[1] * 10000000", "N902", "[1]"),
    ("[[1] * 1000000] * 1000", "N902", "probe"),
    ("2 ^ 100000", "N902", "2 ^"),
    ("'ab' * 1000000", "N902", "'ab'"),
    ("absent + 1", "N404", "absent"),
]


@pytest.mark.parametrize(("text", "code", "position"), PROBLEMS, ids=[text for text, _, _ in PROBLEMS])
def test_expressions_without_a_value_are_errors_at_their_position(text, code, position):
    error, rest = problem(graph_text(f"y = probe(x, a = {text})", fragments=_PROBE))
    assert error.code == code
    assert rest.startswith(position)


_PROBE = "fragment probe( x: tensor<scalar>, a: integer[] = [] ) -> ( y: tensor<scalar> );\n"


def _written(expr):
    if isinstance(expr, Number):
        return str(expr.value)
    if isinstance(expr, Unary):
        return f"({expr.op}{_written(expr.operand)})"
    return f"({_written(expr.left)} {expr.op} {_written(expr.right)})"


integers = st.recursive(
    st.integers(0, 50).map(lambda value: Number(NOWHERE, value)),
    lambda inner: st.one_of(
        st.builds(Unary, st.just(NOWHERE), st.sampled_from("+-"), inner),
        st.builds(Binary, st.just(NOWHERE), st.sampled_from("+-*"), inner, inner),
    ),
    max_leaves=12,
)


@given(integers)
def test_integer_arithmetic_is_pythons(expr):
    assert value(_written(expr)) == eval(_written(expr))


@given(st.integers(-100, 100), st.integers(-100, 100).filter(bool))
def test_integer_division_rounds_down(a, b):
    assert value(f"{a} / ({b})") == a // b


@given(st.lists(st.integers(0, 9), max_size=6), st.data())
def test_ranges_within_an_array_are_pythons(items, data):
    begin, end = (data.draw(st.integers(0, len(items))) for _ in range(2))
    assert value(f"{items}[{begin}:{end}]") == tuple(items[begin:end])


@given(st.lists(st.integers(-9, 9), max_size=6), st.integers(-9, 9))
def test_comprehensions_are_pythons(items, least):
    result = value(f"[for i in {items} if i >= {least} yield i * i - 1]")
    assert result == tuple(i * i - 1 for i in items if i >= least)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8))
def test_a_recursive_fragment_calculates_the_sum(items):
    total = """fragment total( items: integer[] ) -> ( sum: integer )
    { sum = items[0] + total(items = items[1:]) if length_of(items) > 0 else 0; }\n"""
    assert value(f"[total(items = {items})]", total) == (sum(items),)
