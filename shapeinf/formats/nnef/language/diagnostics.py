"""The text of an NNEF document, the positions in it, and excerpts of it in errors."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from shapeinf.diagnostics import Diagnostic, text_position
from shapeinf.sharing import cached_property
from shapeinf.texts import escape_lines, escape_unprintable

MAX_DIAGNOSTICS = 20
"""The number of errors after which the check of a document stops."""

_EXCERPT_WIDTH = 160


class SourceText:
    """The text of a document or of another file of the model, which converts offsets to lines and columns."""

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

    def warning(self, code: str, message: str, at: int) -> Diagnostic:
        """A warning at an offset."""
        return Diagnostic("warning", code, message, location=self.location(at))

    def render(self, diagnostic: Diagnostic) -> str:
        """An error of this text: location, message, code, the line with a mark under the column, and the calls."""
        line, column = text_position(diagnostic)
        start = max(0, column - 1 - _EXCERPT_WIDTH // 2)
        excerpt = self.line(line)[start : start + _EXCERPT_WIDTH].replace("\t", " ")
        before = excerpt[: column - 1 - start]
        lines = [f"{diagnostic.location}: {diagnostic.message} [{diagnostic.code}]", f"    {excerpt}"]
        lines.append(" " * (4 + len(escape_unprintable(before))) + "^")
        lines += [f"  called at {call}" for call in diagnostic.calls]
        return escape_lines(lines)
