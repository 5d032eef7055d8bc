"""Python's garbage collector is paused during an inference, and runs now and then between them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

LEAST = 500_000
"""The least number of new objects before a collection."""


class _Pace:
    """Counts the objects created since the last full collection."""

    def __init__(self) -> None:
        self.created = 0
        self.threshold = LEAST

    def add(self, created: int) -> None:
        """Count new objects; collect when they are as many as were alive at the last collection."""
        self.created += created
        if self.created >= self.threshold:
            gc.collect()
            self.created, self.threshold = 0, max(LEAST, len(gc.get_objects()))


_pace = _Pace()


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Pause garbage collection: an inference creates many small objects and little garbage.

    Its objects count as old afterwards (frozen and unfrozen at once), so that no young collection walks through them;
    since Python rarely collects old objects, a full collection runs here from time to time. A program that disables
    collections, or freezes objects of its own, is left alone.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            created = gc.get_count()[0]
            if gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
                _pace.add(created)
            gc.enable()
