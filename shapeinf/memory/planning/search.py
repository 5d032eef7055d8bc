"""A short search from a good order to a better one; seeded, so that the same problem has the same plan."""

from __future__ import annotations

from random import Random

import numpy as np

from shapeinf.memory.planning.packing import Blocks, Ints
from shapeinf.memory.planning.skyline import rise

WORK = 60_000
"""Blocks that a search may place, all steps together."""

LEAST_STEPS, MOST_STEPS = 20, 400


def improved(blocks: Blocks, places: Ints, order: Ints, least: int, seed: int) -> Ints:
    """Places that are no worse, from an order whose `rise` gave these; no arena is smaller than `least`.

    Each step swaps two blocks of the order, and keeps that where the arena does not grow.
    """
    random = Random(seed)
    arena = blocks.arena(places)
    for _ in range(_steps(len(order))):
        if arena == least:
            break
        i, j = _swap(blocks, places, order, random)
        new = order.copy()
        new[i], new[j] = order[j], order[i]
        tried = rise(blocks, new)
        size = blocks.arena(tried)
        if size <= arena:
            arena, order, places = size, new, tried
    return places


def _steps(count: int) -> int:
    """How many steps a search takes; none where the work would not be enough for a few."""
    steps = WORK // max(count, 1)
    return min(steps, MOST_STEPS) if count > 1 and steps >= LEAST_STEPS else 0


def _swap(blocks: Blocks, places: Ints, order: Ints, random: Random) -> tuple[int, int]:
    """Every other time a block that reaches the top of the arena changes its turn, mostly to an earlier one."""
    count = len(order)
    if random.random() < 0.5:
        top = places + blocks.units
        highest = np.flatnonzero(top == top.max())
        i = int(np.flatnonzero(order == highest[random.randrange(len(highest))])[0])
    else:
        i = random.randrange(count)
    return i, random.randrange(i + 1) if random.random() < 0.7 else random.randrange(count)
