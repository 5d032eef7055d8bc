"""CSV whose cells every reader parses alike, and no spreadsheet evaluates as formulas."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence

from shapeinf.texts import escape_unprintable

_FIRST = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")
"""Prefixes that spreadsheets take for a formula (the wide forms too), and `'`, which marks text."""
_AFTER_SEMICOLON = re.compile(r";(?=[\s\"';]*[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""A semicolon before a formula: it separates cells where the decimal separator is a comma."""
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[nrt\\])")


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    r"""The rows as CSV; None is an empty cell, numbers are numbers, and text is escaped by `escape_cell`.

    >>> csv_text([("name", "bytes"), ("a,b", 1), ("=1+1", -2)])
    'name,bytes\n"a,b",1\n\'=1+1,-2\n'
    """
    lines = _Lines()
    csv.writer(lines, lineterminator="\n").writerows(
        [escape_cell(value) if isinstance(value, str) else value for value in row] for row in rows
    )
    return "".join(lines)


def escape_cell(text: str) -> str:
    r"""Text for a cell, with a `'` before text that a spreadsheet would take for a formula.

    Control characters become escapes, also after a `'`, so that `unescape_cell` restores them; so does a `;` before a
    formula.

    >>> escape_cell("x"), escape_cell("@SUM(1)"), escape_cell("a\rb"), escape_cell("a;=1")
    ('x', "'@SUM(1)", "'a\\rb", "'a\\x3b=1")
    """
    if text.isprintable() and not text.startswith(_FIRST) and not _AFTER_SEMICOLON.search(text):
        return text
    return "'" + _AFTER_SEMICOLON.sub(r"\\x3b", escape_unprintable(text.replace("\\", "\\\\")))


def unescape_cell(cell: str) -> str:
    r"""The text of a cell that `escape_cell` or another program wrote.

    >>> unescape_cell("'@SUM(1)"), unescape_cell("'a\\rb"), unescape_cell("'quoted'")
    ('@SUM(1)', 'a\rb', "'quoted'")
    """
    rest = cell[1:]
    if not cell.startswith("'") or not (rest.startswith(_FIRST) or _ESCAPE.search(rest)):
        return cell
    return _ESCAPE.sub(lambda match: match[0].encode().decode("unicode_escape"), rest)


class _Lines(list[str]):
    """A target for `csv.writer`."""

    write = list.append
