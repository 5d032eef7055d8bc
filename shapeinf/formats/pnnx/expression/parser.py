"""The parser: tokens to a tree. It has a stack of its own, so that no nesting exhausts that of Python.

The grammar::

    expression = call | list | "@" digits | number | "True" | "False" | "None"
    call       = name "(" expression { "," expression } ")"
    list       = "[" [ expression { "," expression } ] "]"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

import attrs

from shapeinf.errors import ExpressionError
from shapeinf.formats.pnnx.expression.functions import ARITIES, describe_arity
from shapeinf.formats.pnnx.expression.lexer import CONSTANTS, Token, TokenKind, read_tokens
from shapeinf.formats.pnnx.expression.limits import MAX_DEPTH, check_limit
from shapeinf.formats.pnnx.expression.tree import Argument, Call, Expression, ListOf, Literal

OPERAND = "a function, a list, an input such as @0, a number, True, False or None"
"""The possible starts of an expression, for messages."""

_CLOSING = {TokenKind.RIGHT_PARENTHESIS: ")", TokenKind.RIGHT_BRACKET: "]"}


def parse(text: str) -> Expression:
    """The tree of an expression. Raises ExpressionError with the position, LimitError past a limit.

    >>> str(parse("add(@0,1.000000e-5)"))
    'add(@0,1e-05)'
    """
    return _Parser(text).parse()


@attrs.define
class _Open:
    """A call or list that is not closed yet."""

    token: Token
    closing: TokenKind
    items: list[Expression] = attrs.Factory(list)


class _Parser:
    """One pass over the tokens; `_open` has the calls and lists around the current token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: Iterator[Token] = read_tokens(text)
        self._open: list[_Open] = []

    def parse(self) -> Expression:
        """The tree."""
        value = self._read_operand()
        while True:
            while value is None:
                value = self._read_operand()
            if not self._open:
                return self._end(value)
            self._open[-1].items.append(value)
            value = self._read_separator()

    def _read_operand(self) -> Expression | None:
        """An input, a literal or an empty list; None after opening a call or a list."""
        token = self._next()
        if token is None:
            self._fail("unexpected end of expression", len(self._text), OPERAND)
        if self._open and not self._open[-1].items and token.kind is self._open[-1].closing:
            return self._close()
        if token.kind is TokenKind.ARGUMENT:
            return Argument(int(token.text[1:]), position=token.start)
        if token.kind in _READ_LITERAL:
            return Literal(_READ_LITERAL[token.kind](token.text), position=token.start)
        if token.kind is TokenKind.NAME:
            self._open_call(token)
        elif token.kind is TokenKind.LEFT_BRACKET:
            self._push(_Open(token, TokenKind.RIGHT_BRACKET))
        else:
            self._fail(f"unexpected {token.text!r}", token.start, OPERAND)
        return None

    def _open_call(self, name: Token) -> None:
        if name.text not in ARITIES:
            self._fail(f"unknown function {name.text!r}", name.start, "a function of the language")
        token = self._next()
        if token is None or token.kind is not TokenKind.LEFT_PARENTHESIS:
            self._fail("expected '('", len(self._text) if token is None else token.start, "'('")
        self._push(_Open(name, TokenKind.RIGHT_PARENTHESIS))

    def _push(self, item: _Open) -> None:
        self._open.append(item)
        depth = len(self._open) + 1
        check_limit(depth, MAX_DEPTH, f"more than {MAX_DEPTH} levels of nesting", item.token.start)

    def _read_separator(self) -> Expression | None:
        """Read a separator behind an item: None for a comma, the finished call or list for a closing bracket."""
        token, closing = self._next(), self._open[-1].closing
        expected = f"',' or {_CLOSING[closing]!r}"
        if token is None:
            self._fail(f"expected {expected} before end", len(self._text), expected)
        if token.kind is TokenKind.COMMA:
            return None
        if token.kind is not closing:
            self._fail(f"expected {expected}", token.start, expected)
        return self._close()

    def _close(self) -> Expression:
        closed = self._open.pop()
        items, start = tuple(closed.items), closed.token.start
        if closed.closing is TokenKind.RIGHT_BRACKET:
            return ListOf(items, position=start)
        name = closed.token.text
        least, most = ARITIES[name]
        if not least <= len(items) <= most:
            arity = describe_arity(name)
            self._fail(f"{name} takes {arity}, got {len(items)}", start, arity)
        return Call(items, position=start, function=name)

    def _end(self, value: Expression) -> Expression:
        token = self._next()
        if token is not None:
            self._fail("trailing input", token.start, "the end of the expression")
        return value

    def _next(self) -> Token | None:
        return next(self._tokens, None)

    def _fail(self, reason: str, position: int, expected: str) -> NoReturn:
        raise ExpressionError(reason, self._text, position, expected=expected)


_READ_LITERAL: dict[TokenKind, Callable[[str], bool | int | float | complex | None]] = {
    TokenKind.INTEGER: int,
    TokenKind.FLOAT: float,
    TokenKind.COMPLEX: complex,
    TokenKind.CONSTANT: CONSTANTS.__getitem__,
}
