"""Elements as truth values: which of them are not zero, not a number, or infinite."""

from __future__ import annotations

from collections.abc import Callable
from math import isinf

from opdefs.rules.contents.elements import element_array, tensor_from_array
from shapeinf.expr import Dimension
from shapeinf.lattice import Element, FloatInterval, PartialTensor, Quotient
from shapeinf.ops import InferenceContext


def is_nonzero(c: InferenceContext, element: Element) -> bool | None:
    """Whether an element is not zero; None where that is undecided."""
    if isinstance(element, (Dimension, Quotient)):
        verdict = c.prove_eq(element.numerator if isinstance(element, Quotient) else element, 0)
        return None if verdict is None else not verdict
    if isinstance(element, FloatInterval):
        return True if element.low > 0 or element.high < 0 else None
    return bool(element) if isinstance(element, (int, float, complex)) else None


def nonzero_flags(c: InferenceContext, x: PartialTensor) -> list[bool | None] | None:
    """For each element whether it is not zero, None where that is undecided; None without contents."""
    return None if x.elements is None else [is_nonzero(c, element) for element in x.elements]


def nonzero_positions(x: PartialTensor, flags: list[bool | None] | None) -> PartialTensor | None:
    """[*S] -> [count, rank]: the position of each element that is not zero; None where one of them is undecided."""
    array = element_array(x)
    if array is None or flags is None or None in flags:
        return None
    import numpy as np

    return tensor_from_array(np.argwhere(np.array(flags, bool).reshape(array.shape)).astype(np.int64), "int64")


def is_not_a_number(element: Element) -> bool | None:
    """Whether an element is NaN, which sizes and their fractions are not."""
    if isinstance(element, (Dimension, Quotient, FloatInterval)):
        return False
    return element != element if isinstance(element, (int, float)) else None


def is_finite_number(element: Element) -> bool | None:
    """Whether an element is neither NaN nor infinite."""
    nan, infinite = is_not_a_number(element), infinity_test()(element)
    return None if nan is None or infinite is None else not nan and not infinite


def infinity_test(negative: bool = True, positive: bool = True) -> Callable[[Element], bool | None]:
    """Whether an element is infinite with one of these signs; sizes and their fractions are not."""

    def test(element: Element) -> bool | None:
        if isinstance(element, (Dimension, Quotient, FloatInterval)):
            return False
        if not isinstance(element, (int, float)):
            return None
        return isinf(element) and (positive if element > 0 else negative)

    return test
