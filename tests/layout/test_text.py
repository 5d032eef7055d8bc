"""The text form: printed text reads back, errors have positions, and XLA's own parser agrees."""

from __future__ import annotations

import importlib.util
import itertools
import re
import warnings

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shapeinf.errors import LayoutSyntaxError, LimitError, UnknownNameError
from shapeinf.expr import Scope, maximum
from shapeinf.lattice import Shape, numpy_dtype
from shapeinf.layout import (
    ELEMENT_TYPES,
    TOKEN,
    ArrayType,
    Layout,
    LayoutError,
    Split,
    TupleType,
    element_type,
    parse_type,
)
from tests.layout.strategies import physical_types
from tests.layout.xla_parser import XlaParser

HAS_XLA = importlib.util.find_spec("jaxlib") is not None
if not HAS_XLA:
    warnings.warn("jaxlib is not installed: the text form is not compared with XLA's own parser", stacklevel=1)
needs_xla = pytest.mark.skipif(not HAS_XLA, reason="jaxlib is not installed")

TOKENS = re.compile(r"[A-Za-z0-9_]+|<=|.")
BLANKS = ["", "", " ", "\t", "/* note */"]


@pytest.fixture(scope="module")
def xla():
    parser = XlaParser()
    yield parser
    parser.close()


@given(physical_types())
def test_printed_text_reads_back(actual):
    assert parse_type(str(actual)) == actual


@given(physical_types(), st.data())
def test_blanks_and_comments_are_ignored(actual, data):
    spaced = "".join(data.draw(st.sampled_from(BLANKS)) + token for token in TOKENS.findall(str(actual)))
    assert parse_type(spaced) == actual


@needs_xla
@given(actual=physical_types())
def test_xla_prints_the_same(xla, actual):
    assert xla(str(actual)) == str(actual)


@needs_xla
@given(actual=physical_types(), data=st.data())
def test_no_text_is_read_that_xla_refuses(xla, actual, data):
    text = str(actual)
    assume("SC" not in text)  # in tuples XLA rejects them for reasons of its own (see strategies)
    at = data.draw(st.integers(0, len(text)))
    changed = text[:at] + data.draw(st.sampled_from([*"()[]{},:0123*<=TLESDCM -f", ""])) + text[at + 1 :]
    try:
        ours = parse_type(changed)
    except LayoutError:
        return
    assert xla(changed) == str(ours)


@given(st.text(alphabet="f32[]{}():,*?<=TLES012 B`+/", max_size=12), physical_types(), st.booleans(), st.data())
def test_every_text_is_read_or_refused_at_a_position(noise, actual, symbolic, data):
    text = str(actual)
    at = data.draw(st.integers(0, len(text)))
    changed = text[:at] + noise + text[data.draw(st.integers(at, len(text))) :]
    try:
        parse_type(changed, Scope() if symbolic else None)
    except LayoutSyntaxError as error:
        assert 0 <= error.position <= len(changed)


def test_symbolic_dims():
    scope = Scope()
    b, s = scope.symbol("B"), scope.symbol("odd, name")
    actual = ArrayType("f32", (2 * b + 1, maximum(b, s), 3), Layout((0, 1, 2)), dynamic=(False, True, False))
    assert parse_type(str(actual), scope) == actual
    with pytest.raises(LayoutSyntaxError, match="']'"):
        parse_type(str(actual))


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("f99[2]", 0, "an element type"),
        ("(f32[2], f33[])", 9, "an element type"),
        ("f32[2,3", 7, "']'"),
        ("f32[2,-3]", 6, "a size"),
        ("f32[<=?]", 6, "a size"),
        ("f32[99999999999999999999]", 4, "at most 19 digits"),
        ("f32[9223372036854775808]", 0, "passes 63 bits"),
        ("f32[4611686018427387904,4]", 0, "bytes of the array pass 63 bits"),
        ("f32[2,3]{2,1,0}", 8, "3 dims, but the array has 2"),
        ("f32[2,3]{0,0}", 8, "dim 0 twice"),
        ("f32[2,3]{2,1}", 8, "must be in 0..1, not 2"),
        ("f32[2,3]{-1,0}", 9, "a dim"),
        ("f32[2,3]{}", 9, "a dim"),
        ("f32[2,3]{1,0:T()}", 15, "a size of a tile"),
        ("f32[2,3]{1,0:T(0,1)}", 15, "a size of a tile"),
        ("f32[2,3]{1,0:T(2,*)}", 8, "cannot be the last"),
        ("f32[2,3]{1,0:T(8,128}", 20, "')'"),
        ("f32[2,3]{1,0:L(0)}", 15, "a number of at least 1"),
        ("f32[2,3]{1,0:E(4)T(2)}", 17, "in this order"),
        ("f32[2,3]{1,0:S(200)}", 8, "memory_space must be in 0..127"),
        ("f32[2,3]{1,0:D(D,C)}", 13, "dense dims only"),
        ("f32[3]{0:SC(0:3)}", 0, "outside of a dim of 3"),
        ("f32[3]{0:SC(0:2,1)}", 6, "rising"),
        ("f32[3]{0:SC(1:1)}", 6, "must be in 0..0"),
        ("token[2]", 6, "']'"),
        ("token[]{0}", 7, "nothing more"),
        ("f32[2])", 6, "nothing more"),
        ("f32[2]/* open", 6, "nothing more"),
        ("", 0, "an element type"),
    ],
)
def test_errors_have_a_position(text, position, expected):
    with pytest.raises(LayoutSyntaxError, match=re.escape(expected)) as caught:
        parse_type(text)
    assert caught.value.position == position
    assert f"at character {position + 1}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "position"), [("f32[B + ]", 8), ("f32[2, B//0]", 8), ("f32[B", 5), ("f32[2 B]", 6), ("f32[-1]", 4)]
)
def test_errors_of_symbolic_dims_point_too(text, position):
    with pytest.raises(LayoutSyntaxError) as caught:
        parse_type(text, Scope())
    assert caught.value.position == position


@pytest.mark.parametrize("text", ["(" * 100 + ")" * 100, "f32[" + ",".join(["1"] * 65) + "]", " " * ((1 << 20) + 1)])
def test_limits(text):
    with pytest.raises(LimitError):
        parse_type(text)


def test_deep_tuples_are_refused():
    with pytest.raises(LimitError):
        for _ in itertools.repeat(None, 100):
            actual = TupleType([TOKEN if _ else TupleType([])])
            for _ in range(100):
                actual = TupleType([actual])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Layout(None), "must be a list of dims"),
        (lambda: Layout((1, 0), tiles=[()]), "a tile must have a size"),
        (lambda: Layout((0,), tail_padding_alignment_in_elements=0), "must be in 1"),
        (lambda: Layout((0,), element_size_in_bits=-4), "must be in 0"),
        (lambda: Layout((0,), memory_space=1.5), "must be an int"),
        (lambda: Layout((0,), splits=[Split(0, (2,)), Split(0, (3,))]), "split twice"),
        (lambda: ArrayType("f32", (-1,)), "a dim is negative"),
        (lambda: ArrayType("f32", ("B",)), "a dim must be"),
        (lambda: ArrayType("f32", Shape.unknown()), "a known rank"),
        (lambda: ArrayType(None, (2,)), "a known element type"),
        (lambda: ArrayType("f32", (None,), dynamic=(False,)), "must be dynamic"),
        (lambda: ArrayType("f32", (2,), dynamic=(False, True)), "2 flags"),
        (lambda: ArrayType("f32", (Scope().symbol("n", -5, -1),)), "a dim is negative"),
        (lambda: ArrayType("f32", (1 << 40, 1 << 30, 0)), "pass 63 bits"),  # the 0 comes too late
        (lambda: ArrayType("f32", ()).dimension_number(-1), "has no dims"),
    ],
)
def test_invalid_texts_are_refused(wrong, message):
    with pytest.raises(LayoutError, match=message):
        wrong()


@pytest.mark.parametrize("dims", [(0, 1 << 40, 1 << 30), (1 << 40, 0, 1 << 30), (None, 1 << 40, 1 << 30)])
def test_a_dim_that_may_be_0_is_multiplied_first(dims):
    assert ArrayType("f32", dims).rank == 3


def test_names_of_element_types():
    with pytest.raises(UnknownNameError, match=r"did you mean .*float32"):
        element_type("flot32")
    assert ArrayType("float32", (2,)) == ArrayType("f32", (2,))


@pytest.mark.parametrize("element", ELEMENT_TYPES, ids=lambda element: element.name)
def test_widths_are_those_of_numpy(element):
    assert numpy_dtype(element.dtype).itemsize == element.bytes
