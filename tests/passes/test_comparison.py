"""Comparisons of pairs of models: equal, other numbers, or one of them does not run."""

from __future__ import annotations

import onnx_ir as ir
import pytest
from onnx import parser

from shapeinf.passes.comparison import compare

pytest.importorskip("onnxruntime")


def model(nodes: str) -> ir.Model:
    text = f"""<ir_version: 8, opset_import: ["": 17]> g (float[n, 4] x) => (float[n, 4] y)
    <float[4] w = {{1, 2, 3, 4}}, int64[2] s = {{3, 5}}> {{ {nodes} }}"""
    return ir.from_proto(parser.parse_model(text))


PLAIN = "y = Add(x, w)"
REFUSED = "z = Reshape(x, s) y = Add(z, w)"


@pytest.mark.parametrize(
    ("original", "cleaned", "runs", "difference", "refused"),
    [
        (PLAIN, "z = Identity(x) y = Add(w, z)", 2, "", False),
        (PLAIN, "y = Mul(x, w)", 2, "y: numbers differ by", False),
        (PLAIN, "a = Abs(x) b = Neg(a) y = Sqrt(b)", 2, "y: other infinities or NaNs", False),
        (PLAIN, REFUSED, 0, "the cleaned model does not run", False),
        (REFUSED, PLAIN, 0, "", True),
        ("y = RandomNormalLike(x)", "y = RandomNormalLike(x)", 2, "", False),
    ],
    ids=["equal", "numbers", "nan", "result refused", "original refused", "random"],
)
def test_comparison(original, cleaned, runs, difference, refused):
    comparison = compare(model(original), model(cleaned))
    assert len(comparison.bindings) == runs
    assert bool(comparison.differences) == bool(difference)
    assert all(text.startswith(difference) for text in comparison.differences)
    assert bool(comparison.refused) == refused
    assert comparison.equal == (not difference and not refused)


@pytest.mark.parametrize("shape", ["?, 4, ?", "n, 4, ?", "?, 4, n", "n, 4, m"])
def test_axes_without_a_name_next_to_named_axes(shape):
    """Both runs have sizes for all of them, the second larger ones."""
    text = f"g (float[{shape}] x) => (float[{shape}] y) {{ same = Identity (x) y = Relu (same) }}"
    model = ir.from_proto(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}'))
    comparison = compare(model, model)
    assert comparison.equal and len(comparison.bindings) == 2
    first, second = comparison.bindings
    assert len(first) == 2 and all(second[name] == first[name] + 1 for name in first)
