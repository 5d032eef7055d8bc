"""Texts of models in each kind of output: a shell, Markdown, GitHub's commands, CSV."""

from __future__ import annotations

import csv
import io
import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import Diagnostic
from shapeinf.csv_text import csv_text, escape_cell, unescape_cell
from shapeinf.report.pull_request import as_github_commands, as_markdown
from shapeinf.texts import shell_word

HOSTILE = [
    "$(touch pwned)",
    "`touch pwned`",
    "a;b",
    "a'b",
    "a\nb",
    "http://evil.example/x",
    "https://evil.example",
    "www.evil.example",
    "@team",
    "#12",
    "GH-12",
    "owner/repo#1",
    "a_b _c_",
    "~~x~~",
    "$x$",
    "&lt;b&gt;",
    r"a\|b",
    r"a\\|<img src=x>",
    "x|y",
    "%0A::error::x",
    "x\n::error::y",
    "x\r\n::set-output name=a::b",
    "1;=1+1",
    "a; =cmd|'x'!A0",
    'a;"=1"',
    "\t=1",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_suggested_command_is_one_word(text: str) -> None:
    assert len(shlex.split(shell_word(text))) == 1


def test_a_missing_size() -> None:
    """The message suggests a binding of dims of the model, whose names may be commands."""
    from click import UsageError

    from shapeinf.cli.failures import readable_errors
    from shapeinf.errors import MissingSizeError

    with pytest.raises(UsageError) as caught, readable_errors():
        raise MissingSizeError(("`$(touch pwned)`", "n"), "the peak")
    suggested = caught.value.message.partition("--bind ")[2]
    assert shlex.split(suggested) == ["`$(touch pwned)`=N,n=N"] and suggested.startswith("'")


MARKUP = re.compile(r"://|www\.|@\w|#\w|\bGH-\d|[`*\[\]|~$]|<(?!!-- -->)", re.IGNORECASE)
"""What would be more than text in a cell: links, names, issues, and characters of markup."""


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_stays_text(text: str) -> None:
    table = as_markdown(text, [Diagnostic("warning", "C101", f"before {text} after", text, "Op")])
    _, empty, _, rule, row = table.split("\n")
    assert empty == "" and rule == "|---|---|---|---|"
    cells = cells_of(row)
    assert len(cells) == 4, row
    unescaped = re.sub(r"\\[^\w\s]", "!", cells[3])
    assert not MARKUP.search(unescaped), cells[3]


def cells_of(row: str) -> list[str]:
    """The cells of a row as GitHub's parser splits it: a backslash escapes the next punctuation, in code too."""
    return [cell.strip() for cell in re.findall(r"((?:\\[^\w\s]|[^|])*)\|", row.removeprefix("|"))]


@pytest.mark.parametrize("text", HOSTILE)
def test_an_annotation_has_the_lines_that_it_is_made_of(text: str) -> None:
    """One line each for message, reason and help; `%0A` and line ends of a model are text."""
    command = as_github_commands(text, [Diagnostic("error", "C101", text, text, because=text, help=text)])
    assert "\n" not in command and "\r" not in command
    head, message = re.fullmatch(r"::error (.*?)::(.*)", command).groups()  # type: ignore[union-attr]
    assert message.count("%0A") == 2
    assert [part.partition("=")[0] for part in head.split(",")] == ["file", "title"]


FORMULA = re.compile("[\\s\"']*[=+@\uff1d\uff0b\uff20-]")


@given(st.text(alphabet=";=+-@'\" ,\\x3bna\t\r\n\uff1d", max_size=12))
def test_no_cell_is_a_formula_also_behind_a_semicolon(text: str) -> None:
    """Where the decimal separator is a comma, a spreadsheet separates cells by semicolons."""
    (line,) = csv.reader(io.StringIO(csv_text([(text, 1)])))
    assert not line[0].startswith(("=", "+", "-", "@", "\uff1d"))
    for part in line[0].split(";")[1:]:
        assert not FORMULA.match(part), line[0]
    assert unescape_cell(line[0]) == text


def test_numbers_stay_numbers() -> None:
    assert csv_text([("a;b", -1, None)]) == "a;b,-1,\n" and escape_cell("a;-1") == r"'a\x3b-1"
