"""Bounds of floors and maxima inside one another. Large numbers have a file of their own."""

import pytest

from shapeinf.expr import Interval, Scope, ceildiv, interval, maximum

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
    "a quotient less a coarser one": (lambda h, w: (h + 15) // 16 - (h + 15) // 32, "1.."),
    "the same, with other numbers inside": (lambda h, w: (h + 5) // 6 + w - (h + 23) // 24, "1.."),
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
