"""`shapeinf diff`: two files of any formats; differences that are reported and those that are not."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper, numpy_helper

from shapeinf import diff
from shapeinf.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["diff", *map(str, args)])


def make(x: list[Any], op: str = "Relu", dtype: int = TensorProto.FLOAT, shape: list[int] | None = None) -> Any:
    """x -> h -> y, where a Reshape in between may pin the shape."""
    nodes = [helper.make_node(op, ["x"], ["h"])]
    weights = []
    if shape is not None:
        nodes.append(helper.make_node("Reshape", ["h", "shape"], ["y"], name="pin"))
        weights.append(numpy_helper.from_array(np.array(shape), "shape"))
    else:
        nodes.append(helper.make_node("Relu", ["h"], ["y"]))
    values = [helper.make_tensor_value_info("x", dtype, x), helper.make_tensor_value_info("y", dtype, None)]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def test_tensors_of_one_model_only_come_last_and_are_limited(tmp_path: Path) -> None:
    def chain(length: int, prefix: str, size: int) -> Path:
        names = ["x", *(f"{prefix}{k}" for k in range(length - 1)), "y"]
        nodes = [helper.make_node("Relu", [a], [b]) for a, b in pairwise(names)]
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [size]) for name in ("x", "y")]
        path = tmp_path / f"{prefix}.onnx"
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", values[:1], values[1:])), path)
        return path

    paths = chain(31, "a", 2), chain(13, "b", 3)
    *lines, nodes, peak, operators = run(*paths).output.splitlines()
    assert (nodes, operators) == ("nodes: 31 -> 13", "operators: Relu 31 -> 13") and peak.startswith("peak: ")
    assert [line.split(":")[0] for line in lines[:2]] == ["changed input x", "changed output y"]
    assert lines[12] == "and 20 more removed tensors: --all lists them" and len(lines) == 2 + 11 + 11
    assert lines[-1] == "and 2 more added tensors: --all lists them"
    assert len(run(*paths, "--all").output.splitlines()) == 2 + 30 + 12 + 3
    assert len(json.loads(run(*paths, "--json").output)["differences"]) == 2 + 30 + 12


NNEF = """version 1.0;
graph g( x ) -> ( y )
{
    x = external(shape = [2, 3]);
    h = relu(x);
    y = relu(h);
}
"""


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (make(["n", 3]), make(["n", 3]), []),
        (make([None, 3]), make([None, 3]), []),
        (make([2, 3]), NNEF, []),
        (make(["n", "m"]), make(["m", "n"]), ["changed dim n: n -> m", "changed dim m: m -> n"]),
        (make(["n", 3]), make([None, 3]), ["changed dim n: n -> no name"]),
        (
            make(["n", 3]),
            NNEF,
            [
                "changed input x: float32[n, 3] -> float32[2, 3]",
                "changed output y: float32[n, 3] -> float32[2, 3]",
                "changed tensor h: float32[n, 3] -> float32[2, 3]",
            ],
        ),
        (
            make([2, 3]),
            make([2, 3], dtype=TensorProto.DOUBLE),
            [f"changed {value}: float32[2, 3] -> float64[2, 3]" for value in ("input x", "output y", "tensor h")],
        ),
        (
            make(["n", 3]),
            make(["n", 3], "Transpose"),
            [f"changed {value}: float32[n, 3] -> float32[3, n]" for value in ("output y", "tensor h")],
        ),
    ],
)
def test_differences(before: Any, after: Any, expected: list[str]) -> None:
    assert [str(difference) for difference in diff(before, after)] == expected


def test_conditions_are_compared_under_the_names_of_the_other() -> None:
    fixed = make(["batch", 3], shape=[1, 3])
    assert [difference.name for difference in diff(fixed, make(["n", 3], shape=[1, 3]))] == ["batch"]  # only its name
    differences = diff(fixed, make(["batch", 3], shape=[-1, 3]))
    preconditions = [difference for difference in differences if difference.part == "condition"]
    assert [(difference.change, difference.name) for difference in preconditions] == [("removed", "batch == 1")]
    assert "pin" in str(preconditions[0])
    assert [str(difference) for difference in differences if difference.part == "input"] == [
        "changed input x: float32[1, 3] -> float32[batch, 3]"
    ]
    back = diff(make(["batch", 3], shape=[-1, 3]), fixed)
    assert [(difference.change, difference.name) for difference in back if difference.part == "condition"] == [
        ("added", "batch == 1")
    ]


def test_values_of_a_single_side(tmp_path: Path) -> None:
    before = make(["n", 3])
    after = onnx.ModelProto()
    after.CopyFrom(before)
    after.graph.input[0].name = after.graph.node[0].input[0] = "image"
    after.graph.node[0].output[0] = after.graph.node[1].input[0] = "h2"
    assert [str(difference) for difference in diff(before, after)] == [
        "removed input x: float32[n, 3]",
        "added input image: float32[n, 3]",
        "removed tensor h: float32[n, 3]",
        "added tensor h2: float32[n, 3]",
    ]


def test_command(tmp_path: Path) -> None:
    first, two, text = tmp_path / "1.onnx", tmp_path / "2.onnx", tmp_path / "3.nnef"
    onnx.save(make([2, 3]), first)
    onnx.save(make(["n", 3]), two)
    text.write_text(NNEF)
    same = run(first, text)
    assert (same.exit_code, same.stdout) == (0, "no difference\n")
    bound = run(two, text, "-d", "x:[2,3]")
    assert bound.exit_code == 0, bound.output
    differ = run(two, text, "--json")
    assert differ.exit_code == 1
    record = json.loads(differ.stdout)
    assert record["schema"] == "shapeinf.diff/1"
    assert record["differences"][0] == {
        "change": "changed",
        "part": "input",
        "name": "x",
        "before": "float32[n, 3]",
        "after": "float32[2, 3]",
    }
    assert run(first, tmp_path / "none.onnx").exit_code == 3
    assert run(first, two, "--bind", "k=2").exit_code == 2


def test_totals_that_differ(tmp_path: Path) -> None:
    """Amounts at usual sizes, each with the sizes of its model; nothing where only names differ."""
    decoder = EXAMPLES / "decoder.onnx"
    bound, renamed = tmp_path / "bound.onnx", tmp_path / "renamed.onnx"
    for path, request in ((bound, "batch=4"), (renamed, "seq=tokens")):
        assert CliRunner().invoke(main, ["bind", str(decoder), request, "-o", str(path)]).exit_code == 0
    assert run(decoder, renamed).output == "changed dim seq: seq -> tokens\n"
    assert run(decoder, decoder).output == "no difference\n"
    assert not [line for line in run(decoder, bound).output.splitlines() if line.startswith(("MACs", "peak"))]
    larger = tmp_path / "larger.onnx"
    assert CliRunner().invoke(main, ["bind", str(decoder), "batch=2", "-o", str(larger)]).exit_code == 0
    macs, peak = run(bound, larger).output.splitlines()[-2:]
    assert macs == "MACs: 22.6 M (22,609,920) -> 11.3 M (11,304,960) at seq=128"
    assert peak.startswith("peak: ") and peak.endswith(" at seq=128")


def test_operators_that_differ(tmp_path: Path) -> None:
    paths = tmp_path / "a.onnx", tmp_path / "b.onnx"
    for path, op in zip(paths, ("Relu", "Tanh"), strict=True):
        onnx.save(make([2, 3], op), path)
    assert run(*paths).output == "no difference of shapes and contracts\noperators: Relu 2 -> 1, Tanh 0 -> 1\n"
    record = json.loads(run(*paths, "--json").output)
    assert record["operators"] == [{"op": "Relu", "before": 2, "after": 1}, {"op": "Tanh", "before": 0, "after": 1}]
    assert record["totals"] == record["differences"] == []
