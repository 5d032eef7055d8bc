"""A run at some sizes as a sequence of allocations and frees, for what depends on their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from shapeinf.memory.timeline import Buffer


class Event(NamedTuple):
    """A buffer, by number, is allocated or freed."""

    buffer: int
    size: int
    frees: bool = False


def trace(buffers: Sequence[tuple[Buffer, int]]) -> Iterator[Event]:
    """The events of a run with these buffers and their bytes, in the order of allocation; the last ones are not freed.

    Buffers are freed before those of the same program point are allocated.
    """
    born: dict[int, list[int]] = {}
    dead: dict[int, list[int]] = {}
    for number, (buffer, _) in enumerate(buffers):
        born.setdefault(buffer.birth, []).append(number)
        dead.setdefault(buffer.death, []).append(number)
    for point in range(max(born, default=-1) + 1):
        yield from (Event(number, buffers[number][1], True) for number in dead.get(point, ()))
        yield from (Event(number, buffers[number][1]) for number in born.get(point, ()))


def peak_of(events: Iterable[Event]) -> int:
    """The most bytes in use at once."""
    live = most = 0
    for event in events:
        live += -event.size if event.frees else event.size
        most = max(most, live)
    return most
