"""`shapeinf ops`: operators that are installed, and operators that a model lacks."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path

import onnx.defs
import pytest
from click.testing import CliRunner, Result

from opdefs.microsoft.contraction import fused_matmul
from shapeinf.cli import main
from shapeinf.ops.registry import InstalledDialects, OpRegistry
from shapeinf.report.operators import describe_operator, list_operators
from tests.engine.runtime import parsed

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["ops", *arguments])


def test_the_list_has_every_operator_of_onnx_with_its_versions() -> None:
    data = json.loads(run("list", "--dialect", "onnx", "--json").stdout)
    listed = {op["name"]: op["versions"] for op in data["operators"] if op["domain"] == ""}
    schemas: dict[str, set[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            schemas.setdefault(schema.name, set()).add(schema.since_version)
    for name in ("Conv", "MatMul", "Attention", "Resize"):
        assert listed[name] == sorted(schemas[name])
    current = {schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""}
    assert current <= set(listed)


def test_a_pattern_matches_names_and_domains_in_any_case() -> None:
    data = json.loads(run("list", "COM.microsoft.fused*", "--json").stdout)
    assert {op["domain"] for op in data["operators"]} == {"com.microsoft"}
    assert "FusedMatMul" in {op["name"] for op in data["operators"]}
    assert "FusedMatMul" in run("list", "fusedmatmul").stdout
    nothing = run("list", "Fused")
    assert (
        nothing.exit_code == 0
        and nothing.stderr == "note: no operator matches 'Fused'; '*Fused*' matches a part of a name\n"
    )


@pytest.mark.parametrize("name", ["Conv", "LSTM", "Clip", "If"])
def test_a_signature_is_that_of_the_schema(name: str) -> None:
    data = json.loads(run("show", name, "--dialect", "onnx", "--json").stdout)
    (operator,) = [op for op in data["operators"] if op["domain"] == ""]
    schema = onnx.defs.get_schema(name)
    optional = onnx.defs.OpSchema.FormalParameterOption.Optional
    assert [(p["name"], p["optional"]) for p in operator["inputs"]] == [
        (p.name, p.option == optional) for p in schema.inputs
    ]
    assert {a["name"]: a["required"] for a in operator["attributes"]} == {
        attribute: a.required for attribute, a in schema.attributes.items()
    }
    assert operator["version"] == schema.since_version and operator["package"].startswith("shapeinf ")


def test_a_signature_at_a_version() -> None:
    first = describe_operator(OpRegistry.discover(), "Clip", "onnx", 6)[0]
    assert [p.name for p in first.inputs] == ["input"] and {a.name for a in first.attributes} == {"min", "max"}
    newest = describe_operator(OpRegistry.discover(), "Clip", "onnx")[0]
    assert [p.name for p in newest.inputs] == ["input", "min", "max"] and not newest.attributes


def test_the_text_names_the_rule_and_its_docstring() -> None:
    result = run("show", "com.microsoft.FusedMatMul")
    assert result.exit_code == 0
    assert "opdefs.microsoft.contraction.fused_matmul" in result.stdout
    assert fused_matmul.__doc__ is not None
    assert "transA: int = 0" in result.stdout and fused_matmul.__doc__.splitlines()[0] in result.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["show", "Convv"], "no operator is named 'Convv'; did you mean 'Conv'"),
        (["list", "--dialect", "onx"], "no dialect is named 'onx'; did you mean 'onnx'"),
        (["lst"], "did you mean 'list'"),
        ([], "Usage: main ops"),
    ],
)
def test_unknown_names_are_usage_errors(arguments: list[str], text: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2 and text in result.stderr


def test_the_missing_operators_of_a_model(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    text = "g (float[n] x) => (float y) { a = my.Own(x)  b = my.Own(a)  y = com.microsoft.FusedMatMull(b, b) }"
    path.write_bytes(parsed(text, header='"" : 19, "my" : 1, "com.microsoft" : 1').SerializeToString())
    result = run("missing", str(path), "--json")
    assert result.exit_code == 1
    (model,) = json.loads(result.stdout)["models"]
    assert [(op["domain"], op["name"], op["count"]) for op in model["missing"]] == [
        ("my", "Own", 2),
        ("com.microsoft", "FusedMatMull", 1),
    ]
    assert model["missing"][1]["near"][0] == "com.microsoft.FusedMatMul"
    assert "did you mean 'com.microsoft.FusedMatMul'" in run("missing", str(path)).stdout


def test_nothing_is_missing_in_the_examples() -> None:
    examples = [str(path) for path in (ROOT / "examples").iterdir() if path.is_file() and path.suffix != ".md"]
    assert len(examples) >= 5
    result = run("missing", *examples)
    assert result.exit_code == 0 and result.stdout.count("all operators have a rule") == len(examples)
    result = run("missing", examples[0], "nowhere.onnx")
    assert result.exit_code == 3 and result.stdout.count("all operators have a rule") == 1


def test_functions_of_a_model_are_not_missing(tmp_path: Path) -> None:
    text = """g (float[n] x) => (float y) { y = my.Twice(x) }
    <opset_import: ["" : 18], domain: "my"> Twice (p) => (q) { q = Add(p, p) }"""
    path = tmp_path / "m.onnx"
    path.write_bytes(parsed(text).SerializeToString())
    assert run("missing", str(path)).exit_code == 0


def test_entry_points_that_are_not_used_have_their_reason() -> None:
    entries = [
        EntryPoint("onnx", "opdefs.onnx:onnx", "shapeinf.opdefs"),
        EntryPoint("onnx.acme", "no_such_package:onnx", "shapeinf.opdefs"),
        EntryPoint("lonely.acme", "acme:lonely", "shapeinf.opdefs"),
    ]
    records = {entry.name: entry for entry in InstalledDialects(entries).entries()}
    assert records["onnx"].problem == ""
    assert "cannot be loaded: ModuleNotFoundError" in records["onnx.acme"].problem
    assert "no installed package has a dialect 'lonely'" in records["lonely.acme"].problem


def test_packages_exit_with_1_where_an_entry_point_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("packages").exit_code == 0
    broken = OpRegistry.discover()
    broken._installed = InstalledDialects([EntryPoint("x", "no_such_package:x", "shapeinf.opdefs")])
    monkeypatch.setattr("shapeinf.cli.ops.default_registry", lambda: broken)
    result = run("packages", "--json")
    assert result.exit_code == 1
    (entry,) = json.loads(result.stdout)["entry_points"]
    assert entry["dialect"] == "x" and "no_such_package" in entry["problem"]


def test_every_rule_is_listed_once() -> None:
    operators = list_operators(OpRegistry.discover())
    names = [(op.dialect, op.domain, op.name) for op in operators]
    assert len(set(names)) == len(names) > 2000
    assert all(op.versions for op in operators)
