"""`shapeinf clean`: output, written files, and the exit code of every kind of error."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main
from shapeinf.passes import comparison
from tests.engine.runtime import parsed

MODEL = """g (float[n, 3, h, w] x) => (float[n, 2, h, w] y)
    <float[2, 3, 1, 1] k = {1, 2, 3, 4, 5, 6}, float[2, 1, 1] b = {1, 2}, float[1, 1, 1, 5] wide = {1, 2, 3, 4, 5}> {
        c = Conv(x, k)  i = Identity(c)  a = Add(i, b)  dead = Conv(x, k)  y = Relu(a)
    }"""
LEFT = """g (float[n, 3, h, w] x) => (float[n, 2, h, w] y)
    <float[2, 3, 1, 1] k = {1, 2, 3, 4, 5, 6}, float[1, 1, 1, 1, 1] five = {1}> { c = Conv(x, k)  a = Add(c, five)
    shape = Shape(c)  y = Reshape(a, shape) }"""


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["clean", *map(str, args)])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A Conv, an Identity and an Add to fuse, a dead node, a Relu."""
    path = tmp_path / "m.onnx"
    path.write_bytes(parsed(MODEL).SerializeToString())
    return path


def operators(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


def test_it_prints_and_writes(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    result = run(model, "-o", out, "--verify")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["fuse_bias_add", "Add", "'a'", "fused", "into", "Conv", "'c'"] in lines
    assert ["remove_identity", "Identity", "'i'", "removed"] in lines
    assert "4 changes: 1 remove_identity, 1 fuse_bias_add, 2 remove_dead" in result.stdout
    assert "verified: the numbers of 2 runs agree" in result.stdout
    assert f"saved {out}" in result.stderr
    assert operators(out) == ["Conv", "Relu"]
    onnx.checker.check_model(str(out), full_check=True)


def test_the_model_itself_may_be_the_output(model: Path, tmp_path: Path) -> None:
    assert run(model, "-o", model).exit_code == 0
    assert operators(model) == ["Conv", "Relu"]
    assert list(tmp_path.iterdir()) == [model]
    again = run(model, "-o", model)
    assert again.exit_code == 0
    assert "nothing to do" in again.stdout


def test_a_dry_run_writes_nothing(model: Path, tmp_path: Path) -> None:
    result = run(model, "--dry-run")
    assert result.exit_code == 0
    assert "fused into Conv 'c'" in result.stdout
    assert "saved" not in result.output
    assert list(tmp_path.iterdir()) == [model]


def test_only_the_named_passes_run(model: Path, tmp_path: Path) -> None:
    assert run(model, "-o", tmp_path / "out.onnx", "--passes", "remove_identity").exit_code == 0
    assert operators(tmp_path / "out.onnx") == ["Conv", "Add", "Conv", "Relu"]


def test_reasons_that_concern_the_user_are_printed(tmp_path: Path) -> None:
    path = tmp_path / "left.onnx"
    path.write_bytes(parsed(LEFT).SerializeToString())
    result = run(path, "--dry-run")
    assert "fuse_bias_add" in result.stdout
    assert "skipped: 'c' has 2 readers" in result.stdout
    decoder = Path(__file__).parents[2] / "examples" / "decoder.onnx"
    assert run(decoder, "--dry-run", "--passes", "fuse_bias_add").stdout == "nothing to do\n"  # its Adds follow no Conv


def test_json(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    data = json.loads(run(model, "-o", out, "--json", "--verify").stdout)
    assert (data["model"], data["output"]) == (str(model), str(out))
    assert {"pass_name": "fuse_bias_add", "where": "Add 'a'", "text": "fused into Conv 'c'"} in data["report"][
        "changes"
    ]
    assert data["verification"]["equal"] and len(data["verification"]["bindings"]) == 2
    assert json.loads(run(model, "--dry-run", "--json").stdout)["output"] is None


@pytest.mark.parametrize("wrong", ["numbers", "runtime"])
def test_nothing_is_written_unless_the_numbers_agree(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    if wrong == "numbers":
        calls = iter(range(100))  # an output is compared with a repeated run of the original, then with the result
        monkeypatch.setattr(comparison, "difference_of", lambda a, b: "other values" if next(calls) % 2 else "")
    else:
        strange = parsed(MODEL)
        strange.graph.node[-1].domain = "my.own"
        strange.opset_import.add(domain="my.own", version=1)
        model.write_bytes(strange.SerializeToString())
    result = run(model, "-o", tmp_path / "out.onnx", "--verify")
    assert result.exit_code == 1, result.output
    assert ("the numbers differ:" if wrong == "numbers" else "not verified: ") in result.stdout
    assert list(tmp_path.iterdir()) == [model]
    dry = run(model, "--dry-run", "--verify", "--json")
    assert dry.exit_code == 1
    assert json.loads(dry.stdout)["verification"]["equal"] is False


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], "name the file to write: -o OUT"),
        (["-o", "out.onnx", "--dry-run"], "or add --dry-run"),
        (["--dry-run", "--passes", "fuse_bm"], "no pass is named 'fuse_bm'; did you mean 'fuse_bn'"),
        (["--dry-run", "--passes", "fuse_bn,,fold_cast"], "expected names of passes"),
        (["--dry-run", "--passes", ""], "expected names of passes"),
        (["--dry-run", "--external", "lose"], "'lose' is not one of"),
    ],
)
def test_usage_errors_exit_with_2(model: Path, args: list[str], expected: str) -> None:
    result = run(model, *args)
    assert result.exit_code == 2, result.output
    assert expected in " ".join(result.stderr.split())


def test_files_that_cannot_be_read_or_written_exit_with_3(model: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.onnx").write_bytes(model.read_bytes()[:-20])
    folder = tmp_path / "folder"
    folder.mkdir()
    for args in (
        (tmp_path / "absent.onnx", "--dry-run"),
        (tmp_path / "cut.onnx", "--dry-run"),
        (model, "-o", tmp_path / "no" / "such" / "out.onnx"),
        (model, "-o", folder),
    ):
        result = run(*args)
        assert result.exit_code in (2, 3), result.output
        assert "bug of shapeinf" not in result.output
        assert "Traceback" not in result.output
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["cut.onnx", "folder", "m.onnx"]


def test_other_formats_are_named(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples"
    (tmp_path / "native.onnx").write_bytes(pickle.dumps({"a": 1}))
    (tmp_path / "net.xml").write_text('<?xml version="1.0"?><net name="m" version="11"><layers/></net>')
    for path, title in (
        (examples / "squeezenet.nnef", "NNEF"),
        (examples / "recurrent.pbtxt", "TensorFlow"),
        (examples / "enhancer.pnnx.param", "PNNX"),
        (tmp_path / "native.onnx", "is a pickle"),
        (tmp_path / "net.xml", "OpenVINO"),
    ):
        result = run(path, "-o", tmp_path / "out.onnx")
        assert result.exit_code == 3, result.output
        assert title in result.stderr
    assert not (tmp_path / "out.onnx").exists()


def test_without_onnx_ir_the_package_is_named(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    import shapeinf.passes

    for name in [name for name in sys.modules if name.startswith(("shapeinf.passes.", "onnx_ir"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(shapeinf.passes), "clean", raising=False)  # an earlier use
    monkeypatch.setitem(sys.modules, "onnx_ir", None)
    result = run(model, "--dry-run")
    assert result.exit_code == 3, result.output
    assert "onnx-ir" in result.stderr and "shapeinf[clean]" in result.stderr
    assert "clean" in CliRunner().invoke(main, ["--help"]).output
