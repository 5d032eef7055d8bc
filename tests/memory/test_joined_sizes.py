"""Sizes of alternatives are bounded by the larger; growing sizes have no bound.

Real sizes are counted by onnxruntime; the bounds themselves are arithmetic of the rows of `x` and `z`.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from shapeinf import infer_shapes
from tests.engine.runtime import parsed, run

BRANCHES = """g (bool c, float[N, 4] x, float[M, 4] z) => (float[] y) {{
    y = If (c) <then_branch = t () => (float[] p) {{ {then} }}, else_branch = e () => (float[] q) {{ {other} }}> }}"""

CUT = "i = Constant<value = int64[1] {0}>() j = Constant<value = int64[1] {2}>() p = Slice(x, i, j)"
NESTED = """p = If (c) <then_branch = t2 () => (float[] p2) { p2 = Concat<axis = 0>(z, z, z) },
                        else_branch = e2 () => (float[] q2) { q2 = Relu(z) }>"""

CASES = {
    "one or the other": ("p = Relu(x)", "q = Relu(z)", lambda n, m: max(n, m)),
    "a part or all": (CUT, "q = Concat<axis = 0>(x, z)", lambda n, m: max(min(n, 2), n + m)),
    "branches in branches": (NESTED, "q = Concat<axis = 0>(x, x)", lambda n, m: max(3 * m, m, 2 * n)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_larger_branch_is_the_bound(name):
    then, other, rows = CASES[name]
    result = infer_shapes(parsed(BRANCHES.format(then=then, other=other)))
    peak = result.memory().peak
    assert peak.at_most
    assert not peak.at_least
    for n, m in product((1, 2, 7), (1, 3, 20)):
        (size,) = [size for buffer, size in peak.at(N=n, M=m).alive if buffer.name == "y"]
        assert size == 16 * rows(n, m)
    assert str(result.contract) == "no preconditions on the inputs"


LOOP = """g (int64 n, bool q, float[N, 4] x, float[M, 4] z) => (float[] y, float[] w) {{
    y, w = Loop(n, , x, z) <body = b (int64 i, bool c, float[] s, float[] t) => (bool d, float[] s2, float[] t2) {{
        d = Identity(c) {body} }}> }}"""

BODIES = {
    "what was there before": ("s2 = Relu(z) t2 = Relu(t)", lambda n, m: max(n, m), lambda n, m: m),
    "one input or the other": (
        """s2 = If (q) <then_branch = t () => (float[] p) { p = Concat<axis = 0>(x, z) },
                        else_branch = e () => (float[] r) { r = Relu(z) }> t2 = Relu(t)""",
        None,  # the results of the branches are of this trip, the state is of the previous
        lambda n, m: m,
    ),
    "twice as much": ("s2 = Concat<axis = 0>(s, s) t2 = Relu(t)", None, lambda n, m: m),
    "one after the other": ("s2 = Relu(t) t2 = Relu(x)", None, lambda n, m: max(n, m)),
    "exchanged": ("s2 = Relu(t) t2 = Relu(s)", None, None),
    "chosen": (
        """s2 = If (q) <then_branch = t () => (float[] p) { p = Relu(s) },
                        else_branch = e () => (float[] r) { r = Relu(t) }> t2 = Relu(x)""",
        None,
        lambda n, m: max(n, m),
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_states_of_loops_are_bounded_by_sizes_that_are_equal_in_all_trips(name):
    body, *bounds = BODIES[name]
    model = parsed(LOOP.format(body=body))
    peak = infer_shapes(model).memory().peak
    unbounded = {u.name for u in peak.unbounded}
    assert {"y", "w"} & unbounded == {output for output, rows in zip("yw", bounds, strict=True) if rows is None}
    for (n, m), trips, q in product([(1, 4), (5, 2), (3, 3)], range(4), (True, False)):
        alive = {buffer.name: size for buffer, size in peak.at(N=n, M=m).alive}
        feeds = {"n": np.array(trips), "q": np.array(q)}
        outputs = run(model, feeds | {"x": np.zeros((n, 4), np.float32), "z": np.zeros((m, 4), np.float32)})
        for output, rows in zip("yw", bounds, strict=True):
            if rows is not None:
                assert outputs[output].nbytes <= alive[output] == 16 * rows(n, m)


def test_a_loop_that_ends_by_its_condition_counts_no_further_than_its_trips():
    """Rows 0 to i of x, in trips 0 to M: at most M + 1 rows of 16 bytes, and no more than there are."""
    text = """g (float[N, 4] x, float[M] z) => (float[4] y) {
        go = Constant<value = bool {1}>()
        one = Constant<value = int64 {1}>()
        zero = Constant<value = int64[1] {0}>()
        h = Constant<value = float[4] {0.0, 0.0, 0.0, 0.0}>()
        m = Size(z)
        y = Loop(, go, h) <body = b (int64 i, bool c, float[4] s) => (bool d, float[4] s2) {
            d = Less(i, m)
            k = Add(i, one)
            j = Unsqueeze(k, zero)
            rows = Slice(x, zero, j)
            s2 = ReduceSum<keepdims = 0>(rows, zero) }> }"""
    peak = infer_shapes(parsed(text)).memory().peak
    assert not peak.at_least
    for n, m in product((1, 5, 30), (1, 4, 40)):
        assert dict((b.name, s) for b, s in peak.at(N=n, M=m).alive)["y/rows"] == 16 * min(n, m + 1)


def test_an_element_of_a_sequence_is_no_larger_than_the_largest():
    text = """g (float[N, 4] x, float[M, 4] z, int64 i) => (float[] y) {
        s = SequenceConstruct(x, z)  y = SequenceAt(s, i) }"""
    peak = infer_shapes(parsed(text)).memory().peak
    assert not peak.at_least
    for n, m in product((1, 2, 7), (1, 3, 20)):
        assert {b.name: s for b, s in peak.at(N=n, M=m).alive} == {"s": 16 * (n + m), "y": 16 * max(n, m)}
