"""The protobuf text format: a syntax tree of a message, without extensions and expanded `Any` messages.

Source: the text format language specification of protobuf. A tree has positions, but no types: these are checked by
modules that know the messages, such as `formats.tf.text`. `parse_text` reads a message whose fields are unknown.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

import attrs

from shapeinf.errors import ExportError, LimitError, ModelError
from shapeinf.texts import escape_bytes

Message = dict[str, list[Any]]
"""Each field with all of its values; a value is a str, an int or a Message."""

MAX_DEPTH = 100
"""The most levels of messages in messages, as in the binary form."""

_BLANK = re.compile(r"(?:[ \t\n\v\f\r]+|#[^\n]*)*")
"""Matches anywhere: if a pattern followed that can fail, each division of the blanks would be tried."""
_TOKEN = re.compile(
    r"""(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')
    |(?P<number>(?:[0-9]|\.[0-9])(?:[\w.]|(?<=[eE])[+-])*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<mark>[{}\[\]<>:,;\-])
    |(?P<end>\Z)""",
    re.VERBOSE | re.ASCII,
)
_INTEGER = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")
_DECIMAL = re.compile(
    r"(?:(?:0|[1-9][0-9]*)|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)[fF]?"
)
_ENDS = {"{": "}", "<": ">"}

_ESCAPE = re.compile(
    rb"""\\(?:(?P<letter>[abfnrtv?\\'"])|(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})
    |u(?P<low>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<high>[dD][c-fC-F][0-9a-fA-F]{2})
    |u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})|)""",
    re.VERBOSE,
)
_LETTERS = dict(zip(b"abfnrtv?\\'\"", b"\a\b\f\n\r\t\v?\\'\"", strict=True))


class Token(NamedTuple):
    """A piece of the text; `kind` is "string", "number", "name", "mark" or "end"."""

    kind: str
    text: str
    position: int


class TextScalar(NamedTuple):
    """A value that is no message: a number or a name with its sign, or adjacent strings."""

    kind: Literal["number", "name", "string"]
    text: str
    position: int
    strings: tuple[Token, ...] = ()

    def integer(self) -> int | None:
        """The value of a decimal, octal or hexadecimal integer; None for anything else."""
        digits = self.text.removeprefix("-")
        if self.kind != "number" or len(digits) > 64 or not _INTEGER.fullmatch(digits):
            return None
        base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10
        return -int(digits, base) if self.text[0] == "-" else int(digits, base)

    def number(self) -> float | None:
        """The value of a decimal number, infinity or NaN; None for anything else."""
        digits = self.text.removeprefix("-")
        if self.kind == "name" and digits.lower() in ("inf", "infinity", "nan"):
            return float(self.text)
        return float(self.text.rstrip("fF")) if self.kind == "number" and _DECIMAL.fullmatch(digits) else None


class TextMessage(NamedTuple):
    """A message: its fields in the order of the text."""

    fields: list[TextField]
    position: int


class TextField(NamedTuple):
    """A field: its name, and its value or the values of its list."""

    name: str
    position: int
    values: list[TextScalar | TextMessage]
    is_list: bool


@attrs.frozen
class TextSource:
    """A text and its name in errors."""

    text: str
    name: str

    def error(self, position: int, message: str) -> ModelError:
        """An error with the line and the column of a position."""
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        return ModelError(f"line {line}, column {column}: {message}", node=self.name)

    def decode(self, value: TextScalar) -> bytes:
        """The bytes of adjacent strings, concatenated. Raises ModelError for an illegal escape sequence."""
        return b"".join(map(self._decode_string, value.strings))

    def _decode_string(self, token: Token) -> bytes:
        try:
            data = token.text[1:-1].encode()
        except UnicodeEncodeError as error:
            raise self.error(token.position + 1 + error.start, "not a Unicode character") from None
        if b"\\" not in data:
            return data
        try:
            return _ESCAPE.sub(_unescape, data)
        except _EscapeError as error:
            before = data[: error.args[0]].decode("utf-8", "replace")
            raise self.error(token.position + 1 + len(before), "not an escape sequence") from None


class _EscapeError(Exception):
    """An invalid escape sequence; the argument is its position. Internal: caught in `formats.protobuf.text`."""


def _unescape(match: re.Match[bytes]) -> bytes:
    kind, text = match.lastgroup, match[match.lastgroup] if match.lastgroup else b""
    if kind == "letter":
        return bytes([_LETTERS[text[0]]])
    if kind in ("octal", "hex"):
        value = int(text, 8 if kind == "octal" else 16)
        if value < 256:
            return bytes([value])
    elif kind == "high":
        return bytes.fromhex((match["low"] + text).decode()).decode("utf-16-be").encode()
    elif kind in ("short", "long") and not 0xD800 <= int(text, 16) < 0xE000 and int(text, 16) <= 0x10FFFF:
        return chr(int(text, 16)).encode()
    raise _EscapeError(match.start())


def parse_tree(source: TextSource) -> TextMessage:
    """The syntax tree of a text. Raises ModelError with the position of a syntax error, LimitError for deep nesting."""
    return _Parser(source).message(None, 0)


def parse_text(text: str, name: str = "text") -> Message:
    """Read a message of unknown type. Raises ModelError with the position of a syntax error.

    >>> parse_text('max_batch_size: 8 input [ { name: "x" dims: [ -1, 3 ] } ]')
    {'max_batch_size': [8], 'input': [{'name': ['x'], 'dims': [-1, 3]}]}
    """
    source = TextSource(text, name)
    return _plain_fields(source, parse_tree(source))


def _plain_fields(source: TextSource, message: TextMessage) -> Message:
    fields: Message = {}
    for field in message.fields:
        fields.setdefault(field.name, []).extend(_plain_value(source, value) for value in field.values)
    return fields


def _plain_value(source: TextSource, value: TextScalar | TextMessage) -> Any:
    if isinstance(value, TextMessage):
        return _plain_fields(source, value)
    if value.kind == "string":
        return source.decode(value).decode("utf-8", "replace")
    number = value.integer()
    return value.text if number is None else number


class Word(str):
    """The name of an enum value, which is written without quotes."""

    __slots__ = ()


def format_text(message: Message, indent: str = "") -> str:
    """The text of a message: a field a line, a list of messages or numbers in brackets. `parse_text` reads it.

    Raises ExportError for a text that protobuf cannot hold.

    >>> print(format_text({"name": ["x"], "type": [Word("FP32")], "dims": [[-1, 3]], "reshape": [{"shape": [[]]}]}))
    name: "x"
    type: FP32
    dims: [ -1, 3 ]
    reshape {
      shape: [ ]
    }
    """
    lines: list[str] = []
    for name, values in message.items():
        for value in values:
            if isinstance(value, dict):
                inner = format_text(value, f"{indent}  ")
                lines.append(f"{indent}{name} {{\n{inner}\n{indent}}}" if inner else f"{indent}{name} {{ }}")
            else:
                lines.append(f"{indent}{name}: {_format_value(value)}")
    return "\n".join(lines)


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[ {', '.join(map(_format_value, value))} ]" if value else "[ ]"
    return quote_text(value) if isinstance(value, str) and not isinstance(value, Word) else str(value)


def quote_text(text: str) -> str:
    r"""A text in double quotes; what is not printable ASCII is escaped, byte by byte in UTF-8. Raises ExportError.

    >>> print(quote_text('say "ü"'))
    "say \"\303\274\""
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise ExportError(f"{text!r} is not Unicode text: protobuf cannot hold it") from None
    return '"' + escape_bytes(data, '"\\') + '"'


class _Parser:
    """A cursor over the tokens, one token ahead."""

    def __init__(self, source: TextSource) -> None:
        self.source = source
        self.next = self._scan(0)

    def message(self, opening: Token | None, depth: int) -> TextMessage:
        """The fields up to the mark that closes `opening`, or up to the end."""
        position = 0 if opening is None else opening.position
        if depth > MAX_DEPTH:
            raise LimitError(f"messages nest deeper than {MAX_DEPTH}", node=self.source.name)
        end = "" if opening is None else _ENDS[opening.text]
        fields: list[TextField] = []
        while self.next.kind == "name":
            fields.append(self.field(depth))
        token = self.take()
        if token.text != end or token.kind not in ("mark", "end"):
            if token.text == "[":
                raise self.source.error(token.position, "extensions and expanded `Any` messages are not read")
            raise self.syntax_error("the name of a field" + (f" or {end!r}" if end else ""), token)
        return TextMessage(fields, position)

    def field(self, depth: int) -> TextField:
        name = self.take()
        colon = self.skip(":")
        is_list = self.skip("[")
        values = self.items(colon, depth) if is_list else [self.value(colon, depth)]
        if not self.skip(","):
            self.skip(";")
        return TextField(name.text, name.position, values, is_list)

    def items(self, colon: bool, depth: int) -> list[TextScalar | TextMessage]:
        """The values of a list up to its end."""
        values: list[TextScalar | TextMessage] = []
        if self.skip("]"):
            return values
        while True:
            values.append(self.value(colon, depth))
            if self.skip("]"):
                return values
            if not self.skip(","):
                raise self.syntax_error("',' or ']'", self.next)

    def value(self, colon: bool, depth: int) -> TextScalar | TextMessage:
        token = self.take()
        if token.kind == "mark" and token.text in _ENDS:
            return self.message(token, depth + 1)
        if not colon:
            raise self.syntax_error("':', '{' or '<'", token)
        if token.kind == "string":
            strings = [token]
            while self.next.kind == "string":
                strings.append(self.take())
            return TextScalar("string", token.text, token.position, tuple(strings))
        sign = "-" if token.kind == "mark" and token.text == "-" else ""
        value = self.take() if sign else token
        if value.kind == "number" or value.kind == "name":
            return TextScalar("number" if value.kind == "number" else "name", sign + value.text, token.position)
        raise self.syntax_error("a number" if sign else "a value", value)

    def skip(self, mark: str) -> bool:
        """Pass the next token if it is this mark; whether it was."""
        matches = self.next.kind == "mark" and self.next.text == mark
        if matches:
            self.take()
        return matches

    def take(self) -> Token:
        token = self.next
        if token.kind != "end":
            self.next = self._scan(token.position + len(token.text))
        return token

    def _scan(self, position: int) -> Token:
        text = self.source.text
        blank = _BLANK.match(text, position)
        position = blank.end() if blank else position
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            opened = text[position] in "\"'"
            message = "a string without an end" if opened else f"cannot read {text[position : position + 20]!r}"
            raise self.source.error(position, message)
        return Token(match.lastgroup, match[0], position)

    def syntax_error(self, expected: str, token: Token) -> ModelError:
        text = "the end" if token.kind == "end" else repr(token.text[:40])
        return self.source.error(token.position, f"expected {expected}, not {text}")
