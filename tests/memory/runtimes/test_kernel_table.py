"""The temporaries of kernels against a table that others measured: `runtime_memory/scratch.json` of the vectors.

Each entry has runs: [threads, shapes of inputs ("v": a constant), bytes of outputs, most bytes of temporaries].
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest

from shapeinf.errors import NotKnown
from tests.memory.runtimes.kernel_models import MS, NCHWC, Case, Input, context, infer, kernels, rounded
from tests.vectors import need, vectors

NAME = "runtime_memory/scratch.json"
TABLE = vectors(NAME)
MEASURED: dict[str, Any] = {} if TABLE is None else TABLE["measured"]

U8, I32 = ("uint8", "float32", "uint8"), "int32"
DTYPES: dict[str, tuple[str, ...]] = {
    "QLinearConv": (*U8, *U8, "float32", "uint8"),
    "QLinearMatMul": (*U8, *U8, "float32", "uint8"),
    "QGemm": (*U8, *U8, I32, "float32", "uint8"),
    "QLinearWhere": ("bool", *U8, *U8, "float32", "uint8"),
    "QLinearAveragePool": (*U8, "float32", "uint8"),
    "ConvInteger": ("uint8", "uint8"),
    "NhwcMaxPool": ("uint8",),
    "DynamicQuantizeMatMul": ("float32", "uint8", "float32", "uint8"),
    "MatMulNBits": ("float32", "uint8", "float32"),
    "QAttention": ("uint8", "int8", "float32", "float32", "float32", I32, "uint8", "int8"),
    "Attention@ms": ("float32", "float32", "float32", I32),
    "MultiHeadAttention": ("float32", "float32", "float32", "float32", I32),
    "GroupQueryAttention": (*["float32"] * 5, I32, I32),
    "LSTM": (*["float32"] * 4, I32),
    "GRU": (*["float32"] * 4, I32),
    "DynamicQuantizeLSTM": ("float32", "int8", "int8", "float32", I32, *["float32"] * 4, "int8", "float32", "int8"),
    "Where": ("bool",),
    "Attention:onnxboolmask": (*["float32"] * 3, "bool"),
    "Where:int64": ("bool", "int64", "int64"),
    "Where:float16": ("bool", "float16", "float16"),
}
"""The element types of inputs that are not float32, by operator or entry."""
CONSTANT = ("acc4", "4b", "8b", "nhwc", "f16")
"""How the labels of entries begin whose weights are initializers, besides those with a `w` after another label."""
OPSETS = {"Attention": 23, "Softmax:op11": 11, "GroupNormalization": 21}
WITHOUT_SIZES = {
    "Resize": "the table does not have the sizes of its outputs",
    "DFT": "its temporaries are not known here",
    "STFT": "its temporaries are not known here",
    "MoE": "its temporaries are not known here",
}
"""Operators whose entries are not compared, with the reason."""


def base_name(label: str) -> str:
    return label.partition(":")[0].partition("@")[0]


def entries() -> Iterator[tuple[str, int]]:
    """Each run with temporaries, by its label and its index."""
    for label, entry in MEASURED.items():
        for index, run in enumerate(entry.get("runs", ())):
            if run[1] is not None and base_name(label) not in WITHOUT_SIZES:
                yield label, index


def domain_of(label: str) -> str:
    return "" if "@ms" not in label else NCHWC if "nchwc" in label or label.startswith("Reorder") else MS


def dtypes_of(label: str) -> tuple[str, ...]:
    op = base_name(label)
    for key in (label, label.partition(":")[0], op):
        if key in DTYPES:
            return DTYPES[key]
    is_half = "float16" if any(text in label for text in ("f16", "float16")) else "float32"
    return (is_half,) * 9


def inputs_of(label: str, shapes: list[Any]) -> list[Input]:
    dtypes = dtypes_of(label)
    variant = label.partition(":")[2]
    is_pair = label.endswith("w") and label[:-1].rstrip(":") in MEASURED
    is_constant = is_pair or (variant.startswith(CONSTANT) and variant != "f16v")
    first = 2 if base_name(label).startswith("Skip") else 1
    inputs = []
    for position, shape in enumerate(shapes):
        dtype = dtypes[position] if position < len(dtypes) else "float32"
        fixed = bool(shape) and shape[0] == "v"
        dims = shape[1:] if fixed else shape
        inputs.append(Input(np.zeros(dims, dtype), constant=fixed or (is_constant and position >= first)))
    return inputs


def case_of(label: str, run: list[Any]) -> Case:
    entry, op = MEASURED[label], base_name(label)
    opset = OPSETS.get(label, OPSETS.get(op, 20)) if "@" not in label else 20
    outputs = [f"y{index}" for index in range(len(run[2]))]
    inputs = inputs_of(label, run[1])
    if op == "GroupQueryAttention":
        total = run[1][0][1] if "decode" not in label else DECODED[run[1][3][2]]
        inputs[6] = Input(np.array(total, np.int32), constant=True)
    attributes = {**entry["attrs"], **attributes_of(op, label, run[1])}
    return Case(label, op, inputs, attributes, domain_of(label), opset, outputs)


DECODED = {160: 64, 224: 96, 288: 160}
"""The keys of the past and of this step, by the length of the cache."""


def attributes_of(op: str, label: str, shapes: list[Any]) -> dict[str, int]:
    """The attributes that depend on sizes: the table has those of the first run only."""
    if op in ("LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"):
        return {"hidden_size": shapes[2][1 if op.startswith("Dynamic") else 2]}
    if op == "MatMulNBits":
        return {"K": shapes[0][-1], "N": shapes[1][0]}
    variant = label.partition(":")[2]
    depthwise = op.endswith(("Conv", "ConvInteger", "ConvTranspose")) and variant.startswith(("dw", "1dg"))
    return {"group": shapes[0][1]} if depthwise else {}


REPLACED = {
    "HardSwish",
    "Mish",
    "MeanVarianceNormalization",
    "GroupNormalization",
    "Bernoulli",
    "CenterCropPad",
}
REPLACED |= {"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"}
"""Operators that the session replaces, so that their temporaries are those of other nodes."""


@pytest.mark.parametrize("label", sorted({label for label, _ in entries()}))
def test_temporaries_of_the_table(label: str) -> None:
    need(TABLE, NAME)
    for index, run in enumerate(MEASURED[label]["runs"]):
        case = case_of(label, run)
        call = context(infer(case), run[0])
        call.options = attrs.evolve(call.options, l2_cache_bytes=524288)
        if base_name(label) in REPLACED or is_converted(label):
            with pytest.raises(NotKnown):
                kernels().find_scratch(call)
            continue
        scratch = kernels().find_scratch(call)
        before, beside = (
            sum(rounded(size, {}) for size in sizes) for sizes in (scratch.before_outputs, scratch.with_outputs)
        )
        amount = max(before, beside)
        assert amount == run[3] or (scratch.is_bound and amount > run[3]), (index, run)


def is_converted(label: str) -> bool:
    """Whether the session converts operands of float16."""
    own = ("LayerNormalization", "SkipLayerNormalization", "Attention")
    return ("f16" in label or "float16" in label) and base_name(label) not in own
