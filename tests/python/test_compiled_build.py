"""The compiled build: its modules, no size that is a C double, and the same results as those of pure Python."""

from __future__ import annotations

import ast
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.vectors import ROOT as VECTORS

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES: list[str] = runpy.run_path(str(ROOT / "setup.py"))["compiled_modules"]()
# Calls that make a double out of an integer, and variables of the source (not of mypyc: `r12`) that are doubles.
DOUBLES = re.compile(r"CPyFloat_FromTagged|PyFloat_AsDouble|CPyTagged_TrueDivide|\bdouble cpy_r_(?!r\d)\w+")
C_COMPILER = ROOT / "tools" / "c_compiler.py"
EXACT = ("constraints", "engine", "expr", "graph", "lattice")


def test_the_listed_modules_exist() -> None:
    assert MODULES
    assert not [module for module in MODULES if not (ROOT / module).is_file()]


@pytest.mark.parametrize("module", MODULES)
def test_fields_of_records_name_classes_above(module: str) -> None:
    """A compiled record evaluates the annotations of its fields, also of classes that do not exist yet."""
    classes = [
        node for node in ast.parse((ROOT / module).read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)
    ]
    lines = {node.name: node.lineno for node in classes}
    early = [
        f"{record.name}.{ast.unparse(field.target)}"
        for record in classes
        if record.decorator_list or record.bases
        for field in record.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.annotation, ast.Name)
        if lines.get(field.annotation.id, 0) >= record.lineno
    ]
    assert not early


def test_the_build_says_what_it_is() -> None:
    from shapeinf.compilation import build_name, is_compiled
    from shapeinf.expr import dimension

    assert is_compiled() == (not str(dimension.__file__).endswith(".py"))
    assert build_name() == ("compiled with mypyc" if is_compiled() else "pure Python")


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [
        ("no-such-compiler", "no C compiler: no-such-compiler cannot be run"),
        (f"{sys.executable} -c 'raise SystemExit(1)'", "does not compile an empty program"),
    ],
)
def test_a_missing_compiler_ends_the_build_with_its_name(compiler: str, reason: str) -> None:
    done = subprocess.run(
        [sys.executable, str(C_COMPILER)],
        env={**os.environ, "CC": compiler},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: shapeinf cannot be compiled: ")
    assert reason in done.stderr or "no Python.h" in done.stderr


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source tree with the compiled wheel in `wheel/` and the C code in `build/`."""
    pytest.importorskip("mypyc", reason="mypyc is not installed: no compiled build")
    reason = runpy.run_path(str(C_COMPILER))["missing"]()
    if reason is not None:
        pytest.skip(f"no compiled build: {reason}")
    copy = tmp_path_factory.mktemp("compiled") / "source"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "build", "__pycache__", "*_cache"))
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", "wheel", "."]
    environment = {**os.environ, "SHAPEINF_MYPYC": "1"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    if done.returncode and "Could not find a version" in done.stderr:
        pytest.skip("no package index: the requirements of the build cannot be installed")
    assert done.returncode == 0, done.stderr[-4000:]
    return copy


@pytest.mark.slow
def test_no_size_is_a_double(tree: Path) -> None:
    files = [file for package in EXACT for file in (tree / "build").glob(f"__native_shapeinf___{package}___*.c")]
    assert len(files) == sum(module.split("/")[1] in EXACT for module in MODULES)
    doubles = {file.name: sorted(set(DOUBLES.findall(file.read_text(encoding="utf-8")))) for file in files}
    assert {name: uses for name, uses in doubles.items() if uses} == {}


@pytest.mark.slow
def test_both_builds_infer_the_same(tree: Path) -> None:
    (wheel,) = (tree / "wheel").glob("shapeinf-*.whl")
    assert "none-any" not in wheel.name
    target = tree / "installed"
    shutil.unpack_archive(wheel, target, format="zip")
    models = [str(ROOT / "examples"), str(ROOT / "tests"), str(VECTORS)]
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "check_compiled.py"), *models],
        env={**os.environ, "PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
