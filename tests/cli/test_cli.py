"""`shapeinf infer`: output, written files, and the exit code of every kind of error."""

from __future__ import annotations

import json
import os
import platform
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import onnx
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper
from rich.console import Console

import shapeinf
import shapeinf.cli
from shapeinf.cli import main
from shapeinf.cli.main import COMMANDS, GROUPS
from shapeinf.cli.output import LateProgress
from shapeinf.compilation import build_name
from shapeinf.texts import escape_unprintable


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["infer", *map(str, args)])


def write(path: Path, nodes: list[onnx.NodeProto], domains: tuple[str, ...] = ("",)) -> Path:
    """A model of these nodes from x [batch, 3] to y."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", [x], [y])
    opsets = [helper.make_opsetid(domain, 18 if domain == "" else 1) for domain in domains]
    path.write_bytes(helper.make_model(graph, opset_imports=opsets).SerializeToString())
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write(tmp_path / "m.onnx", [helper.make_node("Concat", ["x", "x"], ["y"], name="twice", axis=0)])


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """[batch, 3] times [batch, 3]: the product requires batch == 3, and the user sets it to 2."""
    nodes = [
        helper.make_node("Concat", ["x", "x"], ["wide"], name="wide", axis=1),
        helper.make_node("Add", ["x", "wide"], ["y"], name="sum"),
    ]
    return write(tmp_path / "wrong.onnx", nodes)


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CONVNET = EXAMPLES / "convnet.onnx"
RECURRENT = EXAMPLES / "recurrent.pbtxt"


def test_tensors_of_bodies_follow_those_of_the_graph() -> None:
    shapes = ["--input-shapes", "tokens=[batch, seq]"]
    rows = [" ".join(line.split()) for line in run(RECURRENT, *shapes, "--bodies").stdout.splitlines()]
    assert "loop/body/joined:0 float32 [batch, 32] ConcatV2" in rows
    assert "loop/body/state:0 float32 [batch, 16] input" in rows
    assert not any(row.startswith("loop/body/weights:0") for row in rows), "constants are no rows"
    assert rows.index("logits:0 float32 [batch, seq, 10] PartitionedCall, output") < rows.index(
        "loop/body/time:0 int32 [] input"
    )
    data = json.loads(run(RECURRENT, *shapes, "--bodies", "--json").stdout)
    assert data["bodies"]["loop/body/weights:0"]["shape"] == [32, 16]
    assert "bodies" not in json.loads(run(RECURRENT, *shapes, "--json").stdout)


def test_guards_are_not_listed_as_contract(tmp_path: Path) -> None:
    nodes = [helper.make_node("NonZero", ["x"], ["n"]), helper.make_node("MatMul", ["f", "w"], ["y"], name="product")]
    nodes.insert(1, helper.make_node("Cast", ["n"], ["f"], to=TensorProto.FLOAT))
    nodes.insert(0, helper.make_node("ConstantOfShape", ["s"], ["w"]))
    nodes.insert(0, helper.make_node("Constant", [], ["s"], value_ints=[5, 1]))
    lines = run(write(tmp_path / "m.onnx", nodes)).stdout.splitlines()
    (guard,) = [line for line in lines if "required by MatMul" in line]
    assert guard.split()[0] == "guards"


def test_a_closed_pipe_is_no_error(model: Path) -> None:
    program = f"from shapeinf.cli import main; main(['infer', {str(model)!r}])"
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert "error" not in result.stderr and "Traceback" not in result.stderr


def test_a_table_of_all_tensors(model: Path) -> None:
    result = run(model)
    assert result.exit_code == 0, result.output
    rows = {line.split()[0]: " ".join(line.split()) for line in result.stdout.splitlines() if line.strip()}
    assert rows["x"] == "x float32 [batch, 3] input"
    assert rows["y"] == "y float32 [2*batch, 3] Concat, output"
    assert "named dims are at least 1" in rows["policy"]
    assert "1 nodes" in rows["coverage"]


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("onnxruntime", "verify", ["verify"]),
        ("matplotlib", "png", ["memory", "--bind", "batch=2", "--png", "never.png"]),
        ("pyarrow", "parquet", ["memory", "--bind", "batch=2", "--export", "never.parquet"]),
        ("omnimalloc", "omnimalloc", ["plan", "--bind", "batch=2", "--planner", "omnimalloc"]),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    package: str, extra: str, arguments: list[str], model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    result = CliRunner().invoke(main, [arguments[0], str(model), *arguments[1:]])
    assert result.exit_code == 3, result.output
    assert f"needs {package}" in result.output and f"pip install 'shapeinf[{extra}]'" in result.output


def test_a_command_imports_only_its_own_packages() -> None:
    modules = {path.stem for path in Path(shapeinf.cli.__file__).parent.glob("*.py")}
    assert {entry.function.split(".")[0] for entry in COMMANDS.values()} <= modules
    program = "import sys; from shapeinf.cli import main; main(['infer', '--help'], standalone_mode=False)"
    program += "; print(*sys.modules, file=sys.stderr)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr.split()
    assert "shapeinf.cli.infer" in loaded
    assert not {"shapeinf.memory", "shapeinf.runtime", "onnx", "islpy", "networkx", "matplotlib"} & set(loaded)


def test_help_lists_every_command_under_a_heading() -> None:
    listed = CliRunner().invoke(main, ["--help"], terminal_width=80).output
    for heading, entries in GROUPS.items():
        lines = listed.split(f"{heading}:\n")[1].split("\n\n")[0].splitlines()
        assert [line.split()[0] for line in lines] == list(entries)
        assert all(line.endswith(".") for line in lines), "a summary is one line at 80 columns"
    assert all(len(line) <= 80 for line in listed.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_has_its_exit_codes_and_an_example_that_parses(name: str) -> None:
    helped = CliRunner().invoke(main, [name, "--help"], terminal_width=80)
    assert helped.exit_code == 0 and all(len(line) <= 80 for line in helped.output.splitlines())
    text = " ".join(helped.output.split())
    assert f"Example: shapeinf {COMMANDS[name].example}" in text
    assert "Exit codes: 0 " in text
    verb, *words = shlex.split(COMMANDS[name].example)
    assert verb == name
    command = main.get_command(click.Context(main), verb)
    assert command is not None and command.short_help is None, "the table in main.py has the line of the help"
    command.make_context(verb, words)


@pytest.mark.parametrize(("name", "own"), [("infer", "--filter"), ("memory", "--budget"), ("check", "--baseline")])
def test_the_help_of_a_command_begins_with_its_own_options(name: str, own: str) -> None:
    text = CliRunner().invoke(main, [name, "--help"]).output
    assert (
        text.index("\nOptions:")
        < text.index(f"\n  {own}")
        < text.index("\nDims, inputs and inference:")
        < text.index("--bind N")
    )
    assert text.index("--config") < text.index("\nFormats of models:") < text.index("--dialect")
    assert ("\nLifetimes of tensors:" in text) == (name == "memory"), "a section without options has no heading"


@pytest.mark.parametrize(
    ("words", "code"),
    [("memory", 1), ("cost", 1), ("plan --bind batch=1", 1), ("explain", 0), ("diff --all {model}", 0)],
)
def test_a_command_that_prints_no_diagnostics_notes_errors(wrong: Path, words: str, code: int) -> None:
    command, *options = words.format(model=wrong).split()
    result = CliRunner().invoke(main, [command, str(wrong), *options])
    assert f"note: {wrong} has 1 error: shapeinf infer, with these options, prints them\n" in result.stderr
    assert result.exit_code == code


@pytest.mark.parametrize("name", ["summary", "infer", "check", "report", "memory", "cost", "plan"])
def test_sizes_that_a_node_does_not_allow_exit_with_1(name: str, tmp_path: Path) -> None:
    page = ["-o", str(tmp_path / "page.html")] if name == "report" else []
    result = CliRunner().invoke(main, [name, str(CONVNET), *page, "--bind", "batch=1,height=33,width=32"])
    assert result.exit_code == 1, result.output
    assert "Usage:" not in result.stderr and not list(tmp_path.iterdir())


def test_help_lists_no_arguments_among_the_options() -> None:
    for name in ("infer", "diff", "bind"):
        text = CliRunner().invoke(main, [name, "--help"]).output
        assert text.partition("\nOptions:\n")[2].startswith("  -")


def test_an_unknown_command_is_a_usage_error_with_the_nearest(model: Path) -> None:
    result = CliRunner().invoke(main, ["memroy", "m.onnx"])
    assert result.exit_code == 2 and "no command is named 'memroy'; did you mean 'memory'" in result.output
    result = CliRunner().invoke(main, [str(model)])
    assert result.exit_code == 2 and f"shapeinf summary {model}" in result.output


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["expression", "add(@0,"], 2),
        (["expression", "add(@0,@1)", "[3]", "[4]"], 1),
        (["infer", "nowhere.onnx"], 3),
        (["infer", "--nothing", "m.onnx"], 2),
        (["explain", "{model}", "nothing"], 2),
        (["diff", "{model}", "{model}"], 0),
        (["plan", "{model}", "--bind", "batch=1"], 0),
        (["memory", "{model}", "--bind", "batch=1", "--budget", "1"], 1),
        (["bind", "{model}", "batch=zz", "-o", "no/folder/out.onnx"], 3),
        (["ops", "show", "Nothing"], 2),
        ([], 2),
    ],
)
def test_exit_codes(model: Path, arguments: list[str], code: int) -> None:
    result = CliRunner().invoke(main, [argument.format(model=model) for argument in arguments])
    assert result.exit_code == code, result.output


def test_the_version_names_python() -> None:
    result = CliRunner().invoke(main, ["--version"], prog_name="shapeinf")
    assert result.output == f"shapeinf {shapeinf.__version__} (Python {platform.python_version()}, {build_name()})\n"


def test_the_package_runs_as_a_module(model: Path) -> None:
    for module in ("shapeinf", "shapeinf.cli"):
        result = subprocess.run([sys.executable, "-m", module, "infer", str(model)], capture_output=True, text=True)
        assert result.returncode == 0 and "[2*batch, 3]" in result.stdout


def heed_interrupts() -> None:
    """Let a child see Ctrl-C also where this process, in the background of a script, ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_with_130_and_says_nothing(tmp_path: Path) -> None:
    fifo = tmp_path / "model.onnx"
    os.mkfifo(fifo)  # the command waits for a writer
    program = [sys.executable, "-m", "shapeinf", "infer", str(fifo)]
    process = subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
    )
    writer = os.open(fifo, os.O_WRONLY)  # returns when the command has opened the file
    time.sleep(0.5)  # until it reads: a signal between the two calls would wait for the end of the read
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    os.close(writer)
    assert (process.returncode, output, errors) == (130, "", "")


def test_two_outputs_to_one_file_are_refused(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    words = ["memory", str(model), "--bind", "batch=1", "--html", str(out), "-o", f"{tmp_path}/./out.json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2 and "--html and --output both write" in result.output
    assert not out.exists()


def test_nothing_is_cut_in_a_pipe(tmp_path: Path) -> None:
    name = "layer/" * 60 + "y"
    nodes = [helper.make_node("Relu", ["x"], [name]), helper.make_node("Relu", [name], ["y"])]
    assert name in run(write(tmp_path / "long.onnx", nodes)).stdout


def test_dim_gives_bounds(model: Path) -> None:
    result = run(model, "--dim", "batch=1..8")
    assert result.exit_code == 0
    assert "batch 1..8" in result.stdout


@pytest.mark.parametrize("text", ["batch=4", "batch:4"])
def test_bind_gives_a_value(model: Path, text: str) -> None:
    assert "[8, 3]" in run(model, "--bind", text).stdout


@pytest.mark.parametrize("option", ["--input-shapes", "--overwrite-input-shape", "-d"])
@pytest.mark.parametrize("spec", ["x:[5,3]", "x:5x3", "5,3", "x[5,3]", "x:f32:5x3"])
def test_input_shapes(model: Path, option: str, spec: str) -> None:
    result = run(model, option, spec)
    assert result.exit_code == 0, result.output
    assert "[10, 3]" in result.stdout


def test_min_dim_and_assume(model: Path) -> None:
    assert "named dims are at least 0" in run(model, "--min-dim", 0).stdout
    assert run(model, "--assume", "batch <= 4").exit_code == 0


def test_json(model: Path) -> None:
    result = run(model, "--json", "--dim", "batch=1..8")
    assert result.exit_code == 0
    record = json.loads(result.stdout)
    assert record["schema"] == "shapeinf.infer/1"
    assert record["model"] == str(model)
    assert record["tensors"]["y"]["dtype"] == "float32"
    assert record["tensors"]["y"]["shape"] == [{"expr": "2*batch", "min": 2, "max": 16}, 3]
    assert record["diagnostics"] == []
    assert record["coverage"]["nodes"] == 1


def test_save_writes_an_annotated_model(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    result = run(model, "--save", out)
    assert result.exit_code == 0, result.output
    dims = onnx.load(out).graph.output[0].type.tensor_type.shape.dim
    assert (dims[0].dim_param, dims[1].dim_value) == ("2*batch", 3)


def test_errors_exit_with_1_and_name_the_node(wrong: Path) -> None:
    result = run(wrong)
    assert result.exit_code == 1
    assert "error[S1" in result.stdout
    assert "sum" in result.stdout


def test_strict_stops_at_the_first_error(wrong: Path) -> None:
    result = run(wrong, "--strict")
    assert result.exit_code == 1
    assert "error[S1" in result.stderr
    assert "--> sum" in result.stderr
    assert result.stdout == ""


def test_an_unknown_operator_is_no_end(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Mystery", ["x"], ["m"], name="odd", domain="com.example"),
        helper.make_node("Relu", ["m"], ["y"]),
    ]
    result = run(write(tmp_path / "m.onnx", nodes, ("", "com.example")))
    assert result.exit_code == 0, result.output
    assert "Mystery" in result.stdout
    assert "warning[S2" in result.stdout


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--dim", "batsh=1..8"], "did you mean 'batch'?"),
        (["--bind", "batsh=8"], "did you mean 'batch'?"),
        (["--input-shapes", "xx:1x3"], "no input is named 'xx'"),
        (["--dim", "batch"], "NAME=LO..HI"),
        (["--dim", "batch=8..1"], "not empty"),
        (["--dim", "batch=1..2", "--dim", "batch=3"], "two different values"),
        (["--dim", "batch=1..8", "--bind", "batch=9"], "outside of --dim batch=1..8"),
        (["--bind", "batch"], "NAME=NUMBER"),
        (["--input-shapes", "x:[1,,3]"], "character 6"),
        (["--assume", "batch"], "a relation"),
        (["--min-dim", "-1"], "-1"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_usage_errors_exit_with_2(model: Path, args: list[str], expected: str) -> None:
    result = run(model, *args)
    assert result.exit_code == 2, result.output
    assert expected in " ".join(result.stderr.split())


def test_contradictory_assumptions_are_usage_errors(model: Path) -> None:
    result = run(model, "--dim", "batch=1..8", "--assume", "batch >= 9")
    assert result.exit_code == 2, result.output
    assert "batch" in result.stderr


def test_a_shape_without_a_name_needs_a_single_input(tmp_path: Path) -> None:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("a", "b", "y")]
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["y"])], "g", infos[:2], infos[2:])
    path = tmp_path / "two.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    result = run(path, "--input-shapes", "3")
    assert result.exit_code == 2
    assert "a, b" in result.stderr
    assert run(path, "--input-shapes", "a:3 b:3", "--declared", "ignore").exit_code == 0


def bad_file(tmp_path: Path, model: Path, kind: str) -> Path:
    path = tmp_path / f"{kind}.onnx"
    if kind == "truncated":
        path.write_bytes(model.read_bytes()[:-20])
    elif kind == "text":
        path.write_text("this is no model\n" * 20)
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "cyclic":
        write(path, [helper.make_node("Add", ["x", "b"], ["y"], name="one"), helper.make_node("Relu", ["y"], ["b"])])
    elif kind == "folder":
        path.mkdir()
    return path


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("truncated", "cut off"),
        ("text", "text file"),
        ("empty", "empty"),
        ("cyclic", "cycle"),
        ("missing", "No such file"),
        ("folder", "directory"),
    ],
)
def test_an_unreadable_model_exits_with_3(tmp_path: Path, model: Path, kind: str, expected: str) -> None:
    result = run(bad_file(tmp_path, model, kind))
    assert result.exit_code == 3, result.output
    assert expected in result.stderr
    assert "Traceback" not in result.output
    assert len(result.stderr.strip().splitlines()) == 1


def test_an_unwritable_path_exits_with_3(model: Path, tmp_path: Path) -> None:
    result = run(model, "--save", tmp_path / "no" / "such" / "folder" / "out.onnx")
    assert result.exit_code == 3
    assert "out.onnx" in result.stderr


def test_a_bug_is_reported_as_a_bug(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("shapeinf.cli.model_options.infer", broken)
    result = run(model)
    assert result.exit_code == 3
    assert "bug of shapeinf" in result.stderr


def test_help_and_version() -> None:
    assert "--input-shapes" in run("--help").stdout
    assert shapeinf.__version__ in CliRunner().invoke(main, ["--version"]).stdout


def test_control_characters_of_names_are_not_printed(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Mystery", ["x"], ["evil\x1b[31m"], name="odd\x1b[31m", domain="com.example"),
        helper.make_node("Relu", ["evil\x1b[31m"], ["y"]),
    ]
    result = run(write(tmp_path / "m.onnx", nodes, ("", "com.example")))
    assert "evil\\x1b[31m" in result.stdout
    assert "\x1b" not in result.output
    assert escape_unprintable("a\x07") == "a\\x07"


def test_the_progress_bar_waits_and_needs_a_terminal() -> None:
    quiet = Console(force_terminal=False, record=True)
    with LateProgress(quiet, delay=0) as progress:
        progress(1, 2)
    assert quiet.export_text() == ""
    early = LateProgress(Console(force_terminal=True), delay=60)
    with early as progress:
        progress(1, 2)
        assert early._bar is None
    late = LateProgress(Console(force_terminal=True), delay=0)
    with late as progress:
        progress(1, 2)
        progress(2, 2)
        assert late._bar is not None and late._bar.finished


BAD = "\x1b[31m\r\n\x9b"
RAW: list[list[str]] = [
    [BAD],
    [f"--{BAD}"],
    ["infer", BAD],
    ["infer", "MODEL", BAD],
    *(["infer", "MODEL", option, BAD] for option in ("--limit", "--dim", "--bind", "--assume", "--value")),
    *(["infer", "MODEL", option, BAD.replace("[", "")] for option in ("--filter", "--op")),
    ["explain", "MODEL", BAD],
    ["explain", "MODEL", f"dim:{BAD}"],
    ["rebatch", "MODEL", "--axis", BAD],
    ["rebatch", "MODEL", "--axis", f"{BAD}=1"],
    ["verify", "MODEL", "--runtime", BAD],
    ["memory", "MODEL", "--budget", BAD],
    ["bind", "MODEL", f"{BAD}=1"],
    ["plan", "verify", BAD, "--model", "MODEL"],
]


@pytest.mark.parametrize("words", RAW, ids=lambda words: " ".join(word for word in words if word.isprintable()))
def test_errors_print_no_control_characters_of_the_command_line(words: list[str], model: Path) -> None:
    result = CliRunner().invoke(main, [str(model) if word == "MODEL" else word for word in words])
    assert result.exit_code in (2, 3), result.output
    assert result.stdout == ""
    assert not [c for c in result.stderr if not c.isprintable() and c != "\n"]
    assert "\\x1b" in result.stderr
