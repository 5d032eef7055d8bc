"""Random models of each operator of TensorFlow Lite, against what LiteRT did with them: shapes, contents, refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from opdefs.rules.contents.coverage import unevaluated
from opdefs.tflite import tflite
from opdefs.tflite.schemas import CUSTOM, operators
from tests.opdefs.tflite.case import Case
from tests.opdefs.tflite.draws import DRAWINGS, draw_case
from tests.opdefs.tflite.graphs import compare, folded
from tests.opdefs.tflite.record import RECORDED

TABLE: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))

WITHOUT_KERNEL = {
    *("CALL", "CONCAT_EMBEDDINGS"),
    *(f"STABLEHLO_{name}" for name in ("ABS", "AND", "BROADCAST_IN_DIM", "CBRT", "CLAMP", "COMPARE", "CONCATENATE")),
    *(f"STABLEHLO_{name}" for name in ("CONVERT", "CONVOLUTION", "COSINE", "CUSTOM_CALL", "DIVIDE", "DOT_GENERAL")),
    *(f"STABLEHLO_{name}" for name in ("DYNAMIC_SLICE", "DYNAMIC_UPDATE_SLICE", "EXPONENTIAL", "FLOOR", "IOTA")),
    *(f"STABLEHLO_{name}" for name in ("LOG", "LOGISTIC", "NEGATE", "OR", "POWER", "REDUCE", "REMAINDER", "RESHAPE")),
    *(f"STABLEHLO_{name}" for name in ("RSQRT", "SELECT", "SLICE", "SORT", "SUBTRACT", "TANH", "TRANSPOSE", "WHILE")),
}
"""The operators of the schema for which LiteRT has no kernel."""

OTHER_TESTS = {
    **dict.fromkeys(("IF", "WHILE", "CALL_ONCE", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE"), "test_subgraphs"),
    **dict.fromkeys(("STABLEHLO_REDUCE_WINDOW", "STABLEHLO_SCATTER"), "test_subgraphs"),
    **dict.fromkeys(("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"), "test_subgraphs"),
    **dict.fromkeys(("HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE"), "test_subgraphs"),
    "SKIP_GRAM": "its output is a list of texts of unknown length",
    "DENSIFY": "its input is a sparse constant",
}
"""Operators that need more than one node, and where they are tested."""


def test_every_operator_has_a_rule_and_a_case() -> None:
    assert [name for name in operators() if not tflite.has_rule("", name)] == []
    assert {*operators()} == ({*TABLE} | WITHOUT_KERNEL | {*OTHER_TESTS}) - {name for _, name, _ in custom_rules()}
    assert {*TABLE} == {*DRAWINGS}


def custom_rules() -> list[tuple[str, str, int]]:
    return [key for key in tflite if key[0] == CUSTOM]


@pytest.mark.parametrize("name", TABLE)
def test_the_rule_agrees_with_the_kernel(name: str) -> None:
    found = {seed: compare(draw_case(name, int(seed)), truth) for seed, truth in TABLE[name].items()}
    assert {seed: texts for seed, texts in found.items() if texts} == {}


def test_every_operator_has_a_case_that_runs() -> None:
    assert [name for name, cases in TABLE.items() if all("refused" in truth for truth in cases.values())] == []


def test_every_operator_has_a_cost_rule() -> None:
    assert [name for name in operators() if tflite.cost_rule("", name, 1) is None] == []
    assert [name for _, name, _ in custom_rules() if tflite.cost_rule(CUSTOM, name, 1) is None] == []


def test_every_operator_that_is_evaluated_has_known_contents() -> None:
    """Where all inputs are constants, in some case that runs; others are in `contents.txt`, which has no one else."""
    reasons = unevaluated("opdefs.tflite")
    assert {*reasons} <= {*operators(), *(f"{CUSTOM}.{name}" for _, name, _ in custom_rules())}
    evaluated = [name for name in DRAWINGS if name not in reasons and f"{CUSTOM}.{name}" not in reasons]
    assert [name for name in evaluated if not any(map(_is_folded, cases_of(name)))] == []


def cases_of(name: str) -> list[Case]:
    return [draw_case(name, int(seed)) for seed, truth in TABLE[name].items() if "outputs" in truth]


def _is_folded(case: Case) -> bool:
    elements = folded(case, 0)
    return elements is not None and any(element is not None for element in elements)
