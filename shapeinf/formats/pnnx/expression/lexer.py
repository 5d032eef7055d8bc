"""Tokens of an expression, each with its position. White space is illegal: `.param` files separate fields by it."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator

import attrs

from shapeinf.errors import ExpressionError
from shapeinf.formats.pnnx.expression.limits import MAX_DIGITS, MAX_LENGTH, check_limit


class TokenKind(enum.Enum):
    """The kinds of tokens."""

    NAME = "name"
    ARGUMENT = "arg"
    INTEGER = "int"
    FLOAT = "float"
    COMPLEX = "complex"
    CONSTANT = "const"
    LEFT_PARENTHESIS = "lparen"
    RIGHT_PARENTHESIS = "rparen"
    LEFT_BRACKET = "lbracket"
    RIGHT_BRACKET = "rbracket"
    COMMA = "comma"


@attrs.frozen
class Token:
    """A token: its kind, its text, and the positions of its first character and after its last."""

    kind: TokenKind
    text: str
    start: int
    end: int


CONSTANTS = {"True": True, "False": False, "None": None}
"""The constants by their names."""

_MARKS = {
    "(": TokenKind.LEFT_PARENTHESIS,
    ")": TokenKind.RIGHT_PARENTHESIS,
    "[": TokenKind.LEFT_BRACKET,
    "]": TokenKind.RIGHT_BRACKET,
    ",": TokenKind.COMMA,
}
_UNSIGNED = r"(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|inf|nan)"
_NUMBER = re.compile(rf"-?{_UNSIGNED}(?P<imaginary>[+-]{_UNSIGNED}j)?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_INDEX = re.compile(r"@[0-9]+")
_CONTINUES_NUMBER = re.compile(r"[A-Za-z0-9_.]")


def tokenize(text: str) -> list[Token]:
    """All tokens of a text. Raises ExpressionError with the position of an illegal character, LimitError past a limit.

    >>> [(token.kind.value, token.text, token.start) for token in tokenize("add(@0,-1)")]
    [('name', 'add', 0), ('lparen', '(', 3), ('arg', '@0', 4), ('comma', ',', 6), ('int', '-1', 7), ('rparen', ')', 9)]
    """
    return list(read_tokens(text))


def read_tokens(text: str) -> Iterator[Token]:
    """The tokens of a text, on demand: an error is raised when its position is reached."""
    check_limit(len(text), MAX_LENGTH, f"{len(text)} characters")
    at = 0
    while at < len(text):
        token = _read_token(text, at)
        yield token
        at = token.end


def _read_token(text: str, at: int) -> Token:
    character = text[at]
    if character in _MARKS:
        return Token(_MARKS[character], character, at, at + 1)
    if character == "@":
        return _read_index(text, at)
    if character in "-0123456789":
        return _read_number(text, at)
    name = _NAME.match(text, at)
    if name is None:
        raise ExpressionError(f"illegal character {character!r}", text, at)
    if name[0] in ("inf", "nan"):
        return _read_number(text, at)
    return Token(TokenKind.CONSTANT if name[0] in CONSTANTS else TokenKind.NAME, name[0], at, name.end())


def _read_index(text: str, at: int) -> Token:
    """The index of an input, `@` and digits."""
    index = _INDEX.match(text, at)
    if index is None:
        raise ExpressionError("expected digits after '@'", text, at + 1)
    check_limit(index.end() - at, MAX_DIGITS, f"an index of {index.end() - at} characters", at)
    return Token(TokenKind.ARGUMENT, index[0], at, index.end())


def _read_number(text: str, at: int) -> Token:
    """A number: an integer, a float (with a fraction or an exponent), or `a+bj`."""
    number = _NUMBER.match(text, at)
    if number is None:
        raise ExpressionError("bad number", text, at, expected="digits")
    check_limit(number.end() - at, MAX_DIGITS, f"a number of {number.end() - at} characters", at)
    if _CONTINUES_NUMBER.match(text, number.end()):
        raise ExpressionError("bad number", text, number.end(), expected="the end of the number")
    kind = TokenKind.INTEGER if number[0].lstrip("-").isdigit() else TokenKind.FLOAT
    if number["imaginary"]:
        kind = TokenKind.COMPLEX
    return Token(kind, number[0], at, number.end())
