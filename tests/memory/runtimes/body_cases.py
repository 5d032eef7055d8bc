"""Small models with bodies, one for each rule by which onnxruntime runs them, with the bytes that were measured."""

from __future__ import annotations

import attrs
import numpy as np
import onnx

from tests.memory.runtimes.session_cases import HEAD

ROWS, SLICES = 64, 5
WEIGHT = f"float[16, 16] w = {{{', '.join(['1'] * 256)}}}"
ONES = f"{{{', '.join(['1'] * 16)}}}"


@attrs.frozen
class BodyCase:
    """A model and what was measured of it in onnxruntime 1.32 with optimizations off, in bytes.

    Args:
        label: the rule.
        first: the peak of a first run without a memory pattern.
        first_with_blocks: that of a first run with a memory pattern.
        later: the peak of the second and third run with a memory pattern.
        held: what the session holds after it is created.
        text: the graph. `x` has 64 rows of 16 numbers, `z` has five such slices, the condition `p` is true.
    """

    label: str
    first: int
    first_with_blocks: int
    later: int
    held: int
    text: str

    @property
    def model(self) -> onnx.ModelProto:
        text = self.text.replace("WEIGHT", WEIGHT).replace("ONES", ONES)
        return onnx.parser.parse_model(f"{HEAD} {text}")

    def arrays(self) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
        every = {"x": np.ones((ROWS, 16), np.float32), "p": np.array(True)}
        every["z"] = np.ones((SLICES, ROWS, 16), np.float32)
        return {value.name: every[value.name] for value in self.model.graph.input}


BODY_CASES = [
    BodyCase(
        "a body packs a weight of the model",
        *(12416, 12416, 12416, 1152),
        "g (float[n, 16] x) => (float[n, 16] y) <int64 trips = {3}, bool go = {1}, WEIGHT> { y = Loop(trips, go, "
        "x) <body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r) { d = Identity(c) a = "
        "MatMul(s, w) e = Neg(a) r = Exp(e) }> }",
    ),
    BodyCase(
        "a body packs a weight and reads it as it is",
        *(12480, 16768, 16768, 2176),
        "g (float[n, 16] x) => (float[n, 16] y) <int64 trips = {3}, bool go = {1}, WEIGHT> { y = Loop(trips, go, "
        "x) <body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r) { d = Identity(c) a = "
        "MatMul(s, w) q = Gather<axis=0>(w, i) e = Add(a, q) r = Exp(e) }> }",
    ),
    BodyCase(
        "a body packs a weight of its own",
        *(12416, 16512, 16512, 2176),
        "g (float[n, 16] x) => (float[n, 16] y) <int64 trips = {3}, bool go = {1}> { y = Loop(trips, go, x) <body "
        "= b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r) { d = Identity(c) w = Constant<value = "
        "float[16, 16] {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}>() a = MatMul(s, w) e = Neg(a) r = Exp(e) }> }",
    ),
    BodyCase(
        "a branch that never runs has weights",
        *(8192, 8192, 8192, 1152),
        "g (float[n, 16] x) => (float[n, 16] y) <bool p = {1}, WEIGHT> { y = If(p) <then_branch = t () => "
        "(float[n, 16] r) { a = Abs(x) r = Neg(a) }, else_branch = e () => (float[n, 16] q) { a = Abs(x) b = "
        "MatMul(a, w) k = Constant<value = float[16] ONES>() q = Add(b, k)}> }",
    ),
    BodyCase(
        "both branches pack a weight",
        *(8192, 8192, 8192, 1088),
        "g (float[n, 16] x, bool p) => (float[n, 16] y) <WEIGHT> { y = If(p) <then_branch = t () => (float[n, 16] "
        "r) { a = Abs(x) r = MatMul(a, w) }, else_branch = e () => (float[n, 16] q) { a = Abs(x) b = MatMul(a, w) "
        "k = Constant<value = float[16] ONES>() q = Add(b, k)}> }",
    ),
    BodyCase(
        "the output of a branch is in a block",
        *(12288, 12288, 16384, 64),
        "g (float[n, 16] x) => (float[n, 16] y) <bool p = {1}> { z = Neg(x) v = If(p) <then_branch = t () => "
        "(float[n, 16] r) { a = Abs(z) b = Neg(a) r = Exp(b) }, else_branch = e () => (float[n, 16] q) { q = "
        "Neg(z) }> w = Abs(v) y = Exp(w) }",
    ),
    BodyCase(
        "a branch in a loop",
        *(20608, 20608, 20608, 192),
        "g (float[n, 16] x) => (float[n, 16] y) <int64 trips = {4}, bool go = {1}, bool p = {1}> { y = "
        "Loop(trips, go, x) <body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r) { d = "
        "Identity(c) a = Abs(s) f = Exp(a) v = If(p) <then_branch = t () => (float[n, 16] m) { h = Neg(f) j = "
        "Exp(h) m = Neg(j) }, else_branch = e () => (float[n, 16] q) { q = Neg(f) }> u = Abs(v) r = Neg(u) }> }",
    ),
    BodyCase(
        "a loop in a loop",
        *(45184, 45184, 45184, 128),
        "g (float[n, 16] x) => (float[t, n, 16] y) <int64 trips = {4}, bool go = {1}> { z, y = Loop(trips, go, x) "
        "<body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r, float[n, 16] o) { d = "
        "Identity(c) a = Abs(s) r = Loop(trips, c, a) <body = b2 (int64 i2, bool c2, float[n, 16] s2) => (bool "
        "d2, float[n, 16] r2) { d2 = Identity(c2) h2 = Neg(s2) j2 = Exp(h2) r2 = Abs(j2) }> o = Neg(r) }> }",
    ),
    BodyCase(
        "a loop without trips",
        *(8320, 8320, 8320, 128),
        "g (float[n, 16] x) => (float[n, 16] y) <int64 trips = {0}, bool go = {1}> { z = Neg(x) y = Loop(trips, "
        "go, z) <body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r) { d = Identity(c) a = "
        "Abs(s) r = Neg(a) }> }",
    ),
    BodyCase(
        "a loop of a single trip",
        *(16512, 16512, 16512, 128),
        "g (float[n, 16] x) => (float[n, 16] y, float[t, n, 16] o) <int64 trips = {1}, bool go = {1}> { y, o = "
        "Loop(trips, go, x) <body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r, float[n, 16] "
        "k) { d = Identity(c) a = Abs(s) f = Exp(a) r = Neg(f) k = Exp(s) }> }",
    ),
    BodyCase(
        "a scan with inner values",
        *(40960, 40960, 40960, 0),
        "g (float[n, 16] x, float[5, n, 16] z) => (float[n, 16] y, float[5, n, 16] w) { y, w = Scan "
        "<num_scan_inputs = 1, body = b (float[n, 16] s, float[n, 16] v) => (float[n, 16] r, float[n, 16] o) { a "
        "= Abs(s) e = Exp(a) r = Add(e, v) f = Neg(v) q = Exp(f) o = Neg(q) }> (x, z) }",
    ),
    BodyCase(
        "a scan between other nodes",
        *(57344, 57344, 73728, 0),
        "g (float[n, 16] x, float[5, n, 16] z) => (float[n, 16] y, float[5, n, 16] w) { x1 = Neg(x) z1 = Neg(z) "
        "y1, w1 = Scan <num_scan_inputs = 1, body = b (float[n, 16] s, float[n, 16] v) => (float[n, 16] r, "
        "float[n, 16] o) { r = Add(s, v) o = Neg(v) }> (x1, z1) y = Exp(y1) w = Exp(w1) }",
    ),
    BodyCase(
        "a loop between other nodes",
        *(57472, 57472, 65664, 128),
        "g (float[n, 16] x) => (float[n, 16] y, float[t, n, 16] p) <int64 trips = {5}, bool go = {1}> { z = "
        "Neg(x) v, o = Loop(trips, go, z) <body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r, "
        "float[n, 16] k) { d = Identity(c) a = Abs(s) k = Exp(a) e = Neg(a) r = Exp(e) }> y = Neg(v) p = Neg(o) }",
    ),
    BodyCase(
        "a state and an equal slice",
        *(53376, 53376, 53376, 128),
        "g (float[n, 16] x) => (float[n, 16] y, float[t, n, 16] p) <int64 trips = {5}, bool go = {1}> { y, p = "
        "Loop(trips, go, x) <body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r, float[n, 16] "
        "k) { d = Identity(c) r = Exp(s) k = Identity(r) }> }",
    ),
    BodyCase(
        "a state that never changes",
        *(49280, 49280, 49280, 128),
        "g (float[n, 16] x) => (float[n, 16] y, float[t, n, 16] p) <int64 trips = {5}, bool go = {1}> { z = "
        "Neg(x) y, p = Loop(trips, go, z) <body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r, "
        "float[n, 16] k) { d = Identity(c) r = Identity(s) k = Neg(s) }> }",
    ),
    BodyCase(
        "states that change places",
        *(24704, 24704, 24704, 128),
        "g (float[n, 16] x) => (float[n, 16] y, float[n, 16] p) <int64 trips = {5}, bool go = {1}> { z = Neg(x) "
        "y, p = Loop(trips, go, z, x) <body = b (int64 i, bool c, float[n, 16] s, float[n, 16] u) => (bool d, "
        "float[n, 16] r, float[n, 16] k) { d = Identity(c) r = Identity(u) k = Neg(s) }> }",
    ),
    BodyCase(
        "a state that grows",
        *(69760, 69760, 86144, 128),
        "g (float[n, 16] x) => (float[m, 16] y) <int64 trips = {5}, bool go = {1}> { y = Loop(trips, go, x) <body "
        "= b (int64 i, bool c, float[k, 16] s) => (bool d, float[l, 16] r) { d = Identity(c) a = Neg(s) e = "
        "Exp(a) r = Concat<axis=0>(e, x) }> }",
    ),
    BodyCase(
        "slices smaller than the values of a trip",
        *(9344, 9600, 9600, 192),
        "g (float[n, 16] x) => (float[t, m] y) <int64 trips = {5}, bool go = {1}, int64[1] ax = {1}> { y = "
        "Loop(trips, go) <body = b (int64 i, bool c) => (bool d, float[l] r) { d = Identity(c) a = Neg(x) e = "
        "Exp(a) r = ReduceSum<keepdims=0>(e, ax) }> }",
    ),
    BodyCase(
        "a loop that ends by its condition",
        *(12480, 16576, 16576, 128),
        "g (float[n, 16] x) => (float[n, 16] y) <int64 lim = {4}, bool go = {1}> { y = Loop(, go, x) <body = b "
        "(int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r) { d = Less(i, lim) a = Abs(s) e = Neg(a) r "
        "= Exp(e) }> }",
    ),
    BodyCase(
        "a branch with two outputs",
        *(12288, 12288, 16384, 64),
        "g (float[n, 16] x) => (float[n, 16] y, float[n, 16] y2) <bool p = {1}> { u, v = If(p) <then_branch = t "
        "() => (float[n, 16] r, float[n, 16] r2) { a = Abs(x) r = Neg(a) b = Exp(a) r2 = Neg(b) }, else_branch = "
        "e () => (float[n, 16] q, float[n, 16] q2) { q = Neg(x) q2 = Neg(x) }> y = Neg(u) y2 = Neg(v) }",
    ),
    BodyCase(
        "a body packs a weight twice",
        *(8192, 8192, 8192, 1024),
        "g (float[n, 16] x, bool p) => (float[n, 16] y) <WEIGHT> { y = If(p) <then_branch = t () => (float[n, 16] "
        "r) { a = MatMul(x,w) r = MatMul(a, w) }, else_branch = e () => (float[n, 16] q) { q = Abs(x) }> }",
    ),
    BodyCase(
        "the model and a body pack a weight",
        *(8192, 8192, 8192, 1024),
        "g (float[n, 16] x, bool p) => (float[n, 16] y) <WEIGHT> { z = MatMul(x, w) y = If(p) <then_branch = t () "
        "=> (float[n, 16] r) { r = MatMul(z, w) }, else_branch = e () => (float[n, 16] q) { q = Abs(x) }> }",
    ),
    BodyCase(
        "a branch packs its initializer",
        *(4096, 4096, 4096, 2048),
        "g (float[n, 16] x, bool p) => (float[n, 16] y) { y = If(p) <then_branch = t () => (float[n, 16] r) "
        "<WEIGHT> { r = MatMul(x, w) }, else_branch = e () => (float[n, 16] q) { q = Abs(x) }> }",
    ),
    BodyCase(
        "a branch reads its initializer",
        *(4160, 4160, 4352, 1024),
        "g (float[n, 16] x, bool p) => (float[n, 16] y) { y = If(p) <then_branch = t () => (float[n, 16] r) "
        "<WEIGHT> { s = ReduceSum<keepdims=0>(w) r = Add(x, s) }, else_branch = e () => (float[n, 16] q) { q = "
        "Abs(x) }> }",
    ),
    BodyCase(
        "a slice is a state",
        *(45184, 45184, 45184, 128),
        "g (float[n, 16] x) => (float[n, 16] y, float[t, n, 16] p) <int64 trips = {5}, bool go = {1}> { y, p = "
        "Loop(trips, go, x) <body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r, float[n, 16] "
        "k) { d = Identity(c) r = Neg(s) k = Identity(s) }> }",
    ),
    BodyCase(
        "sizes of trips differ",
        *(12416, 12416, 12416, 256),
        "g (float[n, 16] x) => (float[n, 16] y) <int64 trips = {5}, bool go = {1}, int64[1] zero = {0}, int64[1] "
        "one = {1}> { y = Loop(trips, go, x) <body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] "
        "r) { d = Identity(c) e = Reshape(i, one) f = Slice(x, zero, e, zero) g = Neg(f) h = Exp(g) j = "
        "ReduceSum<keepdims=0>(h) r = Add(s, j) }> }",
    ),
    BodyCase(
        "a reshape of a state",
        *(12416, 12416, 12416, 192),
        "g (float[n, 16] x) => (float[n, 16] y) <int64 trips = {5}, bool go = {1}, int64[2] to = {-1, 16}> { y = "
        "Loop(trips, go, x) <body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r) { d = "
        "Identity(c) e = Abs(s) r = Reshape(s, to) }> }",
    ),
]
