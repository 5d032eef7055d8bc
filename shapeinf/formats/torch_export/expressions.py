"""The texts of sizes in programs of torch.export, as texts in shapeinf's grammar of dims.

A program has sizes as sympy's `srepr` (`Add(Symbol('s77', positive=True, integer=True), Integer(1))`); older files have
plain texts (`2*s0 + 1`, `Max(1, u0)`). Both are read as syntax trees of Python and never evaluated.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeGuard

MAX_LENGTH = 1 << 14
"""Characters of an expression."""
MAX_DEPTH = 100
"""Brackets and operations inside one another."""
MAX_NUMBER = 2**63
MAX_DENOMINATOR = 1 << 20
"""Of floats with a larger denominator torch's rounding is not that of exact numbers."""
MAX_POWER = 8

_LONG_NUMBER = re.compile(r"[0-9]{20}")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class UnreadableError(ValueError):
    """A text that is no expression of sizes, or one that shapeinf cannot express.

    Internal: caught in `formats.torch_export.reader` and `formats.torch_export.guards`.
    """


class Term(NamedTuple):
    """A part of an expression in shapeinf's grammar; `integral`: it is an integer for all sizes.

    `negative`: it may be less than 0 where sizes are not.
    """

    text: str
    integral: bool = True
    negative: bool = False
    number: Fraction | None = None


Names = Callable[[str], str]
"""The text in shapeinf's grammar of a symbol of torch."""
Source = Callable[[ast.expr], str | None]
"""The text of a source such as `L['x'].size()[0]`; None for any other syntax tree."""


def parse_tree(text: str) -> ast.expr:
    """The syntax tree of a text. Raises UnreadableError past a limit, and for a text that is no expression."""
    if len(text) > MAX_LENGTH:
        raise UnreadableError(f"the expression has more than {MAX_LENGTH} characters")
    if _LONG_NUMBER.search(text):
        raise UnreadableError("the expression has a number of more than 19 digits")
    if _depth(text) > MAX_DEPTH:
        raise UnreadableError(f"the expression has more than {MAX_DEPTH} brackets inside one another")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:  # Python's parser has limits of its own
        raise UnreadableError("the text is not an expression") from error


def _depth(text: str) -> int:
    """The most brackets inside one another."""
    depth = most = 0
    for character in text:
        if character in "([{":
            depth += 1
            most = max(most, depth)
        elif character in ")]}":
            depth -= 1
    return most


def read_size(text: str, names: Names) -> int | str:
    """A size as a number, or as a text in shapeinf's grammar. Raises UnreadableError.

    >>> read_size("Add(Symbol('s77', positive=True, integer=True), Integer(-1))", str)
    '(s77 + -1)'
    >>> read_size("TruncToInt(Mul(Float('1.5', precision=53), ToFloat(Symbol('s1'))))", str), read_size("2*s0//3", str)
    ('floor((3*s1)/(2))', '((2*s0)//3)')
    """
    term = ExpressionReader(names).read(parse_tree(text))
    if term.number is not None and term.number.denominator == 1:
        return int(term.number)
    if not term.integral:
        raise UnreadableError("the size is not an integer")
    return term.text


def symbols_of(text: str) -> set[str]:
    """The names in an expression that may be symbols; none for a text that is no expression."""
    try:
        tree = parse_tree(text)
    except UnreadableError:
        return set()
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return named | {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and is_name(node.value)}


def is_name(value: object) -> TypeGuard[str]:
    """Whether a value is a text that may name a symbol."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


class ExpressionReader:
    """Reads syntax trees of sizes; `source` reads the parts that are no calls, names and operations."""

    def __init__(self, names: Names, source: Source = lambda tree: None) -> None:
        """See `Names` and `Source`."""
        self.names = names
        self.source = source
        self.depth = 0

    def read(self, tree: ast.expr) -> Term:
        """The term of a syntax tree. Raises UnreadableError."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableError(f"the expression has more than {MAX_DEPTH} operations inside one another")
        try:
            return self._read(tree)
        finally:
            self.depth -= 1

    def _read(self, tree: ast.expr) -> Term:
        text = self.source(tree)
        if text is not None:
            return Term(text)
        if isinstance(tree, ast.Constant) and isinstance(tree.value, (int, float)) and type(tree.value) is not bool:
            return _number(tree.value)
        if isinstance(tree, ast.Name):
            return Term(self.names(tree.id))
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return _multiply([_number(-1), self.read(tree.operand)])
        if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
            return _OPERATORS[type(tree.op)]([self.read(tree.left), self.read(tree.right)])
        if isinstance(tree, ast.Call):
            return self._call(tree)
        raise UnreadableError("the text is not an expression of sizes")

    def _call(self, tree: ast.Call) -> Term:
        name = tree.func.id if isinstance(tree.func, ast.Name) else getattr(tree.func, "attr", "")
        if name in ("Symbol", "Integer", "Float", "Rational"):
            return self._leaf(name, tree.args)
        if name not in _FUNCTIONS:
            raise UnreadableError(f"the function {name[:40]} of sizes is not known")
        return _FUNCTIONS[name]([self.read(argument) for argument in tree.args])

    def _leaf(self, name: str, arguments: Sequence[ast.expr]) -> Term:
        """A symbol or a number of `srepr`."""
        if name in ("Integer", "Rational"):
            numbers = [self.read(argument).number for argument in arguments]
            if not numbers or len(numbers) > 2 or None in numbers or 0 in numbers[1:]:
                raise UnreadableError(f"{name} must have numbers")
            first, *others = (number for number in numbers if number is not None)
            return _number(first / others[0] if others else first)
        value = arguments[0].value if arguments and isinstance(arguments[0], ast.Constant) else None
        if name == "Symbol" and is_name(value):
            return Term(self.names(value))
        if name == "Float" and isinstance(value, (str, float, int)):
            try:
                return _number(float(value))
            except ValueError:
                pass
        raise UnreadableError(f"{name} must have a text")


def _number(value: float | Fraction) -> Term:
    try:
        number = Fraction(value)
    except (ValueError, OverflowError) as error:
        raise UnreadableError("a number is not finite") from error
    if abs(number) > MAX_NUMBER or number.denominator > MAX_DENOMINATOR:
        raise UnreadableError("a number is too large, or a fraction that sizes do not have")
    text = str(number.numerator) if number >= 0 else f"({number.numerator})"
    if number.denominator > 1:
        text = f"({text}/{number.denominator})"
    return Term(text, number.denominator == 1, number < 0, number)


def _add(terms: Sequence[Term]) -> Term:
    if all(term.number is not None for term in terms):
        return _number(sum((term.number or Fraction() for term in terms), Fraction()))
    parts = " + ".join(_summand(term) for term in terms)
    return Term(f"({parts})", all(term.integral for term in terms), any(term.negative for term in terms))


def _summand(term: Term) -> str:
    """The text of a term of a sum: a negative number needs no brackets behind a plus."""
    return str(term.number) if term.number is not None and term.integral else term.text


def _subtract(terms: Sequence[Term]) -> Term:
    first, second = _take(terms, 2)
    return _add([first, _multiply([_number(-1), second])])


def _multiply(terms: Sequence[Term]) -> Term:
    """A product; factors that are quotients become one quotient."""
    number = Fraction(1)
    above: list[Term] = []
    for term in terms:
        if term.number is None:
            above.append(term)
        else:
            number *= term.number
    if not above:
        return _number(number)
    negative = number < 0 or any(term.negative for term in above)
    factors = [_number(number.numerator).text] if number.numerator != 1 else []
    product = "*".join([*factors, *(term.text for term in above)])
    if number.denominator == 1:
        grouped = product if len(factors) + len(above) == 1 else f"({product})"
        return Term(grouped, all(term.integral for term in above), negative)
    return Term(f"({product})/({number.denominator})", False, negative)


def _power(terms: Sequence[Term]) -> Term:
    base, exponent = _take(terms, 2)
    times = exponent.number
    if times == -1 and base.number != 0:
        return _divide([_number(1), base])
    if times is None or times.denominator > 1 or not 0 <= times <= MAX_POWER:
        raise UnreadableError(f"a power must have an exponent of at most {MAX_POWER}")
    return _multiply([base] * int(times) or [_number(1)])


def _divide(terms: Sequence[Term]) -> Term:
    first, second = _take(terms, 2)
    if second.number == 0:
        raise UnreadableError("a divisor is 0")
    if first.number is not None and second.number is not None:
        return _number(first.number / second.number)
    return Term(f"(({first.text})/({second.text}))", False, first.negative or second.negative)


def _floor_divide(terms: Sequence[Term]) -> Term:
    first, second = _take(terms, 2)
    if first.integral and second.integral:
        if second.number == 0:
            raise UnreadableError("a divisor is 0")
        return Term(f"({first.text}//{second.text})", True, first.negative or second.negative)
    return _floor([_divide(terms)])


def _modulo(terms: Sequence[Term]) -> Term:
    first, second = _take(terms, 2)
    if not (first.integral and second.integral) or second.number == 0:
        raise UnreadableError("the operands of a remainder must be integers other than 0")
    return Term(f"({first.text} % {second.text})", True, second.negative)


def _floor(terms: Sequence[Term]) -> Term:
    (term,) = _take(terms, 1)
    return term if term.integral else Term(f"floor({term.text})", True, term.negative)


def _ceil(terms: Sequence[Term]) -> Term:
    (term,) = _take(terms, 1)
    return term if term.integral else Term(f"ceiling({term.text})", True, term.negative)


def _truncate(terms: Sequence[Term]) -> Term:
    (term,) = _take(terms, 1)
    if term.negative and not term.integral:
        raise UnreadableError("a number that may be negative is rounded to 0")
    return _floor(terms)


def _same(terms: Sequence[Term]) -> Term:
    (term,) = _take(terms, 1)
    return term


def _extreme(name: str) -> Callable[[Sequence[Term]], Term]:
    def read(terms: Sequence[Term]) -> Term:
        if not terms or not all(term.integral for term in terms):
            raise UnreadableError(f"the operands of {name} must be integers")
        combine = all if name == "max" else any
        return Term(f"{name}({', '.join(term.text for term in terms)})", True, combine(t.negative for t in terms))

    return read


def _ceil_divide(terms: Sequence[Term]) -> Term:
    return _ceil([_divide(terms)])


def _take(terms: Sequence[Term], count: int) -> Sequence[Term]:
    if len(terms) != count:
        raise UnreadableError("a function of sizes has a wrong number of operands")
    return terms


_OPERATORS: Mapping[type[ast.operator], Callable[[Sequence[Term]], Term]] = {
    ast.Add: _add,
    ast.Sub: _subtract,
    ast.Mult: _multiply,
    ast.Div: _divide,
    ast.FloorDiv: _floor_divide,
    ast.Mod: _modulo,
    ast.Pow: _power,
}

_FUNCTIONS: Mapping[str, Callable[[Sequence[Term]], Term]] = {
    "Add": _add,
    "Mul": _multiply,
    "Pow": _power,
    "PowByNatural": _power,
    **dict.fromkeys(("FloorDiv", "CleanDiv"), _floor_divide),
    **dict.fromkeys(("Mod", "PythonMod"), _modulo),
    **dict.fromkeys(("IntTrueDiv", "FloatTrueDiv"), _divide),
    **dict.fromkeys(("CeilDiv", "ceildiv"), _ceil_divide),
    **dict.fromkeys(("FloorToInt", "floor", "Floor"), _floor),
    **dict.fromkeys(("CeilToInt", "ceil", "ceiling", "Ceil"), _ceil),
    **dict.fromkeys(("TruncToInt", "TruncToFloat", "trunc", "int"), _truncate),
    **dict.fromkeys(("ToFloat", "Identity", "float"), _same),
    **dict.fromkeys(("Max", "max"), _extreme("max")),
    **dict.fromkeys(("Min", "min"), _extreme("min")),
}
