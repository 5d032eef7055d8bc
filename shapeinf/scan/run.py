"""A scan: candidates that a dataset does not have yet, an executor for them, and their rows in the dataset."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial

import attrs

from shapeinf.scan.candidates import find_candidates
from shapeinf.scan.dask_cluster import scan_on_cluster
from shapeinf.scan.dataset import Dataset
from shapeinf.scan.local import scan_locally
from shapeinf.scan.records import Candidate, ModelRow, ScanOptions

Executor = Callable[[Iterable[Candidate]], Generator[ModelRow, None, None]]
"""The rows of candidates, as they complete."""


@attrs.define
class ScanProgress:
    """The progress of a scan.

    Args:
        rows: paths with a new row, of which `failed` ones have no result.
        skipped: paths with a row of an earlier scan.
        total: all paths; None while they are being counted.
    """

    rows: int = 0
    failed: int = 0
    skipped: int = 0
    total: int | None = None
    started: float = attrs.Factory(time.monotonic)

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.rows / max(time.monotonic() - self.started, 1e-9)

    @property
    def remaining(self) -> int | None:
        """Paths without a row; None while they are being counted."""
        return None if self.total is None else max(0, self.total - self.rows - self.skipped)


def make_executor(options: ScanOptions, jobs: int | None = None, dask: str | None = None) -> Executor:
    """The executor of a command line: `jobs` processes of this machine, or the Dask cluster at an address."""
    count = jobs or os.cpu_count() or 1
    if dask is None:
        return partial(scan_locally, options=options, jobs=count)
    return partial(scan_on_cluster, options=options, address=dask, jobs=count)


def run_scan(
    candidates: Iterable[Candidate],
    dataset: Dataset,
    executor: Executor,
    on_row: Callable[[ModelRow], None] = lambda _: None,
    progress: ScanProgress | None = None,
) -> ScanProgress:
    """Scan the candidates that a dataset does not have. Whatever ends the scan, the rows so far are in the dataset.

    `on_row` is called with each row once it is safe. Raises ScanError where the scan cannot go on.
    """
    progress = progress or ScanProgress()

    def remaining() -> Iterator[Candidate]:
        for candidate in candidates:
            if dataset.includes(candidate):
                progress.skipped += 1
            else:
                yield candidate

    try:
        with closing(executor(remaining())) as rows:
            for row in rows:
                dataset.add(row)
                progress.rows += 1
                progress.failed += row.failed
                on_row(row)
    finally:
        dataset.flush()
    return progress


def count_in_background(
    paths: Iterable[str], exclude: Iterable[str], follow_links: bool, progress: ScanProgress
) -> None:
    """Count all candidates in a thread that ends with the process, so that the progress has a total."""
    requested, patterns = list(paths), list(exclude)

    def count() -> None:
        progress.total = sum(1 for _ in find_candidates(requested, patterns, follow_links=follow_links))

    threading.Thread(target=count, daemon=True).start()
