"""What a fresh process imports: a small model needs none of the large packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
ONNX = ["decoder.onnx", "convnet.onnx"]
LARGE = {"google.protobuf", "islpy", "ml_dtypes", "networkx", "numpy", "onnx", "rich"}
SLOW = {"email", "hashlib", "html.entities", "importlib.metadata", "importlib.resources", "zipfile"}
"""Modules of Python that take milliseconds, for rare cases each."""

INFER = "from shapeinf import infer_shapes; print(len(infer_shapes(sys.argv[1]).tensors))"
COMMAND = "from shapeinf.cli import main; main(sys.argv[1:], standalone_mode=False)"


def modules_after(code: str, *arguments: str) -> set[str]:
    """The modules that the code imports, in a process of its own; what it prints must not be empty."""
    report = "print(*set(sys.modules) - before, file=sys.stderr)"
    program = f"import sys\nbefore = set(sys.modules)\ntry:\n    {code}\nfinally:\n    {report}"
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
    return set(done.stderr.split())


@pytest.mark.parametrize("name", ONNX)
def test_shapes_of_an_onnx_file_in_python(name: str) -> None:
    modules = modules_after(INFER, str(EXAMPLES / name))
    assert "opdefs.onnx" in modules
    assert not modules & (LARGE | SLOW | {"click"})


def test_shapes_of_an_onnx_file_on_the_command_line() -> None:
    modules = modules_after(COMMAND, "infer", str(EXAMPLES / "decoder.onnx"))
    assert "shapeinf.contract.contract" in modules
    assert not modules & (LARGE | SLOW)


SIZES = ["--bind", "batch=2,seq=5"]
COMMANDS = {
    "infer": ["infer", "-o", "typed.onnx"],
    "summary": ["summary", *SIZES],
    "check": ["check"],
    "explain": ["explain"],
    "contract": ["contract", "--format", "c"],
    "memory": ["memory", *SIZES],
    "memory of ranges": ["memory", "--dim", "batch=1..4", "--dim", "seq=1..16"],
    "cost": ["cost", *SIZES],
    "report": ["report", "-o", "page.html", *SIZES],
    "diff": ["diff", str(EXAMPLES / "convnet.onnx")],
    "bind": ["bind", "batch=1"],
    "profile": ["profile", "--dim", "batch=1..4", "--dim", "seq=1..16"],
    "triton": ["triton", "--max-batch", "8"],
}
"""Commands whose numbers are Python's ints; `plan` places blocks by numpy, `memory --export` writes arrays."""


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_a_command_imports_no_array_package(arguments: list[str], tmp_path: Path) -> None:
    line = [str(tmp_path / word) if word in ("typed.onnx", "page.html") else word for word in arguments]
    modules = modules_after(f"{COMMAND}; print('done')", line[0], str(EXAMPLES / "decoder.onnx"), *line[1:])
    assert "opdefs.onnx" in modules
    assert not modules & (LARGE - {"islpy", "rich"})


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_the_command_line_alone(argument: str) -> None:
    modules = modules_after(COMMAND, argument)
    assert "shapeinf.cli.main" in modules
    assert not modules & (LARGE | SLOW | {"attrs", "shapeinf.errors", "shapeinf.expr"})


def test_the_shapes_of_a_model_import_no_reports_and_explanations() -> None:
    modules = modules_after(INFER, str(EXAMPLES / "decoder.onnx"))
    others = ("checks", "cli", "contract", "cost", "edit", "explain", "html.entities", "memory", "program", "report")
    assert not [name for name in modules if name.startswith(tuple(f"shapeinf.{other}" for other in others))]
