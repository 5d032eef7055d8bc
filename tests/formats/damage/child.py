"""A process that queries damaged files in turn: `python -m tests.formats.damage.child FAMILY START STOP`.

It prints a line of JSON before each file that may take long, and for each failure. Its memory is limited, and the time
of each file.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable

from shapeinf import ShapeInferenceError, infer_shapes
from tests.formats.damage.cases import case
from tests.resident import peak_resident_kib

SECONDS = 10
MOST_RESIDENT = 1 << 20  # KiB
ADDRESS_SPACE = 4 << 30
SHRINKINGS = 150

Query = Callable[["bytes | str"], str]


class OverTime(BaseException):
    """A question takes too long."""


def main(family: str, start: str, stop: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    signal.signal(signal.SIGVTALRM, over_time)
    results = 0
    for number in range(int(start), int(stop)):
        print(json.dumps({"at": number}), flush=True)
        data = case(family, number)
        query = cleaned if family == "passes" else inferred
        wrong = failure(data, query)
        results += wrong is None
        if wrong:
            small = shrunk(data, wrong, query) if not wrong.startswith("OverTime") else data
            print(json.dumps({"number": number, "wrong": wrong, "file": repr(small)[:2000]}), flush=True)
        if peak_resident_kib() > MOST_RESIDENT:
            print(json.dumps({"number": number, "wrong": "more than 1 GB", "file": repr(data)[:2000]}), flush=True)
            return
    print(json.dumps({"done": int(stop) - int(start), "results": results}), flush=True)


def over_time(*_: object) -> None:
    raise OverTime


def inferred(data: bytes | str) -> str:
    """Every query of a result; the text of a rule that failed, or nothing."""
    result = infer_shapes(data)
    notes = [str(note) for note in result.diagnostics]
    _ = [str(info) for info in result.tensors.values()]
    for question in (lambda: str(result.contract), lambda: str(result.memory().peak)):
        with contextlib.suppress(ShapeInferenceError):
            question()
    return next((note for note in notes if "S301" in note), "")


def cleaned(data: bytes | str) -> str:
    """The default passes, then those on request."""
    passes = importlib.import_module("shapeinf.passes")
    for names in (None, ["split_parameters"], ["deduplicate"]):
        result = passes.clean(data, names)
        result.to_proto()
        failed = next((run.reason for run in result.report.passes if "the pass failed" in run.reason), "")
        if failed:
            return failed
    return ""


def failure(data: bytes | str, query: Query = inferred) -> str | None:
    """The failure as text; empty for a typed error, None for a result."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    started = time.process_time()
    try:
        failed = query(data)
    except ShapeInferenceError:
        return ""
    except OverTime:
        return "OverTime: " + "".join(traceback.format_exc(limit=-6))
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}\n{traceback.format_exc(limit=-5)}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if failed:
        return failed[:800]
    return None if time.process_time() - started <= SECONDS else "OverTime: in the end"


def shrunk(data: bytes | str, wrong: str, query: Query = inferred) -> bytes | str:
    """The file with as much left out as possible, while the first line of the failure stays."""
    head, left = wrong.partition("\n")[0][:60], SHRINKINGS
    size = len(data) // 2
    while size and left > 0:
        at = 0
        while at < len(data) and left > 0:
            left -= 1
            smaller = data[:at] + data[at + size :]
            reason = failure(smaller, query)
            if reason and reason.partition("\n")[0][:60] == head:
                data = smaller
            else:
                at += size
        size //= 2
    return data


if __name__ == "__main__":
    main(*sys.argv[1:])
