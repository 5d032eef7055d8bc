"""The programs of docs/shape-programs.md print what the page shows; `tests/test_docs.py` runs its Python."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from shapeinf.cli import main
from tests.codegen.running import build, require
from tests.vectors import PROJECT

PAGE = (PROJECT / "docs" / "shape-programs.md").read_text(encoding="utf-8")


def block(language: str) -> tuple[str, str]:
    """The program in a language, and what it prints."""
    ((program, printed),) = re.findall(rf"```{language}\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    return program, printed


def write_modules(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the commands of the page."""
    (folder / "examples").symlink_to(PROJECT / "examples")
    monkeypatch.chdir(folder)
    for command in re.findall(r"^\$ shapeinf (.*)$", PAGE, re.MULTILINE):
        assert CliRunner().invoke(main, shlex.split(command)).exit_code == 0


RUNS = {
    "js": ("node", "main.mjs", None, ["node", "main.mjs"]),
    "c": (
        "gcc",
        "main.c",
        ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.c", "-o", "main"],
        ["./main"],
    ),
    "rust": ("rustc", "main.rs", ["--edition", "2021", "-D", "warnings", "main.rs"], ["./main"]),
}
"""For each language the tool, the name of the program, the arguments of the compiler, and the command that runs it."""


@pytest.mark.parametrize("language", RUNS)
def test_the_program_of_the_page(language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, file, arguments, command = RUNS[language]
    tool = require(name)
    write_modules(tmp_path, monkeypatch)
    program, printed = block(language)
    (tmp_path / file).write_text(program, encoding="utf-8")
    if arguments is None:
        command = [tool, *command[1:]]
    else:
        build([tool, *arguments], tmp_path)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == printed
