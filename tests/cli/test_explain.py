"""`shapeinf explain`: output, JSON and errors."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main

TEXT = """<ir_version: 10, opset_import: ["" : 19]>
g (float["batch", 3] x) => (int64[] z) {
  c = NonZero(x)
  t = Transpose(c)
  k = Concat <axis = 1> (t, t)
  z = Identity(k)
}"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), path)
    return path


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["explain", *map(str, args)])


def test_the_unknowns_of_a_model(model: Path) -> None:
    result = run(model)
    first, second = result.stdout.splitlines()
    assert result.exit_code == 0
    assert first.startswith("4 because of NonZero (version 19) c: ")
    assert second == "  c.shape[1], t.shape[0], k.shape[0], z.shape[0]"


def test_all_axes_or_a_single_axis(model: Path) -> None:
    both = run(model, "--tensor", "k").stdout.splitlines()
    item = run(model, "-t", "k", "-k", "0").stdout.splitlines()
    assert [line for line in both if not line.startswith(" ")] == [item[0], both[len(item)]]
    assert both[: len(item)] == item and "k.shape[1] = 4 by Concat" in both[len(item)]


def test_json(model: Path) -> None:
    chain = json.loads(run(model, "--tensor", "t", "--axis", "-1", "--json").stdout)
    assert chain["schema"] == "shapeinf.explain/1"
    (axis,) = chain["axes"]
    assert (axis["axis"], axis["size"]) == (1, 2)
    groups = json.loads(run(model, "--json").stdout)["groups"]
    assert [(g["count"], g["causes"][0]["node"], g["causes"][0]["values"]) for g in groups] == [(4, "c", ["c"])]
    assert groups[0]["unknowns"][1] == {"tensor": "t", "axis": 0}


def test_bound_symbols_are_explained_as_bound(model: Path) -> None:
    assert (
        "x.shape[0] = 4, declared by an input; batch=4 is specified by the user"
        in run(model, "-t", "x", "-k", "0", "--bind", "batch=4").stdout
    )


MISTAKES = [
    (("--tensor", "zz"), 2, "no tensor is named 'zz'"),
    (("--tensor", "x", "--axis", "2"), 2, "x has no axis 2: its shape is [batch, 3]"),
    (("--axis", "0"), 2, "--axis needs a tensor"),
    (("--bind", "bacth=2"), 2, "did you mean 'batch'?"),
]


@pytest.mark.parametrize(("words", "code", "message"), MISTAKES)
def test_mistakes(model: Path, words: tuple[str, ...], code: int, message: str) -> None:
    result = run(model, *words)
    assert (result.exit_code, message in result.stderr) == (code, True), result.output


def test_a_file_that_is_not_there() -> None:
    assert run("nowhere.onnx").exit_code == 3


def test_a_scalar_has_no_axes(tmp_path: Path) -> None:
    path = tmp_path / "s.onnx"
    onnx.save(
        onnx.parser.parse_model(
            '<ir_version: 10, opset_import: ["" : 19]> g (float[] x) => (float y) { y = ReduceSum <keepdims = 0> (x) }'
        ),
        path,
    )
    assert run(path, "--tensor", "y").stdout == "y is a scalar: it has no axes\n"


def test_operators_without_versions_and_constants_of_bodies() -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "recurrent.pbtxt"
    lines = run(example, "--tensor", "loop/body/product:0", "--axis", "1").stdout.splitlines()
    assert lines == [
        "loop/body/product:0.shape[1] = 16 by MatMul loop/body/product from loop/body/weights:0.shape[1]",
        "  loop/body/weights:0.shape[1] = 16, the shape of a constant",
    ]
