"""The parser and the printer: the grammar of the specification (3.2), its holes as decided, and the round trip."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.diagnostics import text_position
from shapeinf.errors import NnefError
from shapeinf.formats.nnef.language.ast import (
    NOWHERE,
    ArrayExpr,
    Assignment,
    Binary,
    Builtin,
    Comprehension,
    Document,
    Extension,
    GraphDefinition,
    Invocation,
    Name,
    Number,
    Range,
    Select,
    Subscript,
    Text,
    Truth,
    TupleExpr,
    Unary,
)
from shapeinf.formats.nnef.language.ast import Argument as Arg
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.language.parser import FRAGMENTS, OPERATORS, parse
from shapeinf.formats.nnef.language.precedence import BINARY_PRECEDENCE
from shapeinf.formats.nnef.language.printer import format_document
from tests.vectors import ROOT

FINAL = f"version 1.0;\nextension {FRAGMENTS}, {OPERATORS};\n"


def graph(*statements, head=FINAL):
    end = "" if head == "version 1.0\n" else ";"
    return head + "graph G(x) -> (y)\n{\n" + "".join(f"{s}{end}\n" for s in statements) + "}\n"


def expression(text, head=FINAL):
    document = parse(SourceText(graph(f"y = f(x, a = {text})", head=head)))
    return document.graph.body[0].value.arguments[1].value


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("1 + 2 * 3", "1 + (2 * 3)"),
        ("1 - 2 - 3", "(1 - 2) - 3"),
        ("2 ^ 3 ^ 4", "(2 ^ 3) ^ 4"),
        ("2 * 3 ^ 4", "2 * (3 ^ 4)"),
        ("a + b < c * d", "(a + b) < (c * d)"),
        ("a < b && c || d", "((a < b) && c) || d"),
        ("a == b in c", "(a == b) in c"),
        ("a && b in c", "(a && b) in c"),
        ("-a + b", "(-a) + b"),
        ("-1 + 3", "(-1) + 3"),
        ("-a ^ b", "(-a) ^ b"),
        ("!a && b", "(!a) && b"),
        ("-a[0]", "-(a[0])"),
        ("a if b else c if d else e", "a if b else (c if d else e)"),
        ("a + b if c else d + e", "(a + b) if c else (d + e)"),
        ("[for i in a, j in b if i < j yield i + j]", "[for i in (a), j in (b) if (i < j) yield (i + j)]"),
        ("f(x)[1:][0]", "((f(x))[1:])[0]"),
        ("((a))", "a"),
    ],
)
def test_precedence(text, means):
    assert expression(text) == expression(means) and hash(expression(text)) == hash(expression(means))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("-7", -7),
        ("99999999999999999999", 99999999999999999999),
        ("2.", 2.0),
        ("1e3", 1000.0),
        ("1.5E-2", 0.015),
        ("-3.25e+1", -32.5),
        ("0.1", 0.1),
    ],
)
def test_numbers(text, value):
    literal = expression(text)
    assert (type(literal.value), literal.value) == (type(value), value)


@pytest.mark.parametrize(("text", "value"), [(r"'a\'b'", "a'b"), (r'"a\"b"', 'a"b'), (r"'a\\b'", "a\\b"), ("'é'", "é")])
def test_strings(text, value):
    assert expression(text) == Text(NOWHERE, value)


FRAGMENT = FINAL + "fragment g({}) -> ({})\n{{\n y = relu(x);\n}}\ngraph G(x) -> (y) {{ y = g(x); }}"


@pytest.mark.parametrize(
    ("text", "line", "column", "code"),
    [
        ("", 1, 1, "N201"),
        ("version 2.0;\ngraph G(x) -> (y) { y = relu(x); }", 1, 9, "N203"),
        ("version 1.0;\nextension ;\ngraph G(x) -> (y) { y = relu(x); }", 2, 11, "N201"),
        (graph("y = relu(x,)"), 5, 12, "N201"),
        (graph("y = relu(x))"), 5, 12, "N201"),
        (graph("y = [x"), 5, 7, "N201"),
        (graph("y = relu(x, a = (1))", "z = relu(x, a = (1,))"), 6, 20, "N201"),
        (graph("x + y = relu(x)"), 5, 3, "N201"),
        (graph("if = relu(x)"), 5, 1, "N202"),
        (graph("y = relu(x) if a"), 5, 17, "N201"),
        (graph("y = relu(x, a = [for i in b if c])"), 5, 33, "N201"),
        (graph("y = f(x, a = 0x10)"), 5, 14, "N102"),
        (graph("y = f(x, a = 1.2.3)"), 5, 14, "N102"),
        (graph("y = f(x, a = .5)"), 5, 14, "N101"),
        (graph("y = f(x, a = 'b)"), 5, 14, "N103"),
        (graph("y = f(x) $"), 5, 10, "N101"),
        (graph("y = f(x)\0"), 5, 9, "N101"),
        (graph("y = x + x", head="version 1.0;\n"), 4, 5, "N205"),
        (graph("y = x", head="version 1.0;\n"), 4, 5, "N205"),
        (graph("y = f(x, a = b[0])", head="version 1.0;\n"), 4, 14, "N205"),
        (graph("y = f(f(x))", head="version 1.0;\n"), 4, 7, "N205"),
        (graph("y = f([x, g(x)])", head="version 1.0;\n"), 4, 11, "N205"),
        (graph("y = f([x, -x])", head="version 1.0;\n"), 4, 11, "N205"),
        (graph("y = f(x, a = [1+0])", head="version 1.0;\n"), 4, 15, "N205"),
        (graph("y = f(x, a = (1))", head="version 1.0;\n"), 4, 14, "N205"),
        (graph("k = 3", head="version 1.0;\n"), 4, 5, "N205"),
        (graph("y = [x for x in y]"), 5, 8, "N201"),
        (graph("y = x in y", head="version 1.0\n"), 4, 7, "N201"),
        (FRAGMENT.format("x: tensor", "y: tensor<scalar>"), 3, 21, "N201"),
        (FRAGMENT.format("x: tensor<tensor<>>", "y: tensor<scalar>"), 3, 22, "N201"),
        (FRAGMENT.format("x: (scalar)", "y: tensor<scalar>"), 3, 22, "N201"),
        (FRAGMENT.format("", "y: tensor<scalar>"), 3, 12, "N201"),
        (FRAGMENT.format("x: extent", "y: tensor<scalar>"), 3, 15, "N201"),
    ],
)
def test_malformed_documents(text, line, column, code):
    with pytest.raises(NnefError) as caught:
        parse(SourceText(text))
    error = caught.value
    assert (error.line, error.column, error.diagnostics[0].code) == (line, column, code), str(error)


def test_a_condition_with_a_condition_needs_parentheses():
    assert expression("a if (b if c else d) else e").condition == expression("b if c else d")
    with pytest.raises(NnefError, match="an 'if' in the condition of another needs parentheses"):
        expression("a if b if c else d else e")


@pytest.mark.parametrize("statement", ["y = f(x, a = [1+0], b = 2)", "y = f(g(x), a = 2)", "k = 3"])
def test_expressions_beyond_the_flat_syntax_need_an_extension(statement):
    for sharing in (True, False):
        with pytest.raises(NnefError) as caught:
            parse(SourceText(graph(statement, head="version 1.0;\n")), sharing=sharing)
        assert [problem.code for problem in caught.value.diagnostics] == ["N205"]
        operators = "version 1.0;\nextension KHR_enable_operator_expressions;\n"
        assert parse(SourceText(graph(statement, head=operators)), sharing=sharing).graph.body


def test_documents_with_fragments_may_call_in_a_call():
    head = "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
    assert parse(SourceText(graph("y = f([x, g(x)])", head=head))).graph.body
    with pytest.raises(NnefError, match="N205"):
        parse(SourceText(graph("y = f([x, -x])", head=head)))


def test_extensions_of_tract_are_anything_but_a_semicolon():
    head = "version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol \U0001f3af0;\n"
    document = parse(SourceText(graph("y = f(x)", head=head)))
    assert document.extensions[1].text == "tract_symbol \U0001f3af0"
    for wrong in (head.replace("extension tract_symbol", "extension KHR_"), head + "extension \U0001f3af;\n"):
        with pytest.raises(NnefError, match="N101"):
            parse(SourceText(graph("y = f(x)", head=wrong)))


def test_each_malformed_statement_is_reported():
    text = graph("a = relu(x,)", "b = neg(a)", "c = [b", "y = relu(yield)")
    with pytest.raises(NnefError) as caught:
        parse(SourceText(text))
    assert [text_position(error)[0] for error in caught.value.diagnostics] == [5, 7, 8]


MANY = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "[" * MANY,
        "(" * MANY,
        "f(" * MANY,
        "-" * MANY,
        "!" * MANY + "a",
        "a" + "[0]" * MANY,
        "a[" * MANY,
        "a" + " + a" * MANY,
        "a" + " ^ a" * MANY,
        "a in " * MANY + "a",
        "a if b else " * MANY + "a",
        "[for i in " * MANY,
        "shape_of(" * MANY,
        "[" * MANY + "]" * MANY,
    ],
    ids=lambda text: text[:12],
)
def test_deep_nesting_is_refused(text):
    with pytest.raises(NnefError, match="levels deep"):
        expression(text)


@pytest.mark.parametrize("target", ["[" * MANY, "(" * MANY], ids=["arrays", "tuples"])
def test_left_sides_and_types_nested_too_deep_are_refused(target):
    with pytest.raises(NnefError, match="levels deep"):
        parse(SourceText(graph(f"{target} = f(x)")))
    for of in (target, "scalar" + "[]" * MANY):
        with pytest.raises(NnefError):
            parse(SourceText(FRAGMENT.format(f"x: {of}", "y: tensor<scalar>")))


names = st.sampled_from(["a", "b", "i", "extent_", "_1"]).map(partial(Name, NOWHERE))
numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
texts, truths = st.text("a'\"\\ #;é", max_size=4), st.booleans()
leaves = st.one_of(
    names,
    numbers.map(partial(Number, NOWHERE)),
    texts.map(partial(Text, NOWHERE)),
    truths.map(partial(Truth, NOWHERE)),
)


def composed(inner):
    few = st.lists(inner, max_size=3).map(tuple)
    arguments = st.lists(
        st.builds(Arg, st.just(NOWHERE), st.none() | st.sampled_from(["p", "q"]), inner), min_size=1, max_size=3
    )
    return st.one_of(
        few.map(partial(ArrayExpr, NOWHERE)),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(partial(TupleExpr, NOWHERE)),
        st.builds(Unary, st.just(NOWHERE), st.sampled_from(["+", "!", "-"]), inner),
        st.builds(Binary, st.just(NOWHERE), st.sampled_from(sorted(BINARY_PRECEDENCE)), inner, inner),
        st.builds(Select, st.just(NOWHERE), inner, inner, inner),
        st.builds(Subscript, st.just(NOWHERE), inner, inner),
        st.builds(Range, st.just(NOWHERE), inner, st.none() | inner, st.none() | inner),
        st.builds(Builtin, st.just(NOWHERE), st.sampled_from(["integer", "shape_of"]), inner),
        st.builds(
            Comprehension,
            st.just(NOWHERE),
            st.lists(st.tuples(names, inner), min_size=1, max_size=2).map(tuple),
            st.none() | inner,
            inner,
        ),
        st.builds(Invocation, st.just(NOWHERE), st.just("f"), st.none(), arguments.map(tuple)),
    )


@given(st.recursive(leaves, composed, max_leaves=12))
def test_the_text_of_a_tree_is_parsed_to_that_tree(tree):
    assignment = Assignment(NOWHERE, Name(NOWHERE, "y"), tree)
    body = GraphDefinition(NOWHERE, "G", (Name(NOWHERE, "x"),), (Name(NOWHERE, "y"),), (assignment,))
    document = Document(NOWHERE, "1.0", (Extension(NOWHERE, OPERATORS),), (), body, "final")
    assert parse(SourceText(format_document(document))) == document


def documents():
    return sorted((ROOT / "nnef" / "ok").glob("*.nnef"))


@pytest.mark.skipif(not documents(), reason="the conformance vectors are not there")
@pytest.mark.parametrize("path", documents(), ids=lambda path: path.stem)
def test_documents_survive_the_round_trip_and_sharing(path):
    source = SourceText(path.read_text(encoding="utf8"))
    dialect = "tract" if path.stem.startswith("tract") else None
    document = parse(source, dialect)
    printed = format_document(document)
    assert parse(SourceText(printed), document.dialect) == document
    assert format_document(parse(SourceText(printed), document.dialect)) == printed
    assert parse(source, dialect, sharing=True) == document
