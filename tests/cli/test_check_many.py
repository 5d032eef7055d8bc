"""`shapeinf check` of many models: paths, options, config, baseline, forms and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper

from shapeinf.checks import CheckConfig, ModelCheck, check_files, load_check_config
from shapeinf.checks.selection import Selection
from shapeinf.cli import main
from shapeinf.errors import MissingPackageError, PathPatternError, UnknownNameError
from tests.checks.models import join_model, model, node, reshape_model

NNEF = """version 1.0;
graph net(x) -> (y) { x = external<scalar>(shape = [1, 4]); y = relu(x); }
"""


@pytest.fixture(autouse=True)
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with models: zoo/fine and zoo/fixed (a warning), zoo/deep/names (two warnings), and other files."""
    models = {
        "zoo/fine.onnx": join_model("Add", "n", "n"),
        "zoo/fixed.onnx": reshape_model(4, 2, 3),
        "zoo/deep/names [1].onnx": join_model("Add", "batch", "batsh"),
        "zoo/.hidden/bad.onnx": reshape_model(4, 2, 3),
        "zoo/.bad.onnx": reshape_model(4, 2, 3),
    }
    for name, proto in models.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(proto.SerializeToString())
    (tmp_path / "zoo" / "net.nnef").write_text(NNEF)
    for name in ("README.md", "data.json", "input_0.pb", "layers.ncnn.param", "weights.bin"):
        (tmp_path / "zoo" / name).write_bytes(b"7767517\n1 1\nInput in0 0 1 in0\n")
    (tmp_path / "other.json").write_text("{}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args: object) -> Result:
    result = CliRunner().invoke(main, ["check", *map(str, args)])
    assert "Traceback" not in result.output and "bug of shapeinf" not in result.output, result.output
    return result


def checked(*args: object) -> dict[str, list[str]]:
    """The codes by model of the JSON form."""
    data = json.loads(run(*args, "--json").stdout)
    assert data["schema"] == "shapeinf.check/1"
    return {record["path"]: [finding["code"] for finding in record["diagnostics"]] for record in data["models"]}


FIXED, NAMES = ["C101"], ["C120", "C102"]
ALL = {
    "zoo/deep/names [1].onnx": NAMES,
    "zoo/fine.onnx": [],
    "zoo/fixed.onnx": FIXED,
    "zoo/net.nnef": [],
}
NOTHING: dict[str, list[str]] = {path: [] for path in ALL}


# -- paths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["zoo"], list(ALL)),
        (["."], list(ALL)),
        (["zoo/*.onnx"], ["zoo/fine.onnx", "zoo/fixed.onnx"]),
        (["zoo/**/*.onnx"], ["zoo/deep/names [1].onnx", "zoo/fine.onnx", "zoo/fixed.onnx"]),
        (["zoo/*"], list(ALL)),
        (["zoo/net.nnef", "zoo/fine.onnx", "zoo"], ["zoo/net.nnef", "zoo/fine.onnx", *list(ALL)[:1], "zoo/fixed.onnx"]),
        (["zoo/deep/names [1].onnx", "zoo/fine.onnx"], ["zoo/deep/names [1].onnx", "zoo/fine.onnx"]),
        (["zoo", "--exclude", "deep"], ["zoo/fine.onnx", "zoo/fixed.onnx", "zoo/net.nnef"]),
        (["zoo", "--exclude", "fi*", "--exclude", "zoo/deep/"], ["zoo/net.nnef"]),
        (["./zoo/fine.onnx", "zoo/fine.onnx"], ["./zoo/fine.onnx"]),
        (["zoo/.hidden", "zoo/fine.onnx"], ["zoo/.hidden/bad.onnx", "zoo/fine.onnx"]),
    ],
)
def test_paths_name_models(paths: list[str], expected: list[str]) -> None:
    assert list(checked(*paths)) == expected


@pytest.mark.parametrize("path", ["zoo/*.pt", "nothing*/**", "empty", "zoo/*.md"])
def test_what_names_no_model_is_a_usage_error(zoo: Path, path: str) -> None:
    (zoo / "empty").mkdir()
    result = run("zoo/fine.onnx", path)
    assert (result.exit_code, path in result.stderr) == (2, True)


def test_a_folder_that_is_one_model_is_that_model(zoo: Path) -> None:
    folder = zoo / "net"
    folder.mkdir()
    (folder / "graph.nnef").write_text(NNEF)
    data = json.loads(run("net", "--json").stdout)
    assert [record["path"] for record in data["models"]] == ["net"]


def test_standard_input(zoo: Path) -> None:
    data = (zoo / "zoo" / "fixed.onnx").read_bytes()
    alone = CliRunner().invoke(main, ["check", "-"], input=data)
    assert (alone.exit_code, alone.output.startswith("warning[C101]")) == (1, True)
    others = CliRunner().invoke(main, ["check", "zoo/fine.onnx", "-"], input=data)
    assert (others.exit_code, "\n-: 1 warning\n" in "\n" + others.output) == (1, True), others.output
    assert CliRunner().invoke(main, ["check", "-"], input=b"\x08").exit_code == 3


def test_excluding_everything_is_no_error() -> None:
    result = run("zoo", "--exclude", "*")
    assert (result.exit_code, "all models are excluded" in result.stderr) == (0, True)


# -- exit codes and totals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code", "total"),
    [
        (["zoo/fine.onnx", "zoo/net.nnef"], 0, "2 models checked: 2 without findings"),
        (["zoo"], 1, "4 models checked: 2 without findings, 2 with findings (3 warnings)"),
        (["zoo", "broken.onnx"], 3, "5 models checked: 2 without findings, 2 with findings (3 warnings), 1 cannot be"),
        (["zoo/fine.onnx", "absent.onnx"], 3, "2 models checked: 1 without findings, 1 cannot be checked"),
        (["zoo", "--ignore", "C1"], 0, "4 models checked: 4 without findings"),
    ],
)
def test_exit_codes(zoo: Path, args: list[str], code: int, total: str) -> None:
    (zoo / "broken.onnx").write_bytes(b"\x08")
    result = run(*args)
    assert result.exit_code == code, result.output
    assert result.stdout.rstrip("\n").split("\n")[-1].startswith(total)


def test_a_model_that_cannot_be_read_is_reported_and_the_others_still_run(zoo: Path) -> None:
    (zoo / "zoo" / "broken.onnx").write_bytes(b"")
    result = run("zoo")
    assert "zoo/broken.onnx: 1 error\nerror[C100]: the model cannot be checked: is empty (0 bytes)" in result.stdout
    assert "zoo/fixed.onnx: 1 warning\nwarning[C101]" in result.stdout
    assert checked("zoo", "--select", "C120") == {
        "zoo/broken.onnx": ["C100"],
        "zoo/deep/names [1].onnx": ["C120"],
        "zoo/fine.onnx": [],
        "zoo/fixed.onnx": [],
        "zoo/net.nnef": [],
    }


@pytest.mark.parametrize("form", ["--json", "--markdown", "--github", "--sarif"])
def test_a_single_model_that_cannot_be_read_is_in_each_form(zoo: Path, form: str) -> None:
    (zoo / "broken.onnx").write_bytes(b"")
    result = run("broken.onnx", form)
    assert (result.exit_code, "C100" in result.stdout) == (3, True)


def test_an_error_of_a_rule_of_our_own_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("shapeinf.checks.many.check", fail)
    result = CliRunner().invoke(main, ["check", "zoo"])
    assert (result.exit_code, result.output.count("a bug of shapeinf")) == (3, len(ALL))


# -- options for several models --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        ["--dim", "batch=1..8"],
        ["--bind", "n=4"],
        ["--assume", "n <= 4"],
        ["--input-shapes", "b:[4,2,3]"],
        ["--input-shapes", "[1,4]"],  # without a name: for the model with one input
        ["--dialect", "final"],
    ],
)
def test_an_option_is_used_for_the_models_that_it_fits(args: list[str]) -> None:
    assert set(checked("zoo", *args)) == set(ALL)


def test_a_bound_dim_has_its_size() -> None:
    assert checked("zoo/fixed.onnx", "zoo/fine.onnx", "--bind", "batch=4") == {
        "zoo/fixed.onnx": [],
        "zoo/fine.onnx": [],
    }


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["zoo", "--dim", "btch=1..8"], "no dim is named 'btch'; did you mean 'batch', 'batsh'?"),
        (["zoo", "--bind", "m=8"], "no dim is named 'm'"),
        (["zoo", "--assume", "m <= 4"], "no dim is named 'm'"),
        (["zoo", "--value", "sr=16"], "no input is named 'sr'"),
        (["zoo", "-d", "w:[1,2]"], "no input is named 'w'"),
        (["zoo/fine.onnx", "zoo/fixed.onnx", "-d", "[1,2]"], "needs a model with one input"),
        (["zoo/fine.onnx", "zoo/fixed.onnx", "--dialect", "tract"], "no checked model is of the format"),
        (["zoo", "--minShapes", "x:1x2"], "--minShapes describes a deployment of one model"),
        (["zoo", "--profile", "p.json"], "--profile describes a deployment of one model"),
        (["zoo", "--triton", "c.pbtxt"], "--triton describes a deployment of one model"),
        (["zoo", "--select", "C10,Q7"], "no diagnostic code is named 'Q7'"),
        (["zoo", "--ignore", "C121,c101"], "did you mean 'C101'"),
        (["zoo", "--baseline", "zoo/data.json"], "is not a baseline"),
        (["zoo/fine.onnx", "--write-baseline", "other.json"], "is not a baseline"),
        (["zoo/fine.onnx", "--write-baseline", "zoo/net.nnef"], "is a model"),
        (["zoo/fine.onnx", "-o", "zoo/fine.onnx"], "is a model"),
        (["zoo", "--write-baseline", "x.json", "--output", "x.json"], "writes no report"),
        (["zoo", "--json", "--sarif"], "--json and --sarif are two forms"),
        (["zoo", "--dim", "n=1..4", "--bind", "n=9"], "outside of --dim"),
    ],
)
def test_options_that_come_to_nothing_are_usage_errors(args: list[str], text: str) -> None:
    result = run(*args)
    assert (result.exit_code, text in " ".join(result.stderr.split())) == (2, True), result.output


# -- selection and config --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (["--select", "C120"], ["C120"]),
        (["--select", "C1"], NAMES),
        (["--select", "ALL", "--ignore", "C10"], ["C120"]),
        (["--ignore", "C1", "--select", "C102"], ["C102"]),
        (["--select", "C12,C102", "--ignore", "C120"], ["C102"]),
        (["--select", "C102", "--select", "C120"], NAMES),
        (["--select", "C102", "--ignore", "C102"], []),
    ],
)
def test_the_longest_selector_decides(args: list[str], names: list[str]) -> None:
    assert checked("zoo", *args)["zoo/deep/names [1].onnx"] == names


def write_project(zoo: Path, text: str) -> None:
    (zoo / "pyproject.toml").write_text(text)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ('select = ["C120"]', {"deep/names [1].onnx": ["C120"], "fine.onnx": [], "fixed.onnx": [], "net.nnef": []}),
        ('exclude = ["deep", "*.nnef"]', {"fine.onnx": [], "fixed.onnx": FIXED}),
        ('per-file-ignores = {"deep/*" = ["C1"], "*.onnx" = ["C101"]}', {n[4:]: [] for n in ALL}),
        ('bind = {batch = 4}\nexclude = ["deep"]', {"fine.onnx": [], "fixed.onnx": [], "net.nnef": []}),
        (
            'models = [{path = "fixed.onnx", bind = {batch = 4}}]',
            {n[4:]: [] if "fixed" in n else c for n, c in ALL.items()},
        ),
    ],
)
def test_the_table_of_the_nearest_project_is_used(
    zoo: Path, monkeypatch: pytest.MonkeyPatch, table: str, expected: dict[str, list[str]]
) -> None:
    write_project(zoo / "zoo", f"[tool.shapeinf]\n{table}\n")
    (zoo / "zoo" / "deep" / "pyproject.toml").write_text("[tool.other]\n")
    monkeypatch.chdir(zoo / "zoo")
    assert checked(".") == expected
    monkeypatch.chdir(zoo / "zoo" / "deep")
    assert {Path(name).name: codes for name, codes in checked("..").items()} == {
        Path(name).name: codes for name, codes in expected.items()
    }
    assert len(checked("..", "--isolated")) == len(ALL)


@pytest.mark.parametrize(
    ("text", "code"),
    [('[project]\nname = "shapeinf-user"\ndependencies = ["shapeinf"]\n', 0), ("[tool.shapeinf]\n", 3)],
)
def test_without_a_toml_reader_projects_with_the_table_only_need_one(
    zoo: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: int
) -> None:
    """As in Python 3.10 without the extra."""
    write_project(zoo, text)

    def fail() -> None:
        raise MissingPackageError("a TOML file before Python 3.11", "tomli", "toml")

    monkeypatch.setattr("shapeinf.inputs.config._toml_reader", fail)
    result = run("zoo/fine.onnx")
    assert (result.exit_code, "shapeinf[toml]" in result.stderr) == (code, code != 0)


def test_the_command_line_replaces_select_and_adds_to_ignore(zoo: Path) -> None:
    write_project(zoo, '[tool.shapeinf]\nselect = ["C101"]\nignore = ["C102"]\n')
    assert checked("zoo", "--select", "C1", "--ignore", "C101") == {**NOTHING, "zoo/deep/names [1].onnx": ["C120"]}


def test_names_of_the_config_that_no_model_has_are_a_note(zoo: Path) -> None:
    """A run of pre-commit checks some of the models, so that this is no error."""
    write_project(zoo, "[tool.shapeinf.dims]\nbtch = 4\n")
    result = run("zoo/fine.onnx")
    assert (result.exit_code, "note: pyproject.toml: dims: btch: no checked model" in result.stderr) == (0, True)


def test_declarations_are_ignored_on_request(zoo: Path) -> None:
    proto = model([node("Concat", "x x", "y", axis=0)], {"x": ["n", 4]}, {"y": ["n", 4]})
    (zoo / "stale.onnx").write_bytes(proto.SerializeToString())
    assert checked("stale.onnx", "zoo/fine.onnx")["stale.onnx"] == ["C111"]
    write_project(zoo, '[[tool.shapeinf.models]]\npath = "stale*"\ndeclared = "ignore"\n')
    assert checked("stale.onnx", "zoo/fine.onnx")["stale.onnx"] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = []", "no key is named 'selct'; did you mean 'select'?"),
        ('select = ["c101"]', "select: no diagnostic code is named 'c101'; did you mean 'C101'"),
        ('select = "C1"', "select must be a list of texts"),
        ('ignore = ["C1", 2]', "ignore must be a list of texts"),
        ("baseline = 3", "baseline must be a path"),
        ('per-file-ignores = ["C1"]', "per-file-ignores must be a table"),
        ('per-file-ignores = {"a*" = ["X9"]}', "per-file-ignores.a*: no diagnostic code"),
        ("models = {a = 1}", "models must be tables"),
        ("models = [{bind = {n = 3}}]", "each table needs a path"),
        ('models = [{path = "a", dim = {n = 3}}]', "models: no key is named 'dim'; did you mean 'dims'?"),
        ('declared = "trust"', "a check does not trust declarations"),
        ("select = [", "pyproject.toml"),
    ],
)
def test_mistakes_of_the_config(zoo: Path, text: str, message: str) -> None:
    write_project(zoo, f"[tool.shapeinf]\n{text}\n")
    result = run("zoo", "--config", "pyproject.toml")
    assert (result.exit_code, message in " ".join(result.stderr.split())) == (2, True), result.output


@pytest.mark.parametrize("name", ["pyproject.toml", "shapes.toml"])
def test_other_commands_read_the_assumptions_of_the_same_file(zoo: Path, name: str) -> None:
    tables = ('select = ["C1"]\n', '[[{}models]]\npath = "fine.*"\nbind = {{ n = 5 }}\n')
    prefix = "tool.shapeinf." if name == "pyproject.toml" else ""
    head = "[tool.shapeinf]\n" if prefix else ""
    (zoo / name).write_text(head + tables[0] + tables[1].format(prefix))
    result = CliRunner().invoke(main, ["infer", "zoo/fine.onnx", "--config", name])
    assert (result.exit_code, "[5, 6]" in result.stdout) == (0, True), result.output


# -- baseline --------------------------------------------------------------------------------------------------------


def test_known_findings_are_not_reported_and_others_are(zoo: Path) -> None:
    result = run("zoo", "--write-baseline", "known.json")
    assert (result.exit_code, "wrote 3 findings to known.json" in result.stderr) == (0, True)
    assert checked("zoo", "--baseline", "known.json") == NOTHING
    total = run("zoo", "--baseline", "known.json").stdout
    assert total == "4 models checked: 4 without findings, 3 findings of the baseline not shown\n"
    (zoo / "zoo" / "fine.onnx").write_bytes(join_model("Add", "batch", "batsh").SerializeToString())
    assert checked("zoo", "--baseline", "known.json") == {**NOTHING, "zoo/fine.onnx": NAMES}


def test_a_baseline_is_found_by_the_path_from_its_folder(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("zoo", "--write-baseline", "zoo/known.json").exit_code == 0
    entries = json.loads((zoo / "zoo" / "known.json").read_text())["known"]
    assert {entry["model"] for entry in entries} == {"fixed.onnx", "deep/names [1].onnx"}
    monkeypatch.chdir(zoo / "zoo" / "deep")
    assert run("..", "--baseline", "../known.json").exit_code == 0


def test_the_baseline_of_the_project_is_relative_to_its_file(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_project(zoo, '[tool.shapeinf]\nbaseline = "known.json"\n')
    assert run("zoo", "--isolated", "--write-baseline", "known.json").exit_code == 0
    monkeypatch.chdir(zoo / "zoo")
    assert run(".").exit_code == 0
    assert run(".", "--write-baseline", "../known.json").exit_code == 0  # the present one does not count
    assert len(json.loads((zoo / "known.json").read_text())["known"]) == 3


def test_stale_entries_are_notes(zoo: Path) -> None:
    assert run("zoo", "--write-baseline", "known.json").exit_code == 0
    (zoo / "zoo" / "fixed.onnx").write_bytes(reshape_model(-1, 2, 3).SerializeToString())
    (zoo / "zoo" / "deep" / "names [1].onnx").unlink()
    result = run("zoo", "--baseline", "known.json")
    assert (result.exit_code, result.stderr.count("no longer in the model")) == (0, 3)
    assert "zoo/fixed.onnx: C101: batch" in result.stderr
    assert len(json.loads(run("zoo", "--baseline", "known.json", "--json").stdout)["notes"]) == 3


def test_the_log_of_a_single_model_has_its_stale_entries(zoo: Path) -> None:
    assert run("zoo", "--write-baseline", "known.json").exit_code == 0
    fixed = zoo / "zoo" / "fixed.onnx"
    fixed.write_bytes(reshape_model(-1, 2, 3).SerializeToString())
    log = json.loads(run(str(fixed), "--baseline", "known.json", "--sarif").stdout)
    (notification,) = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert "no longer in the model" in notification["message"]["text"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "shapeinf.baseline/1", "known": [{"model": 1}]}', "[" * 10**5]
)
def test_files_that_are_no_baseline(zoo: Path, text: str) -> None:
    (zoo / "known.json").write_text(text)
    result = run("zoo", "--baseline", "known.json")
    assert (result.exit_code, "is not a baseline" in result.stderr) == (2, True)


def test_a_baseline_that_is_absent_cannot_be_read() -> None:
    assert run("zoo", "--baseline", "absent.json").exit_code == 3


# -- forms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["--json", "--markdown", "--github", "--sarif", None])
def test_a_report_in_a_file_is_the_one_on_the_terminal(zoo: Path, form: str | None) -> None:
    forms = [] if form is None else [form]
    printed, written = run("zoo", *forms), run("zoo", *forms, "-o", "report")
    assert (written.exit_code, written.stdout) == (1, "")
    assert (zoo / "report").read_text(encoding="utf-8") == printed.stdout
    assert "the report is in report" in written.stderr


def test_markdown_has_a_table_for_each_model_with_findings() -> None:
    lines = run("zoo", "--markdown").stdout.split("\n")
    assert lines[0] == "## 4 models checked: 2 without findings, 2 with findings (3 warnings)"
    assert [line for line in lines if line.startswith("###")] == [
        "### `zoo/deep/names [1].onnx`: 2 warnings",
        "### `zoo/fixed.onnx`: 1 warning",
    ]


def test_github_has_a_command_for_each_finding() -> None:
    lines = run("zoo", "--github").stdout.strip().split("\n")
    assert [line.split("::")[1].split(",")[0] for line in lines] == [
        "warning file=zoo/deep/names [1].onnx",
        "warning file=zoo/deep/names [1].onnx",
        "warning file=zoo/fixed.onnx",
    ]


# -- data that are not there -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "text"),
    [(None, "is missing"), (8, "8 bytes"), (1024, "")],
)
def test_missing_external_data(zoo: Path, size: int | None, text: str) -> None:
    proto = model([node("MatMul", "x w", "h"), node("MatMul", "h v", "y")], {"x": ["n", 16]}, {"y": ["n", 16]})
    for name in ("w", "v"):
        weight = proto.graph.initializer.add(name=name, dims=[16, 16], data_type=TensorProto.FLOAT)
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value="weights.bin")
    (zoo / "big.onnx").write_bytes(proto.SerializeToString())
    if size is not None:
        (zoo / "weights.bin").write_bytes(bytes(size))
    result = run("big.onnx")
    assert (result.exit_code, result.stdout.count("error[C170]")) == ((1, 1) if text else (0, 0)), result.output
    assert text in result.stdout and ("weights.bin" in result.stdout) == bool(text)


def test_external_data_outside_of_the_folder(zoo: Path) -> None:
    proto = model([node("Relu", "x", "y")], {"x": ["n", 4]}, {"y": ["n", 4]})
    weight = helper.make_tensor("w", TensorProto.FLOAT, [2], [0.0, 0.0])
    weight.ClearField("float_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="../../etc/passwd")
    proto.graph.initializer.append(weight)
    (zoo / "big.onnx").write_bytes(proto.SerializeToString())
    result = run("big.onnx")
    assert (result.exit_code, "outside the model's folder" in result.stdout) == (1, True), result.output


# -- in Python -------------------------------------------------------------------------------------------------------


def test_in_python(zoo: Path) -> None:
    checks = check_files("zoo")
    assert {check.path: [d.code for d in check.diagnostics] for check in checks} == ALL
    assert [check.fails for check in checks] == [True, False, True, False]
    assert not any(check.fails for check in check_files(["zoo"], CheckConfig(ignore=("C1",))))
    assert not check_files("zoo/fixed.onnx", bind={"batch": 4})[0].fails
    write_project(zoo, '[tool.shapeinf]\nselect = ["C120"]\n')
    assert [check.fails for check in check_files("zoo", load_check_config("pyproject.toml"))] == [True] + [False] * 3
    assert check_files("absent.onnx") == [
        ModelCheck("absent.onnx", check_files("absent.onnx")[0].diagnostics, (), False)
    ]


def test_mistakes_in_python() -> None:
    with pytest.raises(PathPatternError):
        check_files("zoo/*.pt")
    with pytest.raises(UnknownNameError, match="btch"):
        check_files("zoo", dims={"btch": 4})
    with pytest.raises(UnknownNameError, match="did you mean 'C101'"):
        CheckConfig(select=("c101",))


@pytest.mark.parametrize("selection", [{"select": ["X9"]}, {"ignore": ["X9"]}, {"per_file_ignores": {"*": ["X9"]}}])
def test_a_selector_of_no_code_is_refused(selection) -> None:
    with pytest.raises(UnknownNameError, match="X9"):
        Selection(**selection)
