"""`shapeinf cost`: totals, rows, files and exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main
from tests.engine.runtime import parsed

LAYERS = "g (float[n, 4] x, float[4, 8] w) => (float[n, 8] y) { h = MatMul(x, w)  y = Relu(h) }"
UNKNOWN = "g (float[n] x) => (float[n] y) { a = my.Own(x)  y = Neg(x) }"
BRANCHES = """g (float[n, 8] x, float[8, 8] w, bool p) => (float[n, 8] y) { y = If(p)
    <then_branch = a () => (float[n, 8] u) { u = MatMul(x, w) },
     else_branch = b () => (float[n, 8] v) { v = Relu(x) }> }"""
SPECTRUM = "g (float[1, n, 1] x) => (float[1, n, 2] y) { y = DFT(x) }"


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["cost", *map(str, args)])


@pytest.fixture
def model(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "model.onnx"
    proto = parsed(getattr(request, "param", LAYERS))
    if not hasattr(request, "param"):
        for node, name in zip(proto.graph.node, ("a/up", "a/act"), strict=True):
            node.name = name
    path.write_bytes(proto.SerializeToString())
    return path


def test_formulas_and_numbers(model: Path) -> None:
    result = run(model, "--bind", "n=10")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].split() == ["MACs", "32*n"] and lines[2].split() == ["flops", "72*n"]
    assert lines[6].startswith("  n=10: 320 MACs, 720 flops, ")
    assert lines[9].split()[:5] == ["MatMul", "1", "320", "640", "88.9%"]
    assert lines[10].split()[:5] == ["Relu", "1", "0", "80", "11.1%"]


def test_modules_and_nodes(model: Path) -> None:
    assert "a " in run(model, "--by", "module", "--bind", "n=1").output
    nodes = run(model, "--by", "node").output
    assert "a/up" in nodes and "64*n" in nodes
    assert "1 more (--top)" in run(model, "--top", 1).output


@pytest.mark.parametrize(
    ("names", "options", "modules"),
    [
        (["m/encoder/up", "m/decoder/act"], [], {"m/encoder", "m/decoder"}),
        (["m/encoder/up", "m/decoder/act"], ["--depth", "1"], {"m"}),
        (["encoder/up", "act"], [], {"encoder", "-"}),
        (["up", "act"], [], {"-"}),
    ],
)
def test_modules_are_those_of_the_first_level_with_several(
    tmp_path: Path, names: list[str], options: list[str], modules: set[str]
) -> None:
    proto = parsed(LAYERS)
    for node, name in zip(proto.graph.node, names, strict=True):
        node.name = name
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    lines = run(tmp_path / "m.onnx", "--by", "module", "--bind", "n=1", *options).output.splitlines()
    assert {line.split()[0] for line in lines[9:]} == modules


@pytest.mark.parametrize("model", [UNKNOWN], indirect=True)
def test_what_is_not_counted_is_listed(model: Path) -> None:
    result = run(model, "--bind", "n=2")
    assert "not counted  Own 'a': the operator is not known" in result.output
    assert "at least 0 MACs, 2 flops" in result.output
    assert "Own       0 of 1" in result.output
    data = json.loads(run(model, "--json").output)
    assert data["at_least"] and [item["op"] for item in data["uncounted"]] == ["Own"]


@pytest.mark.parametrize("model", [BRANCHES], indirect=True)
def test_both_branches_are_shown(model: Path) -> None:
    output = run(model, "--bind", "n=2").output
    assert "branches     If 'y' counts the maximum of then_branch 128*n flops, else_branch 8*n flops" in output
    assert "at most 128 MACs" in output


@pytest.mark.parametrize("model", [SPECTRUM], indirect=True)
def test_sizes_count_what_has_no_polynomial(model: Path) -> None:
    assert "not counted" in run(model).output
    bound = run(model, "--bind", "n=8").output
    assert "60 flops" in bound and "not counted" not in bound  # half of 5 * 8 * 3


def test_some_sizes(tmp_path: Path) -> None:
    path = tmp_path / "two.onnx"
    path.write_bytes(parsed("g (float[n, m] x) => (float[n, m] y) { y = Relu(x) }").SerializeToString())
    output = run(path, "--bind", "n=3").output
    assert "operations   3*m" in output and "specify sizes of the other dims" in output


def test_csv(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "cost.csv"
    assert run(model, "--bind", "n=10", "--csv", path).exit_code == 0
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    assert [(row["node"], row["macs"], row["flops"]) for row in rows] == [("a/up", "320", "640"), ("a/act", "0", "80")]
    run(model, "--csv", path)
    assert "32*n" in path.read_text(encoding="utf-8")


def test_wrong_options(model: Path, tmp_path: Path) -> None:
    assert run(model, "--bind", "m=1").exit_code == 2
    assert run(tmp_path / "none.onnx").exit_code == 3
    assert run(model, "--by", "color").exit_code == 2
