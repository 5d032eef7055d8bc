"""The areas of a picture of memory over time, column by column: many moments share one where they are too many."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from shapeinf.report.memory_view import Block, MemoryView

MOST_COLUMNS = 1200
"""More cannot be told apart; a column of several moments shows that of them at which most is in use."""


@attrs.frozen
class Column:
    """The moments `first <= t < last`, shown as the moment `at`."""

    first: int
    last: int
    at: int


@attrs.frozen
class Step:
    """A piece of an area: from `low` to `high` bytes over the moments `first <= t < last`."""

    first: int
    last: int
    low: int
    high: int


def columns(view: MemoryView, window: range, most: int = MOST_COLUMNS) -> list[Column]:
    """At most so many columns for the moments of a window."""
    width = max(1, -(-len(window) // most))
    return [
        Column(first, end, max(range(first, end), key=view.totals.__getitem__))
        for first in window[::width]
        for end in (min(first + width, window.stop),)
    ]


def areas(view: MemoryView, drawn: Sequence[Column]) -> tuple[list[tuple[Block, list[Step]]], list[Step]]:
    """The steps of each named tensor, from the bottom up, and those of all others together on top."""
    heights = [0] * len(drawn)
    named = []
    for block in view.stacked:
        steps: list[Step] = []
        for i, column in enumerate(drawn):
            if block.birth <= column.at < block.death:
                _add(steps, Step(column.first, column.last, heights[i], heights[i] + block.size))
                heights[i] += block.size
        named.append((block, steps))
    rest: list[Step] = []
    for i, column in enumerate(drawn):
        if view.totals[column.at] > heights[i]:
            _add(rest, Step(column.first, column.last, heights[i], view.totals[column.at]))
    return named, rest


def outline(view: MemoryView, drawn: Sequence[Column]) -> list[Step]:
    """The total."""
    steps: list[Step] = []
    for column in drawn:
        _add(steps, Step(column.first, column.last, 0, view.totals[column.at]))
    return steps


def _add(steps: list[Step], step: Step) -> None:
    """Append a step, as part of the last one where it goes on at the same heights."""
    before = steps[-1] if steps else None
    if before is not None and (before.last, before.low, before.high) == (step.first, step.low, step.high):
        steps[-1] = attrs.evolve(before, last=step.last)
    else:
        steps.append(step)


def runs(steps: Sequence[Step]) -> list[list[Step]]:
    """The steps in groups without gaps."""
    groups: list[list[Step]] = []
    for step in steps:
        if groups and groups[-1][-1].last == step.first:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups
