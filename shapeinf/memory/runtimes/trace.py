"""A run at some sizes as a sequence of allocations and frees, for the parts of a runtime that depend on their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from shapeinf.memory.timeline import Buffer, Timeline


class Event(NamedTuple):
    """A buffer, by number, is allocated or freed."""

    buffer: int
    size: int
    frees: bool = False


def trace(timeline: Timeline, sizes: Sequence[int], counts: Callable[[Buffer], bool]) -> Iterator[Event]:
    """The events of a run for the buffers that count; those of the end of the run are left out.

    `timeline` has the buffers in the order of their allocation, and `sizes` their bytes.
    """
    born: dict[int, list[int]] = {}
    dead: dict[int, list[int]] = {}
    for number, buffer in enumerate(timeline.buffers):
        if counts(buffer):
            born.setdefault(buffer.birth, []).append(number)
            dead.setdefault(buffer.death, []).append(number)
    for point in range(len(timeline.points)):
        yield from (Event(number, sizes[number], True) for number in dead.get(point, ()))
        yield from (Event(number, sizes[number]) for number in born.get(point, ()))


def peak_of(events: Iterable[Event]) -> int:
    """The most bytes in use at once."""
    live = most = 0
    for event in events:
        live += -event.size if event.frees else event.size
        most = max(most, live)
    return most


def live_sizes(events: Iterable[Event]) -> Mapping[int, int]:
    """The buffers that remain after these events."""
    live: dict[int, int] = {}
    for event in events:
        if event.frees:
            live.pop(event.buffer, None)
        else:
            live[event.buffer] = event.size
    return live
