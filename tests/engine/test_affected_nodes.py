"""A node whose unknowns depend on what a later node infers runs again, so that the order of nodes does not matter."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from shapeinf import infer_shapes
from shapeinf.engine import again
from tests.engine.runtime import check_model, parsed

COUNTS = "u, i, v, counts = Unique(x)"
FILL = "y = ConstantOfShape(counts)"
FLOATS = "f = Cast<to = 1>(counts)"
PRODUCT = "z = MatMul(f, w)"
TEXT = "g (int64[k] x, float[2, 3] w) => (float[] y, float[] z) {{ {} }}"


@pytest.mark.parametrize(
    "nodes", [p for p in permutations((FILL, FLOATS, PRODUCT)) if p.index(FLOATS) < p.index(PRODUCT)]
)
def test_a_length_that_a_later_product_fixes_gives_a_rank(nodes):
    model = parsed(TEXT.format(" ".join((COUNTS, *nodes))))
    result = check_model(model, {"x": np.array([3, 5, 3]), "w": np.ones((2, 3), np.float32)})
    assert not result.diagnostics
    assert result.tensors["y"].shape.rank == 2
    assert [c.text for c in result.contract.preconditions] == ["`u.count` == 2"]


def test_readers_of_what_changes_run_again():
    """The rank of y decides that of its transposition, and the sizes of the sum."""
    nodes = (COUNTS, FILL, "t = Transpose(y)", "s = ReduceSum<keepdims = 0>(t)", "a = Shape(t)", FLOATS, PRODUCT)
    result = infer_shapes(parsed(TEXT.format(" ".join(nodes))))
    assert not result.diagnostics
    (first, second), (rows, columns) = result.tensors["y"].shape, result.tensors["t"].shape
    assert (rows, columns) == (second, first)
    assert str(result.tensors["s"].shape) == "[]"
    assert str(result.tensors["a"].shape) == "[2]"


def test_an_unknown_keeps_its_name_and_gets_the_bounds_of_the_second_run():
    """Known late: x has 6 rows, so at most 6 of them are not zero."""
    text = """g (float[n] x, float[6] w) => (int64[] y, float[] z) { y = NonZero(x)  z = MatMul(x, w) }"""
    result = infer_shapes(parsed(text))
    unknown = result.tensors["y"].shape[1]
    assert str(result.interval(unknown)) == "0..6"
    assert "#" not in str(unknown)


def test_nothing_runs_again_where_later_nodes_infer_nothing(monkeypatch):
    monkeypatch.setattr(again, "_run_rows", lambda *_: pytest.fail("a node runs again"))
    infer_shapes(parsed("g (float[n] x) => (int64[] y, int64[] z) { y = NonZero(x)  z = NonZero(y) }"))
