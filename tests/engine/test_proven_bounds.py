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


def test_the_number_of_windows_is_a_size() -> None:
    """The product of two such differences is at least 0, also once it is expanded: it is requested, not -1."""
    model = parsed(
        """g (float[batch, height, width, 8] x) => (float[] y) {
            two = Constant<value = int64[1] {2}>() m = Constant<value = int64[1] {-1}>()
            b = Shape<start = 0, end = 1>(x) h = Shape<start = 1, end = 2>(x) w = Shape<start = 2, end = 3>(x)
            qh = Div(h, two) qw = Div(w, two) rh = Sub(h, qh) rw = Sub(w, qw)
            one = Constant<value = int64[1] {1}>()
            rows = Slice(x, qh, h, one) z = Slice(rows, qw, w, two)
            c = Constant<value = int64[1] {8}>() t = Concat<axis = 0>(m, c) flat = Reshape(z, t)
            n = Shape<start = 0, end = 1>(flat) target = Concat<axis = 0>(n, two, m) y = Reshape(flat, target) }"""
    )
    n = "batch*height*width + batch*(height//2)*(width//2) - batch*height*(width//2) - batch*width*(height//2)"
    result = infer_shapes(model)
    assert str(result.tensors["y"].shape) == f"[{n}, 2, 4]"
    for height, width in ((1, 1), (5, 4), (6, 7)):
        computed = run(model, {"x": ones(2, height, width, 8)})["y"].shape
        sizes = {"batch": 2, "height": height, "width": width}
        assert computed == infer_shapes(model, bind=sizes).tensors["y"].shape.dims


LIMIT = "p = Slice(t7, z, r, z) limited = Add(x, p)"
SQUARE = """s1 = Slice(table, z, r, z) s2 = Slice(s1, z, r, o) flat = Reshape(s2, m)
    target = Concat<axis = 0>(r, m) square = Reshape(flat, target) sums = Add(e, square) y = Relu(sums)"""


@pytest.mark.parametrize("steps", [f"{LIMIT} {SQUARE}", f"{SQUARE} {LIMIT}"])
def test_a_square_that_is_split_into_as_many_rows_is_a_square(steps: str) -> None:
    """A table of 6 by 6 is cut to `min(t, 6)` squared and reshaped to `t` rows, where `t` is at most 7."""
    model = parsed(
        f"""g (float[t] x) => (float[] y) {{
            z = Constant<value = int64[1] {{0}}>() o = Constant<value = int64[1] {{1}}>()
            m = Constant<value = int64[1] {{-1}}>() six = Constant<value = int64[2] {{6, 6}}>()
            seven = Constant<value = int64[1] {{7}}>() table = ConstantOfShape(six) t7 = ConstantOfShape(seven)
            r = Shape(x) rr = Concat<axis = 0>(r, r) e = ConstantOfShape(rr) {steps} }}"""
    )
    result = infer_shapes(model)
    assert str(result.tensors["y"].shape) == "[t, t]"
    assert str(result.contract).startswith("t <= 6, required by ")
    assert len(result.contract) == 1
    for size in range(1, 10):
        assert result.contract.check(t=size).verdict is (size <= 6)
        if size <= 6:
            assert run(model, {"x": ones(size)})["y"].shape == (size, size)
        else:
            with pytest.raises(Exception, match=r"Reshape|Add"):
                run(model, {"x": ones(size)})


@pytest.mark.parametrize("rows", [63, 64, 65, 80])
def test_indices_in_a_large_tensor_are_those_of_a_small_one(rows: int) -> None:
    """A sum of two lists of more elements than are listed still grows evenly, so its largest element is known."""
    model = parsed(
        """g (float[n] x, float[size] data) => (float[] y) {
            zero = Constant<value_int = 0>() one = Constant<value_int = 1>() k = Constant<value_int = 64>()
            axis = Constant<value = int64[1] {1}>() n = Shape(x) count = Squeeze(n) r = Range(zero, count, one)
            columns = Range(zero, k, one) rows = Unsqueeze(r, axis) first = Mul(rows, k)
            indices = Add(first, columns) y = Gather(data, indices) }"""
    )
    result = infer_shapes(model)
    assert str(result.contract).startswith("64*n <= size, required by Gather")
    assert result.contract.check(n=rows, size=64 * rows).verdict is True
    assert result.contract.check(n=rows, size=64 * rows - 1).verdict is False
    assert run(model, {"x": ones(rows), "data": ones(64 * rows)})["y"].shape == (rows, 64)
    with pytest.raises(Exception, match="Gather"):
        run(model, {"x": ones(rows), "data": ones(64 * rows - 1)})
