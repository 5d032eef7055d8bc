"""Medians of CPU time of several ways to do the same, run in turns in one process."""

from __future__ import annotations

import contextlib
import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any


def medians(path: str, ways: Mapping[str, Callable[[str], Any]], repeats: int) -> dict[str, float]:
    """Median CPU seconds of each way, run in turns on the absolute path; infinite for one that fails.

    The current directory is a temporary folder meanwhile: some peers write scratch files into it.
    """
    path = os.path.abspath(path)
    times: dict[str, list[float]] = {name: [] for name in ways}
    with _temporary_directory():
        for turn in range(repeats + 1):
            for name, way in ways.items():
                gc.collect()
                start = time.process_time()
                try:
                    way(path)
                except Exception:  # a peer may fail on a model; the others are still compared
                    times[name] = [float("inf")]
                    continue
                if turn:
                    times[name].append(time.process_time() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


@contextlib.contextmanager
def _temporary_directory() -> Iterator[None]:
    start = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(start)
