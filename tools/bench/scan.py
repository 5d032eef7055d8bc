"""The cost of isolation of `shapeinf scan`, and its models a second with one process and with two; on Linux.

    python tools/bench/scan.py MODELS [--repeats 10] [--copies 100]

MODELS is a folder with ONNX models, of which those are used whose row takes 10 to 30 ms.

Isolation: each model is scanned in this process, as a plain loop would, and in a child process, whose row is written,
in turns; the least CPU time of several runs, that of the child and of its parent. The start of a process is counted
with its share of a model.

Throughput: `shapeinf scan` on copies with doc strings of their own; the least wall time of three runs, without that of
one copy of each model, in which packages are imported.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

# Not the folder of this file, whose modules have the names of packages, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from onnx import load_model  # noqa: E402

from shapeinf.scan.dataset import Dataset  # noqa: E402
from shapeinf.scan.process import MAX_MODELS, Child  # noqa: E402
from shapeinf.scan.records import Candidate, ScanOptions  # noqa: E402
from shapeinf.scan.row import scan_model  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SECONDS = (0.010, 0.030)
"""The time of a row of the models that are used."""
OPTIONS = ScanOptions()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="MODELS")
    parser.add_argument("--repeats", type=int, default=10, help="runs of each model (10)")
    parser.add_argument("--copies", type=int, default=100, help="files for the throughput; 0 to leave it out (100)")
    options = parser.parse_args()
    paths = [path for path in sorted(options.folder.rglob("*.onnx")) if SECONDS[0] < row_time(path) < SECONDS[1]]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # modules have bytecode, as those of an installation
    with tempfile.TemporaryDirectory() as work:
        measure_isolation(paths, options.repeats, Path(work))
        if options.copies:
            measure_throughput(paths, options.copies, Path(work))


def row_time(path: Path) -> float:
    """CPU seconds for the row of a model, after packages were imported for it."""
    scan_model(Candidate(str(path)), OPTIONS)
    return cpu_time(lambda: scan_model(Candidate(str(path)), OPTIONS))


def cpu_time(work: Callable[[], object]) -> float:
    """CPU seconds of a function in this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure_isolation(paths: list[Path], repeats: int, work: Path) -> None:
    """Print the mean CPU time of a model in a plain loop and in a child process."""
    dataset = Dataset(str(work / "out"))
    child = Child(OPTIONS)
    loop = dict.fromkeys(paths, float("inf"))
    isolated = dict(loop)

    def scan(candidate: Candidate) -> None:
        dataset.add(child.scan(candidate))

    for turn in range(repeats + 1):
        for path in paths:
            candidate = Candidate(str(path))
            plain = cpu_time(lambda: scan_model(candidate, OPTIONS))  # noqa: B023  (called at once)
            start = child_time(child)
            seconds = cpu_time(lambda: scan(candidate))  # noqa: B023
            seconds += child_time(child) - start
            if turn:  # the first one imports what the models need
                loop[path], isolated[path] = min(loop[path], plain), min(isolated[path], seconds)
    child.close()
    dataset.close()
    start = min(start_time() for _ in range(5))
    plain, seconds = (sum(times.values()) / len(paths) for times in (loop, isolated))
    print(f"{len(paths)} models: {plain * 1e3:.2f} ms in a loop, {seconds * 1e3:.2f} ms isolated")
    print(f"start of a process: {start * 1e3:.0f} ms, once in {MAX_MODELS} models")
    print(f"isolation: {(seconds + start / MAX_MODELS) / plain - 1:+.1%}", flush=True)


def child_time(child: Child) -> float:
    """CPU seconds of a child process, with those of its threads that have ended."""
    process = child._process
    return 0.0 if process is None else time.clock_gettime(~process.pid << 3 | 2)  # as clock_getcpuclockid(3)


def start_time() -> float:
    """CPU seconds of the start of a child process and of its first row, which imports what rows need."""
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.onnx"
        empty.touch()
        child = Child(OPTIONS)
        seconds = cpu_time(lambda: child.scan(Candidate(str(empty))))
        seconds += child_time(child)
        child.close()
    return seconds


def measure_throughput(paths: list[Path], count: int, work: Path) -> None:
    """Print the models a second of the command with one process and with two."""
    few, many = work / "few", work / "many"
    originals = [load_model(path, load_external_data=False) for path in paths]
    for folder, files in ((few, len(originals)), (many, len(originals) + count)):
        folder.mkdir()
        for number in range(files):
            model = originals[number % len(originals)]
            model.doc_string = f"copy {number}"
            (folder / f"{number:06d}.onnx").write_bytes(model.SerializeToString())
    for jobs in (1, 2):
        runs = [(scan_seconds(few, jobs), scan_seconds(many, jobs)) for _ in range(3)]
        seconds = min(all_ for _, all_ in runs) - min(first for first, _ in runs)
        print(f"{jobs} at a time: {count / seconds:.1f} models a second", flush=True)


def scan_seconds(models: Path, jobs: int) -> float:
    """Wall seconds of a scan of a folder."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "shapeinf.cli", "scan", str(models), "--jobs", str(jobs), "-o", out]
        subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
