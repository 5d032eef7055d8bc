"""The legal sizes of a field: the budget bounds how many sizes are tried, and all of these are decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from shapeinf.contract import LegalSizes
from shapeinf.report.live.fields import TRIED, TRIED_ALONE, Field, add_legal_sizes, slider_stops


class Solver:
    """A contract of even sizes; isl solves up to a size, past which sizes are tried until the budget ends."""

    def __init__(self, solved: int, tried: int) -> None:
        self.solved = solved
        self.tried = tried

    def solve(self, name: str, values: Iterable[int], *, work: int) -> LegalSizes:
        sizes: Sequence[int] = list(values)
        if sizes[-1] <= self.solved:
            return LegalSizes(name, tuple(size for size in sizes if size % 2 == 0), "solved")
        tried = [size for size in sizes if size <= self.tried]
        return LegalSizes(name, tuple(s for s in tried if s % 2 == 0), "evaluation", tuple(sizes[len(tried) :]))


@pytest.mark.parametrize(
    ("solved", "tried", "last"),
    [(TRIED, 0, TRIED), (TRIED_ALONE, 3, TRIED_ALONE), (0, TRIED_ALONE, TRIED_ALONE), (0, 3, 0)],
)
def test_sizes_that_are_not_decided_stay(solved: int, tried: int, last: int) -> None:
    field = Field("n", 1, None)
    field = Field("n", 1, None, stops=slider_stops(field))
    contract: Any = Solver(solved, tried)
    actual = add_legal_sizes(contract, field)
    assert actual.stops == tuple(stop for stop in field.stops if stop > last or stop % 2 == 0)
    assert actual.legal.endswith(f" (of 1..{last})" if last else "") and bool(actual.legal) == bool(last)
