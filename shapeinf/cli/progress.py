"""A progress bar for work that turns out to be long."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import Progress, TaskID

DELAY = 1.0
"""Seconds of silence before the bar appears."""


class LateProgress:
    """Called with (done, total); shows a bar on a terminal's stderr once `DELAY` seconds have passed.

    >>> with LateProgress() as progress:
    ...     progress(1, 2)
    """

    def __init__(self, console: Console | None = None, delay: float = DELAY) -> None:
        """Nothing is shown yet; a console that is no terminal never shows anything."""
        self._console = console or Console(stderr=True)
        self._start = time.monotonic() + delay
        self._bar: Progress | None = None
        self._task = TaskID(0)

    def __enter__(self) -> LateProgress:
        """Itself."""
        return self

    def __call__(self, done: int, total: int) -> None:
        """Note that `done` of `total` nodes are inferred."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done)
        elif self._console.is_terminal and time.monotonic() >= self._start:
            self._bar = Progress(console=self._console, transient=True)
            self._task = self._bar.add_task("inferring shapes", total=total, completed=done)
            self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
