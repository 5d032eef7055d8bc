"""All commands: help, exit codes, version, signals, and errors without control characters."""

from __future__ import annotations

import os
import platform
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

import shapeinf
import shapeinf.cli
from shapeinf.cli import main
from shapeinf.cli.main import COMMANDS, GROUPS
from shapeinf.cli.output import LateProgress
from shapeinf.compilation import build_name

CONVNET = Path(__file__).resolve().parents[2] / "examples" / "convnet.onnx"


def test_a_closed_pipe_is_no_error(model: Path) -> None:
    program = f"from shapeinf.cli import main; main(['infer', {str(model)!r}])"
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert "error" not in result.stderr and "Traceback" not in result.stderr


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
    assert "Exit codes: 0 " in text and ", 2 usage" in text
    verb, *words = shlex.split(COMMANDS[name].example)
    assert verb == name
    command = main.get_command(click.Context(main), verb)
    assert command is not None and command.short_help is None, "the table in main.py has the line of the help"
    command.make_context(verb, words)


@pytest.mark.parametrize(
    ("name", "own"), [("infer", "--filter"), ("memory", "--memory-limit"), ("check", "--baseline")]
)
def test_the_help_of_a_command_begins_with_its_own_options(name: str, own: str) -> None:
    short, full = (CliRunner().invoke(main, [name, option]).output for option in ("--help", "--help-all"))
    headings = ["\nOptions:", f"\n  {own}", "\n  --help-all", "\nDims, inputs and inference:"]
    for text, shared in ((short, "--dim, --bind, "), (full, "\n  -f, --bind NAME=N")):
        end = text.index("\nDims, inputs")
        places = [text.index(part) for part in headings]
        places += [text.index(part, end) for part in (shared, "--config", "\nFormats of models:", "--dialect")]
        assert places == sorted(places)
        assert ("\nLifetimes of tensors:" in text) == (name == "memory"), "a section without options has no heading"
    assert "Sizes of named dims" in full and "Sizes of named dims" not in short
    assert short.count("\n") < 0.7 * full.count("\n")


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
        (["memory", "{model}", "--bind", "batch=1", "--memory-limit", "1"], 1),
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


def test_a_bug_is_reported_as_a_bug(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("shapeinf.cli.model_options.infer", broken)
    result = CliRunner().invoke(main, ["infer", str(model)])
    assert result.exit_code == 3
    assert "bug of shapeinf" in result.stderr


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
    ["memory", "MODEL", "--memory-limit", BAD],
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
