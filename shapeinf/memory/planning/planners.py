"""The planners: simple ones with names that the literature knows, and the best of many tries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shapeinf.errors import UnknownNameError
from shapeinf.memory.planning.packing import Blocks, Fit, Ints, pack
from shapeinf.memory.planning.problem import Plan, Problem, Request
from shapeinf.memory.planning.search import improved
from shapeinf.memory.planning.skyline import rise

Planner = Callable[[Problem], Plan]

MANY = 20_000
"""From here on `best` tries three planners only; each try takes seconds."""

SEARCHES = 8
"""How often `thorough` searches."""


def greedy_by_size(problem: Problem) -> Plan:
    """The largest first, each at the lowest place that is free at all its moments."""
    blocks = Blocks.of(problem)
    return _placed(problem, blocks, pack(blocks, _sorted(blocks, -blocks.size), "first"), "greedy_by_size")


def greedy_by_breadth(problem: Problem) -> Plan:
    """The moments with most bytes in use first; what lives at each by size, into the smallest gap that is enough."""
    blocks = Blocks.of(problem)
    return _placed(problem, blocks, pack(blocks, _by_breadth(blocks), "best"), "greedy_by_breadth")


def best_fit(problem: Problem) -> Plan:
    """In the order of their first moment, as a runtime would, each into the smallest gap that is large enough."""
    blocks = Blocks.of(problem)
    return _placed(problem, blocks, pack(blocks, _sorted(blocks, blocks.lower), "best"), "best_fit")


def best(problem: Problem) -> Plan:
    """The smallest of many: the planners above, greedy ones by other orders, and a short seeded search.

    The same problem has the same plan, always; it is never larger than what the planners above give.
    """
    return _searched(problem, "best", 1)


def thorough(problem: Problem) -> Plan:
    """As `best`, with more searches: some seconds, for plans that are a few percent smaller."""
    return _searched(problem, "thorough", SEARCHES)


def _searched(problem: Problem, planner: str, searches: int) -> Plan:
    blocks = Blocks.of(problem)
    least = problem.least_arena
    found: Ints = np.zeros(len(blocks), dtype=np.int64)
    arena: int | None = None
    for places in _tries(problem, blocks, least, searches):
        size = blocks.arena(places)
        if arena is None or size < arena:
            arena, found = size, places
        if arena == least:
            break
    return _placed(problem, blocks, found, planner)


PLANNERS: dict[str, Planner] = {
    "best": best,
    "best_fit": best_fit,
    "greedy_by_breadth": greedy_by_breadth,
    "greedy_by_size": greedy_by_size,
    "thorough": thorough,
}
"""The planners that need nothing but shapeinf."""


def planner_named(name: str) -> Planner:
    """A planner by its name; `omnimalloc` needs the package of that name. Raises UnknownNameError."""
    if name == "omnimalloc":
        from shapeinf.memory.planning.omni import omnimalloc

        return omnimalloc
    if name not in PLANNERS:
        raise UnknownNameError("planner", name, [*PLANNERS, "omnimalloc"])
    return PLANNERS[name]


def _placed(problem: Problem, blocks: Blocks, places: Ints, planner: str) -> Plan:
    return problem.placed((places * blocks.alignment).tolist(), planner)


def _sorted(blocks: Blocks, key: Ints) -> Ints:
    """The blocks by a key, the larger ones first among equals."""
    return np.lexsort((-blocks.size, key))


def _ranked(problem: Problem, key: Callable[[Request], Any]) -> Ints:
    """The blocks by a key that may be larger than 64 bits."""
    requests = problem.requests
    return np.array(sorted(range(len(requests)), key=lambda i: key(requests[i])), dtype=np.int64)


def _by_breadth(blocks: Blocks) -> Ints:
    """The order of `greedy_by_breadth`."""
    end = int(blocks.upper.max(initial=0))
    breadth = np.zeros(end + 1, dtype=np.int64)
    np.add.at(breadth, blocks.lower, blocks.size)
    np.subtract.at(breadth, blocks.upper, blocks.size)
    by_size = _sorted(blocks, -blocks.size)
    lower, upper = blocks.lower[by_size], blocks.upper[by_size].copy()
    order: list[Ints] = []
    for t in np.argsort(-np.cumsum(breadth)[:end], kind="stable").tolist():
        alive = (lower <= t) & (t < upper)
        order.append(by_size[alive])
        upper[alive] = -1
    return np.concatenate(order) if order else by_size


def _tries(problem: Problem, blocks: Blocks, least: int, searches: int) -> Iterator[Ints]:
    """Places by all orders that are worth a try, the named planners first; then the best two of the last, improved."""
    by_size, by_start = _sorted(blocks, -blocks.size), _sorted(blocks, blocks.lower)
    yield pack(blocks, by_size, "first")
    yield pack(blocks, by_start, "best")
    yield pack(blocks, _by_breadth(blocks), "best")
    if len(blocks) >= MANY:
        return
    by_duration = _ranked(problem, lambda r: (r.lower - r.upper, -r.size))
    by_area = _ranked(problem, lambda r: r.size * (r.lower - r.upper))
    fits: tuple[Fit, Fit] = ("first", "best")
    for order in (by_size, by_start, by_duration, by_area):
        for fit in fits:
            yield pack(blocks, order, fit)
    keys = (blocks.lower, -blocks.upper, blocks.lower - blocks.upper, -_conflicts(blocks))
    risen = [(rise(blocks, order), order) for order in (by_area, by_duration, *(_sorted(blocks, key) for key in keys))]
    for places, _ in risen:
        yield places
    risen.sort(key=lambda one: blocks.arena(one[0]))
    for seed in range(searches):
        yield improved(blocks, *risen[seed % 2], least, seed)


def _conflicts(blocks: Blocks) -> Ints:
    """How many blocks live at the same time as each: all but those that end before it, or begin after it."""
    ends, starts = np.sort(blocks.upper), np.sort(blocks.lower)
    before = ends.searchsorted(blocks.lower, side="right")
    after = len(blocks) - starts.searchsorted(blocks.upper, side="left")
    return len(blocks) - before - after
