"""Changes of element type."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from opdefs.rules.contents.conditions import MAX_CHOICES, indicator
from opdefs.rules.contents.elements import (
    INDEX_TYPES,
    are_dims,
    fold_elements,
    is_float,
    is_listable,
    map_elements,
    nonnegative_condition,
    to_dim,
)
from opdefs.rules.contents.float_formats import float_format
from opdefs.rules.contents.float_intervals import combine, float_ends
from opdefs.rules.contents.floats import MAX_EXACT, FloatArithmetic, arithmetic, to_fraction
from opdefs.rules.contents.integers import fit_element, wrap, wrap_element
from opdefs.rules.contents.progressions import convert_progression
from opdefs.rules.contents.text import format_integer, map_texts, parse_number
from opdefs.rules.contents.truth import is_nonzero
from shapeinf.expr import Dimension
from shapeinf.lattice import (
    ChosenIndices,
    Condition,
    Element,
    FloatInterval,
    PartialTensor,
    Progression,
    Quotient,
    Shape,
    element_bits,
    has_numpy_type,
    numpy_dtype,
)
from shapeinf.lattice.dtypes import INTEGER_RANGES, KINDS
from shapeinf.ops import InferenceContext

if TYPE_CHECKING:
    import numpy as np


def convert(c: InferenceContext, x: PartialTensor, dtype: str | None, saturate: bool = True) -> PartialTensor:
    """The tensor in another element type; symbolic contents stay where both types hold them exactly (see `floats`).

    With `saturate`, values beyond the range of an 8-bit float type become its largest number.
    """
    if x.contents is None or dtype is None or x.dtype is None:
        return PartialTensor(dtype, x.shape, None)
    if "string" in (dtype, x.dtype):
        return _convert_texts(x, dtype)
    if dtype == x.dtype == "bool":
        return x
    if x.elements is not None and _is_exact(x.elements, x.dtype, dtype):
        elements = x.elements if dtype in INDEX_TYPES else map(float, x.elements)  # type: ignore[arg-type]
        return PartialTensor(dtype, x.shape, elements)
    if isinstance(x, Progression):
        return convert_progression(x, dtype)
    if isinstance(x, ChosenIndices):
        keeps = dtype in INDEX_TYPES
        return ChosenIndices(dtype, x.shape, x.size) if keeps else PartialTensor(dtype, x.shape, None)
    if KINDS.get(dtype) in ("handle", "quantized"):  # which have no arrays
        return PartialTensor(dtype, x.shape, None)
    if dtype == "float8e8m0":  # powers of two, rounded up or down by an attribute
        return PartialTensor(dtype, x.shape, None)
    return _convert_elements(c, x, dtype, saturate and dtype.startswith("float8"))


def reinterpret(x: PartialTensor, dtype: str, shape: Shape) -> PartialTensor:
    """The bytes of known numbers as numbers of another type, of `shape`, on a little-endian machine."""
    array = x.array()
    plain = KINDS.get(dtype) in ("integer", "float") and KINDS.get(x.dtype or "") in ("integer", "float")
    if array is None or not plain or not is_listable(shape):
        return PartialTensor(dtype, shape, None)
    if not has_numpy_type(dtype):
        return PartialTensor(dtype, shape, None)
    source, target = _numpy_dtype(x.dtype or ""), _numpy_dtype(dtype)
    if element_bits(dtype) != 8 * target.itemsize or element_bits(x.dtype or "") != 8 * source.itemsize:
        return PartialTensor(dtype, shape, None)
    import numpy as np

    numbers = np.frombuffer(array.astype(source.newbyteorder("<")).tobytes(), target)
    return PartialTensor(dtype, shape, numbers.tolist())


def _convert_texts(x: PartialTensor, dtype: str) -> PartialTensor:
    """Strings of integers, or numbers of strings."""
    if dtype == x.dtype:
        return x
    if dtype == "string":
        return map_elements(dtype, x.shape, format_integer, x)
    return map_texts(dtype, x.shape, lambda text: parse_number(text, dtype), x)


def _convert_elements(c: InferenceContext, x: PartialTensor, dtype: str, saturate: bool) -> PartialTensor:
    """The tensor in another type that numpy has, converted element by element where some are symbolic."""
    target = float_format(dtype)
    narrow = target if target is not None and len(target.computed_in) > 1 and not saturate else None
    few = len(x.elements or ()) <= MAX_CHOICES
    if narrow is None and not has_numpy_type(dtype):
        return PartialTensor(dtype, x.shape, None)

    def convert_array(array: Any) -> Any:
        kind = _numpy_dtype(dtype)
        return (_saturate(array, target.maximum) if saturate and target is not None else array).astype(kind)

    def convert_element(element: Element) -> Element:
        if element is None or isinstance(element, (complex, str)):
            return None
        if dtype == "bool":
            return _is_nonzero(c, element)
        if isinstance(element, Condition):
            return indicator(element.expression) if dtype in _TYPES_OF_INDICATORS and few else None
        if isinstance(element, FloatInterval) or (narrow is not None and isinstance(element, (int, float))):
            return _cast_known(c, element, dtype)
        if isinstance(element, (Dimension, Quotient)):
            cast = _cast_to_float if is_float(dtype) else _cast_to_int
            return cast(c, element, x.dtype, dtype, saturate)
        if not is_float(dtype):
            return _truncate(element, dtype)
        import numpy as np

        number: Element = convert_array(np.array(element)).item()
        return number

    if is_float(x.dtype) and not is_float(dtype) and dtype != "bool":
        return (
            map_elements(dtype, x.shape, convert_element, x)
            if dtype in _PLAIN_INTEGERS
            else PartialTensor(dtype, x.shape, None)
        )
    if narrow is not None:
        return map_elements(dtype, x.shape, convert_element, x)
    return fold_elements(dtype, x.shape, convert_array, convert_element, x)


_TYPES_OF_INDICATORS = frozenset({"int32", "int64", "float32", "float64"})
"""Types in which an undecided condition is an expression of sizes, 1 or 0."""


def _is_nonzero(c: InferenceContext, element: Element) -> Element:
    """Whether an element is not 0; a condition for a size, None where that is unknown."""
    decided = element if isinstance(element, Condition) else is_nonzero(c, element)
    if decided is None and isinstance(element, Dimension) and c.prove_le(0, element) is True:
        return nonnegative_condition(element - 1)
    return decided


def _cast_known(c: InferenceContext, element: int | float | FloatInterval, dtype: str) -> Element:
    """A known number, or one between two numbers, in another type; an unknown integer where its ends differ."""
    ends = float_ends(element)
    assert ends is not None
    target = float_format(dtype)
    if isinstance(element, int) and abs(element) > MAX_EXACT:  # which may be rounded twice
        return None
    if target is not None:
        return combine(target, float, ends)
    low, high = (_truncate(end, dtype) for end in ends)
    if low is None or high is None:
        return None
    return low if low == high else c.fresh("rounded", low, high)


_PLAIN_INTEGERS = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
"""Integer types of whole bytes."""


def _numpy_dtype(dtype: str) -> np.dtype[Any]:
    """The numpy type of a dtype that has one. Called only for arrays: symbolic sizes do not need numpy."""
    kind = numpy_dtype(dtype)
    assert kind is not None
    return kind


def _is_exact(elements: Sequence[Element], source: str, dtype: str) -> bool:
    """Whether these are ints or sizes of an index type that `dtype` represents exactly; for floats, only ints."""
    if source not in INDEX_TYPES or not are_dims(elements):
        return False
    if dtype in ("int64", source):
        return True
    limit = _EXACT_FLOATS.get(dtype)
    return limit is not None and all([type(e) is int and -limit <= e <= limit for e in elements])


_EXACT_FLOATS = {"float64": 2**53, "float32": 2**24, "float16": 2**11}
"""By float type: all integers up to this number are exact."""


def _saturate(array: Any, largest: float) -> Any:
    import numpy as np

    return np.clip(array.astype(np.float32), -largest, largest)


def _cast_to_float(
    c: InferenceContext, element: Dimension | Quotient, source_dtype: str | None, dtype: str, saturate: bool
) -> Element:
    """An element rounded to a float type; unknown where it was rounded to another type before."""
    source, target = float_format(source_dtype), float_format(dtype)
    if target is None:
        return None
    if source is not None and source.is_subset_of(target) and (source is target or isinstance(element, Dimension)):
        return element
    number = to_fraction(element) if source is None else FloatArithmetic(c, source).exact(element)
    return None if number is None else FloatArithmetic(c, target, saturate).element(*number)


def _cast_to_int(
    c: InferenceContext, element: Dimension | Quotient, source_dtype: str | None, dtype: str, _: bool
) -> Element:
    """The integer part of a float that the integer type represents; integers wrap around."""
    floats = arithmetic(c, source_dtype)
    if floats is None:
        return wrap_element(c, dtype, element)
    return fit_element(c, dtype, to_dim(floats.truncate(element)))


def _truncate(element: int | float, dtype: str) -> int | None:
    """A number truncated towards zero; None for NaN and for values out of range, where runtimes differ."""
    if isinstance(element, float):
        least, greatest = INTEGER_RANGES[dtype]
        return int(element) if isfinite(element) and least <= int(element) <= greatest else None
    return wrap(dtype, int(element))
