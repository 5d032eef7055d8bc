"""The subset of KuiperInfer, a course on inference frameworks: `@n`, `add`, `mul`, and `div`, its exercise.

The grammar::

    expression = "@" digits | ("add" | "mul" | "div") "(" expression "," expression ")"

The course deletes white space first, so `a dd(@ 0,@1)` is an expression. It numbers the kinds of tokens, and a node
of its tree is a number: the index of an input, or minus the number of the operation. The source of KuiperInfer has
since dropped the minus: there `add` is 2 and `mul` is 3, the same as the inputs @2 and @3, and the order is ambiguous.
It also refuses text behind the expression, as this parser does; the text of the course does not.

The course has no number for `div`: here it is the next one, 6.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import NoReturn

import attrs

from shapeinf.errors import ExpressionError
from shapeinf.formats.pnnx.expression.limits import MAX_DEPTH, MAX_DIGITS, MAX_LENGTH, check_limit
from shapeinf.formats.pnnx.expression.tree import Argument, Call, Expression, walk


class TokenNumber(enum.IntEnum):
    """The numbers of the kinds of tokens."""

    NUMBER = 0
    COMMA = 1
    ADD = 2
    MUL = 3
    LEFT = 4
    RIGHT = 5
    DIV = 6


OPERATIONS = {"add": TokenNumber.ADD, "mul": TokenNumber.MUL, "div": TokenNumber.DIV}
"""The operations by name; `div` is not in the course."""

_MARKS = {",": TokenNumber.COMMA, "(": TokenNumber.LEFT, ")": TokenNumber.RIGHT}


@attrs.frozen
class KuiperToken:
    """A token, and the position of its first character in the text without white space."""

    number: TokenNumber
    text: str
    start: int


def tokenize(text: str, *, division: bool = True) -> list[KuiperToken]:
    """The tokens of a text. `division` allows `div`. Raises ExpressionError with the position.

    >>> [int(token.number) for token in tokenize("add(@0, @12)")]
    [2, 4, 0, 1, 0, 5]
    """
    check_limit(len(text), MAX_LENGTH, f"{len(text)} characters")
    statement = "".join(text.split())
    tokens = []
    at = 0
    while at < len(statement):
        token = _read_token(statement, at, division)
        tokens.append(token)
        at += len(token.text)
    return tokens


def _read_token(statement: str, at: int, division: bool) -> KuiperToken:
    character = statement[at]
    if character in _MARKS:
        return KuiperToken(_MARKS[character], character, at)
    if character == "@":
        end = at + 1
        while end < len(statement) and statement[end] in "0123456789":
            end += 1
        if end == at + 1:
            raise ExpressionError("expected digits after '@'", statement, at)
        check_limit(end - at, MAX_DIGITS, f"an index of {end - at} characters", at)
        return KuiperToken(TokenNumber.NUMBER, statement[at:end], at)
    name = statement[at : at + 3]
    if name not in OPERATIONS or (name == "div" and not division):
        raise ExpressionError(f"illegal character {character!r}", statement, at, expected=_names(division))
    return KuiperToken(OPERATIONS[name], name, at)


def _names(division: bool) -> str:
    return "add, mul or div" if division else "add or mul"


def parse(text: str, *, division: bool = True) -> Expression:
    """The tree of an expression of the subset. Raises ExpressionError, LimitError above the limits of nesting."""
    return _Parser("".join(text.split()), tokenize(text, division=division)).parse()


class _Parser:
    """Reads operands and calls from left to right; `_open` has the calls that are not closed."""

    def __init__(self, statement: str, tokens: list[KuiperToken]) -> None:
        self._statement = statement
        self._tokens: Iterator[KuiperToken] = iter(tokens)
        self._open: list[tuple[KuiperToken, list[Expression]]] = []

    def parse(self) -> Expression:
        """The tree."""
        value = self._read_operand()
        while self._open:
            name, items = self._open[-1]
            items.append(value)
            if len(items) == 1:
                self._expect(TokenNumber.COMMA, "','")
                value = self._read_operand()
            else:
                self._expect(TokenNumber.RIGHT, "')'")
                self._open.pop()
                value = Call(tuple(items), position=name.start, function=name.text)
        extra = next(self._tokens, None)
        if extra is not None:
            raise ExpressionError("trailing input", self._statement, extra.start, expected="the end of the expression")
        return value

    def _read_operand(self) -> Expression:
        """The next input, and the calls that open before it."""
        while (token := next(self._tokens, None)) is not None and token.number in OPERATIONS.values():
            self._open.append((token, []))
            depth = len(self._open) + 1
            check_limit(depth, MAX_DEPTH, f"more than {MAX_DEPTH} levels of nesting", token.start)
            self._expect(TokenNumber.LEFT, "'('")
        if token is None or token.number is not TokenNumber.NUMBER:
            self._fail(token, "an operation or an input such as @0")
        return Argument(int(token.text[1:]), position=token.start)

    def _expect(self, number: TokenNumber, expected: str) -> None:
        token = next(self._tokens, None)
        if token is None or token.number is not number:
            self._fail(token, expected)

    def _fail(self, token: KuiperToken | None, expected: str) -> NoReturn:
        position = len(self._statement) if token is None else token.start
        reason = "unexpected end of expression" if token is None else f"unexpected {token.text!r}"
        raise ExpressionError(reason, self._statement, position, expected=expected)


def node_codes(tree: Expression) -> list[int]:
    """The numbers of the nodes in reverse Polish order: indices of inputs, and -2, -3, -6 for the operations.

    >>> node_codes(parse("add(@0,mul(@1,@2))"))
    [0, 1, 2, -3, -2]
    """
    return [_code(node) for node in walk(tree)]


def _code(node: Expression) -> int:
    return node.index if isinstance(node, Argument) else -OPERATIONS[_function(node)]


def _function(node: Expression) -> str:
    if isinstance(node, Call) and node.function in OPERATIONS and len(node.items) == 2:
        return node.function
    raise ExpressionError(f"{node.label} is not part of the subset", str(node), 0, expected=_names(True))


def in_order_log(tree: Expression) -> list[str]:
    """The log that the course prints: the left operand, the operation, the right operand.

    >>> in_order_log(parse("add(@0,@1)"))
    ['NUM: 0', 'ADD', 'NUM: 1']
    """
    log: list[str] = []
    pending: list[Expression | str] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            log.append(node)
        elif isinstance(node, Argument):
            log.append(f"NUM: {node.index}")
        else:
            function = _function(node)
            left, right = node.items
            pending += [right, function.upper(), left]
    return log
