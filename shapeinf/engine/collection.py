"""When garbage is collected: not during an inference, and not never."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

LEAST = 500_000
"""How many new objects may wait for a collection, whatever else there is."""


class _Pace:
    """Counts what was made since all was last collected."""

    def __init__(self) -> None:
        self.made = 0
        self.enough = LEAST

    def add(self, made: int) -> None:
        """So many more; a collection when they are as many as all that was alive then, so that each costs little."""
        self.made += made
        if self.made >= self.enough:
            gc.collect()
            self.made, self.enough = 0, max(LEAST, len(gc.get_objects()))


_pace = _Pace()


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """No garbage collection meanwhile: an inference makes many small objects and little garbage.

    What it made counts as old afterwards (frozen and unfrozen at once), so that no collection walks through it soon.
    Python does not see garbage among such objects for long: so from time to time all is collected here. Where a
    program has switched collections off, or has frozen objects of its own, all this is left to it.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            made = gc.get_count()[0]
            if gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
                _pace.add(made)
            gc.enable()
