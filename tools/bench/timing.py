"""Medians of CPU time of several ways to do the same, run in turns in one process."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any


def medians(path: str, ways: Mapping[str, Callable[[str], Any]], repeats: int) -> dict[str, float]:
    """Median CPU seconds of each way, run in turns; infinite for one that fails."""
    times: dict[str, list[float]] = {name: [] for name in ways}
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
