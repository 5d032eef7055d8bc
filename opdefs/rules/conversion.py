"""Changes of element type."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from opdefs.rules.elements import folded, in_range, is_float, mapped
from opdefs.rules.floats import FloatArithmetic, arithmetic, float_format, parts_of
from opdefs.rules.progressions import INDEX_TYPES, converted_to
from shapeinf.expr import Dimension
from shapeinf.lattice import Condition, Element, PartialTensor, Progression, Quotient, numpy_dtype
from shapeinf.ops import InferenceContext


def converted(c: InferenceContext, x: PartialTensor, dtype: str | None, saturate: bool = True) -> PartialTensor:
    """The tensor in another type; symbolic contents stay where both types hold them exactly (see `floats`).

    `saturate` says that narrow floats of 8 bits take what is too large as their largest number.
    """
    if dtype is None or dtype == "string" or x.dtype == "string" or x.dtype is None:
        return PartialTensor(dtype, x.shape, None)
    if isinstance(x, Progression):
        return converted_to(x, dtype)
    target = numpy_dtype(dtype)
    if target is None or dtype == "float8e8m0":  # powers of two, rounded up or down by an attribute
        return PartialTensor(dtype, x.shape, None)
    saturate = saturate and dtype.startswith("float8")

    def concrete(array: Any) -> Any:
        return (_saturated(array, target) if saturate else array).astype(target)

    def symbolic(element: Element) -> Element:
        if element is None or dtype == "bool" or isinstance(element, (complex, str, Condition)):
            return element if isinstance(element, Condition) and dtype == "bool" else None
        if isinstance(element, (Dimension, Quotient)):
            convert = _as_float if is_float(dtype) else _as_int
            return convert(c, element, x.dtype, dtype, saturate)
        return concrete(np.array(element)).item() if is_float(dtype) else _whole(element, target)

    if is_float(x.dtype) and not is_float(dtype) and dtype != "bool":
        return mapped(dtype, x.shape, symbolic, x) if target.kind in "iu" else PartialTensor(dtype, x.shape, None)
    return folded(dtype, x.shape, concrete, symbolic, x)


def _saturated(array: Any, target: np.dtype[Any]) -> Any:
    largest = float(ml_dtypes.finfo(target).max)  # type: ignore[no-untyped-call]
    return np.clip(array.astype(np.float32), -largest, largest)


def _as_float(
    c: InferenceContext, element: Dimension | Quotient, given: str | None, dtype: str, saturate: bool
) -> Element:
    """An element rounded to a float type; unknown where it was rounded to another one before."""
    source, target = float_format(given), float_format(dtype)
    if target is None:
        return None
    if source is not None and source.is_within(target) and (source is target or isinstance(element, Dimension)):
        return element
    number = parts_of(element) if source is None else FloatArithmetic(c, source).exact(element)
    return None if number is None else FloatArithmetic(c, target, saturate).held(*number)


def _as_int(c: InferenceContext, element: Dimension | Quotient, given: str | None, dtype: str, _: bool) -> Element:
    """The whole part of an element, where an integer type holds it; indices are taken to fit into theirs."""
    floats = arithmetic(c, given)
    whole = element if floats is None else floats.truncate(element)
    if not isinstance(whole, Dimension):
        return in_range(dtype, int(whole)) if isinstance(whole, (int, float)) else None
    if dtype in INDEX_TYPES:
        return whole
    kind = numpy_dtype(dtype)
    limits = np.iinfo(kind) if kind is not None and kind.kind in "iu" else None
    fits = limits is not None and c.prove_le(whole, int(limits.max)) and c.prove_le(int(limits.min), whole)
    return whole if fits else None


def _whole(element: float, target: np.dtype[Any]) -> int | None:
    """A number without its fraction; None for one that is no number or too large, of which runtimes make anything."""
    if isinstance(element, float):
        limits = np.iinfo(target)
        return int(element) if limits.min - 1 < element < limits.max + 1 else None
    return int(np.array(element).astype(target))
