"""Everything in the docs is true: Python blocks run, and `shapeinf` commands in console blocks print what is shown."""

from __future__ import annotations

import doctest
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from shapeinf.cli import main
from shapeinf.runtime.allocation_counter import counter_obstacle

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PACKAGES = {"docs/scan.md": "pyarrow", "docs/runtime-memory.md": "onnxruntime"}
"""The package that the commands of a page need."""
MEASURED = "docs/runtime-memory.md"
"""The page with measured bytes."""
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run_console(example: Example) -> str | None:
    """Run each `$ shapeinf ...` line and compare what it prints; other commands are left to the reader."""
    for session in ("\n" + str(example.parsed)).split("\n$ ")[1:]:
        command, _, expected = session.partition("\n")
        words = shlex.split(command, comments=True)
        if words[0] == "shapeinf":
            printed = CliRunner().invoke(main, words[1:], prog_name="shapeinf").output
            if not doctest.OutputChecker().check_output(expected.strip(), printed.strip(), OPTIONS):
                return f"$ {command}\nprinted\n{printed}\nnot\n{expected}"
    return None


DOCUMENTS = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=OPTIONS),
        CodeBlockParser(language="console", evaluator=run_console),
    ]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if package := PACKAGES.get(page.relative_to(ROOT).as_posix()):
        pytest.importorskip(package, reason=f"the commands of the page need {package}")
    if page == ROOT / MEASURED and (obstacle := counter_obstacle()):
        pytest.skip(obstacle)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # for modules that a page writes
    for example in DOCUMENTS.parse(page):
        example.evaluate()
