"""The grammar of shapes, ranges and values: valid texts, and errors with a position and an expectation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.errors import SpecError
from shapeinf.expr import Dimension, Scope
from shapeinf.inputs.spec import (
    Declared,
    DimRange,
    InputSpec,
    parse_bindings,
    parse_dim_range,
    parse_shape_spec,
    split_specs,
)


def dims_as_text(spec: InputSpec) -> list[object] | None:
    """Dims as ints, None, range text or expression text, for short tables."""
    if spec.dims is None:
        return None
    return [str(d) if isinstance(d, Dimension) else _range_text(d) if isinstance(d, DimRange) else d for d in spec.dims]


def _range_text(d: DimRange) -> str:
    text = f"{'' if d.lo is None else d.lo}..{'' if d.hi is None else d.hi}"
    return text if d.name is None else f"{d.name}={text}"


# One row a syntax: where it comes from, the text, name, element type, dims.
READ = [
    ("onnxsim", "data:1,3,224,224", "data", None, [1, 3, 224, 224]),
    ("onnxsim, single input", "1,3,224,224", None, None, [1, 3, 224, 224]),
    ("onnx-tool", "input:f32:1x3x224x224", "input", "float32", [1, 3, 224, 224]),
    ("onnx-tool, names", "input:1x3xhxw", "input", None, [1, 3, "h", "w"]),
    ("polygraphy", "image:[1,3,224,224]", "image", None, [1, 3, 224, 224]),
    ("trtexec", "ids:1x128", "ids", None, [1, 128]),
    ("OpenVINO", "[1..10,?,224,224]", None, None, ["1..10", None, 224, 224]),
    ("OpenVINO, upper bound", "..512", None, None, ["..512"]),
    ("OpenVINO, lower bound", "5..", None, None, ["5.."]),
    ("OpenVINO, unknown", "-1", None, None, [None]),
    ("OpenVINO, any rank", "...", None, None, None),
    ("ovc", "ids[1,?]", "ids", None, [1, None]),
    ("ATC", "in1:[8~20,3,5,-1]", "in1", None, ["8..20", 3, 5, None]),
    ("pnnx", "[1,3,224,224]f32", None, "float32", [1, 3, 224, 224]),
    ("tract", "1,3,48,218,f32", None, "float32", [1, 3, 48, 218]),
    ("IREE", "1x3x224x224xf32", None, "float32", [1, 3, 224, 224]),
    ("tf2onnx", "x:0[-1,-1,-1,3]", "x:0", None, [None, None, None, 3]),
    ("jax.export", "b, 2*b", None, None, ["b", "2*b"]),
    ("TensorFlow", "[None, 3]", None, None, [None, 3]),
    ("Python tuple", "(3,)", None, None, [3]),
    ("name = shape", "x=[1,2]", "x", None, [1, 2]),
    ("no brackets, colon in the name", "x:0:1x3", "x:0", None, [1, 3]),
    ("scalar", "x:[]", "x", None, []),
    ("type before brackets", "ids:i64:[1,2]", "ids", "int64", [1, 2]),
    ("type without a name", "f16:[1,2]", None, "float16", [1, 2]),
    ("range with a name", "[N=1..8, 3]", None, None, ["N=1..8", 3]),
    ("range with a name, no brackets", "x:N=1..8,3", "x", None, ["N=1..8", 3]),
    ("functions", "max(a,b),(a+b)*2", None, None, ["max(a, b)", "2*a + 2*b"]),
    ("parenthesis first", "(a+b)*2", None, None, ["2*a + 2*b"]),
    ("odd names", "`odd name`:[`batch _size`, 3]", "odd name", None, ["`batch _size`", 3]),
    ("ONNX path as a name", "layers/0::y:f16:[B,4]", "layers/0::y", "float16", ["B", 4]),
    ("a word with an x is one name", "context", None, None, ["context"]),
    ("letters apart by x", "nxcxhxw", None, None, ["n", "c", "h", "w"]),
    ("keep the dims, change the type", "x:[...]f32", "x", "float32", None),
    ("trtexec, quoted name", "'in:0':1x3", "in:0", None, [1, 3]),
    ("jax.export, functions", "floordiv(b, 2), mod(b, 8), max(b, 4)", None, None, ["b//2", "b % 8", "max(b, 4)"]),
    ("ATC, no upper bound", "8~-1,3", None, None, ["8..", 3]),
    ("jax.export, declared axes", "_, b, ...", None, None, [Declared.AXIS, "b", Declared.REST]),
    ("OpenVINO, no brackets", "1..10,?,224", None, None, ["1..10", None, 224]),
    ("tract, names", "N,S,128,f32", None, "float32", ["N", "S", 128]),
    ("polygraphy, scalar input", "b:[1]", "b", None, [1]),
    ("blanks do not matter", "  x :  [ 1 , N ]  ", "x", None, [1, "N"]),
]


@pytest.mark.parametrize(("text", "name", "dtype", "dims"), [row[1:] for row in READ], ids=[row[0] for row in READ])
def test_spec_is_read(text: str, name: str | None, dtype: str | None, dims: list[object] | None) -> None:
    spec = parse_shape_spec(text, Scope())
    assert (spec.name, spec.dtype, dims_as_text(spec)) == (name, dtype, dims)


# Text, position of the mistake (from 0), a part of what was expected.
REFUSED = [
    ("", 0, "a shape"),
    ("x:", 2, "a shape"),
    (":[1]", 0, "name of an input"),
    ("x y:[1]", 0, "backquotes"),
    ("[1,2", 4, "']'"),
    ("1,2]", 3, "operator"),
    ("1,,2", 2, "a dim"),
    ("[1,...,2]", 3, "is for the last axes"),
    ("[1,..,2]", 3, "LO..HI"),
    ("[8..1]", 1, "not empty"),
    ("[N=foo]", 3, "LO..HI"),
    ("x:-3", 2, "at least 0"),
    ("[1,2]q", 5, "element type"),
    ("[a b]", 3, "operator or the end"),
    ("[4//0]", 2, "divisor"),
    ("[foo(1)]", 5, "max"),
    ("[batch-]", 7, "a number, a name"),
    ("{'x':[1,3]}", 0, "instead of a dict"),  # paddle2onnx
    ("[1,3]f32,[1,2]f32", 5, "several need names"),  # pnnx
    ("b^2", 1, "a product"),  # jax
    ("b**n", 3, "an exponent"),
    ("b/n", 1, "'//'"),
    ("[1.5]", 1, "without rest"),
    ("H/2", 1, "'//'"),
    ("['batch', 3]", 1, "without quotes"),  # polygraphy
    ("x:[1,3]{f32}", 7, "element type"),  # ovc
    ("[1 100]", 3, "operator or the end"),
    ("[:,3]", 1, "a number, a name"),
    ("[*,3]", 1, "a number, a name"),
    ("[1..99999999999999999999]", 1, "2**62"),
    ("[99999999999999999999]", 1, "number"),
]


@pytest.mark.parametrize(("text", "position", "expected"), REFUSED)
def test_spec_errors_have_position_and_expectation(text: str, position: int, expected: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_shape_spec(text, Scope())
    assert caught.value.position == position
    assert expected in caught.value.expected
    assert f"character {position + 1}" in str(caught.value)


@given(st.text(alphabet="ab1x9?.~-=:,[]()`f32 +*/%NxX", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_shape_spec(text, Scope())
    except SpecError as error:
        assert 0 <= error.position <= len(text)


def test_new_names_get_the_requested_lower_bound() -> None:
    scope = Scope()
    spec = parse_shape_spec("[n]", scope, lo=0)
    assert spec.dims is not None and isinstance(spec.dims[0], Dimension)
    assert str(parse_shape_spec("[n]", scope).dims) == "(n,)"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a:[1,67,80] b:[1]", ["a:[1,67,80]", "b:[1]"]),
        ("ids[1,?],mask[1,100]", ["ids[1,?]", "mask[1,100]"]),
        ("ids:1x128,mask:1x128", ["ids:1x128", "mask:1x128"]),
        ("in1:[8~20,3,5,-1];in2:[5,3~9,10,-1]", ["in1:[8~20,3,5,-1]", "in2:[5,3~9,10,-1]"]),
        ("x1:1,3,224,224 x2:1,3,224,224", ["x1:1,3,224,224", "x2:1,3,224,224"]),
        ("x:1, 2, 3", ["x:1, 2, 3"]),
        ("1, 3, 4", ["1, 3, 4"]),
        ("x:N=1..8, M", ["x:N=1..8, M"]),
        ("`a b`:1,2 `c d`:3", ["`a b`:1,2", "`c d`:3"]),
        ("a/b:0[1,2],c/d:0[1]", ["a/b:0[1,2]", "c/d:0[1]"]),
    ],
)
def test_split_specs(text: str, pieces: list[str]) -> None:
    assert split_specs(text) == pieces


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("batch=1..8", DimRange(1, 8, "batch")),
        ("batch=1:8", DimRange(1, 8, "batch")),
        ("batch=1~8", DimRange(1, 8, "batch")),
        ("batch=4", DimRange(4, 4, "batch")),
        ("batch=2..", DimRange(2, None, "batch")),
        ("batch=..8", DimRange(None, 8, "batch")),
        ("batch = 1 .. 8", DimRange(1, 8, "batch")),
        ("`batch _size`=1..8", DimRange(1, 8, "batch _size")),
        ("batch _size=1..8", DimRange(1, 8, "batch _size")),
        ("onnx::Add_15=2..3", DimRange(2, 3, "onnx::Add_15")),
    ],
)
def test_dim_range(text: str, expected: DimRange) -> None:
    assert parse_dim_range(text) == expected


@pytest.mark.parametrize(
    "text", ["", "batch", "=1..8", "batch=", "batch=..", "batch=8..1", "batch=a..b", "batch=1..2..3"]
)
def test_dim_range_is_refused(text: str) -> None:
    with pytest.raises(SpecError):
        parse_dim_range(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("batch=4", {"batch": 4}),
        ("batch=4,seq=128", {"batch": 4, "seq": 128}),
        ("batch:4, seq : 128", {"batch": 4, "seq": 128}),
        ("onnx::Add_15:7", {"onnx::Add_15": 7}),
        ("`a,b`=1", {"a,b": 1}),
    ],
)
def test_bindings(text: str, expected: dict[str, int]) -> None:
    assert parse_bindings(text) == expected


@pytest.mark.parametrize("text", ["", "batch", "batch=", "batch=-1", "batch=x", "batch=1,,seq=2", "batch=1,batch=2"])
def test_bindings_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        parse_bindings(text)
