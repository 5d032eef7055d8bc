"""`shapeinf view`: node data for Model Explorer by its documented structure, and netron on the annotated model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import onnx
import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main

ROOT = Path(__file__).resolve().parents[2]
CONVNET = str(ROOT / "examples" / "convnet.onnx")
SIZES = ["--bind", "batch=1,height=32,width=32"]

# `GraphNodeData`, `NodeDataResult` and `GradientItem` of the package ai-edge-model-explorer (node_data_builder.py).
COLOR = {"type": "string", "pattern": "^#[0-9a-f]{6}$"}
GRAPH_NODE_DATA = {
    "type": "object",
    "required": ["results"],
    "additionalProperties": False,
    "properties": {
        "results": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["value"],
                "additionalProperties": False,
                "properties": {"value": {"type": ["number", "string"]}, "bgColor": COLOR, "textColor": COLOR},
            },
        },
        "gradient": {
            "type": "array",
            "minItems": 2,
            "items": {
                "type": "object",
                "required": ["stop"],
                "additionalProperties": False,
                "properties": {
                    "stop": {"type": "number", "minimum": 0, "maximum": 1},
                    "bgColor": COLOR,
                    "textColor": COLOR,
                },
            },
        },
    },
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["view", *arguments])


def exported(path: Path, *arguments: str) -> dict[str, Any]:
    result = run(CONVNET, "--export", "model-explorer", "-o", str(path), *arguments)
    assert result.exit_code == 0, result.output
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


@pytest.mark.parametrize("values", ["shapes", "bytes", "macs"])
def test_node_data_has_the_documented_structure(tmp_path: Path, values: str) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    data = exported(tmp_path / "out.json", "--quantity", values, *SIZES)
    jsonschema.Draft202012Validator(GRAPH_NODE_DATA).validate(data)
    stops = [item["stop"] for item in data.get("gradient", [])]
    assert stops in ([], [0, 1]), "both ends are always provided"
    outputs = {node.output[0] for node in onnx.load(CONVNET).graph.node}
    assert set(data["results"]) == outputs, "keys are names of output tensors"


def test_the_values_of_nodes(tmp_path: Path) -> None:
    macs = exported(tmp_path / "macs.json", *SIZES)["results"]
    assert macs["down"]["value"] == 32 * 32 * 8 * 3 * 9 and macs["act"]["value"] == 0
    sizes = exported(tmp_path / "bytes.json", "--quantity", "bytes", *SIZES)["results"]
    assert sizes["down"]["value"] == 32 * 32 * 8 * 4
    shapes = exported(tmp_path / "shapes.json", "--quantity", "shapes")["results"]
    assert shapes["half"]["value"] == "float32[batch, 8, height//2, width//2]"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--export", "model-explorer"], "add --export model-explorer -o OUT"),
        (["-o", "out.json"], "add --export model-explorer -o OUT"),
        (["--quantity", "macs"], "add --export model-explorer -o OUT"),
        (["--export", "model-explorer", "-o", "out.json"], "add --bind batch=N,height=N,width=N"),
    ],
)
def test_usage_errors(arguments: list[str], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(CONVNET, *arguments)
    assert result.exit_code == 2 and text in result.stderr
    assert not list(tmp_path.iterdir())


def test_without_netron_the_message_has_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "netron", None)
    result = run(CONVNET)
    assert result.exit_code == 3
    assert "needs netron" in result.stderr and "pip install 'shapeinf[view]'" in result.stderr


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_netron_serves_an_annotated_copy_until_the_end(tmp_path: Path, end: signal.Signals) -> None:
    pytest.importorskip("netron", reason="netron is not installed: no model is served")
    program = [sys.executable, "-m", "shapeinf", "view", CONVNET, "--no-browser"]
    process = subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = line.split(" at ")[1].split(";")[0]
        with urllib.request.urlopen(f"{address}/data/convnet.onnx", timeout=30) as response:
            model = onnx.load_from_string(response.read())
        half = next(value for value in model.graph.value_info if value.name == "half")
        assert [dim.dim_param or dim.dim_value for dim in half.type.tensor_type.shape.dim][1] == 8
        assert list(tmp_path.glob("*/convnet.onnx"))
    finally:
        process.send_signal(end)
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (128 + end, "", "")
    assert not list(tmp_path.iterdir())
