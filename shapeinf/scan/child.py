"""A process that scans models, one after the other, with limits of time and memory: `python -m shapeinf.scan.child`.

It reads the options and then requests from its standard input, and writes rows to its standard output, all as lines of
JSON. Libraries that print reach neither: both streams are moved to other file descriptors before any model is read.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from typing import Any, TextIO

import attrs

from shapeinf.ops import default_registry
from shapeinf.scan.records import Candidate, ModelRow, ScanOptions
from shapeinf.scan.row import scan_model

_GRACE = 2
"""Seconds of processor time past the timeout, after which the system ends the process."""


def limit_memory(limit: int | None) -> bool:
    """Limit the address space of this process; False where the platform has no such limit."""
    try:
        import resource
    except ImportError:
        return False
    if limit is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    return True


def limit_processor_time(seconds: float) -> None:
    """Let the system end this process after this much more processor time; no effect on platforms without the limit."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + _GRACE
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def separate_streams() -> tuple[TextIO, TextIO]:
    """The streams of requests and rows; all that is printed from now on goes to standard error."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    rows = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return requests, rows


def scan_request(request: dict[str, Any], options: ScanOptions) -> tuple[ModelRow, bool]:
    """The row of a request, and whether this process can go on."""
    candidate = Candidate(**request["candidate"])
    limit_processor_time(options.timeout)
    # The watchdog is a thread of C: it ends a process that hangs in a library, also when its parent is gone.
    faulthandler.dump_traceback_later(options.timeout, exit=True, file=sys.stderr)
    try:
        return scan_model(candidate, options, request["file"]), True
    except MemoryError:
        return ModelRow.from_candidate(candidate, "memory", "the model needs more memory than --memory allows"), False
    finally:
        faulthandler.cancel_dump_traceback_later()


def run() -> None:
    """Serve requests until the standard input ends."""
    requests, rows = separate_streams()
    faulthandler.enable(sys.stderr)
    options = ScanOptions(**json.loads(requests.readline() or "{}"))
    default_registry()
    limited = limit_memory(options.memory)
    rows.write(json.dumps({"limited": limited}) + "\n")
    rows.flush()
    for line in requests:
        row, healthy = scan_request(json.loads(line), options)
        rows.write(json.dumps(row.columns()) + "\n")
        rows.flush()
        if not healthy:
            return


def options_text(options: ScanOptions) -> str:
    """The options of all requests as a line of JSON, which comes before them."""
    return json.dumps(attrs.asdict(options)) + "\n"


def request_text(candidate: Candidate, file: str | None) -> str:
    """A request as a line of JSON."""
    return json.dumps({"candidate": attrs.asdict(candidate, recurse=False), "file": file}) + "\n"


if __name__ == "__main__":
    run()
