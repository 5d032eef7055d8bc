"""Text to dimensions: the strict grammar of users, the lenient one of files.

Strict: `+ - * // %`, parentheses, `max min floordiv ceildiv mod`, names, names in backquotes, and named parts as
`printing` writes them: `(let p1 = H//2 in p1*p1 + p1)`. Lenient: also the forms of other tools (`Max(1, s3)`, `h**2`,
`floor(h/2 - 1/2) + 1`, which sympy writes for `(h + 1)//2`; `ratios` lists their functions and operators); a text that
is no expression is one opaque symbol; never an exception.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from shapeinf.errors import DimSyntaxError
from shapeinf.expr.dimension import MAX_DEGREE, MAX_DEPTH, MAX_TERMS, DimSize, Scope
from shapeinf.expr.ratios import (
    FUNCTIONS,
    LENIENT_FUNCTIONS,
    OPERATORS,
    Function,
    NoDimError,
    Term,
    decimal,
    divide,
    negate,
    power,
    require_dim,
)

MAX_LENGTH = 10_000
MAX_NESTING = 50

Thunk = Callable[[], Term]
"""A parsed part of the text: builds its dim, or in a rounding of the lenient grammar a ratio."""

AXIS_OF_NAME = r"[^\W\d][\w.]*\.shape\[\d+\](?:#\d+)?"
"""A name that is an axis of a value, such as `x.shape[0]`: it needs no quotes."""

MAX_NUMBER = 2**62
"""The largest number that users specify: sums of a few such sizes fit 64 bits."""
TOO_LARGE = "a number of at most 2**62"


def is_too_large(digits: str) -> bool:
    """Whether a number in a text of a user is past `MAX_NUMBER`."""
    digits = digits.lstrip("0")
    return len(digits) > 19 or int(digits or 0) > MAX_NUMBER


_TOKEN = re.compile(rf"\s*(?:(\d+)|({AXIS_OF_NAME}|[^\W\d]\w*)|`((?:[^`]|``)*)`|(//|[-+*%(),/=]))")
_LENIENT_TOKEN = re.compile(
    rf"\s*(?:(\d+(?:\.\d+)?)|({AXIS_OF_NAME}|[^\W\d]\w*(?:\.\w+)*)|`((?:[^`]|``)*)`|(//|\*\*|/:|[-+*%(),/=^&]))"
)
"""As `_TOKEN`, with decimals, names with dots, powers, and `^ & /:` (see `ratios.OPERATORS`)."""
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,99}")
"""The usual name of a dim, which needs no parser."""
_HAS_LETTERS = re.compile(r"[^\W\d]")
_HYPHENATED = re.compile(r"[^\W\d]\w*(?:-\w+)+")
_DOTTED = re.compile(r"[^\W\d]\w*(?:[.:]+\w+)+")
"""Qualified names, as some exporters number dims; they are never expressions."""


def parse_dim(text: str, scope: Scope, lo: int | None = 1) -> DimSize:
    """Read a dim in the strict grammar. New names get the lower bound `lo`.

    Raises DimSyntaxError, also for a division by 0 and for an expression past the caps of the algebra.

    >>> s = Scope()
    >>> str(parse_dim("2*(past + seq) // 2", s)), parse_dim("ceildiv(7, 2)", s)
    ('past + seq', 4)
    """
    return _Parser(text, scope, lo, lenient=False).parse()


def parse_dim_lenient(text: str, scope: Scope, lo: int | None = 1) -> tuple[DimSize | None, str | None]:
    """Read a dim name of a file: the dim and a note on an unusual name, each or None. Never raises.

    The dim is None where the name declares no size.

    >>> s = Scope()
    >>> parse_dim_lenient("floor(H/2)", s)
    (H//2, None)
    >>> parse_dim_lenient("batch-size", s)[0].name
    'batch-size'
    >>> parse_dim_lenient("DynamicDimension.0", s)
    (`DynamicDimension.0`, None)
    """
    stripped = text.strip()
    if stripped in ("", "?", "None"):
        return None, f"the dim name {text!r} declares no size" if text != "" else None
    if scope.has(text):
        return scope.symbol(text), None
    if _PLAIN_NAME.fullmatch(text):
        return scope.symbol(text, lo), None
    if _hyphenated_name(stripped, scope):
        return scope.symbol(text, lo), f"the dim name {text!r} is taken as one name, not as a difference"
    dim = _try_parse(stripped, scope, lo)
    if dim is None:
        if _DOTTED.fullmatch(stripped):
            return scope.symbol(text, lo), None
        return scope.symbol(text, lo), f"the dim name {text[:60]!r} is not an expression: taken as one name"
    if isinstance(dim, int) and dim < 0:
        return None, f"the dim name {text!r} is a negative number"
    if isinstance(dim, int) and not _HAS_LETTERS.search(stripped):
        return scope.symbol(text, lo), f"the dim name {text!r} is taken as a name, not as the size {dim}"
    return dim, None


def _try_parse(text: str, scope: Scope, lo: int | None) -> DimSize | None:
    """The dim of a text in the lenient grammar, None for another text; other tools do not quote the names in it."""
    try:
        return _Parser(text, scope, lo, lenient=True).parse()
    except DimSyntaxError:
        quoted = _quote_known_names(text, scope)
    try:
        return None if quoted == text else _Parser(quoted, scope, lo, lenient=True).parse()
    except DimSyntaxError:
        return None


def _quote_known_names(text: str, scope: Scope) -> str:
    """The text with backquotes around those names of symbols that are no plain names, such as `batch size`."""
    names = [name for name in scope.names() if name in text and not name.isidentifier()]
    if not names or "`" in text:
        return text
    alternatives = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{alternatives})(?!\w)", lambda match: f"`{match[0]}`", text)


def _hyphenated_name(text: str, scope: Scope) -> bool:
    return bool(_HYPHENATED.fullmatch(text)) and not all(part.isdigit() or scope.has(part) for part in text.split("-"))


class _Parser:
    """Recursive descent over one text; the scope gets no symbols before the full text is parsed."""

    def __init__(self, text: str, scope: Scope, lo: int | None, lenient: bool) -> None:
        self.text = text
        self.scope = scope
        self.lo = lo
        self.lenient = lenient
        self.tokens = self._tokenize()
        self.at = 0
        self.depth = 0
        self.roundings = 0
        """The number of roundings around the current position."""
        self.applied = 0
        """The position of the operator or function that is being applied."""
        self.parts: dict[str, Thunk] = {}

    def _tokenize(self) -> list[tuple[str, str, int]]:
        text = self.text
        if len(text) > MAX_LENGTH:
            raise DimSyntaxError(text, MAX_LENGTH, f"at most {MAX_LENGTH} characters")
        tokens = []
        pattern = _LENIENT_TOKEN if self.lenient else _TOKEN
        at, end = 0, len(text.rstrip())
        while at < end:
            match = pattern.match(text, at)
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

    def parse(self) -> DimSize:
        tree = self._expression()
        if self.at < len(self.tokens):
            divided = self.tokens[self.at][1] == "/"
            raise self._error("'//' (floor division) instead of '/'" if divided else "an operator or the end")
        try:
            dim = require_dim(tree())
        except ZeroDivisionError:
            raise DimSyntaxError(self.text, self.applied, "a divisor other than 0") from None
        except NoDimError:
            raise DimSyntaxError(self.text, self.applied, "a division without rest") from None
        named = {value for _, value, _ in self.tokens}
        symbols = () if isinstance(dim, int) else dim.symbols()
        if any(s in self.scope.capped and s.name not in named for s in symbols):
            raise DimSyntaxError(self.text, self.applied, _CAPS)
        return dim

    def _error(self, expected: str) -> DimSyntaxError:
        position = self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)
        return DimSyntaxError(self.text, position, expected)

    def _take(self, *values: str) -> str | None:
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "op" and self.tokens[self.at][1] in values:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def _expression(self) -> Thunk:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self._error(f"at most {MAX_NESTING} levels of nesting")
        thunk = self._chain(self._minimum, "^") if self.lenient else self._sum()
        self.depth -= 1
        return thunk

    def _minimum(self) -> Thunk:
        """Sums with `&` between them, which binds closer than `^`, as in Python."""
        return self._chain(self._sum, "&")

    def _sum(self) -> Thunk:
        return self._chain(self._product, "+", "-")

    def _product(self) -> Thunk:
        """Products and divisions. Outside of a rounding `/` must be exact at once: a file may mean its floor."""
        return self._chain(self._unary, "*", "//", "%", *(("/", "/:") if self.lenient else ()))

    def _chain(self, operand: Callable[[], Thunk], *operators: str) -> Thunk:
        """Operands with operators between them, from left to right; any number of them is one level of nesting."""
        first = operand()
        rest: list[tuple[str, int, Thunk]] = []
        while sign := self._take(*operators):
            position = self.tokens[self.at - 1][2]
            if sign == "^" and self._joins_large_number():
                raise DimSyntaxError(self.text, position, _PRODUCT)
            rest.append((_EXACTLY if sign == "/" and not self.roundings else sign, position, operand()))
        return (lambda: self._fold(first(), rest)) if rest else first

    def _joins_large_number(self) -> bool:
        """Whether a number from 2 on is an operand of the last operator: `h^2` may be a power or a maximum."""
        operands = (self.tokens[i] for i in (self.at - 2, self.at) if 0 <= i < len(self.tokens))
        return any(kind == "int" and value not in ("0", "1") for kind, value, _ in operands)

    def _fold(self, value: Term, rest: list[tuple[str, int, Thunk]]) -> Term:
        for sign, position, operand in rest:
            right = operand()
            self.applied = position
            value = require_dim(divide(value, right)) if sign == _EXACTLY else OPERATORS[sign](value, right)
        return value

    def _unary(self) -> Thunk:
        negative = False
        while self._take("-"):
            negative = not negative
        value = self._power() if self.lenient else self._primary()
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
                raise self._error(_PRODUCT)
            raise self._error("a number, a name or '('")
        kind, value, _ = self.tokens[self.at]
        self.at += 1
        if kind == "int":
            return (lambda: decimal(value)) if "." in value else lambda: int(value)
        if kind == "quoted":
            name = value.replace("``", "`")
            return lambda: self.scope.symbol(name, self.lo)
        return self._call(value) if self._take("(") else self._name(value)

    def _name(self, name: str) -> Thunk:
        return self.parts.get(name) or (lambda: self.scope.symbol(name, self.lo))

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
        function = LENIENT_FUNCTIONS.get(name.lower()) if self.lenient else FUNCTIONS.get(name)
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
        if function.arity is not None and len(args) not in function.arity:
            raise self._error(f"{' or '.join(_COUNTS[n] for n in function.arity)} of {name}")
        return lambda: self._apply(function, position, args)

    def _apply(self, function: Function, position: int, args: list[Thunk]) -> Term:
        values = [a() for a in args]
        self.applied = position
        return function.apply(*values)


def _alternative(character: str) -> str:
    """What is expected instead of a character that no dim contains."""
    if character in ("'", '"'):
        return "a name without quotes (an odd one in backquotes)"
    return _PRODUCT if character == "^" else "a number, a name or an operator"


_COUNTS = {1: "one argument", 2: "two arguments"}
_EXACTLY = "exactly"
"""A division that must be exact."""
_PRODUCT = "a product such as b*b (powers are not supported)"


_CAPS = f"at most {MAX_TERMS} terms of {MAX_DEGREE} factors, and {MAX_DEPTH} divisions or maxima in one another"
