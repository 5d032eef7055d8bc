"""Models a second of `shapeinf scan` against a plain loop in one process, by CPU time, and with two processes.

    python tools/bench/scan.py MODELS [--models 150] [--runs 7]

MODELS is a folder with ONNX models. Those whose row takes 10 to 30 ms are copied until there are N different files, in
a temporary folder. Each run times new processes from their start to their end: CPU time is that of all processes of a
run, and the least of all runs counts. A model takes the difference to a run with one copy of each, in which packages
are imported. The loop makes the same rows and drops them; a scan also writes them.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Not the folder of this file, whose modules have the names of packages, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from onnx import load_model  # noqa: E402

from shapeinf.scan.candidates import find_candidates  # noqa: E402
from shapeinf.scan.process import MAX_MODELS  # noqa: E402
from shapeinf.scan.records import Candidate, ScanOptions  # noqa: E402
from shapeinf.scan.row import scan_model  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SECONDS = (0.010, 0.030)
"""The time of a row of the models that are copied."""
WAYS = {
    "loop": [__file__, "{folder}", "--loop"],
    "scan": ["-m", "shapeinf.cli", "scan", "{folder}", "--jobs", "1"],
    "scan, 2 processes": ["-m", "shapeinf.cli", "scan", "{folder}", "--jobs", "2"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="MODELS")
    parser.add_argument("--models", type=int, default=150)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--loop", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.loop:
        scan_in_loop(arguments.folder)
        return
    with tempfile.TemporaryDirectory() as work:
        few, many = Path(work) / "few", Path(work) / "many"
        originals = write_copies(arguments.folder, many, arguments.models)
        few.mkdir()
        for path in sorted(many.iterdir())[:originals]:
            (few / path.name).write_bytes(path.read_bytes())
        times = measure(few, many, arguments.runs)
    count = arguments.models - originals
    print(f"{originals} models, {arguments.models} files")
    each: dict[str, float] = {}
    for name in WAYS:
        (cpu, wall), (start_cpu, start_wall) = times[name, many], times[name, few]
        each[name] = (cpu - start_cpu) / count
        print(f"{name}: {each[name] * 1e3:.2f} ms of CPU a model, {count / (wall - start_wall):.1f} models a second")
    start = times["scan", few][0] - times["loop", few][0]
    print(f"starts of processes: {start:.2f} s of CPU, once in {MAX_MODELS} models")
    print(f"isolation: {(each['scan'] + start / MAX_MODELS) / each['loop'] - 1:+.1%}")


def scan_in_loop(folder: Path) -> None:
    """The rows of all models of a folder, in this process."""
    options = ScanOptions()
    for candidate in find_candidates([str(folder)]):
        assert not scan_model(candidate, options).failed, candidate.path


def write_copies(source: Path, target: Path, count: int) -> int:
    """Copies of the models of one size, each with a doc string of its own; the number of these models."""
    paths = [path for path in sorted(source.rglob("*.onnx")) if SECONDS[0] < row_time(path) < SECONDS[1]]
    originals = [load_model(path, load_external_data=False) for path in paths]
    target.mkdir()
    for number in range(count):
        model = originals[number % len(originals)]
        model.doc_string = f"copy {number}"
        (target / f"{number:06d}.onnx").write_bytes(model.SerializeToString())
    return len(originals)


def row_time(path: Path) -> float:
    """CPU seconds for the row of a model, after packages were imported for it."""
    candidate, options = Candidate(str(path)), ScanOptions()
    scan_model(candidate, options)
    start = time.process_time()
    scan_model(candidate, options)
    return time.process_time() - start


def measure(few: Path, many: Path, runs: int) -> dict[tuple[str, Path], tuple[float, float]]:
    """The least CPU and wall seconds of each way and folder; they run in turns."""
    times: dict[tuple[str, Path], tuple[float, float]] = {}
    for _ in range(runs):
        for folder in (few, many):
            for name, command in WAYS.items():
                cpu, wall = run([sys.executable, *(part.format(folder=folder) for part in command)])
                least = times.get((name, folder), (cpu, wall))
                times[name, folder] = (min(cpu, least[0]), min(wall, least[1]))
    return times


def run(command: list[str]) -> tuple[float, float]:
    """CPU and wall seconds of a process; its modules have bytecode, as those of an installation."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    cpu, wall = children_time(), time.perf_counter()
    with tempfile.TemporaryDirectory() as out:
        output = ["-o", out] if "scan" in command else []
        subprocess.run([*command, *output], check=True, cwd=ROOT, capture_output=True, env=environment)
    return children_time() - cpu, time.perf_counter() - wall


def children_time() -> float:
    """CPU seconds of the processes that this one waited for, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
