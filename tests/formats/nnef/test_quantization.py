"""Quantization files: accepted ones, and errors with their positions."""

from __future__ import annotations

import pytest

from opdefs.nnef.library import library
from shapeinf.errors import NnefError
from shapeinf.formats.nnef.checking.library import Library
from shapeinf.formats.nnef.files.quantization import check_quantization, parse_quantization
from shapeinf.formats.nnef.language.diagnostics import SourceText

LIBRARIES = {dialect: Library(library(dialect)) for dialect in ("final", "provisional")}
ZERO_POINT = "bits = 8, signed = true, symmetric = false"


def checked(text, dialect="final", names=("x", "y")):
    source = SourceText(text, "graph.quant")
    entries = parse_quantization(source, dialect)
    return check_quantization(entries, source, LIBRARIES[dialect], names, exact=dialect == "final")


@pytest.mark.parametrize(
    ("text", "dialect", "tensors"),
    [
        ("", "final", []),
        ("# nothing\n", "final", []),
        ('"x": linear_quantize(min = 0.0, max = 1.0, bits = 8);', "final", []),
        ("'x': linear_quantize(bits = 8, max = +1.0, min = -1e3);", "final", None),
        ("'x': linear_quantize(-1.0, 1.0, bits = 8);", "final", []),
        (f"'x': zero_point_linear_quantize(zero_point = 0, scale = 0.5, {ZERO_POINT});", "final", []),
        ("'x': linear_quantize(min = [[0.0, 1.0]], max = [2.0], bits = 8);", "final", [("min", (1, 2)), ("max", (1,))]),
        ("'x': linear_quantize(min = 0.0, max = 1.0, bits = 8)", "provisional", []),
        (
            "'x': linear_quantize(min = 0, max = 1, bits = 8)\n'y': logarithmic_quantize(max = 1.0, bits = 4)",
            "provisional",
            [],
        ),
    ],
)
def test_entries(text, dialect, tensors):
    if tensors is None:
        with pytest.raises(NnefError):  # a sign is part of a literal, but only a minus
            checked(text, dialect)
        return
    assert [(t.parameter, t.shape) for t in checked(text, dialect)] == tensors


@pytest.mark.parametrize(
    ("text", "codes", "line", "column"),
    [
        ("\n'z': linear_quantize(min = 0.0, max = 1.0, bits = 8);", ["N710"], 2, 1),
        ("'x': linear_quantize(min = 0.0, max = 1.0, bits = 8);\n" * 2, ["N711"], 2, 1),
        ("'x': squeeze_all(bits = 8);", ["N712"], 1, 6),
        ("'x': split(axis = 1, ratios = [1]);", ["N712"], 1, 6),
        ("'x': linear_quantize(min = 0.0, max = 1.0);", ["N713"], 1, 6),
        ("'x': linear_quantize(min = 0.0, max = 1.0, bits = 8, bits = 8);", ["N713"], 1, 54),
        ("'x': linear_quantize(min = 0.0, max = 1.0, bits = 8, bit = 8);", ["N713"], 1, 54),
        ("'x': linear_quantize(0.0, 1.0, 8, 9);", ["N713"], 1, 35),
        ("'x': linear_quantize(x = 1.0, min = 0.0, max = 1.0, bits = 8);", ["N713"], 1, 22),
        ("'x': linear_quantize(min = x, max = 1.0, bits = 8);", ["N714"], 1, 28),
        ("'x': linear_quantize(min = 0.0, max = 1.0 + 1.0, bits = 8);", ["N714"], 1, 43),
        ("'x': linear_quantize(min = 0.0, max = abs(1.0), bits = 8);", ["N714"], 1, 39),
        ("'x': linear_quantize(min = 0.0, max = 1.0, bits = 8.0);", ["N714"], 1, 51),
        ("'x': linear_quantize(min = 0, max = 1.0, bits = 8);", ["N714"], 1, 28),
        ("'x': linear_quantize(min = true, max = '1', bits = [8]);", ["N714"] * 3, 1, 28),
        ("'x': linear_quantize(min = [[0.0], [1.0, 2.0]], max = 1.0, bits = 8);", ["N714"], 1, 28),
        ("'x': linear_quantize(min = [], max = 1.0, bits = 8);", ["N714"], 1, 28),
        ("'x': linear_quantize(min = [0.0, 1], max = 1.0, bits = 8);", ["N714"], 1, 28),
        ("'x': linear_quantize(min = 0.0, max = 1.0, bits = 8)", ["N201"], 1, 53),
        ("x: linear_quantize(min = 0.0, max = 1.0, bits = 8);", ["N201"], 1, 1),
        ("'x' linear_quantize(bits = 8);\n'y' = a(b = 1);", ["N201", "N201"], 1, 5),
        ("'x': linear_quantize;", ["N201"], 1, 6),
        ("'x': 8;", ["N201"], 1, 6),
        ("'x", ["N103"], 1, 1),
        ("'x': " + "[" * 100_000, ["N903"], 1, None),
    ],
)
def test_problems(text, codes, line, column):
    with pytest.raises(NnefError) as caught:
        checked(text)
    error = caught.value
    assert [p.code for p in error.diagnostics] == codes
    assert error.line == line and (column is None or error.column == column), error
    assert str(error).startswith(f"graph.quant:{line}:")
