"""Collecting the problems of a document, and the places in its text that they are told at."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from shapeinf.formats.nnef.language.ast import Fragment, GraphDefinition
from shapeinf.formats.nnef.language.problems import MAX_DIAGNOSTICS, Problem, SourceText

MOST_SEARCHED, LONGEST_SEARCHED = 1000, 60
"""Names among which one like another is looked for, and characters of that: it takes time."""

_BRACKETS = re.compile(r"""\#[^\n\f]* | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | [()}]""", re.VERBOSE | re.DOTALL)


class EnoughError(Exception):
    """There are as many problems as anybody wants to see."""


class Findings:
    """The problems found so far."""

    def __init__(self, source: SourceText) -> None:
        """`source` is the text that offsets are of."""
        self.source = source
        self.problems: list[Problem] = []
        self.shared_places = False
        """Whether invocations share arguments, so that the places of these are those of the first of them."""

    def add(self, code: str, message: str, at: int) -> None:
        """Notes a problem. Raises EnoughError when it is the last that is wanted."""
        self.problems.append(Problem(code, message, at))
        if len(self.problems) >= MAX_DIAGNOSTICS:
            raise EnoughError

    def name_of(self, declared: Fragment | GraphDefinition) -> int:
        """The offset of the name of a fragment or a graph."""
        keyword = "fragment" if isinstance(declared, Fragment) else "graph"
        found = self.source.text.find(declared.name, declared.at + len(keyword))
        return found if found >= 0 else declared.at

    def end_of_invocation(self, at: int) -> int:
        """The offset of the bracket that closes the invocation at an offset."""
        depth = 0
        for found in _BRACKETS.finditer(self.source.text, at):
            depth += {"(": 1, ")": -1}.get(found[0], 0)
            if depth == 0 and found[0] == ")":
                return found.start()
        return at

    def end_of_body(self, at: int) -> int:
        """The offset of the brace that closes the body that an offset is in."""
        braces = (found.start() for found in _BRACKETS.finditer(self.source.text, at) if found[0] == "}")
        return next(braces, at)


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'conv'?` where a known name is near, else nothing."""
    names = tuple(islice(known, MOST_SEARCHED + 1))
    near = get_close_matches(name, names, n=1) if len(names) <= MOST_SEARCHED and len(name) <= LONGEST_SEARCHED else ()
    return f"; did you mean {near[0]!r}?" if near else ""
