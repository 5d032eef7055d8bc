"""Parses expressions: literals, arrays, tuples, operators, comprehensions, invocations.

Source: NNEF 1.0.5, 3.2.3 "Compositional Syntax"; `precedence` has the order of the operators.
"""

from __future__ import annotations

from shapeinf.formats.nnef.language.ast import (
    Argument,
    ArrayExpr,
    Binary,
    Builtin,
    Comprehension,
    Expr,
    Invocation,
    Name,
    Number,
    Range,
    Select,
    Subscript,
    Text,
    Truth,
    TupleExpr,
    Unary,
)
from shapeinf.formats.nnef.language.cursor import BUILTINS, Cursor
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.language.lexer import DIGITS, NAME_START, QUOTES, tokenize, unquote
from shapeinf.formats.nnef.language.precedence import BINARY_PRECEDENCE, IN_PRECEDENCE
from shapeinf.formats.nnef.language.types import Primitive, PrimitiveName
from shapeinf.formats.nnef.versions import DialectName

MAX_DEPTH = 100
"""The most levels of nested expressions; each operator of a chain such as `a + b + c` is a level."""

MAX_DIGITS = 4000
"""The most digits of a number."""

_ENDS = frozenset(",)];")
_TRUTHS = frozenset(["true", "false"])
_UNARY = frozenset("+-!")
_TYPE_ARGUMENTS: dict[str, PrimitiveName] = {
    "integer": "integer",
    "scalar": "scalar",
    "logical": "logical",
    "string": "string",
    "?": "?",
}


class ExpressionParser(Cursor):
    """A cursor that reads expressions."""

    def __init__(self, tokens: list[str], offsets: list[int], dialect: DialectName) -> None:
        """See `Cursor`."""
        super().__init__(tokens, offsets, dialect)
        self.depth = 0
        self.shared: dict[str, tuple[tuple[Argument, ...], bool]] = {}
        # The offset of the first expression that is not of the flat syntax, -1 if there is none.
        self.beyond_flat = -1
        # The offset of the first call in another call, -1 if there is none.
        self.nested_call = -1

    def expression(self) -> Expr:
        """An expression."""
        i = self.next
        tokens = self.tokens
        token = tokens[i]
        following = tokens[i + 1]
        at = self.offsets[i]
        if following in _ENDS:
            plain = self._plain(token, at)
            if plain is not None:
                self.next = i + 1
                return plain
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"expressions are nested more than {MAX_DEPTH} levels deep", "N903")
        left: Expr | None = None
        if token == "[":
            left = self._array(at)
        elif self._is_invocation(i):
            self.next = i + 1
            left = self._invocation(token, None, at)
        if left is None or tokens[self.next] not in _ENDS:
            left = self._select(left, at)
        self.depth -= 1
        return left

    def _is_invocation(self, i: int) -> bool:
        token = self.tokens[i]
        named = self.tokens[i + 1] == "(" and token not in self.keywords and token[0] in NAME_START
        return named and not self._begins_statement(i + 1)

    def _plain(self, token: str, at: int) -> Expr | None:
        # Most expressions of a document are one token.
        first = token[0]
        if first in NAME_START:
            if token in self.keywords:
                return Truth(at, token == "true") if token in _TRUTHS else None
            return Number(at, float("inf"), token) if token == "inf" and self.dialect == "tract" else Name(at, token)
        if first in DIGITS:
            return self._number(token, at)
        return Text(at, unquote(token)) if first in QUOTES else None

    def _number(self, token: str, at: int, sign: str = "") -> Number:
        if len(token) > MAX_DIGITS:
            self.fail(f"a number has more than {MAX_DIGITS:,} digits", "N902", at)
        if token.isdigit():
            return Number(at, int(sign + token), sign + token)
        value = float(sign + token)
        # Parsers of the provisional dialect read 1e3 as an integer: only a literal with a point is a scalar.
        if self.dialect == "provisional" and "." not in token and value.is_integer() and abs(value) < 1e15:
            return Number(at, int(value), sign + token)
        return Number(at, value, sign + token)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"expressions are nested more than {MAX_DEPTH} levels deep", "N903")

    def _select(self, left: Expr | None, at: int) -> Expr:
        then = self._binary(IN_PRECEDENCE, left, at)
        if self.tokens[self.next] != "if":
            return then
        self._mark(at)
        self.next += 1
        condition = self._binary(IN_PRECEDENCE, None, self.at)
        if self.tokens[self.next] == "if":
            self.fail("an 'if' in the condition of another needs parentheses")
        self.expect("else", "after the condition of 'if'")
        return Select(at, then, condition, self.expression())

    def _binary(self, lowest: int, left: Expr | None, at: int) -> Expr:
        """Operators of at least the precedence `lowest`; `left` is the first operand if it is parsed already."""
        left = self._unary() if left is None else self._subscripts(left, at)
        links = 0
        while True:
            op = self.tokens[self.next]
            precedence = BINARY_PRECEDENCE.get(op, 0)
            if precedence < lowest:
                self.depth -= links
                return left
            if op == "in" and self.dialect == "provisional":
                self.fail("the provisional dialect has no operator 'in'")
            self._mark(at)
            op_at = self.at
            self.next += 1
            self._deeper()
            links += 1
            right = self._binary(precedence + 1, None, self.at)
            left = Binary(op_at, op, left, right)

    def _unary(self) -> Expr:
        at = self.at
        token = self.tokens[self.next]
        if token not in _UNARY:
            return self._subscripts(self._primary(at), at)
        self.next += 1
        following = self.tokens[self.next]
        if token == "-" and following[:1].isdigit():
            self.next += 1
            return self._number(following, at, "-")
        self._mark(at)
        self._deeper()
        operand = self._unary()
        self.depth -= 1
        return Unary(at, token, operand)

    def _subscripts(self, value: Expr, at: int) -> Expr:
        links = 0
        while self.tokens[self.next] == "[" and not self._begins_statement(self.next):
            self._mark(at)
            self._deeper()
            links += 1
            value = self._subscript(value)
        self.depth -= links
        return value

    def _begins_statement(self, bracket: int) -> bool:
        """Whether a bracket opens the next left side: in the provisional dialect no `;` has to be before it."""
        return self.dialect == "provisional" and self.opens_target(bracket)

    def _subscript(self, value: Expr) -> Expr:
        at = self.at
        self.next += 1
        begin = None if self.tokens[self.next] == ":" else self.expression()
        if begin is not None and self.accept("]"):
            return Subscript(at, value, begin)
        self.expect(":", "or ']' after a subscript")
        end = None if self.tokens[self.next] == "]" else self.expression()
        self.expect("]", "after a range")
        return Range(at, value, begin, end)

    def _primary(self, at: int) -> Expr:
        i = self.next
        token, following = self.tokens[i], self.tokens[i + 1]
        if token == "[":
            return self._array(at)
        if token == "(":
            return self._parentheses(at)
        if token in BUILTINS and token in self.keywords and following == "(":
            return self._builtin(token, at)
        if token and token[0] in NAME_START and token not in self.keywords:
            if following == "(" and self._is_invocation(i):
                self.next = i + 1
                return self._invocation(token, None, at)
            # `f<scalar>(` is an invocation, `a < b` a comparison.
            if following == "<" and self.tokens[i + 2] in _TYPE_ARGUMENTS and self.tokens[i + 3 : i + 5] == [">", "("]:
                self.next = i + 4
                return self._invocation(token, Primitive(_TYPE_ARGUMENTS[self.tokens[i + 2]]), at)
            if token == "i" and following[:1] == '"':
                return self.name("an identifier")
        plain = self._plain(token, at) if token else None
        if plain is None:
            self.fail(f"expected an expression, found {self.describe_token()}")
        self.next += 1
        return plain

    def _array(self, at: int) -> Expr:
        self.next += 1
        tokens = self.tokens
        if tokens[self.next] == "for" and self.dialect != "provisional":
            return self._comprehension(at)
        if tokens[self.next] == "]":
            self.next += 1
            return ArrayExpr(at, ())
        items = [self.expression()]
        if tokens[self.next] == "for" and self.dialect == "provisional":
            return self._provisional_comprehension(items[0], at)
        while tokens[self.next] == ",":
            self.next += 1
            items.append(self.expression())
        self.expect("]", "or ',' in an array")
        return ArrayExpr(at, tuple(items))

    def _parentheses(self, at: int) -> Expr:
        self.next += 1
        items = [self.expression()]
        while self.tokens[self.next] == ",":
            self.next += 1
            if self.tokens[self.next] == ")" and len(items) == 1:
                self.fail("a tuple has at least two items")
            items.append(self.expression())
        self.expect(")", "or ',' in a tuple")
        if len(items) == 1:
            self._mark(at)
            return items[0]
        return TupleExpr(at, tuple(items))

    def _comprehension(self, at: int) -> Expr:
        self._mark(at)
        self.next += 1
        iterators = [self._iterator()]
        while self.accept(","):
            iterators.append(self._iterator())
        condition = self.expression() if self.accept("if") else None
        self.expect("yield", "after the iterators of a comprehension")
        item = self.expression()
        self.expect("]", "after a comprehension")
        return Comprehension(at, tuple(iterators), condition, item)

    def _provisional_comprehension(self, item: Expr, at: int) -> Expr:
        self._mark(at)
        self.next += 1
        iterator = self._iterator()
        condition = self.expression() if self.accept("if") else None
        self.expect("]", "after a comprehension")
        return Comprehension(at, (iterator,), condition, item)

    def _iterator(self) -> tuple[Name, Expr]:
        name = self.name("the name of a loop variable")
        self.expect("in", "after a loop variable")
        # Not a complete expression: its `if` would be the condition of the comprehension.
        self._deeper()
        array = self._binary(IN_PRECEDENCE + 1, None, self.at)
        self.depth -= 1
        return name, array

    def _builtin(self, name: str, at: int) -> Expr:
        self._mark(at)
        self.next += 2
        operand = self.expression()
        self.expect(")", f"after the operand of {name!r}")
        return Builtin(at, name, operand)

    def _invocation(self, name: str, type_argument: Primitive | None, at: int) -> Invocation:
        if self.depth > 1 and self.nested_call < 0:
            self.nested_call = at
        self.next += 1
        tokens = self.tokens
        if tokens[self.next] == ")":
            if self.dialect != "tract":
                self.fail(f"the invocation of {name!r} needs at least one argument")
            self.next += 1
            return Invocation(at, name, type_argument, ())
        arguments = [self._argument()]
        while tokens[self.next] == ",":
            self.next += 1
            arguments.append(self._argument())
        shared: tuple[Argument, ...] = ()
        if tokens[self.next][:1] == ",":
            shared = self._shared_arguments(tokens[self.next], self.at)
            self.next += 1
        self.expect(")", f"or ',' after an argument of {name!r}")
        return Invocation(at, name, type_argument, (*arguments, *shared), shared=shared)

    def _shared_arguments(self, text: str, at: int) -> tuple[Argument, ...]:
        parsed = self.shared.get(text)
        if parsed is None:
            tokens, offsets = tokenize(SourceText(text))
            inner = ExpressionParser(tokens, [at + offset for offset in offsets], self.dialect)
            arguments = []
            while inner.accept(","):
                arguments.append(inner._argument())
            if inner.tokens[inner.next]:
                inner.fail(f"expected ',' after an argument, found {inner.describe_token()}")
            parsed = self.shared[text] = tuple(arguments), inner.beyond_flat >= 0
        if parsed[1]:
            self._mark(at)
        return parsed[0]

    def _argument(self) -> Argument:
        i = self.next
        at = self.offsets[i]
        tokens = self.tokens
        if tokens[i] and tokens[i + 1] == "=":
            name = self.identifier("the name of an argument")
            self.next = i + 2
            return Argument(at, name, self.expression())
        return Argument(at, None, self.expression())

    def _mark(self, at: int) -> None:
        if self.beyond_flat < 0:
            self.beyond_flat = at
