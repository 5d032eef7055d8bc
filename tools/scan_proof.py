"""Measurements of `shapeinf scan`: one row for every path, and constant memory.

    python tools/scan_proof.py OUT [--models N] [--corpus FOLDER]... [--rows N]

It writes N generated models and the hostile ones of tests/scan to OUT, scans them with both executors, and prints the
figures of docs/scan.md: outcomes, and the memory of the parent by rows. tools/bench/scan.py has the cost of isolation.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from shapeinf.scan.candidates import find_candidates
from shapeinf.scan.dataset import Dataset, list_parts
from shapeinf.scan.records import Candidate, ModelRow, ScanOptions
from shapeinf.scan.row import scan_model
from shapeinf.scan.run import run_scan
from shapeinf.scan.statistics import read_report
from shapeinf.scan.tables import MODELS, iterate_part

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.engine.runtime import parsed  # noqa: E402
from tests.scan import hostile  # noqa: E402

HOSTILE_SHARE = 100
"""One model of this number is hostile."""
HOSTILE = ("Abort", "Leave", "Hang", "Spin", "Allocate", "Print")


def layers(count: int) -> bytes:
    """A model with a chain of layers; about 60 take 20 ms."""
    lines = ["y0 = Relu(x)"]
    for number in range(count):
        lines.append(
            f"a{number} = MatMul(y{number}, w)  b{number} = Add(a{number}, v)  y{number + 1} = Relu(b{number})"
        )
    text = (
        f"g (float[batch, 64] x, float[64, 64] w, float[64] v) => (float[batch, 64] y{count}) {{ {'  '.join(lines)} }}"
    )
    data: bytes = parsed(text).SerializeToString()
    return data


def write_models(folder: Path, count: int) -> None:
    folder.mkdir(parents=True)
    ordinary = [layers(size) for size in (5, 15, 30)]
    for number in range(count):
        data = ordinary[number % len(ordinary)]
        name = f"{number:06d}.onnx"
        if number % HOSTILE_SHARE == 0:
            kind = number // HOSTILE_SHARE % (len(HOSTILE) + 2)
            if kind < len(HOSTILE):
                data = hostile.model(HOSTILE[kind], "hostile")
            else:
                data = data[:-40] if kind == len(HOSTILE) else data
                name = f"{number:06d}\n<b>\u202e.onnx"
        (folder / name).write_bytes(data)


def check_rows(out: Path, paths: list[str]) -> Counter[str]:
    """The outcomes; every path must have exactly one row."""
    rows = [row for part in list_parts(str(out)) for row in iterate_part(part.file(MODELS), ["path", "outcome"])]
    assert Counter(row["path"] for row in rows) == Counter(paths), "a path has no row, or several"
    return Counter(row["outcome"] for row in rows)


def run_command(out: Path, paths: list[str], *options: str) -> float:
    command = [
        sys.executable,
        "-m",
        "shapeinf.cli",
        "scan",
        *paths,
        "-o",
        str(out),
        "--timeout",
        "5",
        "--memory",
        "3GiB",
    ]
    start = time.perf_counter()
    done = subprocess.run([*command, *options], capture_output=True, encoding="utf-8", check=False, cwd=ROOT)
    print("   ", done.stderr.splitlines()[-1])
    assert done.returncode in (0, 1), done.stderr
    return time.perf_counter() - start


def proof_of_rows(folder: Path, corpora: list[str], paths: list[str]) -> None:
    roots = [str(folder / "models"), *corpora]
    seconds = run_command(folder / "local", roots)
    print(f"local: {len(paths)} paths, {seconds:.0f} s, {dict(check_rows(folder / 'local', paths))}", flush=True)

    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
    ) as cluster:

        def kill_worker() -> None:
            hostile.wait_until(lambda: list((folder / "dask" / MODELS).glob("*.parquet")), 3600)
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

        threading.Thread(target=kill_worker, daemon=True).start()
        seconds = run_command(folder / "dask", roots, "--dask", cluster.scheduler_address)
        print(f"dask, a worker killed: {seconds:.0f} s, {dict(check_rows(folder / 'dask', paths))}", flush=True)

    out = folder / "resumed"
    command = [sys.executable, "-m", "shapeinf.cli", "scan", *roots, "-o", str(out), "--timeout", "5"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=ROOT)
    hostile.wait_until(lambda: list((out / MODELS).glob("*.parquet")), 3600)
    process.kill()
    process.wait()
    run_command(out, roots)
    print(f"client killed and resumed: {dict(check_rows(out, paths))}", flush=True)


def proof_of_memory(folder: Path, rows: int) -> None:
    """The memory of the parent by rows; the models are answered by one row, so that only the parent works."""
    row = scan_model(Candidate(str(ROOT / "examples" / "decoder.onnx")), ScanOptions(tensors=True))
    data = json.dumps(row.columns())

    def answer(candidates: object) -> object:
        for candidate in candidates:  # type: ignore[attr-defined]
            copy = ModelRow(**json.loads(data))
            copy.path = candidate.path
            yield copy

    dataset = Dataset(str(folder / "memory"))
    candidates = (Candidate(f"/model-{number}.onnx") for number in range(rows))
    seen = 0

    def report(_: ModelRow) -> None:
        nonlocal seen
        seen += 1
        if seen % (rows // 5) == 0:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
            print(f"    {seen} rows: {pages * resource.getpagesize() >> 20} MiB", flush=True)

    run_scan(candidates, dataset, answer, report)  # type: ignore[arg-type]
    dataset.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--models", type=int, default=5000)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--corpus", action="append", default=[])
    arguments = parser.parse_args()
    folder = arguments.out.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    proof_of_memory(folder, arguments.rows)
    monkeypatch = hostile.pytest.MonkeyPatch()
    hostile.install(folder / "site", monkeypatch)
    write_models(folder / "models", arguments.models)
    paths = [candidate.path for candidate in find_candidates([str(folder / "models"), *arguments.corpus])]
    proof_of_rows(folder, arguments.corpus, paths)
    report = read_report(str(folder / "local"))
    print({name: count for name, count in report.formats.items()})


if __name__ == "__main__":
    main()
