"""The executor for this machine: threads with a child process each."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import suppress
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread

from shapeinf.scan.process import Child
from shapeinf.scan.records import Candidate, ModelRow, ScanOptions

_AHEAD = 4
"""Candidates that are read ahead for each process."""

_Tasks = SimpleQueue[Candidate | None]
_Results = SimpleQueue[ModelRow | BaseException]


def scan_locally(candidates: Iterable[Candidate], options: ScanOptions, jobs: int) -> Generator[ModelRow, None, None]:
    """The rows of candidates as they complete, by `jobs` processes. Closing the iterator ends all of them."""
    tasks: _Tasks = SimpleQueue()
    results: _Results = SimpleQueue()
    children = [Child(options) for _ in range(jobs)]
    threads = [Thread(target=_serve, args=(child, tasks, results), daemon=True) for child in children]
    remaining = iter(candidates)
    try:
        for thread in threads:
            thread.start()
        waiting = _send(tasks, remaining, jobs * _AHEAD)
        while waiting:
            row = results.get()
            if isinstance(row, BaseException):
                raise row
            waiting += _send(tasks, remaining, 1) - 1
            yield row
    finally:
        _end(children, threads, tasks)


def _serve(child: Child, tasks: _Tasks, results: _Results) -> None:
    """Scan the candidates of a queue until it has None."""
    while (candidate := tasks.get()) is not None:
        try:
            results.put(child.scan(candidate))
        except BaseException as error:  # the other thread raises it
            results.put(error)


def _send(tasks: _Tasks, remaining: Iterable[Candidate], limit: int) -> int:
    """Queue the next candidates; their number."""
    count = 0
    for candidate in islice(remaining, limit):
        tasks.put(candidate)
        count += 1
    return count


def _end(children: Iterable[Child], threads: Iterable[Thread], tasks: _Tasks) -> None:
    """End the threads and processes; candidates that are still queued are not scanned."""
    with suppress(Empty):
        while True:
            tasks.get_nowait()
    for child in children:
        child.interrupt()
        tasks.put(None)
    for thread in threads:
        if thread.ident is not None:
            thread.join()
    for child in children:
        child.close()
