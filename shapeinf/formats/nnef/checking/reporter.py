"""Collects the errors and warnings of a document, and finds the offsets of names and brackets in its text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from shapeinf.diagnostics import Diagnostic
from shapeinf.formats.nnef.language.ast import Fragment, GraphDefinition
from shapeinf.formats.nnef.language.diagnostics import MAX_DIAGNOSTICS, SourceText

MOST_SEARCHED, LONGEST_SEARCHED = 1000, 60
"""The most names, and the most characters of a name, for which a similar name is searched."""

_BRACKETS = re.compile(r"""\#[^\n\f]* | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | [()}]""", re.VERBOSE | re.DOTALL)


class TooManyErrors(Exception):  # noqa: N818  (internal, no error)
    """The check has reported `MAX_DIAGNOSTICS` errors. Internal: caught in `formats.nnef.checking.checker`."""


class Reporter:
    """Collects errors, and one warning for each rule that the document breaks as the specification itself does."""

    def __init__(self, source: SourceText) -> None:
        """`source` is the text that offsets refer to."""
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self._broken_rules: set[str] = set()
        self.shared_positions = False
        """Whether invocations share arguments, whose offsets are then those of the first invocation."""

    def error(self, code: str, message: str, at: int) -> None:
        """Report an error. Raises TooManyErrors at the limit."""
        self.diagnostics.append(self.source.error(code, message, at))
        if len(self.diagnostics) >= MAX_DIAGNOSTICS:
            raise TooManyErrors

    def warn(self, rule: str, message: str, at: int) -> None:
        """Report that a rule of the provisional specification is broken, the first time only."""
        if rule not in self._broken_rules:
            self._broken_rules.add(rule)
            self.warnings.append(self.source.warning("N408", f"{message} (the rule: {rule})", at))

    def name_offset(self, declared: Fragment | GraphDefinition) -> int:
        """The offset of the name of a fragment or a graph."""
        keyword = "fragment" if isinstance(declared, Fragment) else "graph"
        at = self.source.text.find(declared.name, declared.at + len(keyword))
        return at if at >= 0 else declared.at

    def end_of_invocation(self, at: int) -> int:
        """The offset of the bracket that closes the invocation at an offset."""
        depth = 0
        for token in _BRACKETS.finditer(self.source.text, at):
            depth += {"(": 1, ")": -1}.get(token[0], 0)
            if depth == 0 and token[0] == ")":
                return token.start()
        return at

    def end_of_body(self, at: int) -> int:
        """The offset of the brace that closes the body around an offset."""
        braces = (token.start() for token in _BRACKETS.finditer(self.source.text, at) if token[0] == "}")
        return next(braces, at)


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of a message, `; did you mean 'conv'?`; empty if no known name is similar."""
    names = tuple(islice(known, MOST_SEARCHED + 1))
    near = get_close_matches(name, names, n=1) if len(names) <= MOST_SEARCHED and len(name) <= LONGEST_SEARCHED else ()
    return f"; did you mean {near[0]!r}?" if near else ""
