"""`shapeinf scan --dask`: workers, clients and schedulers that die; each path has exactly one row."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shapeinf.errors import ScanError
from shapeinf.scan import dask_cluster
from shapeinf.scan.candidates import find_candidates
from shapeinf.scan.dataset import Dataset, list_parts
from shapeinf.scan.records import ScanOptions
from shapeinf.scan.run import make_executor, run_scan
from shapeinf.scan.tables import MODELS, iterate_part
from tests.scan import hostile

distributed = pytest.importorskip("distributed", reason="distributed is not installed: clusters are not tested")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: scans are not tested")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """400 models, of which one ends the worker that scans it."""
    hostile.install(tmp_path / "site", monkeypatch)
    folder = tmp_path / "models"
    folder.mkdir()
    for number in range(400):
        (folder / f"m{number:03}.onnx").write_bytes(hostile.model())
    return folder


@pytest.fixture
def cluster(models: Path) -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
    ) as cluster:
        yield cluster


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows by path; each path has one."""
    records = [record for part in list_parts(str(folder)) for record in iterate_part(part.file(MODELS))]
    assert max(Counter(record["path"] for record in records).values()) == 1
    return {os.path.basename(record["path"]): record for record in records}


def journal_lines(folder: Path) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (folder / "journal").glob("*.jsonl"))


def test_no_scheduler_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "_CONNECT", 1)
    for address in ("tcp://127.0.0.1:9", "no address", "nowhere://x"):
        with pytest.raises(ScanError, match=f"no Dask scheduler answers at {address}"):
            list(dask_cluster.scan_on_cluster([], ScanOptions(), address, 1))


@pytest.mark.slow
def test_a_worker_that_is_killed_and_a_model_that_kills_workers(cluster: Any, models: Path, tmp_path: Path) -> None:
    (models / "m100.onnx").write_bytes(hostile.model("EndWorker", "hostile"))
    (models / "m200.onnx").write_bytes(hostile.model("Abort", "hostile"))
    out = tmp_path / "out"
    killed: list[int] = []

    def kill_one() -> None:
        hostile.wait_until(lambda: journal_lines(out) >= 64)
        killed.append(next(iter(cluster.workers.values())).pid)
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill_one)
    dataset = Dataset(str(out))
    thread.start()
    run_scan(find_candidates([str(models)]), dataset, make_executor(ScanOptions(), dask=cluster.scheduler_address))
    thread.join()
    dataset.close()
    assert killed
    outcomes = {name: row["outcome"] for name, row in rows(out).items()}
    assert len(outcomes) == 400
    assert {name for name, outcome in outcomes.items() if outcome != "ok"} == {"m100.onnx", "m200.onnx"}
    assert "the worker ended" in rows(out)["m100.onnx"]["message"]


def scan_with_a_kill(cluster: Any, paths: list[str], out: Path, options: ScanOptions) -> int:
    """Scan on a cluster, one worker of which is killed when a third of the rows are there; the id of the worker."""
    killed: list[int] = []

    def kill_one() -> None:
        hostile.wait_until(lambda: journal_lines(out) >= len(os.listdir(paths[0])) // 3, 1200)
        killed.append(next(iter(cluster.workers.values())).pid)
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill_one)
    dataset = Dataset(str(out))
    thread.start()
    run_scan(find_candidates(paths), dataset, make_executor(options, dask=cluster.scheduler_address))
    thread.join()
    dataset.close()
    return killed[0]


def compare_scans(folder: Path, cluster: Any, count: int, out: Path) -> Counter[str]:
    """The outcomes of files of which many are hostile: on a cluster that loses a worker as on this machine."""
    names = hostile.write_mixed_models(folder, count)
    options = ScanOptions(timeout=20)
    scan_with_a_kill(cluster, [str(folder)], out / "cluster", options)
    local = Dataset(str(out / "local"))
    run_scan(find_candidates([str(folder)]), local, make_executor(options, jobs=2))
    local.close()
    found, expected = rows(out / "cluster"), rows(out / "local")
    assert found.keys() == expected.keys()
    assert {os.path.basename(c.path) for c in find_candidates([str(folder)])} == found.keys() <= set(names)
    different = {
        name: (row["outcome"], expected[name]["outcome"], row["message"])
        for name, row in found.items()
        if row["outcome"] != expected[name]["outcome"] or bool(row["message"]) != bool(expected[name]["message"])
    }
    assert not different
    assert all(row["message"] for row in found.values() if row["outcome"] not in ("ok", "findings"))
    return Counter(row["outcome"] for row in found.values())


@pytest.mark.slow
def test_hostile_files_on_a_cluster_that_loses_a_worker(cluster: Any, models: Path, tmp_path: Path) -> None:
    """300 files; `compare_scans` ran with 3,000 once."""
    outcomes = compare_scans(tmp_path / "mixed", cluster, 300, tmp_path)
    assert outcomes["ok"] > 150 and outcomes["unreadable"] > 20 and outcomes["crash"] == outcomes["timeout"] == 2


@pytest.mark.slow
def test_a_client_that_is_killed_and_resumed(cluster: Any, models: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "shapeinf.cli", "scan", str(models), "-o", str(out), "--dask"]
    command.append(cluster.scheduler_address)
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    hostile.wait_until(lambda: journal_lines(out) >= 64)
    process.kill()
    process.wait()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    before = int(done.stderr.split(" already done")[0].split()[-1])
    assert before >= 64 and len(rows(out)) == 400


@pytest.mark.slow
def test_a_scheduler_that_is_lost_is_one_error_and_nothing_is_lost(models: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = "import sys; from distributed.cli.dask_scheduler import main; main()"
    scheduler = subprocess.Popen(
        [sys.executable, "-c", code, "--port", "0", "--no-dashboard", "--scheduler-file", str(tmp_path / "s.json")],
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
    )
    hostile.wait_until(lambda: (tmp_path / "s.json").exists() and (tmp_path / "s.json").stat().st_size)
    address = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))["address"]
    code = "import sys; from distributed.cli.dask_worker import main; main()"
    worker = subprocess.Popen(
        [sys.executable, "-c", code, address, "--nthreads", "1", "--no-dashboard", "--death-timeout", "5"],
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
    )
    command = [sys.executable, "-m", "shapeinf.cli", "scan", str(models), "-o", str(out), "--dask", address]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, encoding="utf-8")
    try:
        hostile.wait_until(lambda: journal_lines(out) >= 32)
        scheduler.kill()
        _, text = process.communicate(timeout=120)
        assert process.returncode == 3 and "scheduler" in text and "lost" in text, text
        assert len(rows(out)) >= 32
    finally:
        for each in (process, worker, scheduler):
            each.kill()
            each.wait()
