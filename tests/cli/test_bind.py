"""`shapeinf bind`: output, written files, and the exit code of every kind of error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper, numpy_helper

from shapeinf.cli import main


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["bind", *map(str, args)])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """y = x * w with x [batch, `seq len`, 3]; where a Reshape fixes the batch to 1."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "seq len", 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    shape = numpy_helper.from_array(np.array([1, 0, 3]), "shape")
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"], name="pin")]
    graph = helper.make_graph(nodes, "g", [x], [y], [shape])
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString())
    return path


def test_it_prints_and_writes(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    result = run(model, "`seq len`=7", "-o", out)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[:2] == ["input  x: float32[1, 7, 3]", "output y: float32[1, 7, 3]"]
    assert lines[2].startswith("note   batch == 1, required by Reshape 'pin': ")
    assert f"saved {out}" in result.stderr
    declared = onnx.load(out).graph.input[0].type.tensor_type.shape.dim
    assert [d.dim_value for d in declared] == [1, 7, 3]


def test_without_output_nothing_is_written(model: Path, tmp_path: Path) -> None:
    assert run(model, "batch=1,seq len=1..8").exit_code == 0
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.parametrize("wanted", ["batch=2", "batch=1..2", "batch=0"])
def test_an_illegal_value_exits_with_1_and_nothing_is_written(model: Path, tmp_path: Path, wanted: str) -> None:
    result = run(model, wanted, "-o", tmp_path / "out.onnx")
    assert result.exit_code == 1, result.output
    assert "--> pin   Reshape" in result.stderr
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["batsh=4"], "did you mean 'batch'?"),
        (["batch"], "expected NAME=VALUE"),
        (["batch=4", "batch=5"], "two different values"),
        (["batch=8..1"], "not empty"),
        (["batch=2*"], "character"),
        (["batch=4,seq len=1", "--assume", "batch <= 3"], "cannot hold"),
        (["-d", "xx:1x3"], "no input is named 'xx'"),
    ],
)
def test_usage_errors_exit_with_2(model: Path, args: list[str], expected: str) -> None:
    result = run(model, *args)
    assert result.exit_code == 2, result.output
    assert expected in " ".join(result.stderr.split())


def test_an_unwritable_file_exits_with_3(model: Path, tmp_path: Path) -> None:
    assert run(model, "batch=1", "-o", tmp_path / "no" / "such" / "out.onnx").exit_code == 3
    assert run(model, "batch=1", "-o", "-").exit_code == 3


def test_a_document_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "net.nnef"
    path.write_text("version 1.0;\ngraph g( x ) -> ( y )\n{\n x = external(shape = [1, 3]);\n y = relu(x);\n}\n")
    result = run(path, "-d", "[4, 3]", "-o", "-")
    assert result.exit_code == 0, result.output
    assert "x = external(shape = [4, 3]);" in result.stdout
    assert "input  x: float32[4, 3]" in result.stderr
