"""The evaluation of NNEF documents to operations: names, attributes, fragments, limits, and requested extents."""

import pytest

from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.graph import InputContents
from tests.formats.nnef.evaluation import (
    FINAL,
    graph_text,
    operation_text,
    operations,
    problem,
    provisional_text,
)


def ops(*statements, fragments="", **options):
    return [operation_text(o) for o in operations(graph_text(*statements, fragments=fragments), **options)[1:]]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y = -x", ["neg(x) -> y"]),
        ("y = +x", ["copy(x) -> y"]),
        ("y = x + 1.0", ["add(x, 1.0) -> y"]),
        ("y = 1.0 / (x * x - 2.0)", ["mul(x, x) -> y.mul", "sub(y.mul, 2.0) -> y.sub", "div(1.0, y.sub) -> y"]),
        ("y = x ^ 2.0 ^ 3.0", ["pow(x, 2.0) -> y.pow", "pow(y.pow, 3.0) -> y"]),
        ("y = !(x < 0.5 && x >= 0.1 || x != x)", None),
        ("y = relu(sigmoid(x))", ["sigmoid(x) -> y.sigmoid", "relu(y.sigmoid) -> y"]),
        ("y = x", ["copy(x) -> y"]),
        ("y = 2.0 * 3.0", ["copy(6.0) -> y"]),
        ("y = relu(x) if length_of([1]) == 1 else x", ["relu(x) -> y"]),
        ("y = concat([x] * 2, axis = 0)", ["concat(x, x) -> y"]),
        ("[y, z] = split(x, axis = 3, ratios = [1,1])", ["split(x) -> y, z"]),
        ("y = concat(split(x, axis = 3, ratios = [1,3]), axis = 1)", None),
        ("[y] = copy_n(x, times = 1)", ["copy_n(x) -> y"]),
        ("m, y = moments(x, axes = [0])", ["moments(x) -> m, y"]),
        ("[y, z] = [relu(x), x]", ["relu(x) -> y", "copy(x) -> z"]),
        ("[y, z] = [for f in [x, x] yield relu(f)]", ["relu(x) -> y", "relu(x) -> z"]),
        ("y = add_n([x, x, x])", ["add_n(x, x, x) -> y"]),
        ("y = conv(x, x, groups = 3)", ["conv(x, x, ) -> y"]),
    ],
)
def test_operations_and_names(statement, expected):
    lines = ops(statement)
    if expected is None:
        expected = {
            "!": [
                "lt(x, 0.5) -> y.lt",
                "ge(x, 0.1) -> y.ge",
                "and(y.lt, y.ge) -> y.and",
                "ne(x, x) -> y.ne",
                "or(y.and, y.ne) -> y.or",
                "not(y.or) -> y",
            ],
            "c": ["split(x) -> y.split.0, y.split.1", "concat(y.split.0, y.split.1) -> y"],
        }[statement[4]]
    assert lines == expected


def test_names_of_tensors_in_fragments_have_a_path():
    fragments = """fragment a( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { h = relu(x); y = h + h * h; }
    fragment b( x: tensor<scalar> ) -> ( p: tensor<scalar>, q: tensor<scalar> ) { p = a(a(x)); q = a(x); }\n"""
    assert ops("y, z = b(x)", fragments=fragments) == [
        "relu(x) -> y.a.h",
        "mul(y.a.h, y.a.h) -> y.a.mul",
        "add(y.a.h, y.a.mul) -> y.a",
        "relu(y.a) -> y.h",
        "mul(y.h, y.h) -> y.mul",
        "add(y.h, y.mul) -> y",
        "relu(x) -> z.h",
        "mul(z.h, z.h) -> z.mul",
        "add(z.h, z.mul) -> z",
    ]


def test_standard_compounds_are_expanded_on_request():
    assert ops("y = sqr(x)") == ["sqr(x) -> y"]
    assert ops("y = sqr(x)", expand={"sqr"}) == ["pow(x, 2.0) -> y"]
    assert ops("y = add_n([x, x])", expand="all") == ["add(x, 0.0) -> y.add_n", "add(x, y.add_n) -> y"]


def test_attributes_have_defaults_and_equal_values_are_the_same_object():
    first, second, other = operations(
        graph_text("a = max_pool(x, size = [1,1,2,2])", "b = max_pool(a, size = [1,1,2,2])", "y = box(b, size = [1])")
    )[1:]
    assert first.attributes is second.attributes
    assert dict(other.attributes) == {
        "size": (1,),
        "border": "constant",
        "padding": (),
        "stride": (),
        "dilation": (),
        "normalize": False,
    }


def test_a_generic_fragment_hands_its_type_on():
    fragments = """fragment filled<? = scalar>( value: ?[] ) -> ( y: tensor<?> )
    { y = constant<?>(shape = [2], value = value); }\n"""
    flat = operations(graph_text("a = filled<integer>(value = [1])", "y = filled(value = [1.0])", fragments=fragments))
    assert [str(o.type_argument) for o in flat[1:]] == ["integer", "scalar"]


def test_equal_values_of_different_types_are_distinct():
    statements = [f"{name} = constant<{of}>(shape = [1], value = [{text}])" for name, of, text in
           [("a", "integer", "1"), ("b", "scalar", "1.0"), ("c", "logical", "true")]]  # fmt: skip
    constants = operations(graph_text(*statements, "y = copy(x)"))[1:4]
    assert [type(o.attributes["value"][0]) for o in constants] == [int, float, bool]


def test_recursion_may_be_deep():
    chain = """fragment chain( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
    { y = chain(relu(x), n = n - 1) if n > 0 else x; }\n"""
    lines = ops("y = chain(x, n = 5000)", fragments=chain)
    assert len(lines) == 5001
    assert len(ops("y = add_n([x] * 1000)", expand="all")) == 1000


def test_endless_recursion_is_a_limit_with_its_chain_of_calls():
    text = graph_text("y = f(x)", fragments="fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = f(x); }\n")
    error, rest = problem(text)
    assert error.code == "N904"
    assert rest.startswith("f(x)")
    assert 2 < len(error.calls) <= 20
    assert error.calls[-1] == SourceText(text).location(text.rindex("f(x)"))


@pytest.mark.parametrize(
    ("fragment", "code"),
    [
        ("y = f(x, n = n - 1) + f(x, n = n - 1) if n > 0 else x", "N905"),
        ("y = f(x, n = n + length_of([0] * 900000)) if n > 0 else x", "N905"),
    ],
)
def test_work_is_limited(fragment, code):
    declared = f"fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) {{ {fragment}; }}\n"
    assert problem(graph_text("y = f(x, n = 60)", fragments=declared))[0].code == code


def test_errors_in_fragments_have_calls():
    fragments = """fragment f( x: tensor<scalar>, a: integer[] ) -> ( y: tensor<scalar> )
    { y = transpose(x, axes = [a[2]]); }
    fragment g( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = f(x, a = [0]); }\n"""
    text = graph_text("y = g(x)", fragments=fragments)
    error, rest = problem(text)
    assert rest.startswith("2]]")
    assert error.calls == tuple(map(SourceText(text).location, (text.index("f(x, a = [0])"), text.index("g(x);"))))


def test_errors_in_the_library_are_reported_at_the_call():
    error, rest = problem(graph_text("y = area_downsample(x, factor = [1] * -1)"), expand="all")
    assert error.code == "N501"
    assert rest.startswith("-1")
    error, rest = problem(graph_text("y = avg_roi_align(x, x, x, output_size = [1], sampling_rate = [])"), expand="all")
    assert rest.startswith("avg_roi_align")


@pytest.mark.parametrize(
    ("statement", "position"),
    [
        ("[a, b, y] = [x, x]", "[a, b, y]"),
        ("[y] = copy_n(x, times = 0)", "copy_n"),
        ("y = concat(unstack(absent, axis = 0), axis = 0)", "absent"),
    ],
)
def test_the_left_side_must_fit(statement, position):
    assert problem(graph_text(statement))[1].startswith(position)


# -- requested extents -------------------------------------------------------------------------------------------------


def test_unknown_extents_become_tensors_of_the_graph():
    text = provisional_text("y = reshape(x, shape = [shape_of(x)[0] * 3, shape_of(x)[1] / 2])", shape="[0,4]")
    flat = operations(text)
    assert [operation_text(o) for o in flat[1:]] == [
        "shape_of_axis(x) -> x.shape.0",
        "mul(x.shape.0, 3) -> y.mul",
        "shape_of_axis(x) -> x.shape.1",
        "reshape(x, y.mul) -> y",
    ]
    assert flat[-1].attributes["shape"] == (InputContents(1), 2)


@pytest.mark.parametrize(
    ("statement", "position"),
    [
        ("y = relu(x) if shape_of(x)[0] > 1 else x", "shape_of"),
        ("y = transpose(x, perm = [0] * shape_of(x)[0])", "shape_of"),
        ("y = variable(shape = [shape_of(x)[0]], label = 'w')", "variable"),
        ("y = reshape(x, shape = [[1][shape_of(x)[0]]])", "shape_of"),
    ],
)
def test_a_value_that_depends_on_an_unknown_extent_is_a_problem(statement, position):
    error, rest = problem(provisional_text(statement, shape="[0,4]"))
    assert rest.startswith(position)
    assert error.code in ("N501", "N502")


def test_extents_that_an_expression_uses_are_noted():
    flat = operations(graph_text("a = reshape(x, shape = shape_of(x)[1:3])", "y = copy_n(a, times = 1)[0]"))
    assert [dict(o.attributes) for o in flat if o.op == "shape_of_axis"] == [
        {"axis": axis, "known": extent} for axis, extent in enumerate([2, 3, 8, 8])
    ]
    flat = operations(graph_text("y = tile(x, repeats = [1] * length_of(shape_of(x)))"))
    assert [o.op for o in flat] == ["external", "tile"]


def test_shapes_of_the_provisional_dialect_have_two_axes_at_least():
    flat = operations(provisional_text("y = reshape(x, shape = shape_of(x))", shape="[7]"))
    assert flat[-1].attributes["shape"] == (7, 1)


def test_shapes_may_come_from_elsewhere():
    requested = []

    def shape_of(done, name):
        requested.append((len(done), name))
        return (5, None)

    flat = operations(graph_text("y = reshape(x, shape = shape_of(relu(x)))"), shape_of=shape_of)
    assert requested == [(2, "y.relu")]
    assert flat[-1].attributes["shape"] == (5, InputContents(1))


TRACT = FINAL.replace("extension", "extension tract_registry tract_core;\nextension", 1)


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (["s = tract_core_shape_of(x)", "y = reshape(x, shape = [s[0], 4])"],
         ["tract_core_shape_of(x) -> s", "slice(s) -> y.slice", "squeeze(y.slice) -> y.squeeze",
          "reshape(x, y.squeeze) -> y"]),
        (["y = reshape(x, shape = [S * 2, 4])"], ["extent_of_text('S * 2') -> S * 2", "reshape(x, S * 2) -> y"]),
        (["y = relu(x)", "y = neg(y)"], ["relu(x) -> y.1", "neg(y.1) -> y"]),
        (["v = [[1.0],[2.0]]", "y = add(x, v)"], ["add(x, ((1.0,), (2.0,))) -> y"]),
        (["y = mul(x, 2)"], ["mul(x, 2.0) -> y"]),
        (["y = add(tract_core_shape_of(x), 2)"], ["tract_core_shape_of(x) -> y.tract_core_shape_of",
                                                  "add(y.tract_core_shape_of, 2) -> y"]),
    ],
)  # fmt: skip
def test_tract(statements, expected):
    flat = operations(graph_text(*statements, head=TRACT), dialect="tract")
    assert [operation_text(o) for o in flat[1:]] == expected
