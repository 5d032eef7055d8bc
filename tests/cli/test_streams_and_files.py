"""Every command, from the tree of commands: closed and full streams, and special files where a path is expected."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main

ROOT = Path(__file__).resolve().parent.parent.parent
MODEL = str(ROOT / "examples" / "convnet.onnx")
FIXED = {"rebatch": "fixed.onnx"}
OTHER = {"guards": str(ROOT / "examples" / "patches.pt2")}
"""Models of commands that do not take `MODEL`."""

REQUIRED = {
    "explain": ["act.1"],
    "ops show": ["Relu"],
    "bind": ["batch=2"],
    "expression": ["add(@0,@1)", "[N,8]", "[8]"],
    "report": ["-o", "report.html"],
    "program": ["-o", "shapes.rs"],
    "view": ["--export", "model-explorer", "-o", "view.json", "--bind", "batch=1,height=32,width=32"],
    "scan": ["-o", "scanned", "--jobs", "1"],
    "clean": ["--dry-run"],
    "profile": ["--dim", "batch=1..2", "--dim", "height=32", "--dim", "width=32"],
}
"""What a command needs besides its model."""

BEFORE = {"why": ["Non-zero status code returned while running Relu node. Name:'act' Status Message: failed"]}
"""What a command needs in front of its model."""

SUBCOMMANDS = {"plan verify": ["plan.json"], "scan report": ["scanned"]}
"""Commands that are no groups, but read another kind of file with a word before it."""

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no special files")


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """All commands that are no groups, by their names."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from leaves(found, (*path, name))
    else:
        yield " ".join(path), command


LEAVES = {name: command for name, command in leaves(main) if name != "page"}
"""All but `page`, which prints nothing to standard output and reads no model: tests/page tests it."""


def models_of(command: click.Command) -> int:
    """The number of models that a command needs."""
    return sum(isinstance(p, click.Argument) and isinstance(p.type, click.Path) and p.required for p in command.params)


def command_line(name: str, model: str) -> list[str]:
    before, after = BEFORE.get(name, []), REQUIRED.get(name, [])
    return [*name.split(), *before, *[model] * models_of(LEAVES[name]), *after]


def model_of(name: str, folder: Path) -> str:
    if name not in FIXED:
        return OTHER.get(name, MODEL)
    from shapeinf import bind

    bind(MODEL, {"batch": 2, "height": 32, "width": 32}).save(folder / FIXED[name])
    return str(folder / FIXED[name])


def run_in_shell(folder: Path, arguments: list[str], redirection: str) -> subprocess.CompletedProcess[str]:
    """A process whose streams are what a shell makes of a redirection."""
    script = f'"$0" -m shapeinf "$@" {redirection}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["sh", "-c", script, sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def check_message(done: subprocess.CompletedProcess[str], prints: bool = True) -> None:
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
    assert "this is a bug of shapeinf" not in done.stderr
    assert done.returncode == 3 if prints else done.returncode in (0, 3), done


SILENT = {"report", "view", "scan"}
"""Commands that may print nothing to standard output."""


@pytest.mark.parametrize("name", LEAVES)
def test_standard_output_is_closed(tmp_path: Path, name: str) -> None:
    done = run_in_shell(tmp_path, command_line(name, model_of(name, tmp_path)), ">&-")
    check_message(done, name not in SILENT)
    if done.returncode == 3:
        assert done.stderr.count("<stdout> cannot be written: it is closed") == 1


@pytest.mark.slow
@pytest.mark.parametrize("redirection", [">/dev/full", ">&- 2>&-", ">&- <&-", "<&- >/dev/full 2>/dev/full"])
@pytest.mark.parametrize("name", LEAVES)
def test_other_streams(tmp_path: Path, name: str, redirection: str) -> None:
    done = run_in_shell(tmp_path, command_line(name, model_of(name, tmp_path)), redirection)
    check_message(done, name not in SILENT)


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["infer", "--help"], ["ops", "--help"]])
def test_help_without_an_output(tmp_path: Path, arguments: list[str], redirection: str) -> None:
    check_message(run_in_shell(tmp_path, arguments, redirection))


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&-"])
def test_streams_that_a_command_does_not_need(tmp_path: Path, redirection: str) -> None:
    assert run_in_shell(tmp_path, ["summary", MODEL], redirection).returncode == 0


def test_usage_errors_keep_their_code(tmp_path: Path) -> None:
    assert run_in_shell(tmp_path, ["infer"], ">&-").returncode == 2
    assert run_in_shell(tmp_path, ["infer"], "2>&-").returncode == 2
    assert run_in_shell(tmp_path, ["infer"], "2>/dev/full").returncode == 3


def test_the_model_on_a_closed_standard_input(tmp_path: Path) -> None:
    done = run_in_shell(tmp_path, ["infer", "-"], "<&-")
    check_message(done)
    assert done.stderr == "error: <stdin>: cannot be read: it is closed\n"


def test_a_written_file_never_gets_what_is_printed(tmp_path: Path) -> None:
    """Without standard output, the first file that is opened would have its number."""
    done = run_in_shell(tmp_path, ["infer", MODEL, "-o", "out.onnx"], ">&-")
    assert done.returncode == 3 and (tmp_path / "out.onnx").exists()
    from shapeinf import infer_shapes

    assert not infer_shapes(tmp_path / "out.onnx").diagnostics


def test_a_reader_that_leaves(tmp_path: Path) -> None:
    for arguments in (["--help"], ["infer", MODEL]):
        script = '"$0" -m shapeinf "$@" 2>errors; echo $? >code'
        command = f"( {script} ) | true"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(["sh", "-c", command, sys.executable, *arguments], cwd=tmp_path, env=environment, check=False)
        assert (tmp_path / "code").read_text() in ("141\n", "0\n") and (tmp_path / "errors").read_text() == ""


# -- special files -----------------------------------------------------------------------------------------------------

NAMES = ["m.onnx", "m.onnxtxt", "m.json", "m.pb", "m.pbtxt", "m.nnef", "m.pnnx.param", "m.tgz", "m.zip", "m"]


def make_special(path: Path, kind: str) -> None:
    if kind in ("zero", "null", "tty"):
        path.symlink_to(f"/dev/{kind}")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path)[-100:] if len(str(path)) < 100 else os.path.relpath(path))
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(1 << 42)


def run(arguments: list[str]) -> Result:
    """A command that must end within ten seconds."""

    def stop(_: int, frame: FrameType | None) -> Any:
        raise AssertionError(f"{arguments} does not end")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    try:
        done = CliRunner().invoke(main, arguments)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "this is a bug" not in done.output, done.output
    return done


WITH_MODEL = [name for name, command in LEAVES.items() if models_of(command)]


@pytest.mark.parametrize("kind", ["zero", "null", "socket"])
@pytest.mark.parametrize("name", WITH_MODEL)
def test_a_model_that_is_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str) -> None:
    monkeypatch.chdir(tmp_path)
    make_special(tmp_path / "m.onnx", kind)
    done = run(command_line(name, "m.onnx"))
    if name == "scan":
        assert done.exit_code in (0, 1)
        return
    assert done.exit_code in (1, 3), done.output
    assert "is not a regular file" in done.output


@pytest.mark.parametrize("kind", ["zero", "null", "socket", "sparse"])
@pytest.mark.parametrize("file", NAMES)
def test_a_device_under_each_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, kind: str) -> None:
    monkeypatch.chdir(tmp_path)
    make_special(tmp_path / file, kind)
    done = run(["infer", file])
    assert done.exit_code == 3
    if kind != "sparse":
        assert "is not a regular file" in done.output


@pytest.mark.parametrize("kind", ["zero", "pipe", "socket"])
def test_special_files_of_folders_and_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    make_special(tmp_path / "d" / "a.onnx", kind)
    assert "the folder has no models" in run(["check", "d"]).output
    if kind == "pipe":
        return  # it is named by the pattern, and a pipe may be read
    done = run(["check", "d/*.onnx"])
    assert done.exit_code == 3 and "is not a regular file" in done.output


def inputs_of(command: click.Command) -> list[str]:
    """The options of a command that name a file to read."""
    return [
        p.opts[0]
        for p in command.params
        if isinstance(p, click.Option) and isinstance(p.type, click.Path) and not p.type.writable
        if p.name not in ("output", "write_baseline")
    ]


@pytest.mark.parametrize("kind", ["zero", "pipe", "socket"])
@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name, command in LEAVES.items() for option in inputs_of(command)]
)
def test_an_option_that_names_a_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, option: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if option in ("--plan", "--optimized", "--against") and kind == "pipe":
        pytest.skip("a plan and a model may be on a pipe, which waits for its writer")
    make_special(tmp_path / "special", kind)
    needed = {"--plan": ["--html", "picture.html"], "--optimized": ["--runtime", "onnxruntime"]}
    done = run([*command_line(name, MODEL), option, "special", *needed.get(option, [])])
    assert done.exit_code in (2, 3), done.output
    assert "is not a regular file" in done.output


def test_the_words_before_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_special(tmp_path / "plan.json", "zero")
    make_special(tmp_path / "scanned", "zero")
    for words, files in SUBCOMMANDS.items():
        assert run([*words.split(), *files]).exit_code in (2, 3), words
    make_special(tmp_path / "x.npy", "zero")
    assert run(["verify", MODEL, "--input", "image=x.npy"]).exit_code in (2, 3)


# -- files of options that nest deeply ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 2000 + "]" * 2000,
        "a = " + "{b=" * 2000 + "1" + "}" * 2000,
        "[tool.shapeinf]\nbind = " + "[" * 2000 + "]" * 2000,
        ".".join("a" * 5000) + " = 1",
        "[" + ".".join("a" * 5000) + "]\nx = 1",
        "[tool.shapeinf.bind." + ".".join("a" * 900) + "]\nx = 1",
    ],
)
def test_deep_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(text)
    done = run(["infer", MODEL, "--config", "pyproject.toml"])
    assert done.exit_code == 2 and "nested" in done.output, done.output
    done = run(["check", MODEL])
    assert done.exit_code in (0, 2), done.output
    assert done.exit_code == 0 or "nested" in done.output
