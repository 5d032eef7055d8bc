"""`shapeinf check`: its forms and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main
from tests.checks.models import join_model, reshape_model, skip_model


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, args)])


@pytest.fixture
def fixed(tmp_path: Path) -> Path:
    path = tmp_path / "pinned.onnx"
    path.write_bytes(reshape_model(4, 2, 3).SerializeToString())
    return path


@pytest.fixture
def fine(tmp_path: Path) -> Path:
    path = tmp_path / "fine.onnx"
    path.write_bytes(join_model("Add", "n", "n").SerializeToString())
    return path


def test_without_diagnostics_the_exit_code_is_0(fine: Path) -> None:
    result = run(fine)
    assert (result.exit_code, result.output.strip()) == (0, "no diagnostics")


def test_diagnostics_are_printed_and_fail(fixed: Path) -> None:
    result = run(fixed)
    assert result.exit_code == 1
    assert result.output.startswith("warning[C101]: batch (x.shape[0], b.shape[0]) is declared as dynamic")
    assert result.output.strip().endswith("1 warning")


def test_notes_do_not_fail(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(join_model("Concat", "n", "n", axis=0).SerializeToString())
    result = run(path, "--dim", f"n=1..{2**26}")
    assert (result.exit_code, "note[C130]" in result.output) == (0, True)


def test_json(fixed: Path, fine: Path) -> None:
    data = json.loads(run(fixed, "--json").output)
    assert (data["schema"], data["ok"]) == ("shapeinf.check/1", False)
    ((diagnostic,),) = (model["diagnostics"] for model in data["models"])
    assert (diagnostic["code"], diagnostic["node"], diagnostic["severity"]) == ("C101", "make_h", "warning")
    assert json.loads(run(fine, "--json").output)["ok"] is True


def test_markdown(fixed: Path) -> None:
    heading, _, names, rule, row = run(fixed, "--markdown").output.strip().split("\n")
    assert heading.endswith("pinned.onnx`: 1 warning")
    assert names.count("|") == rule.count("|") == row.count("|") == 5
    assert row.startswith("| warning | C101 | `make_h` Reshape | batch ")


def test_github(fixed: Path, fine: Path) -> None:
    (line,) = run(fixed, "--github").output.strip().split("\n")
    assert line.startswith("::warning file=")
    assert ",title=C101 make_h::batch (x.shape[0], b.shape[0])" in line
    assert "%0Abecause the element count" in line
    assert run(fine, "--github").output == ""


def test_profiles_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "u.onnx"
    path.write_bytes(skip_model().SerializeToString())
    result = run(path, "--minShapes=x:1x3x4x8", "--optShapes=x:1x3x8x8", "--maxShapes=x:1x3x16x8")
    assert (result.exit_code, "warning[C154]" in result.output) == (1, True)
    file = tmp_path / "profile.json"
    file.write_text('{"x": {"opt": [1, 3, 8, 8]}}', encoding="utf-8")
    assert run(path, "--profile", file).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--minShapes=y:1x6"], 2, "no input is named 'y'"),
        (["--minShapes=x"], 2, "expected"),
        (["--dim", "m=1..8"], 2, "no dim is named 'm'"),
        (["--profile", "nowhere.json"], 3, "nowhere.json"),
    ],
)
def test_mistakes(fine: Path, arguments: list[str], code: int, text: str) -> None:
    result = run(fine, *arguments)
    assert result.exit_code == code
    assert text in result.output
    assert "Traceback" not in result.output
