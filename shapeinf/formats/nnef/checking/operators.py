"""The types of results of operators and built-in functions.

Source: NNEF 1.0.5, 3.3.3 "Expressions", table 1 of "Built-in Operators", and "Built-in Functions".
"""

from __future__ import annotations

from shapeinf.formats.nnef.checking.casting import Casting, NoCommonTypeError, has_tensor
from shapeinf.formats.nnef.language.types import (
    INTEGER,
    LOGICAL,
    SCALAR,
    STRING,
    ArrayOf,
    NnefType,
    Primitive,
    TensorOf,
)

ARITHMETIC = frozenset(["+", "-", "*", "/", "^"])
ORDER = frozenset(["<", "<=", ">", ">="])
EQUALITY = frozenset(["==", "!="])

_SCALARS, _LOGICALS = TensorOf(SCALAR), TensorOf(LOGICAL)
_NUMBERS = (INTEGER, SCALAR)


def unary_type(op: str, operand: NnefType, casting: Casting) -> NnefType | None:
    """The type of `op operand`; None if the operator is not defined for the operand."""
    tensor, primitive = (_LOGICALS, (LOGICAL,)) if op == "!" else (_SCALARS, _NUMBERS)
    if isinstance(operand, TensorOf):
        return operand if casting.casts(operand, tensor) else None
    return operand if operand in primitive else None


def binary_type(op: str, left: NnefType, right: NnefType, casting: Casting) -> NnefType | None:
    """The type of `left op right`; None if the operator is not defined for the operands."""
    if op == "in":
        return LOGICAL if isinstance(right, ArrayOf) and _comparable(left, right.of, casting) else None
    if isinstance(left, TensorOf) or isinstance(right, TensorOf):
        return _tensor_type(op, left, right, casting)
    if op in ARITHMETIC:
        return _arithmetic_type(op, left, right, casting)
    if op in ORDER:
        return LOGICAL if _number(left, right, casting) else None
    if op in EQUALITY:
        # The table has only single values; arrays and tuples are compared as `in` does.
        return LOGICAL if _number(left, right, casting) or _comparable(left, right, casting) else None
    return LOGICAL if left == right == LOGICAL else None


def _tensor_type(op: str, left: NnefType, right: NnefType, casting: Casting) -> NnefType | None:
    of = _LOGICALS if op in ("&&", "||") else _SCALARS
    if not (casting.casts(left, of) and casting.casts(right, of)):
        return None
    if op not in ARITHMETIC:
        return _LOGICALS
    # Only tract's dialect allows something other than tensor<scalar>.
    return left if isinstance(left, TensorOf) else right


def _arithmetic_type(op: str, left: NnefType, right: NnefType, casting: Casting) -> NnefType | None:
    number = _number(left, right, casting)
    if number is not None:
        return number
    if op == "*":
        return left if right == INTEGER and (left == STRING or isinstance(left, ArrayOf)) else None
    if op != "+":
        return None
    if left == right == STRING:
        return STRING
    if isinstance(left, ArrayOf) and isinstance(right, ArrayOf):
        try:
            return casting.common(left, right)
        except NoCommonTypeError:
            return None
    return None


def _number(left: NnefType, right: NnefType, casting: Casting) -> Primitive | None:
    if left not in _NUMBERS or right not in _NUMBERS:
        return None
    if left == right:
        return INTEGER if left == INTEGER else SCALAR
    return SCALAR if casting.dialect == "tract" else None


def _comparable(left: NnefType, right: NnefType | None, casting: Casting) -> bool:
    if has_tensor(left) or has_tensor(right):
        return False
    try:
        casting.common(left, right)
    except NoCommonTypeError:
        return False
    return True


RESULTS: dict[str, NnefType] = {
    "shape_of": ArrayOf(INTEGER),
    "length_of": INTEGER,
    "range_of": ArrayOf(INTEGER),
    "extent": INTEGER,
    "integer": INTEGER,
    "scalar": SCALAR,
    "logical": LOGICAL,
    "string": STRING,
}
"""The types of results of built-in functions."""


def required_operand(name: str, operand: NnefType, casting: Casting) -> str | None:
    """The description of the operand that a function of the language takes; None where an operand of this type fits."""
    if name == "shape_of":
        return None  # defined for all values; [] for those that are no tensors
    if name in ("length_of", "range_of"):
        fits = isinstance(operand, ArrayOf) or operand == STRING
        required = "an array or a string"
    else:
        fits = isinstance(operand, Primitive)
        required = "a single value that is not a tensor"
    return None if fits or (casting.dialect == "tract" and isinstance(operand, TensorOf)) else required
