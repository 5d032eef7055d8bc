"""The protobuf text format: fields, messages, lists, numbers, names and strings, no extensions or `Any`."""

from __future__ import annotations

import re
from typing import Any

from shapeinf.errors import ModelError

Message = dict[str, list[Any]]
"""Each field with all of its values; a value is a str, an int, a float, a bool or a Message."""

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<word>[\w.+-]+)
    |(?P<mark>[{}\[\]<>:,;])""",
    re.VERBOSE,
)
_ENDS = {"{": "}", "<": ">"}
MAX_DEPTH = 64


def parse_text(text: str, name: str = "text") -> Message:
    """Read a message. Raises ModelError with the line of a syntax error.

    >>> parse_text('max_batch_size: 8 input [ { name: "x" dims: [ -1, 3 ] } ]')
    {'max_batch_size': [8], 'input': [{'name': ['x'], 'dims': [-1, 3]}]}
    """
    return _Reader(text, name).message("", 0)


class _Reader:
    """A cursor over the tokens, each with its line."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.tokens: list[tuple[str, int]] = []
        self.next = 0
        at, line = 0, 1
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise ModelError(f"line {line}: cannot read {text[at : at + 20]!r}", node=name)
            if match.lastgroup is not None:
                self.tokens.append((match[0], line))
            line += match[0].count("\n")
            at = match.end()

    def message(self, end: str, depth: int) -> Message:
        fields: Message = {}
        while self.peek() not in (end, ""):
            field = self.take()
            if not re.fullmatch(r"[A-Za-z_]\w*", field) or depth > MAX_DEPTH:
                raise self.error(f"expected the name of a field, not {field!r}")
            colon = self.skip(":")
            fields.setdefault(field, []).extend(self.values(colon, depth))
            self.skip(",", ";")
        if end and self.take() != end:
            raise self.error(f"expected {end!r} before the end")
        return fields

    def values(self, colon: bool, depth: int) -> list[Any]:
        if not self.skip("["):
            return [self.value(colon, depth)]
        items: list[Any] = []
        while not self.skip("]"):
            items.append(self.value(True, depth))
            if not self.skip(",") and self.peek() != "]":
                raise self.error("expected ',' or ']'")
        return items

    def value(self, colon: bool, depth: int) -> Any:
        token = self.take()
        if token in _ENDS:
            return self.message(_ENDS[token], depth + 1)
        if not colon or token == "" or token in "}]>:,;[":
            raise self.error(f"expected a value, not {token or 'the end'!r}")
        if token[0] in "\"'":
            parts = [token]
            while self.peek()[:1] in ("'", '"'):
                parts.append(self.take())
            return "".join(re.sub(r"\\(.)", r"\1", part[1:-1]) for part in parts)
        return int(token) if re.fullmatch(r"[+-]?\d{1,18}", token) else token

    def peek(self) -> str:
        return self.tokens[self.next][0] if self.next < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.next += 1
        return token

    def skip(self, *marks: str) -> bool:
        matches = self.peek() in marks
        self.next += matches
        return matches

    def error(self, message: str) -> ModelError:
        line = self.tokens[min(self.next, len(self.tokens)) - 1][1] if self.tokens else 1
        return ModelError(f"line {line}: {message}", node=self.name)
