"""The static rules of the specification (3.3), as documents whose wrong line ends in `#!`."""

from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opdefs.nnef.library import LAYERS, library
from shapeinf.diagnostics import text_position
from shapeinf.formats.nnef.checking.checker import check
from shapeinf.formats.nnef.checking.library import Library
from shapeinf.formats.nnef.checking.reporter import LONGEST_SEARCHED, MOST_SEARCHED, suggestion
from shapeinf.formats.nnef.language.diagnostics import MAX_DIAGNOSTICS, SourceText
from shapeinf.formats.nnef.language.parser import FRAGMENTS, OPERATORS, parse

HEAD = f"version 1.0;\nextension {FRAGMENTS}, {OPERATORS};\n"
T, L, I = "tensor<scalar>", "tensor<logical>", "integer"  # noqa: E741
MANY = MAX_DIAGNOSTICS * 2


@lru_cache
def operations(dialect="final"):
    if dialect != "final":
        return Library(library(dialect))
    layers = [fragment for fragment in library("provisional") if fragment.name in LAYERS]
    return Library(layers, Library(library("final")), replaceable=LAYERS)


def problems(text, dialect=None, *, sharing=False):
    source = SourceText(text)
    document = parse(source, dialect, sharing=sharing)
    return [(text_position(p)[0], p.code, p.message) for p in check(document, source, operations(document.dialect))]


def wrong_lines(text):
    return [number for number, line in enumerate(text.split("\n"), 1) if line.endswith("#!")]


def graph(*statements, head=HEAD, parameters="x", results="y"):
    body = "\n".join(statements)
    return f"{head}graph G({parameters}) -> ({results})\n{{\nx = external(shape = [2,3]);\n{body}\n}}\n"


def fragment(signature, *statements, call="y = relu(x);"):
    body = "\n".join(statements)
    return graph(call, head=f"{HEAD}fragment f{signature}\n{{\n{body}\n}}\n")


def declared(text, call="y = neg(x);"):
    """A document with fragments before the graph."""
    return HEAD + text + "\n" + graph(call, head="")


def body(*statements, result="y = relu(x);"):
    """A fragment with parameters of many types."""
    tensors = f"x: {T}, c: {L}, n: tensor<{I}>, xs: {T}[]"
    parameters = f"({tensors}, i: {I}, s: scalar, b: logical, t: string, a: {I}[], p: ({I}, string))"
    return fragment(f"{parameters} -> (y: {T})", *statements, result)


NO_OPERATOR = """
i + s; i * s; i == s; i < s; b + b; -b; -t; +t; !i; !x; -c; t - t; t < t; b < b; i && i; x && x; b && i;
t + i; t * s; i * t; a + i; a - a; a * s; i * a; a + [s]; x + i; x + b; x + a; n + n; c == c; p + p;
i in i; t in t; s in a; x in xs; a in a
"""

NOT_ALLOWED = """
[i, s]; [x, i]; [a, i]; [(i, i), (i, i, i)]; 1 if i else 2; x if c else x; 1 if b else s; a if b else t;
x if b else i; a[s]; a[t]; a[1.0:]; a[:b]; x[0]; x[0:1]; i[0]; p[i]; p[0 + 1]; p[2]; p[0:1];
[for j in i yield j]; [for j in t yield j]; [for j in x yield j]; [for j in a if j yield j]; length_of(i);
length_of(x); length_of(p); range_of(3); integer(x); scalar(a); string(p); logical(c)
"""

VALUES = """
i + 1; s ^ 2.0; -s; +x; !b; !c; x + s; s * x; x < 1.0; c && b; t + 'a'; t * 2; a + []; [] + a; a * i;
xs + [x]; xs * 2; i == 2; t != 'a'; b == true; i in a; i in []; a in [[1]]; p in [p]; [x, 1.0]; [1.0, x];
[[], a]; [([], 1), (a, 2)]; x if b else 0.0; a if b else []; a[0]; a[1:]; a[:i]; t[0]; t[1:2]; p[0] + 1;
p[1] + 'a'; [for j in a, l in range_of(a) if j > 1 yield j * l]; [for l in range_of(t) yield t[l]];
length_of(t); length_of([]); integer('1'); scalar(i); string(b); logical(t); shape_of(x); shape_of(i);
select(c, x, s); copy(n); gather(x, n); cast<integer>(x)
"""


def separate(expressions):
    return [expression.strip() for expression in expressions.strip().replace(";\n", ";").split(";")]


WRONG = {
    # Declarations (3.3.2)
    "name of a standard operation": declared(f"fragment relu(x: {T}) -> (y: {T}) #!\n{{ y = neg(x); }}", "y = x;"),
    "two fragments of a name": declared(
        f"fragment f(x: {T}) -> (y: {T});\nfragment f(x: {T}) -> (y: {T}); #!\n", "y = f(x);"
    ),
    "graph with the name of an operation": HEAD + "graph relu(x) -> (y) #!\n{ x = external(shape = [1]); y = neg(x); }",
    "two parameters": fragment(f"(x: {T},\nx: {T}) #!\n-> (y: {T})", "y = relu(x);"),
    "two results": fragment(f"(x: {T}) -> (y: {T},\ny: {T}) #!", "y = relu(x);"),
    "parameter and result": declared(f"fragment f(x: {T}) -> (\nx: {T}); #!\n", "y = x + 1.0;"),
    "attribute before tensor": fragment(f"(k: {I},\nx: {T}) #!\n-> (y: {T})", "y = relu(x);"),
    "tensor and attribute results": declared(f"fragment f(x: {T}) -> (y: {T},\nk: {I}); #!\n", "y = relu(x);"),
    "generic without <?>": fragment("(x: tensor<?>) -> (y: tensor<?>) #!", "y = x;"),
    "<?> without generic": fragment(f"<?>(x: {T}) -> (y: {T}) #!", "y = x;"),
    "mixed tuple": fragment(f"(p: ({T}, {I})[]) #!\n-> (y: {T})", "y = 1.0;"),
    "unbound result": fragment(f"(x: {T}) -> (y: tensor<>) #!", "y = x;"),
    "unbound item of a result": fragment(f"(x: {T}) -> (y: tensor<>[]) #!", "y = [x];"),
    "scalar default of an integer": fragment(f"(x: {T}, k: {I} = 1.5) #!\n-> (y: {T})", "y = x;"),
    "integer default of a tensor": fragment(f"(x: {T}, k: {T} = 1) #!\n-> (y: {T})", "y = x;"),
    "string default of an array": fragment(f"(x: {T}, k: {I}[] = ['a']) #!\n-> (y: {T})", "y = x;"),
    "default that is not a literal": fragment(f"(x: {T}, k: {I} = 1 + 1) #!\n-> (y: {T})", "y = x;"),
    "default that is a name": fragment(f"(x: {T}, j: {I}, k: {I} = j) #!\n-> (y: {T})", "y = x;"),
    # Identifiers (3.3.2)
    "unknown name": graph("y = relu(z); #!"),
    "used before it is assigned": graph("y = relu(z); #!", "z = neg(x);"),
    "used in its own value": graph("y = relu(y); #!"),
    "operation as a value": graph("y = relu(neg); #!"),
    "fragment sees no names of the graph": declared(
        f"fragment f(a: {T}) -> (y: {T})\n{{\ny = a + x; #!\n}}\n", "y = f(x);"
    ),
    "parameter assigned": body("i = 2; #!"),
    "assigned twice": graph("a = relu(x);", "a = neg(x); #!", "y = a;"),
    "assigned twice at once": graph("(a, a) = moments(x, axes = [1]); #!", "y = a;"),
    "result assigned twice": body("y = x; #", "y = neg(x); #!", result=""),
    "result not assigned": declared(f"fragment f(x: {T}) -> (y: {T})\n{{\nz = neg(x); # }}\n}} #!\n", "y = x;"),
    "graph result not assigned": HEAD + "graph G(x) -> (y)\n{ x = external(shape = [1]);\nz = neg(x);\n} #!",
    "graph parameter not assigned": HEAD + "graph G(x, z) -> (y)\n{ x = external(shape = [1]);\ny = neg(x);\n} #!",
    "two graph parameters": HEAD + "graph G(x,\nx) #!\n-> (y) { x = external(shape = [1]); y = neg(x); }",
    "two graph results": HEAD + "graph G(x) -> (y,\ny) #!\n{ x = external(shape = [1]); y = neg(x); }",
    "graph parameter and result": HEAD + "graph G(x) -> (\nx) #!\n{ x = external(shape = [1]); y = neg(x); }",
    "graph parameter of another operation": HEAD
    + "graph G(x, z) -> (y)\n{ x = external(shape = [1]);\nz = neg(x); #!\ny = z; }",
    "external that is no graph parameter": graph("z = external(shape = [1]); #!", "y = x + z;"),
    "external in an expression": graph("y = relu(", "external(shape = [1])); #!"),
    "external in a fragment": body("z = external(shape = [1]); #!"),
    "variable in a fragment": body("z = variable(shape = [1], label = 'a'); #!"),
    "update in a fragment": body("z = update(x, x); #!"),
    "update of no variable": graph("y = update(x, x); #!"),
    "update of another name of a variable": graph(
        "v = variable(shape = [2,3], label = 'v');", "w = v;", "y = update(w, x); #!"
    ),
    "two updates": graph("v = variable(shape = [2,3], label = 'v');", "a = update(v, x);", "y = update(v, a); #!"),
    "array in the graph": graph("z = [x, x]; #!", "y = x + x;"),
    "array of results in the graph": graph("z = split(x, axis = 0, ratios = [1, 1]); #!", "y = neg(x);"),
    "tuple in the graph": graph("z = moments(x, axes = [0]); #!", "y = neg(x);"),
    "graph result that is no tensor": HEAD + "graph G(x) -> (\ny) #!\n{ x = external(shape = [1]); y = [1]; }",
    "loop variable of a parameter's name": body("k = [for i in a yield i]; #!"),
    "two loop variables": body("k = [for j in a, j in a yield j]; #!"),
    "loop variable outside": body("k = [for j in a yield j];", "l = j; #!"),
    "loop variable in another's array": body("k = [for j in a, l in [j] yield l]; #!"),
    # Invocations (3.3.2)
    "unknown operation": graph("y = nosuch(x); #!"),
    "too many arguments": graph("y = relu(x,", "x); #!"),
    "missing argument": graph("y = add(", "x # )", "); #!"),
    "unknown parameter": graph("y = relu(x,", "alpha = 1.0); #!"),
    "parameter twice": graph("y = softmax(x, axes = [1],", "axes = [1]); #!"),
    "parameter by position and by name": graph("y = add(x,", "x = x); #!"),
    "position after name": graph("y = add(x = x,", "x); #!"),
    "attribute by position": graph("y = softmax(x, [1]); #!"),
    "type argument of an operation that is not generic": graph("y = relu<scalar>(x); #!"),
    "? in the graph": graph("y = copy<?>(x); #!"),
    "? in a fragment that is not generic": body("z = copy<?>(x); #!"),
    "type that cannot be deduced": graph("z = cast(x); #!", "y = x + 1.0;"),
    "type of nothing": graph("y = concat([], axis = 0); #!"),
    "different types for ?": graph("y = select(x > 0.0, x, x > 0.0); #!"),
    "type argument and value": graph("z = constant<integer>(shape = [1], value = [1.5]); #!", "y = neg(x);"),
    "default type and value": graph("z = constant(shape = [1], value = [1]); #!", "y = neg(x);"),
    "several results in an expression": graph("y = relu(moments(x, axes = [0])); #!"),
    # Casts (3.3.1)
    "string for array": graph("y = softmax(x, axes = 'ab'); #!"),
    "scalar for integer": graph("y = concat([x, x], axis = 1.0); #!"),
    "integer for scalar": graph("y = leaky_relu(x, alpha = 1); #!"),
    "integer for tensor<scalar>": graph("y = add(x, 1); #!"),
    "logical for tensor<scalar>": graph("y = add(x, true); #!"),
    "tensor for attribute": graph("y = leaky_relu(x, alpha = x); #!"),
    "item for array": graph("y = softmax(x, axes = 1); #!"),
    "tensor for array": graph("y = concat(x, axis = 0); #!"),
    "tuple of another length": graph("y = pad(x, padding = [(0,0,0), (0,0,0)]); #!"),
    "tuple of other items": graph("y = pad(x, padding = [(0,0.5), (0,0.5)]); #!"),
    "tensor<logical> for tensor<scalar>": graph("y = relu(x > 0.0); #!"),
    "tensor<> for tensor<scalar>": fragment(f"(x: tensor<>) -> (y: {T})", "y = relu(x); #!"),
    "tensor<?> for tensor<scalar>": fragment("<?>(x: tensor<?>) -> (y: tensor<?>)", "z = relu(x); #!", "y = x;"),
    "result of another type": fragment(f"(x: {T}) -> (y: {L})", "y = relu(x); #!"),
    "integer result of a tensor<scalar>": fragment(f"(x: {T}) -> (y: {T})", "y = 1; #!"),
    # Assignments (3.3.2)
    "tuple of another length on the left": graph("(a, b, y) = moments(x, axes = [0]); #!"),
    "array for a tuple": graph("[a, y] = moments(x, axes = [0]); #!"),
    "tuple for an array": graph("(a, y) = split(x, axis = 0, ratios = [1,1]); #!"),
    "tuple for a tensor": graph("(a, y) = relu(x); #!"),
    "array for a tensor": graph("[y] = relu(x); #!"),
    "array of another length": graph("[a, b, y] = [x, x]; #!"),
    # Expressions (3.3.3)
    **{f"no operator: {e}": body(f"k = {e}; #!") for e in separate(NO_OPERATOR)},
    **{f"not allowed: {e}": body(f"k = {e}; #!") for e in separate(NOT_ALLOWED)},
}

RIGHT = {
    "order of names": graph("y = add(y = x, x = x);"),
    "array of tensors in a fragment": body("k = split(x, axis = 0, ratios = [1,1]);", "l = concat(k, axis = 0);"),
    "tuple of tensors in a fragment": body("k = moments(x, axes = [0]);", "l = k[0] + k[1];"),
    "attributes in the graph": graph("k = [0, 1];", "[l, m] = k;", "y = softmax(x, axes = [l]);"),
    "declared later": declared(
        f"fragment f(x: {T}) -> (y: {T}) {{ y = g(x); }}\nfragment g(x: {T}) -> (y: {T}) {{ y = f(x); }}\n", "y = f(x);"
    ),
    "name of an operation as a name": graph("relu = relu(x);", "y = relu(relu);"),
    "loop variables twice": body("k = [for j in a yield j];", "l = [for j in a yield j];", "j = 1;"),
    "several externals at once": HEAD
    + "graph G(x, z) -> (y) { (x, z) = (external(shape = [1]), external(shape = [1])); y = x + z; }",
    "variables at once": graph(
        "[v, w] = [for l in ['a', 'b'] yield variable(shape = [2,3], label = l)];", "y = update(w, x);"
    ),
    "generic in generic": fragment(
        "<?>(x: tensor<?>, k: ? = 1) -> (y: tensor<?>)", "y = concat<?>([x] * 2, axis = 0);", call="y = f<integer>(1);"
    ),
    "no body": declared(f"fragment f(x: tensor<>, k: {I} = 1) -> (y: {T});\n", "y = f(x);"),
    "deduced": graph("c = select(x > 0.0, x, 0.0);", "y = copy(c);"),
    "results by branches": graph("(a, y) = moments(x, axes = [0]) if true else moments(x, axes = [1]);"),
    "own layer": declared(f"fragment conv_layer(x: {T}) -> (y: {T}) {{ y = neg(x); }}\n", "y = conv_layer(x);"),
    **{f"value: {e}": body(f"k = {e};") for e in separate(VALUES)},
}


@pytest.mark.parametrize("rule", WRONG)
def test_violations_are_reported_at_their_line(rule):
    text = WRONG[rule]
    diagnostics = problems(text)
    assert [line for line, _, _ in diagnostics] == wrong_lines(text), diagnostics
    assert problems(text, sharing=True) == diagnostics


@pytest.mark.parametrize("rule", RIGHT)
def test_valid_documents_have_no_errors(rule):
    assert problems(RIGHT[rule]) == []


PROVISIONAL = {
    "declarations have no element types": "c = lt(x, 0.0)\ny = select(c, add(x, 1.0), x)",
    "layers make variables": "y = conv_layer(x, channels = 3, size = [1,1], scope = 'a')",
    "attributes by position": "y = softmax(x, [1])",
    "results are unpacked": "t, v = moments(x, axes = [1])\ny = relu(t)",
    "externals that are no parameters": "z = external(shape = [1])\ny = x + z",
}
TRACT = {
    "symbols": "z = tract_core_broadcast(0.5, shape = [N, N / 2 + 1]);\ny = x;",
    "integers for scalars": "y = leaky_relu(x + 1, alpha = 1);",
    "arrays as tensors": "z = [[1.0], [2.0]];\ny = add(z, [1.0]);",
    "tensors as attributes": "s = tract_core_shape_of(x);\ny = reshape(x, shape = [s[0], s, 3]);",
    "assigned again": "y = neg(x);\ny = neg(y);",
    "unknown arguments": "y = relu(x, comment = nobody);",
    "arrays as tuples": "y = pad(x, padding = [[0, 0], [1, 1]]);",
}


@pytest.mark.parametrize("rule", PROVISIONAL)
def test_the_provisional_dialect(rule):
    text = f"version 1.0\ngraph G(x) -> (y)\n{{\nx = external(shape = [1,3])\n{PROVISIONAL[rule]}\n}}\n"
    assert problems(text) == []


@pytest.mark.parametrize("rule", TRACT)
def test_the_dialect_of_tract(rule):
    text = f"version 1.0;\ngraph G(x) -> (y)\n{{\nx = external(shape = [2 * N, 3]);\n{TRACT[rule]}\n}}\n"
    assert problems(text, "tract") == []


@pytest.mark.parametrize("dialect", ["final", "provisional", "tract"])
def test_the_bodies_of_all_operations_follow_the_rules(dialect):
    fragments = library(dialect)
    # Layers create variables and use `shape_of`, as fragments may in the provisional dialect.
    skipped = () if dialect == "provisional" else LAYERS
    own = tuple(fragment for fragment in fragments if fragment.body is not None and fragment.name not in skipped)
    head = "version 1.0\n" if dialect == "provisional" else "version 1.0;\n"
    end = "" if dialect == "provisional" else ";"
    source = SourceText(f"{head}graph G(x) -> (y) {{ x = external(shape = [1]){end} y = neg(x){end} }}")
    document = parse(source, dialect)
    document.fragments = own
    rest = Library(fragment for fragment in fragments if fragment.body is None)
    assert check(document, source, rest) == []


def test_there_are_no_more_problems_than_anybody_wants():
    assert len(problems(graph(*(f"a{i} = nosuch(x);" for i in range(MANY)), "y = x;"))) == MAX_DIAGNOSTICS


@pytest.mark.parametrize("grown", ["(k{0}, k{0})", "[k{0}]"])
def test_types_do_not_grow_without_bounds(grown):
    text = body("k0 = 1;", *(f"k{i + 1} = {grown.format(i)};" for i in range(5000)))
    assert {code for _, code, _ in problems(text)} == {"N906"}


PARTS = st.sampled_from([*"abcixpstn", "1", "1.0", "'a'", "true", "[]", "xs"])
EXPRESSIONS = st.recursive(
    PARTS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "*", "==", "<", "&&", "in"]), inner).map(" ".join).map("({})".format),
        st.lists(inner, min_size=1, max_size=3).map(", ".join).map("[{}]".format),
        st.tuples(inner, inner).map(", ".join).map("({})".format),
        st.tuples(inner, inner, inner).map(lambda e: f"({e[0]} if {e[1]} else {e[2]})"),
        st.tuples(inner, inner).map(lambda e: f"({e[0]})[{e[1]}]"),
        st.tuples(inner, inner).map(lambda e: f"[for j in {e[0]} yield {e[1]}]"),
        inner.map("string({})".format),
        inner.map("relu({})".format),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS)
def test_a_right_expression_is_right_as_an_item_and_as_a_branch(expression):
    if problems(body(f"k = {expression};")) == []:
        for around in ("[{}, {}]", "({}) if b else ({})", "[for w in a yield {}]", "({}, i)[0]"):
            assert problems(body(f"k = {around.format(expression, expression)};")) == [], around


DEEPEST = 90
"""Levels of expressions in each other: the parser takes a few more at most."""
DEEP = [
    "[{}]",
    "({}, 1)",
    "relu({})",
    "-{}",
    "({}) + 1.0",
    "1 if ({}) else 2",
    "[for a in [1] if {} yield 1]",
    "({})[0]",
]


@pytest.mark.parametrize("around", DEEP)
def test_deep_expressions_do_not_exhaust_the_stack(around):
    expression = "x"
    for _ in range(DEEPEST):
        expression = around.format(expression)
    assert len(problems(body(f"k = {expression};"))) <= MAX_DIAGNOSTICS


@pytest.mark.parametrize(
    ("name", "known", "text"),
    [
        ("convv", ["relu", "conv"], "; did you mean 'conv'?"),
        ("x" * LONGEST_SEARCHED, ["x" * LONGEST_SEARCHED + "y"], f"; did you mean '{'x' * LONGEST_SEARCHED}y'?"),
        ("x" * (LONGEST_SEARCHED + 1), ["x" * LONGEST_SEARCHED], ""),
        ("convv", ["conv", *map(str, range(MOST_SEARCHED - 1))], "; did you mean 'conv'?"),
        ("convv", ["conv", *map(str, range(MOST_SEARCHED))], ""),
        ("convv", ["relu"], ""),
    ],
)
def test_a_similar_name_is_searched_up_to_both_limits(name, known, text):
    assert suggestion(name, known) == text
