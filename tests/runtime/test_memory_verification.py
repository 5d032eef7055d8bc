"""`verify --memory`: the measured peak of a run beside the predicted one, and what is not compared."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner, Result

from shapeinf import InferenceOptions
from shapeinf.cli import main
from shapeinf.errors import NotKnown
from shapeinf.memory.runtimes.kernels import RuntimeKernels
from shapeinf.memory.runtimes.onnxruntime.walk import Walk
from shapeinf.runtime import MemoryVerification, allocation_counter, verify_memory
from shapeinf.runtime.allocation_counter import PAGES, AllocationCounter, SessionOptions, counter_obstacle
from shapeinf.runtime.protocol import NotLoaded, StoppedRun
from tests.engine.runtime import parsed
from tests.runtime.cases import ENDLESS, MATMUL
from tests.vectors import PROJECT

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: nothing can be measured")

counted = pytest.mark.skipif(bool(counter_obstacle()), reason=counter_obstacle())
in_pages = pytest.mark.skipif(not os.path.exists(PAGES), reason="the system counts no pages of a process")

EXAMPLES = {
    "convnet": [{"batch": 1, "height": 32, "width": 48}, {"batch": 5, "height": 96, "width": 64}],
    "decoder": [{"batch": 1, "seq": 16}, {"batch": 8, "seq": 64}],
}
TRIPS = """g (float[n, 5] x, int64 steps) => (float[n, 5] y) {
    go = Constant<value = bool {1}>()
    y = Loop(steps, go, x) <body = b (int64 i, bool c, float[n, 5] v) => (bool d, float[n, 5] w)
        { d = Identity(c)  w = Neg(v) }>
}"""
BRANCHES = """g (float[n, 5] x, bool c) => (float[n, 5] y) {
    y = If(c) <then_branch = t () => (float[n, 5] p) { p = Neg(x) },
               else_branch = e () => (float[n, 5] q) { a = Exp(x)  b = Neg(a)  q = Add(a, b) }>
}"""


BLOCKS = """g (float[n, 3, h, w] x) => (float[n, 8, p, q] y)
  <float[n, r, s, 8] b, float[n, r, s, 8] c, float[n, r, s, 8] f, float[n, r, s, 8] g, float[n, r, s, 8] m> {
    a = Conv <strides = [4, 4]> (x, w0)
    b = Transpose <perm = [0, 2, 3, 1]> (a)
    c = LayerNormalization (b, scale)
    d = Transpose <perm = [0, 3, 1, 2]> (c)
    e = Conv <group = 8, pads = [1, 1, 1, 1]> (d, w1)
    f = Transpose <perm = [0, 2, 3, 1]> (e)
    g = LayerNormalization (f, scale)
    i = MatMul (g, w2)
    j = Erf (i)
    k = MatMul (j, w3)
    l = Add (c, k)
    m = LayerNormalization (l, scale)
    o = Transpose <perm = [0, 3, 1, 2]> (m)
    y = Conv <strides = [2, 2]> (o, w4)
}"""
WEIGHTS = {"w0": (8, 3, 4, 4), "scale": (8,), "w1": (8, 1, 3, 3), "w2": (8, 32), "w3": (32, 8), "w4": (8, 8, 2, 2)}


def verify_text(text: str, **options: Any) -> MemoryVerification:
    return verify_memory(parsed(text), **options)


def command(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["verify", "--memory", *map(str, arguments)])


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation_counter, "COMPILERS", ("no-such-compiler",))


@pytest.fixture
def nothing_rounded_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong rule: the allocator of the runtime rounds sizes up."""
    monkeypatch.setattr(Walk, "round_up", lambda _, size: size)


@pytest.fixture
def too_much_rounded_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Walk, "round_up", lambda _, size: size + 4096)


@counted
def test_channels_that_are_last_are_reordered_into_blocks_of_the_machine() -> None:
    """Two equal shapes of reordered values share a buffer, which a session knows from the channels of a block."""
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {BLOCKS}')
    for name, shape in WEIGHTS.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(shape, np.float32), name))
    verification = verify_memory(model, at=[{"n": 4, "h": 64, "w": 64}, {"n": 1, "h": 32, "w": 96}])
    assert [run.verdict for run in verification.runs] == ["exact", "exact"], str(verification)


@counted
@pytest.mark.parametrize("optimize", ["off", "all"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_prediction_of_an_example_is_exact(name: str, optimize: Any) -> None:
    verification = verify_memory(PROJECT / "examples" / f"{name}.onnx", at=EXAMPLES[name], optimize=optimize)
    assert [run.verdict for run in verification.runs] == ["exact", "exact"], str(verification)
    assert [run.sizes for run in verification.runs] == EXAMPLES[name]
    assert verification.ok and verification.verdict == "verified" and not verification.obstacle


@counted
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(MATMUL, id="a matrix product"),
        pytest.param("g (float16[n, 3] x) => (float16[n, 3] y) { a = Exp(x)  y = Neg(a) }", id="float16"),
        pytest.param("g (float[?, 3] x) => (float[k, 3] y) { a = Exp(x)  y = Neg(a) }", id="a dim without a name"),
    ],
)
def test_chosen_sizes_are_measured(text: str) -> None:
    (run,) = verify_text(text).runs
    assert run.verdict == "exact" and run.chosen == run.sizes and run.predicted, str(run)


@counted
def test_strings_are_not_counted() -> None:
    """The runtime copies an input of strings into a buffer of its own."""
    (run,) = verify_text("g (string[n] x) => (int64[1] y) { s = Identity(x)  y = Shape(s) }").runs
    assert run.verdict == "within the bound" and run.at_least, str(run)
    assert "not counted: x: strings have no fixed size" in run.notes


@counted
def test_a_size_of_0_is_measured() -> None:
    runs = verify_text(MATMUL, at=[{"batch": 0, "seq": 3}, {"batch": 2, "seq": 3}]).runs
    assert [run.verdict for run in runs] == ["exact", "exact"]


@counted
def test_arrays_and_values_are_those_of_the_run() -> None:
    arrays = {"x": np.ones((7, 3), np.float32), "w": np.ones((3, 4), np.float32)}
    (run,) = verify_text(MATMUL, arrays=arrays).runs
    assert run.verdict == "exact" and run.sizes == {"batch": 7, "seq": 3}
    for steps in (1, 2, 9):
        (run,) = verify_text(TRIPS, at=[{"n": 40}], options=InferenceOptions(values={"steps": steps})).runs
        assert run.verdict == "exact", str(run)


@counted
def test_external_data_of_a_model_in_memory_is_read_from_its_folder(tmp_path: Path) -> None:
    weight = onnx.numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    model = parsed("g (float[n, 64] x) => (float[n, 64] y) { y = MatMul(x, w) }")
    model.graph.initializer.append(weight)
    path = tmp_path / "model.onnx"
    onnx.save_model(model, path, save_as_external_data=True, location="weights", size_threshold=0)
    assert [run.verdict for run in verify_memory(path, at=[{"n": 9}]).runs] == ["exact"]
    elsewhere = tmp_path / "elsewhere" / "model.onnx"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(path.read_bytes())
    arrays = {"x": np.ones((9, 64), np.float32)}
    with AllocationCounter() as counter:
        assert counter.measure(str(elsewhere), arrays, folder=str(tmp_path)) == counter.measure(str(path), arrays)
        with pytest.raises(NotLoaded):
            counter.measure(str(elsewhere), arrays)


@counted
@pytest.mark.usefixtures("nothing_rounded_up")
def test_a_run_that_takes_more_than_predicted_is_a_mismatch() -> None:
    path = PROJECT / "examples" / "decoder.onnx"
    result = command(path, "--at", "batch=1,seq=3", "--at", "batch=8,seq=64")
    assert result.exit_code == 1, result.output
    assert "WRONG, more than predicted" in result.output and result.output.splitlines()[-1].endswith(" WRONG")


@counted
@pytest.mark.usefixtures("too_much_rounded_up")
def test_a_run_that_takes_less_than_predicted_is_no_mismatch() -> None:
    result = command(PROJECT / "examples" / "decoder.onnx", "--at", "batch=1,seq=3")
    assert result.exit_code == 0 and "less than predicted" in result.output, result.output
    assert result.output.splitlines()[-1] == "verified; 1 run below the prediction"


@counted
def test_unknown_temporaries_are_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Softmax over another axis than the last one has temporaries, whose rule is taken away."""

    def unknown(*_: object) -> Any:
        raise NotKnown("the kernel was not measured")

    monkeypatch.setattr(RuntimeKernels, "find_scratch", unknown)
    text = "g (float[n, 8] x) => (float[n, 8] y) { a = Exp(x)  y = Softmax<axis = 0>(a) }"
    verification = verify_text(text, at=[{"n": 50}])
    (run,) = verification.runs
    assert run.verdict == "within the bound" and run.at_least and verification.ok, str(verification)
    assert any("the kernel was not measured" in note for note in run.notes)
    assert "predicted  at least " in str(run)


@counted
def test_the_larger_branch_is_an_upper_bound() -> None:
    verdicts = []
    for c in (True, False):
        (run,) = verify_text(BRANCHES, at=[{"n": 100}], arrays={"c": np.array(c)}).runs
        assert run.at_most and "data choose the branch" in " ".join(run.notes)
        verdicts.append(run.verdict)
    assert verdicts[0] == "within the bound" and verdicts[1] in ("exact", "within the bound")


@counted
def test_a_run_that_takes_too_long_is_stopped_and_the_process_starts_again(tmp_path: Path) -> None:
    (run,) = verify_text(ENDLESS, timeout=1).runs
    assert run.refused == "stopped after 1 seconds" and run.verdict == "refused"
    paths = {}
    for name, text in {"endless": ENDLESS, "fine": "g (float[n] x) => (float[n] y) { y = Neg(x) }"}.items():
        paths[name] = str(tmp_path / f"{name}.onnx")
        onnx.save(parsed(text), paths[name])
    x = {"x": np.ones(100, np.float32)}
    with AllocationCounter(timeout=2) as counter:
        with pytest.raises(StoppedRun):
            counter.measure(paths["endless"], x)
        assert counter.measure(paths["fine"], x, SessionOptions()).peaks == (448,)


@counted
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("g (float[n] x) => (float[n] y) { y = my.Own(x) }", "Own"),
        ("g (bfloat16[n] x) => (float[n] y) { y = Cast<to = 1>(x) }", "bfloat16"),
    ],
)
def test_a_refused_model_is_not_verified(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(parsed(text), path)
    result = command(path, "--json")
    data = json.loads(result.output)
    assert result.exit_code == 3 and not data["ok"] and words in data["runs"][0]["refused"]
    assert data["schema"] == "shapeinf.verify.memory/1" and data["verdict"] == "not verified: a run was not measured"


@in_pages
@pytest.mark.usefixtures("no_compiler")
def test_pages_are_counted_without_a_compiler() -> None:
    verification = verify_memory(PROJECT / "examples" / "convnet.onnx", at=[{"batch": 8, "height": 96, "width": 96}])
    (run,) = verification.runs
    assert run.in_pages and run.verdict == "not compared" and run.measured is not None and run.predicted is not None
    assert abs(run.measured - run.predicted) < run.predicted / 4, str(run)
    assert "no no-such-compiler" in verification.obstacle
    assert verification.ok and verification.verdict == "not verified: pages are too coarse to compare"


@in_pages
@pytest.mark.usefixtures("no_compiler", "nothing_rounded_up")
def test_pages_are_never_a_mismatch() -> None:
    result = command(PROJECT / "examples" / "decoder.onnx", "--at", "batch=1,seq=3")
    assert result.exit_code == 0 and "measured   about " in result.output and "not compared" in result.output


@pytest.mark.usefixtures("no_compiler")
def test_nothing_is_measured_where_the_system_counts_no_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation_counter, "PAGES", "/no/such/file")
    result = command(PROJECT / "examples" / "decoder.onnx")
    assert result.exit_code == 3 and "refused: pages are counted on Linux only" in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--memory", "--runtime", "openvino"], "measures onnxruntime only"),
        (["--optimize", "off"], "--optimize needs --memory"),
        (["--memory", "--bind", "m=4"], "no dim is named 'm'"),
        (["--memory", "--optimize", "some"], "'off', 'all'"),
    ],
)
def test_usage(arguments: list[str], words: str) -> None:
    path = str(PROJECT / "examples" / "decoder.onnx")
    result = CliRunner().invoke(main, ["verify", path, *arguments])
    assert result.exit_code == 2 and words in result.output, result.output


def test_a_model_of_another_format_has_no_memory_in_onnxruntime() -> None:
    result = command(PROJECT / "examples" / "recurrent.pbtxt")
    assert result.exit_code == 3 and "onnxruntime does not run models of this format" in result.output
