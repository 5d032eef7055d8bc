"""Products of two sums, found in their expanded form."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from shapeinf.expr import DimSize, Scope, interval
from shapeinf.expr.dimension import Dimension
from shapeinf.expr.evaluation import evaluate
from shapeinf.expr.factors import factor_sum

NAMES = "abcd"
SUMS = st.lists(st.integers(-3, 3), min_size=5, max_size=5)
"""The coefficients of four sizes, and a number."""


def build(coefficients: list[int], scope: Scope, halves: bool) -> DimSize:
    """The sum of multiples of sizes of 0 to 4, or of their halves where the number is even."""
    total: DimSize = coefficients[-1]
    for name, c in zip(NAMES, coefficients, strict=False):
        size = scope.symbol(name, 0, 4)
        total = total + c * (size // 2 if halves and c % 2 == 0 else size)
    return total


@given(SUMS, SUMS, st.booleans())
def test_bounds_of_products_hold(first: list[int], second: list[int], halves: bool) -> None:
    scope = Scope()
    a, b = build(first, scope, halves), build(second, scope, halves)
    d = a * b
    if not isinstance(d, Dimension):
        return
    factors = factor_sum(d)
    if factors is not None:
        assert factors[0] * factors[1] is d
    bounds = interval(d)
    names = [name for name in NAMES if scope.has(name)]
    for sizes in product(range(5), repeat=len(names)):
        assert evaluate(d, dict(zip(names, sizes, strict=True))) in bounds


def test_a_product_of_sizes_is_at_least_0() -> None:
    scope = Scope()
    h, w, n = scope.symbol("h"), scope.symbol("w"), scope.symbol("n")
    smallest = min(a * (b - b // 2) * (3 * c - c // 3) for a, b, c in product(range(1, 9), repeat=3))
    assert interval(n * (h - h // 2) * (3 * w - w // 3)).lo == smallest


def test_other_sums_have_no_factors() -> None:
    scope = Scope()
    a, b, c, d = (scope.symbol(name) for name in NAMES)
    for e in (a * b - a * c - b * d - c * d, a * a + 2 * a * b + b * b, a + b + c + d, a * b + c * d + a + b):
        assert isinstance(e, Dimension)
        assert factor_sum(e) is None
