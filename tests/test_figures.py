"""The tables of figures in the docs are those of the file that the benchmarks write."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / "bench" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FIGURES, TIMING = map(_module, ("figures", "timing"))


@pytest.mark.parametrize("page", FIGURES.PAGES, ids=lambda page: page.name)
def test_a_page_shows_the_figures_of_the_file(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == FIGURES.with_tables(text, FIGURES.load()), "run python tools/bench/figures.py"


def test_each_table_is_on_a_page() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in FIGURES.PAGES)
    missing = [name for name in FIGURES.TABLES if f"<!-- figures: {name};" not in pages]
    assert not missing


def row(name: str, nodes: int, ours: float, **others: float) -> dict[str, object]:
    return {"name": name, "nodes": nodes, "seconds": {"shapeinf": ours, **others}}


def test_ratios_are_the_time_of_others_divided_by_ours() -> None:
    rows = [row("a", 10, 2.0, cpp=1.0), row("b", 11, 1.0, cpp=3.0), row("c", 4_000, 1.0)]
    assert [FIGURES.ratio(r, "cpp") for r in rows] == [0.5, 3.0, float("inf")]
    assert FIGURES.spread([FIGURES.ratio(r, "cpp") for r in rows]) == "1.75x (0.50x to 3.00x)"
    assert {title: len(members) for title, members in FIGURES.by_size(rows).items()} == {
        "1 to 10": 1,
        "11 to 49": 1,
        "3,000 or more": 1,
    }


def test_a_section_is_replaced_and_the_others_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FIGURES, "FIGURES", tmp_path / "figures.json")
    FIGURES.save("onnx, pure Python", [row("a", 10, 2.0)], onnx="1.20")
    FIGURES.save("cold, pure Python", [])
    FIGURES.save("onnx, pure Python", [row("b", 10, 2.0)])
    figures = FIGURES.load()
    assert [r["name"] for r in figures["onnx, pure Python"]["rows"]] == ["b"]
    assert figures["cold, pure Python"]["rows"] == []


def test_a_peer_that_writes_into_the_current_directory_leaves_nothing_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(TIMING.gc, "collect", lambda: 0)  # takes seconds among the objects of the whole suite
    Path("model").write_text("a model", encoding="utf-8")

    def litter(path: str) -> None:
        Path("scratch").write_text(Path(path).read_text(encoding="utf-8"), encoding="utf-8")

    def fail(path: str) -> None:
        Path("scratch").write_text(path, encoding="utf-8")
        raise ValueError(path)

    times = TIMING.medians("model", {"litter": litter, "fail": fail}, 2)
    assert times["litter"] < times["fail"] == float("inf")
    assert Path.cwd() == tmp_path and [path.name for path in tmp_path.iterdir()] == ["model"]
