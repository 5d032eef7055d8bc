"""The rules of torch's overloads against calls that torch ran: see `torch_cases`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opdefs.torch.dialect import torch
from shapeinf import Result, infer_shapes
from shapeinf.expr import Dimension, evaluate
from tests.opdefs.torch_cases.case import Call
from tests.opdefs.torch_cases.cases import CASES

RECORDED = json.loads((Path(__file__).parent / "torch_cases" / "recorded.json").read_text())

_MODULES = ("counting", "creation", "indexing", "matrices", "ordering", "updates", "views")
"""The modules of rules whose overloads must all have a case."""


def _differences(result: Result, recorded: list[tuple[str, list[int]]], binding: dict[str, int]) -> list[str]:
    """The outputs whose types differ from the recorded ones; an unknown size must have bounds that contain it."""
    found = [f"{d.code} {d.message}" for d in result.diagnostics if d.severity == "error"]
    for number, (dtype, sizes) in enumerate(recorded):
        info = result.tensors[f"out{number}"]
        fits = info.dtype == dtype and info.shape.rank == len(sizes)
        for dim, size in zip(info.shape.dims or (), sizes, strict=False):
            if isinstance(dim, int) or not dim.is_anonymous:
                fits &= (evaluate(dim, binding) if isinstance(dim, Dimension) else dim) == size
            else:
                bounds = result.interval(dim)
                fits &= (bounds.lo or 0) <= size and (bounds.hi is None or size <= bounds.hi)
        if not fits:
            found.append(f"out{number} is {info}, not {dtype}{sizes}")
    return found


@pytest.mark.parametrize("call", CASES, ids=[call.text for call in CASES])
def test_a_call_has_the_types_of_torch(call: Call) -> None:
    recorded = RECORDED[call.text]
    if recorded is None:
        pytest.skip("torch refuses the call")
    fixed = infer_shapes(call.program(recorded, symbolic=False), declared="ignore")
    assert not _differences(fixed, recorded, {})
    assert fixed.contract.check().verdict is not False
    if {0, 1} & {*call.binding().values()}:  # named sizes are at least 1; a rank may depend on whether they are 1
        return
    symbolic = infer_shapes(call.program(recorded, symbolic=True), declared="ignore")
    assert not _differences(symbolic, recorded, call.binding())
    assert symbolic.contract.check(**call.binding()).verdict is not False


REFUSED = [
    call
    for call in CASES
    if RECORDED[call.text] is None and all(x.contents is None or x.dtype != "int64" for x in call.tensors())
]
"""The calls that torch refuses for their sizes or types; the contents of inputs are not known to inference."""


@pytest.mark.parametrize("call", REFUSED, ids=[call.text for call in REFUSED])
def test_a_call_that_torch_refuses_is_never_legal(call: Call) -> None:
    outputs = next((len(RECORDED[c.text]) for c in CASES if c.overload == call.overload and RECORDED[c.text]), 1)
    program = call.program([["float32", []]] * outputs, symbolic=False)
    assert infer_shapes(program, declared="ignore").contract.check().verdict is not True


def test_every_overload_of_the_modules_has_a_case_that_runs() -> None:
    run = {call.overload for call in CASES if RECORDED[call.text] is not None}
    assert {call.text for call in CASES} == {*RECORDED}
    rules = {op: op_def for _, op, _ in torch if (op_def := torch.lookup("", op, 1)) is not None}
    own = {op for op, op_def in rules.items() if op_def.rule is not None and _module(op) in _MODULES}
    assert own - run == set()


def _module(overload: str) -> str:
    op_def = torch.lookup("", overload, 1)
    assert op_def is not None and op_def.rule is not None
    return op_def.rule.function.__module__.rpartition(".")[2]
