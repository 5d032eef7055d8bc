"""What can be wrong with an NNEF document, and where."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

import attrs

from shapeinf.errors import ModelError
from shapeinf.sharing import cached_property
from shapeinf.texts import escape_lines, escape_unprintable

MAX_PROBLEMS = 20
"""Problems after which a check stops looking."""


_SHOWN_WIDTH = 160


class SourceText:
    """The text of a document (or another file of the model), to turn offsets into lines and columns."""

    def __init__(self, text: str, name: str = "graph.nnef") -> None:
        """`name` is shown in messages."""
        self.text = text
        self.name = name

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(i + 1 for i, c in enumerate(self.text) if c == "\n")]

    def position(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, from 1."""
        line = bisect_right(self._starts, max(at, 0))
        return line, max(at, 0) - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1."""
        start = self._starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None].rstrip("\r")


@attrs.frozen
class Problem:
    """One thing that is wrong.

    Args:
        code: `N1xx` characters and tokens, `N2xx` syntax, `N3xx` declarations, `N4xx` invocations and types,
            `N5xx` evaluation, `N6xx` arguments and shapes, `N7xx` other files of the model, `N9xx` limits.
        message: in plain words, with the names that the document uses.
        at: the offset of its place in the text.
        calls: the offsets of the invocations around it, innermost first.
    """

    code: str
    message: str
    at: int
    calls: tuple[int, ...] = ()


class NnefError(ModelError):
    """A document that breaks rules of the NNEF specification; `problems` has at least one, in the order of the text."""

    def __init__(self, problems: Iterable[Problem], source: SourceText) -> None:
        """The message lists all problems, each with its line and column."""
        self.problems = tuple(sorted(problems, key=lambda problem: problem.at))
        self.source = source
        self.line, self.column = source.position(self.problems[0].at)
        super().__init__("\n".join(shown(problem, source) for problem in self.problems))

    def __str__(self) -> str:
        """The lines of all problems."""
        return str(self.args[0])


def shown(problem: Problem, source: SourceText) -> str:
    """A problem as text: place, code, message, the line itself with a mark, and the calls around it."""
    line, column = source.position(problem.at)
    # Of a long line, what is around the place.
    start = max(0, column - 1 - _SHOWN_WIDTH // 2)
    written = source.line(line)[start : start + _SHOWN_WIDTH].replace("\t", " ")
    before = written[: column - 1 - start]
    lines = [f"{source.name}:{line}:{column}: {problem.message} [{problem.code}]", f"    {written}"]
    lines.append(" " * (4 + len(escape_unprintable(before))) + "^")
    for at in problem.calls:
        called_line, called_column = source.position(at)
        lines.append(f"  called at {source.name}:{called_line}:{called_column}")
    return escape_lines(lines)
