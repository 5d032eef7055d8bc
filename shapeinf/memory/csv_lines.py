"""Lines of CSV that every reader takes for the same lines."""

from __future__ import annotations


class CsvLines(list[str]):
    r"""The lines that a `csv.writer` with `END` as its line terminator writes; each ends with `\n` here.

    Before Python 3.13 the csv module quotes nothing but what is in the end of its lines, and `\r` in a name must be
    quoted: readers take it for an end too.

    >>> import csv
    >>> lines = CsvLines()
    >>> csv.writer(lines, lineterminator=CsvLines.END).writerow(["a\rb", 1])
    >>> lines
    ['"a\rb",1\n']
    """

    END = "\r\n"

    def write(self, line: str) -> None:
        """Append a line."""
        self.append(line.removesuffix(self.END) + "\n")
