"""Bounds are exact: ints of any size, also past the integers that a float holds (2**53) and past 64 bits."""

import pytest

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import Source
from shapeinf.expr import Interval, Scope, ceildiv, interval, maximum, minimum
from shapeinf.lattice import Relaxer, ShapeStore

SOURCE = Source("", "a test")
LARGE = (2**53 + 1, 2**63 - 1, 2**63 + 1, 10**30 + 7)

EXPRESSIONS = {
    "x": lambda x: x,
    "-x": lambda x: -x,
    "3*x + 1": lambda x: 3 * x + 1,
    "x*x": lambda x: x * x,
    "x*x - x": lambda x: x * x - x,
    "x//3": lambda x: x // 3,
    "ceildiv(x, 2)": lambda x: ceildiv(x, 2),
    "5 - 2*(x//2)": lambda x: 5 - 2 * (x // 2),
    "x - x//2": lambda x: x - x // 2,
    "max(x, 2**53 + 2)": lambda x: maximum(x, 2**53 + 2),
    "1 - min(x, 2**63 + 2)": lambda x: 1 - minimum(x, 2**63 + 2),
    "2**140//x": lambda x: 2**140 // x,
}


@pytest.mark.parametrize("least", LARGE)
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_bounds_of_large_sizes(text: str, least: int) -> None:
    build = EXPRESSIONS[text]
    values = [build(size) for size in range(least, least + 3)]
    expected = Interval(min(values), max(values))
    assert interval(build(Scope().symbol("x", least, least + 2))) == expected
    store = ConstraintStore(Scope())
    x = store.scope.symbol("x")
    store.add_range(x, least, least + 2, SOURCE)
    assert store.interval(build(x)) == expected


@pytest.mark.parametrize("least", LARGE)
def test_constraints_on_large_sizes(least: int) -> None:
    store = ConstraintStore(Scope())
    x, y = store.scope.symbol("x"), store.scope.symbol("y")
    store.add_range(2 * x + 1, 2 * least, 2 * least + 7, SOURCE)
    assert store.interval(x) == Interval(least, least + 3)
    store.add_range(y // 3, least, least, SOURCE)
    assert store.interval(y) == Interval(3 * least, 3 * least + 2)
    store.add_divisible(x, 4, SOURCE)
    assert store.canon(x) == least + -least % 4
    assert store.prove_le(x, least + -least % 4 - 1) is False


@pytest.mark.parametrize("least", LARGE)
def test_the_join_of_large_sizes(least: int) -> None:
    store = ShapeStore()
    joined = Relaxer(store).dim(least, least + 1, "site")
    assert store.interval(joined) == Interval(least, least + 1)
