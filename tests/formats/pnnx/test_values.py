"""Parameters and types as texts: what is written reads back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.formats.pnnx.values import (
    DTYPES,
    MAX_INT,
    TensorText,
    format_tensor,
    is_writable,
    parse_parameter,
    parse_tensor,
)

INTEGERS = st.integers(-MAX_INT - 1, MAX_INT)
FLOATS = st.floats(-3e38, 3e38)
WORDS = st.from_regex(r"[a-zA-Z_@][\w.:@-]{0,8}", fullmatch=True).filter(
    lambda word: word not in ("None", "True", "False")
)
SCALARS = st.one_of(INTEGERS, FLOATS, st.booleans(), WORDS)


def text_of(value):
    """A value as PNNX writes it."""
    if isinstance(value, tuple):
        return f"({','.join(map(text_of, value))})"
    if isinstance(value, complex):
        return f"{value.real:e}{value.imag:+e}j"
    return f"{value:.9e}" if isinstance(value, float) else str(value)


@given(st.one_of(st.none(), SCALARS, st.lists(SCALARS, min_size=1).map(tuple)))
def test_parameters_read_back(value):
    result = parse_parameter(text_of(value))
    assert type(result) is type(value)
    items = value if isinstance(value, tuple) else (value,)
    for read, item in zip(result if isinstance(value, tuple) else (result,), items, strict=True):
        assert type(read) is type(item)
        assert read == item or math.isclose(read, item, rel_tol=1e-6)


@given(st.complex_numbers(max_magnitude=1e30, allow_subnormal=False))
def test_complex_numbers_read_back(value):
    assert parse_parameter(text_of(value)) == pytest.approx(value, rel=1e-5, abs=1e-30)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", ""),
        ("()", ()),
        ("(", ("",)),
        ("(,)", ("", "")),
        ("[2,0", (2, "")),
        ("-", "-"),
        ("--1", "--1"),
        ("007", 7),
        ("1x1", 1),
        ("5e", 5.0),
        ("1.", 1.0),
        ("-2147483648", -(2**31)),
        ("-3.402823e+38", -3.402823e38),
        ("nan", "nan"),
        ("torch.long", "torch.long"),
        ("(1,%n)", (1, "%n")),
        ("\u0663", "\u0663"),
    ],
)
def test_forms(text, value):
    result = parse_parameter(text)
    assert (result, type(result)) == (value, type(value))


@pytest.mark.parametrize(
    "text", ["2147483648", "-2147483649", "(1,99999999999)", "9" * 5000, "1e39", "-1e999", "1e39+1e1j"]
)
def test_numbers_past_32_bits(text):
    with pytest.raises(ValueError, match="does not fit into"):
        parse_parameter(text)


EXPRESSIONS = ("batch", "2*batch", "batch + 1", "(height + 3)//4", "max(batch, 2*seq + 1)", "x.shape[0]", "h % 2")
DIMS = st.one_of(st.none(), st.integers(0, MAX_INT), st.sampled_from(EXPRESSIONS))


@given(st.sampled_from([None, *DTYPES.values()]), st.lists(DIMS, min_size=1, max_size=9))
def test_types_read_back(dtype, dims):
    """Blanks are left out: they separate the fields of a line."""
    text = format_tensor(TensorText(dtype, tuple(dims)))
    result = parse_tensor(text)
    assert " " not in text
    assert result.dtype == dtype
    assert [squeezed(dim) for dim in result.dims] == [squeezed(dim) for dim in dims]


def squeezed(dim):
    return dim.replace(" ", "") if isinstance(dim, str) else dim


@pytest.mark.parametrize("dim", ["", "a b", "a;b", "a,b", "`a + b`", "(let p = h//2 in p*p + p)", "a\u00a0b", "a\0"])
def test_sizes_that_cannot_be_written(dim):
    assert not is_writable(dim)
    with pytest.raises(ValueError, match="cannot be written"):
        format_tensor(TensorText("float32", (dim,)))


MALFORMED = """
f32 (1) (1)F32 (1,)f32 (,)f32 (%)f32 (1)f32x (\u0663)f32 (+1)f32 (1)u16 (1)string [1]f32 (1)f32(1)f32 (1.0)f32 (1e1)f32
(99999999999)f32 (1)f32) ((1)f32 (0x1)f32 (??)f32 (-0)f32
"""


@pytest.mark.parametrize("text", ["", *MALFORMED.split()])
def test_malformed_types(text):
    with pytest.raises(ValueError, match=r"is not|does not fit"):
        parse_tensor(text)
