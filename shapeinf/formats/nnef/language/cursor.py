"""A position in the tokens of a document, with the basic operations of the parser."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from shapeinf.diagnostics import Diagnostic
from shapeinf.formats.nnef.language.ast import Name
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.language.lexer import DIGITS, NAME_START, QUOTES
from shapeinf.formats.nnef.versions import DialectName

_Item = TypeVar("_Item")

_TYPES = frozenset(["tensor", "scalar", "logical", "string"])
_WORDS = frozenset(["version", "graph", "fragment", "for", "in", "if", "else", "true", "false"])
_EVERYWHERE = _TYPES | _WORDS | {"shape_of", "length_of", "range_of"}
KEYWORDS: dict[DialectName, frozenset[str]] = {
    "provisional": _EVERYWHERE | {"extent"},
    "final": _EVERYWHERE | {"extension", "integer", "yield"},
    "tract": _EVERYWHERE | {"extension", "integer", "yield"},
}
"""The reserved words; 1.0 added `integer`, `yield` and `extension` and removed `extent`."""

CASTS = frozenset(["extent", "integer", "scalar", "logical", "string"])
BUILTINS = CASTS | {"shape_of", "length_of", "range_of"}


class Stop(Exception):  # noqa: N818  (internal, no error)
    """A syntax error that ends the statement it is in.

    Internal: caught in `formats.nnef.language.parser` and `formats.nnef.files.quantization`.
    """

    def __init__(self, code: str, message: str, at: int) -> None:
        """`at` is the offset of the error."""
        self.code = code
        self.message = message
        self.at = at

    def diagnostic(self, source: SourceText) -> Diagnostic:
        """The error as a diagnostic of the text of the tokens."""
        return source.error(self.code, self.message, self.at)


class Cursor:
    """The tokens, the index of the next one, and the dialect, which determines the keywords."""

    def __init__(self, tokens: list[str], offsets: list[int], dialect: DialectName) -> None:
        """`tokens` must end with empty ones, as those of `tokenize` do."""
        self.tokens = tokens
        self.offsets = offsets
        self.dialect = dialect
        self.keywords = KEYWORDS[dialect]
        self.next = 0

    @property
    def at(self) -> int:
        """The offset of the next token."""
        return self.offsets[self.next]

    def fail(self, message: str, code: str = "N201", at: int | None = None) -> NoReturn:
        """End the statement with an error, by default at the next token."""
        raise Stop(code, message, self.at if at is None else at)

    def expect(self, token: str, where: str) -> None:
        """Pass a required token."""
        if self.tokens[self.next] != token:
            self.fail(f"expected {token!r} {where}, found {self.describe_token()}")
        self.next += 1

    def accept(self, token: str) -> bool:
        """Pass a token if it is the next one; return whether it is."""
        if self.tokens[self.next] != token:
            return False
        self.next += 1
        return True

    def describe_token(self) -> str:
        """The next token, for a message."""
        token = self.tokens[self.next]
        if not token:
            return "the end of the document"
        if token in self.keywords:
            return f"the keyword {token!r}"
        kind = "the identifier " if token[0] in NAME_START else "the number " if token[0] in DIGITS else ""
        text = token if len(token) <= 40 else token[:37] + "..."
        return text if token[0] in QUOTES else f"{kind}{text!r}"

    def identifier(self, expected: str) -> str:
        """The text of a required identifier; `expected` describes it in errors."""
        token = self.tokens[self.next]
        if not token or token[0] not in NAME_START:
            self.fail(f"expected {expected}, found {self.describe_token()}")
        if token in self.keywords:
            self.fail(f"{token!r} is a keyword, it cannot be {expected}", "N202")
        self.next += 1
        if token == "i" and self.dialect == "tract" and self.tokens[self.next][:1] == '"':
            return self._any_name()
        return token

    def _any_name(self) -> str:
        # in tract, names that are no identifiers are written as i"any name"
        self.next += 1
        return self.tokens[self.next - 1][1:-1]

    def name(self, expected: str) -> Name:
        """An identifier as a node of the tree."""
        at = self.at
        return Name(at, self.identifier(expected))

    def opens_target(self, bracket: int) -> bool:
        """Whether this token is a bracket that opens the left side of an assignment, after which `=` follows."""
        depth, i = 0, bracket
        while self.tokens[i] and self.tokens[i] not in ";{}":
            token = self.tokens[i]
            depth += (token in "([") - (token in ")]")
            i += 1
            if depth == 0:
                return self.tokens[i] == "="
        return False

    def list_of(self, item: Callable[[], _Item], close: str, expected: str) -> tuple[_Item, ...]:
        """One or more items, separated by commas, and the closing bracket."""
        if self.tokens[self.next] == close:
            self.fail(f"expected {expected}: at least one is needed")
        items = [item()]
        while self.accept(","):
            if self.tokens[self.next] == close:
                self.fail(f"expected {expected} after the comma")
            items.append(item())
        self.expect(close, f"or ',' after {expected}")
        return tuple(items)
