"""Tables of texts, streamed: lines are made as rows are consumed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from shapeinf.texts import display_width, escape_unprintable, fit_text

MEASURED = 500
"""The number of rows that are measured at a time, the first of them before the first line is made."""
GAP = "   "


class Column(NamedTuple):
    """A column: its heading, and how narrow it may become where the table is wider than the terminal."""

    heading: str
    least: int | None = None
    """None for one that is never cut."""
    turn: int = 0
    """Columns with a lower turn lose their middle first."""


def table_lines(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], *, width: int | None = None, rule: str = "\u2500"
) -> Iterator[str]:
    r"""The lines of a table: headings, a rule, and the rows, which may hold any characters.

    Columns are as wide as their widest cell of the first `MEASURED` rows; a wider one later widens its column from
    there on. Where the table is wider than `width`, cells lose their middle: the columns that may be narrower lose
    it in their turn.

    >>> rows = [("x", "float32"), ("a\nb", "int64")]
    >>> print(*table_lines([Column("tensor"), Column("type")], rows), sep="|")
     tensor   type| ────────────────| x        float32| a\nb     int64
    """
    cells = ([escape_unprintable(cell) for cell in row] for row in rows)
    natural = [display_width(column.heading) for column in columns]
    first = True
    while chunk := list(islice(cells, MEASURED)):
        natural = [max(size, *map(display_width, cells)) for size, *cells in zip(natural, *chunk, strict=True)]
        sizes = natural if width is None else _fit(natural, columns, width - 1)
        if first:
            yield _line([column.heading for column in columns], sizes)
            yield " " + rule * (sum(sizes) + len(GAP) * (len(sizes) - 1))
            first = False
        for row in chunk:
            yield _line(row, sizes)


def _fit(natural: Sequence[int], columns: Sequence[Column], width: int) -> list[int]:
    """Sizes of columns whose sum with the gaps is the width, if they may be that narrow."""
    sizes = list(natural)
    excess = sum(sizes) + len(GAP) * (len(sizes) - 1) - width
    for k, column in sorted(enumerate(columns), key=lambda item: item[1].turn):
        if excess > 0 and column.least is not None:
            loss = max(0, min(excess, sizes[k] - column.least))
            sizes[k] -= loss
            excess -= loss
    return sizes


def _line(cells: Sequence[str], sizes: Sequence[int]) -> str:
    return f" {GAP.join(map(_fill, cells, sizes))}".rstrip()


def _fill(cell: str, size: int) -> str:
    """The cell, cut or padded to a number of columns."""
    if cell.isascii() and len(cell) <= size:
        return cell.ljust(size)
    cell = fit_text(cell, size)
    return cell + " " * (size - display_width(cell))
