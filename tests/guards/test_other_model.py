"""The guards of a program in ONNX files that were made of it.

What each file keeps follows from the definitions of its operators: the files here differ from the program by one change
each, as exporters make them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper, save

from shapeinf import infer_shapes
from shapeinf.cli.main import main
from shapeinf.errors import ShapeInferenceError
from shapeinf.report.guards import guard_lines
from tests.formats.torch_export.programs import graph, node, program, symbol, tensor

RULE = "L['x'].size()[0] % 4 == 0"
SMALL = "L['x'].size()[0] <= 64"
CHANNELS = "L['x'].size()[1] == 3"


def grouped() -> bytes:
    """`(x @ w).view(-1, 4, 5)` of x[n, 3] with n <= 64, exported at n = 8: n % 4 == 0 and 3 channels are needed."""
    top = graph(
        ["x", "w"],
        [
            node("torch.ops.aten.mm.default", {"self": "x", "mat2": "w"}, "p", line=4),
            node("torch.ops.aten.view.default", {"self": "p", "size": [-1, 4, 5]}, "y", line=5),
        ],
        ["y"],
        tensors={
            "x": tensor(symbol("s0"), symbol("s1")),
            "w": tensor(3, 5),
            "p": tensor(symbol("s0"), 5),
            "y": tensor(symbol("s2"), 4, 5),
        },
    )
    for written, example in zip(top["tensor_values"]["x"]["sizes"], (8, 3), strict=True):
        written["as_expr"]["hint"] = {"as_int": example}
    stored = {"w": ("parameter", "w")}
    return json.dumps(program(top, stored, guards_code=[RULE, SMALL, CHANNELS])).encode()


def onnx_file(path: Path, shape: list[int | str], target: list[int] | None, name: str = "x", rows: int = 3) -> Path:
    """A file that multiplies its input by a matrix of `rows` x 5, unless it has none, and reshapes it to `target`."""
    x = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    constants = []
    product = name
    nodes = []
    if rows:
        constants.append(numpy_helper.from_array(np.zeros((rows, 5), np.float32), "w"))
        nodes.append(helper.make_node("MatMul", [name, "w"], ["p"], name="multiply"))
        product = "p"
    if target is None:
        nodes.append(helper.make_node("Neg", [product], ["y"]))
    else:
        constants.append(numpy_helper.from_array(np.array(target, np.int64), "target"))
        nodes.append(helper.make_node("Reshape", [product, "target"], ["y"], name="regroup"))
    graph = helper.make_graph(nodes, "main", [x], [y], constants)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), path)
    return path


def found(path: Path) -> dict[str, str]:
    """What the file does with each guard."""
    report = infer_shapes(grouped()).guards_in(infer_shapes(path))
    return {guard.text: there.presence for guard, there in report.in_other()}


@pytest.mark.parametrize(
    ("shape", "target", "rows", "rule", "channels"),
    [
        pytest.param(["n", "c"], [-1, 4, 5], 3, "kept", "kept", id="faithful"),
        pytest.param(["n", "c"], None, 3, "lost", "kept", id="no reshape"),
        pytest.param(["n", 3], None, 0, "lost", "kept", id="a declared number"),
        pytest.param(["n", "c"], None, 0, "lost", "lost", id="nothing is left"),
        pytest.param([8, 3], None, 0, "kept", "kept", id="a fixed batch"),
        pytest.param(["n", "c"], [-1, 2, 5], 3, "lost", "kept", id="a weaker requirement"),
        pytest.param(["n", "c"], [-1, 8, 5], 3, "kept", "kept", id="a stronger requirement"),
    ],
)
def test_a_file_keeps_or_loses_a_guard(
    tmp_path: Path, shape: list[int | str], target: list[int] | None, rows: int, rule: str, channels: str
) -> None:
    presence = found(onnx_file(tmp_path / "m.onnx", shape, target, rows=rows))
    assert presence[RULE] == rule
    assert presence[CHANNELS] == channels


def test_a_guard_that_no_operator_needs_is_relaxed(tmp_path: Path) -> None:
    assert found(onnx_file(tmp_path / "m.onnx", ["n", 3], [-1, 4, 5]))[SMALL] == "relaxed"
    assert found(onnx_file(tmp_path / "m.onnx", [8, 3], [-1, 4, 5]))[SMALL] == "kept"


def test_a_stronger_requirement_of_the_file_is_added(tmp_path: Path) -> None:
    path = onnx_file(tmp_path / "m.onnx", ["n", 3], [2, 4, 5])
    report = infer_shapes(grouped()).guards_in(infer_shapes(path))
    assert report.other is not None
    (added,) = report.other.added
    assert "Reshape 'regroup'" in added.requirement and added.sizes["x_0"] % 4 == 0 and added.sizes["x_0"] != 8


def test_inputs_correspond_by_name_or_position(tmp_path: Path) -> None:
    assert found(onnx_file(tmp_path / "m.onnx", ["n", 3], [-1, 4, 5], name="input.1"))[RULE] == "kept"


@pytest.mark.parametrize(("shape", "message"), [(["n", 3, 1], "input x has 3 axes, in the program 2")])
def test_inputs_that_do_not_correspond_are_an_error(tmp_path: Path, shape: list[int | str], message: str) -> None:
    result = infer_shapes(onnx_file(tmp_path / "m.onnx", shape, None))
    with pytest.raises(ShapeInferenceError, match=message):
        infer_shapes(grouped()).guards_in(result)


def test_the_command_fails_for_a_lost_guard(tmp_path: Path) -> None:
    source = tmp_path / "p.json"
    source.write_bytes(grouped())
    runner = CliRunner()
    lost = onnx_file(tmp_path / "lost.onnx", ["n", 3], None)
    result = runner.invoke(main, ["guards", str(source), "--against", str(lost)])
    assert result.exit_code == 1 and f"{lost} lost these guards" in result.output
    assert "(x_0 % 4) == 0" in result.output.partition("lost these guards")[2]
    faithful = onnx_file(tmp_path / "kept.onnx", ["n", 3], [-1, 4, 5])
    for options in ((), ("--markdown",), ("--json",)):
        result = runner.invoke(main, ["guards", str(source), "--against", str(faithful), *options])
        assert "kept" in result.output
    record = json.loads(result.output)
    assert record["other"]["guards"][0]["presence"] == "kept" and record["other"]["model"] == str(faithful)


def test_a_report_without_another_model_has_none(tmp_path: Path) -> None:
    report = infer_shapes(grouped()).guards
    assert report.other is None and not list(report.in_other()) and "kept" not in "\n".join(guard_lines(report))
