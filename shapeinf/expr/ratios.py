"""Exact quotients inside the dim texts of other tools: `floor(h/2 - 1/2) + 1`, as sympy writes `(h + 1)//2`.

A `Term` is a dim, or a `Ratio` of two. Only a rounding (`floor`, `ceiling`) makes a dim of a ratio that is not whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import NamedTuple

from shapeinf.expr.dimension import MAX_DEGREE, DimSize
from shapeinf.expr.division import ceildiv, exact_quotient
from shapeinf.expr.extremum import maximum, minimum

MAX_DIGITS = 15
"""The most digits of a decimal: sympy prints 15, so that a longer one, or one that fills them, may be rounded."""


class Ratio(NamedTuple):
    """`numerator / denominator`, not a whole dim; a number in the denominator is at least 2."""

    numerator: DimSize
    denominator: DimSize


Term = DimSize | Ratio


class NoDimError(ValueError):
    """No dim or ratio is the result; the text is what is expected. Internal: caught in `expr.parsing`."""


def _parts(term: Term) -> tuple[DimSize, DimSize]:
    return term if isinstance(term, Ratio) else (term, 1)


def divide(a: Term, b: Term) -> Term:
    """`a / b`, a dim where the quotient is exact as a polynomial. Raises ZeroDivisionError for the number 0.

    >>> divide(divide(6, 4), divide(1, 2))
    3
    """
    (p, q), (r, s) = _parts(a), _parts(b)
    numerator, denominator = p * s, q * r
    if isinstance(denominator, int) and denominator < 0:
        numerator, denominator = -numerator, -denominator
    if denominator == 0:
        raise ZeroDivisionError
    quotient = exact_quotient(numerator, denominator)
    if quotient is not None:
        return quotient
    common = gcd(denominator, *_coefficients(numerator)) if isinstance(denominator, int) else 1
    if common > 1:
        numerator, denominator = _divide_coefficients(numerator, common), denominator // common
    return Ratio(numerator, denominator)


def _divide_coefficients(d: DimSize, divisor: int) -> DimSize:
    """The quotient by a divisor of all coefficients."""
    return d // divisor if isinstance(d, int) else d.scope.make({m: c // divisor for m, c in d.terms})


def divide_exactly(a: Term, b: Term) -> DimSize:
    """`a / b` outside of a rounding, which must be a dim: elsewhere a file may mean the quotient or its floor."""
    quotient = divide(a, b)
    if isinstance(quotient, Ratio):
        raise NoDimError("'//' (floor division) instead of '/'")
    return quotient


def _coefficients(d: DimSize) -> list[int]:
    return [d] if isinstance(d, int) else [coefficient for _, coefficient in d.terms]


def add(a: Term, b: Term) -> Term:
    """`a + b`."""
    if not isinstance(a, Ratio) and not isinstance(b, Ratio):
        return a + b
    (p, q), (r, s) = _parts(a), _parts(b)
    return divide(p + r, q) if q == s else divide(p * s + r * q, q * s)


def negate(a: Term) -> Term:
    """`-a`."""
    return Ratio(-a.numerator, a.denominator) if isinstance(a, Ratio) else -a


def subtract(a: Term, b: Term) -> Term:
    """`a - b`."""
    return add(a, negate(b))


def multiply(a: Term, b: Term) -> Term:
    """`a * b`."""
    if not isinstance(a, Ratio) and not isinstance(b, Ratio):
        return a * b
    (p, q), (r, s) = _parts(a), _parts(b)
    return divide(p * r, q * s)


def floor(a: Term) -> DimSize:
    """The largest whole number that is not above a term."""
    p, q = _parts(a)
    return p if q == 1 else p // q


def ceiling(a: Term) -> DimSize:
    """The least whole number that is not below a term."""
    p, q = _parts(a)
    if q == 1:
        return p
    return ceildiv(p, q) if isinstance(q, int) else -(-p // q)


def truncate(a: Term) -> DimSize:
    """The whole number next to a term on the side of 0."""
    return maximum(floor(a), 0) + minimum(ceiling(a), 0)


def floor_divide(a: Term, b: Term) -> DimSize:
    """`floor(a / b)`. Raises ZeroDivisionError for the number 0."""
    return a // b if not isinstance(a, Ratio) and not isinstance(b, Ratio) else floor(divide(a, b))


def remainder(a: Term, b: Term) -> DimSize:
    """`a - b*floor(a / b)` of dims."""
    return require_dim(a) % require_dim(b)


def extremum(choose: Callable[..., DimSize], terms: Sequence[Term]) -> Term:
    """The maximum or minimum of terms, whose denominators must be numbers."""
    product = 1
    for _, denominator in map(_parts, terms):
        if not isinstance(denominator, int):
            raise NoDimError("a number as the denominator")
        product *= denominator
    scaled = [multiply(term, product) for term in terms]
    return divide(choose(*map(require_dim, scaled)), product)


def largest(*terms: Term) -> Term:
    """The maximum."""
    return extremum(maximum, terms)


def smallest(*terms: Term) -> Term:
    """The minimum."""
    return extremum(minimum, terms)


def power(base: Term, exponent: int) -> Term:
    """`base ** exponent` for an exponent from 1 on."""
    result = base
    for _ in range(exponent - 1):
        result = multiply(result, base)
    return result


def decimal(text: str) -> Term:
    """The exact value of `0.5` or `2.0`. Raises NoDimError for a number that may be a rounded one, such as 0.333."""
    digits, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    value = divide(int(digits + fraction), 10 ** len(fraction))
    _, denominator = _parts(value)
    assert isinstance(denominator, int)
    if denominator & (denominator - 1) or len(digits + fraction) >= MAX_DIGITS:
        raise NoDimError("an exact decimal such as 0.5")
    return value


def require_dim(term: Term) -> DimSize:
    """The dim. Raises NoDimError for a ratio."""
    if isinstance(term, Ratio):
        raise NoDimError("a division without rest")
    return term


def magnitude(a: Term) -> Term:
    """`abs(a)`."""
    return largest(a, negate(a))


def itself(a: Term) -> Term:
    """The term."""
    return a


def positive_part(a: Term) -> Term:
    """`max(a, 0)`."""
    return largest(a, 0)


def power_of(base: Term, exponent: Term) -> Term:
    """`base ** exponent` for a number from 1 to MAX_DEGREE. Raises NoDimError for another exponent."""
    if not isinstance(exponent, int) or not 1 <= exponent <= MAX_DEGREE:
        raise NoDimError(f"an exponent from 1 to {MAX_DEGREE}")
    return power(base, exponent)


Operation = Callable[[Term, Term], Term]

OPERATORS: dict[str, Operation] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "//": floor_divide,
    "/:": floor_divide,
    "%": remainder,
    "^": largest,
    "&": smallest,
}
"""Those of a proposal for ONNX: `/:` is a division that is known to be exact, `^` the maximum and `&` the minimum."""


def _rounded_quotient(a: Term, b: Term) -> DimSize:
    return ceildiv(require_dim(a), require_dim(b))


def _ceiling_of(a: Term, b: Term = 1) -> DimSize:
    return ceiling(divide(a, b))


class Function(NamedTuple):
    """A function of a dim text.

    Args:
        apply: its value.
        arity: the number of its arguments; None for any.
        rounds: whether quotients in its arguments need not be whole.
    """

    apply: Callable[..., Term]
    arity: tuple[int, ...] | None = (2,)
    rounds: bool = False


FUNCTIONS = {
    "max": Function(largest, None),
    "min": Function(smallest, None),
    "floordiv": Function(floor_divide),
    "ceildiv": Function(_rounded_quotient),
    "mod": Function(remainder),
}
"""The functions that users should write, and that messages list."""

_FLOOR, _CEILING, _TRUNCATION = (Function(f, (1,), rounds=True) for f in (floor, ceiling, truncate))


def _modular_index(a: Term, b: Term, modulus: Term) -> DimSize:
    return remainder(floor_divide(a, b), modulus)


FUNCTIONS_OF_TOOLS = FUNCTIONS | {
    "floor": _FLOOR,
    "floortoint": _FLOOR,
    "ceil": _CEILING,
    "ceiling": _CEILING,
    "ceiltoint": Function(_ceiling_of, (1, 2), rounds=True),
    "trunc": _TRUNCATION,
    "trunctoint": _TRUNCATION,
    "pythonmod": Function(remainder),
    "modularindexing": Function(_modular_index, (3,)),
    "cleandiv": Function(floor_divide),
    "inttruediv": Function(divide),
    "floattruediv": Function(divide),
    "powbynatural": Function(power_of),
    "tofloat": Function(itself, (1,)),
    "identity": Function(itself, (1,)),
    "abs": Function(magnitude, (1,)),
    "sym_max": Function(largest, None),
    "sym_min": Function(smallest, None),
    "non_negative": Function(positive_part, (1,)),
}
"""All functions of dim texts, in small letters: also those of sympy, torch, jax, and a proposal for ONNX."""
