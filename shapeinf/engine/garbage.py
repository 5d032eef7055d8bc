"""Python's garbage collector is paused during an inference, and runs now and then before one."""

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

    def collect_if_due(self) -> None:
        """Collect when as many objects were created as were alive at the last collection."""
        if self.created >= self.threshold:
            gc.collect()
            self.created, self.threshold = 0, max(LEAST, len(gc.get_objects()))


_pace = _Pace()


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Pause garbage collection: an inference creates many small objects and little garbage.

    Its objects count as old afterwards (frozen and unfrozen at once), so that no young collection walks through them;
    since Python rarely collects old objects, a full collection runs here from time to time: before an inference, when
    earlier results may have been dropped, not after one, whose objects are all in use. A program that disables
    collections, or freezes objects of its own, is left alone.
    """
    running = gc.isenabled()
    if running and gc.get_freeze_count() == 0:
        _pace.collect_if_due()
    gc.disable()
    try:
        yield
    finally:
        if running:
            created = gc.get_count()[0]
            if gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
                _pace.created += created
            gc.enable()
