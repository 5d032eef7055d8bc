"""Exports of real models and real plans: the header of the issue's model has the issue's numbers."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from shapeinf.memory.exports import MemoryExport, export
from tests.memory.exports.compiling import compiled, printing, values
from tests.vectors import ROOT

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
KV = ROOT / "memory" / "kv.onnx"


@pytest.mark.skipif(not KV.exists(), reason=f"{KV} is not there")
@pytest.mark.parametrize("kind", ["c99", "portable", "c++"])
def test_the_peaks_of_the_issue_in_c(kind: str, tmp_path: Path) -> None:
    dims = {"past_sequence_length": (0, 4095), "sequence_length": (1, 4096)}
    result = infer_shapes(str(KV), dims=dims, min_dim=0)
    memory = result.memory()
    subject = MemoryExport("m", memory.peak)
    assert [str(d) for d in subject.dims] == ["b", "past_sequence_length", "sequence_length"]
    bindings = [(1, 0, 4096), (1, 4095, 4096), (1, 4096, 4096), (1, 1, 0), (2**40, 4095, 4096)]
    printed = values(subject, ["peak"], bindings, tmp_path, kind)
    assert printed == [[135_266_304], [270_499_584], [-2], [-2], [-1]]


def test_a_plan_in_all_forms(tmp_path: Path) -> None:
    sizes = {"batch": 8, "height": 64, "width": 64}
    memory = infer_shapes(str(EXAMPLES / "convnet.onnx")).memory()
    plan = memory.plan(sizes)
    for suffix in ("json", "csv", "h"):
        export(memory, tmp_path / f"net.{suffix}", plan=plan, sizes=sizes)
    data = json.loads((tmp_path / "net.json").read_text(encoding="utf-8"))
    with (tmp_path / "net.csv").open(encoding="utf-8", newline="") as lines:
        rows = {row["name"]: row for row in csv.DictReader(lines)}
    half = 8 * 8 * 32 * 32 * 4  # batch, channels, half of the height and of the width, float32
    assert rows["half"]["bytes"] == str(half) and rows["half"]["shape"] == "8x8x32x32"
    offsets = {slot.name: slot.offset for slot in plan.slots}
    assert {t["name"]: t["offset"] for t in data["tensors"] if t["offset"] is not None} == offsets
    assert {name: int(row["offset"]) for name, row in rows.items() if row["offset"]} == offsets
    header = (tmp_path / "net.h").read_text(encoding="utf-8")
    prefix = header.split("#define ")[1].split("_MEMORY_H")[0]
    statements = [printing(f"{prefix}_ARENA_BYTES"), printing(f"{prefix}_OFFSET_half")]
    statements += [printing(f"{prefix}_SIZE_half"), printing(f"{prefix.lower()}_bytes_half(8, 64, 64)")]
    program = compiled(header, statements, tmp_path)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    assert list(map(int, printed)) == [plan.arena, offsets["half"], half, half]
