"""The iteration number and the condition of a loop as exporters write them: scalars, or vectors of one element."""

import itertools

import numpy as np
import pytest

from tests.engine.runtime import check

LOOP = """g (int64COUNT n, boolFIRST start, float[N, 4] x, float[5, 3] table) => (y, out) {
  zero = Constant<value = int64[1] {0}>()
  flat = Constant<value = int64[1] {-1}>()
  y, out = Loop (n, start, x) <body = b (int64NUMBER i, boolCONDITION go, float[] h) => (bool go2, float[] h2, s) {
    go2 = Identity(go)
    h2 = Identity(h)
    s = USE
  }>
}"""

USES = ["Shape(i)", "Shape(go)", "Identity(i)", "Identity(go)", "Gather(table, i)", "Unsqueeze(i, zero)", "Squeeze(i)",
        "Concat<axis = 0>(i, zero)", "Reshape(i, flat)", "Add(i, zero)"]  # fmt: skip


def text(count="", first="", number="", condition="", use="Identity(i)"):
    parts = {"COUNT": count, "FIRST": first, "NUMBER": number, "CONDITION": condition, "USE": use}
    text = LOOP
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


def feeds(count="", first="", trips=3):
    n = np.full([1] if count else [], trips, np.int64)
    return {"n": n, "start": np.ones([1] if first else [], bool), "x": np.ones((2, 4), np.float32),
            "table": np.ones((5, 3), np.float32)}  # fmt: skip


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(("number", "count", "first"), list(itertools.product(("", "[1]"), ("", "[1]"), ("", "[1]"))))
def test_outputs_of_a_body_by_trips(use, number, count, first):
    """The number has the axes that the body declares, the condition those of the one before the loop."""
    if number == "" and use.startswith("Concat"):
        return  # a scalar cannot be a part
    result = check(text(count, first, number, first, use), *(feeds(count, first, n) for n in (1, 3)))
    assert all(result.tensors[name].shape.dims is not None for name in ("y", "out"))


@pytest.mark.parametrize("number", ["[2]", "[k]", "[1, 1]"])
def test_a_declared_axis_is_a_single_element(number):
    """onnxruntime computes one element, whatever the declared size and rank."""
    check(text(number=number, use="Identity(i)"), feeds())


def test_an_absent_condition_is_as_declared():
    loop = text(condition="[1]", use="Identity(go)").replace("(n, start, x)", "(n, , x)")
    check(loop, feeds())
