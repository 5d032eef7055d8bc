"""Each size of each operand of all dialects as a symbol: `check` answers "no" exactly where a precondition does."""

from __future__ import annotations

import functools
import random
import warnings
from collections.abc import Iterator

import pytest

from shapeinf.testing import contract_violations
from tests.differential.operands.calls import CALLS, OperatorCall, nnef_operations
from tests.differential.operands.nnef_cases import NO_CALL

PARTS = 8
A_FEW = {"onnx": 40, "tf": 80, "nnef": 80, "pnnx": 20}
"""The number of calls in the default run."""

EXCUSED = {"Negative dimension size caused by subtracting": "TensorFlow refuses the size of a graph, not that of a run"}
"""Texts of answers that are right although no precondition is listed, with the reason.

A window without padding that is larger than its input is an error where the graph states the sizes; where it does not,
kernels return an output without elements.
"""


@functools.cache
def calls(dialect: str) -> tuple[OperatorCall, ...]:
    return tuple(CALLS[dialect]())


def contradictions(call: OperatorCall) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = contract_violations(call.model, **call.options)
    return (f"{call}: {line}" for line in lines if not any(text in line for text in EXCUSED))


@pytest.mark.parametrize("dialect", CALLS)
def test_a_few_calls(dialect: str) -> None:
    chosen = random.Random(0).sample(calls(dialect), min(A_FEW[dialect], len(calls(dialect))))
    assert not [line for call in chosen for line in contradictions(call)]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("dialect", CALLS)
def test_all_calls(dialect: str, part: int) -> None:
    assert not [line for call in calls(dialect)[part::PARTS] for line in contradictions(call)]


def test_every_nnef_operation_with_a_rule_is_called() -> None:
    assert set(nnef_operations()) - set(NO_CALL) == {call.op for call in calls("nnef")}
