"""The public names are imported when they are first used: type checkers and the running package see the same ones."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import shapeinf


def _imports_of_type_checkers() -> dict[str, str | None]:
    tree = ast.parse(Path(shapeinf.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {name.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for name in node.names}


def test_type_checkers_see_the_modules_that_are_imported() -> None:
    modules = _imports_of_type_checkers()
    assert list(modules) and sorted(modules) == sorted(shapeinf.__all__)
    assert modules == shapeinf._MODULES


@pytest.mark.parametrize("name", shapeinf.__all__)
def test_each_name_is_that_of_its_module(name: str) -> None:
    module = importlib.import_module(_imports_of_type_checkers()[name] or "")
    assert getattr(shapeinf, name) is getattr(module, name)
    assert name in dir(shapeinf)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'shapeinf' has no attribute 'no_such_name'"):
        _ = shapeinf.no_such_name  # type: ignore[attr-defined]


def test_the_package_alone_imports_no_other_module_of_it() -> None:
    code = "import shapeinf, sys; print([name for name in sys.modules if name.startswith('shapeinf.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
