"""The comparison of the numbers of two runs.

Weights that were changed are rounded once more, and terms are summed in another order. So floats may differ by a
multiple of the precision of their type, relative to the largest number of the output (`TOLERANCES`). All other values
must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

TOLERANCES: Mapping[str, float] = {"float16": 1e-2, "bfloat16": 8e-2, "float32": 1e-4, "float64": 1e-12}
"""The largest difference, relative to the largest number of an output: about ten roundings of float16 and bfloat16,
a thousand of float32 and of float64, whose networks are deeper."""


@attrs.frozen
class Comparison:
    """The runs of two models: the sizes of each run, the differences, and why nothing was compared (else empty)."""

    bindings: tuple[Mapping[str, int], ...]
    differences: tuple[str, ...]
    refused: str = ""

    @property
    def equal(self) -> bool:
        """Whether there was a run, and nothing differed in any."""
        return bool(self.bindings) and not self.differences and not self.refused


def difference_of(expected: Any, result: Any) -> str:
    """How two outputs differ; empty where they do not."""
    if isinstance(expected, list):
        if len(expected) != len(result):
            return f"{len(expected)} items and {len(result)}"
        return next((text for a, b in zip(expected, result, strict=True) if (text := difference_of(a, b))), "")
    if isinstance(expected, dict):
        same = isinstance(result, dict) and list(expected) == list(result)
        return difference_of(*(np.array(list(m.values())) for m in (expected, result))) if same else "other keys"
    if not isinstance(expected, np.ndarray):
        return "" if expected is None and result is None else "" if str(expected) == str(result) else "other values"
    if expected.dtype != result.dtype or expected.shape != result.shape:
        return f"{expected.dtype.name}{list(expected.shape)} and {result.dtype.name}{list(result.shape)}"
    tolerance = TOLERANCES.get(expected.dtype.name)
    if tolerance is None or not expected.size:
        return "" if np.array_equal(expected, result) else "other values"
    return _float_difference(expected.astype(np.float64), result.astype(np.float64), tolerance)


def _float_difference(expected: Any, result: Any, tolerance: float) -> str:
    finite = np.isfinite(expected)
    if not np.array_equal(finite, np.isfinite(result)) or not np.array_equal(
        expected[~finite], result[~finite], equal_nan=True
    ):
        return "other infinities or NaNs"
    if not finite.any():
        return ""
    largest = float(np.abs(expected[finite]).max())
    difference = float(np.abs(expected[finite] - result[finite]).max())
    return "" if difference <= tolerance * max(largest, 1.0) else f"numbers differ by {difference:.3g} of {largest:.3g}"
