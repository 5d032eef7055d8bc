"""PNNX networks with raw calls of torch against torch: all types at two sizes, without a warning."""

from __future__ import annotations

import json
import re

import pytest

from shapeinf import Result, infer_shapes
from tests.differential.pnnx import raw_networks

RECORDED = raw_networks.read()
CASES = [(name, level) for name, item in RECORDED.items() for level in item["networks"]]
DATA = ("bincount", "unique", "nonzero", "repeat_interleave_t")
"""Functions with sizes that data decides."""


def infer(name: str, level: str, sizes: str) -> Result:
    """The network at sizes of its input; the types that the file declares are not used."""
    text = RECORDED[name]["networks"][level]
    (operand,) = re.findall(r"^pnnx.Input +\S+ +0 1 (\S+)", text, re.MULTILINE)
    return infer_shapes(text, inputs={operand: json.loads(sizes)}, declared="ignore")


@pytest.mark.parametrize(("name", "level"), CASES)
def test_the_outputs_have_the_types_of_torch(name: str, level: str) -> None:
    for sizes, types in RECORDED[name]["types"].items():
        result = infer(name, level, sizes)
        found = [str(info) for info in result.outputs.values()]
        assert not [d.message for d in result.diagnostics if d.severity != "note"]
        if name in DATA:
            known = [re.findall(r"\b\d+\b", text.partition("[")[2]) for text in found]
            assert [len(result.tensors[output].shape) for output in result.outputs] == [t.count(",") + 1 for t in types]
            assert all({*numbers} <= {*re.findall(r"\d+", text)} for numbers, text in zip(known, types, strict=True))
        else:
            assert found == types


def test_a_call_that_is_no_overload_is_unknown() -> None:
    text = RECORDED["tril"]["networks"]["2"].replace("aten::tril", "aten::no_such_function")
    result = infer_shapes(text)
    assert [d.code for d in result.diagnostics] == ["S201"]
