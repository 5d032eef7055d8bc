"""Reshape where -1 is inferred for a tensor that may be empty; the sizes in a run are those of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

from shapeinf.expr import evaluate
from tests.engine.tf.graphs import errors, graph, infer, node

# other axes of the tensor, requested sizes after that of axis 0 (x0 - 1), sizes, the result of TensorFlow at x0 = 1
CASES = [
    (("y1",), (-1,), {"y1": 3}, (0, 3)),
    (("y1",), (-1, 2), {"y1": 6}, (0, 3, 2)),
    (("y1", 4), (-1,), {"y1": 3}, (0, 12)),
    (("y1",), (-1, 2), {"y1": 5}, (0, 2, 2)),
]


@pytest.mark.parametrize(("axes", "requested", "sizes", "empty"), CASES)
def test_a_copied_axis_may_be_empty(axes, requested, sizes, empty):
    """Of empty tensors the kernel counts the sizes above 0, and does not check the remainder."""
    nodes = [
        node("SplitV", ["y", "parts", "axis"], "split", 2, num_split=2),
        node("Shape", ["split:1"], "shape"),
        node("StridedSlice", ["shape", "begin", "end", "step"], "rows", shrink_axis_mask=1),
        node("Pack", ["rows", *(f"size{i}" for i in range(len(requested)))], "wanted", N=1 + len(requested), axis=0),
        node("Reshape", ["split:1", "wanted"], "result"),
    ]
    constants = {"parts": np.int32([1, -1]), "axis": np.int32(0)}
    constants |= {"begin": np.int32([0]), "end": np.int32([1]), "step": np.int32([1])}
    constants |= {f"size{i}": np.int32(size) for i, size in enumerate(requested)}
    result = infer(graph({"y": ("float32", ("x0", *axes))}, nodes, ["result"], constants))
    assert not errors(result)
    assert [str(precondition) for precondition in result.contract] == []
    shape = result.tensors["result:0"].shape
    assert tuple(d if isinstance(d, int) else evaluate(d, {"x0": 1, **sizes}) for d in shape) == empty
