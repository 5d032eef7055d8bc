"""The element types of torch's results, promoted as by `torch.result_type`.

Tensors with axes decide; scalar tensors, and after them Python's numbers, only if they are of a higher category
(bool, integer, float, complex). An input of rank 0 may be either: files do not distinguish numbers from scalar tensors.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from shapeinf.lattice import TensorType
from shapeinf.lattice.dtypes import KINDS, NUMBER_TYPES, element_bits

DEFAULT_FLOAT, DEFAULT_COMPLEX = "float32", "complex64"
"""torch's element types of Python's floats and complex numbers next to tensors of a lower category."""

_CATEGORIES = ("bool", "integer", "float", "complex")
TYPES_OF_NUMBERS = tuple(NUMBER_TYPES.values())
"""The element types of Python's numbers, by category."""

Operand = TensorType | bool | int | float | complex


def promote(*operands: Operand, tensors_only: bool = False) -> str | None:
    """The common element type of tensors and numbers; None if it is unknown.

    `tensors_only`: an operand of rank 0 that is a tensor here is one in torch too, and no number.

    >>> from shapeinf.lattice import Shape
    >>> promote(TensorType("float16", Shape((2, 3))), TensorType("float64", Shape(()))), promote(True, 1)
    ('float16', 'int64')
    """
    tensors = [operand for operand in operands if isinstance(operand, TensorType)]
    numbers = [operand for operand in operands if not isinstance(operand, TensorType)]
    if any(tensor.dtype is None for tensor in tensors):
        return None
    if any(tensor.shape.dims is None for tensor in tensors):
        return _common_of_all(tensors, numbers)
    with_axes = _widest(t.dtype for t in tensors if t.shape.dims)
    scalars = {str(t.dtype) for t in tensors if not t.shape.dims}
    stated = [NUMBER_TYPES[type(number)] for number in numbers]
    if not tensors:
        return _widest(stated)
    ambiguous = [] if tensors_only else sorted(scalars & set(TYPES_OF_NUMBERS))
    readings = {
        _promote_reading(with_axes, scalars.difference(as_numbers), [*stated, *as_numbers])
        for count in range(len(ambiguous) + 1)
        for as_numbers in combinations(ambiguous, count)
        if with_axes or len(scalars) > count  # torch's functions take at least one tensor
    }
    return readings.pop() if len(readings) == 1 else None


def _promote_reading(with_axes: str | None, scalars: Iterable[str], numbers: list[str]) -> str | None:
    """The common element type for one assignment of the operands of rank 0 to scalar tensors and numbers."""
    return _combine(_combine(with_axes, _widest(scalars)), default_type(_widest(numbers)))


def to_float(dtype: str | None) -> str | None:
    """The element type of functions with float values: integers and bools become floats.

    >>> to_float("int64"), to_float("float16")
    ('float32', 'float16')
    """
    return DEFAULT_FLOAT if KINDS.get(dtype or "") in ("bool", "integer") else dtype


def _common_of_all(tensors: list[TensorType], numbers: list[bool | int | float | complex]) -> str | None:
    """The element type if ranks are unknown: that of all tensors, unless a number is of a higher category."""
    dtypes = {tensor.dtype for tensor in tensors}
    dtype = dtypes.pop()
    if dtypes or any(category(NUMBER_TYPES[type(number)]) > category(dtype) for number in numbers):
        return None
    return dtype


def default_type(dtype: str | None) -> str | None:
    """The element type of a tensor of a Python number, whose own type is one of `TYPES_OF_NUMBERS`."""
    return {"float64": DEFAULT_FLOAT, "complex128": DEFAULT_COMPLEX}.get(dtype or "", dtype)


def category(dtype: str | None) -> int:
    """0 for bool, 1 for integers, 2 for floats, 3 for complex numbers; -1 for others and for an unknown type."""
    kind = KINDS.get(dtype or "", "")
    return _CATEGORIES.index(kind) if kind in _CATEGORIES else -1


def _combine(first: str | None, second: str | None) -> str | None:
    """The first type, which has priority, unless the second is of a higher category."""
    if first is None or second is None:
        return first or second
    if category(first) == _CATEGORIES.index("float") and category(second) == _CATEGORIES.index("complex"):
        return complex_of(first)
    return second if category(second) > category(first) else first


def complex_of(dtype: str) -> str:
    """The complex type with parts of a float type."""
    return {"float64": "complex128", "float16": "complex32"}.get(dtype, "complex64")


def _widest(dtypes: Iterable[str | None]) -> str | None:
    widest: str | None = None
    for dtype in dtypes:
        widest = dtype if widest is None or dtype is None else _promote_pair(widest, dtype)
    return widest


def _promote_pair(a: str, b: str) -> str:
    """Torch's promotion table.

    >>> _promote_pair("uint8", "int8"), _promote_pair("float16", "bfloat16"), _promote_pair("float64", "complex64")
    ('int16', 'float32', 'complex128')
    """
    low, high = sorted((a, b), key=lambda dtype: (category(dtype), element_bits(dtype) or 0))
    if low == high or category(low) < min(category(high), _CATEGORIES.index("float")):
        return high
    if category(low) < category(high):  # a float and a complex type
        return (
            high
            if element_bits(low) == 16 and high != "complex32"
            else max((high, complex_of(low)), key=lambda dtype: element_bits(dtype) or 0)
        )
    if {low, high} == {"float16", "bfloat16"}:
        return DEFAULT_FLOAT
    if low.startswith("uint") != high.startswith("uint") and element_bits(low) == element_bits(high):
        return f"int{2 * (element_bits(low) or 0)}"
    return high
