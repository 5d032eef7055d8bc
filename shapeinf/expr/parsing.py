"""Text to dimensions: one grammar for the dims that users and files state, with the forms of all tools that write dims.

`+ - * // %`, parentheses, `max min floordiv ceildiv mod`, names, names in backquotes, and named parts as `printing`
writes them: `(let p1 = H//2 in p1*p1 + p1)`. Also the forms of other tools (`Max(1, s3)`, `h**2`, `h ^ w`,
`floor(h/2 - 1/2) + 1`, which sympy writes for `(h + 1)//2`): `ratios` lists their functions and operators. A text that
is not in the grammar is a DimSyntaxError; `file_texts` has the reader of files, where such a text is a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from shapeinf.errors import DimSyntaxError
from shapeinf.expr.dimension import MAX_COEFFICIENT, MAX_DEGREE, MAX_DEPTH, MAX_TERMS, DimSize, Scope
from shapeinf.expr.ratios import (
    FUNCTIONS,
    FUNCTIONS_OF_TOOLS,
    OPERATORS,
    Function,
    NoDimError,
    Operation,
    Term,
    decimal,
    divide_exactly,
    negate,
    power,
    require_dim,
)

MAX_LENGTH = 10_000
MAX_NESTING = 50
MAX_ARGUMENTS = 128
"""The most arguments of a call: a maximum compares all pairs."""
MAX_WORK = 400_000
"""The steps of the algebra after which no further operation of a text begins: texts of others may take any time."""

Thunk = Callable[[], Term]
"""A parsed part of the text: builds its dim, or in a rounding a ratio."""

AXIS_OF_NAME = r"[^\W\d][\w.]*\.shape\[\d+\](?:#\d+)?"
"""A name that is an axis of a value, such as `x.shape[0]`: it needs no quotes."""

MAX_NUMBER = 2**62
"""The largest number that users specify: sums of a few such sizes fit 64 bits."""
TOO_LARGE = "a number of at most 2**62"


def is_too_large(digits: str) -> bool:
    """Whether a number in a text of a user is past `MAX_NUMBER`."""
    digits = digits.lstrip("0")
    return len(digits) > 19 or int(digits or 0) > MAX_NUMBER


_TOKEN = re.compile(
    rf"\s*(?:(\d+(?:\.\d+)?)|({AXIS_OF_NAME}|[^\W\d]\w*(?:\.\w+)*)|`((?:[^`]|``)*)`|(//|\*\*|/:|[-+*%(),/=^&]))"
)
_MODULES = ("math.", "sympy.", "torch.")
"""The modules before the names of functions in texts that are Python expressions."""


def parse_dim(text: str, scope: Scope, lo: int | None = 1) -> DimSize:
    """Read a dim. New names get the lower bound `lo`.

    Raises DimSyntaxError, also for a division by 0 and for an expression past the caps of the algebra.

    >>> s = Scope()
    >>> str(parse_dim("2*(past + seq) // 2", s)), parse_dim("ceildiv(7, 2)", s)
    ('past + seq', 4)
    >>> parse_dim("floor(H/2 - 1/2) + 1", s)
    (H + 1)//2
    """
    return Parser(text, scope, lo).dim()


class Parser:
    """Recursive descent over one text; the scope gets no symbols before `dim`. Raises as `parse_dim`."""

    def __init__(self, text: str, scope: Scope, lo: int | None) -> None:
        """Parse the text; its dim is built by `dim`."""
        self.text = text
        self.scope = scope
        self.lo = lo
        self.names: set[str] = set()
        """The names of symbols in the text."""
        self.tokens = self._tokenize()
        self.operators = [value if kind == "op" else "" for kind, value, _ in self.tokens] + [""]
        self.at = 0
        self.depth = 0
        self.roundings = 0
        """The number of roundings around the current position."""
        self.applied = 0
        """The position of the operator or function that is being applied."""
        self.work_limit = 0
        """The steps of the scope at which the work of this text ends."""
        self.parts: dict[str, Thunk] = {}
        self.tree = self._parse()

    def _tokenize(self) -> list[tuple[str, str, int]]:
        text = self.text
        if len(text) > MAX_LENGTH:
            raise DimSyntaxError(text, MAX_LENGTH, f"at most {MAX_LENGTH} characters")
        tokens = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None or (
                match[1] and match.end() < end and (text[match.end()].isalpha() or text[match.end()] == "_")
            ):
                raise DimSyntaxError(text, at, _alternative(text[at:].lstrip()[:1]))
            kind = ("int", "name", "quoted", "op")[(match.lastindex or 1) - 1]
            if kind == "int" and is_too_large(match[1].replace(".", "")):
                raise DimSyntaxError(text, at, TOO_LARGE)
            tokens.append((kind, match[match.lastindex or 1], match.start(match.lastindex or 1)))
            at = match.end()
        return tokens

    def _parse(self) -> Thunk:
        tree = self._expression()
        if self.at < len(self.tokens):
            raise self._error("an operator or the end")
        return tree

    def dim(self) -> DimSize:
        """The dim of the text, in the scope."""
        self.work_limit = self.scope.work + MAX_WORK
        try:
            dim = require_dim(self.tree())
        except ZeroDivisionError:
            raise DimSyntaxError(self.text, self.applied, "a divisor other than 0") from None
        except NoDimError as error:
            raise DimSyntaxError(self.text, self.applied, str(error)) from None
        if isinstance(dim, int) and abs(dim) > MAX_COEFFICIENT:
            raise DimSyntaxError(self.text, self.applied, TOO_LARGE)
        symbols = () if isinstance(dim, int) else dim.symbols()
        if any(s in self.scope.capped and s.name not in self.names for s in symbols):
            raise DimSyntaxError(self.text, self.applied, _CAPS)
        return dim

    def _error(self, expected: str) -> DimSyntaxError:
        position = self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)
        return DimSyntaxError(self.text, position, expected)

    def _take(self, *values: str) -> str:
        """The operator at the current position if it is one of these, else an empty text."""
        operator = self.operators[self.at]
        if operator not in values:
            return ""
        self.at += 1
        return operator

    def _expression(self) -> Thunk:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self._error(f"at most {MAX_NESTING} levels of nesting")
        thunk = self._sum()
        if self.operators[self.at] in ("&", "^"):
            thunk = self._chain(self._chain(thunk, self._sum, "&"), self._minimum, "^")
        self.depth -= 1
        return thunk

    def _minimum(self) -> Thunk:
        """Sums with `&` between them, which binds closer than `^`, as in Python."""
        return self._chain(self._sum(), self._sum, "&")

    def _sum(self) -> Thunk:
        return self._chain(self._product(), self._product, "+", "-")

    def _product(self) -> Thunk:
        """Products and divisions. Outside of a rounding `/` must be exact at once: a file may mean its floor."""
        return self._chain(self._unary(), self._unary, "*", "//", "%", "/", "/:")

    def _chain(self, first: Thunk, operand: Callable[[], Thunk], *operators: str) -> Thunk:
        """Operands with operators between them, from left to right; any number of them is one level of nesting."""
        rest: list[tuple[Operation, int, Thunk]] = []
        while sign := self._take(*operators):
            position = self.tokens[self.at - 1][2]
            if sign == "^" and self._joins_large_number():
                raise DimSyntaxError(self.text, position, _PRODUCT)
            operation = divide_exactly if sign == "/" and not self.roundings else OPERATORS[sign]
            rest.append((operation, position, operand()))
        return (lambda: self._fold(first(), rest)) if rest else first

    def _joins_large_number(self) -> bool:
        """Whether a number from 2 on is an operand of the last operator: `h^2` may be a power or a maximum."""
        operands = (self.tokens[i] for i in (self.at - 2, self.at) if 0 <= i < len(self.tokens))
        return any(kind == "int" and value not in ("0", "1") for kind, value, _ in operands)

    def _fold(self, value: Term, rest: list[tuple[Operation, int, Thunk]]) -> Term:
        for operation, position, operand in rest:
            right = operand()
            self._begin(position)
            value = operation(value, right)
        return value

    def _unary(self) -> Thunk:
        negative = False
        while sign := self._take("-", "+"):
            negative ^= sign == "-"
        value = self._power()
        return (lambda: negate(value())) if negative else value

    def _power(self) -> Thunk:
        """A primary, maybe with an exponent."""
        base = self._primary()
        if not self._take("**"):
            return base
        kind, digits = self.tokens[self.at][:2] if self.at < len(self.tokens) else ("", "")
        if kind != "int" or not digits.isdecimal() or not 1 <= int(digits) <= MAX_DEGREE:
            raise self._error(f"an exponent from 1 to {MAX_DEGREE}")
        self.at += 1
        return lambda: power(base(), int(digits))

    def _primary(self) -> Thunk:
        if self._take("("):
            inner = self._named_parts() if self._is_let() else self._expression()
            if not self._take(")"):
                raise self._error("')'")
            return inner
        if self.at >= len(self.tokens) or self.tokens[self.at][0] == "op":
            if [token[1] for token in self.tokens[max(self.at - 1, 0) : self.at + 1]] == ["*", "*"]:
                raise self._error("a product such as b*b")
            raise self._error("a number, a name or '('")
        kind, value, _ = self.tokens[self.at]
        self.at += 1
        if kind == "int":
            return (lambda: decimal(value)) if "." in value else lambda: int(value)
        if kind == "quoted":
            return self._symbol(value.replace("``", "`"))
        return self._call(value) if self._take("(") else self._name(value)

    def _name(self, name: str) -> Thunk:
        return self.parts.get(name) or self._symbol(name)

    def _symbol(self, name: str) -> Thunk:
        self.names.add(name)
        return lambda: self.scope.symbol(name, self.lo)

    def _is_let(self) -> bool:
        kinds = [token[:2] for token in self.tokens[self.at : self.at + 3]]
        return len(kinds) == 3 and kinds[0] == ("name", "let") and kinds[1][0] == "name" and kinds[2] == ("op", "=")

    def _named_parts(self) -> Thunk:
        """`let a = ..., b = ... in ...`: each name stands for its part from there to the closing parenthesis."""
        outer, self.parts = self.parts, dict(self.parts)
        definitions: list[Thunk] = []
        while self._take(",") or not definitions:
            self.at += not definitions  # `let` itself
            if self.at >= len(self.tokens) or self.tokens[self.at][0] != "name":
                raise self._error("a name")
            name = self.tokens[self.at][1]
            self.at += 1
            if not self._take("="):
                raise self._error("'='")
            definitions.append(cache(self._expression()))
            self.parts[name] = definitions[-1]
        if self.at >= len(self.tokens) or self.tokens[self.at][:2] != ("name", "in"):
            raise self._error("',' or 'in'")
        self.at += 1
        body = self._expression()
        self.parts = outer

        def value() -> Term:
            for part in definitions:  # in order: bounds the depth of recursion
                part()
            return body()

        return value

    def _call(self, name: str) -> Thunk:
        plain = name.partition(".")[2] if name.startswith(_MODULES) else name
        function = FUNCTIONS_OF_TOOLS.get(plain.lower())
        if function is None:
            raise self._error(f"one of {', '.join(FUNCTIONS)} before '('")
        position = self.tokens[self.at - 2][2]
        self.roundings += function.rounds
        args = [self._expression()]
        while self._take(","):
            args.append(self._expression())
        if not self._take(")"):
            raise self._error("',' or ')'")
        self.roundings -= function.rounds
        if len(args) > MAX_ARGUMENTS:
            raise self._error(f"at most {MAX_ARGUMENTS} arguments")
        if function.arity is not None and len(args) not in function.arity:
            raise self._error(f"{' or '.join(_COUNTS[n] for n in function.arity)} of {name}")
        return lambda: self._apply(function, position, args)

    def _apply(self, function: Function, position: int, args: list[Thunk]) -> Term:
        values = [a() for a in args]
        self._begin(position)
        return function.apply(*values)

    def _begin(self, position: int) -> None:
        """Begin the operation at this position, within the limit of work."""
        self.applied = position
        if self.scope.work > self.work_limit:
            raise DimSyntaxError(self.text, position, f"an expression of at most {MAX_WORK:,} steps")


def _alternative(character: str) -> str:
    """What is expected instead of a character that no dim contains."""
    if character in ("'", '"'):
        return "a name without quotes (an odd one in backquotes)"
    return "a number, a name or an operator"


_COUNTS = {1: "one argument", 2: "two arguments", 3: "three arguments"}
_PRODUCT = "a product such as b*b, or Max(a, b): '^' is a power for some tools and a maximum for others,"
_CAPS = f"at most {MAX_TERMS} terms of {MAX_DEGREE} factors, and {MAX_DEPTH} divisions or maxima in one another"
