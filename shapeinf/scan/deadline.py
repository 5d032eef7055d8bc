"""The deadline of a request to a process, after which the process is killed."""

from __future__ import annotations

import math
import subprocess
import threading
import time


class Deadline:
    """Kills a process that does not answer in time: one thread watches over all requests of one client.

    The thread starts with the first request, and sleeps until the deadline that was the present one when it last
    looked: a request that is answered does not wake it.
    """

    def __init__(self) -> None:
        """No request yet."""
        self._changed = threading.Condition()
        self._process: subprocess.Popen[str] | None = None
        self._end = self._wakes = math.inf
        """When the present request ends, and when the thread looks next."""
        self._expired = self._closed = False
        self._thread: threading.Thread | None = None

    def start(self, process: subprocess.Popen[str], seconds: float) -> None:
        """Kill the process after some seconds, unless `stop` is called before."""
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            self._process, self._expired = process, False
            self._end = time.monotonic() + seconds
            if self._end < self._wakes:
                self._changed.notify()

    def stop(self) -> bool:
        """End the request; whether its process was killed."""
        with self._changed:
            self._process, self._end = None, math.inf
            return self._expired

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                remaining = self._end - time.monotonic()
                if remaining > 0:
                    self._wakes = self._end
                    self._changed.wait(None if math.isinf(remaining) else min(remaining, threading.TIMEOUT_MAX))
                else:
                    self._expired, self._end = True, math.inf
                    if self._process is not None:
                        self._process.kill()
