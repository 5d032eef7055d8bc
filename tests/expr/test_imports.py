"""The files of `shapeinf.expr` import only those before them in the list of its docstring."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import shapeinf.expr

FOLDER = Path(shapeinf.expr.__file__).parent
ORDER = re.findall(r"`(\w+)`", "".join(re.findall(r"^- ([^:]+):", shapeinf.expr.__doc__ or "", re.MULTILINE)))


def imported(name: str) -> set[str]:
    """The files of the package that a file imports, except for type checkers."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    typing = {node for branch in tree.body if isinstance(branch, ast.If) for node in ast.walk(branch)}
    modules = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n not in typing]
    return {module.removeprefix("shapeinf.expr.") for module in modules if module.startswith("shapeinf.expr.")}


def test_the_docstring_lists_all_files() -> None:
    assert sorted(ORDER) == sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def test_files_import_only_those_before_them() -> None:
    later = {(a, b) for i, a in enumerate(ORDER) for b in imported(a) if b not in ORDER[:i]}
    assert not later
