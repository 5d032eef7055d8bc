"""Changes of element type."""

from __future__ import annotations

from typing import Any

import numpy as np

from opdefs.rules.elements import folded, is_float, mapped
from opdefs.rules.progressions import progression
from shapeinf.algebra import Dimension
from shapeinf.lattice import Condition, Element, PartialTensor, Progression, numpy_dtype


def converted(x: PartialTensor, dtype: str | None) -> PartialTensor:
    """The tensor in another type; symbolic contents stay where both types hold whole numbers exactly."""
    if dtype is None or dtype == "string" or x.dtype == "string" or x.dtype is None:
        return PartialTensor(dtype, x.shape, None)
    if isinstance(x, Progression):
        return progression(dtype, x.shape, x.base, x.steps)
    target = numpy_dtype(dtype)
    if target is None:
        return PartialTensor(dtype, x.shape, None)

    def concrete(array: Any) -> Any:
        return array.astype(target)

    def symbolic(element: Element) -> Element:
        if element is None or dtype == "bool" or isinstance(element, (complex, str, Condition)):
            return element if isinstance(element, Condition) and dtype == "bool" else None
        if isinstance(element, Dimension):
            return element if is_float(dtype) or dtype in ("int64", "int32") else None
        return float(element) if is_float(dtype) else _whole(element, target)

    if is_float(x.dtype) and not is_float(dtype) and dtype != "bool":
        return mapped(dtype, x.shape, symbolic, x) if target.kind in "iu" else PartialTensor(dtype, x.shape, None)
    return folded(dtype, x.shape, concrete, symbolic, x)


def _whole(element: float, target: np.dtype[Any]) -> int | None:
    """A number without its fraction; None for one that is no number or too large, of which runtimes make anything."""
    if isinstance(element, float):
        limits = np.iinfo(target)
        return int(element) if limits.min - 1 < element < limits.max + 1 else None
    return int(np.array(element).astype(target))
