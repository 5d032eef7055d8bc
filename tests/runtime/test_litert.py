"""LiteRT agrees on files that are built here, and what `verify --runtime litert` does where it does not run."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from shapeinf import InferenceOptions, infer_shapes
from shapeinf.cli import main
from shapeinf.errors import ModelError, ShapeInferenceError, UnknownNameError
from shapeinf.formats.tflite import TfliteOptions
from shapeinf.runtime import child_runs, verify
from shapeinf.runtime.protocol import Refusal
from tests.formats.tflite.files import ADD, Node, Subgraph, Tensor, doubled, file
from tests.vectors import PROJECT

pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed: nothing is compared with it")


def grouped(*target: int) -> bytes:
    """A sum of [n, 4] with itself, reshaped."""
    return file(doubled(target, Tensor("x", (1, 4), signature=(-1, 4)), (1, 4)))


@pytest.mark.parametrize("rows", [1, 3])
def test_litert_agrees_on_all_tensors(rows: int) -> None:
    verification = verify(grouped(-1, 2), runtime="litert", options=InferenceOptions(inputs={"x": [rows, 4]}))
    assert verification.verdict == "verified" and verification.ok, str(verification)
    assert verification.runs and all(run.tensors == 2 for run in verification.runs)


def test_the_example_is_verified() -> None:
    result = CliRunner().invoke(
        main, ["verify", str(PROJECT / "examples" / "detector.tflite"), "--runtime", "litert", "--timeout", "60"]
    )
    assert result.exit_code == 0 and "verified" in result.output, result.output


def test_sizes_that_litert_refuses_are_refused_here_too() -> None:
    model = grouped(1, 4)
    verification = verify(model, runtime="litert", options=InferenceOptions(inputs={"x": [2, 4]}))
    (run,) = verification.runs
    assert "Node number 1 (RESHAPE) failed to prepare" in run.refused and not verification.ok
    answer = infer_shapes(model, inputs={"x": [2, 4]}).contract.check()
    assert answer.verdict is False and any("RESHAPE '1'" in reason for reason in answer.reasons)


@pytest.mark.parametrize("signature", [None, (-1, 4), (1, -1), (-1, -1)])
@pytest.mark.parametrize("sizes", [[1, 4], [2, 4], [1, 5], [2, 5], [4], [1, 4, 1]])
def test_strict_resizes_are_refused_alike(signature: tuple[int, int] | None, sizes: list[int]) -> None:
    from ai_edge_litert.interpreter import Interpreter

    tensors = [Tensor("x", (1, 4), signature=signature), Tensor("y", (1, 4), signature=signature)]
    model = file(Subgraph(tensors, [0], [1], [Node(ADD, [0, 0], [1])]))
    interpreter = Interpreter(model_content=model)
    try:
        interpreter.resize_tensor_input(0, sizes, strict=True)
        accepted = True
    except (RuntimeError, ValueError):
        accepted = False
    try:
        infer_shapes(model, inputs={"x": sizes}, format_options=TfliteOptions(resize_inputs="strict"))
        assert accepted
    except ShapeInferenceError as error:
        assert not accepted and "which a strict resize keeps" in str(error)


def test_a_name_for_a_size_that_a_strict_resize_keeps() -> None:
    result = infer_shapes(
        grouped(-1, 2), inputs={"x": ["n", "m"]}, format_options=TfliteOptions(resize_inputs="strict")
    )
    assert str(result.tensors["x"].shape) == "[n, 4]"
    with pytest.raises(UnknownNameError, match="resize"):
        infer_shapes(grouped(-1, 2), format_options=TfliteOptions(resize_inputs="none"))


def test_a_member_of_an_archive_is_run(tmp_path: Path) -> None:
    path = tmp_path / "models.task"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("first.tflite", grouped(1, 4))
        archive.writestr("second.tflite", grouped(-1, 2))
    options = InferenceOptions(inputs={"x": [3, 4]}, format_options=TfliteOptions(member="second.tflite"))
    assert verify(path, runtime="litert", options=options).verdict == "verified"


def test_other_models_are_refused() -> None:
    with pytest.raises(ModelError, match="choose"):
        verify(PROJECT / "examples" / "decoder.onnx", runtime="litert")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import sys; sys.stderr.write('first\\nno memory\\n'); sys.exit(3)", "LiteRT ended with code 3: no memory"),
        ("import os; os.abort()", "LiteRT ended with code -6"),
        ("open(__import__('sys').argv[1] + '/done.json', 'w').write('{')", "LiteRT ended with code 0"),
    ],
)
def test_a_process_that_dies_is_a_refusal(tmp_path: Path, script: str, message: str) -> None:
    path = tmp_path / "child.py"
    path.write_text(script, encoding="utf-8")
    with pytest.raises(Refusal, match=message):
        child_runs.run_child(str(path), str(tmp_path), {}, {}, title="LiteRT", timeout=60)
