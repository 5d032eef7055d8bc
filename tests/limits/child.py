"""A process that runs every query of a result on random models: `python -m tests.limits.child START STOP`.

It prints a line of JSON for each model; the time of each query and the memory of the process are limited.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator

from shapeinf import Result, ShapeInferenceError, infer_shapes
from shapeinf.checks import check
from tests.limits.graphs import random_model
from tests.resident import peak_resident_kib

SECONDS = 10
HARD_SECONDS = 60
"""CPU seconds after which a process is killed, also in a call that ignores signals."""
ADDRESS_SPACE = 4 << 30
MOST_RESIDENT = 1 << 20  # KiB


class TimeLimitReached(BaseException):
    """A query has taken `SECONDS`."""


def main(start: str, stop: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    signal.signal(signal.SIGVTALRM, raise_time_limit)
    for seed in range(int(start), int(stop)):
        limit = int(time.process_time()) + HARD_SECONDS * len(QUERIES)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        print(json.dumps({"at": seed}), flush=True)
        times, wrong = run_queries(seed)
        print(json.dumps({"seed": seed, "times": times, "wrong": wrong}), flush=True)


def raise_time_limit(*_: object) -> None:
    raise TimeLimitReached


def run_queries(seed: int) -> tuple[dict[str, float], list[str]]:
    """The CPU seconds of each query, and the failures."""
    times: dict[str, float] = {}
    wrong: list[str] = []
    results: list[Result] = []
    model = random_model(seed)
    with time_limit("infer", times, wrong):
        results.append(infer_shapes(model))
    for name, query in QUERIES.items() if results else ():
        with time_limit(name, times, wrong):
            query(results[0])
    if peak_resident_kib() > MOST_RESIDENT:
        wrong.append("more than 1 GB")
    return times, wrong


@contextlib.contextmanager
def time_limit(name: str, times: dict[str, float], wrong: list[str]) -> Iterator[None]:
    """A query: adds its CPU seconds to `times`, and a failure or timeout to `wrong`."""
    started = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    except ShapeInferenceError:
        pass
    except TimeLimitReached:
        wrong.append(f"{name} takes more than {SECONDS} s: {traceback.format_exc(limit=-8)}")
    except BaseException as error:
        wrong.append(f"{name}: {type(error).__name__}: {error}\n{traceback.format_exc(limit=-5)}")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        times[name] = round(time.process_time() - started, 2)


def sizes_of(result: Result) -> dict[str, int]:
    """A size for each named dim."""
    return {name: 2 + index % 3 for index, name in enumerate(result.engine.scope.names())}


def first_dim(result: Result) -> str:
    return result.engine.scope.names()[0]


def other_ranges(result: Result) -> dict[str, tuple[int, int]]:
    """A range for each named dim except the first."""
    return dict.fromkeys(result.engine.scope.names()[1:], (1, 64))


def explain_all(result: Result) -> None:
    for name in list(result.tensors)[-40:]:
        for axis in range(len(result.tensors[name].shape.dims or ())):
            result.explain(name, axis)


def save(result: Result) -> None:
    with tempfile.TemporaryDirectory() as folder:
        result.save(os.path.join(folder, "m.onnx"))


QUERIES: dict[str, Callable[[Result], object]] = {
    "str": lambda r: [str(item) for item in r.tensors.values()],
    "repr": lambda r: [repr(item) for item in r.tensors.values()],
    "diagnostics": lambda r: [str(note) for note in r.diagnostics],
    "contract": lambda r: str(r.contract),
    "contract.check": lambda r: str(r.contract.check(sizes_of(r))),
    "contract.check of none": lambda r: str(r.contract.check()),
    "contract.solve": lambda r: str(r.contract.solve(first_dim(r), range(1, 65))),
    "explain": explain_all,
    "unknowns": lambda r: [str(group) for group in r.unknowns()],
    "peak": lambda r: str(r.memory().peak),
    "peak.at": lambda r: str(r.memory().peak.at(sizes_of(r))),
    "peak.over": lambda r: str(r.memory().peak.over({first_dim(r): (1, 64), **other_ranges(r)})),
    "peak.over of none": lambda r: str(r.memory().peak.over()),
    "peak.largest": lambda r: str(r.memory().peak.largest(first_dim(r), "64MiB", other_ranges(r))),
    "plan": lambda r: str(r.memory().plan(sizes_of(r))),
    "plan of none": lambda r: str(r.memory().plan()),
    "program": lambda r: r.program()(sizes_of(r)),
    "save": save,
    "checks": check,
}


if __name__ == "__main__":
    main(*sys.argv[1:])
