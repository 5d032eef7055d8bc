"""`If`: runs in onnxruntime have the inferred shapes, exact where possible.

A comment derives an expected shape that is not evident from the definition of the operator.
"""

from __future__ import annotations

import pytest

from shapeinf import ModelError
from tests.engine.runtime import check, check_model, inferred, ones, parsed, shapes

BRANCHES = """
  y = If (c) <
    then_branch = a () => (float[] p) { p = THEN },
    else_branch = b () => (float[] q) { q = ELSE }
  >
"""


def branches(then, other, inputs="bool c, float[N, 4] x, float[M, 4] z", before="", after=""):
    body = BRANCHES.replace("THEN", then).replace("ELSE", other)
    return f"g ({inputs}) => (float[] y) {{ {before} {body} {after} }}"


def test_only_a_decided_branch_runs():
    text = branches("Relu(x)", "Shape(x)", "float[N, 4] x", "c = Constant<value = bool {1}>()")
    assert shapes(inferred(text), "y") == ["float32[N, 4]"]
    text = branches("Shape(x)", "Relu(x)", "float[N, 4] x", "c = Constant<value = bool {0}>()")
    assert shapes(inferred(text), "y") == ["float32[N, 4]"]


def test_constraints_decide_a_branch():
    """With 5 rows or more the first branch runs, whatever N is; with fewer than 4 it is the other."""
    before = """
      s = Shape<start = 0, end = 1>(x)
      four = Constant<value = int64[1] {4}>()
      more = Greater(s, four)
      c = Squeeze(more)
    """
    text = branches("Transpose(x)", "Relu(x)", "float[N, 3] x", before)
    assert shapes(check(text, {"x": ones(7, 3)}, dims={"N": "5..8"}), "y") == ["float32[3, N]"]
    assert shapes(check(text, {"x": ones(2, 3)}, dims={"N": "1..3"}), "y") == ["float32[N, 3]"]
    (first, second) = check(text, {"x": ones(7, 3)}, {"x": ones(2, 3)}).tensors["y"].shape
    assert not isinstance(first, int) and not isinstance(second, int)


@pytest.mark.parametrize(
    ("then", "other", "expected"),
    [
        ("Relu(x)", "Tanh(x)", "float32[N, 4]"),
        ("Concat<axis = 1>(x, x)", "Concat<axis = 1>(x, x)", "float32[N, 8]"),
    ],
)
def test_sizes_that_both_branches_share_are_known(then, other, expected):
    runs = [{"c": c, "x": ones(3, 4), "z": ones(5, 4)} for c in (True, False)]
    assert shapes(check(branches(then, other), *runs), "y") == [expected]


def test_sizes_that_differ_are_bounded_by_both_branches():
    result = check(
        branches("Relu(x)", "Concat<axis = 0>(x, x)", "bool c, float[3, 4] x"),
        *({"c": c, "x": ones(3, 4)} for c in (True, False)),
    )
    rows, columns = result.tensors["y"].shape
    assert columns == 4
    assert str(result.interval(rows)) == "3..6"


def test_a_node_with_the_name_of_another_output_has_sizes_of_its_own():
    """A node without a name has the one of its output; nodes and values may have the same names."""
    text = """g (bool c, float[3] x, float[7] z) => (float[] y, float[] w) {
      one = Constant<value = float[1] {1.0}>()
      y = If (c) < then_branch = a () => (float[] p) { p = Identity(x) },
                   else_branch = b () => (float[] q) { q = Concat<axis = 0>(x, one) } >
      w = If (c) < then_branch = d () => (float[] r) { r = Identity(z) },
                   else_branch = e () => (float[] s) { s = Concat<axis = 0>(z, one) } >
    }"""
    model = parsed(text)
    model.graph.node[2].name = "y"
    check_model(model, *({"c": c, "x": ones(3), "z": ones(7)} for c in (True, False)))


def test_ranks_that_differ_are_unknown():
    runs = [{"c": c, "x": ones(3, 4), "z": ones(5, 4)} for c in (True, False)]
    result = check(branches("Relu(x)", "ReduceSum<keepdims = 0>(x)"), *runs)
    assert shapes(result, "y") == ["float32?"]


def test_constraints_of_an_undecided_branch_are_undone_outside():
    """The product needs K = 3, but only where that branch runs: outside K may be anything."""
    text = """g (bool c, float[N, K] x, float[3, 4] w) => (float[] y, float[] r) {
      y = If (c) <
        then_branch = a () => (float[] p) { m = MatMul(x, w)  p = ReduceSum<keepdims = 0>(m) },
        else_branch = b () => (float[] q) { q = ReduceSum<keepdims = 0>(x) }
      >
      r = Relu(x)
    }"""
    result = check(
        text,
        {"c": True, "x": ones(2, 3), "w": ones(3, 4)},
        {"c": False, "x": ones(2, 7), "w": ones(3, 4)},
    )
    assert shapes(result, "x", "r", "y") == ["float32[N, K]", "float32[N, K]", "float32[]"]


def test_constraints_of_a_decided_branch_hold_outside():
    text = """g (float[N, K] x, float[3, 4] w) => (float[] y, float[] r) {
      c = Constant<value = bool {1}>()
      y = If (c) <
        then_branch = a () => (float[] p) { p = MatMul(x, w) },
        else_branch = b () => (float[] q) { q = Relu(x) }
      >
      r = Relu(x)
    }"""
    result = check(text, {"x": ones(2, 3), "w": ones(3, 4)})
    assert shapes(result, "x", "r", "y") == ["float32[N, 3]", "float32[N, 3]", "float32[N, 4]"]


def test_branches_may_contradict_each_other():
    """Only one of the products can ever run; the other is no error as long as its branch does not run."""
    text = """g (bool c, float[N, K] x, float[3, 4] w, float[5, 4] v) => (float[] y, float[] r) {
      y = If (c) <
        then_branch = a () => (float[] p) { p = MatMul(x, w) },
        else_branch = b () => (float[] q) { q = MatMul(x, v) }
      >
      r = Relu(x)
    }"""
    w, v = ones(3, 4), ones(5, 4)
    result = check(text, {"c": True, "x": ones(2, 3), "w": w, "v": v}, {"c": False, "x": ones(2, 5), "w": w, "v": v})
    assert shapes(result, "y", "r") == ["float32[N, 4]", "float32[N, K]"]
    assert not result.diagnostics


def test_a_violation_is_an_error_only_where_the_branch_runs():
    broken = "MatMul(x, w)"
    text = branches(broken, "Relu(x)", "bool c, float[N, 4] x, float[5, 4] w")
    assert [d.severity for d in inferred(text).diagnostics if d.code.startswith("S1")] == ["warning"]
    text = branches(broken, "Relu(x)", "float[N, 4] x, float[5, 4] w", "c = Constant<value = bool {1}>()")
    (error,) = inferred(text).diagnostics
    assert (error.severity, error.op) == ("error", "MatMul (version 19)")
    assert error.node.startswith("y/")


def test_branches_need_equally_many_outputs():
    text = """g (bool c, float[N] x) => (float[] y) {
      y = If (c) <then_branch = a () => (float[] p) { p = Relu(x) },
                  else_branch = b () => (float[] q, float[] r) { q = Relu(x) r = Relu(x) }>
    }"""
    assert "the same number of outputs" in inferred(text).diagnostics[0].message


def test_branches_may_give_sequences():
    text = """g (bool c, float[N, 4] x, float[M, 4] z) => (float[] y) {
      s = If (c) <then_branch = a () => (seq(float[]) p) { p = SequenceConstruct(x, z) },
                  else_branch = b () => (seq(float[]) q) { q = SequenceConstruct(z, z) }>
      y = ConcatFromSequence<axis = 0>(s)
    }"""
    result = check(text, *({"c": c, "x": ones(3, 4), "z": ones(5, 4)} for c in (True, False)))
    assert result.tensors["s"].kind == "sequence"
    assert result.tensors["y"].shape[1] == 4


def test_an_unknown_name_in_a_body_is_an_error():
    text = branches("Relu(nowhere)", "Relu(x)")
    with pytest.raises(ModelError, match="nowhere"):
        inferred(text)
