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


TIGHT = {
    "a quotient of a quotient": (lambda h, w: h // 3 + w // 5 - 2 * ((h // 3 + w // 5) // 2), "0..1"),
    "its rest, with another factor": (lambda h, w: h // 3 + w - 4 * ((h // 3 + w) // 4), "0..3"),
    "a quotient of a maximum": (lambda h, w: 2 * (maximum(h, w) // 2) - maximum(h, w), "-1..0"),
    "the same, of a quotient": (lambda h, w: 3 * (maximum(h // 2, w) // 3) - maximum(h // 2, w), "-2..0"),
    "a quotient of a sum with a maximum": (
        lambda h, w: 2 * h + maximum(h, w) - 3 * ((2 * h + maximum(h, w) + 2) // 3),
        "-2..0",
    ),
    "a remainder of a maximum by a symbol": (lambda h, w: maximum(h, 3) - w * (maximum(h, 3) // w), "0.."),
    "a remainder of a quotient by a symbol": (lambda h, w: h // 4 - w * (h // 4 // w), "0.."),
    "windows of a padded image": (lambda h, w: 7 * ceildiv(ceildiv(h, 4), 7) - ceildiv(h, 4), "0..6"),
}
"""Expressions in which one floor or maximum contains another one."""


@pytest.mark.parametrize("case", TIGHT)
def test_the_outermost_quotient_cancels(case: str) -> None:
    build, expected = TIGHT[case]
    scope = Scope()
    bounds = interval(build(scope.symbol("h"), scope.symbol("w")))
    values = [build(h, w) for h in range(1, 90) for w in range(1, 90)]
    assert str(bounds) == expected
    assert bounds.lo == min(values)
    assert bounds.hi in (None, max(values))


@pytest.mark.parametrize("number", [-7, -1, 1, 7])
def test_a_divisor_that_may_be_0_is_1_or_more_where_the_graph_runs(number: int) -> None:
    bounds = interval(number // Scope().symbol("size", 0))
    values = [number // size for size in range(1, 20)]
    assert bounds == Interval(min(values), max(values))


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
