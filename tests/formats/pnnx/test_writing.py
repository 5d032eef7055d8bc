"""Networks with inferred types: every byte of the rest stays, and what is written reads back."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import infer_shapes
from shapeinf.edit.bind import bind
from shapeinf.edit.rebatch import rebatch
from shapeinf.errors import ModelError
from shapeinf.formats import FORMATS
from shapeinf.formats.annotation import Annotation
from shapeinf.formats.pnnx.writer import annotate
from shapeinf.graph import Graph
from shapeinf.inputs.options import InferenceOptions
from tests.formats.pnnx.networks import CONVOLUTION, INPUT, network
from tests.formats.pnnx.rewriting import rewrite


def saved(result):
    """The text that is written."""
    target = io.StringIO()
    result.save(target)
    return target.getvalue()


def types(text):
    """The types in a text, by blob."""
    fields = [field.partition("=") for line in text.splitlines() for field in line.split() if field[0] == "#"]
    return {blob.removeprefix("#"): type_ for blob, _, type_ in fields}


def test_a_network_with_equal_types_stays_as_it_is(tmp_path):
    assert saved(infer_shapes(CONVOLUTION)) == CONVOLUTION
    path = tmp_path / "net.pnnx.param"
    infer_shapes(CONVOLUTION).save(path)
    assert path.read_bytes() == CONVOLUTION.encode()
    infer_shapes(path).save(path)
    assert path.read_bytes() == CONVOLUTION.encode()


SPECS = {
    "names": (["batch", 3, "h", "w"], "(%batch,3,%h,%w)f32", "(%batch,8,%(h+1)//2,%(w+1)//2)f32"),
    "expressions": (["2*n", 3, "2*h + 1", 8], "(%2*n,3,%2*h+1,8)f32", "(%2*n,8,%h+1,4)f32"),
    "functions": (["max(n, 2)", 3, 1, 1], "(%max(n;2),3,1,1)f32", "(%max(n;2),8,1,1)f32"),
    "numbers": ([4, 3, 224, 224], "(4,3,224,224)f32", "(4,8,112,112)f32"),
    "large numbers": ([2**31, 3, 1, 1], "(?,3,1,1)f32", "(?,8,1,1)f32"),
    "names of two words": (["`batch size`", 3, 1, 1], "(?,3,1,1)f32", "(?,8,1,1)f32"),
}


@pytest.mark.parametrize(("spec", "first", "second"), SPECS.values(), ids=list(SPECS))
def test_sizes(spec, first, second):
    result = infer_shapes(CONVOLUTION, inputs={"0": spec})
    text = saved(result)
    assert types(text) == {"0": first, "1": second}
    again = infer_shapes(text)
    assert "?" in first or str(again.tensors["1"]) == str(result.tensors["1"])
    assert saved(again) == text
    assert "@weight=(8,3,3,3)f32 $input=0" in text


def test_values_without_a_type():
    """An unknown rank, a scalar, a list of numbers, and a tuple have none; other element types are null."""
    lines = [
        INPUT.replace("(1,3,?,?)f32", "(2,3)null"),
        "pnnx.Input scalar 0 1 1",
        "my.Op unknown 1 1 0 2 #0=(2,3)null #2=(9)f32",
        "pnnx.Expression sizes 1 1 0 3 expr=[size(@0,1),-1]",
        "prim::TupleConstruct pair 2 1 0 1 4",
        "pnnx.Output pnnx_output_0 2 0 4 2",
    ]
    assert types(saved(infer_shapes(network(*lines), inputs={"1": "int64[]"}, declared="ignore"))) == {"0": "(2,3)null"}


def test_types_that_a_file_does_not_repeat():
    """The PNNX of 2022 has no types at some outputs."""
    text = CONVOLUTION.replace("1 0 1 #1=(1,8,?,?)f32", "1 0 1")
    assert rewrite(text) == text
    changed = saved(infer_shapes(text, inputs={"0": [2, 3, 4, 4]}))
    assert changed.splitlines()[-1].endswith("1 0 1 #1=(2,8,2,2)f32")


def test_white_space_becomes_that_of_pnnx():
    text = "\ufeff" + CONVOLUTION.replace("    ", "\t").replace("\n", "\r\n\r\n").replace("\r\n\r\n", "\r\n", 1)
    assert rewrite(text) == CONVOLUTION


def test_a_name_that_is_too_long_for_its_column():
    line = f"my.{'Op' * 20} {'name' * 10} 1 0 0 #0=(1,3,?,?)f32"
    assert rewrite(network(INPUT, line)).splitlines()[3] == line


# -- other inputs ----------------------------------------------------------------------------------------------------


def test_bind_declares_its_inputs():
    bound = bind(CONVOLUTION, {"h": 8}, options=InferenceOptions(inputs={"pnnx_input_0": ["batch", 3, "h", "h"]}))
    assert types(saved(bound)) == {"0": "(%batch,3,8,8)f32", "1": "(%batch,8,4,4)f32"}


def test_rebatch_makes_an_axis_a_symbol():
    assert types(saved(rebatch(CONVOLUTION))) == {"0": "(%batch,3,?,?)f32", "1": "(%batch,8,?,?)f32"}


REFUSED = {
    "range": ({"h": (2, 8)}, ["batch", 3, "h", 8], "a .param file cannot express the assumption 'h >= 2'"),
    "name": ({}, ["`batch size`", 3, 8, 8], "cannot express the size `batch size`"),
    "number": ({}, [2**31, 3, 8, 8], "cannot express the size 2147483648"),
}


@pytest.mark.parametrize(("dims", "spec", "cause"), REFUSED.values(), ids=list(REFUSED))
def test_requests_that_a_file_cannot_express(dims, spec, cause, tmp_path):
    path = tmp_path / "net.pnnx.param"
    bound = bind(CONVOLUTION, dims, options=InferenceOptions(inputs={"0": spec}))
    with pytest.raises(ModelError, match="cannot express") as error:
        bound.save(path)
    assert cause in str(error.value)
    assert not path.exists()


def test_constants_cannot_be_rewritten():
    graph = FORMATS.load(CONVOLUTION)
    with pytest.raises(ModelError, match="does not have the contents of constants"):
        annotate(graph.model, Annotation({}, constants={"conv.bias": graph.constants["conv.bias"]}))


def test_a_graph_of_another_source():
    with pytest.raises(ModelError, match="was not read from a network of PNNX"):
        FORMATS.save(Graph(dialect="pnnx"), Annotation({}), io.StringIO())


def test_a_name_without_utf_8(tmp_path):
    result = infer_shapes(CONVOLUTION.replace(" conv ", " \ud800 "))
    with pytest.raises(ModelError, match="is not UTF-8"):
        result.save(tmp_path / "net.param")


# -- random networks -------------------------------------------------------------------------------------------------

NAMES = st.text(st.characters(min_codepoint=33, exclude_categories=("Z", "C")), min_size=1, max_size=9)
KEYS = st.from_regex(r"[a-z_][a-z_0-9]{0,9}", fullmatch=True)
VALUES = st.one_of(
    st.integers(-(2**31), 2**31 - 1).map(str),
    st.sampled_from(("None", "True", "(1,2)", "(a,b)", "()", "1.5e-05", "a=b", "%n", "(1", "[size(@0,0),-1]")),
)
TYPES = st.lists(st.one_of(st.integers(0, 99).map(str), st.just("?")), min_size=1, max_size=5)


@st.composite
def networks(draw):
    """Lines of operators that PNNX could have written, with names of any characters."""
    names = iter(draw(st.lists(NAMES, min_size=15, max_size=15, unique=True)))
    types, lines = {}, []
    for _ in range(draw(st.integers(1, 5))):
        inputs = draw(st.lists(st.sampled_from(sorted(types)), max_size=3)) if types else []
        outputs = [next(names) for _ in range(draw(st.integers(0, 2)))]
        types |= {blob: f"({','.join(draw(TYPES))}){draw(st.sampled_from(['f32', 'i64', 'null']))}" for blob in outputs}
        fields = [f"{key}={draw(VALUES)}" for key in sorted(draw(st.sets(KEYS, max_size=3)))]
        fields += [f"@{key}=(2,3)f16" for key in sorted(draw(st.sets(KEYS, max_size=2)))]
        fields += [f"$arg{number}={blob}" for number, blob in enumerate(inputs)]
        fields += [f"#{blob}={types[blob]}" for blob in (*inputs, *outputs) if "=" not in blob]
        head = f"{draw(KEYS):<24} {next(names):<24} {len(inputs)} {len(outputs)}"
        lines.append(" ".join([head, *inputs, *outputs, *fields]))
    return network(*lines)


@given(networks())
def test_random_networks_stay_as_they_are(text):
    assert rewrite(text) == rewrite(text.encode()) == text
