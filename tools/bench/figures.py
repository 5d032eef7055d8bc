"""The figures that the benchmarks save, and the tables of the docs made from them.

    python tools/bench/onnx.py MODELS --save-figures     # each benchmark replaces its own section of the file
    python tools/bench/figures.py                        # writes the tables into the pages

A test compares the tables with the file.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "figures.json"
PAGES = tuple(ROOT / "docs" / f"{name}.md" for name in ("performance", "comparison", "install"))

Row = dict[str, Any]
"""One measurement: the name of what was measured, its size, and seconds or bytes by way."""

SIZES = ((1, 10), (11, 49), (50, 199), (200, 999), (1_000, 2_999), (3_000, None))
"""Classes of models by their number of nodes; the last one is open."""

BUILDS = ("pure Python", "compiled with mypyc")


def save(section: str, rows: Iterable[Row], **about: str) -> None:
    """Replace a section of the file; `about` has versions of packages and other conditions of the run."""
    figures = load()
    figures[section] = {"about": {"python": platform.python_version(), **about}, "rows": list(rows)}
    FIGURES.write_text(_dump(dict(sorted(figures.items()))), encoding="utf8")


def load() -> dict[str, Any]:
    """All sections; empty where nothing was saved."""
    if not FIGURES.exists():
        return {}
    figures: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf8"))
    return figures


def _dump(figures: dict[str, Any]) -> str:
    """JSON with one line a row, so that a new run is a readable diff."""
    sections = []
    for name, section in figures.items():
        rows = ",\n".join(f"      {json.dumps(row)}" for row in section["rows"])
        about = json.dumps(section["about"])
        sections.append(f'  {json.dumps(name)}: {{\n    "about": {about},\n    "rows": [\n{rows}\n    ]\n  }}')
    return "{\n" + ",\n".join(sections) + "\n}\n"


def ratio(row: Row, way: str) -> float:
    """How many times longer another way takes than shapeinf; infinite where it failed."""
    seconds = row["seconds"].get(way)
    return float("inf") if seconds is None else seconds / row["seconds"]["shapeinf"]


def by_size(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of each class of models, without empty classes."""
    classes: dict[str, list[Row]] = {}
    for least, most in SIZES:
        title = f"{least:,} or more" if most is None else f"{least:,} to {most:,}"
        members = [row for row in rows if least <= row["nodes"] and (most is None or row["nodes"] <= most)]
        if members:
            classes[title] = members
    return classes


def spread(values: Sequence[float]) -> str:
    """Median, least and most of ratios: `0.55x (0.29x to 1.02x)`."""
    finite = [value for value in values if value != float("inf")]
    if not finite:
        return ""
    middle = f"{statistics.median(finite):.2f}x"
    return middle if len(finite) == 1 else f"{middle} ({min(finite):.2f}x to {max(finite):.2f}x)"


def onnx_table(figures: dict[str, Any]) -> str:
    """Ratios of onnx's C++ inference by classes of models, with a column for each build."""
    sections = {build: figures[f"onnx, {build}"]["rows"] for build in BUILDS if f"onnx, {build}" in figures}
    lines = [_cells("nodes", "models", *sections), _cells("---", "---", *("---" for _ in sections))]
    titles: dict[str, int] = {}
    for rows in sections.values():
        titles |= {title: len(members) for title, members in by_size(rows).items()}
    for title, count in titles.items():
        members = [by_size(rows).get(title, []) for rows in sections.values()]
        lines.append(_cells(title, str(count), *(spread([ratio(row, "c++") for row in rows]) for rows in members)))
    everything = [spread([ratio(row, "c++") for row in rows]) for rows in sections.values()]
    lines.append(_cells("all", str(sum(titles.values())), *everything))
    return "\n".join(lines)


def deep_table(figures: dict[str, Any]) -> str:
    """The models of 1,000 nodes or more, one line each."""
    sections = {build: figures[f"onnx, {build}"]["rows"] for build in BUILDS if f"onnx, {build}" in figures}
    ways = [f"us a node, {build}" for build in sections], [f"c++, {build}" for build in sections]
    lines = [_cells("model", "nodes", *ways[0], *ways[1]), _cells(*["---"] * (2 + 2 * len(sections)))]
    first, *others = sections.values()
    for row in sorted((row for row in first if row["nodes"] >= 1_000), key=lambda row: -row["nodes"]):
        rows = [row, *(next(r for r in rows if r["name"] == row["name"]) for rows in others)]
        each = [f"{r['seconds']['shapeinf'] / r['nodes'] * 1e6:.1f}" for r in rows]
        lines.append(_cells(row["name"], f"{row['nodes']:,}", *each, *(f"{ratio(r, 'c++'):.2f}x" for r in rows)))
    return "\n".join(lines)


def peers_table(figures: dict[str, Any]) -> str:
    """How much longer other tools take than the pure build."""
    lines = [_cells("tool", "models", "time, by that of shapeinf"), _cells("---", "---", "---")]
    rows = figures.get("onnx, peers", {"rows": ()})["rows"]
    for way in ("c++", "onnx-shape-inference", "symbolic_shape_infer"):
        values = [ratio(row, way) for row in rows if ratio(row, way) != float("inf")]
        lines.append(_cells(way, str(len(values)), spread(values)))
    return "\n".join(lines)


def cold_table(figures: dict[str, Any]) -> str:
    """CPU seconds of whole processes."""
    sections = {build: figures[f"cold, {build}"]["rows"] for build in BUILDS if f"cold, {build}" in figures}
    lines = [_cells("process", *sections), _cells("---", *("---" for _ in sections))]
    first, *others = sections.values()
    for row in first:
        rows = [row, *(next(r for r in rows if r["name"] == row["name"]) for rows in others)]
        lines.append(_cells(f"`{row['name']}`", *(f"{r['seconds']:.2f} s" for r in rows)))
    return "\n".join(lines)


def large_table(figures: dict[str, Any]) -> str:
    """Seconds and peak resident memory of one process a model."""
    lines = [_cells("model", "build", "CPU", "peak memory"), _cells("---", "---", "---", "---")]
    for build in BUILDS:
        for row in figures.get(f"large, {build}", {"rows": ()})["rows"]:
            seconds = f"{row['seconds']:.2f} s" if row["seconds"] >= 0.1 else f"{row['seconds'] * 1e3:.0f} ms"
            each = f" ({row['seconds'] / row['nodes'] * 1e6:.1f} us a node)" if row["nodes"] >= 10_000 else ""
            lines.append(_cells(row["name"], build, seconds + each, f"{row['peak_bytes'] / 1e6:.0f} MB"))
    return "\n".join(lines)


def install_table(figures: dict[str, Any]) -> str:
    """Megabytes of installations without numpy's share, the largest packages, and seconds of pip."""
    lines = [_cells("installation", "without numpy", "numpy", "its largest packages", "time"), _cells(*["---"] * 5)]
    for row in figures["install"]["rows"]:
        sizes = {name: size / 1e6 for name, size in row["packages"].items()}
        numpy = sizes.pop("numpy")
        largest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
        listed = ", ".join(f"{name} {size:.0f}" for name, size in largest)
        numbers = (f"{sum(sizes.values()):.0f} MB", f"{numpy:.0f} MB", listed, f"{row['seconds']:.0f} s")
        lines.append(_cells(f"`{row['name']}`", *numbers))
    return "\n".join(lines)


def questions_table(figures: dict[str, Any]) -> str:
    """What the questions about large models take, in multiples of the inference."""
    rows = figures.get("questions, pure Python", {"rows": ()})["rows"]
    names = [name for name in rows[0]["seconds"] if name != "inference"] if rows else []
    lines = [_cells("model", "nodes", "inference", *names, "cost by onnx-tool"), _cells(*["---"] * (4 + len(names)))]
    for row in rows:
        seconds, cost = row["seconds"], row.get("cost", {})
        ratios = [f"{seconds[name] / seconds['inference']:.1f}x" for name in names]
        peer = cost.get("onnx-tool")
        ratios.append("" if peer is None else f"{peer / cost['shapeinf']:.1f}x")
        lines.append(_cells(row["name"], f"{row['nodes']:,}", f"{seconds['inference'] * 1e3:.0f} ms", *ratios))
    return "\n".join(lines)


def _cells(*texts: str) -> str:
    return "| " + " | ".join(texts) + " |"


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "onnx": onnx_table,
    "deep": deep_table,
    "peers": peers_table,
    "cold": cold_table,
    "large": large_table,
    "install": install_table,
    "questions": questions_table,
}


_TABLE = re.compile(
    r"(<!-- figures: (\w+); made by tools/bench/figures\.py -->\n).*?(<!-- end of figures -->)", re.DOTALL
)


def with_tables(page: str, figures: dict[str, Any]) -> str:
    """The text of a page with new tables."""
    return _TABLE.sub(lambda match: f"{match[1]}{TABLES[match[2]](figures)}\n{match[3]}", page)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for page in PAGES:
        page.write_text(with_tables(page.read_text(encoding="utf8"), load()), encoding="utf8")
