"""Pauses of Python's garbage collector during inferences and long queries: many new objects, and little garbage."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

LEAST = 500_000
"""No collection runs here before this number of objects is created."""


class _Pace:
    """Counts the objects created since the last full collection."""

    def __init__(self) -> None:
        self.created = 0
        self.threshold = LEAST
        self._lock = threading.Lock()
        self._has_frozen = False

    def collect_if_due(self) -> None:
        """Collect once the number of new objects is that of all objects at the last collection."""
        if self.created >= self.threshold:
            gc.collect()
            self.created, self.threshold = 0, max(LEAST, len(gc.get_objects()))

    def count_as_old(self) -> None:
        """Move the objects created since the last collection to the old ones, which young collections do not visit."""
        with self._lock:
            created = gc.get_count()[0]
            if not self._program_freezes():
                gc.freeze()
                gc.unfreeze()
                self.created += created

    def _program_freezes(self) -> bool:
        """Whether the program has frozen objects of its own. Python visits each to count them: once is enough."""
        self._has_frozen = self._has_frozen or gc.get_freeze_count() > 0
        return self._has_frozen


_pace = _Pace()


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Pause garbage collection while the context is open, for one inference or query at a time.

    Afterwards the new objects count as old (they are frozen and unfrozen at once), so that no young collection visits
    them. Python rarely collects old objects, so a full collection runs here from time to time: before an inference,
    when earlier results may be garbage, and not after one, whose objects are all in use. A program that disables
    collections, or freezes objects of its own, stays unchanged.
    """
    running = gc.isenabled()
    if running:
        _pace.collect_if_due()
    gc.disable()
    try:
        yield
    finally:
        if running:
            _pace.count_as_old()
            gc.enable()
