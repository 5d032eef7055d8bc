"""`tools/mutate.py`: the places it finds, the tests it chooses, and that it changes nothing but its copy."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


TOOLS = ROOT / "tools"


def _load(name: str) -> ModuleType:
    """A module of the tools."""
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


CALLS = _load("tests_by_function")  # the other module imports it
MUTATE = _load("mutate")

SOURCE = textwrap.dedent('''
    """Text with 1 and a < b."""
    from typing import TYPE_CHECKING
    if TYPE_CHECKING:
        LIMIT = 2
    def larger(a: int, b: "int" = 0) -> int:
        """Not 3."""
        pairs = zip((a,), (b,), strict=True)
        print(a, "é")
        assert a < 4
        return a if a > b and not b else -b
''').encode()


def test_places_are_in_code_only() -> None:
    changes = MUTATE.find_changes(SOURCE)
    assert [(c.old, c.new) for c in changes] == [
        ("0", "1"),
        ('print(a, "é")', "pass"),
        (">", ">="),
        ("and", "or"),
        ("not ", ""),
        ("-", ""),
    ]
    for change in changes:
        changed = change.apply(SOURCE)
        assert changed != SOURCE
        compile(changed, "changed", "exec")
        assert SOURCE.splitlines()[change.line - 1][change.column - 1 :].startswith(change.old.encode())
        assert SOURCE.splitlines()[change.line - 1] != changed.splitlines()[change.line - 1]


def test_a_seed_chooses_the_same_changes() -> None:
    first, second = (MUTATE.choose(ROOT, 7, 5, ["shapeinf/expr"]) for _ in range(2))
    assert first == second
    assert len(first) == 5
    assert all(mutant.path.startswith("shapeinf/expr/") for mutant in first)
    assert MUTATE.choose(ROOT, 8, 5, ["shapeinf/expr"]) != first


NESTED = b"""
A = 1
@f
def outer():
    return [g(a) for a in A]
def other():
    return 2
"""


@pytest.mark.parametrize(
    ("line", "tests"),
    [
        pytest.param(5, ["quick", "slow"], id="in a function"),
        pytest.param(7, ["quick", "module", "slow", "second"], id="in one that no test calls"),
        pytest.param(2, ["quick", "module", "slow", "second"], id="outside of functions"),
    ],
)
def test_the_tests_of_a_line_call_its_function(line: int, tests: list[str]) -> None:
    calls = {
        "m.py:3": {"a": [(0.1, "quick")], "b": [(0.5, "slow")]},
        "m.py:1": {"a": [(0.4, "second")], "c": [(0.2, "module")]},
        "n.py:3": {"a": [(0.0, "of another file")]},
    }
    assert CALLS.find_callers(calls, "m.py", NESTED, line, 9) == tests


SIGN = "def sign(x):\n    return 1 if x > 0 else 7\n"
ONE_BRANCH = "from shapeinf.module import sign\ndef test_sign():\n    assert sign(3) == 1 != sign(0)\n"

HALF = "def half(x):\n    return x // 2\n"
FAST_ZEROS = """
import time
import pytest
from shapeinf.module import half
@pytest.mark.parametrize("x", [0, 0, 0, 0, 0, 5])
def test_half(x):
    time.sleep(x / 100)
    assert half(x) == 2 * (x > 0)
"""


def create_project(folder: Path, source: str, tests: str) -> None:
    """A repository with a module and its tests; pytest loads the plugin where shapeinf is installed."""
    empty = dict.fromkeys(("shapeinf/__init__.py", "shapeinf/pytest_plugin.py"), "")
    files = {**empty, "shapeinf/module.py": source, "tests/test_module.py": tests}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "."], cwd=folder, check=True)


@pytest.mark.parametrize(
    ("source", "tests", "survivors"),
    [
        pytest.param(SIGN, ONE_BRANCH, {"0": True, "1": False, "7": True, ">": False}, id="a test of one branch"),
        pytest.param(HALF, FAST_ZEROS, {"//": False, "2": False}, id="the slowest of many cases detects it"),
    ],
)
def test_survivors_are_listed_and_the_tree_is_unchanged(
    source: str, tests: str, survivors: dict[str, bool], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create_project(tmp_path, source, tests)
    mutants = MUTATE.choose(tmp_path, 1, 10)
    assert {mutant.change.old for mutant in mutants} == survivors.keys()
    expected = [mutant for mutant in mutants if survivors[mutant.change.old]]
    assert MUTATE.run(tmp_path, mutants, 600.0) == expected
    assert f"{len(mutants)} changes, {len(expected)} survive; 0 were not tried" in capsys.readouterr().out
    status = subprocess.run(["git", "status", "--short"], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert {line[:2] for line in status.stdout.splitlines()} == {"A "}
