"""Declared sizes in texts of other tools: a wrong one has a counterexample, another form of a right one is silent."""

from __future__ import annotations

import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check
from tests.checks.models import model, node

POOLED = {
    "sympy": ["floor(h/2 - 1/2) + 1", "ceiling(h/2)", "floor(h/2 + 1/2)", "Max(1, ceiling(h/2))", "h - floor(h/2)"],
    "torch": ["((h - 1)//2) + 1", "FloorDiv(h - 1, 2) + 1", "CeilToInt(IntTrueDiv(h, 2))", "h - (h//2)"],
    "jax": ["floordiv(h + 1, 2)", "max(floordiv(h + 1, 2), 1)", "h + -1*floordiv(h, 2)"],
    "onnx": ["CeilToInt(h, 2)", "(h - 1)//2 + 1", "Max(CeilToInt(h, 2), 1)", "(h + h%2)/:2"],
    "ours": ["(h + 1)//2", "ceildiv(h, 2)", "(let p1 = h//2 in h - p1)"],
}
"""Texts of `ceil(h / 2)`, by their writer."""

WRONG = {
    "sympy": ["floor(h/2)", "floor(h/2) + 5", "ceiling(h/3)", "Min(4, ceiling(h/2))", "floor(h/2 - 1/2)"],
    "torch": ["h//2", "((h - 1)//2)", "CeilToInt(IntTrueDiv(h, 4))", "Mod(h, 2) + 1", "PythonMod(h - 1, 2)"],
    "jax": ["floordiv(h, 2)", "h + -1*floordiv(h + 1, 2)", "mod(h, 2) + 1"],
    "onnx": ["CeilToInt(h, 3)", "h & CeilToInt(h, 3)", "h%2 + 1", "(h - h%2)/:2"],
    "ours": ["h//2", "(let p1 = h//2 in p1 + 1)"],
}
"""Texts of other sizes."""


def pooled(text, output="h2"):
    """x [1, 3, h, 8], pooled with a stride of 2 and a padding of 1: the interior value p has the text."""
    nodes = [
        node("MaxPool", "x", "p", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Relu", "p", "y"),
    ]
    return model(nodes, {"x": [1, 3, "h", 8]}, {"y": [1, 3, output, 4]}, {"p": [1, 3, text, 4]})


def texts(table):
    return [pytest.param(text, id=f"{writer}: {text}") for writer, group in table.items() for text in group]


@pytest.mark.parametrize("text", texts(POOLED))
def test_another_form_of_the_size_is_no_difference(text) -> None:
    result = infer_shapes(pooled(text, text), declared="check")
    assert [d for d in check(result) if d.fails or d.code == "S110"] == []


@pytest.mark.parametrize("text", texts(WRONG))
def test_another_size_is_a_difference_with_an_example(text) -> None:
    diagnostics = check(infer_shapes(pooled(text, text), declared="check"))
    assert [d.code for d in diagnostics if d.fails] == ["C110", "C111"]
    assert f"declared as {text} on axis 2 but the graph computes (h + 1)//2: " in diagnostics[0].message
    assert " for h = " in diagnostics[0].message


def test_a_name_that_needs_quotes_is_read_in_the_texts_of_other_tools() -> None:
    """onnxruntime's tool writes names as they are: `2*batch size`, `floor(in-rows/2)`."""
    for name in ("batch size", "in-rows", "x.rows", "2_rows", "a/b:0"):
        for text, codes in ((f"floor({name}/2 - 1/2) + 1", []), (f"floor({name}/2) + 5", ["C110"])):
            proto = pooled(text)
            proto.graph.input[0].type.tensor_type.shape.dim[2].dim_param = name
            assert [d.code for d in check(infer_shapes(proto, declared="check")) if d.fails] == codes, text


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("floor(h*0.333333333333333)", True),
        ("h/2", True),
        ("h^2", True),  # a power in jax, a maximum in the proposal for ONNX
        ("round(h)", True),
        ("h +", True),
        ("h/w", False),  # w is no dim of an input, so that the text is no statement about h alone
        ("k + 1", False),
        ("rows-in", False),
        ("onnx::MaxPool_12", False),
        ("unk__12", False),
    ],
)
def test_arithmetic_that_is_not_read_has_one_note(text, noted) -> None:
    for run in (
        infer_shapes(pooled(text, text)).diagnostics,
        check(infer_shapes(pooled(text, text), declared="check")),
    ):
        assert [d.code for d in run if d.fails] == []
        assert [d.code for d in run].count("S110") == noted
