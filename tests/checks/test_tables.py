"""A constant that leaves few legal sizes is reported; the end of a table of many positions is not."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check
from tests.checks.models import model, node, numbers, weights

ROWS = 64


def table_model(start, step, direct=False, rows=ROWS):
    """x [batch, seq, 4] and a slice table[start:seq:step], or x[:, start:seq:step], are added."""
    source = "x" if direct else "table"
    nodes = [
        node("Shape", "x", "len", start=1, end=2),
        node("Slice", f"{source} start len axis step", "cut"),
        node("Add", "x cut", "y"),
    ]
    constants = [weights("table", 1, rows, 4), numbers("start", start), numbers("axis", 1), numbers("step", step)]
    proto = model(nodes, {"x": ["batch", "seq", 4]}, {"y": None}, constants=constants)
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    proto.ir_version = 8
    return proto


def runs(proto: onnx.ModelProto, length: int) -> bool:
    """Whether onnxruntime runs it at a batch of 2."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    try:
        session.run(None, {"x": np.zeros((2, length, 4), np.float32)})
    except Exception:
        return False
    return True


CASES = [
    (start, step, direct, rows)
    for direct in (False, True)
    for start, step in ((0, 1), (0, 2), (0, 3), (1, 1), (2, 1), (3, 1), (2, 2), (-1, 1))
    for rows in ((3, ROWS) if not direct else (ROWS,))
]


@pytest.mark.parametrize(("start", "step", "direct", "rows"), CASES)
def test_few_legal_sizes_are_reported_and_the_end_of_a_table_is_not(start, step, direct, rows) -> None:
    """Few: four at most, or those that onnxruntime runs end before the table does and before sizes of real models."""
    proto = table_model(start, step, direct, rows)
    legal = [length for length in range(1, 200) if runs(proto, length)]
    few = (bool(legal) and legal[-1] < min(rows, 20)) or len(legal) <= 4
    diagnostics = [f for f in check(infer_shapes(proto, declared="check")) if f.code == "C101"]
    assert bool(diagnostics) == few, (legal, [f.message for f in diagnostics])
    if 1 < len(legal) <= 4 and few:
        reported = diagnostics[0].message.rpartition("can only be ")[2].replace(" to ", " or ").split(" or ")
        assert {int(size) for size in reported} >= {legal[0], legal[-1]}
