"""A range of the user with sizes that a node does not allow is a finding, at its node; other ranges are none."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check

WINDOW = "g (float[batch, 3, height, 32] x, float[4, 3, 7, 7] w) => (y) { y = Conv (x, w) }"
"""A window of 7 rows without padding."""
TABLE = """g (int64[batch, seq] tokens, float[512, 8] table) => (y) {
    shape = Shape <start = 1> (tokens)
    seq = Squeeze (shape)
    first = Constant <value = int64 {0}> ()
    step = Constant <value = int64 {1}> ()
    positions = Range (first, seq, step)
    y = Gather (table, positions)
}"""
"""A position for each token, of 512."""

CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    (TABLE, {"seq": "1..1024"}, ["seq is requested as 1..1024, but the graph requires seq <= 512"]),
    (TABLE, {"seq": (2, 513)}, ["seq is requested as 2..513, but the graph requires seq <= 512"]),
    (TABLE, {"seq": "1..512", "batch": "1..8"}, []),
    (TABLE, {"batch": "1..8"}, []),
    (TABLE, {"seq": "1.."}, []),
    (TABLE, {}, []),
    (WINDOW, {"height": "2..64"}, ["height is requested as 2..64, but the graph requires height >= 7"]),
    (WINDOW, {"height": "7..64"}, []),
    (WINDOW, {"height": "1..64"}, []),
]


def parse(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')


@pytest.mark.parametrize(("text", "dims", "messages"), CASES)
def test_a_range_that_passes_a_bound_is_reported(text: str, dims: dict[str, Any], messages: list[str]) -> None:
    diagnostics = check(infer_shapes(parse(text), dims=dims, declared="check", mode="best"), dims)
    assert [(d.code, d.severity, d.message) for d in diagnostics] == [("C106", "warning", m) for m in messages]


def test_the_help_has_the_legal_part() -> None:
    result = infer_shapes(parse(TABLE), dims={"seq": "4..1024"}, declared="check", mode="best")
    (diagnostic,) = check(result, {"seq": "4..1024"})
    assert (diagnostic.op, diagnostic.help) == ("Gather", "request seq as 4..512")


def test_an_axis_without_a_name() -> None:
    dims = {"tokens.shape[1]": "1..1024"}
    result = infer_shapes(parse(TABLE.replace("seq] tokens", "?] tokens")), dims=dims, declared="check", mode="best")
    assert [diagnostic.code for diagnostic in check(result, dims)] == ["C106"]


def test_few_sizes_are_another_finding() -> None:
    dims = {"seq": "1..1024"}
    result = infer_shapes(parse(TABLE.replace("512", "3")), dims=dims, declared="check", mode="best")
    codes = {diagnostic.code for diagnostic in check(result, dims)}
    assert "C101" in codes and "C106" not in codes
