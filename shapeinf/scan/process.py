"""The parent's side of a child process: requests, and the outcome of a model whose process dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from shapeinf.errors import ScanError
from shapeinf.scan.child import options_text, request_text
from shapeinf.scan.copies import local_copy
from shapeinf.scan.deadline import Deadline
from shapeinf.scan.records import Candidate, ModelRow, Outcome, ScanOptions

MAX_MODELS = 500
"""Models that one process scans: its end frees what libraries leak."""
_START = 120.0
"""Seconds within which a process must start."""
_BACKUP = 5.0
"""Seconds past the timeout after which the parent ends a child that did not end itself."""
_TAIL = 1 << 16
"""Bytes at the end of the output of a child that are read after its death."""
_SOURCE = str(Path(__file__).resolve().parents[2])
"""The folder from which this package is imported."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Child:
    """A process that scans models one after the other; it is started when it is needed, and replaced after a failure.

    Only `interrupt` is thread-safe: each thread has a child of its own.
    """

    def __init__(self, options: ScanOptions, max_models: int = MAX_MODELS) -> None:
        """No process yet; `options` are those of all its models."""
        self.options = options
        self._max_models = max_models
        self._models = 0
        self._process: subprocess.Popen[str] | None = None
        self._output: IO[bytes] | None = None
        self._deadline = Deadline()
        self._closed = False

    def scan(self, candidate: Candidate) -> ModelRow:
        """The row of a candidate, whatever happens to the process."""
        if candidate.outcome is not None:
            return ModelRow.from_candidate(candidate, candidate.outcome, candidate.message)
        start = time.perf_counter()
        with ExitStack() as stack:
            try:
                file = stack.enter_context(local_copy(candidate.path))
            except Exception as error:  # of the file system of a URL, whose errors are of any type
                reason = (isinstance(error, OSError) and error.strerror) or f"{type(error).__name__}: {error}"
                return ModelRow.from_candidate(candidate, "unreadable", reason, time.perf_counter() - start)
            return self._request(candidate, file)

    def interrupt(self) -> None:
        """End the present request, from another thread; later ones are refused."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process."""
        self._closed = True
        self._stop()
        self._deadline.close()

    def _request(self, candidate: Candidate, file: str | None) -> ModelRow:
        process, output = self._running()
        start = time.perf_counter()
        output.seek(0)  # the child shares the position
        output.truncate()
        timeout = self.options.timeout
        line, expired = self._exchange(process, request_text(candidate, file), timeout + _BACKUP)
        self._models += 1
        if line.endswith("\n"):
            row = ModelRow(**json.loads(line))
            if row.outcome == "memory" or expired or self._models >= self._max_models:
                self._stop()
            return row
        process.wait()
        outcome, message = explain_death(process.returncode, self._tail(), expired, timeout)
        self._stop()
        return ModelRow.from_candidate(candidate, outcome, message, time.perf_counter() - start)

    def _running(self) -> tuple[subprocess.Popen[str], IO[bytes]]:
        if self._closed:
            raise ScanError("the scan has ended")
        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._models = 0
            self._output = tempfile.TemporaryFile("wb+", buffering=0)  # noqa: SIM115  (it lasts as long as the process)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "shapeinf.scan.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._output,
                encoding="utf-8",
                env=_environment(),
                cwd=_SOURCE,  # `-m` imports from the current folder, which may have hostile files
                start_new_session=True,  # Ctrl-C is the parent's to handle
            )
            self._greet(self._process)
        assert self._output is not None
        return self._process, self._output

    def _greet(self, process: subprocess.Popen[str]) -> None:
        """Wait until the process has imported its packages, which the timeout of models does not include."""
        line, _ = self._exchange(process, options_text(self.options), _START)
        if not line and not self._closed:
            output = self._tail().strip()
            self._stop()
            reason = output.splitlines()[-1] if output else "it ended without a message"
            raise ScanError(f"the process that scans models cannot be started: {reason}")

    def _exchange(self, process: subprocess.Popen[str], text: str, seconds: float) -> tuple[str, bool]:
        """Send a line; the answer, empty where the process died, and whether the seconds passed, which kills it."""
        assert process.stdin is not None and process.stdout is not None
        line = ""
        self._deadline.start(process, seconds)
        try:
            process.stdin.write(text)
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, ConnectionError, ValueError):
            pass
        finally:
            expired = self._deadline.stop()
        return line, expired

    def _tail(self) -> str:
        assert self._output is not None
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - _TAIL))
        return self._output.read().decode("utf-8", "replace")

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close_quietly(stream)
        if self._output is not None:
            self._output.close()
            self._output = None


def _environment() -> dict[str, str]:
    """The environment of a child: one thread, and folders of PYTHONPATH that mean the same from another folder."""
    environment = {**os.environ, **dict.fromkeys(_THREADS, "1")}
    folders = environment.get("PYTHONPATH")
    if folders:
        environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, folders.split(os.pathsep)))
    return environment


def _close_quietly(stream: IO[str]) -> None:
    try:
        stream.close()
    except (OSError, ValueError):  # what is buffered for a process that died
        return


def explain_death(code: int, output: str, expired: bool, timeout: float) -> tuple[Outcome, str]:
    """The outcome of a model whose process ended with this exit code and these last lines of output.

    >>> explain_death(-11, "Fatal Python error: Segmentation fault", False, 60)
    ('crash', 'the process was ended by SIGSEGV: Fatal Python error: Segmentation fault')
    """
    name = _signal_name(-code) if code < 0 else ""
    if expired or name == "SIGXCPU" or "Timeout (" in output:
        where = _innermost_line(output)
        return "timeout", f"no result after {timeout:g} s" + (f", in {where}" if where else "")
    if "MemoryError" in output or "bad_alloc" in output:
        return "memory", "the model needs more memory than --memory allows"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    fatal = next((line for line in lines if line.startswith("Fatal Python error")), lines[-1] if lines else "")
    ended = f"the process was ended by {name}" if name else f"the process ended with exit code {code}"
    return "crash", f"{ended}: {fatal}" if fatal else ended


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _innermost_line(output: str) -> str:
    """The line of source where a thread hung, as `faulthandler` writes it; empty where it wrote none."""
    frames = (line.strip() for line in output.splitlines() if line.strip().startswith("File "))
    return next(frames, "")
