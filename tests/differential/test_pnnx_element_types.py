"""Element types of results against `torch.result_type`, and against what torch's functions return.

`element_types.json` has the results of torch; `python -m tests.differential.pnnx.record_types` records them.
"""

import json

import pytest

from opdefs.pnnx.promotion import TYPES_OF_NUMBERS, promote
from shapeinf.errors import ShapeError
from shapeinf.expressions import evaluate_expression
from shapeinf.lattice import Shape, TensorType
from shapeinf.lattice.dtypes import SHORT_NAMES
from tests.differential.pnnx import record_types
from tests.differential.pnnx.record_types import FILE, NUMBERS

RECORDED = json.loads(FILE.read_text(encoding="utf8"))
NUMBER_OF_TYPE = dict(zip(TYPES_OF_NUMBERS, NUMBERS, strict=True))
ORDER = {text: number for number, text in enumerate(dict.fromkeys(" ".join(RECORDED["promotion"]).split()))}


def operand(text):
    if text in NUMBERS:
        return NUMBERS[text]
    return TensorType(SHORT_NAMES[text.removesuffix("[2]")], Shape((2,) if text.endswith("[2]") else ()))


def readings(text):
    """The possible meanings of an operand: a scalar tensor may be a number, if its element type is that of a number."""
    number = None if text in NUMBERS or text.endswith("]") else NUMBER_OF_TYPE.get(SHORT_NAMES[text])
    return (text,) if number is None else (text, number)


@pytest.mark.parametrize("pair", RECORDED["promotion"])
def test_promotion(pair):
    """An operand that may be a number or a tensor has a known result only if that is the same for both."""
    a, b = pair.split()
    possible = set()
    for left in readings(a):
        for right in readings(b):
            if left in NUMBERS and right in NUMBERS:
                continue  # two numbers have no element type of torch
            key = " ".join(sorted((left, right), key=ORDER.get))
            possible.add(RECORDED["promotion"][key])
    promoted = {promote(operand(a), operand(b)), promote(operand(b), operand(a))}
    assert promoted == ({SHORT_NAMES[possible.pop()]} if len(possible) == 1 else {None})


def text_of(operands):
    """The arguments of a call, with tensors as inputs, and the shapes of these."""
    tensors = [text for text in operands if text not in NUMBERS]
    numbers = {"1j": "0.0+1.0j"}
    arguments = [f"@{tensors.index(text)}" if text in tensors else numbers.get(text, text) for text in operands]
    return ",".join(arguments), [f"[2]{text.removesuffix('[2]')}" for text in tensors]


# Our deviations: torch raises only because the network of pnnx writes a number where torch had a tensor with one axis.
TENSORS_ONLY = ("atan2", "logaddexp")


@pytest.mark.parametrize("function", [*RECORDED["unary"], *RECORDED["binary"]])
def test_functions(function):
    """The element type of each function, and an error where torch has no kernel."""
    for operands, truth in {**RECORDED["unary"], **RECORDED["binary"]}[function].items():
        arguments, shapes = text_of(operands.split())
        if truth is None and function in TENSORS_ONLY and set(operands.split()) & set(NUMBERS):
            continue
        if "c32" in str(truth) or {"f16[2]", "1j"} <= set(operands.split()):
            continue  # torch has few kernels of complex32, which it documents as experimental
        if truth is None:
            with pytest.raises(ShapeError, match="not defined"):
                evaluate_expression(f"{function}({arguments})", shapes)
        else:
            value = evaluate_expression(f"{function}({arguments})", shapes)
            assert (value.dtype, value.shape.dims) == (SHORT_NAMES[truth], (2,)), operands


@pytest.mark.slow
def test_the_record_is_that_of_torch(monkeypatch, tmp_path):
    pytest.importorskip("torch")
    monkeypatch.setattr(record_types, "FILE", tmp_path / "element_types.json")
    record_types.main()
    assert json.loads(record_types.FILE.read_text(encoding="utf8")) == RECORDED
