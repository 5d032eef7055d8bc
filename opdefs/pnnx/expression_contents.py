"""Contents of the results of expressions: sizes, and the fractions of sizes that floats hold.

Integers wrap around as those of torch do, those of TorchScript too; only numbers of Python have no limits.
`rules.contents.floats` infers floats where they are exact. Contents of half precision are unknown: torch computes some
in float32, and rounds others at each step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opdefs.pnnx.expression_types import EXTREMES, LOGICAL, SHIFTS, TO_INTEGER, Form, Operand, common_form
from opdefs.rules.contents.arithmetic import floored_quotient, floored_remainder, integer_power, truncated_remainder
from opdefs.rules.contents.bits import bitwise_operation
from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.elements import (
    Operation,
    integer_operation,
    logical_and,
    logical_or,
    map_elements,
)
from opdefs.rules.contents.float_intervals import APPROXIMATIONS
from opdefs.rules.contents.floats import FloatArithmetic, float_operation
from opdefs.rules.contents.logic import logical_xor
from opdefs.rules.contents.numpy_functions import numpy_function
from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.lattice import Element, PartialTensor, Shape
from shapeinf.ops import InferenceContext

_EXACT_TYPES = frozenset({"int64", "int32", "int16", "int8", "uint8", "float32", "float64", "bool"})
_MAX_SHIFT = 62
_MAX_DIVISOR = 2**20

DimOperation = Callable[..., DimSize | None]


def contents(
    c: InferenceContext,
    function: str,
    dtype: str | None,
    shape: Shape,
    operands: tuple[Operand, ...],
    *,
    unlimited: bool = False,
) -> PartialTensor:
    """The result of a function of this type and shape, with its contents if they are known.

    With `unlimited`, the operands are numbers of Python, which never wrap around.
    """
    number = common_form(*operands) is Form.NUMBER
    unknown = PartialTensor(dtype, shape, None)
    if dtype is None or any(x.value.elements is None or x.dtype not in _EXACT_TYPES for x in operands):
        return unknown
    if number:
        _check_divisor(c, function, operands)
    if function in ("int", "torch.float", "torch.long") or (function in TO_INTEGER and operands[0].dtype == dtype):
        return convert(c, operands[0].value, dtype)
    computed = _computed_type(function, dtype, operands)
    operation = _operation(c, function, computed, unlimited)
    if computed not in _EXACT_TYPES or operation is None:
        return unknown
    values = [convert(c, operand.value, computed) for operand in operands]
    result = map_elements(computed, shape, operation, *values)
    return result if computed == dtype else convert(c, result, dtype)


def _check_divisor(c: InferenceContext, function: str, operands: tuple[Operand, ...]) -> None:
    if function in ("div", "floor_divide", "remainder", "fmod") and operands[1].value.elements == (0,):
        c.fail("the divisor must not be 0", *(str((x.value.elements or ("?",))[0]) for x in operands))


def _computed_type(function: str, dtype: str, operands: tuple[Operand, ...]) -> str:
    """The type in which a function computes: a floor of a float is a float before it is converted to an integer."""
    return str(operands[0].dtype) if function in TO_INTEGER else dtype


def _operation(c: InferenceContext, function: str, dtype: str, unlimited: bool) -> Operation | None:
    """The operation on elements of a type, or on numbers; None for a function whose results are not inferred."""
    if dtype == "bool":
        return {"and": logical_and, "or": logical_or, "xor": logical_xor}.get(function)
    if "float" in dtype:
        if function not in _FLOAT_OPERATIONS:
            return None
        concrete, symbolic = _FLOAT_OPERATIONS[function]
        return float_operation(c, dtype, concrete, symbolic)
    if function in LOGICAL:
        return bitwise_operation(c, dtype, function)
    operation = _integer_operations(c).get(function)
    if operation is None:
        return None
    return integer_operation(c, None if unlimited else dtype, operation)


def _integer_operations(c: InferenceContext) -> dict[str, DimOperation]:
    """The functions on integers; the result is None where a divisor may be 0 or of either sign."""

    def absolute(d: DimSize) -> DimSize | None:
        return d if c.prove_le(0, d) is True else -d if c.prove_le(d, 0) is True else maximum(d, -d)

    def sign(d: DimSize) -> DimSize | None:
        return maximum(minimum(d, 1), -1)

    extremes: dict[str, DimOperation] = {name: maximum if name.startswith("max") else minimum for name in EXTREMES}
    return {
        "abs": absolute,
        "sign": sign,
        "neg": lambda d: -d,
        "square": lambda d: integer_power(d, 2),
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "floor_divide": floored_quotient(c),
        "remainder": floored_remainder(c),
        "fmod": truncated_remainder(c),
        "pow": integer_power,
        **extremes,
        **{name: _shift(name) for name in SHIFTS},
    }


def _shift(name: str) -> DimOperation:
    """A shift by a known number of bits: a product or a floored quotient."""

    def apply(a: DimSize, b: DimSize) -> DimSize | None:
        if not isinstance(b, int) or not 0 <= b <= _MAX_SHIFT:
            return None
        return a << b if isinstance(a, int) and name == "lshift" else a * 2**b if name == "lshift" else a // 2**b

    return apply


def _floor_divide(floats: FloatArithmetic, a: Element, b: Element) -> Element:
    """The floor of the exact quotient, as in Python: 22 // 0.1 is 219, since the float 0.1 is more than a tenth."""
    left, right = floats.exact(a), floats.exact(b)
    if left is None or right is None:
        return None
    n, d = left[0] * right[1], left[1] * right[0]
    is_simple = not isinstance(d, int) or d <= _MAX_DIVISOR
    return floats.element(n // d) if is_simple and floats.c.prove_le(1, d) is True else None


def _approximated(name: str) -> tuple[Callable[..., Any], Callable[..., Element]]:
    """A function of APPROXIMATIONS."""
    return numpy_function(name), lambda floats, x: floats.approximate(name, x)


_FLOAT_OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Element]]] = {
    "add": (numpy_function("add"), FloatArithmetic.add),
    "sub": (numpy_function("subtract"), FloatArithmetic.subtract),
    "mul": (numpy_function("multiply"), FloatArithmetic.multiply),
    "div": (numpy_function("divide"), FloatArithmetic.divide),
    "floor_divide": (numpy_function("floor_divide"), _floor_divide),
    "remainder": (numpy_function("remainder"), FloatArithmetic.floored_remainder),
    "fmod": (numpy_function("fmod"), FloatArithmetic.truncated_remainder),
    "neg": (numpy_function("negative"), FloatArithmetic.negate),
    "abs": (numpy_function("abs"), FloatArithmetic.absolute),
    "square": (numpy_function("square"), lambda floats, x: floats.multiply(x, x)),
    "floor": (numpy_function("floor"), FloatArithmetic.floor),
    "ceil": (numpy_function("ceil"), FloatArithmetic.ceil),
    "round": (numpy_function("rint"), FloatArithmetic.round),
    "trunc": (numpy_function("trunc"), FloatArithmetic.truncate),
    "sqrt": (numpy_function("sqrt"), FloatArithmetic.square_root),
    "pow": (numpy_function("power"), FloatArithmetic.approximate_power),
    **{name: _approximated(name) for name in APPROXIMATIONS},
}
"""The functions on floats: of numpy for numbers, of `FloatArithmetic` for sizes and their fractions."""
