"""Run the first steps of a new user in a fresh environment, and fail where one of them does.

    python tools/first_hour.py [--wheel FILE] [--keep FOLDER] [--only STEP,...]

The wheel is built from this tree and installed into a new virtual environment. Then each step runs in a new folder that
holds copies of the examples. A step fails on an exit code that it does not expect, a traceback, a control character in
what it prints, or a file that it should have written and did not.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal must not get from a file; tabs and line ends are text."""

HOOKS = """\
repos:
  - repo: {root}
    rev: {revision}
    hooks:
      - id: shapeinf-check
"""
NOTEBOOK = """\
import nbclient, nbformat, sys
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
print(sum(cell.cell_type == "code" for cell in notebook.cells), "cells executed")
"""
QUERIES = """\
from shapeinf import infer_shapes
result = infer_shapes("examples/convnet.onnx")
print(result.explain("joined")[0], result.contract.solve("height"), result.cost().macs)
print(result.at(batch=1, height=64, width=64).tensors["mask"])
try:
    result.tensors["maskk"]
except KeyError as error:
    print(error)
"""


class StepError(Exception):
    """A step that fails."""


@dataclass(frozen=True)
class Step:
    """A command with the exit code that it must end with, and the files that it must write."""

    name: str
    command: tuple[str, ...]
    code: int = 0
    writes: tuple[str, ...] = ()
    prints: str = ""
    """A text that the output must contain."""
    environment: dict[str, str] = field(default_factory=dict)


def steps() -> Iterator[Step]:
    """The steps on the examples, as in the README."""
    shapeinf = ("shapeinf",)
    yield Step("version", (*shapeinf, "--version"), prints="shapeinf")
    yield Step("help", (*shapeinf, "--help"), prints="infer")
    yield Step("module", ("python", "-m", "shapeinf", "--version"))
    yield Step("summary", (*shapeinf, "summary", "examples/decoder.onnx", "--bind", "batch=1,seq=128"), prints="batch")
    yield Step("infer", (*shapeinf, "infer", "examples/convnet.onnx", "--dim", "batch=1..8"), prints="[batch, 3,")
    yield Step(
        "infer some", (*shapeinf, "infer", "examples/decoder.onnx", "--outputs", "--limit", "5"), prints="logits"
    )
    yield Step(
        "save", (*shapeinf, "infer", "examples/convnet.onnx", "-o", "annotated.onnx"), writes=("annotated.onnx",)
    )
    yield Step("check", (*shapeinf, "check", "examples/convnet.onnx", "examples/decoder.onnx"))
    yield Step(
        "sarif",
        (*shapeinf, "check", "examples/convnet.onnx", "examples/squeezenet.nnef", "--sarif"),
        prints='"version": "2.1.0"',
    )
    yield Step("explain", (*shapeinf, "explain", "examples/convnet.onnx", "joined.2"), prints="height")
    yield Step("memory", (*shapeinf, "memory", "examples/convnet.onnx", "--bind", "batch=1,height=256,width=256"))
    yield Step("cost", (*shapeinf, "cost", "examples/convnet.onnx"), prints="Conv")
    yield Step("report", (*shapeinf, "report", "examples/convnet.onnx", "-o", "report.html"), writes=("report.html",))
    yield Step("ops", (*shapeinf, "ops", "show", "Conv"), prints="Conv")
    yield Step(
        "bind", (*shapeinf, "bind", "examples/convnet.onnx", "batch=1", "-o", "bound.onnx"), writes=("bound.onnx",)
    )
    yield Step("misspelled dim", (*shapeinf, "infer", "examples/decoder.onnx", "--dim", "batsh=1"), 2, prints="'batch'")
    yield Step("no such file", (*shapeinf, "infer", "examples/decodr.onnx"), 3)
    yield Step("not a model", (*shapeinf, "infer", "README.md"), 3)
    yield Step(
        "illegal size", (*shapeinf, "infer", "examples/convnet.onnx", "--bind", "height=7"), 1, prints="height=7"
    )
    yield from questions()
    for format_example in ("recurrent.pbtxt", "squeezenet.nnef", "enhancer.pnnx.param"):
        yield Step(f"infer {format_example}", (*shapeinf, "infer", f"examples/{format_example}"))


def questions() -> Iterator[Step]:
    """What new users asked for, and did not get at first."""
    shapeinf, convnet = ("shapeinf",), "examples/convnet.onnx"
    narrow = {"COLUMNS": "80"}
    yield Step("80 columns", (*shapeinf, "infer", convnet), prints="2*(width//2)]", environment=narrow)
    yield Step("numbers", (*shapeinf, "summary", convnet), prints="batch=1, height=640, width=640: 265 M")
    yield Step("summary of a folder", (*shapeinf, "summary", "--table", "examples"), prints="examples/decoder.onnx")
    yield Step("sizes", (*shapeinf, "check", convnet, "--at", "height=8,width=8"))
    yield Step(
        "nearest sizes", (*shapeinf, "check", convnet, "--at", "height=7"), 1, prints="legal: height=6 or height=8"
    )
    yield Step("a node", (*shapeinf, "explain", convnet, "joined/Concat"), prints="attribute axis = 1")
    yield Step("totals", (*shapeinf, "diff", convnet, "bound.onnx"), 1, prints="changed input image")
    yield Step("folded help", (*shapeinf, "memory", "--help"), prints="--help-all")
    yield Step(
        "another order of axes",
        (*shapeinf, "infer", convnet, "--input-shapes", "image:1x64x64x3"),
        1,
        prints="the model declares [batch, 3, height, width]",
    )
    yield Step("in Python", ("python", "-c", QUERIES), prints="height in 2, 4, ..., 1024")


class FirstHour:
    """A fresh environment and a folder to work in."""

    def __init__(self, folder: Path) -> None:
        """Nothing is installed."""
        self.folder = folder
        self.environment = folder / "environment"
        self.work = folder / "work"

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return self.environment / "bin" / "python"

    def run(self, step: Step) -> str:
        """Run a step and return what it prints. Raises StepError."""
        binaries = self.environment / "bin"
        variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        variables |= {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", **step.environment}
        done = subprocess.run(step.command, cwd=self.work, env=variables, capture_output=True, text=True, check=False)
        printed = done.stdout + done.stderr
        problem = fault(step, done.returncode, printed, self.work)
        if problem:
            raise StepError(f"{problem}\n$ {' '.join(step.command)}\n{printed}")
        return printed

    def install(self, wheel: Path) -> None:
        """Create the environment, and copy the examples."""
        venv.create(self.environment, with_pip=True)
        self.work.mkdir()
        shutil.copytree(ROOT / "examples", self.work / "examples")
        shutil.copy(ROOT / "README.md", self.work)
        self.pip("install", str(wheel))

    def pip(self, *arguments: str) -> None:
        """Run pip in the environment."""
        command = (str(self.python), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)
        self.run(Step("pip", command))

    def use_plugin(self) -> None:
        """Install the template of a package with operators, and run its own tests."""
        self.pip("install", f"{self.work / 'examples' / 'plugin'}[test]")
        self.run(Step("tests of the plugin", ("python", "-m", "pytest", "-q", "examples/plugin"), prints="passed"))

    def use_pre_commit(self) -> None:
        """Commit a model to a new repository that has our hook."""
        repository = self.work / "repository"
        repository.mkdir()
        shutil.copy(ROOT / "examples" / "convnet.onnx", repository)
        revision = subprocess.run(
            ("git", "rev-parse", "HEAD"), cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
        (repository / ".pre-commit-config.yaml").write_text(HOOKS.format(root=ROOT, revision=revision))
        self.pip("install", "pre-commit")
        git = ("git", "-C", "repository", "-c", "user.name=a", "-c", "user.email=a@example.com")
        store = {"PRE_COMMIT_HOME": str(self.folder / "hooks")}
        self.run(Step("git init", (*git, "init", "-q")))
        self.run(Step("git add", (*git, "add", ".")))
        self.run(Step("pre-commit install", ("sh", "-c", "cd repository && pre-commit install"), environment=store))
        self.run(Step("git commit", (*git, "commit", "-qm", "A model"), environment=store))

    def use_notebook(self) -> None:
        """Execute the notebook of the docs."""
        self.pip("install", "nbclient", "ipykernel")
        notebook = str(ROOT / "docs" / "notebooks" / "first-look.ipynb")
        self.run(Step("notebook", ("python", "-c", NOTEBOOK, notebook), prints="cells executed"))


def fault(step: Step, code: int, printed: str, folder: Path) -> str:
    """Why a run of a step fails; empty where it does not."""
    if "Traceback (most recent call last)" in printed:
        return "a traceback"
    if code != step.code:
        return f"exit code {code} instead of {step.code}"
    character = CONTROL.search(printed)
    if character:
        return f"the control character {character.group()!r}"
    if step.prints not in printed:
        return f"does not print {step.prints!r}"
    missing = [name for name in step.writes if not (folder / name).is_file()]
    return f"does not write {missing[0]}" if missing else ""


def build_wheel(folder: Path) -> Path:
    """The wheel of this tree. Raises StepError for a warning of the build."""
    command = (sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    complaints = [
        line
        for line in (done.stdout + done.stderr).splitlines()
        if re.search(r"\bwarning\b|deprecat", line, re.IGNORECASE) and "byte-compiling is disabled" not in line
    ]
    if done.returncode or complaints:
        raise StepError("\n".join(complaints) or done.stdout + done.stderr)
    subprocess.run((sys.executable, "-m", "twine", "check", "--strict", *folder.iterdir()), check=True)
    return next(folder.glob("*.whl"))


def all_steps(hour: FirstHour) -> dict[str, Callable[[], object]]:
    """Every step by its name, in order."""
    named: dict[str, Callable[[], object]] = {step.name: (lambda step=step: hour.run(step)) for step in steps()}
    return {**named, "plugin": hour.use_plugin, "pre-commit": hour.use_pre_commit, "notebook": hour.use_notebook}


def run_all(folder: Path, wheel: Path | None, wanted: Sequence[str]) -> int:
    """Run the steps and print a line for each; the number of those that failed."""
    hour = FirstHour(folder)
    hour.install(wheel or build_wheel(folder / "dist"))
    failures = 0
    for name, run in all_steps(hour).items():
        if wanted and name not in wanted:
            continue
        try:
            run()
        except StepError as error:
            failures += 1
            print(f"FAILED  {name}: {error}", flush=True)
        else:
            print(f"ok      {name}", flush=True)
    return failures


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--wheel", type=Path, help="the wheel to install; by default one is built from this tree")
    parser.add_argument("--keep", type=Path, help="a new folder for everything; by default a temporary one")
    parser.add_argument("--only", default="", help="names of steps, with commas between them")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        try:
            failures = run_all(folder, arguments.wheel, [name for name in arguments.only.split(",") if name])
        except StepError as error:
            sys.exit(f"FAILED  {error}")
    sys.exit(f"{failures} steps failed" if failures else 0)


if __name__ == "__main__":
    main()
