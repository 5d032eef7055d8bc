"""`shapeinf summary`: what it prints, several models, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main
from tests.engine.runtime import parsed
from tests.report.test_json_schemas import BROKEN

ROOT = Path(__file__).resolve().parents[2]
CONVNET, DECODER = (str(ROOT / "examples" / f"{name}.onnx") for name in ("convnet", "decoder"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["summary", *arguments])


def sections(text: str) -> dict[str, str]:
    """The first line of each heading."""
    return {line[:12].strip(): line[12:] for line in text.splitlines() if line[:12].strip() and line[11:12] == " "}


def test_everything_is_on_one_screen() -> None:
    result = run(DECODER, "--bind", "batch=1,seq=8")
    assert result.exit_code == 0, result.output
    lines = sections(result.stdout)
    headings = "format producer inputs outputs dims contract operators parameters MACs peak unknown diagnostics"
    assert set(headings.split()) <= set(lines)
    assert len(result.stdout.splitlines()) <= 24
    assert lines["format"] == "ONNX, IR version 9, opset 18"
    assert lines["inputs"] == "tokens: int64[batch, seq]"
    assert lines["unknown"] == "nothing" and lines["diagnostics"] == "none"


def test_several_models_and_one_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "no.onnx").write_bytes(b"\x08\x07")
    result = run(DECODER, str(tmp_path / "no.onnx"), CONVNET)
    assert result.exit_code == 3
    assert DECODER in result.stdout and CONVNET in result.stdout and "no.onnx" in result.stderr
    table = run("--table", DECODER, CONVNET)
    assert table.exit_code == 0
    rows = [line for line in table.stdout.splitlines() if "ONNX" in line]
    assert len(rows) == 2 and "47,520" in rows[0] and "1,896" in rows[1]


def test_folders_and_patterns() -> None:
    folder = str(ROOT / "examples")
    listed = [line.split()[0] for line in run("--table", folder).stdout.splitlines()[2:]]
    assert CONVNET in listed and f"{folder}/pnnx/cnn.onnx" in listed
    assert run(f"{folder}/*.onnx").stdout == run(CONVNET, DECODER).stdout
    assert run(f"{folder}/*.tf").exit_code == 2


def test_numbers_at_usual_sizes() -> None:
    """Text has numbers for a reader; JSON and the table have those that are asked for."""
    assert "batch=1, seq=128: 5.65 M" in run(DECODER).stdout
    assert "batch=2, seq=128: " in run(DECODER, "--bind", "batch=2").stdout
    (model,) = json.loads(run(DECODER, "--json").stdout)["models"]
    assert model["sizes"] == {} and model["macs"]["value"] is None
    assert "symbolic" in run("--table", DECODER).stdout


def test_a_size_that_one_of_several_models_does_not_have() -> None:
    result = run("--table", CONVNET, DECODER, "--bind", "batch=1,height=4,width=4")
    assert result.exit_code == 2
    assert CONVNET in result.stdout and DECODER not in result.stdout
    assert f"error: {DECODER}: no dim is named 'height'" in result.stderr
    fixed = str(ROOT / "examples" / "squeezenet.nnef")
    result = run(fixed, "--bind", "batch=1")
    assert result.exit_code == 2, "a model without dims has none of this name"


def test_a_size_that_one_of_several_models_does_not_allow() -> None:
    result = run(CONVNET, CONVNET.replace("convnet", "absent"), "--bind", "batch=1,height=31,width=2")
    assert result.exit_code == 3
    assert f"error: {CONVNET}: height = 31 is requested and cannot hold" in result.stderr


def test_errors_in_a_model_exit_with_1(tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(parsed(BROKEN).SerializeToString())
    result = run(str(path), "--json")
    assert result.exit_code == 1
    (model,) = json.loads(result.stdout)["models"]
    assert model["diagnostics"]["error"] == 1 and model["uncounted"]["Own"] == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([CONVNET, "--table", "--json"], "choose one"),
        ([CONVNET, "--bind", "batsh=1"], "did you mean 'batch'"),
        ([], "Missing argument"),
    ],
)
def test_usage_errors(arguments: list[str], text: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2 and text in result.stderr
