"""JSON follows its schema and round-trips; tables have the numbers of one binding."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from shapeinf.errors import (
    ExportError,
    IllegalSizeError,
    MissingSizeError,
    ShapeInferenceError,
    SizeOverflowError,
    Source,
    UnknownNameError,
)
from shapeinf.expr import Scope, evaluate, parse_dim
from shapeinf.lattice import Shape, ShapeStore
from shapeinf.memory.exports import MemoryExport, csv_text, json_text, memory_document, write
from shapeinf.memory.planning import Plan, Slot
from shapeinf.memory.sizes import size_of_tensor
from shapeinf.schemas import load_schema, to_json
from tests.memory.exports.subjects import subject


def example() -> MemoryExport:
    """Two known buffers, one that depends on data with a bound, one without, and one of unknown size."""
    store = ShapeStore()
    b, s = store.scope.symbol("batch", 1, 8), store.scope.symbol("seq len")
    nonzero, boxes = store.scope.fresh("kept"), store.scope.fresh("boxes", 0)
    store.add_le(nonzero, b * s, Source("nz", "no more than all elements"))
    store.add_divisible(s, 2, Source("split", "halves"))
    sizes = {"x": 4 * b * s, "half": b * (s // 2), "nz": 8 * nonzero, "boxes": 16 * boxes, "text": None}
    slots = (Slot("x", 0, 2, 128, 0), Slot("half", 1, 3, 16, 128))
    return subject(store, sizes, name="tiny", plan=Plan(slots, 192, 64), labels={b: "batch", s: "`seq len`"})


def test_json_matches_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = load_schema("shapeinf.memory/1")
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    data = json.loads(json_text(example()))
    validator.validate(data)
    for key in schema["required"]:
        broken = {k: v for k, v in data.items() if k != key}
        assert not validator.is_valid(broken)
    assert not validator.is_valid({**data, "schema": "shapeinf.memory/2"})


def test_json_holds_all_fields() -> None:
    data = json.loads(json_text(example()))
    assert (data["schema"], data["model"]) == ("shapeinf.memory/1", "tiny")
    assert [(s["name"], s["label"], s["role"], s["min"], s["max"]) for s in data["symbols"]] == [
        ("batch", "batch", "input", 1, 8),
        ("`seq len`", "`seq len`", "input", 2, None),
        ("kept", "kept", "data", 0, None),
        ("boxes", "boxes", "data", 0, None),
    ]
    tensors = {t["name"]: t for t in data["tensors"]}
    scope = Scope()
    values = {"batch": 3, "seq len": 10, "kept": 7, "boxes": 5}
    sizes = {
        n: None if t["bytes"] is None else evaluate(parse_dim(str(t["bytes"]), scope), values)
        for n, t in tensors.items()
    }
    assert sizes == {"x": 120, "half": 15, "nz": 56, "boxes": 80, "text": None}
    assert [(t["birth"], t["death"], t["offset"]) for t in data["tensors"]] == [
        (0, 2, 0),
        (1, 3, 128),
        (2, 4, None),
        (3, 5, None),
        (4, 5, None),
    ]
    boxes = {"name": "boxes", "cause": "boxes has no upper bound"}
    assert data["unknowns"] == [boxes, {"name": "text", "cause": "no idea"}]
    assert data["plan"] == {"arena": 192, "alignment": 64, "unplaced": []}
    assert data["peak"]["at_least"] and data["peak"]["at_most"]
    peak = max(evaluate(parse_dim(str(t["bytes"]), scope), values) for t in data["peak"]["terms"])
    assert peak == 15 + 8 * 3 * 10  # `half`, and `nz` with all elements kept
    assert "`seq len` % 2 == 0" in data["requirements"]


def test_json_without_a_plan_and_without_nodes() -> None:
    data = to_json(memory_document(subject(ShapeStore(), {})))
    assert data["plan"] is None and data["tensors"] == [] and data["peak"]["terms"] == []


def table(text: str) -> dict[str, dict[str, str]]:
    return {row["name"]: row for row in csv.DictReader(text.splitlines())}


def test_a_table_of_a_single_binding() -> None:
    actual = table(csv_text(example(), {"batch": 3, "seq len": 10}))
    assert [(r["bytes"], r["shape"], r["offset"]) for r in actual.values()] == [
        ("120", "120", "0"),
        ("15", "15", "128"),
        ("240", "?", ""),
        ("", "?", ""),
        ("", "", ""),
    ]
    assert actual["nz"]["cause"] == "at most: it depends on data (kept)"
    assert actual["boxes"]["cause"] == "boxes has no upper bound"
    assert actual["text"]["cause"] == "no idea" and actual["x"]["cause"] == ""


def test_long_formulas_are_exact() -> None:
    """(s0 + ... + s7)**3 has 120 terms, more than the algebra keeps, and more still when s7 follows from z."""
    store = ShapeStore()
    z = store.scope.symbol("z")
    s = [store.scope.symbol(f"s{i}") for i in range(8)]
    side = sum(s[1:], s[0])
    size = size_of_tensor(store, "float32", Shape((side, side, side))).bytes
    store.add_equal(s[7], 2 * z + 1, Source("reshape", "sizes must meet"))
    cube = subject(store, {"cube": size})
    binding = {f"s{i}": 1 for i in range(7)} | {"z": 1}
    actual = table(csv_text(cube, binding))["cube"]
    assert (actual["bytes"], actual["cause"]) == (str(4 * (7 + 3) ** 3), "")
    (tensor,) = memory_document(cube).tensors
    ones = dict.fromkeys(["z", *(f"s{i}" for i in range(8))], 1)
    assert eval(str(tensor.bytes), {}, ones) == 4000


def test_data_dependent_sizes_may_be_bound() -> None:
    actual = table(csv_text(example(), {"batch": 3, "seq len": 10, "kept": 7, "boxes": 5}))
    assert [r["bytes"] for r in actual.values()] == ["120", "15", "56", "80", ""]
    assert actual["nz"]["cause"] == ""


@pytest.mark.parametrize(
    ("sizes", "error"),
    [
        ({"batch": 3}, MissingSizeError),
        ({"batch": 9, "seq len": 10}, IllegalSizeError),
        ({"batch": 3, "seq len": 11}, IllegalSizeError),
        ({"batch": 3, "seq len": 10, "kept": 31}, IllegalSizeError),
        ({"batch": 3, "seq_len": 10}, UnknownNameError),
        ({"batch": 8, "seq len": 2**62}, SizeOverflowError),
    ],
)
def test_sizes_that_make_no_table(sizes: dict[str, int], error: type[Exception]) -> None:
    with pytest.raises(error):
        csv_text(example(), sizes)


def test_parquet_is_the_same_table(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    sizes = {"batch": 3, "seq len": 10}
    write(example(), tmp_path / "m.parquet", sizes)
    actual = parquet.read_table(tmp_path / "m.parquet").to_pylist()
    plain = list(table(csv_text(example(), sizes)).values())
    assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in actual] == plain
    assert actual[0]["bytes"] == 120 and actual[4]["bytes"] is None


def test_parquet_without_pyarrow_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ShapeInferenceError, match="pip install"):
        write(example(), tmp_path / "m.parquet", {"batch": 3, "seq len": 10})


@pytest.mark.parametrize(
    ("name", "begins"), [("m.json", "{"), ("M.CSV", "name,role,"), ("m.h", "/* The memory of tiny")]
)
def test_the_suffix_selects_the_format(name: str, begins: str, tmp_path: Path) -> None:
    write(example(), tmp_path / name, {"batch": 3, "seq len": 10})
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"\.json"):
        write(example(), tmp_path / "m.txt")
    assert not list(tmp_path.iterdir())
