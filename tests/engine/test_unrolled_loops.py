"""Loops whose trips are inferred one by one: an unknown size of a trip differs from that of the next trip."""

from __future__ import annotations

import numpy as np
import pytest

from shapeinf import infer_shapes
from tests.engine.runtime import check, ones, parsed, run

LOOP = """g (bool c, float[3] x) => (float[] y, float[] used) {
  one = Constant<value = float[1] {1.0}>()
  zero = Constant<value = int64[1] {0}>()
  five = Constant<value = int64[1] {5}>()
  n = Constant<value = int64 {TRIPS}>()
  y, used = Loop (n, , x, x) <body = b (int64 i, bool go, float[] h, float[] l) => (bool go2, float[] h2, float[] u) {
    go2 = Identity(go)
    CHOICE
    u = USE
    h2 = Concat<axis = 0>(chosen, chosen)
  }>
}"""

BRANCH = """chosen = If (c) <
  then_branch = t () => (float[] p) { p = Identity(h) },
  else_branch = e () => (float[] q) { q = Concat<axis = 0>(h, one) }
>"""
# One more row, or none, in a loop of unknown length: the rows after it are joined.
INNER = """m = Cast<to = 7>(c)
  chosen = Loop (m, , h) <body = inner (int64 j, bool on, float[] g) => (bool on2, float[] g2) {
    on2 = Identity(on)
    bigger = Concat<axis = 0>(g, one)
    most = Constant<value = int64[1] {7}>()
    g2 = Slice(bigger, zero, most)
  }>"""


@pytest.mark.parametrize("trips", [2, 3])
@pytest.mark.parametrize("choice", [BRANCH, INNER], ids=["branch", "loop"])
@pytest.mark.parametrize(
    "use",
    [
        "Identity(chosen)",
        "Slice(chosen, zero, five)",  # 3 or 4 rows are all of them in the first trip, 6 to 8 in the second are not
        "Concat<axis = 0>(chosen, h)",
        "Expand(one, Shape(chosen))",
    ],
)
def test_a_size_that_depends_on_data_differs_between_trips(use, choice, trips):
    shape = "" if "Shape(" not in use else "rows = Shape(chosen)"
    text = LOOP.replace("CHOICE", choice + "\n" + shape).replace("USE", use.replace("Shape(chosen)", "rows"))
    check(text.replace("TRIPS", str(trips)), *({"c": np.array(c), "x": ones(3)} for c in (True, False)))


def test_what_a_trip_requires_of_a_size_does_not_hold_in_the_next_trip():
    """The first trip requires that 3 or 4 rows are 3, the second that 6 or 7 are 6."""
    text = LOOP.replace("CHOICE", BRANCH).replace("USE", "Add(chosen, h)").replace("TRIPS", "2")
    check(text, {"c": np.array(True), "x": ones(3)})


def test_an_unknown_rank_differs_between_trips():
    """The branch makes a vector of the scalar in the first trip, and a matrix of the vector in the second."""
    text = LOOP.replace("CHOICE", BRANCH.replace("Concat<axis = 0>(h, one)", "Unsqueeze(h, zero)"))
    text = text.replace("USE", "Identity(chosen)").replace("Concat<axis = 0>(chosen, chosen)", "Identity(chosen)")
    check(text.replace("TRIPS", "2"), *({"c": np.array(c), "x": ones(3)} for c in (True, False)))


def test_items_of_a_sequence_differ():
    """The rows of an item are those of its input, or one more; the sizes of two items are independent."""
    text = """g (bool c, float[3] x, float[6] z) => (float[] y, float[] w, float[] v) {
      one = Constant<value = float[1] {1.0}>()
      zero = Constant<value = int64[1] {0}>()
      first = Constant<value = int64 {0}>()
      second = Constant<value = int64 {1}>()
      five = Constant<value = int64[1] {5}>()
      s = SequenceConstruct(x, z)
      t, cut = SequenceMap(s) <body = b (float[] h) => (float[] chosen, float[] u) {
        CHOICE
        u = Slice(chosen, zero, five)
      }>
      y = SequenceAt(t, first)
      w = SequenceAt(t, second)
      v = SequenceAt(cut, second)
    }""".replace("CHOICE", BRANCH)
    check(text, *({"c": np.array(c), "x": ones(3), "z": ones(6)} for c in (True, False)))


SCANNED = """g (float[a, b] x) => (float[] y, float[] s) {
  n = Constant<value = int64 {3}>()
  y, s = Loop (n, , x) <body = b (int64 i, bool go, float[] h) => (bool go2, float[] h2, float[] e) {
    go2 = Identity(go)
    h2 = NEXT
    e = Relu(h)
  }>
}"""


def test_elements_of_a_scan_output_have_one_number_of_elements():
    """The specification requires one shape; onnxruntime stacks transposed elements."""
    check(SCANNED.replace("NEXT", "Transpose(h)"), {"x": ones(2, 2)}, {"x": ones(2, 3)})


def test_a_scan_output_that_grows_is_a_violation():
    model = parsed(SCANNED.replace("NEXT", "Concat<axis = 0>(h, h)"))
    (violation,) = [d for d in infer_shapes(model).diagnostics if d.severity == "error"]
    assert violation.code == "S101" and "a scan output must have the same number of elements" in violation.message
    with pytest.raises(Exception, match="Inconsistent shape in loop output"):
        run(model, {"x": ones(2, 3)})
