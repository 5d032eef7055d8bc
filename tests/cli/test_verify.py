"""`shapeinf verify`: output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main
from tests.engine.runtime import parsed

CHOICE = "g (float[n] x) => (float[1, 3] y) { c = NonZero(x)  y = Cast<to = 1>(c) }"
REFUSED = "g (float[n] x) => (float[n] y) { y = my.Own(x) }"
FINE = "g (float[n, 3] x) => (float[n, 3] y) { y = Neg(x) }"


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["verify", *map(str, args)])


@pytest.fixture
def model(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(parsed(getattr(request, "param", FINE)).SerializeToString())
    return path


@pytest.fixture
def array(tmp_path: Path) -> Path:
    path = tmp_path / "x.npy"
    np.save(path, np.array([1, 0, 0, 2], np.float32))
    return path


def test_fine(model: Path) -> None:
    pytest.importorskip("onnxruntime")
    result = run(model, "--at", "n=2", "--at", "n=5")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[1] == "n=2" and "n=5" in lines and lines[-1] == "verified"


@pytest.mark.parametrize("model", [CHOICE], indirect=True)
def test_a_mismatch_exits_with_1(model: Path, array: Path) -> None:
    pytest.importorskip("onnxruntime")
    result = run(model, "--input", f"x={array}")
    assert result.exit_code == 1
    assert "WRONG y (Cast ''): float32[1, 2] in the runtime, float32[1, 3] by inference (bound)" in result.output
    assert run(model, "--input", f"x={array}", "--declared", "ignore").exit_code == 0


@pytest.mark.parametrize("model", [REFUSED], indirect=True)
def test_a_refused_model_exits_with_3(model: Path) -> None:
    pytest.importorskip("onnxruntime")
    result = run(model, "--json")
    assert result.exit_code == 3
    data = json.loads(result.output)
    assert data["schema"] == "shapeinf.verify/1" and not data["ok"] and "Own" in data["runs"][0]["refused"]


def test_json_has_the_counts(model: Path) -> None:
    pytest.importorskip("onnxruntime")
    data = json.loads(run(model, "--bind", "n=4", "--json").output)
    (only,) = data["runs"]
    assert data["ok"] and data["verdict"] == "verified"
    assert (only["sizes"], only["tensors"], only["exact"], only["bound_bytes"]) == ({"n": 4}, 1, 1, 48)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--bind", "m=4"], "available: 'n'"),
        (["--at", "n"], "--at"),
        (["--bind", "n=4", "--dim", "n=1..3"], "outside of"),
        (["--input", "x"], "expected NAME=FILE.npy"),
        (["--input", "z=pyproject.toml"], "is not an .npy file"),
        (["--runtime", "other"], "onnxruntime"),
    ],
)
def test_usage(model: Path, options: list[str], words: str) -> None:
    pytest.importorskip("onnxruntime")
    result = run(model, *options)
    assert result.exit_code == 2 and words in result.output, result.output


def test_an_array_file_runs_no_code(model: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    path = tmp_path / "x.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    result = run(model, "--input", f"x={path}")
    assert result.exit_code == 2 and "is not an .npy file" in result.output


def test_a_missing_file_could_not_run(tmp_path: Path) -> None:
    assert run(tmp_path / "none.onnx").exit_code == 3
