"""The API reference is complete: every public name is on a page, and has a docstring."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import shapeinf
from shapeinf.compilation import is_compiled

ROOT = Path(__file__).resolve().parent.parent
MODULE = re.compile(r"^\.\. automodule:: (\S+)$", re.MULTILINE)
DESCRIBED = {name for page in (ROOT / "docs" / "api").glob("*.md") for name in MODULE.findall(page.read_text("utf-8"))}
INTERNAL = {
    "shapeinf.cli": "the command line is described in docs/cli.md",
    "shapeinf.constraints": "the store of constraints, behind the queries of a result",
}
"""Packages that export names without a page of the API reference, with the reason."""


def exporting_packages() -> set[str]:
    names = [m.name for m in pkgutil.iter_modules(shapeinf.__path__, "shapeinf.") if m.ispkg]
    return {name for name in names if getattr(importlib.import_module(name), "__all__", ())}


def test_every_package_that_exports_names_has_a_page() -> None:
    assert exporting_packages() - DESCRIBED == set(INTERNAL)


@pytest.mark.skipif(is_compiled(), reason="native classes have no docstrings")
@pytest.mark.parametrize("module", sorted(DESCRIBED))
def test_every_public_class_and_function_has_a_docstring(module: str) -> None:
    exporter = importlib.import_module(module)
    own = [name for name, member in vars(exporter).items() if getattr(member, "__module__", "") == module]
    members = {name: getattr(exporter, name) for name in getattr(exporter, "__all__", own) if not name.startswith("_")}
    described = {name for name, member in members.items() if inspect.isclass(member) or inspect.isfunction(member)}
    assert described
    assert [name for name in described if not inspect.getdoc(members[name])] == []
