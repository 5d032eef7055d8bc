"""The element types of the functions of expressions: those of torch for tensors, those of Python for numbers.

Numbers have the types int64, float64, bool and complex128. `tests/differential/pnnx/element_types.json` records torch's
results for every pair of types.
"""

from __future__ import annotations

import enum

import attrs

from opdefs.pnnx.complex_numbers import real_type
from opdefs.pnnx.promotion import TYPES_OF_NUMBERS, category, promote, to_float
from shapeinf.lattice import PartialTensor
from shapeinf.ops import InferenceContext

BOOL, INTEGER, FLOAT, COMPLEX = range(4)
"""The categories of element types, as `promotion.category` numbers them."""

TO_INTEGER = frozenset({"ceil", "floor", "round", "trunc"})
"""Functions that return an integer for a number of Python; tensors keep their type."""

LOGICAL = frozenset({"and", "or", "xor"})
SHIFTS = frozenset({"lshift", "rshift"})
EXTREMES = frozenset({"max", "maximum", "min", "minimum"})

_TO_FLOAT = frozenset(
    {"acos", "acosh", "asin", "asinh", "atan", "atanh", "atan2", "cos", "cosh", "div", "erf", "exp", "expm1", "log"}
    | {"log10", "log1p", "logaddexp", "reciprocal", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh"}
)
"""Functions that convert integers to floats first."""

_CASTS = {"torch.bool": "bool", "torch.float": "float32", "torch.long": "int64"}

_ACCEPTED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(TO_INTEGER, (INTEGER, FLOAT)),
    **dict.fromkeys(EXTREMES | {"sign", "erf", "atan2"}, (BOOL, INTEGER, FLOAT)),
    **dict.fromkeys(("floor_divide", "fmod", "remainder"), (INTEGER, FLOAT)),
    **dict.fromkeys(("neg", "abs"), (INTEGER, FLOAT, COMPLEX)),
    "logaddexp": (FLOAT, COMPLEX),
    **dict.fromkeys(LOGICAL, (BOOL, INTEGER)),
    **dict.fromkeys(SHIFTS, (INTEGER,)),
}
"""The categories of the promoted type for which torch has kernels; functions that are not listed accept all."""


class Form(enum.Enum):
    """Whether a value is a number of Python or a tensor; an input of rank 0 may be either."""

    NUMBER = enum.auto()
    TENSOR = enum.auto()
    EITHER = enum.auto()


@attrs.frozen
class Operand:
    """A value of an expression."""

    value: PartialTensor
    form: Form

    @classmethod
    def from_input(cls, value: PartialTensor) -> Operand:
        """An input of the node."""
        may_be_number = not value.shape.dims and (value.dtype is None or value.dtype in TYPES_OF_NUMBERS)
        return cls(value, Form.EITHER if may_be_number else Form.TENSOR)

    @property
    def dtype(self) -> str | None:
        """The element type."""
        return self.value.dtype


def common_form(*operands: Operand) -> Form:
    """The form of a result: a number if all operands are numbers, a tensor if one of them is a tensor."""
    forms = {operand.form for operand in operands}
    if Form.TENSOR in forms:
        return Form.TENSOR
    return Form.EITHER if Form.EITHER in forms else Form.NUMBER


def result_type(c: InferenceContext, function: str, operands: tuple[Operand, ...]) -> str | None:
    """The element type of a result; None if it is unknown. Raises ShapeError if torch has no kernel.

    If an operand may be a number or a tensor, the type is known only if it is the same for both.
    """
    form = common_form(*operands)
    if any(operand.dtype is None for operand in operands):
        return _CASTS[function] if function in _CASTS and form is Form.TENSOR else None
    as_number = None if form is Form.TENSOR else _type_of_number(c, function, operands)
    as_tensor = None if form is Form.NUMBER else _type_of_tensor(c, function, operands)
    if form is Form.EITHER:
        return as_number if as_number == as_tensor else None
    return as_number if form is Form.NUMBER else as_tensor


def _type_of_tensor(c: InferenceContext, function: str, operands: tuple[Operand, ...]) -> str | None:
    """The element type of torch's result, with Python's numbers promoted as torch does."""
    if function in _CASTS:
        return _CASTS[function]
    if function == "int":
        return "int64"
    if function in EXTREMES and _compares_number_with_scalars(operands):
        types = {operand.dtype for operand in operands}
        return types.pop() if len(types) == 1 else None
    certain = all(operand.form is not Form.EITHER for operand in operands)
    dtype = promote(*(promotable(operand) for operand in operands), tensors_only=certain)
    _check_kernel(c, function, dtype, operands)
    if dtype is None:
        return None
    if function == "abs" and category(dtype) == COMPLEX:
        return real_type(dtype)
    if function == "square" and dtype == "bool":
        return "int64"
    return to_float(dtype) if function in _TO_FLOAT else dtype


def _compares_number_with_scalars(operands: tuple[Operand, ...]) -> bool:
    """Whether an operand is a number and the others are scalar tensors.

    Functions such as `torch.max` take tensors only, so the number was a scalar tensor too, of equal priority.
    """
    return any(x.form is Form.NUMBER for x in operands) and not any(x.value.shape.dims for x in operands)


def promotable(operand: Operand) -> PartialTensor | bool | int | float | complex:
    """The operand of `promote`: a tensor, or a number of its type."""
    if operand.form is not Form.NUMBER:
        return operand.value
    return (True, 1, 1.0, 1j)[category(operand.dtype)]


def _check_kernel(c: InferenceContext, function: str, dtype: str | None, operands: tuple[Operand, ...]) -> None:
    """Raise ShapeError where torch has no kernel of this function for these element types."""
    accepted = _ACCEPTED.get(function, ())
    if function == "sub" and any(operand.dtype == "bool" for operand in operands):
        c.fail("sub is not defined for bool: torch requires xor or logical_xor instead", *_types(operands))
    if function == "pow" and all(operand.dtype == "bool" and operand.form is Form.TENSOR for operand in operands):
        c.fail("pow is not defined for two tensors of bool")
    if function == "pow" and category(dtype) == INTEGER and operands[1].form is Form.NUMBER:
        exponent = (operands[1].value.elements or (None,))[0]
        if isinstance(exponent, int) and exponent < 0:
            c.fail("the exponent of a power of integers must be at least 0", exponent)
    kind = category(dtype)
    if accepted and kind >= 0 and kind not in accepted:
        c.fail(f"{function} is not defined for {dtype}", *_types(operands))


def _types(operands: tuple[Operand, ...]) -> list[str]:
    return [str(operand.dtype) for operand in operands]


def _type_of_number(c: InferenceContext, function: str, operands: tuple[Operand, ...]) -> str | None:
    """The type of Python's result on numbers."""
    kinds = [category(operand.dtype) for operand in operands]
    kind = max(kinds)
    if function == "int" or function == "torch.long" or function in TO_INTEGER:
        return "int64"
    if function == "torch.bool":
        return "bool"
    if function == "torch.float" or (function == "abs" and kind == COMPLEX):
        return "float64"
    if function in _TO_FLOAT or function == "fmod":
        return TYPES_OF_NUMBERS[max(kind, FLOAT)]
    if function in LOGICAL | SHIFTS:
        if kind > INTEGER:
            c.fail(f"{function} is not defined for {TYPES_OF_NUMBERS[kind]}", *_types(operands))
        return "bool" if kind == BOOL and function in LOGICAL else "int64"
    if function in EXTREMES:
        return TYPES_OF_NUMBERS[kind] if len(set(kinds)) == 1 else None
    if function == "pow" and kind <= INTEGER:
        exponent = (operands[1].value.elements or (None,))[0]
        return None if not isinstance(exponent, int) else "int64" if exponent >= 0 else "float64"
    return TYPES_OF_NUMBERS[max(kind, INTEGER)]
