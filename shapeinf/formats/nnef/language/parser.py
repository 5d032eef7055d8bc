"""Parses the text of an NNEF document to its syntax tree.

Source: NNEF 1.0.5, 3.2 "Syntax"; NNEF 1.0 provisional (2017), chapter 3, for the provisional dialect. The parser is one
of recursive descent: each node has its position in the text, an error in a statement does not hide errors in the next
ones, and the expressions of flat documents (names, literals and arrays of these) take a fast path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import NnefError
from shapeinf.formats.nnef.language.ast import (
    NOWHERE,
    ArrayExpr,
    Assignment,
    Document,
    Expr,
    Extension,
    Fragment,
    GraphDefinition,
    Invocation,
    Name,
    TupleExpr,
)
from shapeinf.formats.nnef.language.cursor import Stop
from shapeinf.formats.nnef.language.declarations import DeclarationParser
from shapeinf.formats.nnef.language.diagnostics import MAX_DIAGNOSTICS, SourceText
from shapeinf.formats.nnef.language.lexer import NAME_START, tokenize
from shapeinf.formats.nnef.versions import DialectName

FRAGMENTS, OPERATORS = "KHR_enable_fragment_definitions", "KHR_enable_operator_expressions"

TRACT_EXTENSIONS = ("tract_registry", "tract_symbol", "tract_assert", "tract_pulse_streaming_symbol", "tract_resource")

_Part = TypeVar("_Part")


def parse(source: SourceText, dialect: DialectName | None = None, *, sharing: bool = False) -> Document:
    """The syntax tree of a document; a dialect of None is detected in the text.

    With `sharing`, invocations share equal literal arguments (`Invocation.shared`). This is faster, but all of them
    have the position of the first.

    Raises NnefError with all independent syntax errors.
    """
    tokens, offsets = tokenize(source, sharing=sharing)
    parser = _Parser(tokens, offsets, dialect or detect_dialect(tokens), source)
    try:
        return _parse_guarded(parser, source, parser.document)
    except NnefError:
        if sharing:
            return parse(source, dialect)
        raise


def parse_fragments(source: SourceText, dialect: DialectName = "final") -> tuple[Fragment, ...]:
    """The fragments of a text that has only declarations. Raises NnefError with all syntax errors."""
    tokens, offsets = tokenize(source)
    parser = _Parser(tokens, offsets, dialect, source)
    return _parse_guarded(parser, source, parser.fragments_only)


def detect_dialect(tokens: list[str]) -> DialectName:
    """The dialect of a document: provisional without `;` after the version; that of tract with a name `tract_...`."""
    if tokens[0] == "version" and tokens[2] != ";":
        return "provisional"
    return "tract" if any(token.startswith("tract_") for token in set(tokens)) else "final"


def _parse_guarded(parser: _Parser, source: SourceText, read: Callable[[], _Part]) -> _Part:
    try:
        part = read()
    except Stop as stop:
        parser.errors.append(stop.diagnostic(source))
    except RecursionError:
        parser.errors.append(source.error("N903", "expressions are nested too deep for the stack", parser.at))
    else:
        if not parser.errors:
            return part
    raise NnefError(parser.errors[:MAX_DIAGNOSTICS], source.render)


class _Parser(DeclarationParser):
    """The parser of a complete document."""

    def __init__(self, tokens: list[str], offsets: list[int], dialect: DialectName, source: SourceText) -> None:
        super().__init__(tokens, offsets, dialect)
        self.source = source
        self.errors: list[Diagnostic] = []
        self.extensions: tuple[Extension, ...] = ()

    def document(self) -> Document:
        """The document. Errors of statements are in `errors`; any other error raises Stop."""
        version = self._version()
        if self.dialect != "provisional":
            self.extensions = tuple(self._all_extensions())
        fragments = self._fragments()
        if self.tokens[self.next] != "graph":
            self.fail(f"expected a graph definition, found {self.describe_token()}")
        graph = self._graph()
        further = []
        while self.dialect == "provisional" and self.tokens[self.next] == "graph":
            further.append(self._graph())
        if self.tokens[self.next] == "fragment":
            self.fail("fragments are defined before the graph")
        if self.tokens[self.next]:
            self.fail(f"expected the end of the document after the graph, found {self.describe_token()}")
        return Document(0, version, self.extensions, fragments, graph, self.dialect, tuple(further))

    def fragments_only(self) -> tuple[Fragment, ...]:
        """The fragments up to the end of the text."""
        self.extensions = (Extension(NOWHERE, FRAGMENTS),)
        fragments = self._fragments()
        if self.tokens[self.next]:
            self.fail(f"expected a fragment, found {self.describe_token()}")
        return fragments

    def _version(self) -> str:
        self.expect("version", "at the start of the document")
        at, number = self.at, self.tokens[self.next]
        if not number[:1].isdigit():
            self.fail(f"expected a version number such as 1.0, found {self.describe_token()}")
        if number != "1.0":
            self.fail(
                f"version {number} of NNEF is not supported: only 1.0 is, with its corrections 1.0.1 to 1.0.5",
                "N203",
                at,
            )
        self.next += 1
        if self.dialect != "provisional":
            self.expect(";", "after the version")
        return number

    def _all_extensions(self) -> list[Extension]:
        extensions: list[Extension] = []
        while self.accept("extension"):
            start = self.next
            while self.tokens[self.next] and self.tokens[self.next] != ";":
                self.next += 1
            if self.next == start:
                self.fail("expected the name of an extension")
            extensions += self._extensions(start, self.next)
            self.expect(";", "after the extensions")
        return extensions

    def _extensions(self, start: int, end: int) -> list[Extension]:
        """The extensions between two tokens: a list of names, or one extension of tract with its arguments."""
        if self.tokens[start].startswith("tract_"):
            text = self.source.text[self.offsets[start] : self.offsets[end - 1] + len(self.tokens[end - 1])]
            return [Extension(self.offsets[start], text)]
        names = [i for i in range(start, end) if self.tokens[i] != ","]
        for i in names:
            if self.tokens[i][0] not in NAME_START:
                self.next = i
                self.fail(f"expected the name of an extension, found {self.describe_token()}")
        return [Extension(self.offsets[i], self.tokens[i]) for i in names]

    def _has(self, extension: str) -> bool:
        return self.dialect != "final" or any(item.text == extension for item in self.extensions)

    def _fragments(self) -> tuple[Fragment, ...]:
        fragments = []
        while self.tokens[self.next] == "fragment":
            if not self._has(FRAGMENTS):
                self._error("N204", f"a fragment needs 'extension {FRAGMENTS};'", self.at)
            try:
                fragments.append(self._fragment())
            except Stop as stop:
                self._recover(stop, frozenset(["fragment", "graph"]))
        return tuple(fragments)

    def _fragment(self) -> Fragment:
        fragment = self.signature()
        if self.accept(";") or (self.dialect == "provisional" and self.tokens[self.next] != "{"):
            return fragment
        return attrs.evolve(fragment, body=self._body(flat=False))

    def _graph(self) -> GraphDefinition:
        at = self.at
        self.expect("graph", "to define the graph")
        name = self.identifier("the name of the graph")
        self.expect("(", "after the name of the graph")
        parameters: tuple[Name, ...] = ()
        if self.dialect != "tract" or not self.accept(")"):
            parameters = self.list_of(lambda: self.name("the name of a graph parameter"), ")", "a graph parameter")
        self.expect("->", "after the parameters of the graph")
        self.expect("(", "before the results of the graph")
        results = self.list_of(lambda: self.name("the name of a graph result"), ")", "a graph result")
        return GraphDefinition(at, name, parameters, results, self._body(flat=not self._has(OPERATORS)))

    def _body(self, *, flat: bool) -> tuple[Assignment, ...]:
        self.expect("{", "before a body")
        if self.tokens[self.next] == "}":
            self.fail("a body has at least one assignment")
        tokens = self.tokens
        end = ";" if self.dialect != "provisional" else ""
        assignments: list[Assignment] = []
        while tokens[self.next] != "}":
            try:
                assignments.append(self._assignment(flat))
                if tokens[self.next] == ";":
                    self.next += 1
                elif end:
                    self.fail(f"expected ';' after an assignment, found {self.describe_token()}")
            except Stop as stop:
                self._recover(stop, frozenset([";", "}"]))
                self.accept(";")
            if not tokens[self.next] or len(self.errors) >= MAX_DIAGNOSTICS:
                self.fail(f"expected '}}' after a body, found {self.describe_token()}")
        self.next += 1
        return tuple(assignments)

    def _error(self, code: str, message: str, at: int) -> None:
        self.errors.append(self.source.error(code, message, at))

    def _recover(self, stop: Stop, delimiters: frozenset[str]) -> None:
        """Record an error, and skip to the next token that starts or ends a statement or a definition."""
        self.errors.append(stop.diagnostic(self.source))
        if len(self.errors) >= MAX_DIAGNOSTICS or stop.code >= "N9":
            raise NnefError(self.errors, self.source.render)
        self.depth = 0
        while self.tokens[self.next] and self.tokens[self.next] not in delimiters:
            self.next += 1

    def _assignment(self, flat: bool) -> Assignment:
        i = self.next
        at = self.offsets[i]
        if self.tokens[i + 1] == "=":
            target: Expr = self.name("the name of a result")
        else:
            target = self._target(tuples=True)
        self.expect("=", "in an assignment")
        value_at = self.at
        self.beyond_flat = self.nested_call = -1
        value = self._right_side()
        if flat:
            self._check_flat(value, value_at)
        return Assignment(at, target, value)

    def _check_flat(self, value: Expr, at: int) -> None:
        """Report a right side that is not flat: a call of names and literals, with fragments also of other calls."""
        if self.beyond_flat >= 0:
            subject, at = "this expression", self.beyond_flat
        elif not isinstance(value, Invocation):
            subject = "a right side that is not an invocation"
        elif self.nested_call >= 0 and not self._has(FRAGMENTS):
            subject, at = "a call in another call", self.nested_call
        else:
            return
        self._error("N205", f"{subject} needs 'extension {OPERATORS};'", at)

    def _right_side(self) -> Expr:
        value = self.expression()
        if self.dialect != "provisional" or self.tokens[self.next] != ",":
            return value
        # The provisional dialect's tuples need no parentheses.
        items = [value]
        while self.accept(","):
            items.append(self.expression())
        return TupleExpr(value.at, tuple(items))

    def _target(self, *, tuples: bool) -> Expr:
        """The left side: a name, an array or a tuple, which needs no parentheses where `tuples` is true."""
        at = self.at
        items = [self._target_item()]
        while tuples and self.accept(","):
            items.append(self._target_item())
        return items[0] if len(items) == 1 else TupleExpr(at, tuple(items))

    def _target_item(self) -> Expr:
        at = self.at
        if self.accept("["):
            if self.dialect == "provisional" and self.accept("]"):
                return ArrayExpr(at, ())
            return ArrayExpr(at, self._targets("]"))
        if not self.accept("("):
            return self.name("the name of a result")
        items = self._targets(")")
        if len(items) == 1:
            self.next -= 1
            self.fail("a tuple has at least two items")
        return TupleExpr(at, items)

    def _targets(self, close: str) -> tuple[Expr, ...]:
        self._deeper()
        items = self.list_of(lambda: self._target(tuples=False), close, "the name of a result")
        self.depth -= 1
        return items
