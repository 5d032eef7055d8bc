"""Near values of what a node says: what it may have said before someone changed it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

_LONGEST = 4
"""Permutations up to this length are tried in all orders, longer ones with two places exchanged."""
_NEAR = 4
_END = 2**63 - 1
"""What slices say for an end that is open."""


def other_values(value: object) -> Iterator[object]:
    """Near values of an attribute: of an int, of a tuple of ints, other orders of a permutation."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield from (n for n in range(value - _NEAR, value + _NEAR + 1) if n != value and (n >= 0) == (value >= 0))
    elif isinstance(value, tuple) and value and all(isinstance(n, int) for n in value):
        if sorted(value) == list(range(len(value))) and len(value) > 1:
            orders = itertools.permutations(range(len(value))) if len(value) <= _LONGEST else _swaps(value)
            yield from (order for order in orders if order != value)
            return
        near = ((*value[:i], m, *value[i + 1 :]) for i, n in enumerate(value[: 2 * _LONGEST]) for m in (n - 1, n + 1))
        both = ([] if len(set(value)) > 1 else [(value[0] + d,) * len(value) for d in (-1, 1)]) if value[1:] else []
        for other in (*near, *both):  # numbers of windows are alike on all axes: a repair makes them no less so
            if min(other) >= 0 and len(set(other)) <= len(set(value)):
                yield other


def other_numbers(numbers: tuple[object, ...]) -> Iterator[tuple[int, ...]]:
    """The same numbers with one of them near to what it was, doubled or halved; an open end for one from the end.

    >>> list(other_numbers((1,)))
    [(0,), (2,), (3,), (4,), (5,)]
    """
    for place, number in enumerate(numbers):
        for other in near_numbers(number):
            changed = [n for n in numbers if isinstance(n, int)]
            changed[place] = other
            yield tuple(changed)


def near_numbers(number: object) -> Iterator[int]:
    """Numbers near to one, its double and its half; an open end for one that counts from the end."""
    if isinstance(number, int):
        near = [n for n in other_values(number) if isinstance(n, int)]
        more = [number * 2, number // 2] if number > _NEAR + 1 else [_END] if number < 0 else []
        yield from dict.fromkeys(near + more)


def other_orders(length: int) -> Iterator[tuple[int, ...]]:
    """Other orders of so many axes: first two exchanged, then all others of a few."""
    straight = tuple(range(length))
    swaps = list(_swaps(straight))
    yield from swaps
    if length <= _LONGEST:
        yield from (order for order in itertools.permutations(straight) if order != straight and order not in swaps)


def _swaps(value: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for a, b in itertools.combinations(range(len(value)), 2):
        swapped = list(value)
        swapped[a], swapped[b] = swapped[b], swapped[a]
        yield tuple(swapped)


def text_of(value: object) -> str:
    """A value of an attribute as text."""
    return str(list(value)) if isinstance(value, tuple) else str(value)
