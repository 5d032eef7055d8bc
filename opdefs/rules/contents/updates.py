"""Updates of elements at positions: replaced, combined or limited, in any order, as kernels run in parallel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opdefs.rules.contents.elements import Elements
from opdefs.rules.contents.ordering import extreme_element
from opdefs.rules.contents.products import addition, negation, sum_elements, sum_products
from shapeinf.lattice import Element
from shapeinf.ops import InferenceContext

Combine = Callable[[Element, Sequence[Element]], Element]
"""What an element becomes by its updates, of which there is at least one; None where their order matters."""


def replace_element(element: Element, updates: Sequence[Element]) -> Element:
    """The update; None where several of them differ."""
    first = updates[0]
    return first if all(update == first for update in updates) else None


def update_rule(c: InferenceContext, dtype: str | None, reduction: str) -> Combine:
    """The updates of the reductions `none`, `add`, `sub`, `mul`, `max` and `min` for elements of a type."""

    def total(element: Element, updates: Sequence[Element]) -> Element:
        terms = [*map(negation(c, dtype), updates)] if reduction == "sub" else updates
        if len(terms) == 1:
            return addition(c, dtype)(element, terms[0])
        return sum_elements(c, dtype, [element, *terms])

    def product(element: Element, updates: Sequence[Element]) -> Element:
        return sum_products(c, dtype, [[element, *updates]])

    def extreme(element: Element, updates: Sequence[Element]) -> Element:
        return extreme_element(c, [element, *updates], largest=reduction == "max")

    rules = {"none": replace_element, "add": total, "sub": total, "mul": product, "max": extreme, "min": extreme}
    return rules.get(reduction, lambda element, updates: None)


def update_elements(
    array: Elements, positions: Sequence[int], updates: Sequence[Element], combine: Combine
) -> Elements:
    """The array after updates of elements at these positions of the flattened array, which may repeat."""
    groups: dict[int, list[Element]] = {}
    for at, update in zip(positions, updates, strict=True):
        groups.setdefault(at, []).append(update)
    result = array.reshape(-1).copy()
    for at, group in groups.items():
        result[at] = combine(result[at], group)
    return result
