"""A file with annotations has all preconditions of the file without."""

from __future__ import annotations

import itertools
import re

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.edit.bind import bind
from tests.checks.models import model, node, numbers

SIZES = (None, "a", "b", 4)
PAIRS = list(itertools.product(SIZES, SIZES))


def join_model(op: str, first, second, **attributes):
    """x and z, each through a Relu, meet in a node."""
    nodes = [node("Relu", "x", "p"), node("Relu", "z", "q"), node(op, "p q", "y", **attributes)]
    return model(nodes, {"x": first, "z": second}, {"y": None})


CASES = {
    **{f"Concat {a} {b}": join_model("Concat", [a, 6], [b, 6], axis=1) for a, b in PAIRS},
    **{f"Add {a} {b}": join_model("Add", [a, 6], [b, 6]) for a, b in PAIRS},
    **{f"MatMul {a} {b}": join_model("MatMul", [7, a], [b, 6]) for a, b in PAIRS},
    **{
        f"Reshape {a}": model(
            [node("Relu", "x", "p"), node("Reshape", "p s", "y")],
            {"x": [a, 6]},
            {"y": None},
            constants=[numbers("s", -1, 4)],
        )
        for a in SIZES
    },
}


def texts(path, declared):
    """The preconditions by node; an open axis has the name of the file's other values of its size where it is read."""
    contract = infer_shapes(path, declared=declared).contract
    return {(condition.node, re.sub(r"\.shape\[(\d+)\]", r"_shape_\1", condition.text)) for condition in contract}


@pytest.mark.parametrize("how", [bind, infer_shapes])
@pytest.mark.parametrize("original", CASES.values(), ids=list(CASES))
def test_annotations_hide_no_precondition(original, how, tmp_path) -> None:
    path, annotated = tmp_path / "m.onnx", tmp_path / "annotated.onnx"
    onnx.save(original, path)
    how(path).save(annotated)
    assert texts(annotated, "trust") == texts(annotated, "ignore")


def test_two_unnamed_axes_that_must_be_equal_still_are(tmp_path) -> None:
    """Concat along axis 1 requires equal sizes of all other axes, whatever upstream nodes declare."""
    path = tmp_path / "m.onnx"
    bind(CASES["Concat None a"]).save(path)
    result = infer_shapes(path)
    assert [str(precondition.text) for precondition in result.contract] == ["x.shape[0] == a"]
    assert result.contract.check({"x.shape[0]": 2, "a": 3}).verdict is False
