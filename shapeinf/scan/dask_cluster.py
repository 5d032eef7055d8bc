"""The executor for an existing Dask cluster: batches of models as tasks, each model in a process of its own."""

from __future__ import annotations

import gc
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from shapeinf.errors import MissingPackageError, ScanError
from shapeinf.scan.process import Child
from shapeinf.scan.records import Candidate, ModelRow, ScanOptions

LOCAL = "local"
"""The address of a cluster on this machine, which is started for the scan."""

BATCH_MODELS = 32
BATCH_BYTES = 256 << 20
"""A batch ends at this number of models or of bytes."""
_AHEAD = 3
"""Limit on the batches in flight for each thread of the workers."""
_CONNECT = 10
"""Seconds within which a scheduler must answer."""

_CHILDREN = threading.local()
"""The child process of each thread of a worker."""


def scan_on_cluster(
    candidates: Iterable[Candidate], options: ScanOptions, address: str, jobs: int
) -> Generator[ModelRow, None, None]:
    """The rows of candidates as they complete. Raises ScanError where no scheduler answers, or later ones are lost.

    Dask repeats a batch whose worker dies. If it fails again, its models are sent one by one, so that only the model
    that ends workers has no result.
    """
    try:
        import distributed
    except ImportError:
        raise MissingPackageError("--dask", "distributed", "scan") from None
    with _connect(distributed, address, jobs) as client:
        yield from _Run(distributed, client, make_batches(candidates), options, address).rows()


class _Run:
    """The batches in flight of one scan."""

    def __init__(
        self, distributed: Any, client: Any, batches: Iterator[list[Candidate]], options: ScanOptions, address: str
    ) -> None:
        self._client = client
        self._completed = distributed.as_completed(loop=client.loop)
        self._batches = batches
        self._options = options
        self._address = address
        self._sent: dict[str, Sequence[Candidate]] = {}
        self._suspects: deque[Candidate] = deque()
        """The models of batches whose workers died."""
        self._suspect: str | None = None
        """The task of the only suspect in flight: Dask blames all tasks of a worker that dies."""

    def rows(self) -> Iterator[ModelRow]:
        """The rows as batches complete."""
        self._refill()
        while self._sent:
            future = next(self._completed)
            batch = self._sent.pop(future.key)
            if future.key == self._suspect:
                self._suspect = None
            if future.status not in ("finished", "error"):
                raise ScanError(f"the scheduler at {self._address} is lost")
            try:
                rows = future.result()
            except Exception as error:  # its worker died, or anything else on another machine
                if len(batch) > 1:
                    self._suspects.extend(batch)
                else:
                    yield ModelRow.from_candidate(batch[0], "crash", f"the worker ended: {_first_line(error)}")
            else:
                yield from rows
            future.release()
            self._refill()

    def _submit(self, batch: Sequence[Candidate]) -> str:
        future = self._client.submit(scan_batch, batch, self._options, pure=False)
        self._sent[future.key] = batch
        self._completed.add(future)
        return str(future.key)

    def _refill(self) -> None:
        if self._suspects and self._suspect is None:
            self._suspect = self._submit([self._suspects.popleft()])
        limit = max(1, sum(self._client.nthreads().values())) * _AHEAD
        while len(self._sent) < limit and (batch := next(self._batches, None)) is not None:
            self._submit(batch)


def make_batches(candidates: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """The candidates in batches of bounded number and size.

    >>> large = Candidate("large.onnx", size=BATCH_BYTES)
    >>> [len(batch) for batch in make_batches([large, *[Candidate("small.onnx")] * 40])]
    [1, 32, 8]
    """
    batch: list[Candidate] = []
    size = 0
    for candidate in candidates:
        batch.append(candidate)
        size += candidate.size
        if len(batch) == BATCH_MODELS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def scan_batch(batch: Sequence[Candidate], options: ScanOptions) -> list[ModelRow]:
    """The rows of a batch, on a worker."""
    child: Child | None = getattr(_CHILDREN, "child", None)
    if child is None or child.options != options:
        if child is not None:
            child.close()
        child = _CHILDREN.child = Child(options)
    return [child.scan(candidate) for candidate in batch]


def _first_line(error: BaseException | None) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


@contextmanager
def _connect(distributed: Any, address: str, jobs: int) -> Iterator[Any]:
    """A client of the cluster at an address, or of a new one on this machine; both end with the block."""
    with ExitStack() as stack:
        target = address
        if address == LOCAL:
            cluster = distributed.LocalCluster(
                n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs="ERROR"
            )
            target = stack.enter_context(cluster)
        client, reason = _start_client(distributed, target)
        if client is None:
            gc.collect()  # closes the client that failed: closed while another one starts, both would wait forever
            raise ScanError(f"no Dask scheduler answers at {address}: {reason}")
        yield stack.enter_context(client)


def _start_client(distributed: Any, address: str) -> tuple[Any, str]:
    """A client of the cluster at an address, or None and the reason why it cannot start."""
    try:
        return distributed.Client(address, timeout=_CONNECT, set_as_default=False), ""
    except (OSError, ValueError) as error:
        return None, _first_line(error)
