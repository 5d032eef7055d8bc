"""The public names are imported when they are first used: type checkers and the running package see the same ones."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import shapeinf
import shapeinf.memory.planning
import shapeinf.passes
import shapeinf.program
import shapeinf.report

PACKAGES = (shapeinf, shapeinf.memory.planning, shapeinf.passes, shapeinf.program, shapeinf.report)
NAMES = [
    pytest.param(package, name, id=f"{package.__name__}.{name}") for package in PACKAGES for name in package.__all__
]


def _imports_of_type_checkers(package: ModuleType) -> dict[str, str | None]:
    tree = ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {name.asname or "": node.module for node in imports for name in node.names}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_type_checkers_see_the_modules_that_are_imported(package: ModuleType) -> None:
    modules = _imports_of_type_checkers(package)
    assert modules == package._MODULES
    assert list(package._MODULES) == package.__all__


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_each_name_is_that_of_its_module(package: ModuleType, name: str) -> None:
    module = importlib.import_module(_imports_of_type_checkers(package)[name] or "")
    assert getattr(package, name) is getattr(module, name)
    assert name in dir(package)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_other_names_are_not_there(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'no_such_name'"):
        _ = package.no_such_name


def test_the_package_alone_imports_only_what_imports_its_names() -> None:
    code = "import shapeinf, sys; print(*[name for name in sys.modules if name.startswith('shapeinf.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["shapeinf.lazy_names"]
