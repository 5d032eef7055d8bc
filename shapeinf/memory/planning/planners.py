"""The planners: greedy ones that the literature names, the best of many with a seeded search, and omnimalloc."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np

from shapeinf.errors import MissingPackageError, PlanError, UnknownNameError
from shapeinf.memory.planning.packing import Blocks, Fit, Ints, pack, pack_skyline
from shapeinf.memory.planning.problem import Plan, Problem, Request

Planner = Callable[[Problem], Plan]

MANY = 20_000
"""From this number of buffers on, `best` tries three planners only, as each takes seconds."""

SEARCHES = 8
"""The number of searches of `thorough`."""

SEARCH_WORK = 60_000
"""The number of blocks that a search may place, over all its steps."""

MIN_STEPS, MAX_STEPS = 20, 400

OMNIMALLOC_SECONDS = 3.0


def greedy_by_size(problem: Problem) -> Plan:
    """Place the largest buffers first, each at the lowest offset that is free over its lifetime."""
    blocks = Blocks.from_problem(problem)
    return _plan(problem, blocks, pack(blocks, _order_by(blocks, -blocks.size), "first"), "greedy_by_size")


def greedy_by_breadth(problem: Problem) -> Plan:
    """Place the buffers live at the points with most bytes in use first, each into the smallest gap that fits."""
    blocks = Blocks.from_problem(problem)
    return _plan(problem, blocks, pack(blocks, _breadth_order(blocks), "best"), "greedy_by_breadth")


def best_fit(problem: Problem) -> Plan:
    """Place buffers in the order of birth, as a runtime allocates, each into the smallest gap that fits."""
    blocks = Blocks.from_problem(problem)
    return _plan(problem, blocks, pack(blocks, _order_by(blocks, blocks.lower), "best"), "best_fit")


def best(problem: Problem) -> Plan:
    """The smallest of many plans: by the planners above, by greedy ones in other orders, and by a short seeded search.

    It is deterministic, and never larger than the plans of the planners above.
    """
    return _smallest(problem, "best", 1)


def thorough(problem: Problem) -> Plan:
    """The smallest plan as by `best`, with longer searches: some seconds, for a few percent fewer bytes."""
    return _smallest(problem, "thorough", SEARCHES)


def _smallest(problem: Problem, planner: str, searches: int) -> Plan:
    blocks = Blocks.from_problem(problem)
    least = problem.least_arena
    best_offsets: Ints = np.zeros(len(blocks), dtype=np.int64)
    arena: int | None = None
    for offsets in _candidates(problem, blocks, least, searches):
        size = blocks.arena(offsets)
        if arena is None or size < arena:
            arena, best_offsets = size, offsets
        if arena == least:
            break
    return _plan(problem, blocks, best_offsets, planner)


def omnimalloc(problem: Problem, seconds: float = OMNIMALLOC_SECONDS) -> Plan:
    """The plan of omnimalloc's SuperMalloc after a search of some seconds, or that of `thorough` where it is smaller.

    The search is limited by time, so plans differ from run to run. `Plan.planner` names the planner of the result.
    Raises MissingPackageError without the package.
    """
    try:
        from omnimalloc import Allocation
        from omnimalloc.allocators.supermalloc import SupermallocAllocator
    except ImportError:
        raise MissingPackageError("this planner", "omnimalloc", "omnimalloc") from None
    if not seconds > 0:
        raise PlanError(f"a search needs more than {seconds} seconds")
    ours = thorough(problem)
    if ours.arena == problem.least_arena:
        return ours
    step = problem.alignment
    allocations = [
        Allocation(id=i, size=-(-r.size // step), start=r.lower, end=r.upper)
        for i, r in enumerate(problem.requests)
        if r.size
    ]
    try:
        placed = SupermallocAllocator(timeout=seconds).allocate(tuple(allocations))
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        raise PlanError(f"omnimalloc has no plan: {error}") from None
    offsets = [0] * len(problem.requests)
    for allocation in placed:
        offsets[allocation.id] = allocation.offset * step
    theirs = problem.plan(offsets, "omnimalloc")
    return theirs if theirs.arena < ours.arena else ours


PLANNERS: dict[str, Planner] = {
    "best": best,
    "best_fit": best_fit,
    "greedy_by_breadth": greedy_by_breadth,
    "greedy_by_size": greedy_by_size,
    "thorough": thorough,
}
"""The planners without further dependencies, by the name that users choose them by."""

OPTIONAL_PLANNERS: dict[str, Planner] = {"omnimalloc": omnimalloc}
"""Planners that need a package of the same name."""


def find_planner(name: str) -> Planner:
    """The planner of a name. Raises UnknownNameError."""
    planners = PLANNERS | OPTIONAL_PLANNERS
    if name not in planners:
        raise UnknownNameError("planner", name, planners)
    return planners[name]


def _plan(problem: Problem, blocks: Blocks, offsets: Ints, planner: str) -> Plan:
    return problem.plan((offsets * blocks.alignment).tolist(), planner)


def _order_by(blocks: Blocks, key: Ints) -> Ints:
    """The blocks sorted by a key, the larger ones first among equals."""
    return np.lexsort((-blocks.size, key))


def _order_by_key(problem: Problem, key: Callable[[Request], Any]) -> Ints:
    """The blocks sorted by a key that may pass 64 bits."""
    requests = problem.requests
    return np.array(sorted(range(len(requests)), key=lambda i: key(requests[i])), dtype=np.int64)


def _breadth_order(blocks: Blocks) -> Ints:
    """The order of `greedy_by_breadth`: by the first of its points in the order of their bytes, the largest first."""
    end = int(blocks.upper.max(initial=0))
    breadth = np.zeros(end + 1, dtype=np.int64)
    np.add.at(breadth, blocks.lower, blocks.size)
    np.subtract.at(breadth, blocks.upper, blocks.size)
    rank = np.empty(end, dtype=np.int64)
    rank[np.argsort(-np.cumsum(breadth)[:end], kind="stable")] = np.arange(end)
    return _order_by(blocks, _least_of_ranges(rank, blocks.lower, blocks.upper))


def _least_of_ranges(values: Ints, starts: Ints, ends: Ints) -> Ints:
    """The least value of each range; two overlapping ranges whose length is a power of 2 cover it."""
    lengths = ends - starts
    least = np.zeros(len(starts), dtype=np.int64)
    width = 1
    while len(values):
        chosen = np.flatnonzero((lengths >= width) & (lengths < 2 * width))
        least[chosen] = np.minimum(values[starts[chosen]], values[ends[chosen] - width])
        values = np.minimum(values[:-width], values[width:])  # of ranges of twice the length
        width *= 2
    return least


def _candidates(problem: Problem, blocks: Blocks, least: int, searches: int) -> Iterator[Ints]:
    """Offsets by many orders, the named planners first; then the best two of the skyline orders, improved."""
    size_order, start_order = _order_by(blocks, -blocks.size), _order_by(blocks, blocks.lower)
    yield pack(blocks, size_order, "first")
    yield pack(blocks, start_order, "best")
    yield pack(blocks, _breadth_order(blocks), "best")
    if len(blocks) >= MANY:
        return
    duration_order = _order_by_key(problem, lambda r: (r.lower - r.upper, -r.size))
    area_order = _order_by_key(problem, lambda r: r.size * (r.lower - r.upper))
    fits: tuple[Fit, Fit] = ("first", "best")
    yield pack(blocks, size_order, "best")
    yield pack(blocks, start_order, "first")
    for order in (duration_order, area_order):
        for fit in fits:
            yield pack(blocks, order, fit)
    keys = (blocks.lower, -blocks.upper, blocks.lower - blocks.upper, -_conflicts(blocks))
    orders = (area_order, duration_order, *(_order_by(blocks, key) for key in keys))
    packed = [(pack_skyline(blocks, order), order) for order in orders]
    for offsets, _ in packed:
        yield offsets
    packed.sort(key=lambda pair: blocks.arena(pair[0]))
    for seed in range(searches):
        yield _improve(blocks, *packed[seed % 2], least, seed)


def _conflicts(blocks: Blocks) -> Ints:
    """For each block, how many are live at the same time: all but those that end before it or begin after it."""
    ends, starts = np.sort(blocks.upper), np.sort(blocks.lower)
    before = ends.searchsorted(blocks.lower, side="right")
    after = len(blocks) - starts.searchsorted(blocks.upper, side="left")
    return len(blocks) - before - after


def _improve(blocks: Blocks, offsets: Ints, order: Ints, least: int, seed: int) -> Ints:
    """Offsets with no larger arena, by a search from the order of a skyline; `least` is a lower bound for the arena.

    Each step swaps two blocks of the order, and reverts the swap if the arena grows.
    """
    random = Random(seed)
    arena = blocks.arena(offsets)
    for _ in range(_step_count(len(order))):
        if arena == least:
            break
        i, j = _swap(blocks, offsets, order, random)
        new = order.copy()
        new[i], new[j] = order[j], order[i]
        candidate = pack_skyline(blocks, new)
        size = blocks.arena(candidate)
        if size <= arena:
            arena, order, offsets = size, new, candidate
    return offsets


def _step_count(count: int) -> int:
    """The number of steps of a search; 0 where the work does not suffice for a few."""
    steps = SEARCH_WORK // max(count, 1)
    return min(steps, MAX_STEPS) if count > 1 and steps >= MIN_STEPS else 0


def _swap(blocks: Blocks, offsets: Ints, order: Ints, random: Random) -> tuple[int, int]:
    """Two positions to swap: every other time one of a block at the top of the arena, mostly with an earlier one."""
    count = len(order)
    if random.random() < 0.5:
        top = offsets + blocks.units
        highest = np.flatnonzero(top == top.max())
        i = int(np.flatnonzero(order == highest[random.randrange(len(highest))])[0])
    else:
        i = random.randrange(count)
    return i, random.randrange(i + 1) if random.random() < 0.7 else random.randrange(count)
