"""Each guard of the passes is needed: without it, one of the cases breaks."""

from __future__ import annotations

import ast
import importlib
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import attrs
import pytest

import shapeinf.passes
from shapeinf.passes import clean
from shapeinf.passes.editor import Skip
from tests.passes.cases import CASES
from tests.passes.checking import check

PACKAGE = "shapeinf.passes"
FOLDER = Path(shapeinf.passes.__file__).parent


@attrs.frozen
class Guard:
    """A `raise Skip` in a module of the passes."""

    module: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.module}-{self.text}"


def is_guard(node: ast.AST) -> bool:
    call = node.exc if isinstance(node, ast.Raise) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Skip"


def guards() -> list[Guard]:
    result = []
    for path in sorted(FOLDER.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if is_guard(node):
                result.append(Guard(path.stem, node.lineno, ast.unparse(node.exc.args[0])))
    return sorted(result, key=lambda guard: (guard.module, guard.line))


class WithoutGuard(MetaPathFinder, Loader):
    """Imports a module of the passes from a source in which one guard does nothing."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return spec_from_loader(name, self) if name == f"{PACKAGE}.{self.guard.module}" else None

    def exec_module(self, module: ModuleType) -> None:
        path = FOLDER / f"{self.guard.module}.py"
        tree = _Disable(self.guard.line).visit(ast.parse(path.read_text(encoding="utf-8")))
        exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), module.__dict__)


class _Disable(ast.NodeTransformer):
    def __init__(self, line: int) -> None:
        self.line = line

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node) if node.lineno == self.line and is_guard(node) else node


@contextmanager
def passes_without(guard: Guard) -> Iterator[Any]:
    """The `clean` of a second import of the package, in which a guard does nothing."""
    modules = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(f"{PACKAGE}.")}
    finder = WithoutGuard(guard)
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module(f"{PACKAGE}.cleaning").clean
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.startswith(f"{PACKAGE}.")]:
            del sys.modules[name]
        for name, module in modules.items():
            sys.modules[name] = module
            setattr(shapeinf.passes, name.rpartition(".")[2], module)


@cache
def cases_by_guard() -> dict[tuple[str, int], list[Any]]:
    """The cases in which each guard raises, by module and line."""
    result: dict[tuple[str, int], list[Any]] = defaultdict(list)
    initialize = Skip.__init__
    with pytest.MonkeyPatch.context() as patch:
        for case in CASES:

            def record(self: Skip, *args: Any, case: Any = case, **keywords: Any) -> None:
                frame: FrameType = sys._getframe(1)
                lines = result[Path(frame.f_code.co_filename).stem, frame.f_lineno]
                if case not in lines:
                    lines.append(case)
                initialize(self, *args, **keywords)

            patch.setattr(Skip, "__init__", record)
            clean(case.model(), case.passes)
    return result


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("guard", guards(), ids=str)
def test_each_guard_is_needed(guard):
    cases = cases_by_guard()[guard.module, guard.line]
    assert cases, "no case reaches this guard"
    with passes_without(guard) as without:
        assert any(breaks(case, without) for case in cases), f"all {[case.name for case in cases]} hold without it"


def breaks(case: Any, without: Any) -> bool:
    """Whether a case fails without a guard, or reports more places that are left alone."""
    try:
        check(case, without)
    except Exception:
        return True
    reports = [run(case.model(), case.passes).report for run in (clean, without)]
    return len(reports[0].skipped) != len(reports[1].skipped)
