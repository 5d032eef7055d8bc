"""Every `--json` output follows its published schema, key by key; and records of reports can be pickled."""

from __future__ import annotations

import importlib.util
import json
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from shapeinf import infer_shapes
from shapeinf.cli import main
from shapeinf.expr import Interval, Scope
from shapeinf.report import as_json, build_report
from shapeinf.schemas import load_schema, schema_names, to_json
from tests.engine.runtime import parsed

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed: output is not validated")

ROOT = Path(__file__).resolve().parents[2]
DECODER = str(ROOT / "examples" / "decoder.onnx")
BROKEN = "g (float[2, n] x, float[3, n] z, float[n] v) => (float y) { y = Add(x, z)  w = my.Own(v)  u = NonZero(v) }"
DATA = """g (float[n] x, bool c) => (float[a, b] y, int64[1, m] u) {
    y = If(c) <then_branch = t () => (float[n, 1] p) { k = Constant<value = int64[1] {1}>()  p = Unsqueeze(x, k) },
               else_branch = e () => (float[1, n] q) { j = Constant<value = int64[1] {0}>()  q = Unsqueeze(x, j) }>
    u = NonZero(x)
}"""
GUARDED = "g (float[n] x) => (float[2, 3] y) { s = Constant<value = int64[2] {2, 3}>()  y = Reshape(x, s) }"
WRONG = "g (float[n] x) => (float[1, 3] y) { c = NonZero(x)  y = Cast<to = 1>(c) }"


class Entry(NamedTuple):
    name: str
    version: str


def make_json_schemas() -> Any:
    spec = importlib.util.spec_from_file_location("make_json_schemas", ROOT / "tools" / "make_json_schemas.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def close(schema: Any) -> Any:
    """The schema without keys that it does not name."""
    if isinstance(schema, list):
        return [close(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: close(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict):
        closed.setdefault("additionalProperties", False)
    return closed


def validate(data: Any, name: str) -> None:
    assert data["schema"] == name
    jsonschema.Draft202012Validator(close(load_schema(name))).validate(data)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    texts = {"broken": BROKEN, "data": DATA, "guarded": GUARDED, "wrong": WRONG}
    for name, text in texts.items():
        (tmp_path / f"{name}.onnx").write_bytes(parsed(text).SerializeToString())
    (tmp_path / "patches.pt2").write_bytes((ROOT / "examples" / "patches.pt2").read_bytes())
    (tmp_path / "recurrent.pbtxt").write_bytes((ROOT / "examples" / "recurrent.pbtxt").read_bytes())
    for name in ("decoder", "convnet"):
        (tmp_path / f"{name}.onnx").write_bytes((ROOT / "examples" / f"{name}.onnx").read_bytes())
    return tmp_path


COMMANDS = [
    ("infer decoder", "infer/1"),
    ("infer broken", "infer/1"),
    ("infer data", "infer/1"),
    ("infer recurrent.pbtxt --bodies", "infer/1"),
    ("infer guarded --dim n=1..8", "infer/1"),
    ("explain decoder --tensor x0", "explain/1"),
    ("explain broken --tensor w", "explain/1"),
    ("explain data --tensor u", "explain/1"),
    ("explain decoder x0.1", "explain/1"),
    ("explain decoder batch", "explain.dim/1"),
    ("explain convnet half", "explain/1"),
    ("explain convnet half/MaxPool", "explain.node/1"),
    ("infer decoder --op MatMul --limit 1", "infer/1"),
    ("explain broken", "unknowns/1"),
    ("explain data", "unknowns/1"),
    ("check broken", "check/1"),
    ("check guarded --minShapes x:1 --optShapes x:6 --maxShapes x:8", "check/1"),
    ("check decoder", "check/1"),
    ("check guarded broken nowhere.onnx", "check/1"),
    ("check .", "check/1"),
    ("contract decoder", "contract/1"),
    ("contract data", "contract/1"),
    ("diff decoder guarded", "diff/1"),
    ("diff decoder decoder", "diff/1"),
    ("clean decoder --dry-run", "clean/1"),
    ("clean data -o cleaned.onnx --verify", "clean/1"),
    ("cost decoder --bind batch=2,seq=8", "cost/1"),
    ("cost decoder --by module --depth 2", "cost/1"),
    ("cost broken --by node", "cost/1"),
    ("cost data --bind n=4", "cost/1"),
    ("memory decoder --bind batch=2,seq=8 --memory-limit 1MiB", "memory.summary/1"),
    ("memory decoder", "memory.summary/1"),
    ("memory broken", "memory.summary/1"),
    ("memory data --bind n=4", "memory.summary/1"),
    ("plan decoder --bind batch=2,seq=8", "plan/1"),
    ("plan decoder", "plan/1"),
    ("summary decoder --bind batch=2,seq=8", "summary/1"),
    ("summary broken data guarded recurrent.pbtxt", "summary/1"),
    ("summary guarded --dim n=1..8", "summary/1"),
    ("ops list Re*", "ops/1"),
    ("ops show Conv", "ops.show/1"),
    ("ops show nn.Conv2d", "ops.show/1"),
    ("ops missing broken decoder", "ops.missing/1"),
    ("ops packages", "ops.packages/1"),
    ("why MatMul guarded", "why/1"),
    ("why RuntimeError guarded --at n=5", "why/1"),
    ("verify guarded", "verify/1"),
    ("verify data", "verify/1"),
    ("verify wrong", "verify/1"),
    ("verify broken", "verify/1"),
    ("guards patches.pt2", "guards/1"),
    ("verify decoder --memory --at batch=2,seq=8", "verify.memory/1"),
    ("verify broken --memory", "verify.memory/1"),
    ("expression [size(@0),-1.5,None,True,1e3+2.0j]", "expression/1"),
    ("expression add(@0,mul(@1,@2)) [N,3] [3]i64 [1]", "expression/1"),
    ("expression [floor_divide(size(@0,0),2),3] [N,3]", "expression/1"),
    ("expression [@0,size(@0)] [N,3]", "expression/1"),
    ("expression --kuiper add(@0,mul(@1,@2)) [N,3] [3] [1]", "expression/1"),
]


@pytest.mark.parametrize(("command", "name"), COMMANDS)
def test_the_output_of_a_command_is_valid(
    models: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str
) -> None:
    monkeypatch.chdir(models)
    verb, *words = command.split()
    if verb == "verify":
        pytest.importorskip("onnxruntime")
    arguments = [f"{word}.onnx" if Path(f"{word}.onnx").exists() else word for word in words]
    result = CliRunner().invoke(main, [verb, *arguments, "--json"])
    assert result.exit_code in (0, 1, 3), result.output
    data = json.loads(result.stdout)
    validate(data, f"shapeinf.{name}")
    assert data["schema"] != "shapeinf.infer/1" or data["model"] == arguments[0]


def test_the_check_of_a_plan_is_valid(models: Path) -> None:
    plan = models / "plan.json"
    sizes = ["--bind", "batch=2,seq=8"]
    assert CliRunner().invoke(main, ["plan", DECODER, *sizes, "-o", str(plan)]).exit_code == 0
    data = json.loads(plan.read_text(encoding="utf-8"))
    validate(data, "shapeinf.plan/1")
    for slot in data["slots"]:
        slot["offset"] = 0
    plan.write_text(json.dumps(data), encoding="utf-8")
    result = CliRunner().invoke(main, ["plan", "verify", str(plan), "-m", DECODER, *sizes, "--json"])
    assert result.exit_code == 1
    problems = json.loads(result.stdout)
    validate(problems, "shapeinf.plan.verify/1")
    assert {problem["code"] for problem in problems["diagnostics"]} >= {"P101"}


def test_the_rows_and_the_report_of_a_scan_are_valid(models: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: scans are not tested")
    out = str(models / "scan")
    scanned = CliRunner().invoke(main, ["scan", str(models), "-o", out, "--json-lines", "--tensors", "--checksum"])
    rows = [json.loads(line) for line in scanned.stdout.splitlines()]
    assert len(rows) == 8 and {row["outcome"] for row in rows} == {"ok", "findings"}
    for row in rows:
        validate(row, "shapeinf.scan.row/1")
    report = CliRunner().invoke(main, ["scan", "report", out, "--json"])
    assert report.exit_code == 0, report.output
    validate(json.loads(report.stdout), "shapeinf.scan/1")


def test_an_export_is_valid(models: Path) -> None:
    out = models / "memory.json"
    assert CliRunner().invoke(main, ["memory", DECODER, "--export", str(out)]).exit_code == 0
    validate(json.loads(out.read_text(encoding="utf-8")), "shapeinf.memory/1")


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_is_published_and_tested(name: str) -> None:
    schema = load_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"] == name and schema["properties"]["schema"] == {"const": name}
    assert f"`{name}`" in (ROOT / "docs" / "json.md").read_text(encoding="utf-8")


def test_the_schemas_are_made_from_the_records() -> None:
    """`tools/make_json_schemas.py` writes them."""
    made = {path.name: text for path, text in make_json_schemas().schema_texts()}
    assert made == {
        path.name: path.read_text(encoding="utf-8") for path in (ROOT / "shapeinf" / "schemas").glob("*.json")
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Entry("acme", "1.0"), {"name": "acme", "version": "1.0"}),
        ({"b": frozenset(("y", "x")), "a": (None, 1.5)}, {"b": ["x", "y"], "a": [None, 1.5]}),
        ([Scope().symbol("n") * 2, Interval(0, None)], ["2*n", {"min": 0, "max": None}]),
    ],
)
def test_values_that_are_no_attrs_records(value: object, expected: object) -> None:
    assert to_json(value) == expected


@pytest.mark.parametrize("value", [b"x", 1j, object()])
def test_a_value_without_a_json_form_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="has no JSON form"):
        to_json([value])


@pytest.mark.parametrize("text", [BROKEN, DATA, GUARDED])
def test_a_report_is_plain_data(text: str) -> None:
    result = infer_shapes(parsed(text))
    report = build_report(result)
    copy = pickle.loads(pickle.dumps(report))
    assert copy == report
    assert to_json(copy) == as_json(result)
