"""Files that commands write: refused before the work, complete before anything is printed, whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper
from onnx.external_data_helper import set_external_data

from shapeinf.cli import main, targets
from shapeinf.formats.onnx import saving
from tests.engine.runtime import parsed

EXAMPLES = Path(__file__).parents[2] / "examples"
MODEL = EXAMPLES / "convnet.onnx"
SIZES = ["--bind", "batch=1,height=64,width=64"]

FIXED = "g (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }"

MODEL_WRITERS = {
    "infer": ["infer", MODEL, "-o", "out.onnx"],
    "infer --json": ["infer", MODEL, "--json", "--save", "out.onnx"],
    "bind": ["bind", MODEL, "batch=4", "-o", "out.onnx"],
    "rebatch": ["rebatch", "fixed.onnx", "-o", "out.onnx"],
    "clean": ["clean", MODEL, "-o", "out.onnx"],
}
REPORT_WRITERS = {
    "memory --html": ["memory", MODEL, *SIZES, "--html", "out.html"],
    "memory --png": ["memory", MODEL, *SIZES, "--png", "out.png"],
    "memory --export json": ["memory", MODEL, "--export", "out.json"],
    "memory --export h": ["memory", MODEL, "--export", "out.h"],
    "memory --export csv": ["memory", MODEL, *SIZES, "--export", "out.csv"],
    "plan": ["plan", MODEL, *SIZES, "-o", "out.json"],
    "plan csv": ["plan", MODEL, *SIZES, "-o", "out.csv"],
    "cost": ["cost", MODEL, "--csv", "out.csv"],
    "report": ["report", MODEL, "-o", "out.html"],
    "check": ["check", MODEL, "-o", "out.txt"],
    "view --export": ["view", MODEL, *SIZES, "--export", "model-explorer", "-o", "out.json"],
    "check --write-baseline": ["check", MODEL, "--write-baseline", "out.json"],
}
WRITERS = {**MODEL_WRITERS, **REPORT_WRITERS}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("fixed.onnx").write_bytes(parsed(FIXED).SerializeToString())
    return tmp_path


def run(*args: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], input=stdin)


def target_of(command: list[object]) -> str:
    return next(str(word) for word in command if str(word).startswith("out."))


def replaced(command: list[object], target: str) -> list[object]:
    return [target if str(word).startswith("out.") else word for word in command]


# -- readers that leave


EACH_IN_A_CHILD = """
import contextlib, io, json, os, sys
from shapeinf.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    for command in json.loads(sys.argv[1]):  # imports what the children need
        main(command, standalone_mode=False)
closed, other = os.pipe()
os.close(closed)
for name, command in json.load(sys.stdin).items():
    child = os.fork()
    if not child:
        os.dup2(other, 1)
        try:
            main(command)
        except SystemExit as end:
            os._exit(end.code or 0)
        except BaseException:
            os._exit(99)
    print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sep="\\t")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_closed_pipe_loses_no_file(folder: Path) -> None:
    """Every command that writes a file, with standard output closed by its reader before the first line."""
    pytest.importorskip("matplotlib")
    commands = {}
    for number, (name, command) in enumerate(WRITERS.items()):
        target = f"{number}{Path(target_of(command)).suffix}"
        commands[name] = [str(word) for word in replaced(command, target)]
        assert run(*replaced(command, f"whole.{target}")).exit_code == 0
    first = [["memory", str(MODEL), *SIZES, "--png", os.devnull], ["clean", str(MODEL), "--dry-run"]]
    done = subprocess.run(
        [sys.executable, "-c", EACH_IN_A_CHILD, json.dumps(first)],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    codes = dict(line.split("\t") for line in done.stdout.splitlines())
    assert set(codes) == set(WRITERS)
    silent = {"report", "check", "check --write-baseline", "view --export"}  # they print nothing to standard output
    assert {name: code for name, code in codes.items() if name not in silent and code != "141"} == {}
    assert "Traceback" not in done.stderr and "error" not in done.stderr
    for number, (name, command) in enumerate(WRITERS.items()):
        target = f"{number}{Path(target_of(command)).suffix}"
        assert (folder / target).read_bytes() == (folder / f"whole.{target}").read_bytes(), name
    assert not list(folder.glob(".*"))


def test_a_closed_pipe_ends_with_141_and_no_message() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    program = "from shapeinf.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "infer", str(MODEL)],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_ctrl_c_while_a_file_is_written_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> Iterator[bytes]:
        yield b"some"
        raise KeyboardInterrupt

    monkeypatch.setattr(saving, "piece_bytes", interrupted)
    result = run("infer", MODEL, "-o", "out.onnx")
    assert result.exit_code == 130
    assert [path.name for path in folder.iterdir()] == ["fixed.onnx"]


# -- before the work


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object) -> None:
        raise AssertionError("the model was read")

    monkeypatch.setattr("shapeinf.formats.registry.FormatRegistry.load", read)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.usefixtures("no_work")
def test_a_folder_and_a_missing_folder(folder: Path, name: str) -> None:
    command = WRITERS[name]
    suffix = Path(target_of(command)).suffix
    result = run(*replaced(command, f"absent/out{suffix}"))
    assert result.exit_code == 3
    assert f"absent/out{suffix}: cannot be written: there is no folder {folder}/absent" in result.stderr
    (folder / f"dir{suffix}").mkdir()
    result = run(*replaced(command, f"dir{suffix}"))
    assert result.exit_code in (2, 3) and "is a" in result.stderr
    assert "the model was read" not in result.output


@pytest.mark.parametrize("name", MODEL_WRITERS)
@pytest.mark.parametrize(
    "content", [b"my thesis\n", b"\x89PNG\r\n\x1a\n", b"<html></html>", b'{"name": "x"}', b"#!/bin/sh\n"]
)
@pytest.mark.usefixtures("no_work")
def test_what_is_no_model_is_not_overwritten(folder: Path, name: str, content: bytes) -> None:
    (folder / "out.onnx").write_bytes(content)
    result = run(*MODEL_WRITERS[name])
    assert result.exit_code == 2
    assert "out.onnx exists and is not a model: write to another file, or add --force" in result.stderr
    assert (folder / "out.onnx").read_bytes() == content


@pytest.mark.parametrize("name", MODEL_WRITERS)
@pytest.mark.parametrize("old", ["model", "empty", "forced", "absent"])
def test_what_may_be_overwritten(folder: Path, name: str, old: str) -> None:
    contents = {"model": MODEL.read_bytes(), "empty": b"", "forced": b"my thesis\n"}
    if old in contents:
        (folder / "out.onnx").write_bytes(contents[old])
    result = run(*MODEL_WRITERS[name], *(["--force"] if old == "forced" else []))
    assert result.exit_code == 0, result.output
    onnx.checker.check_model(str(folder / "out.onnx"))
    assert "saved out.onnx" in result.stderr


@pytest.mark.parametrize("example", ["recurrent.pbtxt", "squeezenet.nnef", "enhancer.pnnx.param", "decoder.onnx"])
def test_a_model_may_be_its_own_output(folder: Path, example: str) -> None:
    (folder / example).write_bytes((EXAMPLES / example).read_bytes())
    for _ in range(2):
        assert run("infer", example, "-o", example).exit_code == 0
    assert run("infer", example).exit_code == 0


@pytest.mark.parametrize("name", REPORT_WRITERS)
@pytest.mark.usefixtures("no_work")
def test_a_report_never_replaces_a_model(folder: Path, name: str) -> None:
    suffix = Path(target_of(REPORT_WRITERS[name])).suffix
    (folder / f"out{suffix}").write_bytes(MODEL.read_bytes())
    result = run(*REPORT_WRITERS[name])
    assert result.exit_code == 2
    assert f"out{suffix} is a model: name another file" in result.stderr
    assert (folder / f"out{suffix}").read_bytes() == MODEL.read_bytes()


@pytest.mark.parametrize("name", REPORT_WRITERS)
def test_a_report_replaces_a_report(folder: Path, name: str) -> None:
    if name == "memory --png":
        pytest.importorskip("matplotlib")
    first = run(*REPORT_WRITERS[name])
    assert first.exit_code == 0, first.output
    before = (folder / target_of(REPORT_WRITERS[name])).read_bytes()
    assert run(*REPORT_WRITERS[name]).exit_code == 0
    assert len((folder / target_of(REPORT_WRITERS[name])).read_bytes()) == len(before) > 0


@pytest.mark.parametrize("second", ["a.json", "./a.json", "sub/../a.json", "link.json"])
@pytest.mark.usefixtures("no_work")
def test_two_outputs_are_two_files(folder: Path, second: str) -> None:
    (folder / "sub").mkdir()
    (folder / "link.json").symlink_to("a.json")
    result = run("memory", MODEL, *SIZES, "--html", "a.json", "--export", second)
    assert result.exit_code == 2
    assert f"both write {second}: name two files" in result.stderr


@pytest.mark.parametrize("command", [["infer", MODEL], ["bind", MODEL, "batch=1"], ["infer", MODEL, "-o", "-"]])
@pytest.mark.parametrize("option", [["--force"], ["--external-data", "copy"]])
def test_options_of_a_file_need_one(command: list[object], option: list[str]) -> None:
    result = run(*command, *option)
    assert result.exit_code == 2
    assert f"{option[0]} has no effect without a file to write: add -o OUT" in result.stderr


def test_devices_and_links_are_written_through(folder: Path) -> None:
    assert run("infer", MODEL, "-o", os.devnull).exit_code == 0
    assert not os.path.isfile(os.devnull)
    (folder / "real").mkdir()
    (folder / "link.onnx").symlink_to("real/m.onnx")
    assert run("infer", MODEL, "-o", "link.onnx").exit_code == 0
    assert (folder / "link.onnx").is_symlink() and (folder / "real" / "m.onnx").is_file()


def test_a_file_is_private_until_it_is_complete(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes are on the disk before it has its name, and its name after that; then it has the mode of a new file."""
    from shapeinf.formats.files import replace_file

    synced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (synced.append(os.fstat(number).st_mode), real(number)))
    old = os.umask(0o027)
    try:
        with replace_file(str(folder / "new")) as file:
            file.write(b"x")
            (part,) = folder.glob(".new.*.part")
            assert stat.S_IMODE(part.stat().st_mode) == 0o600
            assert synced == [] and not (folder / "new").exists()
    finally:
        os.umask(old)
    assert stat.S_IMODE((folder / "new").stat().st_mode) == 0o640
    assert [stat.S_IFMT(mode) for mode in synced] == [stat.S_IFREG, stat.S_IFDIR]
    assert not list(folder.glob(".new*"))


def test_a_replaced_file_keeps_its_permissions(folder: Path) -> None:
    (folder / "out.onnx").write_bytes(MODEL.read_bytes())
    (folder / "out.onnx").chmod(0o640)
    assert run("infer", MODEL, "-o", "out.onnx").exit_code == 0
    assert (folder / "out.onnx").stat().st_mode & 0o777 == 0o640


# -- weights in other files


def apart(folder: Path) -> Path:
    """A model with a weight of 2048 bytes in another file."""
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[8, 64], raw_data=b"")
    set_external_data(weight, "w.bin", 0, 8 * 64 * 4)
    weight.ClearField("raw_data")
    (folder / "w.bin").write_bytes(np.ones((8, 64), np.float32).tobytes())
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "m.onnx")
    return folder / "m.onnx"


@pytest.mark.parametrize("command", [["infer"], ["bind"], ["rebatch"], ["clean"]])
@pytest.mark.parametrize("option", ["--external-data", "--external"])
def test_weights_in_other_files(folder: Path, command: list[str], option: str) -> None:
    model = apart(folder)
    (folder / "there").mkdir()
    result = run(*command, model, "-o", "there/out.onnx")
    assert result.exit_code == 3
    assert "use --external-data copy or embed" in result.stderr
    assert run(*command, model, "-o", "there/out.onnx", option, "copy").exit_code == 0
    assert sorted(os.listdir("there")) == ["out.onnx", "out.onnx.data"]
    assert np.array_equal(onnx.load("there/out.onnx").graph.initializer[0].raw_data, (folder / "w.bin").read_bytes())
    assert run(*command, model, "-o", "there/out.onnx", option, "embed").exit_code == 0
    assert os.listdir("there").count("out.onnx") == 1
    assert onnx.load("there/out.onnx", load_external_data=False).graph.initializer[0].data_location == 0


def test_missing_weights_are_a_note(folder: Path) -> None:
    model = apart(folder)
    (folder / "w.bin").unlink()
    result = run("infer", model, "-o", "out.onnx")
    assert result.exit_code == 0
    assert "note: out.onnx: the file with its weights, 'w.bin', is missing" in result.stderr
    result = run("infer", model, "-o", "again.onnx", "--external-data", "embed")
    assert result.exit_code == 3 and "its data file 'w.bin' is missing" in result.stderr


def test_a_file_of_data_is_not_overwritten_alone(folder: Path) -> None:
    (folder / "out.onnx.data").write_bytes(b"of another model")
    result = run("infer", apart(folder), "-o", "out.onnx", "--external-data", "copy")
    assert result.exit_code == 2 and "out.onnx.data exists, but out.onnx does not" in result.stderr
    assert run("infer", folder / "m.onnx", "-o", "out.onnx", "--external-data", "copy", "--force").exit_code == 0
    assert run("infer", folder / "m.onnx", "-o", "out.onnx", "--external-data", "copy").exit_code == 0


def test_external_data_of_another_format() -> None:
    result = run("infer", EXAMPLES / "squeezenet.nnef", "-o", "out.nnef", "--external-data", "copy")
    assert result.exit_code == 2 and "NNEF models have no external data" in result.stderr


# -- standard input


@pytest.mark.parametrize("example", ["convnet.onnx", "recurrent.pbtxt", "squeezenet.nnef", "enhancer.pnnx.param"])
def test_a_model_on_standard_input(example: str) -> None:
    data = (EXAMPLES / example).read_bytes()
    direct, piped = run("infer", EXAMPLES / example, "--json"), run("infer", "-", "--json", stdin=data)
    assert piped.exit_code == direct.exit_code == 0
    assert json.loads(piped.stdout)["tensors"] == json.loads(direct.stdout)["tensors"]


@pytest.mark.parametrize(
    "command",
    [
        ["explain"],
        ["memory", *SIZES],
        ["bind", "batch=2"],
        ["clean", "--dry-run"],
        ["cost", *SIZES],
        ["plan", *SIZES],
    ],
)
def test_every_command_reads_standard_input(command: list[str]) -> None:
    result = run(command[0], "-", *command[1:], stdin=MODEL.read_bytes())
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "<stdin>: is empty (0 bytes)"),
        (b"hello\n", "<stdin>: is a text file of an unknown format"),
        (MODEL.read_bytes()[:500], "<stdin>: is not a complete ONNX protobuf"),
        (b"version https://git-lfs.github.com/spec/v1\n", "<stdin>: is a pointer of Git LFS"),
        (b"\x80\x04\x95", "<stdin>: is a pickle"),
    ],
)
def test_what_is_no_model_on_standard_input(data: bytes, text: str) -> None:
    for command in (["infer", "-"], ["clean", "-", "--dry-run"], ["rebatch", "-"]):
        result = run(*command, stdin=data)
        assert (result.exit_code, text in result.stderr) == (3, True), result.output


def test_the_limit_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shapeinf.formats.read_files.MAX_STREAM", 1000)
    result = run("infer", "-", stdin=MODEL.read_bytes())
    assert result.exit_code == 3 and "a model of more than 1000 bytes: save it to a file" in result.stderr


def test_standard_input_to_a_file(folder: Path) -> None:
    assert run("infer", "-", "-o", "out.onnx", stdin=MODEL.read_bytes()).exit_code == 0
    assert run("infer", MODEL, "-o", "same.onnx").exit_code == 0
    assert (folder / "out.onnx").read_bytes() == (folder / "same.onnx").read_bytes()


def test_names_of_options_in_messages(folder: Path) -> None:
    (folder / "out.json").write_bytes(MODEL.read_bytes())
    with pytest.raises(Exception, match="--write-baseline"):
        targets.check_outputs(write_baseline="out.json")
