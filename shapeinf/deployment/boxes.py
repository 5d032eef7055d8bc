"""Boxes of sizes: whether the preconditions of a graph hold everywhere in a box, and the nearest box where they do."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from math import prod

import attrs

from shapeinf.contract import Precondition
from shapeinf.expr import Dimension
from shapeinf.solver.sampling import Binding, Box, spread_bindings

MAX_TRIED = 1 << 14
"""The most bindings at which a precondition is evaluated; a larger box is sampled."""

MAX_STEPS = 32
"""The most preconditions for which a box is made smaller."""

Sizes = dict[Dimension, tuple[int, int]]
"""A box that can be changed: the least and the largest size of each symbol."""


@attrs.frozen
class Broken:
    """A precondition that does not hold at some sizes of a box."""

    precondition: Precondition
    binding: Binding


@attrs.frozen
class BoxVerdict:
    """Whether preconditions hold in a box: the first that does not, and whether the others are proved to."""

    broken: Broken | None
    proved: bool


def judge_box(preconditions: Sequence[Precondition], box: Box) -> BoxVerdict:
    """Evaluate preconditions in a box: at all sizes where these are few, else at a sample."""
    proved = True
    for precondition in preconditions:
        own = _own_sizes(precondition, box)
        complete = len(own) == len(precondition.free_symbols) and _count(own) <= MAX_TRIED
        bindings = _all_bindings(own) if complete else itertools.islice(spread_bindings(own), MAX_TRIED)
        for binding in bindings:
            holds = precondition.holds(binding)
            if holds is False:
                return BoxVerdict(Broken(precondition, binding), proved)
            proved = proved and holds is True
        proved = proved and complete
    return BoxVerdict(None, proved)


def _own_sizes(precondition: Precondition, box: Box) -> Sizes:
    """The sizes of the symbols of a precondition, in the order of the box."""
    symbols = precondition.free_symbols
    return {symbol: ends for symbol, ends in box.items() if symbol in symbols}


def _count(box: Box) -> int:
    return prod(high - low + 1 for low, high in box.values())


def _all_bindings(box: Box) -> Iterator[Binding]:
    names = [symbol.name for symbol in box]
    for sizes in itertools.product(*(range(low, high + 1) for low, high in box.values())):
        yield dict(zip(names, sizes, strict=True))


def nearest_box(preconditions: Sequence[Precondition], box: Box, center: Binding) -> Sizes | None:
    """A box inside of another in which all preconditions hold, around `center` where that is legal; None for none."""
    current: Sizes = dict(box)
    for _ in range(MAX_STEPS):
        broken = judge_box(preconditions, current).broken
        if broken is None:
            return current
        smaller = _without(broken.precondition, current, center)
        if smaller is None:
            return None
        current.update(smaller)
    return None


def _without(precondition: Precondition, box: Box, center: Binding) -> Sizes | None:
    """Smaller sizes of the symbols of a precondition with which it holds."""
    own = _own_sizes(precondition, box)
    if len(own) == 1:
        ((symbol, (low, high)),) = own.items()
        if high - low >= MAX_TRIED:
            return None
        legal = [size for size in range(low, high + 1) if precondition.holds({symbol.name: size}) is not False]
        run = nearest_run(legal, center[symbol.name])
        return None if run is None else {symbol: run}
    candidates = [
        {symbol: ends}
        for symbol in own
        for ends in (_lower_end(precondition, own, symbol), _upper_end(precondition, own, symbol))
        if ends is not None
    ]
    if candidates:
        return max(candidates, key=lambda smaller: _count({**own, **smaller}))
    if precondition.holds({symbol.name: center[symbol.name] for symbol in own}) is not False:
        return {symbol: (center[symbol.name],) * 2 for symbol in own}
    return None


def nearest_run(legal: Sequence[int], center: int) -> tuple[int, int] | None:
    """The ends of the consecutive sizes that have `center`, else of the longest ones, the nearest to it; None for none.

    >>> nearest_run([1, 2, 3, 8, 9], 8), nearest_run([1, 2, 3, 8, 9], 6), nearest_run([], 1)
    ((8, 9), (1, 3), None)
    """
    runs: list[tuple[int, int]] = []
    for size in legal:
        if runs and runs[-1][1] == size - 1:
            runs[-1] = (runs[-1][0], size)
        else:
            runs.append((size, size))

    def rank(run: tuple[int, int]) -> tuple[bool, int, int]:
        outside = max(run[0] - center, center - run[1], 0)
        return outside > 0, run[0] - run[1], outside

    return min(runs, key=rank, default=None)


def _upper_end(precondition: Precondition, box: Box, symbol: Dimension) -> tuple[int, int] | None:
    """The sizes of a symbol up to the largest one with which a precondition holds in a box."""
    low, high = box[symbol]
    most = _last(lambda step: _holds(precondition, {**box, symbol: (low, low + step)}), high - low)
    return None if most is None else (low, low + most)


def _lower_end(precondition: Precondition, box: Box, symbol: Dimension) -> tuple[int, int] | None:
    """The sizes of a symbol from the least one on with which a precondition holds in a box."""
    low, high = box[symbol]
    most = _last(lambda step: _holds(precondition, {**box, symbol: (high - step, high)}), high - low)
    return None if most is None else (high - most, high)


def _holds(precondition: Precondition, box: Box) -> bool:
    return judge_box([precondition], box).broken is None


def _last(holds: Callable[[int], bool], most: int) -> int | None:
    """The largest number up to `most` for which a condition holds that holds for all smaller ones; None for none."""
    if not holds(0):
        return None
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
