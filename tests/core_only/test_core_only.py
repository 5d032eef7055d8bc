"""An installation without extras: every command does what it does with all packages, or names the extra for it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shapeinf.cli.main import COMMANDS
from tests.core_only.child import OPTIONAL, ROOT, run_all
from tests.core_only.command_lines import EXAMPLES, command_lines, models, other_lines

MISSING = re.compile(r"(error|Error): .* needs [\w-]+, which is not installed: pip install 'shapeinf\[(\w+)\]'\n")
NEED_EXTRAS = {"clean", "memory", "plan", "scan", "verify"}
"""The commands that may need an extra; memory and plan with an option for one."""

UNSTABLE = {"scan", "verify"}
"""The commands whose outputs differ from run to run, as by the time that they took."""

SLICE = {"decoder.onnx": None, "recurrent.pbtxt": {"memory", "check"}, "squeezenet.nnef": {"infer", "contract"}}
"""What runs in each run of the tests: all commands on one model, others on those of other formats."""


def test_all_commands_are_here() -> None:
    lines = [line for model in models() for line in command_lines(model)]
    assert {line[0] for line in (*lines, *other_lines())} == set(COMMANDS)


def test_a_slice_of_the_commands() -> None:
    lines = [
        line
        for name, chosen in SLICE.items()
        for line in command_lines(EXAMPLES / name)
        if line[0] != "scan" and (chosen is None or line[0] in chosen)
    ]
    compare([*lines, *other_lines()])


@pytest.mark.slow
@pytest.mark.parametrize("model", models(), ids=lambda path: path.name)
def test_every_command_on_every_example(model: Path) -> None:
    compare(list(command_lines(model)))


def compare(lines: list[list[str]]) -> None:
    """Run the command lines with all packages, and without the optional ones."""
    with_all, core = run_all(lines, ()), run_all(lines, OPTIONAL)
    assert len(with_all) == len(core) == len(lines)
    extras: dict[str, set[str]] = {}
    for expected, actual in zip(with_all, core, strict=True):
        missing = MISSING.fullmatch(actual["stderr"])
        if missing is not None and actual["code"] == 3:
            extras.setdefault(actual["arguments"][0], set()).add(missing.group(2))
        elif expected["arguments"][0] not in UNSTABLE:
            assert actual == expected
        assert "Traceback" not in actual["stderr"] and "bug of shapeinf" not in actual["stderr"], actual
    assert extras.keys() <= NEED_EXTRAS, extras


# -- in Python ---------------------------------------------------------------------------------------------------------

CASES = {
    "a text form is read": ("shapeinf.infer_shapes(folder + '/m.onnxtxt')", "onnx"),
    "a text form is written": ("shapeinf.infer_shapes(model).save(folder + '/m.json')", "onnx"),
    "clean": ("shapeinf.clean(model)", "clean"),
    "verify": ("shapeinf.verify(model)", "verify"),
    "drop-ins": ("import shapeinf.compat", "onnx"),
    "the memory of a runtime": ("shapeinf.infer_shapes(model).memory(runtime='onnxruntime')", "onnx"),
    "an array of a narrow type": ("from shapeinf.lattice import numpy_dtype; numpy_dtype('float8e5m2')", "onnx"),
}
"""What needs an extra, by its name."""

SCRIPT = """
import sys
from tests.core_only.child import OPTIONAL, Refuse
sys.meta_path.insert(0, Refuse(OPTIONAL))
import shapeinf
model, folder = sys.argv[1:]
open(folder + "/m.onnxtxt", "w").write("<ir_version: 8>")
from shapeinf.errors import MissingPackageError
try:
    {statement}
except MissingPackageError as error:
    print(error.extra)
"""


@pytest.mark.parametrize(("statement", "extra"), CASES.values(), ids=CASES)
def test_one_error_names_the_extra(statement: str, extra: str, tmp_path: Path) -> None:
    done = run_script(SCRIPT.format(statement=statement), EXAMPLES / "decoder.onnx", tmp_path)
    assert (done.stdout.strip(), done.stderr) == (extra, "")


def run_script(script: str, *arguments: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


# -- an environment with the core only ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_fresh_environment_without_extras(tmp_path: Path) -> None:
    """The package as a user installs it runs the commands of the tutorial, and has none of the optional packages."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = str(environment / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT)]
    installed = subprocess.run(install, capture_output=True, text=True, check=False)
    if installed.returncode and "No matching distribution" in installed.stderr + installed.stdout:
        pytest.skip("NOT TESTED: no registry of packages can be reached from here")
    assert installed.returncode == 0, installed.stderr
    names = subprocess.run([python, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True)
    assert not {line.partition("==")[0].replace("-", "_") for line in names.stdout.splitlines()} & set(OPTIONAL)
    model = str(EXAMPLES / "decoder.onnx")
    for line in (["summary"], ["infer", "-o", "typed.onnx"], ["contract"], ["memory", "--bind", "batch=2,seq=5"]):
        command = [python, "-m", "shapeinf", line[0], model, *line[1:]]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0 and "pip install" not in done.stderr, done.stderr
    assert (tmp_path / "typed.onnx").stat().st_size > Path(model).stat().st_size
