"""Hypothesis strategies for families of cases: shapes, axes, opsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]
flag = st.integers(0, 1)


def shapes(
    rank: int | None = None, low: int = 0, high: int = 4, size: int = 5, least: int = 1
) -> st.SearchStrategy[list[int]]:
    """Shapes of a rank, or of ranks from `low` to `high`, with sizes from `least` to `size`."""
    low, high = (low, high) if rank is None else (rank, rank)
    return st.lists(st.integers(least, size), min_size=low, max_size=high)


def axes_of(rank: int, low: int = 0) -> st.SearchStrategy[list[int]]:
    """Distinct axes of a rank, some of them counted from the end."""
    picked = st.lists(
        st.tuples(st.integers(0, max(rank - 1, 0)), st.booleans()),
        min_size=low,
        max_size=rank,
        unique_by=lambda a: a[0],
    )
    return picked.map(lambda axes: [a - rank if negative else a for a, negative in axes])


def axis_of(rank: int) -> st.SearchStrategy[int]:
    """One axis, perhaps counted from the end."""
    return st.integers(-rank, rank - 1)


def broadcastable(draw: Draw, count: int, high: int = 4, size: int = 4) -> list[list[int]]:
    """Shapes that broadcast: each is a tail of one shape, with some sizes replaced by 1."""
    result = draw(shapes(high=high, size=size, least=draw(st.sampled_from((0, 1, 1, 1)))))
    return [
        [draw(st.sampled_from((n, n, 1))) for n in result[draw(st.integers(0, len(result))) :]] for _ in range(count)
    ]


def opset(*versions: int) -> st.SearchStrategy[int]:
    """One of these opsets."""
    return st.sampled_from(versions)
