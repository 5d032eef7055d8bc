"""`shapeinf why`: the message as an argument or standard input, sizes, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from onnx import parser

from shapeinf.cli import main

GRAPH = "g (float[n, k] x, float[4, 5] w) => (float[n, 5] y) { [mm] h = MatMul(x, w) y = Relu(h) }"
MESSAGE = "Non-zero status code returned while running MatMul node. Name:'mm' Status Message: dimension mismatch"


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "m.onnx"
    path.write_bytes(parser.parse_model(f'<ir_version: 9, opset_import: ["": 17]> {GRAPH}').SerializeToString())
    return str(path)


def test_the_condition_is_printed(model: str) -> None:
    done = CliRunner().invoke(main, ["why", MESSAGE, model, "--at", "n=2,k=3"])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        f"message of onnxruntime: {MESSAGE}",
        "node: MatMul 'mm' (by name)",
        "sizes: n=2, k=3 (from the user)",
        "a condition does not hold",
        "  k == 4, required by MatMul 'mm': the inner dimensions of a matrix product must be equal: 3, 4",
        "      in the run: k=3",
        "      nearest legal size: k=4 instead of 3",
        "      operand: x  float32[2, 3]   an input or constant",
        "      operand: w  float32[4, 5]   an input or constant",
    ]


def test_a_log_is_standard_input(model: str) -> None:
    log = f"starting\n\x1b[31m{MESSAGE}\x1b[m\ndone\n"
    done = CliRunner().invoke(main, ["why", "-", model, "--input-shapes", "x:[2,3],w:[4,5]"], input=log)
    assert done.exit_code == 0 and "k == 4" in done.stdout


def test_json(model: str) -> None:
    done = CliRunner().invoke(main, ["why", MESSAGE, model, "--at", "n=2,k=3", "--json"])
    data = json.loads(done.stdout)
    assert data["schema"] == "shapeinf.why/1" and data["verdict"] == "violated" and data["model"] == model
    assert data["conditions"][0]["nearest"] == [{"dim": "k", "size": 4, "instead": 3}]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([MESSAGE, "--at", "n=2,k=4"], 1, "no condition on sizes is violated"),
        (["nothing"], 1, "no cause is found"),
        ([MESSAGE, "--at", "zz=2"], 2, "no dim is named 'zz'"),
        ([MESSAGE, "--at", "k"], 2, "k"),
        ([MESSAGE, "--input-shapes", "x:[n,3]"], 2, "numbers"),
        ([MESSAGE, "--input-shapes", "zz:[2,3]"], 2, "zz"),
    ],
)
def test_exit_codes(model: str, arguments: list[str], code: int, says: str) -> None:
    done = CliRunner().invoke(main, ["why", arguments[0], model, *arguments[1:]])
    assert done.exit_code == code, done.output
    assert says in done.output


def test_a_missing_model(tmp_path: Path) -> None:
    assert CliRunner().invoke(main, ["why", MESSAGE, str(tmp_path / "none.onnx")]).exit_code == 3


def test_one_standard_input() -> None:
    done = CliRunner().invoke(main, ["why", "-", "-"], input="")
    assert done.exit_code == 2 and "both standard input" in done.output
