"""Tables of texts, streamed: lines are made as rows are consumed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

from shapeinf.texts import break_text, display_width, escape_unprintable, fit_text

MEASURED = 500
"""The number of rows that are measured at a time, the first of them before the first line is made."""
GAP = "   "


class Column(NamedTuple):
    """A column: its heading, and what becomes of it where the table is wider than the terminal."""

    heading: str
    least: int | None = None
    """How narrow it may become; None for one that keeps its width."""
    turn: int = 0
    """Columns with a lower turn become narrower first."""
    optional: bool = False
    """It is omitted where the table would be too wide, and where its first cells are empty."""
    wraps: bool = False
    """A cell continues on further lines; that of another column loses its middle."""


def table_lines(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], *, width: int | None = None, rule: str = "\u2500"
) -> Iterator[str]:
    r"""The lines of a table: headings, a rule, and the rows, which may hold any characters.

    Columns are as wide as their widest cell of the first `MEASURED` rows; a wider one later widens its column from
    there on. Where the table is wider than `width`, optional columns are omitted, then the columns that may be
    narrower become so in their turn.

    >>> rows = [("x", "float32"), ("a\nb", "int64")]
    >>> print(*table_lines([Column("tensor"), Column("type")], rows), sep="|")
     tensor   type| ────────────────| x        float32| a\nb     int64
    >>> print(*table_lines([Column("shape", 8, wraps=True)], [["[batch, 3, height]"]], width=14), sep="|")
     shape| ─────────────| [batch, 3,|  height]
    """
    cells = ([escape_unprintable(cell) for cell in row] for row in rows)
    natural = [display_width(column.heading) for column in columns]
    listed: list[int] | None = None
    while chunk := list(islice(cells, MEASURED)):
        natural = [max(size, *map(display_width, cells)) for size, *cells in zip(natural, *chunk, strict=True)]
        first = listed is None
        if listed is None:
            listed = _listed_columns(natural, columns, chunk, width)
        chosen = [columns[k] for k in listed]
        sizes = [natural[k] for k in listed]
        if width is not None:
            sizes = _fit(sizes, chosen, width - 1)
        if first:
            yield _line([column.heading for column in chosen], sizes)
            yield " " + rule * _total(sizes)
        for row in chunk:
            yield from _lines([row[k] for k in listed], sizes, chosen)


def _total(sizes: Sequence[int]) -> int:
    return sum(sizes) + len(GAP) * (len(sizes) - 1)


def _listed_columns(
    natural: Sequence[int], columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None
) -> list[int]:
    """The numbers of the columns that are not omitted: all without a width."""
    listed = list(range(len(columns)))
    if width is None:
        return listed
    listed = [k for k in listed if not columns[k].optional or any(row[k] for row in rows)]
    if _total([natural[k] for k in listed]) <= width - 1:
        return listed
    return [k for k in listed if not columns[k].optional]


def _fit(natural: Sequence[int], columns: Sequence[Column], width: int) -> list[int]:
    """Sizes of columns whose sum with the gaps is the width, if they may be that narrow."""
    sizes = list(natural)
    excess = _total(sizes) - width
    for k, column in sorted(enumerate(columns), key=lambda item: item[1].turn):
        if excess > 0 and column.least is not None:
            loss = max(0, min(excess, sizes[k] - column.least))
            sizes[k] -= loss
            excess -= loss
    return sizes


def _lines(cells: Sequence[str], sizes: Sequence[int], columns: Sequence[Column]) -> Iterator[str]:
    """The lines of a row: more than one where a cell continues."""
    if all(len(cell) <= size for cell, size in zip(cells, sizes, strict=True)):
        yield _line(cells, sizes)
        return
    parts = [
        break_text(cell, size) if column.wraps else [cell]
        for cell, size, column in zip(cells, sizes, columns, strict=True)
    ]
    for line in zip_longest(*parts, fillvalue=""):
        yield _line(line, sizes)


def _line(cells: Sequence[str], sizes: Sequence[int]) -> str:
    return f" {GAP.join(map(_fill, cells, sizes))}".rstrip()


def _fill(cell: str, size: int) -> str:
    """The cell, cut or padded to a number of columns."""
    if cell.isascii() and len(cell) <= size:
        return cell.ljust(size)
    cell = fit_text(cell, size)
    return cell + " " * (size - display_width(cell))
