"""The executor for this machine: threads with a child process each."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from queue import SimpleQueue

from shapeinf.scan.process import Child
from shapeinf.scan.records import Candidate, ModelRow, ScanOptions

_AHEAD = 4
"""Candidates that are read ahead for each process."""


def scan_locally(candidates: Iterable[Candidate], options: ScanOptions, jobs: int) -> Generator[ModelRow, None, None]:
    """The rows of candidates as they complete, by `jobs` processes. Closing the iterator ends all of them."""
    children = [Child(options.memory) for _ in range(jobs)]
    idle: SimpleQueue[Child] = SimpleQueue()
    for child in children:
        idle.put(child)

    def scan(candidate: Candidate) -> ModelRow:
        child = idle.get()
        try:
            return child.scan(candidate, options)
        finally:
            idle.put(child)

    remaining = iter(candidates)
    pool = ThreadPoolExecutor(jobs)
    try:
        pending: set[Future[ModelRow]] = {pool.submit(scan, c) for c in islice(remaining, jobs * _AHEAD)}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            pending |= {pool.submit(scan, candidate) for candidate in islice(remaining, len(done))}
            for future in done:
                yield future.result()
    finally:
        for child in children:
            child.interrupt()
        pool.shutdown(cancel_futures=True)
        for child in children:
            child.close()
