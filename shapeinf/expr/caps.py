"""Which of the caps of the algebra a sum or product passes, in words."""

from __future__ import annotations

from collections.abc import Sequence

Terms = Sequence[tuple[tuple[int, ...], int]]


def cap_passed(what: str, left: Terms, right: Terms, degree: int, terms: int, coefficient: int) -> str:
    """`what` is the "sum" or "product" of left and right; the caps are the last three.

    >>> cap_passed("product", [((1, 2), 1)], [((3, 4), 1)], 3, 64, 1 << 128)
    'a product of 4 sizes, past the limit of 3'
    >>> cap_passed("product", [((1,), 1 << 100)], [((), 1 << 100)], 8, 64, 1 << 128)
    'a product with a number past the limit of 128 bits'
    """
    factors = sum(max((len(monomial) for monomial, _ in side), default=0) for side in (left, right))
    if what == "product" and factors > degree:
        return f"a product of {factors} sizes, past the limit of {degree}"
    one, other = (max((abs(c) for _, c in side), default=0) for side in (left, right))
    if (one * other if what == "product" else one + other) >= coefficient:
        return f"a {what} with a number past the limit of {coefficient.bit_length() - 1} bits"
    return f"a {what} of {len(left)} and {len(right)} terms, past the limit of {terms} terms"
