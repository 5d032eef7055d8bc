"""Kernels of LiteRT that differ from the operators of TensorFlow, or from their documents: docs/tflite.md lists them.

Each case has what LiteRT 2.3.0 does: sizes, or None where it refuses.
"""

from __future__ import annotations

import pytest

from tests.opdefs.tflite.case import Case, Operand
from tests.opdefs.tflite.graphs import compare
from tests.opdefs.tflite.litert import run
from tests.vectors import PROJECT

Sizes = tuple[int, ...] | None
WINDOW = {"padding": "VALID", "stride_w": 2, "stride_h": 2}


def fed(*dims: int, dtype: str = "float32") -> Operand:
    return Operand(dtype, dims)


def weights(*dims: int) -> Operand:
    return Operand("float32", dims, constant=True)


def ints(*values: int) -> Operand:
    return Operand("int32", (len(values),), values, constant=True)


def single(op: str, *inputs: Operand | None, table: str = "", dtype: str = "float32", **options: object) -> Case:
    return Case(op, inputs, [dtype], table, options)


def convolution(height: int, *, bias: bool = True) -> Case:
    inputs = [fed(1, height, 5, 2), weights(3, 3, 3, 2), weights(3) if bias else None]
    return single("CONV_2D", *inputs, table="Conv2DOptions", **WINDOW)


def transposed(height: int, width: int, padding: str) -> Case:
    inputs = [ints(1, height, width, 3), weights(3, 2, 2, 2), fed(1, 4, 4, 2)]
    return single("TRANSPOSE_CONV", *inputs, table="TransposeConvOptions", padding=padding, stride_w=2, stride_h=2)


DEVIATIONS: dict[str, tuple[Case, Sizes]] = {
    "FULLY_CONNECTED rounds down": (
        single("FULLY_CONNECTED", fed(3, 5), weights(2, 4), None, table="FullyConnectedOptions"),
        (3, 2),
    ),
    "CONV_2D requires a bias": (convolution(5, bias=False), None),
    "CONV_2D may be one short": (convolution(2), (1, 0, 2, 3)),
    "pools clamp to 0": (
        single("MAX_POOL_2D", fed(1, 1, 9, 1), table="Pool2DOptions", filter_width=4, filter_height=4, **WINDOW),
        (1, 0, 3, 1),
    ),
    "TRANSPOSE_CONV checks its input": (transposed(9, 7, "SAME"), None),
    "TRANSPOSE_CONV takes other sizes": (transposed(7, 8, "SAME"), (1, 7, 8, 3)),
    "VALID TRANSPOSE_CONV rounds down": (transposed(9, 8, "VALID"), (1, 9, 8, 3)),
    "ATAN2 compares ranks only": (single("ATAN2", fed(2, 3), fed(2, 1)), (2, 3)),
    "REVERSE_V2 needs neighbouring axes": (
        single("REVERSE_V2", fed(2, 3, 4), ints(0, 2), table="ReverseV2Options"),
        None,
    ),
    "SELECT does not broadcast": (
        single("SELECT", fed(1, dtype="bool"), fed(2, 3), fed(2, 3), table="SelectOptions"),
        None,
    ),
    "STABLEHLO_SHIFT_LEFT compares no shapes": (
        single("STABLEHLO_SHIFT_LEFT", fed(2, dtype="int32"), fed(3, dtype="int32"), dtype="int32"),
        (2,),
    ),
    "ADD_N does not broadcast": (single("ADD_N", fed(2, 3), fed(1, 3), table="AddNOptions"), None),
    "SOFTMAX takes no scalars": (single("SOFTMAX", fed(), table="SoftmaxOptions"), None),
}


def truth_of(sizes: Sizes) -> dict[str, object]:
    """The record of a run as `compare` takes it."""
    return {"refused": "in Prepare"} if sizes is None else {"outputs": [list(sizes)]}


@pytest.mark.parametrize("name", DEVIATIONS)
def test_the_rule_does_as_the_kernel(name: str) -> None:
    case, sizes = DEVIATIONS[name]
    assert compare(case, truth_of(sizes)) == []


def test_all_are_documented() -> None:
    text = (PROJECT / "docs" / "tflite.md").read_text(encoding="utf-8")
    assert [name for name in DEVIATIONS if f"| {name} |" not in text] == []


@pytest.mark.slow
def test_the_table_has_what_litert_does() -> None:
    pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed: nothing is compared with it")
    results = run([case for case, _ in DEVIATIONS.values()])
    computed = {
        name: tuple(r["outputs"][0]) if "outputs" in r else None for name, r in zip(DEVIATIONS, results, strict=True)
    }
    assert computed == {name: sizes for name, (_, sizes) in DEVIATIONS.items()}
