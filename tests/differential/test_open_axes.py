"""Axes that are known only at run time, whose bounds cover all axes; ranks that other operands determine."""

from itertools import permutations, product

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from tests.differential.ort import session_of

DIMS = ([1, 3, 4, 5], [1, 3, 1, 5], [2, 1, 1], [1, 1, 4], [6], [3, 3, 3], [2, 5, 5, 2])


def model_of(node, inputs, outputs=("y",), constants=(), opset=21, more=()):
    inputs = [helper.make_tensor_value_info(name, kind, dims) for name, (kind, dims) in inputs.items()]
    outputs = [
        output if isinstance(output, onnx.ValueInfoProto) else onnx.ValueInfoProto(name=output) for output in outputs
    ]
    constants = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in dict(constants).items()]
    graph = helper.make_graph([*more, node], "g", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def real_shapes(model, feeds):
    """The shapes of the outputs; None if onnxruntime rejects the model or the inputs."""
    try:
        return [array.shape for array in session_of(model).run(None, feeds)]
    except Exception:  # onnxruntime has no class of its own for what fails at run time
        return None


def choices(op, rank, count):
    """All possible values of the axes input."""
    return permutations(range(rank + count if op == "Unsqueeze" else rank), count)


CASES = [
    *((op, dims, count, {}) for op in ("Squeeze", "Unsqueeze") for dims in DIMS for count in (1, 2)),
    *(("ReduceSum", dims, count, {"keepdims": keep}) for keep in (0, 1) for dims in DIMS for count in (1, 2)),
    *(("ReduceMax", dims, 1, {"keepdims": 0}) for dims in DIMS),
]


@pytest.mark.parametrize(("op", "dims", "count", "attributes"), CASES, ids=lambda v: str(v).replace(" ", ""))
def test_bounds_cover_all_axes(op, dims, count, attributes):
    node = helper.make_node(op, ["x", "axes"], ["y"], **attributes)
    model = model_of(node, {"x": (TensorProto.FLOAT, dims), "axes": (TensorProto.INT64, [count])})
    x = np.zeros(dims, np.float32)
    computed = [real_shapes(model, {"x": x, "axes": np.array(axes)}) for axes in choices(op, len(dims), count)]
    computed = {shape for (shape,) in filter(None, computed)}
    result = infer_shapes(model)
    if not computed:
        assert [d.code for d in result.diagnostics if d.severity == "error"] == ["S101"]
        return
    bounds = [result.interval(d) for d in result.tensors["y"].shape]
    assert [(b.lo, b.hi) for b in bounds] == [(min(sizes), max(sizes)) for sizes in zip(*computed, strict=True)]


DFTS = [
    (shape, length, onesided)
    for shape in ([7, 3, 1], [4, 4, 1], [2, 6, 5, 1])
    for length in (None, 4, 9)
    for onesided in (0, 1)
]


@pytest.mark.parametrize(("dims", "length", "onesided"), DFTS, ids=str)
def test_bounds_of_a_transform_along_any_axis(dims, length, onesided):
    node = helper.make_node("DFT", ["x", "length" if length else "", "axis"], ["y"], onesided=onesided)
    inputs = {"x": (TensorProto.FLOAT, dims), "axis": (TensorProto.INT64, [])}
    model = model_of(node, inputs, constants={"length": np.array(length)} if length else ())
    x = np.zeros(dims, np.float32)
    computed = [real_shapes(model, {"x": x, "axis": np.array(axis)}) for axis in range(len(dims) - 1)]
    computed = {shape for (shape,) in filter(None, computed)}
    bounds = [infer_shapes(model).interval(d) for d in infer_shapes(model).tensors["y"].shape]
    assert [(b.lo, b.hi) for b in bounds] == [(min(sizes), max(sizes)) for sizes in zip(*computed, strict=True)]


RANKS = [
    (helper.make_node("Transpose", ["x"], ["y"], perm=[2, 0, 1]), {}),
    (helper.make_node("Pad", ["x", "pads"], ["y"]), {"pads": np.array([1, 0, 2, 0, 1, 1])}),
    (helper.make_node("Concat", ["x", "other"], ["y"], axis=1), {"other": np.zeros((2, 5, 4), np.float32)}),
    (helper.make_node("Concat", ["other", "x", "x"], ["y"], axis=-2), {"other": np.zeros((2, 5, 4), np.float32)}),
]


@pytest.mark.parametrize(("node", "constants"), RANKS, ids=lambda v: getattr(v, "op_type", ""))
def test_a_node_determines_the_rank_of_its_input(node, constants):
    model = model_of(node, {"x": (TensorProto.FLOAT, None)}, constants=constants)
    x = np.zeros((2, 3, 4), np.float32)
    (real,) = real_shapes(model, {"x": x})
    result = infer_shapes(model)
    assert len(result.tensors["x"].shape) == x.ndim
    static = infer_shapes(model, inputs={"x": list(x.shape)})
    assert list(static.tensors["y"].shape) == list(real)
    shape = result.tensors["y"].shape
    assert len(shape) == len(real)
    assert all(size in result.interval(d) for d, size in zip(shape, real, strict=True))
    for rank in (2, 4):
        assert real_shapes(model, {"x": np.zeros((2, 3, 4, 5)[:rank], np.float32)}) is None


SQUEEZED = [
    ([1, 3, 4, "N"], 3, [2, 0, 1]),
    ([1, 3, 4, "N"], 2, [1, 0]),
    ([1, "M", 4, "N"], 3, [2, 0, 1]),
    ([1, "M", 4, "N"], 1, [0]),
]


@pytest.mark.parametrize(("dims", "rank", "perm"), SQUEEZED, ids=str)
@pytest.mark.parametrize("declared", [False, True])
def test_an_inferred_rank_decides_which_axes_are_squeezed(dims, rank, perm, declared):
    squeeze = helper.make_node("Squeeze", ["x"], ["y"])
    if declared:
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * rank)
        model = model_of(squeeze, {"x": (TensorProto.FLOAT, dims)}, [y])
    else:
        transpose = helper.make_node("Transpose", ["y"], ["z"], perm=perm)
        model = model_of(transpose, {"x": (TensorProto.FLOAT, dims)}, ["y", "z"], more=[squeeze])
    result = infer_shapes(model)
    shape = result.tensors["y"].shape
    assert len(shape) == rank
    names = [d for d in dims if isinstance(d, str)]
    ran = set()
    for sizes in product((1, 2, 5), repeat=len(names)):
        binding = dict(zip(names, sizes, strict=True))
        x = np.zeros([binding.get(d, d) for d in dims], np.float32)
        real = real_shapes(model, {"x": x})
        verdict = result.contract.check(binding).verdict
        if real is None:
            assert verdict is False, binding
        elif len(real[0]) == rank:
            ran.add(sizes)
            assert verdict is True or declared
            assert [evaluate(d, binding) for d in shape] == list(real[0])
    assert ran


@pytest.mark.parametrize("step", [1, 2, -1, -3])
@pytest.mark.parametrize("far", [10**9, 2**30 + 7, 2**31 - 1])
def test_an_end_past_any_axis_is_the_end(far, step):
    first, last = (0, far) if step > 0 else (far, -far)
    constants = {"starts": np.array([first]), "ends": np.array([last]), "axes": np.array([0])}
    node = helper.make_node("Slice", ["x", *constants, "steps"], ["y"])
    model = model_of(
        node, {"x": (TensorProto.FLOAT, ["N", "M"])}, constants=constants | {"steps": np.array([step])}, opset=13
    )
    bounded = infer_shapes(model, dims={"N": (1, 4096)})
    assert "max" not in str(bounded.tensors["y"].shape) and "min" not in str(bounded.tensors["y"].shape)
    for rows, result in product(range(1, 8), (bounded, infer_shapes(model))):
        binding = {"N": rows, "M": 2}
        (real,) = real_shapes(model, {"x": np.zeros((rows, 2), np.float32)})
        assert [evaluate(d, binding) for d in result.tensors["y"].shape] == list(real)
        assert result.contract.check(binding).verdict is True
