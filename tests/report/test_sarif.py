"""SARIF logs are valid by the schema of SARIF 2.1.0, and point to files, nodes and tensors.

The schema is that of OASIS, as Microsoft's package `@microsoft/jest-sarif` has it (MIT license).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from shapeinf.checks import ModelCheck
from shapeinf.cli import main
from shapeinf.diagnostics import CODES, Diagnostic
from shapeinf.report import checks_as_sarif
from tests.checks.models import join_model, reshape_model

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed: SARIF is not validated")

SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
HOSTILE = "a{0}[click](https://example.org)\n\x1b[31m\ud800%"


def validate(log: dict[str, Any]) -> dict[str, Any]:
    """The only run of a valid log."""
    jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER).validate(log)
    json.dumps(log).encode("ascii")
    (run,) = log["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    return dict(run)


def result_of(diagnostic: Diagnostic, path: str = "m.onnx") -> dict[str, Any]:
    (result,) = validate(checks_as_sarif([ModelCheck(path, (diagnostic,))]))["results"]
    return dict(result)


def test_the_schema_refuses_other_logs() -> None:
    log = checks_as_sarif([])
    validate(log)
    del log["runs"][0]["tool"]
    with pytest.raises(jsonschema.ValidationError):
        validate(log)


def test_the_log_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "zoo" / "a b"
    folder.mkdir(parents=True)
    (folder / "names [1].onnx").write_bytes(join_model("Add", "batch", "batsh").SerializeToString())
    (tmp_path / "zoo" / "fixed.onnx").write_bytes(reshape_model(4, 2, 3).SerializeToString())
    (tmp_path / "zoo" / "empty.onnx").write_bytes(b"")
    result = CliRunner().invoke(main, ["check", "zoo", "--sarif"])
    assert result.exit_code == 3
    run = validate(json.loads(result.stdout))
    places = [
        (r["ruleId"], r["level"], r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        for r in run["results"]
    ]
    assert places == [
        ("C120", "warning", "zoo/a%20b/names%20%5B1%5D.onnx"),
        ("C102", "warning", "zoo/a%20b/names%20%5B1%5D.onnx"),
        ("C100", "error", "zoo/empty.onnx"),
        ("C101", "warning", "zoo/fixed.onnx"),
    ]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["C100", "C101", "C102", "C120"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "is empty" in invocation["toolExecutionNotifications"][0]["message"]["text"]


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_is_a_rule_with_a_help_text(code: str) -> None:
    log = checks_as_sarif([ModelCheck("m.onnx", (Diagnostic(CODES[code].severities[0], code, "x"),))])
    (rule,) = validate(log)["tool"]["driver"]["rules"]
    assert rule["help"]["text"].startswith(rule["shortDescription"]["text"][:20])
    assert rule["defaultConfiguration"]["level"] == CODES[code].severities[0]


def test_a_node_and_a_tensor_are_logical_locations() -> None:
    result = result_of(Diagnostic("error", "S101", "x", "enc/Add", "Add", tensor="enc/y"))
    assert [(place["name"], place["kind"]) for place in result["locations"][0]["logicalLocations"]] == [
        ("enc/Add", "node"),
        ("enc/y", "tensor"),
    ]


@pytest.mark.parametrize(
    ("location", "region"),
    [
        ("", {"startLine": 1}),
        ("net.tgz:graph.nnef:30:16", {"startLine": 30, "startColumn": 16}),
        ("graph.nnef:0:0", {"startLine": 1}),
    ],
)
def test_a_source_location_is_the_region(location: str, region: dict[str, int]) -> None:
    result = result_of(Diagnostic("error", "S101", "x", location=location))
    assert result["locations"][0]["physicalLocation"]["region"] == region


@pytest.mark.parametrize(
    "path", ["m.onnx", "ä/ö x.onnx", "a:b.onnx", "50%.onnx", "#?.onnx", "/elsewhere/a b.onnx", "../m.onnx"]
)
def test_paths_are_percent_encoded(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    uri = result_of(Diagnostic("error", "S101", "x"), path)["locations"][0]["physicalLocation"]["artifactLocation"][
        "uri"
    ]
    assert uri.isascii() and " " not in uri and "#" not in uri
    absolute = uri.startswith("file:///")
    assert absolute == path.startswith(("/", "../"))
    assert unquote(uri.removeprefix("file://")) == (str((Path.cwd() / path).resolve()) if absolute else path)


def test_names_from_a_file_are_texts_without_markup() -> None:
    """No terminal codes; no link; no placeholder, which braces would be (SARIF 3.11.5)."""
    result = result_of(Diagnostic("error", "S101", HOSTILE, HOSTILE, "Add", tensor=HOSTILE, help=HOSTILE), "m\x1b.onnx")
    text = result["message"]["text"]
    assert "a{{0}}" in text and "](" not in text and "\x1b" not in text
    assert "\x1b" not in json.dumps(result, ensure_ascii=False)


def test_fingerprints_tell_findings_apart_and_stay() -> None:
    same = [Diagnostic("error", "S101", "x", "n"), Diagnostic("warning", "S101", "x", "n", help="h")]
    other = [
        Diagnostic("error", "S101", "x", "k"),
        Diagnostic("error", "S103", "x", "n"),
        Diagnostic("error", "S101", "y", "n"),
    ]
    prints = [result_of(d)["partialFingerprints"]["shapeinfDiagnostic/v1"] for d in (*same, *other)]
    assert (prints[0] == prints[1], len(set(prints))) == (True, 4)
    assert result_of(same[0], "k.onnx")["partialFingerprints"]["shapeinfDiagnostic/v1"] not in prints
