"""Declared types of a traced run: they hold for the sizes of its inputs, and are ignored unless requested."""

from __future__ import annotations

import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check

CONV = "bias=False dilation=(1,1) groups=1 in_channels=3 kernel_size=(3,3) out_channels=8 padding=(1,1) stride=(1,1)"
WEIGHT = "padding_mode=zeros @weight=(8,3,3,3)f32"


def network(sizes="1,3,16,16", of_custom="1,3,4,4", of_conv="1,8,4,4", conv_input="1"):
    """An operator without a rule, and a convolution of its output, or of the input."""
    return f"""7767517
5 4
pnnx.Input               pnnx_input_0             0 1 0 #0=({sizes})f32
my.Pool                  pool1                    1 1 0 1 #0=({sizes})f32 #1=({of_custom})f32
nn.Conv2d                conv                     1 1 {conv_input} 2 {CONV} {WEIGHT} #2=({of_conv})f32
my.Pool                  pool2                    1 1 2 3
pnnx.Output              pnnx_output_0            1 0 3
"""


STATIC, DYNAMIC = network(), network("1,3,?,?", "1,3,4,?", "1,8,4,?")
TRACED, OTHER, NAMED, EQUAL = ([1, 3, *sizes] for sizes in ((16, 16), (8, 8), ("h", "w"), ("h", "h")))
UNUSED = "S121"


def codes(result):
    return [d.code for d in result.diagnostics if d.code != "S201"]


def test_annotations_are_ignored_by_default():
    result = infer_shapes(STATIC)
    assert result.tensors["1"].shape.dims is None
    assert result.tensors["1"].dtype is None
    warnings = [d for d in result.diagnostics if d.code == "S201"]
    assert [(d.node, d.op) for d in warnings] == [("pool1", "my.Pool")]


def test_they_are_trusted_for_the_traced_sizes():
    for inputs in (None, {"0": TRACED}):
        result = infer_shapes(STATIC, declared="trust", inputs=inputs)
        assert [str(result.tensors[name]) for name in "12"] == ["float32[1, 3, 4, 4]", "float32[1, 8, 4, 4]"]
        assert codes(result) == []


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        (STATIC, OTHER),
        (STATIC, NAMED),
        (DYNAMIC, None),
        (DYNAMIC, TRACED),
        (DYNAMIC, NAMED),
        (DYNAMIC, EQUAL),
    ],
)
def test_of_other_sizes_only_element_types_and_ranks_are_trusted(text, inputs):
    """A size that is the same at two traced sizes may still depend on them."""
    result = infer_shapes(text, declared="trust", inputs={"0": inputs} if inputs else None)
    pooled = result.tensors["1"]
    assert pooled.dtype == "float32"
    assert [d if isinstance(d, int) else None for d in pooled.shape] == [None, 3, None, None]  # the convolution has 3
    assert codes(result) == [UNUSED]


@pytest.mark.parametrize("spec", ["0:f16[1,3,16,16]", "0:[3,16,16]"])
def test_of_other_types_of_inputs_nothing_is_trusted(spec):
    result = infer_shapes(STATIC, declared="trust", inputs=spec)
    assert (result.tensors["1"].dtype, result.tensors["1"].shape.dims) == (None, None)
    assert codes(result) == [UNUSED]


WRONG = network(of_conv="1,9,16,16", conv_input="0")
WRONG_DYNAMIC = network("1,3,?,?", of_conv="1,9,?,?", conv_input="0")


@pytest.mark.parametrize("how", ["check", "trust"])
@pytest.mark.parametrize(("text", "inputs"), [(WRONG, None), (WRONG_DYNAMIC, None), (WRONG_DYNAMIC, NAMED)])
def test_differences_are_reported_at_their_node(how, text, inputs):
    result = infer_shapes(text, declared=how, inputs={"0": inputs} if inputs else None)
    (difference,) = [d for d in result.diagnostics if d.code == "S120"]
    assert difference.node == "conv"
    assert difference.message == "the declared size of 2.shape[1] (9) differs from the inferred one (8)"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (WRONG, {"inputs": {"0": OTHER}}),
        (WRONG, {"inputs": {"0": NAMED}}),
        (WRONG_DYNAMIC, {"inputs": {"0": OTHER}}),
        (WRONG_DYNAMIC, {"inputs": {"0": EQUAL}}),
        (WRONG_DYNAMIC, {"inputs": {"0": NAMED}, "dims": {"h": "1..8"}}),
        (WRONG_DYNAMIC, {"inputs": {"0": NAMED}, "bind": {"h": 8}}),
        (WRONG_DYNAMIC, {"inputs": {"0": NAMED}, "assume": "h <= w"}),
        (WRONG_DYNAMIC, {"inputs": {"0": NAMED}, "assume": "h % 32 == 0"}),
        (WRONG_DYNAMIC, {"min_dim": 4}),
    ],
)
def test_nothing_is_compared_where_the_traced_sizes_may_be_excluded(text, options):
    assert codes(infer_shapes(text, declared="check", **options)) == [UNUSED]
    assert codes(infer_shapes(text, **options)) == []


@pytest.mark.parametrize(
    "of_conv",
    ["1,8,?,?", "1,8,16,?", "?,8,?,?", "?,?,?,?"],
)
def test_a_size_that_may_be_the_traced_one_is_no_difference(of_conv):
    """The height may have been 16 in both runs, and `?` is any size."""
    text = network("1,3,?,?", of_conv=of_conv, conv_input="0")
    result = infer_shapes(text, declared="check")
    assert codes(result) == []
    assert [d for d in check(result) if d.fails] == []


def test_unknown_sizes_of_two_axes_stay_two_symbols():
    shape = infer_shapes(DYNAMIC).tensors["0"].shape
    assert [str(d) for d in shape] == ["1", "3", "pnnx_input_0.shape[2]", "pnnx_input_0.shape[3]"]
    assert shape[2] != shape[3]


def test_named_axes_are_symbols():
    result = infer_shapes(network("1,3,%h,%h", "1,3,?,?", "1,8,%h,%h", conv_input="0"), declared="check")
    assert str(result.tensors["2"]) == "float32[1, 8, h, h]"
    assert codes(result) == []


def test_an_update_decides_anew():
    result = infer_shapes(WRONG, declared="check")
    assert codes(result) == ["S120"]
    other = result.update({"0": OTHER})
    assert codes(other) == [UNUSED]
    assert codes(other.update({"0": TRACED})) == ["S120"]


@pytest.mark.parametrize("text", [WRONG, WRONG_DYNAMIC])
def test_check_finds_a_damaged_annotation(text):
    first, *others = [d for d in check(infer_shapes(text, declared="check")) if d.fails]
    assert (first.code, first.node, first.tensor) == ("C110", "conv", "2")
    assert "is declared as 9 on axis 1 but the graph computes 8" in first.message
    assert not others


def test_check_does_not_compare_other_sizes():
    result = infer_shapes(WRONG, declared="check", inputs={"0": OTHER})
    assert [d for d in check(result) if d.fails] == []
