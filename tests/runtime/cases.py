"""Models that every runtime verifies."""

from __future__ import annotations

import pytest

MATMUL = "g (float[batch, seq] x, float[seq, 4] w) => (float[batch, 4] y) { p = MatMul(x, w)  y = Relu(p) }"
CHOICE = "g (float[n] x) => (float[1, m] y, float[n] z) { c = NonZero(x)  y = Cast<to = 1>(c)  z = Neg(x) }"

ENDLESS = """g (float[n] x) => (float[n] y) {
    trips = Constant<value = int64 {9000000000000000}>()
    go = Constant<value = bool {1}>()
    y = Loop(trips, go, x) <body = b (int64 i, bool c, float[n] v) => (bool d, float[n] w)
        { d = Identity(c)  w = Neg(v) }>
}"""

VERIFIED = [
    pytest.param(MATMUL, (2, 2, 0, 1), id="plain"),
    pytest.param(CHOICE, (3, 1, 2, 1), id="a size that depends on data"),
    pytest.param("g (float x) => (float y) { y = Neg(x) }", (1, 1, 0, 1), id="scalar"),
    pytest.param("g (bfloat16[n] x) => (float[n] y) { y = Cast<to = 1>(x) }", (1, 1, 0, 1), id="bfloat16"),
    pytest.param("g (float[n] x) => (bfloat16[n] y) { y = Cast<to = 16>(x) }", (1, 1, 0, 1), id="to bfloat16"),
    pytest.param(
        "g (int64[n] x) => (float[n, 3] y) { t = Constant<value = float[1, 3] {1, 2, 3}>() y = Gather(t, x) }",
        (2, 2, 0, 1),
        id="only 0 is a legal index",
    ),
    pytest.param("g (float[?, 3] x) => (float[k, 3] y) { y = Neg(x) }", (1, 1, 0, 1), id="a dim without a name"),
]
"""Text, and the numbers of tensors, of exact types, of types within bounds, and of outputs in buffers."""
