"""Bounds that one rule proves decide the sizes of others; onnxruntime runs each graph at the sizes in these bounds."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from tests.engine.runtime import ones, parsed, run

TABLES = """z = Constant<value = int64[1] {0}>() c64 = Constant<value = int64[1] {64}>()
    ws = Constant<value = int64[2] {128, 8}>() w = ConstantOfShape(ws)
    ts = Constant<value = int64[2] {64, 4}>() t = ConstantOfShape(ts)"""
RELATIVE = "n = Shape<start = 0, end = 1>(x2) s = Sub(c64, n) e = Add(n, c64) y = Slice(w, s, e, z)"

CASES = {
    "a table of 64 rows, sliced and added": (
        f"g (float[n, 4] x) => (float[] y) {{ {TABLES}"
        f" r = Shape<start = 0, end = 1>(x) p = Slice(t, z, r, z) x2 = Add(x, p) {RELATIVE} }}",
        "n <= 64",
        "[2*n, 8]",
        {"x": ("n", 4)},
        [{"n": 1}, {"n": 2}, {"n": 63}, {"n": 64}],
        [{"n": 65}],
    ),
    "the same for a sum of sizes": (
        f"g (float[p, 4] past, float[n, 4] x) => (float[] y) {{ {TABLES} all = Concat<axis = 0>(past, x)"
        f" r = Shape<start = 0, end = 1>(all) part = Slice(t, z, r, z) x2 = Add(all, part) {RELATIVE} }}",
        "p + n <= 64",
        "[2*p + 2*n, 8]",
        {"past": ("p", 4), "x": ("n", 4)},
        [{"p": 1, "n": 1}, {"p": 60, "n": 4}],
        [{"p": 60, "n": 5}],
    ),
    "one row or 64": (
        f"g (float[n, 4] x) => (float[] y) {{ {TABLES} x3 = Add(x, t) x2 = Relu(x) {RELATIVE} }}",
        "n is 1 or 64",
        "[2*n, 8]",
        {"x": ("n", 4)},
        [{"n": 1}, {"n": 64}],
        [{"n": 2}, {"n": 65}],
    ),
    "a size that is known later": (
        f"g (float[n, 4] x, float[m, 4] u) => (float[] y) {{ {TABLES} x3 = Add(x, u) d = Concat<axis = 1>(u, t)"
        f" x2 = Relu(x) {RELATIVE} }}",
        "n is 1 or 64",
        "[2*n, 8]",
        {"x": ("n", 4), "u": ("m", 4)},
        [{"n": 1, "m": 64}, {"n": 64, "m": 64}],
        [{"n": 2, "m": 64}, {"n": 1, "m": 63}],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bounds_that_a_broadcast_proves_are_used(name: str) -> None:
    text, condition, shape, inputs, legal, illegal = CASES[name]
    model = parsed(text)
    result = infer_shapes(model)
    assert condition in str(result.contract)
    assert str(result.tensors["y"].shape) == shape
    for sizes in (*legal, *illegal):
        feeds = {input: ones(*[sizes.get(str(d), d) for d in dims]) for input, dims in inputs.items()}
        assert result.contract.check(**sizes).verdict is (sizes in legal)
        if sizes in illegal:
            with pytest.raises(Exception, match=r"Add|Concat|[Bb]roadcast"):
                run(model, feeds)
        else:
            assert run(model, feeds)["y"].shape == infer_shapes(model, bind=sizes).tensors["y"].shape.dims


def window_partition(patch: int, window: int) -> onnx.ModelProto:
    """Patches of an image, padded to windows of them and split into windows, as ViTDet does it."""
    pads = f"z = Constant<value = int64[1] {{0}}>() k = Constant<value = int64[1] {{{window}}}>()"
    sizes = " ".join(
        f"{s} = Shape<start = {i}, end = {i + 1}>(x) n{s} = Neg({s}) m{s} = Mod(n{s}, k) p{s} = Add({s}, m{s})"
        f" q{s} = Div(p{s}, k)"
        for i, s in ((1, "h"), (2, "w"))
    )
    return parsed(
        f"""g (float[batch, 3, height, width] img, float[4, 3, {patch}, {patch}] f) => (float[] y) {{
            c = Constant<value = int64[1] {{4}}>() {pads}
            a = Conv<strides = [{patch}, {patch}]>(img, f) x = Transpose<perm = [0, 2, 3, 1]>(a)
            {sizes} b = Shape<start = 0, end = 1>(x)
            pads = Concat<axis = 0>(z, z, z, z, z, mh, mw, z) padded = Pad(x, pads)
            target = Concat<axis = 0>(b, qh, k, qw, k, c) y = Reshape(padded, target) }}"""
    )


@pytest.mark.parametrize(("patch", "window"), [(16, 2), (16, 14), (4, 7), (7, 3)])
def test_windows_of_patches_are_known(patch: int, window: int) -> None:
    """The signs of differences such as `height//16 - height//32` are those of sizes rounded up: 1 or more."""
    model = window_partition(patch, window)
    shape = infer_shapes(model).tensors["y"].shape
    assert not any(d.is_anonymous for d in shape if not isinstance(d, int))
    for height, width in ((patch, patch), (3 * patch + 1, 5 * patch), (window * patch, 2 * window * patch - 1)):
        feeds = {"img": np.zeros((2, 3, height, width), np.float32), "f": ones(4, 3, patch, patch)}
        inferred = infer_shapes(model, bind={"batch": 2, "height": height, "width": width}).tensors["y"].shape
        assert run(model, feeds)["y"].shape == inferred.dims
