"""Dims as text and back: names of real files, repeated parts, long texts, and texts that are no dims."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

from shapeinf import infer_shapes
from shapeinf.errors import DimSyntaxError
from shapeinf.expr import Dimension, Scope, dim_label, evaluate, maximum, parse_dim, parse_dim_lenient
from shapeinf.expr.dimension import MAX_TERMS
from shapeinf.expr.parsing import MAX_LENGTH, MAX_NESTING
from shapeinf.expr.printing import LONGEST_TEXT, try_format_dim

BY_ZERO = [
    "N % 0",
    "N//0",
    "0//0",
    "ceildiv(N, 0)",
    "mod(N, 0)",
    "floordiv(4, N - N)",
    "N % (N - N)",
    "max(1, N//0)",
]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("(H + 31)//32", "(H + 31)//32"),
        ("past+seq", "past + seq"),
        ("-(x//2)", "-(x//2)"),
        ("3 - x", "3 - x"),
        ("2*(x//2)", "2*(x//2)"),
        ("x % 3 - y", "x % 3 - y"),
        ("min(x, 5)", "min(x, 5)"),
        ("`batch _size` + 1", "`batch _size` + 1"),
        ("98304*B", "98304*B"),
    ],
)
def test_prints_as_a_python_expression(text, printed):
    assert str(parse_dim(text, Scope())) == printed


# (name in the file, expected: the printed strict form, None for no size)
FILE_NAMES = [
    ("batch", "batch"),
    ("past_sequence_length + 1", "past_sequence_length + 1"),
    ("past_sequence_length + sequence_length", "past_sequence_length + sequence_length"),
    ("2*N", "2*N"),
    ("N*12", "12*N"),
    ("batch-size", "`batch-size`"),
    ("batch _size", "`batch _size`"),
    ("?", None),
    ("onnx::Add_15", "`onnx::Add_15`"),
    ("batch:size", "`batch:size`"),
    ("16H", "`16H`"),
    ("-1", None),
    ("max(N,1)", "N"),
    ("floor(H/2)", "H//2"),
    ("(s0 // 8)", "s0//8"),
    ("2*s0 - 1", "2*s0 - 1"),
    ("Max(1, s3)", "s3"),
    ("u0", "u0"),
    ("None", None),
    ("0", "`0`"),
    ("", None),
    ("日本", "日本"),
    ("a.b", "`a.b`"),
    ("a/b:0", "`a/b:0`"),
    ("class", "`class`"),
    ("x`y", "`x``y`"),
    ("a" * 4000, "a" * 4000),
    ("(" * 500, "`" + "(" * 500 + "`"),
    ("1//0", "`1//0`"),
]


@pytest.mark.parametrize(("name", "printed"), FILE_NAMES, ids=[n[:20] or "empty" for n, _ in FILE_NAMES])
def test_names_of_real_files(name, printed):
    scope = Scope()
    dim, _ = parse_dim_lenient(name, scope)
    assert (None if dim is None else str(dim)) == printed
    if isinstance(dim, Dimension):
        assert parse_dim(str(dim), scope) is dim


@pytest.mark.parametrize("text", ["", "a b", "a +", "(a", "f(a)", "1x", "a ** b", "max(", "`a", "9" * 30, "(" * 99])
def test_strict_syntax_errors_have_a_position(text):
    with pytest.raises(DimSyntaxError, match="at character"):
        parse_dim(text, Scope())


def tower(scope, step, levels):
    """A dim of several levels, each of which contains the level below several times."""
    dim, other = scope.symbol("N"), scope.symbol("M")
    for _ in range(levels):
        dim = step(dim, other)
    return dim


STEPS = {
    "floors": lambda d, m: (3 * d + m) // 2,
    "products": lambda d, m: (d // 3 + m) * 2 + (d // 3) % 5,
    "remainders": lambda d, m: 2 * (d % 7) + (d % 11) + m,
    "maxima": lambda d, m: maximum(2 * d - m, d + m, 7 * m) - d // 2,
    "minima": lambda d, m: d // 2 - maximum(d - m, 3 * m, d % 4),
    "quotients": lambda d, m: (5 * d + 1) // (d + m) + d,
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("levels", [1, 2, 4, 12, 20])
def test_printed_text_is_parsed_back(step, levels):
    """As the same dim of the same scope; in another scope as a dim with the same values.

    Deep maxima are expanded when they are rebuilt, and may exceed a limit then.
    """
    scope = Scope()
    dim = tower(scope, STEPS[step], levels)
    text = str(dim)
    assert len(text) <= LONGEST_TEXT
    try:
        other = parse_dim(text, Scope())
    except DimSyntaxError as error:
        assert "maxima in one another" in error.expected
        assert step in ("maxima", "minima")
        assert levels > 4
        return
    if step not in ("maxima", "minima"):
        assert parse_dim(text, scope) is dim
    for sizes in ({"N": 7, "M": 3}, {"N": 1000, "M": 11}) if dim.symbols().isdisjoint(scope.capped) else ():
        assert evaluate(other, sizes) == evaluate(dim, sizes)


def test_shared_parts_are_printed_once():
    text = str(tower(Scope(), STEPS["floors"], 16))
    assert text.startswith("(let p1 = ")
    definitions = text.removeprefix("(let ").rpartition(" in ")[0].split(", ")
    assert len({d.partition(" = ")[2] for d in definitions}) == len(definitions)


def test_names_of_parts_are_no_names_of_the_model():
    scope = Scope()
    dim = tower(scope, STEPS["floors"], 16) + scope.symbol("p1") + scope.symbol("p3")
    text = str(dim)
    assert "p1 = " not in text
    assert parse_dim(text, scope) is dim


def test_summaries_of_long_dims_differ():
    """They may be parts of names: `broadcast(...)`."""
    scope = Scope()
    names = [scope.symbol(f"a rather long name of a dim, number {i}" * 20) for i in range(60)]
    first = sum(names)
    texts = {f(d) for d in (first, first + 1, 2 * first, first - names[0]) for f in (str, dim_label)}
    assert len(texts) == 8
    assert all(len(text) < LONGEST_TEXT for text in texts)
    assert try_format_dim(first) is None
    with pytest.raises(DimSyntaxError):
        parse_dim(str(first), scope)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["floors", "products", "remainders"]), min_size=1, max_size=6), st.integers(20, 300))
def test_any_limit_gives_a_text_that_is_read_back(steps, longest):
    scope = Scope()
    dim = scope.symbol("N")
    for step in steps:
        dim = STEPS[step](dim, scope.symbol("M"))
    text = try_format_dim(dim, longest=longest)
    assert text is None or (len(text) <= longest and parse_dim(text, scope) is dim)


def test_named_parts_are_read_in_expressions_and_shapes():
    scope = Scope()
    n = scope.symbol("N")
    assert parse_dim("2*(let a = N//2, b = a*a in b + a) + 1", scope) is 2 * ((n // 2) * (n // 2) + n // 2) + 1
    assert parse_dim("(let N = 3 in N) + N", scope) is n + 3
    assert parse_dim("let + 1", scope) is scope.symbol("let") + 1


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("(let a = 1 a)", 11, "',' or 'in'"),
        ("(let a = 1, 2 in a)", 12, "a name"),
        ("(let a = 1, b in a)", 14, "'='"),
        ("(let a = 1 + in a)", 16, "',' or 'in'"),
        ("N = 4", 2, "an operator or the end"),
    ],
)
def test_errors_in_named_parts_have_a_position(text, position, expected):
    with pytest.raises(DimSyntaxError) as caught:
        parse_dim(text, Scope())
    assert (caught.value.position, expected in caught.value.expected) == (position, True), str(caught.value)


@pytest.mark.parametrize("text", BY_ZERO)
def test_nothing_is_divided_by_zero(text):
    with pytest.raises(DimSyntaxError, match="a divisor other than 0"):
        parse_dim(text, Scope())
    dim, lint = parse_dim_lenient(text, Scope())
    assert dim.name == text
    assert "taken as one name" in lint


@pytest.mark.parametrize("operator", ["+", "*", "-", "//", "%"])
@pytest.mark.parametrize("count", [2, 100, 1000, 1900])
def test_long_texts_are_read_or_refused(operator, count):
    """However long, they nest no deeper than their parentheses."""
    text = f" {operator} ".join(["N"] * count)
    try:
        strict = parse_dim(text, Scope())
    except DimSyntaxError as error:
        assert "at most" in error.expected
        strict = None
    dim, lint = parse_dim_lenient(text, Scope())
    assert (strict is None) == (lint is not None)
    assert str(dim) == (str(strict) if lint is None else f"`{text}`")


@pytest.mark.parametrize("text", ["(" * 500 + "N" + ")" * 500, "floor(" * 500 + "N" + ")" * 500, "-" * 4000 + "N"])
def test_deep_texts_are_read_or_refused(text):
    dim, lint = parse_dim_lenient(text, Scope())
    assert (lint is None) == text.startswith("-")
    assert len(dim.symbols()) == 1
    if lint is not None:
        with pytest.raises(DimSyntaxError, match=f"at most {MAX_NESTING} levels|one of max"):
            parse_dim(text, Scope())


def test_a_limit_is_named():
    names = "+".join(f"n{i}" for i in range(MAX_TERMS + 1))
    for _ in range(2):  # also where the scope has it already
        with pytest.raises(DimSyntaxError, match=f"at most {MAX_TERMS} terms"):
            parse_dim(names, scope := Scope())
        with pytest.raises(DimSyntaxError, match=f"at most {MAX_TERMS} terms"):
            parse_dim(names, scope)
    with pytest.raises(DimSyntaxError, match=f"at most {MAX_LENGTH} characters"):
        parse_dim("N" * (MAX_LENGTH + 1), Scope())


@pytest.mark.parametrize("text", [*BY_ZERO, "+".join(["N"] * 2000), "*".join(["N"] * 2000), "(" * 90 + "N" + ")" * 90])
@pytest.mark.parametrize("location", ["input", "output", "inside"])
def test_odd_dims_of_files_are_names(text, location):
    value = helper.make_tensor_value_info
    x = value("x", 1, [text if location == "input" else "N", 4])
    y = value("y", 1, [text if location == "output" else "K", 4])
    z = value("z", 1, [text if location == "inside" else "L", 4])
    nodes = [helper.make_node("Unheard", ["x"], ["z"], domain="my"), helper.make_node("Relu", ["z"], ["y"])]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    model = helper.make_model(helper.make_graph(nodes, "g", [x], [y], value_info=[z]), opset_imports=opsets)
    assert infer_shapes(model).tensors["y"].shape.dims is not None


@pytest.mark.parametrize(("text", "size"), [("2", 2), ("0", 0), (" 16 ", 16), ("02", 2), ("2*3", 6), ("(4)", 4)])
def test_a_numeral_in_a_file_is_a_name(text, size):
    """In ONNX a dim with a name is dynamic, whatever the letters of its name: onnxruntime runs it at other sizes."""
    scope = Scope()
    dim, lint = parse_dim_lenient(text, scope)
    assert (dim.name, lint) == (text, f"the dim name {text!r} is taken as a name, not as the size {size}")
    assert parse_dim(str(2 * dim), scope) is 2 * dim
    assert parse_dim_lenient(text, scope) == (dim, None)
    assert parse_dim("2", scope) == 2
