"""The text of an NNEF document, its positions, and the error that lists its diagnostics."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import ModelError
from shapeinf.sharing import cached_property
from shapeinf.texts import escape_lines, escape_unprintable

MAX_DIAGNOSTICS = 20
"""Errors after which the check of a document ends."""

_EXCERPT_WIDTH = 160


class SourceText:
    """The text of a document (or another file of the model), to turn offsets into lines and columns."""

    def __init__(self, text: str, name: str = "graph.nnef") -> None:
        """`name` is its path in messages."""
        self.text = text
        self.name = name

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(i + 1 for i, c in enumerate(self.text) if c == "\n")]

    def position(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, from 1."""
        line = bisect_right(self._starts, max(at, 0))
        return line, max(at, 0) - self._starts[line - 1] + 1

    def location(self, at: int) -> str:
        """The location of an offset as text, such as `graph.nnef:3:5`."""
        line, column = self.position(at)
        return f"{self.name}:{line}:{column}"

    def line(self, number: int) -> str:
        """The text of a line, counted from 1."""
        start = self._starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None].rstrip("\r")

    def error(self, code: str, message: str, at: int, calls: Iterable[int] = ()) -> Diagnostic:
        """An error at an offset; `calls` are the offsets of the invocations around it, innermost first."""
        locations = tuple(map(self.location, calls))
        return Diagnostic("error", code, message, location=self.location(at), calls=locations)

    def render(self, diagnostic: Diagnostic) -> str:
        """An error of this text: location, message, code, the line with a mark under the column, and the calls."""
        line, column = position(diagnostic)
        start = max(0, column - 1 - _EXCERPT_WIDTH // 2)
        excerpt = self.line(line)[start : start + _EXCERPT_WIDTH].replace("\t", " ")
        before = excerpt[: column - 1 - start]
        lines = [f"{diagnostic.location}: {diagnostic.message} [{diagnostic.code}]", f"    {excerpt}"]
        lines.append(" " * (4 + len(escape_unprintable(before))) + "^")
        lines += [f"  called at {call}" for call in diagnostic.calls]
        return escape_lines(lines)


def position(diagnostic: Diagnostic) -> tuple[int, int]:
    """The line and the column of the location of an error in a text."""
    _, line, column = diagnostic.location.rsplit(":", 2)
    return int(line), int(column)


class NnefError(ModelError):
    """A document that violates rules of the NNEF specification.

    `diagnostics` has at least one error, in the order of the text; `line` and `column` are those of the first.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], source: SourceText) -> None:
        """The message lists all errors, each with its line and column."""
        self.diagnostics = tuple(sorted(diagnostics, key=position))
        self.source = source
        self.line, self.column = position(self.diagnostics[0])
        super().__init__("\n".join(map(source.render, self.diagnostics)))

    def __str__(self) -> str:
        """The lines of all errors."""
        return str(self.args[0])
