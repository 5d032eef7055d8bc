"""A file that was written for little memory never needs more in onnxruntime than the bare file; measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.formats.minimized import MinimizedMemory, RunBytes
from shapeinf.runtime.allocation_counter import AllocationCounter, SessionOptions, counter_obstacle
from shapeinf.runtime.feeds import feeds
from shapeinf.runtime.protocol import Refusal
from tests.runtime.corpus import MISSING, TRUTHS, corpus_cases, runs
from tests.vectors import PROJECT

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: nothing can be measured")

FIRST = [SessionOptions(optimized=False), SessionOptions(optimized=True)]
LATER = SessionOptions(optimized=True, pattern=True, runs=2)

HEAD = '<ir_version: 8, opset_import: ["": 17]>'

IN_PLACE = f"""{HEAD} g (float[n, 4] x) => (float y) {{
    s = Shape(x)
    first = ReduceSum<keepdims = 0>(x)
    d = Expand(first, s)
    e = Relu(d)
    y = ReduceSum<keepdims = 0>(e)
}}"""
"""onnxruntime does not know that `d` and `e` have one shape; a declaration says so."""

KEPT = f"""{HEAD} g (float[n, 16] x) => (float[n, 1] y) {{
    a = Exp(x)
    b = ReduceSum<keepdims = 1>(a, axis)
    large = Concat<axis = 1>({", ".join(20 * "b")})
    c = ReduceSum<keepdims = 1>(large, axis)
    d = Concat<axis = 1>({", ".join(16 * "c")})
    y = ReduceSum<keepdims = 1>(d, axis)
}}"""
"""onnxruntime infers that `a` and `d` have one shape, and keeps the buffer of `a` for `d` while `large` is in use."""

BRANCHES = f"""{HEAD} g (float[n, 16] x) => (float[n, 16] y) {{
    wide = Concat<axis = 1>(x, x, x, x, x, x, x, x)
    half = ReduceSum<keepdims = 1>(wide, axis)
    small = Exp(x)
    y = Add(half, small)
}}"""
"""The branch of `wide` needs more than its result, and is best computed before `small`."""

BUILT = {"in place": IN_PLACE, "a kept buffer": KEPT, "branches": BRANCHES}


def built(label: str, folder: Path) -> Path:
    """A model in a file."""
    model = onnx.parser.parse_model(BUILT[label])
    if "axis" in BUILT[label]:
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1]), "axis"))
    path = folder / "bare.onnx"
    onnx.save(model, path)
    return path


@pytest.fixture(scope="module")
def counter() -> Iterator[AllocationCounter]:
    if counter_obstacle():
        pytest.skip(counter_obstacle())
    with AllocationCounter() as running:
        yield running


def minimized(path: Path, target: Path, sizes: Mapping[str, int]) -> MinimizedMemory:
    """Write the file, and return its predicted memory."""
    result = infer_shapes(path)
    embed = "embed" if result.graph.external else None
    memory = result.save(target, external_data=embed, minimize_memory="onnxruntime", sizes=sizes)
    assert memory is not None
    return memory


def inputs_at(path: Path, binding: Mapping[str, int], arrays: dict[str, Any]) -> dict[str, Any]:
    """Arrays for the inputs of a model at these sizes."""
    bound = infer_shapes(path, bind=dict(binding))
    shapes = {name: tuple(int(str(d)) for d in bound.tensors[name].shape.require()) for name in bound.graph.inputs}
    return next(inputs for _, inputs in feeds(bound, shapes, arrays, seed=0))


def measured(counter: AllocationCounter, path: Path, arrays: dict[str, Any]) -> tuple[int, int, int]:
    """The peaks of a first run without and with optimizations, and that of a later run with them."""
    first = [allocations.peaks[0] for allocations in counter.measure_all(str(path), arrays, FIRST)]
    return first[0], first[1], counter.measure(str(path), arrays, LATER).peaks[1]


@pytest.mark.parametrize("label", BUILT)
def test_a_built_model_needs_less(label: str, counter: AllocationCounter, tmp_path: Path) -> None:
    path, target = built(label, tmp_path), tmp_path / "m.onnx"
    memory = minimized(path, target, {"n": 4096})
    arrays = inputs_at(path, {"n": 4096}, {})
    bare, file = measured(counter, path, arrays), measured(counter, target, arrays)
    assert (memory.original, memory.file) == (RunBytes(*bare[1:]), RunBytes(*file[1:]))
    assert file[0] <= bare[0] and file[1] < 0.9 * bare[1]
    assert memory.reordered == (label == "branches")


@pytest.mark.parametrize("name", ["convnet", "decoder"])
def test_an_example_needs_no_more(name: str, counter: AllocationCounter, tmp_path: Path) -> None:
    path, target = PROJECT / "examples" / f"{name}.onnx", tmp_path / "m.onnx"
    memory = minimized(path, target, {})
    sizes = {dim: min(size, 32) for dim, size in memory.sizes[0].items()}
    arrays = inputs_at(path, sizes, {})
    bare, file = measured(counter, path, arrays), measured(counter, target, arrays)
    assert memory.proven and file[0] <= bare[0] and file[1] <= bare[1]
    assert_same_model(onnx.load(path), onnx.load(target), memory.reordered)


@pytest.mark.parametrize("label", BUILT)
def test_only_types_and_order_change(label: str, tmp_path: Path) -> None:
    path, target = built(label, tmp_path), tmp_path / "m.onnx"
    memory = minimized(path, target, {"n": 4096})
    assert_same_model(onnx.load(path), onnx.load(target), memory.reordered)
    x = np.random.default_rng(0).random((5, 4 if label == "in place" else 16), np.float32)
    sessions = [ort.InferenceSession(str(file), providers=["CPUExecutionProvider"]) for file in (path, target)]
    (bare,), (file,) = [session.run(None, {"x": x}) for session in sessions]
    np.testing.assert_array_equal(bare, file)


def assert_same_model(bare: onnx.ModelProto, file: onnx.ModelProto, reordered: bool) -> None:
    """All but declared types of computed values is equal, and the order of nodes unless they are reordered."""
    onnx.checker.check_model(file)
    for model in (bare, file):
        del model.graph.value_info[:]
        del model.metadata_props[:]
        for output in model.graph.output:
            output.ClearField("type")
        if reordered:
            nodes = sorted(model.graph.node, key=lambda node: node.output[0])
            del model.graph.node[:]
            model.graph.node.extend(nodes)
    assert bare == file


def test_weights_in_other_files_stay(tmp_path: Path) -> None:
    """They are read where they are, for the prediction too."""
    model = onnx.parser.parse_model(f"{HEAD} g (float[n, 64] x) => (float[n, 64] y) {{ a = MatMul(x, w)  y = Exp(a) }}")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((64, 64), np.float32), "w"))
    path, target = tmp_path / "bare.onnx", tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    result = infer_shapes(path)
    memory = result.save(target, minimize_memory="onnxruntime")
    assert memory is not None and memory.optimized
    (tensor,) = onnx.load(target, load_external_data=False).graph.initializer
    assert {entry.key: entry.value for entry in tensor.external_data}["location"] == "weights.bin"


def test_a_file_of_numbered_chains_is_the_bare_file(tmp_path: Path) -> None:
    """A file that shapeinf wrote keeps its numbers where they are left, and the property that says so."""
    path, saved, target = built("in place", tmp_path), tmp_path / "saved.onnx", tmp_path / "m.onnx"
    infer_shapes(path).save(saved)
    memory = minimized(saved, target, {"n": 4096})
    assert memory.file == memory.original
    assert infer_shapes(target).graph.planned.keys() == {"d", "e"}
    assert str(infer_shapes(target).tensors["d"].shape) == "[n, 4]"


def test_a_model_that_onnxruntime_does_not_load_is_predicted_as_it_is(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17, "own": 1]> g (float[n] x) => (float[n] y) { a = own.F(x)  y = Exp(a) }'
    )
    path = tmp_path / "bare.onnx"
    onnx.save(model, path)
    memory = minimized(path, tmp_path / "m.onnx", {"n": 64})
    assert not memory.optimized and "own" in memory.cause and memory.file.first <= memory.original.first
    assert "the model as it is" in str(memory)


@pytest.mark.skipif(not TRUTHS, reason=MISSING)
@pytest.mark.parametrize("truth", corpus_cases(3))
def test_a_real_model_needs_no_more(truth: Path, counter: AllocationCounter, tmp_path: Path) -> None:
    """At the sizes at which the files were compared."""
    path, binding, arrays, _ = next(runs(truth))
    target = tmp_path / "m.onnx"
    memory = minimized(path, target, binding)
    inputs = inputs_at(path, binding, arrays)
    if any(np.asarray(array).dtype == object for array in inputs.values()):
        pytest.skip("texts are not counted")
    try:
        bare = measured(counter, path, inputs)
    except Refusal as error:
        pytest.skip(f"onnxruntime does not run the bare file here: {error}")
    file = measured(counter, target, inputs)
    print(f"{path.stem}: first {file[1] / bare[1]:.3f}, later {file[2] / bare[2]:.3f}, {memory.declared}")
    assert file[0] <= bare[0] and file[1] <= bare[1]
