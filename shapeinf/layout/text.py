"""The parser of the text form: `f32[2,3]{1,0:T(8,128)E(4)}`, `f32[<=10,?]`, `(f32[2], token[])`.

The grammar is that of XLA's parser, with blanks and comments. Unlike XLA, layouts that are no permutation, empty tiles,
open parentheses, sizes past 63 bits and sparse dims are errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeVar

from shapeinf.errors import DimSyntaxError, LayoutError, LayoutSyntaxError, LimitError
from shapeinf.expr import DimSize, Scope, parse_dim
from shapeinf.layout.array_type import MAX_NESTING, OPAQUE, TOKEN, ArrayType, PhysicalType, TupleType
from shapeinf.layout.element_types import BY_TEXT_NAME
from shapeinf.layout.layout import Layout, Split

MAX_TEXT = 1 << 20
"""Limit on the characters of a text."""

_BLANK = re.compile(r"(?:[ \t\r\n]|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INTEGER = re.compile(r"-?[0-9]+")
_INTEGER_ALONE = re.compile(r"-?[0-9]+\s*[],]")
_MAX_DIGITS = 19

Item = TypeVar("Item")


def parse_type(text: str, scope: Scope | None = None) -> PhysicalType:
    """Read the text of an array type, a tuple, `token[]` or `opaque[]`. Raises LayoutSyntaxError.

    With a scope, dims may be names and expressions of it, as `str` prints them.

    >>> parse_type("(f32[2,3], token[])")
    (f32[2,3]{1,0}, token[])
    >>> parse_type("f32[B, 2*S]{0,1}", Scope())
    f32[B,2*S]{0,1}
    >>> parse_type("f32[2,3]{1,0:T(8,128}")
    Traceback (most recent call last):
    shapeinf.errors.LayoutSyntaxError: 'f32[2,3]{1,0:T(8,128}': expected ')' at character 21
    """
    if len(text) > MAX_TEXT:
        raise LimitError(f"a text of {len(text)} characters; at most {MAX_TEXT} are supported")
    return _Reader(text, scope).read()


def parse_layout(text: str) -> Layout:
    """Read the text of a layout alone: `{1,0:T(8,128)}`. Raises LayoutSyntaxError.

    >>> parse_layout("{1,0:T(8,128)E(4)}")
    {1,0:T(8,128)E(4)}
    """
    if len(text) > MAX_TEXT:
        raise LimitError(f"a text of {len(text)} characters; at most {MAX_TEXT} are supported")
    return _Reader(text, None).read_layout()


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str, scope: Scope | None) -> None:
        self.text = text
        self.scope = scope
        self.at = 0

    def read(self) -> PhysicalType:
        result = self._shape(0)
        self._end()
        return result

    def read_layout(self) -> Layout:
        self._expect("{")
        layout = self._layout()
        self._end()
        return layout

    def _end(self) -> None:
        self._blank()
        if self.at < len(self.text):
            raise self._error("nothing more")

    def _error(self, expected: str, at: int | None = None) -> LayoutSyntaxError:
        return LayoutSyntaxError(self.text, self.at if at is None else at, expected)

    def _blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def _take(self, token: str) -> bool:
        self._blank()
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise self._error(f"'{token}'")

    def _word(self) -> str:
        self._blank()
        match = _WORD.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match[0]

    def _integer(self, name: str, low: int = 0) -> int:
        self._blank()
        match = _INTEGER.match(self.text, self.at)
        if match is None or len(match[0]) > _MAX_DIGITS or int(match[0]) < low:
            raise self._error(f"{name} of at least {low} and at most {_MAX_DIGITS} digits")
        self.at = match.end()
        return int(match[0])

    def _list(self, item: Callable[[], Item]) -> list[Item]:
        items = [item()]
        while self._take(","):
            items.append(item())
        return items

    def _shape(self, depth: int) -> PhysicalType:
        if depth > MAX_NESTING:
            raise LimitError(f"tuples nest deeper than {MAX_NESTING}")
        if self._take("("):
            if self._take(")"):
                return TupleType(())
            elements = self._list(lambda: self._shape(depth + 1))
            self._expect(")")
            return TupleType(elements)
        self._blank()
        begin = self.at
        word = self._word()
        if word in ("token", "opaque"):
            self._expect("[")
            self._expect("]")
            return TOKEN if word == "token" else OPAQUE
        if word not in BY_TEXT_NAME:
            raise self._error("an element type such as f32, token, opaque or '('", begin)
        return self._array(word, begin)

    def _array(self, dtype: str, begin: int) -> ArrayType:
        self._expect("[")
        dims: list[tuple[DimSize | None, bool]] = []
        if not self._take("]"):
            dims = self._list(self._dim)
            self._expect("]")
        self._blank()
        brace = self.at
        layout = self._layout(len(dims)) if self._take("{") else None
        sizes, flags = [size for size, _ in dims], [flag for _, flag in dims]
        try:
            return ArrayType(dtype, sizes, layout, flags)
        except LayoutError as error:
            at = brace if layout is not None and layout.rank != len(dims) else begin
            raise self._error(f"a valid array ({error})", at) from None

    def _dim(self) -> tuple[DimSize | None, bool]:
        if self._take("?"):
            return None, True
        dynamic = self._take("<=")
        self._blank()
        if self.scope is None or _INTEGER_ALONE.match(self.text, self.at):
            return self._integer("a size"), dynamic
        return self._expression(self.scope), dynamic

    def _expression(self, scope: Scope) -> DimSize:
        """A symbolic dim: up to the next comma or bracket outside of parentheses and backquotes."""
        begin, depth, quoted = self.at, 0, False
        while self.at < len(self.text):
            char = self.text[self.at]
            if not quoted and depth <= 0 and char in ",]":
                break
            quoted ^= char == "`"
            if not quoted:
                depth += (char == "(") - (char == ")")
            self.at += 1
        try:
            return parse_dim(self.text[begin : self.at], scope)
        except DimSyntaxError as error:
            raise self._error(error.expected, begin + error.position) from None

    def _layout(self, rank: int | None = None) -> Layout:
        """Read a layout after its brace; without a rank, of any array."""
        brace = self.at - 1
        self._blank()
        dims: list[int] = []
        if not self.text.startswith(":" if rank is not None else (":", "}"), self.at):
            dims = self._list(lambda: self._integer("a dim"))
        tiles: list[list[int | Literal["*"]]] = []
        numbers: dict[str, int] = {}
        splits: list[Split] = []
        if self._take(":"):
            self._attributes(len(dims) if rank is None else rank, tiles, numbers, splits)
        self._expect("}")
        try:
            return Layout(
                dims,
                tiles,
                element_size_in_bits=numbers.get("E", 0),
                tail_padding_alignment_in_elements=numbers.get("L", 1),
                memory_space=numbers.get("S", 0),
                splits=splits,
                metadata_prefix_in_bytes=numbers.get("M", 0),
            )
        except LayoutError as error:
            raise self._error(f"a valid layout ({error})", brace) from None

    def _attributes(
        self, rank: int, tiles: list[list[int | Literal["*"]]], numbers: dict[str, int], splits: list[Split]
    ) -> None:
        """Read the attributes after the colon, each at most once and in this order."""
        following = ["D", "T", "L", "E", "S", "SC", "M"]
        while True:
            self._blank()
            begin = self.at
            word = self._word()
            if not word:
                return
            if word not in following:
                raise self._error("T(...), L(...), E(...), S(...), SC(...) and M(...) in this order, or '}'", begin)
            del following[: following.index(word) + 1]
            self._expect("(")
            if word == "D":
                self._dense(rank, begin)
            elif word == "T":
                tiles += self._repeat(lambda: self._list(self._tile_size))
            elif word == "SC":
                splits += self._repeat(self._split)
            else:
                numbers[word] = self._integer("a number", 1 if word == "L" else 0)
                self._expect(")")

    def _repeat(self, item: Callable[[], Item]) -> list[Item]:
        """Read `(...)(...)` after the first parenthesis."""
        items = [item()]
        self._expect(")")
        while self._take("("):
            items.append(item())
            self._expect(")")
        return items

    def _tile_size(self) -> int | Literal["*"]:
        return "*" if self._take("*") else self._integer("a size of a tile or '*'", 1)

    def _split(self) -> Split:
        dimension = self._integer("a dim")
        self._expect(":")
        return Split(dimension, tuple(self._list(lambda: self._integer("an index", 1))))

    def _dense(self, rank: int, begin: int) -> None:
        """Read `D(D,D)`, which declares each dim dense, as all are here."""
        levels = self._list(self._word)
        if levels != ["D"] * rank:
            raise self._error("dense dims only: one D for each dim", begin)
        self._expect(")")
