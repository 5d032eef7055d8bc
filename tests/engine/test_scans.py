"""`Scan` and `SequenceMap`: runs in onnxruntime have the inferred shapes, exact where possible.

A comment derives an expected shape that is not evident from the definition of the operator.
"""

from __future__ import annotations

import pytest

from tests.engine.runtime import check, inferred, ones, shapes

SCAN = """g (float[D] start, float[T, D] xs) => (float[] y, float[] z) {
  y, z = Scan <num_scan_inputs = 1, ATTRIBUTES body = b (float[] h, float[] x) => (float[] h2, float[] e) {
    h2 = Add(h, x)
    e = Concat<axis = 0>(h, x)
  }> (start, xs)
}"""


@pytest.mark.parametrize(
    ("attributes", "xs", "expected"),
    [
        ("", "T, D", "float32[T, 2*D]"),
        ("scan_input_axes = [1], ", "D, T", "float32[T, 2*D]"),
        ("scan_input_axes = [-1], scan_output_axes = [-1], ", "D, T", "float32[2*D, T]"),
        ("scan_output_axes = [1], scan_output_directions = [1], ", "T, D", "float32[2*D, T]"),
    ],
)
def test_a_scan_keeps_its_state_and_stacks_its_outputs(attributes, xs, expected):
    text = SCAN.replace("ATTRIBUTES ", attributes).replace("T, D] xs", f"{xs}] xs")
    runs = [{"start": ones(3), "xs": ones(*(t if name == "T" else 3 for name in xs.split(", ")))} for t in (1, 5)]
    assert shapes(check(text, *runs), "y", "z") == ["float32[D]", expected]


def test_a_scan_learns_backwards_from_its_state():
    """The state keeps its shape: [N] + [4] must be [N] again, so N is 4."""
    text = SCAN.replace("ATTRIBUTES ", "").replace("float[D] start", "float[N] start").replace("T, D]", "T, 4]")
    result = check(text, {"start": ones(4), "xs": ones(5, 4)})
    assert shapes(result, "y") == ["float32[4]"]


def test_scans_of_two_inputs_must_have_equal_lengths():
    text = """g (float[T, 3] a, float[6, 3] b) => (float[] z) {
      z = Scan <num_scan_inputs = 2, body = s (float[] p, float[] q) => (float[] e) { e = Add(p, q) }> (a, b)
    }"""
    result = check(text, {"a": ones(6, 3), "b": ones(6, 3)})
    assert shapes(result, "a", "z") == ["float32[6, 3]", "float32[6, 3]"]
    assert "the same length" in inferred(text, inputs={"a": [5, 3]}).diagnostics[0].message


def test_a_state_that_changes_its_shape_is_an_error():
    text = """g (float[3] start, float[T, 3] xs) => (float[] y) {
      y = Scan <num_scan_inputs = 1, body = b (float[] h, float[] x) => (float[] h2) { h2 = Concat<axis = 0>(h, x) }>
        (start, xs)
    }"""
    (error,) = inferred(text).diagnostics
    assert "the body must return state 0 in its initial shape" in error.message


def test_a_scan_of_opset_8_has_a_batch_axis_that_its_body_does_not_see():
    text = """g (float[B, D] start, float[B, T, D] xs) => (float[] y, float[] z) {
      y, z = Scan <num_scan_inputs = 1, body = b (float[] h, float[] x) => (float[] h2, float[] e) {
        h2 = Add(h, x)
        e = Concat<axis = 0>(h, x)
      }> ( , start, xs)
    }"""
    result = check(text, {"start": ones(2, 3), "xs": ones(2, 5, 3)}, opset=8)
    assert shapes(result, "y", "z") == ["float32[B, D]", "float32[B, T, 2*D]"]


def test_a_scan_without_states():
    text = """g (float[T, N, 3] xs) => (float[] z) {
      z = Scan <num_scan_inputs = 1, body = b (float[] x) => (float[] e) { e = Transpose(x) }> (xs)
    }"""
    assert shapes(check(text, {"xs": ones(5, 2, 3)}), "z") == ["float32[T, 3, N]"]


def test_a_map_over_a_sequence_keeps_its_length():
    """Both elements get 3 columns more: 7 and 8."""
    text = """g (float[N, 4] a, float[N, 5] b, float[N, 3] extra) => (float[] y, float[] e) {
      s = SequenceConstruct(a, b)
      m = SequenceMap <body = f (float[] x, float[] w) => (float[] o) { o = Concat<axis = 1>(x, w) }> (s, extra)
      one = Constant<value = int64 {1}>()
      e = SequenceAt(m, one)
      y = ConcatFromSequence<axis = 1>(m)
    }"""
    result = check(text, {"a": ones(2, 4), "b": ones(2, 5), "extra": ones(2, 3)})
    rows, columns = result.tensors["m"].shape
    assert (result.tensors["m"].kind, str(rows), str(result.interval(columns))) == ("sequence", "N", "7..8")
    assert shapes(result, "y") == ["float32[N, 15]"]


def test_a_map_over_two_sequences():
    text = """g (float[N, 4] a, float[M] b) => (float[] y) {
      s = SequenceConstruct(a, a, a)
      t = SequenceConstruct(b, b, b)
      m, k = SequenceMap <body = f (float[] x, float[] w) => (float[] o, float[] p) {
        o = Transpose(x)
        p = Concat<axis = 0>(w, w)
      }> (s, t)
      y = ConcatFromSequence<axis = 0, new_axis = 1>(m)
      z = ConcatFromSequence<axis = 0>(k)
    }"""
    result = check(text, {"a": ones(2, 4), "b": ones(5)})
    assert shapes(result, "y", "z") == ["float32[3, 4, N]", "float32[6*M]"]
