"""`result.program()`: shapes equal those of runs, names and sizes are checked, and no number overflows in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from shapeinf import Result, TensorInfo, UnknownNameError, infer_shapes
from shapeinf.errors import (
    BindingError,
    IllegalSizeError,
    LimitError,
    MissingSizeError,
    NoSizeError,
    SizeOverflowError,
    Source,
)
from shapeinf.lattice import Shape, ShapeStore
from shapeinf.program import ShapeProgram
from tests.engine.runtime import inferred, parsed, run

NETWORK = """net (float[batch, 3, side, side] image, float[8, 3, 3, 3] w, float[?, 8] rows) => (
    float[a, b, c, d] conv, float[a, b, c, d] half, float[a, b] flat, int64[n] shape, float[a, b] joined,
    float[a, b] both)
{
    conv = Conv <pads = [1, 1, 1, 1]> (image, w)
    half = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (conv)
    flat = Flatten (half)
    shape = Shape (half)
    joined = Concat <axis = 0> (rows, rows)
    both = Add (rows, rows)
}"""


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(2, 9), st.integers(1, 5)), min_size=1, max_size=3))
def test_shapes_are_those_of_runs(bindings: list[tuple[int, int, int]]) -> None:
    batch, side, rows = (np.array(column) for column in zip(*bindings, strict=True))
    actual = inferred(NETWORK).program()({"batch": batch, "side": side, "rows.shape[0]": rows})
    for number, (b, s, r) in enumerate(bindings):
        feeds = {
            "image": np.zeros((b, 3, s, s), np.float32),
            "w": np.zeros((8, 3, 3, 3), np.float32),
            "rows": np.zeros((r, 8), np.float32),
        }
        real = run(parsed(NETWORK), feeds)
        for name, array in {**feeds, **real}.items():
            assert tuple(actual[name][number]) == array.shape
            assert actual.elements(name)[number] == array.size
            assert actual.bytes(name)[number] == array.nbytes
        assert actual.total_bytes[number] == sum(a.nbytes for a in (*feeds.values(), *real.values()))
    assert actual.uncounted == () and actual.bindings == len(bindings)


def test_ints_and_arrays_go_together() -> None:
    program = inferred(NETWORK).program()
    actual = program({"rows.shape[0]": 2}, batch=[1, 5], side=np.array([4, 6], dtype=np.uint8))
    assert actual["half"].tolist() == [[1, 8, 2, 2], [5, 8, 3, 3]]
    assert actual["w"].tolist() == [[8, 3, 3, 3]] * 2
    assert actual["half"].dtype == np.int64 and actual["shape"].tolist() == [[4]] * 2
    single = program({"rows.shape[0]": 2, "batch": 7}, side=4)
    assert single["flat"].tolist() == [[7, 8 * 2 * 2]] and single["half"].shape == (1, 4)
    with pytest.raises(ValueError, match="read-only"):
        single["flat"][0, 0] = 1


def test_names_and_bounds() -> None:
    program = inferred(NETWORK).program()
    assert program.needed == ("batch", "side", "rows.shape[0]")
    assert list(program.inputs) == ["batch", "side", "rows.shape[0]"] and program.data_dependent == {}
    with pytest.raises(MissingSizeError) as missing:
        program(batch=1)
    assert missing.value.names == ("side", "rows.shape[0]")
    with pytest.raises(UnknownNameError, match="batch"):
        program(bacth=1)
    with pytest.raises(UnknownNameError, match="half"):
        program({"rows.shape[0]": 1}, batch=1, side=4)["hlaf"]
    with pytest.raises(BindingError, match="twice"):
        program({"batch": 1}, batch=1)


@pytest.mark.parametrize(
    "size", [1.5, [1, 2.0], "3", [[1, 2]], None, True, [True], 2**63, [2**63], np.array([2**63], dtype=np.uint64)]
)
def test_invalid_sizes(size: Any) -> None:
    program = inferred(NETWORK).program()
    with pytest.raises(BindingError, match="sizes of 'batch' must be"):
        program({"rows.shape[0]": 1, "batch": size}, side=4)
    with pytest.raises(BindingError, match="one length"):
        program({"rows.shape[0]": 1}, side=[4, 5], batch=[1, 2, 3])


def test_an_illegal_size_names_the_constraint() -> None:
    program = inferred("g (float[past, 4] p) => (float[a, b] eight) { f = Constant <value = int64[2] {1, 8}> ()\n"
                       "[r] eight = Reshape (p, f) }").program()  # fmt: skip
    assert program.needed == ()
    assert program()["p"].tolist() == [[2, 4]]
    assert program(past=2)["p"].tolist() == [[2, 4]]
    with pytest.raises(IllegalSizeError) as error:
        program(past=[2, 3])
    assert error.value.binding == 1 and error.value.sizes == {"past": 3}
    assert "past == 2" in str(error.value) and "r" in str(error.value.source)
    actual = program.masked(past=[2, 3])
    assert actual.valid.tolist() == [True, False] and actual["p"].mask.tolist() == [[False] * 2, [True] * 2]
    assert [problem.binding for problem in actual.problems] == [1]


def test_equal_dims_may_be_bound_by_either_name() -> None:
    program = inferred("g (float[a, 4] x, float[4, 4] w, float[b, 4] y) => (float[c, d] z) {\n"
                       "one = MatMul (x, w)\n z = Concat <axis = 1> (one, y) }").program()  # fmt: skip
    assert len(program.needed) == 1
    for sizes in ({"a": 3}, {"b": 3}, {"a": 3, "b": 3}):
        assert program(sizes)["z"].tolist() == [[3, 8]]
    with pytest.raises(IllegalSizeError):
        program(a=3, b=4)


def test_bounds_and_alternatives() -> None:
    program = inferred("g (float[a] x, float[b] y) => (float[c] z) { z = Add (x, y) }").program()
    actual = program.masked(a=[1, 3, 3, 3, 0, 1], b=[3, 1, 3, 2, 0, 0])
    assert actual.valid.tolist() == [True, True, True, False, False, False]  # 0 is less than the least size of a name
    assert actual["z"].compressed().tolist() == [3, 3, 3]
    with pytest.raises(IllegalSizeError, match="a == b or a == 1 or b == 1"):
        program(a=3, b=2)
    ranged = infer_shapes(parsed("g (float[a] x) => (float[c] z) { z = Relu (x) }"), dims={"a": (1, 4)})
    with pytest.raises(IllegalSizeError, match=r"a in 1\.\.4"):
        ranged.program()(a=5)


def test_overflow_names_the_tensor_and_the_binding() -> None:
    program = inferred("""g (float[a, b] x) => (float[c] flat, float[c, d] z) {
        f = Constant <value = int64[1] {-1}> ()
        flat = Reshape (x, f)
        z = Relu (x)
    }""").program()
    actual = program(a=[2, 2**31, 2**40], b=[2, 2**31, 2**40])
    assert actual["z"].tolist() == [[2, 2], [2**31] * 2, [2**40] * 2]
    with pytest.raises(SizeOverflowError, match=r"binding 2 .*the shape of 'flat'") as error:
        actual["flat"]
    assert error.value.binding == 2 and error.value.sizes == {"a": 2**40, "b": 2**40}
    with pytest.raises(SizeOverflowError, match=r"binding 1 .*the bytes of 'z'"):
        actual.bytes("z")
    with pytest.raises(SizeOverflowError, match="the number of elements of 'x'"):
        actual.elements("x")
    masked = program.masked(a=[2, 2**31, 2**40], b=[2, 2**31, 2**40])
    assert masked["flat"].mask.tolist() == [[False], [False], [True]]
    assert masked.bytes("z").mask.tolist() == [False, True, True]
    assert masked.total_bytes.mask.tolist() == [False, True, True]
    assert masked["flat"].compressed().tolist() == [4, 2**62]


def test_a_condition_whose_numbers_overflow_holds_or_not_all_the_same() -> None:
    """a * b is 2**80 in the second binding; in the third a * b - a * a is -2**80 and a bit."""
    result = infer_shapes(parsed("g (float[a, b] x) => (float[c, d] z) { z = Relu (x) }"), assume=["a * a <= a * b"])
    actual = result.program().masked(a=[3, 2**40, 2**41], b=[3, 2**41, 2**40])
    assert actual.valid.tolist() == [True, True, False]


def data_dependent() -> Result:
    return inferred("g (float[n, 4] x) => (int64[a, b] where, float[c] z) { where = NonZero (x)\n z = Relu (x) }")


def test_data_dependent_sizes_have_no_number_of_their_own() -> None:
    program = data_dependent().program()
    ((name, bounds),) = program.data_dependent.items()
    assert bounds.lo == 0
    actual = program(n=3)
    assert actual["z"].tolist() == [[3, 4]] and list(actual) == ["x", "z"]
    for query in (actual.__getitem__, actual.elements):
        with pytest.raises(NoSizeError, match=name):
            query("where")
    shapes = program({name: 5}, n=3)
    assert shapes["where"].tolist() == [[2, 5]] and shapes.bytes("where").tolist() == [8 * 10]
    assert shapes.uncounted == () and shapes.total_bytes.tolist() == [3 * 4 * 4 * 2 + 80]
    most = 8 * 2 * (3 * 4)  # no more than all elements are not zero
    assert actual.bytes("where").tolist() == [most] and actual.uncounted == ()
    assert actual.total_bytes.tolist() == [3 * 4 * 4 * 2 + most]
    for wrong in (-1, 13):
        with pytest.raises(IllegalSizeError):
            program({name: wrong}, n=3)


def test_values_without_a_rank_are_listed() -> None:
    result = inferred("g (float[n] x) => (float[c] z) { y = my.Odd (x)\n z = Relu (x) }", opset=19)
    program = result.program()
    assert program.unknown == {"y": "its rank is not known"} and "y" not in program.tensors
    actual = program(n=3)
    assert actual.uncounted == ("y",)
    with pytest.raises(NoSizeError, match="rank"):
        actual["y"]
    with pytest.raises(NoSizeError, match="rank"):
        actual.bytes("y")


def test_a_graph_without_sizes_and_no_bindings() -> None:
    fixed = inferred("g (float[2, 3] x) => (float[c] z) { z = Relu (x) }").program()
    assert fixed.needed == () and fixed()["z"].tolist() == [[2, 3]]
    none = data_dependent().program()(n=[])
    assert none["z"].shape == (0, 2) and none.bytes("z").shape == (0,) and none.bindings == 0


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    program = data_dependent().program()
    monkeypatch.setattr("shapeinf.program.bindings.MAX_BINDINGS", 3)
    assert program(n=[1, 2, 3]).bindings == 3
    with pytest.raises(LimitError, match="4 bindings"):
        program(n=[1, 2, 3, 4])
    monkeypatch.setattr("shapeinf.expr.many_bindings.MAX_NUMBERS", 5)
    with pytest.raises(LimitError, match="3 bindings"):
        program(n=[1, 2, 3])


def test_an_axis_and_a_dim_of_the_same_name() -> None:
    x, y = (
        helper.make_tensor_value_info(n, TensorProto.FLOAT, dims) for n, dims in (("x", [None]), ("y", ["x.shape[0]"]))
    )
    nodes = [helper.make_node("Relu", [n], [n + n]) for n in "xy"]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("xx", "yy")]
    program = infer_shapes(helper.make_model(helper.make_graph(nodes, "g", [x, y], outputs))).program()
    assert program.needed == ("x.shape[0]", "`x.shape[0]`")
    actual = program({"x.shape[0]": 3, "`x.shape[0]`": 5})
    assert (actual["xx"].tolist(), actual["yy"].tolist()) == ([[3]], [[5]])


def test_no_array_can_be_changed() -> None:
    for actual in (data_dependent().program()(n=[1, 2]), data_dependent().program().masked(n=[1, 2])):
        for array in (actual["z"], actual.bytes("z"), actual.total_bytes, actual.valid, actual.peak):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1


def test_conditions_that_no_call_checks_are_listed() -> None:
    store = ShapeStore()
    n, actual = store.scope.symbol("n"), store.scope.fresh("count")
    store.add_le(actual, 2 * n, Source("keep", "two of each at most"))
    store.add_disjunction("the values are sorted", Source("search", "sorted"))
    tensors = {"x": TensorInfo("float32", Shape((n,))), "y": TensorInfo("float32", Shape((actual, n - 4)))}
    program = ShapeProgram(store, tensors, {n: "n"})
    assert program.unchecked == ("2*n - count >= 0", "the values are sorted")
    known = program(n=6)
    assert known.bytes("y").tolist() == [4 * 12 * 2] and known.uncounted == ()  # the bound of `actual`
    assert program(n=6, count=5).bytes("y").tolist() == [4 * 5 * 2]
    for sizes in ({"n": 6, "count": 13}, {"n": 3}):  # past its bound; a size below 0
        with pytest.raises(IllegalSizeError):
            program(sizes)
    with pytest.raises(NoSizeError, match="no live ranges"):
        _ = program(n=6).peak
