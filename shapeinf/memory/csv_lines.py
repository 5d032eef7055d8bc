"""CSV that every reader takes for the same lines, and no spreadsheet for anything but text and numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence

from shapeinf.texts import escape_unprintable

_FIRST = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")
"""What text may not begin with: spreadsheets take it for a formula (the wide forms too), and `'` marks text."""
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[nrt\\])")


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    r"""The rows as CSV; None is an empty cell, numbers are numbers, and text goes through `cell`.

    >>> csv_text([("name", "bytes"), ("a,b", 1), ("=1+1", -2)])
    'name,bytes\n"a,b",1\n\'=1+1,-2\n'
    """
    lines = _Lines()
    csv.writer(lines, lineterminator="\n").writerows(
        [cell(value) if isinstance(value, str) else value for value in row] for row in rows
    )
    return "".join(lines)


def cell(text: str) -> str:
    r"""Text for a cell: with a `'` before it where a spreadsheet would take it for a formula.

    Control characters are written as their escapes; such a text has a `'` before it too, so that `text_of` knows.

    >>> cell("x"), cell("@SUM(1)"), cell("a\rb")
    ('x', "'@SUM(1)", "'a\\rb")
    """
    if text.isprintable() and not text.startswith(_FIRST):
        return text
    return "'" + escape_unprintable(text.replace("\\", "\\\\"))


def text_of(found: str) -> str:
    r"""The text of a cell, which `cell` or another program wrote.

    >>> text_of("'@SUM(1)"), text_of("'a\\rb"), text_of("'quoted'")
    ('@SUM(1)', 'a\rb', "'quoted'")
    """
    rest = found[1:]
    if not found.startswith("'") or not (rest.startswith(_FIRST) or _ESCAPE.search(rest)):
        return found
    return _ESCAPE.sub(lambda match: match[0].encode().decode("unicode_escape"), rest)


class _Lines(list[str]):
    """Where a `csv.writer` writes."""

    write = list.append
