"""Values inside the bodies of ONNX nodes, by the path of their body."""

from __future__ import annotations

import pytest

from shapeinf import UnknownNameError
from tests.engine.runtime import inferred

BRANCHES = """g (bool c, float[N, 3] x) => (float[] y) {
  y = If (c) <then_branch = t () => (r) { r = Concat<axis = 0>(x, x) }, else_branch = e () => (r) { r = Relu(x) }>
}"""

LOOP = """g (float[N, 3] x) => (float[] y) {
  trips = Constant<value = int64 {3}>()
  y = Loop (trips, , x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] k) {
    go2 = Identity(go)
    k = Concat<axis = 0>(h, h)
  }>
}"""


def test_branches_with_values_of_the_same_name_are_told_apart():
    result = inferred(BRANCHES)
    assert str(result.tensor("y/then_branch/r")) == "float32[2*N, 3]"
    assert str(result.tensor("y/else_branch/r")) == "float32[N, 3]"
    assert result.explain("y/then_branch/r", 0)
    with pytest.raises(UnknownNameError):
        result.tensor("y/then_branch/x")


def test_a_loop_that_is_unrolled_has_the_join_of_its_trips():
    """2*N, 4*N and 8*N rows."""
    result = inferred(LOOP)
    rows, columns = result.tensor("y/k").shape
    assert (columns, rows.is_anonymous) == (3, True)
    assert result.interval(rows).lo == 2
    assert str(result.tensors["y"]) == "float32[8*N, 3]"
