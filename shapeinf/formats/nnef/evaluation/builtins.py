"""Operators, casts and built-in functions of values that are known when the graph is built.

Source: NNEF 1.0.5, 3.3.5 "Expressions" and 3.3.6 "Built-in functions". Where it is silent: integers have any size,
their division rounds down, indices count from 0 and never from the end, and a range must lie within its array.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any, TypeGuard

from shapeinf.formats.nnef.evaluation.values import (
    MAX_BITS,
    MAX_ITEMS,
    BadValue,
    Value,
    check_limits,
    is_known,
    kind_of,
    size_of,
)

_INTEGER = re.compile(r"[+-]?[0-9]+")
_SCALAR = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|[+-]?inf")


def binary(op: str, left: Value, right: Value) -> Value:
    """`left op right`. Raises BadValue where there is no result."""
    result: Value | None
    if is_number(left) and is_number(right):
        result = _NUMBERS[op](left, right) if op in _NUMBERS else None
    else:
        result = _OTHERS[op](left, right) if op in _OTHERS else None
    if result is None:
        raise BadValue(f"operator {op} is not defined for {kind_of(left)} and {kind_of(right)}")
    return check_limits(result)


def unary(op: str, value: Value) -> Value:
    """`op value`. Raises BadValue where there is no result."""
    if op == "!" and isinstance(value, bool):
        return not value
    if op != "!" and is_number(value):
        return -value if op == "-" else value
    raise BadValue(f"operator {op} is not defined for {kind_of(value)}")


def is_number(value: Value) -> TypeGuard[float]:
    """Whether a value is an integer or a scalar, but no logical, which Python counts as an integer."""
    return type(value) is int or type(value) is float


# -- numbers ---------------------------------------------------------------------------------------------------------


def _check_overflow(operation: Callable[[float, float], float]) -> Callable[[float, float], float]:
    def compute(a: float, b: float) -> float:
        try:
            return operation(a, b)
        except OverflowError:
            raise BadValue("the result is too large for a scalar") from None

    return compute


def _divide(a: float, b: float) -> float:
    if b == 0:
        raise BadValue("division by zero")
    return a // b if type(a) is int and type(b) is int else a / b


def _product(a: float, b: float) -> float:
    if isinstance(a, int) and isinstance(b, int) and a.bit_length() + b.bit_length() > 2 * MAX_BITS:
        raise BadValue(f"the integer has more than {MAX_BITS:,} bits", code="N902")
    return a * b


def _power(a: float, b: float) -> float:
    if isinstance(a, int) and isinstance(b, int):
        if b < 0:
            raise BadValue("an integer has no integer power with a negative exponent", 1)
        if abs(a) > 1 and (a.bit_length() - 1) * b > MAX_BITS:
            raise BadValue(f"the integer has more than {MAX_BITS:,} bits", code="N902")
    if a == 0 and b < 0:
        raise BadValue("division by zero")
    result: object = a**b
    if isinstance(result, complex):
        raise BadValue("a negative scalar has no power with a fractional exponent", 0)
    return result  # type: ignore[return-value]


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_NUMBERS: dict[str, Callable[[float, float], float]] = {
    "+": _check_overflow(operator.add),
    "-": _check_overflow(operator.sub),
    "*": _check_overflow(_product),
    "/": _check_overflow(_divide),
    "^": _check_overflow(_power),
    **_COMPARISONS,
}


# -- everything else -------------------------------------------------------------------------------------------------


def _join(a: Value, b: Value) -> Value | None:
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) + len(b) > MAX_ITEMS:
            raise BadValue(f"the array has more than {MAX_ITEMS:,} items", code="N902")
        return a + b
    return a + b if isinstance(a, str) and isinstance(b, str) else None


def _repeat(a: Value, b: Value) -> Value | None:
    if not isinstance(a, (tuple, str)) or type(b) is not int:
        return None
    if b < 0:
        raise BadValue(f"{b} is not a number of repetitions", 1)
    if len(a) * b > MAX_ITEMS:
        raise BadValue(f"the {kind_of(a)} has more than {MAX_ITEMS:,} items", code="N902")
    return a * b


def _equal(a: Value, b: Value) -> bool:
    for side, value in enumerate((a, b)):
        if size_of(value) and not is_known(value):
            raise BadValue("tensors in arrays cannot be compared", side)
    return a == b


def _contains(a: Value, b: Value) -> bool | None:
    return None if not isinstance(b, tuple) else any(_equal(a, item) for item in b)


_OTHERS: dict[str, Callable[[Value, Value], Value | None]] = {
    "+": _join,
    "*": _repeat,
    "==": _equal,
    "!=": lambda a, b: not _equal(a, b),
    "in": _contains,
    "&&": lambda a, b: a and b if isinstance(a, bool) and isinstance(b, bool) else None,
    "||": lambda a, b: a or b if isinstance(a, bool) and isinstance(b, bool) else None,
}


# -- functions -------------------------------------------------------------------------------------------------------


def function(name: str, value: Value) -> Value:
    """A built-in function other than `shape_of`. Raises BadValue where there is no result."""
    return check_limits(_FUNCTIONS[name](value))


def _length_of(value: Value) -> Value:
    if isinstance(value, (tuple, str)):
        return len(value)
    raise BadValue(f"length_of takes an array or a string, not {kind_of(value)}", 0)


def _range_of(value: Value) -> Value:
    if isinstance(value, (tuple, str)):
        return tuple(range(len(value)))
    raise BadValue(f"range_of takes an array or a string, not {kind_of(value)}", 0)


def _integer(value: Value) -> Value:
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value) or len(value) > MAX_BITS // 4:
            raise BadValue(f"the string {value!r} is not an integer literal", 0)
        return int(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise BadValue("an infinite scalar is not an integer", 0)
    return math.floor(_primitive("integer", value))


def _scalar(value: Value) -> Value:
    if isinstance(value, str):
        if not _SCALAR.fullmatch(value):
            raise BadValue(f"the string {value!r} is not a scalar literal", 0)
        return float(value)
    try:
        return float(_primitive("scalar", value))
    except OverflowError:
        raise BadValue("the integer is too large for a scalar", 0) from None


def _logical(value: Value) -> Value:
    return value != "" if isinstance(value, str) else _primitive("logical", value) != 0


def _string(value: Value) -> Value:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(_primitive("string", value))  # of a scalar: the shortest text that is read as the same number


def _primitive(name: str, value: Value) -> float:
    if isinstance(value, (int, float)):
        return value
    raise BadValue(f"{name}() takes an integer, scalar, logical or string, not {kind_of(value)}", 0)


_FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    "length_of": _length_of,
    "range_of": _range_of,
    "extent": _integer,
    "integer": _integer,
    "scalar": _scalar,
    "logical": _logical,
    "string": _string,
}


# -- parts of arrays -------------------------------------------------------------------------------------------------


def item(value: Value, index: Value) -> Value:
    """`value[index]`. Raises BadValue; part 1 is the index."""
    if not isinstance(value, (tuple, str)):
        raise BadValue(f"{kind_of(value)} has no items", 0)
    if type(index) is not int:
        raise BadValue(f"an index must be an integer, not {kind_of(index)}", 1)
    if not 0 <= index < len(value):
        raise BadValue(f"the index {index} is not in an array of length {len(value)}", 1)
    return value[index]


def part(value: Value, begin: Value | None, end: Value | None) -> Value:
    """`value[begin:end]`. Raises BadValue; part 1 is the begin, part 2 the end."""
    if not isinstance(value, (tuple, str)):
        raise BadValue(f"{kind_of(value)} has no items", 0)
    low = 0 if begin is None else begin
    high = len(value) if end is None else end
    for operand, index in ((1, low), (2, high)):
        if type(index) is not int:
            raise BadValue(f"an index must be an integer, not {kind_of(index)}", operand)
        if index < 0 or (operand == 2 and index > len(value)):
            raise BadValue(f"the index {index} is not in an array of length {len(value)}", operand)
    assert isinstance(low, int) and isinstance(high, int)
    return value[low:high] if low < high else value[:0]
