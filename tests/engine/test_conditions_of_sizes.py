"""Conditions that compare sizes hold inside of branches and loops, and what they imply behind: against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from tests.differential.ort import session_of
from tests.engine.runtime import parsed, shapes

CONSTANTS = "".join(f"k{n} = Constant<value = int64[1] {{{n}}}>() " for n in (0, 1, 2, 3, 4, 6, 7, 8))
ROWS = CONSTANTS + "zeros = Constant<value = int64[2] {0, 0}>() t = Shape<start = 0, end = 1>(x) "

# Bodies by name: what is computed from x [t, 3], where `t` is the vector of its rows, and z [n, 3] with `n`.
BODIES = {
    "same": "OUT = Identity(x)",
    "pad to 8": "d = Sub(k8, t) pads = Concat<axis = 0>(zeros, d, k0) OUT = Pad(x, pads)",
    "crop to 8": "OUT = Slice(x, k0, k8, k0)",
    "crop to 3": "OUT = Slice(x, k0, k3, k0)",
    "pad to n": "d = Sub(n, t) pads = Concat<axis = 0>(zeros, d, k0) OUT = Pad(x, pads)",
    "crop to n": "OUT = Slice(x, k0, n, k0)",
    "squeeze": "s = Squeeze(x, k0) OUT = Unsqueeze(s, k0)",
    "pad by rest": "pads = Concat<axis = 0>(zeros, rest, k0) OUT = Pad(x, pads)",
    "twice": "OUT = Concat<axis = 0>(x, x)",
    "fourth": "OUT = Gather(x, k4)",
    "row": "OUT = Gather(x, k0)",
}
BRANCHES = [
    ("c = Less(t, k8)", "pad to 8", "crop to 8", "[8, 3]"),
    ("c = Less(t, k8)", "pad to 8", "same", "[max(t, 8), 3]"),
    ("c = Greater(t, k8)", "crop to 8", "pad to 8", "[8, 3]"),
    ("g = GreaterOrEqual(t, k8) c = Not(g)", "pad to 8", "crop to 8", "[8, 3]"),
    ("c = Greater(t, k3)", "crop to 3", "same", "[min(t, 3), 3]"),
    ("c = Equal(t, k1)", "squeeze", "same", "[t, 3]"),
    ("c = Equal(t, k1)", "twice", "same", "[max(t, 2), 3]"),
    ("e = Equal(t, k3) c = Not(e)", "same", "crop to 3", "[t, 3]"),
    ("c = Less(t, n)", "pad to n", "crop to n", "[n, 3]"),
    ("c = Less(t, n)", "pad to n", "same", "[max(t, n), 3]"),
    ("a = Less(t, k3) b = Greater(t, k7) c = Or(a, b)", "twice", "same", "[?, 3]"),
    ("a = Less(t, k8) b = Less(t, k3) c = And(a, b)", "pad to 8", "same", "[?, 3]"),
    ("minus = Neg(t) rest = Mod(minus, k4) c = Greater(rest, k0)", "pad by rest", "same", "[4*((t + 3)//4), 3]"),
    ("c = Greater(t, k4)", "fourth", "row", "[1, 3]"),
]


def branches(condition, then, other):
    text = """g (float[t, 3] x, float[n, 3] z) => (float[] y) { n = Shape<start = 0, end = 1>(z) ROWS CONDITION
      flag = Squeeze(c)
      y = If (flag) <then_branch = a () => (float[] p) { THEN }, else_branch = b () => (float[] q) { ELSE }>
    }"""
    words = {"ROWS": ROWS, "CONDITION": condition}
    words |= {"THEN": BODIES[then].replace("OUT", "p"), "ELSE": BODIES[other].replace("OUT", "q")}
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return parsed(text)


def agree(result, model, names):
    """The shape of y is the real one at all sizes that onnxruntime runs, of which there are some."""
    session, runs = session_of(model), 0
    for t in range(1, 11):
        for n in (1, 4, 9):
            sizes = {"t": t, "n": n}
            feeds = {name: np.ones((sizes[dim], 3), np.float32) for name, dim in names.items()}
            try:
                (real,) = session.run(["y"], feeds)
            except Exception:  # onnxruntime has no class of its own for what fails at run time
                assert result.contract.check({dim: sizes[dim] for dim in names.values()}).verdict is not True
                continue
            runs += 1
            assert result.contract.check({dim: sizes[dim] for dim in names.values()}).verdict is not False
            for dim, size in zip(result.tensors["y"].shape, real.shape, strict=True):
                if isinstance(dim, int) or not dim.is_anonymous:
                    assert evaluate(dim, sizes) == size
                bounds = result.interval(dim)
                assert (bounds.lo or 0) <= size and (bounds.hi is None or size <= bounds.hi)
    assert runs > 5


def text_of(shape):
    return "[" + ", ".join("?" if getattr(d, "is_anonymous", False) else str(d) for d in shape) + "]"


@pytest.mark.parametrize(("condition", "then", "other", "expected"), BRANCHES)
def test_branches(condition, then, other, expected):
    model = branches(condition, then, other)
    result = infer_shapes(model)
    assert not result.diagnostics
    assert text_of(result.tensors["y"].shape) == expected
    agree(result, model, {"x": "t", "z": "n"})


def test_the_order_of_branches_does_not_matter():
    for condition, then, other, _ in BRANCHES:
        swapped = condition.replace("c = ", "d = ") + " c = Not(d)"
        first, second = infer_shapes(branches(condition, then, other)), infer_shapes(branches(swapped, other, then))
        assert text_of(first.tensors["y"].shape) == text_of(second.tensors["y"].shape)


def test_a_condition_holds_in_its_branch_alone():
    """Where x has 8 rows or more, the other branch says nothing of it; nor does either one outside."""
    model = branches("c = Less(t, k8)", "pad to 8", "crop to 8")
    result = infer_shapes(model)
    assert str(result.interval(result.tensors["x"].shape[0])) == "1.."
    assert not result.contract.preconditions
    assert shapes(infer_shapes(model, bind={"t": 3}), "y") == ["float32[8, 3]"]


def loop(update, condition):
    """A Loop without a limit, whose condition compares the rows `s` of its value with a number, before each trip."""
    text = """g (float[t, 3] x) => (float[] y) { ROWS
      before = START  go = Squeeze(before)
      y = Loop (, go, x) <body = b (int64 i, bool c, float[r, 3] h) => (bool again, float[q, 3] after) {
        after = UPDATE
        s = Shape<start = 0, end = 1>(after)  more = TEST  again = Squeeze(more)
      }>
    }"""
    words = {"ROWS": ROWS, "START": condition.replace("SIZE", "t"), "TEST": condition.replace("SIZE", "s")}
    for word, meaning in (words | {"UPDATE": update}).items():
        text = text.replace(word, meaning)
    return parsed(text)


@pytest.mark.parametrize(
    ("update", "condition", "expected", "bounds"),
    [
        ("Pad(h, one_more)", "Less(SIZE, k7)", "[max(t, 7), 3]", "7.."),
        ("Slice(h, k1, k8, k0)", "Greater(SIZE, k4)", None, None),
        ("Concat<axis = 0>(h, h)", "Less(SIZE, k7)", "[?, 3]", "7.."),
        ("Concat<axis = 0>(h, h)", "LessOrEqual(SIZE, k7)", "[?, 3]", "8.."),
        ("Slice(h, k1, big, k0)", "Greater(SIZE, k4)", "[min(t, 4), 3]", "1..4"),
        ("Slice(h, k0, big, k0, k2)", "Greater(SIZE, k4)", "[?, 3]", "1..4"),
    ],
)
def test_the_condition_of_a_loop_does_not_hold_behind_it(update, condition, expected, bounds):
    model = loop(update, condition)
    more = parsed(
        "g () => (int64[4] one_more, int64[1] big) { one_more = Constant<value = int64[4] {0, 0, 1, 0}>() "
        "big = Constant<value = int64[1] {9223372036854775807}>() }"
    )
    for node in more.graph.node[::-1]:
        model.graph.node.insert(0, node)
    result = infer_shapes(model)
    agree(result, model, {"x": "t"})
    if expected is not None:
        assert text_of(result.tensors["y"].shape) == expected
        assert str(result.interval(result.tensors["y"].shape[0])) == bounds


def test_a_requirement_that_follows_from_the_condition_is_not_listed():
    """Gather needs 5 rows, which the branch has; it runs only where it has them."""
    result = infer_shapes(branches("c = Greater(t, k4)", "fourth", "row"))
    assert str(result.contract) == "no preconditions on the inputs"


def test_what_the_branches_require_together_is_a_precondition():
    """The first needs 5 rows, but runs only with fewer than 3; so there must be 3 or more."""
    model = branches("c = Less(t, k3)", "fourth", "row")
    result = infer_shapes(model)
    assert [str(c.text) for c in result.contract.preconditions] == ["t >= 3"]
    agree(result, model, {"x": "t", "z": "n"})


def test_a_disjunction_that_both_branches_require_is_a_precondition():
    text = """g (bool flag, float[n] x, float[m] z) => (float[] y) {
      y = If (flag) <then_branch = a () => (float[] p) { p = Add(x, z) },
                     else_branch = b () => (float[] q) { q = Mul(x, z) }>
    }"""
    result = infer_shapes(parsed(text))
    assert [c.text for c in result.contract.preconditions] == ["n == m or n == 1 or m == 1"]
    assert result.contract.check(n=2, m=3).verdict is False
    assert result.contract.check(n=3, m=3).verdict is True


def test_an_unknown_of_several_branches_has_the_bounds_of_each():
    """With sizes of 0 a broadcast has one unknown wherever it occurs; a branch for few sizes says nothing of it."""
    text = """g (float[a] x, float[b] z) => (float[] y, float[] w) {
      s = Shape(x)  t = Shape(z)  three = Constant<value = int64[1] {3}>()
      few = Less(s, three)  few2 = Less(t, three)  both = And(few, few2)  c = Squeeze(both)
      y = If (c) <then_branch = p () => (float[] q) { q = Add(x, z) },
                  else_branch = e () => (float[] r) { r = Mul(x, z) }>
      w = Sub(x, z)
    }"""
    model = parsed(text)
    result = infer_shapes(model, min_dim=0)
    for name in ("y", "w"):
        assert str(result.interval(result.tensors[name].shape[0])) == "0.."
