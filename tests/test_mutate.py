"""`tools/mutate.py`: the places it finds, the tests it chooses, and that it changes nothing but its copy."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _load() -> object:
    spec = importlib.util.spec_from_file_location("mutate", ROOT / "tools" / "mutate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutate"] = module
    spec.loader.exec_module(module)
    return module


MUTATE = _load()

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
        assert SOURCE.splitlines()[change.line - 1] != changed.splitlines()[change.line - 1]


def test_a_seed_chooses_the_same_changes() -> None:
    first, second = (MUTATE.choose(ROOT, 7, 5, ["shapeinf/expr"]) for _ in range(2))
    assert first == second
    assert len(first) == 5
    assert all(mutant.path.startswith("shapeinf/expr/") for mutant in first)
    assert MUTATE.choose(ROOT, 8, 5, ["shapeinf/expr"]) != first


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("shapeinf/expr/extremum.py", ["tests/properties/test_nests.py", "tests/expr/test_identities.py"]),
        ("shapeinf/formats/protobuf/wire.py", ["tests/formats/test_onnx_messages.py"]),
        ("opdefs/tf/costs.py", ["tests/cost/test_registry.py"]),
    ],
)
def test_the_tests_of_a_file_are_found(path: str, tests: list[str]) -> None:
    assert set(tests) <= set(MUTATE.find_tests(ROOT, path))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a function, of which a test checks one of the two branches."""
    files = {
        "shapeinf/__init__.py": "",
        "shapeinf/sign.py": "def sign(x):\n    return 1 if x > 0 else 7\n",
        "tests/test_sign.py": "from shapeinf.sign import sign\ndef test_sign():\n    assert sign(3) == 1 != sign(0)\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    return tmp_path


def test_survivors_are_listed_and_the_tree_is_unchanged(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mutants = MUTATE.choose(project, 1, 10)
    assert sorted(mutant.change.old for mutant in mutants) == ["0", "1", "7", ">"]
    survivors = MUTATE.run(project, mutants, 600.0)
    assert [str(mutant) for mutant in survivors] == [
        str(mutant) for mutant in mutants if mutant.change.old in ("0", "7")
    ]
    assert "4 changes, 2 survive; 0 were not tried" in capsys.readouterr().out
    status = subprocess.run(["git", "status", "--short"], cwd=project, capture_output=True, check=True, text=True)
    assert {line[:2] for line in status.stdout.splitlines()} == {"A "}
