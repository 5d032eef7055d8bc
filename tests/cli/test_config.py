"""`--config shapes.toml` equals the same options; options on the command line win; errors name the key."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper

from shapeinf import Dim
from shapeinf.cli import main
from shapeinf.inputs.config import read_config


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Concat of a [n, 4] and b [m, 4]."""
    a, b = (helper.make_tensor_value_info(x, TensorProto.FLOAT, [d, 4]) for x, d in (("a", "n"), ("b", "m")))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Concat", ["a", "b"], ["y"], axis=0)], "g", [a, b], [y])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), path)
    return path


def run(model: Path, config: str, *args: str) -> Result:
    path = model.with_name("shapes.toml")
    path.write_text(config, encoding="utf-8")
    return CliRunner().invoke(main, ["infer", str(model), "--config", str(path), *args])


SAME = [
    ("[dims]\nn = '1..8'", ["--dim", "n=1..8"]),
    ("[dims]\nn = [1, 8]\nm = 4", ["--dim", "n=1..8", "--dim", "m=4"]),
    ("[dims.n]\nmax = 64\nmultiple_of = 32", ["--dim", "n=..64", "--assume", "n % 32 == 0"]),
    ("bind = { n = 4 }", ["--bind", "n=4"]),
    ("assume = ['n + m <= 10']", ["--assume", "n + m <= 10"]),
    ("assume = 'n <= m'", ["--assume", "n <= m"]),
    ("inputs = 'a:[2,4] b:[k,4]'", ["--input-shapes", "a:[2,4] b:[k,4]"]),
    ("[inputs]\na = [2, 4]\nb = 'k,4'", ["--input-shapes", "a:[2,4] b:[k,4]"]),
    ("[inputs.a]\n0 = 2", ["--input-shapes", "a:[2,4]"]),
    ("[inputs]\na = ['k', 4]\nb = [[2, 3], 4]", ["--input-shapes", "a:[k,4] b:[2..3,4]"]),
    ("min_dim = 0", ["--min-dim", "0"]),
    ("declared = 'ignore'", ["--declared", "ignore"]),
    ("", []),
]


@pytest.mark.parametrize(("config", "options"), SAME)
def test_a_config_equals_options(model: Path, config: str, options: list[str]) -> None:
    loaded = run(model, config, "--json")
    typed = CliRunner().invoke(main, ["infer", str(model), "--json", *options])
    assert (loaded.exit_code, typed.exit_code) == (0, 0), loaded.output + typed.output
    assert loaded.stdout == typed.stdout


def test_the_command_line_takes_precedence(model: Path) -> None:
    config = "min_dim = 0\nassume = ['n <= 6']\n[dims]\nn = '1..8'\nm = '1..3'\n[inputs]\na = [7, 4]"
    result = run(model, config, "--dim", "n=2..9", "--min-dim", "1", "-d", "a:[n,4]")
    assert result.exit_code == 0, result.output
    assert "m 1..3, n 2..6" in result.stdout
    assert "named dims are at least 1" in result.stdout


MISTAKES = [
    ("dimz = {}", "did you mean 'dims'?"),
    ("whatever = 1", "the keys are dims, bind"),
    ("dims = 4", "dims must be a table"),
    ("[dims]\nnn = 4", "did you mean"),
    ("[dims]\nn = '8..1'", "not empty"),
    ("[dims]\nn = [1, 2, 3]", "two bounds"),
    ("[dims]\nn = { mox = 3 }", "no 'mox'"),
    ("[bind]\nn = '4'", "bind.n must be an int"),
    ("[bind]\nn = true", "bind.n must be an int"),
    ("min_dim = -1", "min_dim must be an int"),
    ("declared = 'maybe'", "declared must be one of trust, check, ignore"),
    ("assume = 4", "assume must be"),
    ("assume = ['n']", "a relation"),
    ("[inputs]\na = 4", "inputs.a must be"),
    ("[inputs]\na = '[1,,4]'", "inputs.a:"),
    ("[inputs]\nc = '[1,4]'", "no input is named 'c'"),
    ("inputs = '[1,4] [2,4]'", "several need names"),
    ("inputs = 'a:[1,4] a:[2,4]'", "two shapes for one input"),
    ("inputs = '[1,4]'", "needs a model with one input"),
    ("[dims]\nn = '1..8'\n[bind]\nn = 9", "outside of"),
    ("n = [", "shapes.toml"),
]


@pytest.mark.parametrize(("config", "expected"), MISTAKES)
def test_mistakes_are_usage_errors(model: Path, config: str, expected: str) -> None:
    result = run(model, config)
    assert result.exit_code == 2, result.output
    assert expected in " ".join(result.stderr.split())


def test_a_file_that_is_not_there(model: Path) -> None:
    result = CliRunner().invoke(main, ["infer", str(model), "--config", str(model.with_name("none.toml"))])
    assert result.exit_code == 2
    assert "none.toml" in result.stderr


def test_without_a_toml_reader_the_error_has_the_extra(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("shapeinf.inputs.config.importlib", type(sys)("importlib"))
    monkeypatch.setattr("shapeinf.inputs.config.importlib.import_module", missing, raising=False)
    result = run(model, "min_dim = 0")
    assert result.exit_code == 2
    assert "shapeinf[toml]" in result.stderr
    assert importlib.import_module("shapeinf")


def test_a_command_refuses_keys_that_it_has_no_option_for(tmp_path: Path) -> None:
    import click

    from shapeinf.cli.model_options import ModelOptions, model_options

    @click.command()
    @model_options(without=["bind"])
    def command(options: ModelOptions) -> None:
        click.echo(options.inference.min_dim)

    path = tmp_path / "shapes.toml"
    path.write_text("min_dim = 3")
    assert CliRunner().invoke(command, ["--config", str(path)]).stdout == "3\n"
    path.write_text("[bind]\nn = 3")
    result = CliRunner().invoke(command, ["--config", str(path)])
    assert (result.exit_code, "does not accept bind" in result.stderr) == (2, True)


def test_the_file_in_the_docs_is_read() -> None:
    tomllib = pytest.importorskip("tomllib", reason="TOML is read by Python 3.11 and later")
    page = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
    loaded = read_config(tomllib.loads(page.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]))
    assert loaded.dims == {"batch": Dim("batch", 1, 8), "H": Dim("H", 32, 512, multiple_of=32)}
    assert (loaded.bind, loaded.assume) == ({"seq": 128}, ("past + seq <= 4096",))
    assert (loaded.min_dim, loaded.declared) == (1, "check")
    assert set(loaded.inputs) == {"image", "mask"}
