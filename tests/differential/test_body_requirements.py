"""Requirements of bodies: onnxruntime fails if one is violated and its body runs, and only then."""

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from tests.contract.test_contract import BRANCH, LOOP, model
from tests.differential import ort

HALVES = """g (bool flag, float[1, seq] x) => (float[n, m] y)
<int64[2] wanted = {-1, 2}>
{ [choice] y = If(flag) <then_branch = a () => (float[r, t] s) { [pair] s = Reshape(x, wanted) },
                         else_branch = b () => (float[p, q] u) { u = Identity(x) }> }"""
NESTED = """g (bool flag, int64 count, float[batch, 6] x, float[rows, 6] w) => (float[n, m] y)
<bool yes = {1}>
{ [choice] y = If(flag) <
    then_branch = a () => (float[r, t] s) {
      [again] s = Loop(count, yes, x)
        <body = b (int64 i, bool go, float[o, l] old) => (bool go_on, float[u, v] new) {
          go_on = Identity(go)
          [join] all = Concat<axis = 1>(old, w)
          new = Identity(old) }> },
    else_branch = c () => (float[p, q] k) { k = Identity(x) }> }"""

STEPS = """g (float[seq, 2] x, float[2] first) => (float[n] y, float[k, p] all)
<bool yes = {1}, int64 count = {5}>
{ [again] y, all = Loop(count, yes, first)
    <body = b (int64 i, bool go, float[r] old) => (bool go_on, float[t] new, float[v] row) {
      go_on = Identity(go)
      [pick] row = Gather(x, i)
      new = Add(old, row) }> }"""
CASES = [
    (BRANCH, "batch == 1", "then_branch of If 'choice'", [{"batch": n} for n in range(1, 4)]),
    (HALVES, "seq % 2 == 0", "then_branch of If 'choice'", [{"seq": n} for n in range(1, 9)]),
    (LOOP, "rows == batch", "body of Loop 'again'", [{"batch": 2, "rows": n} for n in range(1, 4)]),
    (NESTED, "rows == batch", "body of Loop 'choice/again'", [{"batch": 2, "rows": n} for n in range(1, 4)]),
]


def session_of(proto):
    known = onnx.ModelProto()
    known.CopyFrom(proto)
    known.opset_import.pop()  # a domain that onnxruntime lacks and no node uses
    return ort.session_of(known)


def runs(session, sizes, active):
    types = {"tensor(int64)": np.int64, "tensor(float)": np.float32, "tensor(bool)": np.bool_}
    feeds = {i.name: np.zeros([sizes.get(d, d) for d in i.shape], types[i.type]) for i in session.get_inputs()}
    feeds.update({n: np.array(active, feeds[n].dtype) for n in ("flag", "count") if n in feeds})
    try:
        session.run(None, feeds)
    except Exception:  # onnxruntime has no class of its own for what fails at run time
        return False
    return True


SCANNED = """g (float[time, batch] x, float[rows] first) => (float[n] y, float[k, p] all)
{ [scan] y, all = Scan<num_scan_inputs = 1,
    body = b (float[r] old, float[t] row) => (float[u] new, float[v] out) {
      new = Identity(old)
      wide = Constant<value_ints = [1, -1]>()
      left = Reshape(old, wide)
      right = Reshape(row, wide)
      [join] both = Concat<axis = 0>(left, right)
      out = Identity(row) }>(first, x) }"""


CERTAIN = [
    (SCANNED, "equality", "rows == batch", "scan/join", [{"time": 3, "batch": 2, "rows": n} for n in range(1, 5)]),
    (STEPS, "range", "seq >= 5", "again/pick", [{"seq": n} for n in range(1, 12)]),
]


@pytest.mark.parametrize(("text", "kind", "condition", "node", "tried"), CERTAIN, ids=["scan", "last of known trips"])
def test_requirements_of_bodies_that_certainly_run_are_unconditional(text, kind, condition, node, tried):
    """A scan over at least one element runs its body, and every trip has the same shapes; a loop has known trips."""
    proto = model(text)
    contract = infer_shapes(proto).contract
    (precondition,) = contract
    assert (precondition.kind, precondition.text, precondition.node, precondition.where) == (kind, condition, node, "")
    session = session_of(proto)
    for sizes in tried:
        ran = runs(session, sizes, 1)
        assert ran is eval(condition, {}, sizes)
        assert contract.check(sizes).verdict is ran


FIRST = """g (float[time, 1] x, float[rows, 2] start, float[batch, 2] w) => (float[n, m] y)
<bool yes = {1}>
{ sizes = Shape<start = 0, end = 1>(x)
  count = Squeeze(sizes)
  y = Loop(count, yes, start)
    <body = b (int64 i, bool go, float[o, l] old) => (bool go_on, float[u, v] new) {
      go_on = Identity(go)
      [join] all = Concat<axis = 1>(old, w)
      places = NonZero(w)
      new = Cast<to = 1>(places) }> }"""


def test_requirements_of_a_certain_first_trip_are_unconditional():
    """The shapes of later states depend on data."""
    proto = model(FIRST)
    contract = infer_shapes(proto).contract
    assert ("equality", "batch == rows") in [(precondition.kind, precondition.text) for precondition in contract.always]
    session = session_of(proto)
    for rows in range(1, 4):
        sizes = {"time": 1, "rows": rows, "batch": 2}
        ran = runs(session, sizes, 1)
        assert ran is (rows == 2)
        answer = contract.check(sizes)
        assert answer.verdict is ran
        assert len(set(answer.reasons)) == len(answer.reasons)


@pytest.mark.parametrize(("text", "condition", "where", "tried"), CASES)
def test_requirements_of_bodies(text, condition, where, tried):
    proto = model(text)
    (precondition,) = infer_shapes(proto).contract
    assert (precondition.kind, precondition.text, precondition.where) == ("guard", condition, where)
    session = session_of(proto)
    for sizes in tried:
        assert runs(session, sizes, 1) is eval(condition, {}, sizes)
        assert runs(session, sizes, 0)
