"""Arithmetic on weights: in doubles, rounded once to the element type of the weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from shapeinf.passes.editor import Skip

FLOATS = ("float16", "bfloat16", "float32", "float64")
"""The element types of the weights that passes change."""


def to_double(array: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The numbers as doubles. Raises Skip for weights that are no floats."""
    if array.dtype.name not in FLOATS:
        raise Skip(f"the weights are {array.dtype.name}")
    return array.astype(np.float64)


def round_to(dtype: np.dtype[Any], numbers: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Doubles rounded to the nearest number of a type, ties to even.

    Raises Skip where a rounded number is not finite: then the rewrite would change results.
    """
    rounded = round_once(dtype, numbers)
    if not np.isfinite(rounded.astype(np.float64)).all():
        raise Skip(f"a fused weight is not a finite {dtype.name}")
    return rounded


def round_once(dtype: np.dtype[Any], numbers: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Doubles rounded once to the nearest number of a type, which may be infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _to_odd_float(numbers).astype(dtype) if dtype.name == "bfloat16" else numbers.astype(dtype)


def _to_odd_float(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Doubles rounded to odd: rounding again to a shorter type is like rounding once (Boldo, Melquiond 2008)."""
    rounded = numbers.astype(np.float32)
    difference = rounded.astype(np.float64) - numbers
    bits = rounded.view(np.uint32).copy()
    away = np.abs(rounded.astype(np.float64)) > np.abs(numbers)
    bits[away] -= 1
    bits[difference != 0] |= 1
    return bits.view(np.float32)
