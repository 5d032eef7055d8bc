"""`verify`: all tensors of a run are compared, differences are reported, and failed runs never count as passed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from shapeinf import InferenceOptions
from shapeinf.errors import MissingPackageError, ModelError, ShapeInferenceError, UnknownNameError
from shapeinf.runtime import Run, Verification, verify
from tests.engine.runtime import parsed
from tests.runtime.cases import CHOICE, ENDLESS, MATMUL, VERIFIED

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: nothing can be verified")


def verify_text(text: str, **options: Any) -> Verification:
    own = {name: options.pop(name) for name in ("at", "arrays", "timeout", "seed", "runtime") if name in options}
    return verify(parsed(text), **own, options=InferenceOptions(**options))


def counts(verification: Verification) -> tuple[int, int, int, int]:
    run = verification.runs[0]
    return run.tensors, run.exact, run.bounded, run.bound


@pytest.mark.parametrize(
    ("text", "expected"),  # tensors, exact, bounded, outputs in pre-allocated buffers
    [
        *VERIFIED,
        pytest.param("g (string[n] x) => (string[n] y) { y = Identity(x) }", (1, 1, 0, 0), id="strings"),
        pytest.param("g (string[n] x) => (int64[1] y) { y = Shape(x) }", (1, 1, 0, 0), id="of strings"),
        pytest.param(
            "g (float[n, 2] x) => (float[n] y) { s = SplitToSequence<axis = 1, keepdims = 0>(x)"
            " i = Constant<value = int64 {1}>() y = SequenceAt(s, i) }",
            (3, 3, 0, 1),
            id="sequence",
        ),
        pytest.param(
            "g (int64[n] x) => (float[n, 3] y) { t = Constant<value = float[2, 3] {1, 2, 3, 4, 5, 6}>()"
            " y = Gather(t, x) }",
            (2, 2, 0, 1),
            id="integers are legal indices",
        ),
    ],
)
def test_a_model_that_runs_is_verified(text: str, expected: tuple[int, int, int, int]) -> None:
    verification = verify_text(text)
    assert verification.ok, str(verification)
    assert counts(verification) == expected, str(verification)
    assert verification.verdict == "verified"


@pytest.mark.parametrize("seed", range(4))
def test_counts_are_not_zero(seed: int) -> None:
    text = """g (float[batch, 5] x, int64 steps) => (float[k, batch, 5] ys) {
        go = Constant<value = bool {1}>()
        last, ys = Loop(steps, go, x) <body = b (int64 i, bool c, float[batch, 5] v)
            => (bool d, float[batch, 5] w, float[batch, 5] y) { d = Identity(c)  w = Neg(v)  y = Abs(v) }>
    }"""
    assert verify_text(text, seed=seed).ok


def test_every_set_of_sizes_is_a_run() -> None:
    verification = verify_text(MATMUL, at=[{"batch": 2, "seq": 3}, {"batch": 5}])
    first, second = verification.runs
    assert (first.sizes, first.chosen) == ({"batch": 2, "seq": 3}, {})
    assert second.sizes["batch"] == 5 and list(second.chosen) == ["seq"]
    assert (first.bound_bytes, second.bound_bytes) == (2 * 4 * 4, 5 * 4 * 4)


def test_chosen_sizes_are_legal_for_the_graph() -> None:
    text = "g (float[h] x) => (float[a, 6] y) { s = Constant<value = int64[2] {-1, 6}>() y = Reshape(x, s) }"
    run = verify_text(text).runs[0]
    assert run.ok and run.sizes["h"] % 6 == 0 and run.chosen == run.sizes


def test_arrays_bind_the_dims_of_their_inputs() -> None:
    x = np.array([0.0, 1.0, 2.0, 0.0], np.float32)
    run = verify_text(CHOICE, arrays={"x": x}).runs[0]
    assert run.sizes == {"n": 4}
    assert [item.tensor for item in run.unbound] == ["y"] and "at most 16 bytes" in run.unbound[0].reason


def test_a_wrong_declaration_that_is_trusted_is_a_mismatch() -> None:
    model = parsed(CHOICE.replace("float[1, m] y", "float[1, 3] y"))
    x = np.array([0.0, 1.0, 2.0], np.float32)
    verification = verify(model, arrays={"x": x})
    assert not verification.ok
    assert {(item.tensor, item.by) for item in verification.mismatches} >= {("y", "bound"), ("y", "symbolic")}
    assert any(
        "float32[1, 2] in the runtime, float32[1, 3] by inference" in str(item) for item in verification.mismatches
    )
    assert verify(model, arrays={"x": x}, options=InferenceOptions(declared="ignore")).ok


def test_a_symbol_with_two_sizes_is_a_mismatch() -> None:
    text = (
        "g (float[n] x, float[k] v) => (float[1, m] y, float[1, m] z)"
        "{ c = NonZero(x)  y = Cast<to = 1>(c)  d = NonZero(v)  z = Cast<to = 1>(d) }"
    )
    arrays = {"x": np.array([1, 1, 0], np.float32), "v": np.array([1, 0, 0], np.float32)}
    assert [item.tensor for item in verify_text(text, arrays=arrays).mismatches].count("z") > 0
    assert verify_text(text, arrays=arrays, declared="ignore").ok


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("g (float[n] x) => (float[n] y) { y = my.Own(x) }", "my"),
        ("g (float[2] x, float[3] z) => (float[2] y) { y = Add(x, z) }", "Incompatible dimensions"),
    ],
)
def test_a_refused_model_is_not_verified(text: str, words: str) -> None:
    verification = verify_text(text)
    assert not verification.ok and verification.refused and words in verification.runs[0].refused
    assert verification.verdict == "not verified: the runtime did not run the model"
    assert verification.runs[0].tensors == 0


def test_a_run_that_takes_too_long_is_stopped() -> None:
    verification = verify_text(ENDLESS, timeout=0.2)
    assert verification.runs[0].refused == "stopped after 0.2 seconds"


def test_external_weights_are_loaded(tmp_path: Path) -> None:
    weight = onnx.numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    model = parsed("g (float[n, 64] x) => (float[n, 64] y) { y = MatMul(x, w) }")
    model.graph.initializer.append(weight)
    path = tmp_path / "model.onnx"
    onnx.save_model(model, path, save_as_external_data=True, location="weights", size_threshold=0)
    before = {item.name: item.read_bytes() for item in tmp_path.iterdir()}
    verification = verify(path)
    assert verification.ok and counts(verification) == (1, 1, 0, 1), str(verification)
    assert {item.name: item.read_bytes() for item in tmp_path.iterdir()} == before


@pytest.mark.parametrize("sizes", [{"batch": 0, "seq": 3}, {"batch": 2, "seq": 0}, {"batch": 0, "seq": 0}])
def test_sizes_of_0_are_verified_too(sizes: dict[str, int]) -> None:
    assert counts(verify_text(MATMUL, at=[sizes])) == (2, 2, 0, 1)
    assert verify_text(MATMUL, at=[{"batch": 2}, sizes]).ok
    array = np.zeros((sizes["batch"], sizes["seq"]), np.float32)
    assert verify_text(MATMUL, arrays={"x": array}).ok


def test_a_huge_tensor_is_not_allocated() -> None:
    huge = 1 << 40
    text = f"g (float x) => (float[m] y) {{ s = Constant<value_ints = [{huge}]>()  y = Expand(x, s) }}"
    verification = verify_text(text)
    assert verification.refused and verification.runs[0].tensors == 0
    assert verification.runs[0].refused == f"y would take 4 TiB ({4 * huge:,} bytes): bind smaller sizes"


def test_an_input_of_more_axes_than_an_array_may_have_is_refused() -> None:
    dims = ", ".join(["1"] * 100)
    verification = verify_text(f"g (float[{dims}] x) => (float[{dims}] y) {{ y = Neg(x) }}")
    assert verification.runs[0].refused == "input x has 100 axes, more than an array may have"


def test_many_mismatches_are_few_lines() -> None:
    chain = "  ".join(f"y{i + 1} = Neg(y{i})" for i in range(100))
    verification = verify_text(
        f"g (float[n] x) => (float[1, 3] y0, float[1, k] y100) {{ c = NonZero(x)  y0 = Cast<to = 1>(c)  {chain} }}"
    )
    assert len(verification.mismatches) > 100
    lines = str(verification).split("\n")
    assert len(lines) < 40 and "WRONG c (NonZero" in next(line for line in lines if "WRONG" in line), (
        "the cause comes first"
    )
    assert any(line == f"  and {len(verification.mismatches) - 20} more (--json has all)" for line in lines)


def test_large_tensors_are_fetched_by_several_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shapeinf.runtime.verification.MAX_HELD", 40)
    text = "g (float[8] x) => (float[8] y) { a = Neg(x)  b = Abs(a)  y = Relu(b) }"
    assert counts(verify_text(text)) == (3, 3, 0, 1)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"at": [{"btch": 1}]}, UnknownNameError, "batch"),
        ({"arrays": {"X": np.zeros(1)}}, UnknownNameError, "x"),
        (
            {"arrays": {"x": np.zeros((1, 2, 3), np.float32)}},
            ShapeInferenceError,
            "3 axes, not 2",
        ),
        ({"arrays": {"w": np.zeros((2, 5), np.float32)}}, ShapeInferenceError, "axis 1 of the array for input w is 5"),
        ({"arrays": {"x": np.zeros((1, 2), np.float32)}, "at": [{"seq": 3}]}, ShapeInferenceError, "but seq is 3"),
    ],
)
def test_mistakes_of_the_user(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        verify_text(MATMUL, **options)


def test_arrays_of_another_type_are_not_run() -> None:
    verification = verify_text(MATMUL, arrays={"x": np.zeros((1, 2))})
    assert verification.runs[0].refused == "the array for input x is float64, the model requires float32"


def test_without_the_runtime_the_error_has_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'shapeinf\[verify\]'"):
        verify_text(MATMUL)


def test_only_onnx_models_run() -> None:
    text = "version 1.0; graph g( x ) -> ( y ) { x = external(shape = [1, 2]); y = relu(x); }"
    with pytest.raises(ModelError, match="no runtime runs models of this format"):
        verify(text)


def test_a_run_without_comparisons_is_not_verified() -> None:
    run = Run({})
    assert {run.tensors, run.exact, run.bounded, run.unknown, run.bound, run.bound_bytes} == {0}
    assert Verification("runtime", (run,)).verdict == "not verified: no tensor was compared"
    assert Verification("runtime", (Run({}, tensors=1),)).verdict == "verified"


WRONG_OUTPUT = "g (float[n, 4] x) => (float[1, 4] y, float[n, 4] z) { y = Relu(x)  z = Neg(x) }"


def test_an_output_whose_declaration_is_wrong_is_bound_in_a_copy() -> None:
    (run,) = verify_text(WRONG_OUTPUT, at=[{"n": 2}], declared="ignore").runs
    assert (run.ok, run.bound, run.redeclared) == (True, 2, ("y",))
    assert "  y: the file declares another shape" in str(run)
    (same,) = verify_text(WRONG_OUTPUT, at=[{"n": 1}], declared="ignore").runs
    assert (same.ok, same.bound, same.redeclared) == (True, 2, ())


BRANCHES = """g (float[n, 8] x, int64 rate) => (float[n, 8] y) {{
    wide = Cast<to = 7>(rate)
    k = Constant<value = int64 {{16000}}>()
    c = Equal({operand}, k)
    y = If(c) <
        then_branch = t () => (float[n, 8] p) {{ p = Relu(x) }},
        else_branch = e () => (float[n, 8] q) {{ s = Constant<value = int64[2] {{-1, 3}}>()  q = Reshape(x, s) }}>
}}"""


@pytest.mark.parametrize("operand", ["rate", "wide"])
def test_values_that_a_branch_can_take_are_tried(operand: str) -> None:
    (run,) = verify_text(BRANCHES.format(operand=operand), at=[{"n": 2}]).runs
    assert (run.ok, run.values) == (True, "rate=16000")
    assert str(run).splitlines()[0] == "n=2, rate=16000 (chosen)"


def test_a_value_of_the_user_is_fed() -> None:
    text = BRANCHES.format(operand="rate")
    assert verify_text(text, at=[{"n": 2}], values={"rate": 16000}).ok
    assert verify_text(text, at=[{"n": 2}], values={"rate": 8000}).refused
