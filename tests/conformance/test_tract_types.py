"""Documents of tract that need more than element types and shapes: scans, values of shapes, other files."""

import pytest

from shapeinf import NnefOptions, infer_shapes
from shapeinf.errors import NnefError
from shapeinf.expr import evaluate
from tests.conformance.tract_types import ELSEWHERE, difference, pieces
from tests.vectors import ROOT

HEAD = """version 1.0;
extension tract_registry tract_core;
extension tract_registry tract_transformers;
extension tract_registry tract_onnx;
extension tract_symbol B;
extension tract_symbol S;
"""


def inferred(statements, inputs, outputs="y", fragments="", extensions="", **options):
    """A document in tract's dialect; `inputs` are types by name, in tract's notation."""
    lines = []
    for name, dump in inputs.items():
        *dims, dtype = pieces(dump)
        lines.append(f"    {name} = tract_core_external(shape = [{', '.join(dims)}], datum_type = '{dtype}');")
    body = "\n".join([*lines, *(f"    {line.strip()};" for line in statements.split(";") if line.strip())])
    text = f"{HEAD}{extensions}{fragments}graph g({', '.join(inputs)}) -> ({outputs})\n{{\n{body}\n}}\n"
    return infer_shapes(text, format_options=NnefOptions("tract"), **options)


FRAGMENTS = """fragment f( a: tensor<scalar> ) -> ( b: tensor<scalar> ) { b = a + 1; }
fragment part( x: tensor<scalar>, axis: tensor<scalar>, begin: tensor<scalar>, end: tensor<scalar> )
    -> ( y: tensor<scalar> )
{
    size = squeeze(
        slice(tract_core_shape_of(x), axes = [0], begin = [axis], end = [axis + 1], stride = [1]), axes = [0]
    );
    first = within_bound_index(begin, size);
    last = within_bound_index(end, size);
    y = slice(x, axes = [axis], begin = [first], end = [last], stride = [1]);
}
"""
"""Fragments that exporters write for slices; they call another one, which they do not always declare."""

SIZES = "s = tract_core_shape_of(x);"

DOCUMENTS = [
    # sizes as values: items, ranges and arithmetic of them, where attributes and tensors are expected
    (SIZES + "y = reshape(x, shape = [s[0] * s[1], 8])", {"x": "B,S,8,f32"}, "(B)*(S),8,f32"),
    (SIZES + "y = reshape(x, shape = [s[0:2], 2, 4])", {"x": "B,S,8,f32"}, "B,S,2,4,f32"),
    (SIZES + "y = reshape(x, shape = [s[0], -1])", {"x": "B,S,8,f32"}, "B,8*S,f32"),
    (SIZES + "y = tile(x, repeats = [s[2], 1, 1])", {"x": "B,S,8,f32"}, "8*B,S,8,f32"),
    (SIZES + "y = tile([[0.0]], repeats = [s[1], s[1] + 1])", {"x": "B,S,f32"}, "S,S+1,f32"),
    (SIZES + "y = slice(x, axes = [1], begin = [s[1] - 1], end = [s[1]])", {"x": "B,S,f32"}, "B,1,f32"),
    (SIZES + "y = slice(x, axes = [1], begin = [0], end = [s[1] / 2])", {"x": "B,2*S,f32"}, "B,S,f32"),
    (SIZES + "y = slice(x, axes = [1], begin = [0], end = [s[1] / 2])", {"x": "B,S,f32"}, "B,S/2,f32"),
    (SIZES + "y = tract_core_broadcast(0.5, shape = s)", {"x": "B,S,f32"}, "B,S,f32"),
    (SIZES + "y = tract_core_broadcast(0.5, shape = [s[1], S, 2 * S])", {"x": "B,S,f32"}, "S,S,2*S,f32"),
    (SIZES + "y = tract_core_range(0, s[1], step = 2)", {"x": "B,S,f32"}, "(S+1)/2,i64"),
    ("y = tract_core_range(0, S - 1, step = 1)", {"x": "B,S,f32"}, "S-1,i64"),
    ("y = tract_core_range(S, 0, step = -1)", {"x": "B,S,f32"}, "S,i64"),
    (SIZES + "t = concat([s, [3]], axis = 0); y = tract_core_broadcast(0.5, shape = t)", {"x": "B,S,f32"}, "B,S,3,f32"),
    (SIZES + "t = tract_core_gather(s, [1, 0], axis = 0); y = tile([[1.0]], repeats = t)", {"x": "B,S,f32"}, "S,B,f32"),
    (
        SIZES + "t = tract_core_product_reduce(s, axes = [0]); y = reshape(x, shape = t)",
        {"x": "B,S,f32"},
        "(B)*(S),f32",
    ),
    (
        SIZES
        + "t = tract_core_cast(tract_core_cast(s, to = 'i32'), to = 'tdim'); y = reshape(x, shape = [t[1], t[0]])",
        {"x": "B,S,f32"},
        "S,B,f32",
    ),
    (
        SIZES + "n = squeeze(slice(s, axes = [0], begin = [1], end = [2]), axes = [0]); h = div(n, 2);"
        "y = slice(x, axes = [1], begin = [h], end = [n])",
        {"x": "B,2*S,f32"},
        "B,S,f32",
    ),
    # symbols outside of the shapes of inputs
    ("y = slice(x, axes = [0], begin = [0], end = [S])", {"x": "2*S,4,f32"}, "S,4,f32"),
    ("y = add(x, tract_core_broadcast(0.0, shape = [1, (S + 1) / 2]))", {"x": "B,(S+1)/2,f32"}, "B,(S+1)/2,f32"),
    # operators and broadcasting from the first axis
    ("y = x + 1.0 * x", {"x": "B,S,f16"}, "B,S,f16"),
    ("y = (x + 1) / 2", {"x": "B,S,i64"}, "B,S,i64"),
    ("y = x <= 0", {"x": "B,S,i64"}, "B,S,bool"),
    (
        "v = squeeze(slice(x, axes = [1], begin = [0], end = [1]), axes = [1]); y = mul(x, v)",
        {"x": "B,S,f32"},
        "B,S,f32",
    ),
    # literals keep their kind, in fragments too: integers are sizes, alone or in an array with sizes
    ("y = f(1)", {"x": "S,f32"}, "i64"),
    ("y = add(S, 1)", {"x": "S,f32"}, "i64"),
    ("y = [S, 2]", {"x": "S,f32"}, "2,i64"),
    ("y = [1, 2]", {"x": "S,f32"}, "2,i32"),
    ("y = add([x, 2.0], 1.0)", {"x": "f32"}, "2,f32"),
    ("y = [x, x]", {"x": "B,S,f32"}, "2,B,S,f32"),
    ("y = part(x, axis = 1, begin = 1, end = 3)", {"x": "2,4,S,f32"}, "2,2,S,f32"),
    ("y = part(x, axis = 1, begin = 0, end = -1)", {"x": "B,S,f32"}, "B,S-1,f32"),
    # an identifier again
    ("y = relu(x); y = unsqueeze(y, axes = [0]); y = tract_core_cast(y, to = 'i32')", {"x": "B,S,f32"}, "1,B,S,i32"),
]


@pytest.mark.parametrize(("statements", "inputs", "dump"), DOCUMENTS, ids=[s[:70] for s, _, _ in DOCUMENTS])
def test_values_of_shapes(statements, inputs, dump):
    result = inferred(statements, inputs, fragments=FRAGMENTS)
    assert result.diagnostics == []
    assert difference(dump, result.tensors["y"], result.engine.store) is None


@pytest.mark.parametrize(("statements", "inputs", "dump"), DOCUMENTS, ids=[s[:70] for s, _, _ in DOCUMENTS])
@pytest.mark.parametrize("sizes", [{"B": 1, "S": 1}, {"B": 1, "S": 2}, {"B": 3, "S": 4}, {"B": 2, "S": 7}], ids=str)
def test_sizes_put_in_before_or_after(statements, inputs, dump, sizes):
    result = inferred(statements, inputs, fragments=FRAGMENTS)
    bind = {name: size for name, size in sizes.items() if name in result.engine.scope.names()}
    named, bound = result.tensors["y"], inferred(statements, inputs, fragments=FRAGMENTS, bind=bind).tensors["y"]
    assert bound.dtype == named.dtype
    assert [evaluate(d, {}) for d in bound.shape] == [evaluate(d, sizes) for d in named.shape]


BODY = """fragment step(x_t: tensor<scalar>, w: tensor<scalar>, h: tensor<scalar>)
    -> (o: tensor<scalar>, n: tensor<scalar>)
{
    n = add(h, matmul(x_t, w));
    o = concat([n, n], axis = 1);
}
"""
SCAN = """(y, z) = tract_core_scan(body = 'step', scan = [('x.t', x, {axis}, {chunk})], full = [('w', w)],
    state = [('h', h, 'n')], output = [('o', 'full', {out}, 1), ('n', 'last', 0, 1)], skip = 0)"""

SCANS = [
    # input, axis, chunk, axis of results; types of the results of all calls and of the last state
    ("S,8,f32", 0, 1, 0, "1,4,f32", "S,8,f32", "1,4,f32"),
    ("S,8,f32", 0, -1, 1, "1,4,f32", "1,8*S,f32", "1,4,f32"),
    ("S,8,f32", 0, 2, 0, "2,4,f32", "2*((S+1)/2),8,f32", "2,4,f32"),
    ("B,8*S,f32", 1, 8, 0, "B,4,f32", "(B)*(S),8,f32", "B,4,f32"),
    ("6,8,f32", 0, 3, 0, "3,4,f32", "6,8,f32", "3,4,f32"),
]


@pytest.mark.parametrize(("x", "axis", "chunk", "out", "h", "full", "last"), SCANS)
def test_scans(x, axis, chunk, out, h, full, last):
    statements = SCAN.format(axis=axis, chunk=chunk, out=out)
    result = inferred(statements, {"x": x, "w": "8,4,f32", "h": h}, "y, z", BODY)
    assert result.diagnostics == []
    assert difference(full, result.tensors["y"], result.engine.store) is None
    assert difference(last, result.tensors["z"], result.engine.store) is None


def test_a_state_keeps_its_shape():
    growing = BODY.replace("n = add(h, matmul(x_t, w));", "n = concat([h, matmul(x_t, w)], axis = 0);")
    result = inferred(
        SCAN.format(axis=0, chunk=1, out=0), {"x": "S,8,f32", "w": "8,4,f32", "h": "1,4,f32"}, "y, z", growing
    )
    assert any(
        "the fragment must return a state in its initial shape" in str(d)
        for d in result.diagnostics
        if d.severity == "error"
    )


WRONG_SCANS = [
    ("body = 'step'", "body = 'stop'", "not a fragment"),
    ("('w', w)", "('v', w)", "has no value"),
    ("'h', h, 'n'", "'h', h, 'm'", "no result 'm'"),
    ("('n', 'last', 0, 1)", "('n', 'first', 0, 1)", "'full' or 'last'"),
    (", ('n', 'last', 0, 1)", "", "has 1 tensor"),
    ("0, 1)], full", "w, 1)], full", "integer"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG_SCANS)
def test_scans_that_are_none(old, new, message):
    statements = SCAN.format(axis=0, chunk=1, out=0)
    assert old in statements
    with pytest.raises(NnefError, match=message):
        inferred(statements.replace(old, new), {"x": "S,8,f32", "w": "8,4,f32", "h": "1,4,f32"}, "y, z", BODY)


def test_a_scan_that_calls_itself_ends():
    body = "fragment step(x: tensor<scalar>) -> (o: tensor<scalar>)\n{\n"
    scan = "tract_core_scan(body = 'step', scan = [('x', x, 0, 1)], output = [('o', 'full', 0, 1)])"
    with pytest.raises(NnefError) as caught:
        inferred(f"y = {scan}", {"x": "S,8,f32"}, "y", f"{body}    o = {scan};\n}}\n")
    assert {problem.code[:2] for problem in caught.value.diagnostics} == {"N9"}


def test_assertions_hold_of_slices():
    assertion = "extension tract_assert S >= 4;\n"
    statement = "y = slice(x, axes = [1], begin = [0], end = [4])"
    result = inferred(statement, {"x": "B,S,f32"}, extensions=assertion)
    assert result.interval(result.tensors["x"].shape[1]).lo == 4
    assert difference("B,4,f32", result.tensors["y"], result.engine.store) is None


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_other_models_are_named(name):
    path = ROOT / "nnef" / "ok" / f"{name}.nnef"
    if not path.exists():
        pytest.skip("the vectors are not there: set SHAPEINF_CONFORMANCE")
    result = infer_shapes(path)
    assert "'nnet1' is in another file" in str(result.diagnostics[0])
    assert all(d.severity != "error" for d in result.diagnostics)
