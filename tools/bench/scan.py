"""Models a second of `shapeinf scan` against a plain loop in one process, by CPU time, and with two processes.

    python tools/bench/scan.py MODELS [--models 1000] [--runs 3]

MODELS is a folder with ONNX models. Those whose row takes 10 to 30 ms are copied until there are N different files, in
a temporary folder. Each run times new processes from their start to their end: CPU time is that of all processes of a
run, and the least of all runs counts. The loop makes the same rows and drops them; a scan also writes them.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

# Not the folder of this file, whose modules have the names of packages, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import onnx  # noqa: E402

from shapeinf.scan.candidates import find_candidates  # noqa: E402
from shapeinf.scan.records import Candidate, ScanOptions  # noqa: E402
from shapeinf.scan.row import scan_model  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SECONDS = (0.010, 0.030)
"""The time of a row of the models that are copied."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="MODELS")
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--loop", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.loop:
        scan_in_loop(arguments.folder)
        return
    with tempfile.TemporaryDirectory() as work:
        models = Path(work) / "models"
        write_copies(arguments.folder, models, arguments.models)
        ways = {
            "loop": lambda: run([sys.executable, __file__, str(models), "--loop"]),
            "scan": lambda: run(command(models, 1)),
            "scan, 2 processes": lambda: run(command(models, 2)),
        }
        times = measure(ways, arguments.runs)
    for name, (cpu, wall) in times.items():
        rate = arguments.models / wall
        print(f"{name}: {cpu / arguments.models * 1e3:.2f} ms of CPU a model, {rate:.1f} models a second")
    print(f"isolation: {times['scan'][0] / times['loop'][0] - 1:+.1%}")


def scan_in_loop(folder: Path) -> None:
    """The rows of all models of a folder, in this process."""
    options = ScanOptions()
    for candidate in find_candidates([str(folder)]):
        assert not scan_model(candidate, options).failed, candidate.path


def write_copies(source: Path, target: Path, count: int) -> None:
    """Copies of the models of one size, each with a doc string of its own."""
    paths = [path for path in sorted(source.rglob("*.onnx")) if SECONDS[0] < row_time(path) < SECONDS[1]]
    originals = [onnx.load(path, load_external_data=False) for path in paths]
    target.mkdir()
    print(f"{len(originals)} models are copied")
    for number in range(count):
        model = originals[number % len(originals)]
        model.doc_string = f"copy {number}"
        (target / f"{number:06d}.onnx").write_bytes(model.SerializeToString())


def row_time(path: Path) -> float:
    """CPU seconds for the row of a model, after packages were imported for it."""
    candidate, options = Candidate(str(path)), ScanOptions()
    scan_model(candidate, options)
    start = time.process_time()
    scan_model(candidate, options)
    return time.process_time() - start


def command(models: Path, jobs: int) -> list[str]:
    """The command line of a scan, without its output folder."""
    return [sys.executable, "-m", "shapeinf.cli", "scan", str(models), "--jobs", str(jobs)]


def run(command: list[str]) -> None:
    """Run a process; its modules have bytecode, as those of an installation."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as out:
        output = ["-o", out] if "scan" in command else []
        subprocess.run([*command, *output], check=True, cwd=ROOT, capture_output=True, env=environment)


def measure(ways: dict[str, Callable[[], None]], runs: int) -> dict[str, tuple[float, float]]:
    """The least CPU and wall seconds of each way; they run in turns."""
    times: dict[str, tuple[float, float]] = {name: (float("inf"), float("inf")) for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            cpu, wall = children_time(), time.perf_counter()
            way()
            cpu, wall = children_time() - cpu, time.perf_counter() - wall
            times[name] = (min(times[name][0], cpu), min(times[name][1], wall))
            print(f"    {name}: {cpu:.2f} s of CPU, {wall:.2f} s", flush=True)
    return times


def children_time() -> float:
    """CPU seconds of the processes that this one waited for, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
