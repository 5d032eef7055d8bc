"""`shapeinf scan` on this machine: isolation, resume, and bad input."""

from __future__ import annotations

import gc
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main
from shapeinf.errors import PathPatternError, ScanError
from shapeinf.scan.candidates import find_candidates
from shapeinf.scan.dataset import Dataset, list_parts
from shapeinf.scan.deadline import Deadline
from shapeinf.scan.local import scan_locally
from shapeinf.scan.process import Child
from shapeinf.scan.records import Candidate, ModelRow, Outcome, ScanOptions
from shapeinf.scan.row import scan_model
from shapeinf.scan.tables import MODELS, RECORD_TABLES, iterate_part
from tests.scan import hostile

pytest.importorskip("pyarrow", reason="pyarrow is not installed: scans are not tested")

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    for number in range(3):
        path = folder / f"f{number}" / "relu.onnx"
        path.parent.mkdir(parents=True)
        path.write_bytes(hostile.model())
    return folder


def scan(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["scan", *map(str, arguments)])


def records(folder: Path, table: str = MODELS) -> list[dict[str, Any]]:
    parts = [part.file(table) for part in list_parts(str(folder)) if os.path.exists(part.file(table))]
    return [record for part in parts for record in iterate_part(part)]


def names(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows by the name of their file; each path has one."""
    rows = records(folder)
    assert max(Counter(row["path"] for row in rows).values(), default=1) == 1
    return {os.path.basename(row["path"]): row for row in rows}


def row_of(path: str, outcome: Outcome = "ok", size: int = 1) -> ModelRow:
    return ModelRow.from_candidate(Candidate(path, size=size), outcome)


# -- isolation ---------------------------------------------------------------------------------------------------------


def test_every_hostile_model_has_its_row_and_the_others_have_theirs(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile.install(tmp_path / "site", monkeypatch)
    hostile.write_models(models)
    out = tmp_path / "out"
    done = scan(models, "-o", out, "--timeout", "5", "--memory", "3GiB", "--jobs", "2", "--json-lines")
    assert done.exit_code == 1, done.output
    rows = names(out)
    for name, (outcome, message) in hostile.EXPECTED.items():
        assert rows[name]["outcome"] == outcome and message in rows[name]["message"], rows[name]
    assert sum(row["outcome"] == "ok" for row in records(out)) == 4
    assert "hostile_rules.py" in rows["hang.onnx"]["message"], "the message has the line that hangs"
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(line["path"] for line in lines) == sorted(row["path"] for row in records(out))


def test_a_process_that_stands_still_is_killed_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shapeinf.scan.process._BACKUP", 0.1)
    child = Child(ScanOptions(timeout=1.0))
    candidate = Candidate(str(EXAMPLES / "convnet.onnx"))
    try:
        assert child.scan(candidate).outcome == "ok"
        assert child._process is not None
        os.kill(child._process.pid, signal.SIGSTOP)  # its own watchdog stands still too
        row = child.scan(candidate)
        assert (row.outcome, row.message) == ("timeout", "no result after 1 s")
        assert child.scan(attrs.evolve(candidate, path=str(EXAMPLES / "decoder.onnx"))).outcome == "ok"
    finally:
        child.close()


def test_deadlines_of_many_requests_have_one_thread() -> None:
    before = set(threading.enumerate())
    deadline = Deadline()
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with subprocess.Popen(command, encoding="utf-8") as process:
        for seconds in (1000.0, math.inf, 1e12, 500.0):
            deadline.start(process, seconds)
            assert len(set(threading.enumerate()) - before) == 1
            assert not deadline.stop()
        deadline.start(process, 0.01)  # earlier than those that the thread has seen
        assert process.wait(60) == -signal.SIGKILL
        assert deadline.stop()
        deadline.start(process, 1000.0)
        assert not deadline.stop(), "the next request has a deadline of its own"
    deadline.close()
    hostile.wait_until(lambda: set(threading.enumerate()) <= before)


def test_an_error_of_a_process_ends_the_scan_and_all_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(threading.enumerate())
    monkeypatch.setattr("sys.executable", shutil.which("false"))
    rows = scan_locally((Candidate(f"/{number}.onnx") for number in range(100)), ScanOptions(), jobs=2)
    with pytest.raises(ScanError, match="cannot be started"):
        next(rows)
    hostile.wait_until(lambda: set(threading.enumerate()) <= before)


def test_files_of_the_current_folder_are_not_imported(models: Path, tmp_path: Path, monkeypatch: Any) -> None:
    for module in ("json", "attrs", "onnx", "shapeinf"):
        (models / f"{module}.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    monkeypatch.chdir(models)
    assert scan(".", "-o", tmp_path / "out", "--jobs", 1).exit_code == 0


@pytest.mark.parametrize("name", [b"\xff.onnx", b"a\nb.onnx", "\u202egnp.onnx".encode(), b"<script>.onnx", b"-o.onnx"])
def test_hostile_names_have_rows(tmp_path: Path, name: bytes) -> None:
    folder, out = tmp_path / "m", str(tmp_path / "out")
    folder.mkdir()
    path = os.fsencode(folder) + b"/" + name
    with open(path, "wb") as file:
        file.write(hostile.model())
    (candidate,) = find_candidates([str(folder)])
    dataset = Dataset(out)
    dataset.add(scan_model(candidate, ScanOptions(tensors=True)))
    dataset.flush()
    dataset.close()
    (row,) = records(Path(out))
    assert row["outcome"] == "ok", row
    again = Dataset(out)
    assert again.includes(candidate)
    again.close()
    page = tmp_path / "report.html"
    done = scan("report", out, "-o", page)
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert "<script>" not in text and "\u202e" not in text
    assert "\u202e" not in scan("report", out).output


# -- rows --------------------------------------------------------------------------------------------------------------


def test_a_row_has_what_the_summary_and_the_check_have() -> None:
    candidate = Candidate(str(EXAMPLES / "convnet.onnx"))
    sizes = {"batch": 1, "height": 32, "width": 32, "unused": 5}
    row = scan_model(candidate, ScanOptions(config={"bind": sizes}, checksum=True, tensors=True))
    assert (row.outcome, row.format, row.nodes, row.parameters, row.peak_bytes) == ("ok", "ONNX", 7, 1896, 131072)
    assert row.peak_formula and "height" in row.peak_formula
    assert row.sha256 is not None and len(row.sha256) == 64
    assert {"op": "Conv", "domain": "", "nodes": 3, "has_rule": True} in row.operators
    assert {record["name"] for record in row.tensor_rows} >= {"image"}


def test_sizes_with_which_a_model_does_not_run_are_findings(tmp_path: Path) -> None:
    text = "g (float[n] x) => (float[2, 3] y) { s = Constant<value = int64[2] {2, 3}>()  y = Reshape(x, s) }"
    path = tmp_path / "m.onnx"
    path.write_bytes(hostile.parsed(text).SerializeToString())
    assert scan_model(Candidate(str(path)), ScanOptions(config={"bind": {"n": 6}})).outcome == "ok"
    row = scan_model(Candidate(str(path)), ScanOptions(config={"bind": {"n": 7}}))
    assert row.outcome == "findings" and row.errors == 1 and row.nodes == 2


def test_an_operator_without_a_rule_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(hostile.model("Missing", "hostile"))
    row = scan_model(Candidate(str(path)), ScanOptions())
    assert row.operators == [{"op": "Missing", "domain": "hostile", "nodes": 1, "has_rule": False}]


# -- candidates --------------------------------------------------------------------------------------------------------


def test_each_path_is_visited_once_and_links_stay_inside(models: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.onnx"
    outside.write_bytes(hostile.model())
    (models / "link.onnx").symlink_to(outside)
    (models / "inside.onnx").symlink_to(models / "f0" / "relu.onnx")
    (models / "loop").symlink_to(models)
    (models / "zoo.zip").write_bytes(b"PK")

    def paths(*requested: object, **options: Any) -> list[str]:
        candidates = find_candidates([str(path) for path in requested], **options)
        return [os.path.relpath(candidate.path, models) for candidate in candidates]

    inside = ["inside.onnx", "zoo.zip", "f0/relu.onnx", "f1/relu.onnx", "f2/relu.onnx"]
    assert paths(models) == inside
    assert paths(models, models / "f1", models / "f*") == inside
    assert sorted(paths(models, follow_links=True)) == sorted([*inside, "link.onnx"])
    assert paths(models, exclude=["f*", "*.zip"]) == ["inside.onnx"]
    with pytest.raises(PathPatternError, match="no such file"):
        paths(models / "nowhere")


def test_archives_and_unreadable_folders_are_rows(models: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every folder")
    locked = models / "f1"
    locked.chmod(0)
    try:
        done = scan(models, "-o", tmp_path / "out", "--jobs", "1")
        assert done.exit_code == 1
        assert names(tmp_path / "out")["f1"]["outcome"] == "folder"
    finally:
        locked.chmod(0o755)
    assert scan(models, "-o", tmp_path / "out", "--jobs", "1").exit_code == 0
    assert len(records(tmp_path / "out")) == 3 and "f1" not in names(tmp_path / "out")


def test_an_unreadable_folder_is_one_candidate(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.scandir

    def scandir(path: str) -> Any:
        if os.path.basename(path) == "f1":
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    outcomes = [(os.path.basename(c.path), c.outcome) for c in find_candidates([str(models)])]
    assert outcomes == [("relu.onnx", None), ("f1", "folder"), ("relu.onnx", None)]


def test_models_behind_a_url(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: URLs are not scanned")
    memory = fsspec.filesystem("memory")
    memory.pipe({"/zoo/a/relu.onnx": hostile.model(), "/zoo/readme.md": b"no model", "/zoo/cut.onnx": b"\x08\x07\x12"})
    try:
        done = scan("memory://zoo", "-o", tmp_path / "out", "--jobs", "1")
        assert done.exit_code == 1, done.output
        rows = names(tmp_path / "out")
        assert {name: row["outcome"] for name, row in rows.items()} == {"relu.onnx": "ok", "cut.onnx": "unreadable"}
        assert rows["relu.onnx"]["path"] == "memory:///zoo/a/relu.onnx"
        assert scan("memory://nowhere", "-o", tmp_path / "out").exit_code == 2
    finally:
        memory.rm("/zoo", recursive=True)


# -- the dataset -------------------------------------------------------------------------------------------------------


def test_the_same_command_scans_only_what_is_new_or_changed(models: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "3 paths scanned" in scan(models, "-o", out, "--jobs", "1").stderr
    assert "0 paths scanned, 0 without a result, 3 already done" in scan(models, "-o", out).stderr
    (models / "f0" / "relu.onnx").write_bytes(b"\x08\x07\x12")
    assert "1 path scanned, 1 without" in scan(models, "-o", out, "--jobs", "1").stderr
    assert Counter(row["outcome"] for row in records(out)) == {"ok": 2, "unreadable": 1}
    assert len(records(out, "operators")) == 2, "the records of the earlier row are gone"
    assert "0 paths scanned" in scan(models, "-o", out).stderr
    assert "1 path scanned" in scan(models, "-o", out, "--jobs", "1", "--retry").stderr
    assert "2 paths scanned" in scan(models, "-o", out, "--jobs", "1", "--checksum").stderr
    assert "0 paths scanned" in scan(models, "-o", out, "--checksum").stderr
    assert len(records(out)) == 3


@pytest.fixture
def dataset(tmp_path: Path) -> Iterator[Dataset]:
    dataset = Dataset(str(tmp_path / "out"))
    yield dataset
    dataset.close()


def test_rows_survive_a_kill_at_any_moment(dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    dataset.add(row_of("/first"))
    dataset.flush()
    dataset.add(row_of("/second"))
    dataset.add(row_of("/third"))
    journal = next((out / "journal").iterdir())
    journal.write_text(journal.read_text(encoding="utf-8") + '{"path": "/fou', encoding="utf-8")
    (out / "diagnostics" / "part-000002-abcdef.parquet").write_bytes(b"of a part that was interrupted")
    (out / MODELS / ".part-000002.parquet.1234.part").write_bytes(b"PAR1")
    dataset.close()
    again = Dataset(str(out))
    try:
        assert sorted(row["path"] for row in records(out)) == ["/first", "/second", "/third"]
        assert [again.includes(Candidate(path, size=1)) for path in ("/third", "/fou")] == [True, False]
        assert not list((out / "journal").iterdir()) and not list((out / "diagnostics").iterdir())
    finally:
        again.close()


def test_a_kill_between_the_part_and_its_journal_doubles_nothing(dataset: Dataset, tmp_path: Path) -> None:
    dataset.add(row_of("/first"))
    (journal,) = (tmp_path / "out" / "journal").iterdir()
    text = journal.read_text(encoding="utf-8")
    dataset.flush()
    journal.write_text(text, encoding="utf-8")
    dataset.close()
    Dataset(str(tmp_path / "out")).close()
    assert len(records(tmp_path / "out")) == 1


def test_a_changed_row_replaces_the_earlier_one_in_all_tables(dataset: Dataset, tmp_path: Path) -> None:
    for path in ("/a", "/b"):
        row = row_of(path)
        row.operators.append({"op": "Old", "domain": "", "nodes": 1, "has_rule": True})
        dataset.add(row)
    dataset.flush()
    dataset.close()
    again = Dataset(str(tmp_path / "out"))
    again.add(row_of("/a", size=2))
    again.flush()
    again.close()
    assert sorted((row["path"], row["size"]) for row in records(tmp_path / "out")) == [("/a", 2), ("/b", 1)]
    assert [record["path"] for record in records(tmp_path / "out", "operators")] == ["/b"]


def test_rows_that_are_written_stay_in_no_object(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shapeinf.scan.dataset.PART_ROWS", 20)

    def add(first: int, last: int) -> int:
        for number in range(first, last):
            row = row_of(f"/{number}")
            row.operators.append({"op": "Relu", "domain": "", "nodes": 1, "has_rule": True})
            dataset.add(row)
        gc.collect()
        return len(gc.get_objects())

    before = add(0, 20)
    assert add(20, 120) < before + 100, "100 rows are some hundred objects"


@pytest.mark.parametrize("table", [MODELS, *RECORD_TABLES])
@pytest.mark.parametrize("damage", [b"", b"PAR1", b"no Parquet at all PAR1"])
def test_a_damaged_part_is_named_and_repaired(tmp_path: Path, table: str, damage: bytes) -> None:
    out = tmp_path / "out"
    dataset = Dataset(str(out))
    row = scan_model(Candidate(str(EXAMPLES / "decoder.onnx")), ScanOptions(tensors=True))
    row.diagnostics.append(dict.fromkeys(("severity", "code", "message", "node", "op", "tensor", "location"), "C101"))
    dataset.add(row)
    dataset.flush()
    dataset.close()
    (part,) = (out / table).iterdir()
    part.write_bytes(damage)
    done = scan(EXAMPLES, "-o", out)
    assert done.exit_code == 3 and str(part) in done.stderr and "--repair" in done.stderr, done.output
    if table != "tensors":  # which the report does not read
        assert str(part) in scan("report", out).stderr
    repaired = Dataset(str(out), repair=True)
    assert repaired.damaged == [str(part)] and len(repaired.done) == 0
    repaired.close()
    assert (out / table / f"{part.name}.damaged").exists() and not records(out)


def test_a_folder_of_something_else_is_refused(models: Path) -> None:
    done = scan(models, "-o", models)
    assert done.exit_code == 3 and "is not the folder of a scan" in done.stderr
    assert sorted(os.listdir(models)) == ["f0", "f1", "f2"]


def test_two_scans_of_one_folder_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(ScanError, match="in use"):
        Dataset(str(tmp_path / "out"))


def test_a_report_of_nothing_is_an_error(tmp_path: Path) -> None:
    done = scan("report", tmp_path)
    assert done.exit_code == 3 and "has no results of a scan" in done.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small tmpfs is not permitted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_one_error_and_nothing_is_lost(small_disk: Path, tmp_path: Path) -> None:
    out = small_disk / "out"
    dataset = Dataset(str(out))
    added = 0
    with pytest.raises(ScanError, match=r"No space left on device.*continues from there"):
        while True:
            dataset.add(row_of(f"/{added}/{'x' * 1000}"))
            added += 1
    dataset.close()
    assert added > 10
    shutil.copytree(out, tmp_path / "larger")
    Dataset(str(tmp_path / "larger")).close()
    assert len(records(tmp_path / "larger")) == added
    assert not [name for _, _, files in os.walk(out) for name in files if name.endswith(".part")]


@pytest.mark.parametrize("end", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: signal.Signals
) -> None:
    hostile.install(tmp_path / "site", monkeypatch)
    (models / "hang.onnx").write_bytes(hostile.model("Hang", "hostile"))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "shapeinf.cli", "scan", str(models), "-o", str(out), "--jobs", "2"]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a script in the background ignores it
    )
    hostile.wait_until(lambda: sum(len(p.read_text().splitlines()) for p in (out / "journal").glob("*")) == 3)
    process.send_signal(end)
    _, text = process.communicate(timeout=60)
    assert process.returncode == 130 and "stopped: 3 paths scanned" in text and "continues from here" in text
    assert "Traceback" not in text
    (models / "hang.onnx").unlink()
    assert "3 already done" in scan(models, "-o", out).stderr
