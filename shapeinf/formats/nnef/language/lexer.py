"""The tokens of an NNEF document.

Source: NNEF 1.0.5, 3.2 "Syntax". One regular expression splits the text; a token's first character decides its kind.
"""

from __future__ import annotations

import re
import string
from itertools import accumulate

from shapeinf.errors import NnefError
from shapeinf.formats.nnef.language.diagnostics import MAX_DIAGNOSTICS, SourceText

MAX_TOKENS = 20_000_000
"""The most tokens of a document, with blanks and comments: they take about a minute."""

LOOKAHEAD = 5
"""The number of tokens after the next one that the parser reads."""

NAME_START = frozenset(string.ascii_letters + "_")
DIGITS = frozenset(string.digits)
QUOTES = frozenset("'\"")

_NAME, _NUMBER = r"[A-Za-z_][A-Za-z0-9_]*", r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"
_STRING = r"""'(?:[^'\\\n]|\\[^\n])*'|"(?:[^"\\\n]|\\[^\n])*\""""
_PIECES = (
    r"[ \t\r\n\f\v]+"
    rf"|{_NAME}"
    rf"|{_NUMBER}[A-Za-z0-9_.]*"
    r"|[\[\](),;:+*/^{}?]"
    r"|=="
    r"|="
    r"|->"
    r"|-"
    r"|#[^\n\f]*"
    rf"|{_STRING}"
    r"|<=|>=|!=|&&|\|\||[<>!]"
    r"|[^\x00-\x7f]+"
    r"|."
)
_PIECE = re.compile(_PIECES, re.DOTALL)
# Labels differ between invocations, so they are not shared.
_LITERAL_ARGUMENT = rf",[ \t\r\n]*(?!label\b){_NAME} *= *(?:-?{_NUMBER}|true|false|'[^'\\\n]*'|\[[-+0-9.,()\[\] ]*\])"
_SHARING_PIECE = re.compile(rf"(?:{_LITERAL_ARGUMENT})+(?=\);)|{_PIECES}", re.DOTALL)
_SKIPPED = frozenset(" \t\r\n\f\v#")
_PLAIN = NAME_START | frozenset("[](),;:+*/^{}?=-<>!")
_TWO = frozenset(["&&", "||"])
_NUMBER_TOKEN = re.compile(_NUMBER)
_BYTE_ORDER_MARK = "\ufeff"


def tokenize(source: SourceText, *, sharing: bool = False) -> tuple[list[str], list[int]]:
    """The tokens of a text and their offsets; at the end, LOOKAHEAD empty tokens.

    With `sharing`, the literal named arguments at the end of an invocation, with the comma before them, are one token.
    A model has few different ones, and the parser reads each of them once.

    Raises NnefError with all characters that belong to no token.
    """
    pieces: list[str] = (_SHARING_PIECE if sharing else _PIECE).findall(source.text)
    if len(pieces) > MAX_TOKENS:
        error = source.error("N901", f"the document has more than {MAX_TOKENS:,} tokens", 0)
        raise NnefError([error], source.render)
    starts = accumulate(map(len, pieces), initial=0)
    positioned = [(piece, at) for piece, at in zip(pieces, starts, strict=False) if piece[0] not in _SKIPPED]
    if positioned and positioned[0][1] == 0 and positioned[0][0].startswith(_BYTE_ORDER_MARK):
        del positioned[0]
    positioned += [("", len(source.text))] * LOOKAHEAD
    tokens = [piece for piece, _ in positioned]
    offsets = [at for _, at in positioned]
    _verify(tokens, offsets, source)
    return tokens, offsets


def _verify(tokens: list[str], offsets: list[int], source: SourceText) -> None:
    odd = {token for token in set(tokens) if token and token[0] not in _PLAIN}
    illegal = {token: error for token in odd if (error := _token_error(token)) is not None}
    if not illegal:
        return
    exempt = _tract_extension_tokens(tokens)
    errors = [
        source.error(*illegal[token], at)
        for i, (token, at) in enumerate(zip(tokens, offsets, strict=True))
        if token in illegal and i not in exempt
    ]
    if errors:
        raise NnefError(errors[:MAX_DIAGNOSTICS], source.render)


def _tract_extension_tokens(tokens: list[str]) -> frozenset[int]:
    """The indices of tokens in extensions of tract, which may be anything but `;`."""
    indices: set[int] = set()
    start = 3  # after the version
    while tokens[start : start + 1] == ["extension"]:
        end = next((i for i in range(start, len(tokens)) if tokens[i] in (";", "")), len(tokens))
        if tokens[start + 1].startswith("tract_"):
            indices.update(range(start, end))
        start = end + 1
    return frozenset(indices)


def _token_error(token: str) -> tuple[str, str] | None:
    first = token[0]
    if first in DIGITS:
        return _number_error(token)
    if first in QUOTES:
        return None if len(token) > 1 else ("N103", f"the string that starts here has no closing {first} on its line")
    if token in _TWO:
        return None
    if ord(first) > 127:
        return ("N101", f"{token[:20]!r} is not ASCII: only strings and comments may have such characters")
    return ("N101", f"the character {first!r} belongs to no token of NNEF")


def _number_error(token: str) -> tuple[str, str] | None:
    number = _NUMBER_TOKEN.match(token)
    rest = token[number.end() :] if number else token
    if not rest:
        return None
    if rest[0] in NAME_START and "." not in token:
        return ("N102", f"{token[:40]!r} is neither a number nor an identifier: identifiers do not start with a digit")
    return ("N102", f"{token[:40]!r} is not a number")


def unquote(token: str) -> str:
    """The characters of a string token: a backslash escapes the next character."""
    text = token[1:-1]
    return re.sub(r"\\(.)", r"\1", text) if "\\" in text else text


def quote(text: str) -> str:
    """A string as NNEF text."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def is_identifier(text: str) -> bool:
    """Whether a text has the form of an identifier (a keyword has it too)."""
    return bool(text) and text[0] in NAME_START and text.isascii() and text.replace("_", "a").isalnum()
