"""Small models, one for each rule of the plan of onnxruntime: predicted, as they were measured, and measured again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import attrs
import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
from shapeinf.memory.runtimes.onnxruntime.session_memory import SessionMemory
from shapeinf.runtime.allocation_counter import AllocationCounter, SessionOptions, counter_obstacle
from tests.memory.runtimes.body_cases import BODY_CASES, ROWS, BodyCase
from tests.memory.runtimes.session_cases import CASES, HEAD, Case

by_label = pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)


def memory_of(case: Case, **options: bool | int) -> SessionMemory:
    model = onnx.parser.parse_model(case.model)
    return infer_shapes(model).memory(runtime="onnxruntime", options=OnnxRuntimeOptions(**options))  # type: ignore[arg-type]


@by_label
def test_the_peak_is_as_it_was_measured(case: Case) -> None:
    run = memory_of(case).at(case.sizes)
    assert run.first.bytes == case.measured and not run.unknown


@pytest.fixture(scope="module")
def counter() -> Iterator[AllocationCounter]:
    if obstacle := counter_obstacle():
        pytest.skip(obstacle)
    with AllocationCounter() as counter:
        yield counter


@by_label
def test_the_peak_is_measured(case: Case, counter: AllocationCounter, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(case.model), path)
    measured = counter.measure(str(path), case.arrays(), SessionOptions())
    run = memory_of(case).at(case.sizes)
    assert measured.peaks[-1] == run.first.bytes and measured.held == run.held


by_body = pytest.mark.parametrize("case", BODY_CASES, ids=lambda case: case.label)


@by_body
def test_bodies_are_as_they_were_measured(case: BodyCase) -> None:
    values = {"p": True} if "p" in case.arrays() else {}
    run = infer_shapes(case.model, values=values).memory(runtime="onnxruntime").at(n=ROWS)
    assert (run.first.bytes, run.first_with_blocks, run.later, run.held) == attrs.astuple(case)[1:5]
    assert not run.unknown


@pytest.mark.slow
@by_body
def test_bodies_are_measured(case: BodyCase, counter: AllocationCounter, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(case.model, path)
    sessions = [SessionOptions(), SessionOptions(pattern=True, runs=3)]
    plain, recorded = counter.measure_all(str(path), case.arrays(), sessions)
    assert (*plain.peaks, *recorded.peaks) == (case.first, case.first_with_blocks, case.later, case.later)
    assert plain.held == case.held


@by_label
def test_the_formula_holds_at_other_sizes(case: Case) -> None:
    """The peak at sizes is the maximum of the symbolic terms, and what an inference with these sizes has."""
    model = onnx.parser.parse_model(case.model)
    for rows in (1, 2, 63, 100):
        formula = memory_of(case).peak.at(n=rows)
        bound = infer_shapes(model, bind={"n": rows}).memory(runtime="onnxruntime").peak.at(n=rows)
        assert formula.bytes == bound.bytes or formula.at_most
        assert sum(size for _, size in formula.alive) == formula.bytes


def test_an_idle_buffer_is_named() -> None:
    case = next(case for case in CASES if case.label == "a free buffer is kept")
    run = memory_of(case).at(n=64)
    without = memory_of(case, reuse=False).at(n=64)
    assert without.first.bytes <= run.first.bytes and not without.idle


UNMEASURED = f"{HEAD} g (float[n, 16] x) => (float[n, 16] y) {{ y = com.example.Own(x) }}"


def test_unknown_temporaries_are_never_0() -> None:
    model = onnx.parser.parse_model(UNMEASURED.replace('"" : 17', '"" : 17, "com.example" : 1'))
    memory = infer_shapes(model).memory(runtime="onnxruntime")
    assert [buffer.cause for buffer in memory.unknown_scratch] == ["the operator is not known"]
    assert memory.peak.at_least


def test_a_function_of_the_model_is_noted() -> None:
    text = f'{HEAD[:-1]}, opset_import: ["" : 17, "own" : 1]>'.replace('opset_import: ["" : 17], ', "")
    text += "g (float[n, 16] x) => (float[n, 16] y) { y = own.Twice(x) }"
    text += '<domain: "own", opset_import: ["" : 17]> Twice (x) => (y) { y = Add(x, x) }'
    memory = infer_shapes(onnx.parser.parse_model(text)).memory(runtime="onnxruntime")
    assert [note for note in memory.notes if "inlines functions" in note] and memory.peak.at(n=64).bytes == 4096


def test_options_of_tensors_do_not_apply_to_a_runtime() -> None:
    result = infer_shapes(onnx.parser.parse_model(CASES[0].model))
    with pytest.raises(ShapeInferenceError, match="has its own order"):
        result.memory(runtime="onnxruntime", in_place=True)  # type: ignore[call-overload]
    with pytest.raises(UnknownNameError, match="runtime"):
        result.memory(runtime="onnxruntim")


def test_the_order_is_depth_first_from_the_last_leaf() -> None:
    """The producer with the highest index runs first, and before it those that it reads."""
    text = f"{HEAD} g (float[n, 16] x) => (float[n, 16] y, float[n, 16] z)"
    text += "{ [a] a = Abs(x) [b] b = Neg(x) [c] c = Exp(x) [y] y = Add(a, c) [z] z = Sub(b, y) [w] w = Neg(c) }"
    memory = infer_shapes(onnx.parser.parse_model(text)).memory(runtime="onnxruntime")
    assert [point.node for point in memory.timeline.points] == ["c", "w", "a", "y", "b", "z"]
    options = OnnxRuntimeOptions(file_order=True)
    memory = infer_shapes(onnx.parser.parse_model(text)).memory(runtime="onnxruntime", options=options)
    assert [point.node for point in memory.timeline.points] == ["a", "b", "c", "y", "z", "w"]


def test_a_branch_that_data_choose_is_counted_as_at_most() -> None:
    text = (
        HEAD
        + """g (float[n, 16] x, bool p) => (float[n, 16] y) {
          a = Relu(x)
          y = If(p) <
            then_branch = t () => (float[n, 16] b) { c = Mul(a, a) b = Mul(c, c) },
            else_branch = e () => (float[n, 16] d) { d = Neg(a) }>
        }"""
    )
    memory = infer_shapes(onnx.parser.parse_model(text)).memory(runtime="onnxruntime")
    assert any("data choose the branch" in note for note in memory.notes)
    at, over = memory.peak.at(n=8), memory.peak.over(n=(1, 8))
    assert at.at_most and over.at_most and str(memory.peak).startswith("at most ") and not at.at_least
    assert not memory.peak.largest("n", "1 MiB").proven
    fixed = infer_shapes(onnx.parser.parse_model(text), values={"p": True}).memory(runtime="onnxruntime")
    assert not fixed.peak.at_most and not fixed.notes


def test_temporaries_that_are_bounds_make_the_peak_at_most() -> None:
    """Whether a resize changes an axis is known at sizes only."""
    text = (
        HEAD
        + """g (float[1, 2, h, w] x, float[1, 2, a, b] like) => (float[1, 2, a, b] y) {
          sizes = Shape(like)
          y = Resize <mode = "linear"> (x, , , sizes)
        }"""
    )
    memory = infer_shapes(onnx.parser.parse_model(text)).memory(runtime="onnxruntime")
    at = memory.peak.at(h=4, w=4, a=8, b=8)
    assert at.at_most and not at.at_least and memory.notes == ("the temporaries are upper bounds: y",)
    bound = infer_shapes(onnx.parser.parse_model(text), bind={"h": 4, "w": 4, "a": 8, "b": 8})
    exact = bound.memory(runtime="onnxruntime").peak.at()
    assert not exact.at_most and exact.bytes <= at.bytes


IN_PLACE = """<ir_version: 8, opset_import: ["": 17]>
    g (float[n, 4] x) => (float y) {
      s = Shape(x)
      first = ReduceSum<keepdims = 0>(x)
      d = Expand(first, s)
      e = Relu(d)
      y = ReduceSum<keepdims = 0>(e)
    }"""


@pytest.mark.parametrize("as_object", [False, True])
def test_the_plan_reads_the_numbers_of_chains(as_object: bool, counter: AllocationCounter, tmp_path: Path) -> None:
    """Of a file that shapeinf wrote: `d` and `e` have equal texts there, which shapes do not show."""
    bare, path = tmp_path / "bare.onnx", tmp_path / "annotated.onnx"
    onnx.save(onnx.parser.parse_model(IN_PLACE), bare)
    infer_shapes(bare).save(path)
    saved = infer_shapes(onnx.load(path) if as_object else path)
    assert str(saved.tensors["d"].shape) == "[n, 4]"
    arrays = {"x": np.zeros((1024, 4), np.float32)}
    measured = [counter.measure(str(file), arrays).peaks[-1] for file in (bare, path)]
    predicted = [result.memory(runtime="onnxruntime").peak.at(n=1024).bytes for result in (infer_shapes(bare), saved)]
    assert predicted == measured and measured[1] < measured[0]
