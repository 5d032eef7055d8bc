"""Small models, one for each rule by which onnxruntime plans buffers, with the peaks that were measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
SIZE = 4096
"""The bytes of a float[n, 16] at n = 64."""


@attrs.frozen
class Case:
    """A model, the sizes of its dims, and the peak of a first run with optimizations off, in bytes."""

    label: str
    text: str
    measured: int
    sizes: Mapping[str, int] = attrs.field(factory=lambda: {"n": 64})
    feeds: Mapping[str, Any] = attrs.Factory(dict)

    @property
    def model(self) -> str:
        return f"{HEAD} {self.text}"

    def arrays(self) -> dict[str, Any]:
        """The inputs: those of the case, and ones for `x` and `z` of 16 columns."""
        names = [name for name in ("x", "z") if f"float[n, 16] {name}" in self.text]
        rows = self.sizes.get("n", 64)
        return {**{name: np.ones((rows, 16), np.float32) for name in names}, **self.feeds}


CASES = [
    Case("two values at a time", "g (float[n, 16] x) => (float[n, 16] y) { a = Abs(x) b = Neg(a) y = Exp(b) }", 8192),
    Case(
        "a kernel in place",
        "g (float[n, 16] x) => (float[n, 16] y) { a = Abs(x) b = Relu(a) c = Tanh(b) y = Exp(c) }",
        8192,
    ),
    Case(
        "not in place: another reader",
        "g (float[n, 16] x) => (float[n, 16] y) { a = Abs(x) b = Relu(a) c = Tanh(b) d = Add(a, c) y = Exp(d) }",
        12288,
    ),
    Case(
        "not in place: an input", "g (float[n, 16] x) => (float[n, 16] y) { a = Relu(x) b = Neg(a) y = Exp(b) }", 8192
    ),
    Case(
        "not in place: unknown dims",
        "g (float[n, 16] x) => (float[k, m] y) "
        "{ s = Shape(x) a = ConstantOfShape(s) b = Relu(a) c = Neg(b) y = Exp(c) }",
        8192,
    ),
    Case(
        "an alias",
        "g (float[n, 16] x) => (float[k] y) <int64[1] s = {-1}> { a = Abs(x) b = Reshape(a, s) y = Neg(b) }",
        8192,
    ),
    Case(
        "an alias of an input",
        "g (float[n, 16] x) => (float[k] y) <int64[1] s = {-1}> { b = Reshape(x, s) y = Neg(b) }",
        4096,
    ),
    Case(
        "an output is copied",
        "g (float[n, 16] x) => (float[n, 16] a, float[n, 16] y) { a = Abs(x) y = Identity(a) }",
        8192,
    ),
    Case(
        "a free buffer is kept",
        "g (float[n, 16] x) => (float[1, 16] y) <int64[1] axes = {0}, int64[2] s = {64, 16}>"
        "{ a = Abs(x) b = ReduceSum(a, axes) w = Concat <axis = 0> (b, b, x, x, x) c = Neg(w) e = ReduceSum(c, axes)"
        "  d = Expand(e, s) f = Exp(d) y = ReduceSum(f, axes) }",
        24896,
    ),
    Case(
        "equal names of dims",
        "g (float[n, 16] x, float[n, 16] z) => (float[n, 1] y)"
        ""
        "{ a = Abs(x) b = ReduceMax <axes = [1]> (a) c = Neg(z) d = Exp(c) e = Add(d, b) "
        "y = ReduceMax <axes = [1]> (e) }",
        8448,
    ),
    Case(
        "an unused output",
        "g (float[n, 16] x) => (float[n, 16] y) <int64[1] k = {16}>"
        "{ a = Neg(x) v, i = TopK <axis = 1> (a, k) b = Exp(x) c = Abs(b) y = Neg(c) }",
        20480,
    ),
    Case(
        "temporaries of a kernel",
        "g (bool[n, 16] c, float[n, 16] x, float[n, 16] z) => (float[n, 16] y) { y = Where(c, x, z) }",
        12288,
        feeds={"c": np.ones((64, 16), bool)},
    ),
    Case(
        "a branch",
        "g (bool c, float[n, 16] x) => (float[n, 16] y) { y = If(c) <"
        "then_branch = t () => (float[n, 16] r) { a = Abs(x) b = Neg(a) r = Exp(b) },"
        "else_branch = e () => (float[n, 16] r) { a = Abs(x) b = Neg(a) r = Exp(b) }> }",
        8192,
        feeds={"c": np.array(True)},
    ),
    Case(
        "a loop with a state",
        "g (float[n, 16] x) => (float[n, 16] y) <int64 trips = {5}, bool go = {1}> { y = Loop(trips, go, x) <"
        "body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r) "
        "{ d = Identity(c) a = Abs(s) r = Neg(a) }> }",
        12416,
    ),
    Case(
        "a loop with slices",
        "g (float[n, 16] x) => (float[t, n, 16] y) <int64 trips = {5}, bool go = {1}> { y = Loop(trips, go) <"
        "body = b (int64 i, bool c) => (bool d, float[n, 16] r) { d = Identity(c) r = Neg(x) }> }",
        41088,
    ),
    Case(
        "a loop that computes its condition",
        "g (float[n, 16] x) => (float[n, 16] y) <int64 trips = {5}, bool go = {1}> { y = Loop(trips, go, x) <"
        "body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r) { d = And(c, c) r = Neg(s) }> }",
        12480,
    ),
    Case(
        "a loop with a constant condition",
        "g (float[n, 16] x) => (float[n, 16] y) <int64 trips = {5}> { y = Loop(trips, , x) <"
        "body = b (int64 i, bool c, float[n, 16] s) => (bool d, float[n, 16] r) "
        "{ d = Constant <value = bool {1}> () r = Neg(s) }> }",
        12480,
    ),
    Case(
        "a loop with constants as state and slices",
        "g (float[1, 1000] z, float[n, 16] x) => (float[1, 1000] y, float[t, 1, 1000] s, float[n, 16] e) "
        "<int64 trips = {5}, bool go = {1}> { y, s = Loop(trips, go, z) <"
        "body = b (int64 i, bool c, float[1, 1000] v) => (bool c, float[1, 1000] w, float[1, 1000] u) "
        "{ a = Neg(v) w = Constant <value = float[1, 1000] CONTENTS> ()"
        "  u = Constant <value = float[1, 1000] CONTENTS> () }> e = Neg(x) }".replace(
            "CONTENTS", "{" + ", ".join(["1"] * 1000) + "}"
        ),
        56512,
        feeds={"z": np.ones((1, 1000), np.float32)},
    ),
    Case(
        "a loop that passes an outer value on",
        "g (float[n, 16] x) => (float[n, 16] y) <int64 trips = {5}, bool go = {1}> "
        "{ a = Neg(x) y = Loop(trips, go, a) <"
        "body = b (int64 i, bool c, float[n, 16] s) => (bool c, float[n, 16] r) { e = Exp(s) r = Identity(a) }> }",
        8320,
    ),
    Case(
        "an initializer that is an output",
        "g (float[n, 16] x) => (float[n, 16] y, float[40] w) <float[40] w = {"
        + ", ".join(["1"] * 40)
        + "}> { a = Abs(x) y = Neg(a) }",
        8384,
    ),
    Case(
        "a scan",
        "g (float[n, 16] x, float[5, n, 16] z) => (float[n, 16] y, float[5, n, 16] w) "
        "{ y, w = Scan <num_scan_inputs = 1,"
        "body = b (float[n, 16] s, float[n, 16] v) => (float[n, 16] r, float[n, 16] o) "
        "{ r = Add(s, v) o = Neg(v) }> (x, z) }",
        32768,
        feeds={"z": np.ones((5, 64, 16), np.float32)},
    ),
    Case(
        "a scan over another axis",
        "g (float[n, 16] x, float[n, 5, 16] z) => (float[n, 16] y, float[n, 5, 16] w) "
        "{ y, w = Scan <num_scan_inputs = 1,"
        "scan_input_axes = [1], scan_output_axes = [1],"
        "body = b (float[n, 16] s, float[n, 16] v) => (float[n, 16] r, float[n, 16] o) "
        "{ r = Add(s, v) o = Neg(v) }> (x, z) }",
        73728,
        feeds={"z": np.ones((64, 5, 16), np.float32)},
    ),
]
