"""The picture of memory over time shows the timeline, whatever the names are."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import attrs
import onnx.parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import infer_shapes
from shapeinf.expr import Scope
from shapeinf.lattice import Shape
from shapeinf.memory import Buffer, ProgramPoint, Role, Timeline
from shapeinf.report.memory_picture import memory_page
from shapeinf.report.memory_view import MemoryView, areas, columns, memory_view, outline, view_of_memory
from shapeinf.texts import axis_ticks, byte_ticks, format_bytes

HOSTILE = "</title><script>alert('1')</script>\"&<u onload=x>\x1b[31m\u202e\x00$x_{$"


def buffer(name: str, size: int, birth: int, death: int, role: Role = "activation") -> Buffer:
    return Buffer(name, size, birth, death, role, "uint8", Shape([size]), (name,))


def view_of(count: int, buffers: list[tuple[int, int, int]], prefix: str = "t", **options: object) -> MemoryView:
    """Nodes, and buffers of (size, birth, death)."""
    points = tuple(ProgramPoint(f"{prefix}node{i}", "Op") for i in range(count))
    buffers_of_nodes = tuple(buffer(f"{prefix}{i}", *lifetime) for i, lifetime in enumerate(buffers))
    return memory_view(Timeline(points, buffers_of_nodes), {}, **options)  # type: ignore[arg-type]


@attrs.frozen
class Slot:
    name: str
    lower: int
    upper: int
    size: int
    offset: int


@st.composite
def lifetimes(draw: st.DrawFn) -> tuple[int, list[tuple[int, int, int]]]:
    count = draw(st.integers(1, 40))
    lifetime = st.tuples(st.integers(0, 1000), st.integers(0, count - 1), st.integers(1, 10))
    return count, [(s, b, min(b + n, count)) for s, b, n in draw(st.lists(lifetime, max_size=30))]


@given(lifetimes())
def test_totals_and_peak_are_those_of_a_walk(drawn: tuple[int, list[tuple[int, int, int]]]) -> None:
    count, buffers = drawn
    view = view_of(count, buffers)
    walked = [sum(size for size, birth, death in buffers if birth <= t < death) for t in range(count)]
    assert view.totals == walked
    assert (view.peak_bytes, view.peak) == (max(walked), walked.index(max(walked)))
    assert sum(block.size for block in view.alive(view.peak)) == view.peak_bytes


@given(lifetimes(), st.integers(1, 50))
def test_areas_stack_up_to_the_total(drawn: tuple[int, list[tuple[int, int, int]]], most: int) -> None:
    view = view_of(*drawn)
    drawn_columns = columns(view, range(len(view.points)), most)
    assert len(drawn_columns) <= most and [t for c in drawn_columns for t in range(c.first, c.last)] == list(
        range(drawn[0])
    )
    assert max(view.totals[c.at] for c in drawn_columns) == view.peak_bytes, "merging columns must not lose the peak"
    named, rest = areas(view, drawn_columns)
    steps = [step for _, result in named for step in result] + rest
    for column in drawn_columns:
        pieces = sorted((s.low, s.high) for s in steps if s.first <= column.first < s.last and s.high > s.low)
        tops = [0, *(high for _, high in pieces)]
        assert [low for low, _ in pieces] == tops[:-1], "areas overlap or leave a gap"
        assert tops[-1] == view.totals[column.at]
        assert [s.high for s in outline(view, drawn_columns) if s.first <= column.first < s.last] == [
            view.totals[column.at]
        ]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def drawings(page: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def texts(page: str, kind: str) -> list[str]:
    return [element.text or "" for svg in drawings(page) for element in svg.iter() if element.tag == kind]


def test_hostile_names_are_only_text() -> None:
    slots = [Slot(f"{HOSTILE}0", 0, 2, 64, 0)]
    view = view_of(2, [(64, 0, 2), (32, 1, 2)], prefix=HOSTILE, title=HOSTILE, slots=slots)
    page = memory_page(view)
    parsed = Tags()
    parsed.feed(page)
    assert not {"script", "u", "link", "img", "iframe"} & set(parsed.tags)
    assert not [name for name in parsed.attributes if name.startswith(("on", "src", "href"))]
    assert not [c for c in page if not c.isprintable() and c != "\n"]
    assert any(r"alert('1')</script>" in title for title in texts(page, "title"))


def test_the_page_needs_nothing_else() -> None:
    page = memory_page(view_of(3, [(64, 0, 2)]))
    assert not re.search(r"https?:|url\(|@import|<script", page)
    assert "prefers-color-scheme: dark" in page


def test_the_text_of_the_page() -> None:
    points = (ProgramPoint("scores", "MatMul"), ProgramPoint("probs", "Softmax"), ProgramPoint("out", "MatMul"))
    n = Scope().symbol("n")
    buffers = (
        Buffer("w", 4096, 0, 3, "weight", "float32", Shape([1024]), ("w",)),
        Buffer("sc", 1024 * n * n, 0, 2, "activation", "float32", Shape([256 * n, n]), ("sc",)),
        Buffer("pr", 512 * n * n, 1, 3, "activation", "float16", Shape([256 * n, n]), ("pr",)),
        Buffer("lost", None, 1, 2, "activation", None, Shape.unknown(), ("lost",), "Own 'x' has no rule"),
    )
    page = memory_page(memory_view(Timeline(points, buffers), {"n": 4}, title="kv.onnx"))
    assert "Peak at least 24 KiB (24,576 bytes)</b> at #1 Softmax 'probs'" in page.replace("&#x27;", "'")
    assert "weights 4 KiB" in page and "at n=4" in page
    rows = re.findall(r"<tr><td><span.*?</tr>", page)
    assert [re.findall(r"sc|pr", row)[0] for row in rows] == ["sc", "pr"]
    assert "16 KiB" in rows[0] and "66.7%" in rows[0] and "#0 MatMul" in rows[0] and "#1<" in rows[0]
    assert "Own 'x' has no rule" in page.replace("&#x27;", "'")


def test_marks_stay_inside_of_the_drawing() -> None:
    for peak in (0, 60, 61, 119):
        view = view_of(120, [(64, peak, peak + 1)], prefix="/model/layers/" * 9)
        (drawing,) = drawings(memory_page(view))
        width = float(drawing.attrib["viewBox"].split()[2])
        (mark,) = [text for text in drawing.iter() if text.attrib.get("class") == "mark"]
        room = float(mark.attrib["x"]) if mark.attrib["text-anchor"] == "end" else width - float(mark.attrib["x"])
        assert len(mark.text or "") * 7.5 <= room, "bold letters of 12 pixels are 7 wide, a bit more with capitals"


def test_an_invisible_tensor_has_no_color() -> None:
    page = memory_page(view_of(3, [(100_000, 0, 3), (8, 0, 3), (8, 1, 3)]))
    assert page.count('<span class="key c0">') == 1 and page.count('<span class="key rest">') == 2


def test_sizes_without_an_upper_bound_are_at_least() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 19]> loop (float[4] x, int64 trips, bool go) => (float[t, 4] all) {'
        " all = Loop (trips, go) <body = b (int64 i, bool c) => (bool d, float[4] y)"
        " { d = Identity (c) y = Neg (x) }> }"
    )
    view = view_of_memory(infer_shapes(model).memory(), {})
    assert [name for name, _ in view.unknown] == ["all"]
    assert [block.name for block in view.blocks if block.at_least] == ["all"]
    assert re.search(r">all<.*>at least 0 B<", memory_page(view)) and "peak at least" in memory_page(view)


def test_sizes_that_depend_on_data_are_at_most() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 19]> choice (float[n] x) => (int64[1, m] y) { y = NonZero (x) }'
    )
    view = view_of_memory(infer_shapes(model).memory(), {"n": 1000})
    assert (view.peak_bytes, view.at_most) == (8000, True)
    assert "Peak at most 7.81 KiB (8,000 bytes)</b>" in memory_page(view)


@pytest.mark.parametrize(("arena", "apart"), [(128, 0), (130, 0), (256, 100)])
def test_marks_of_a_plan_lie_above_its_slots(arena: int, apart: float) -> None:
    slots = [Slot("t0", 0, 2, 64, 0), Slot("t1", 1, 3, 64, arena - 64)]
    drawing = drawings(memory_page(view_of(3, [(64, 0, 2), (64, 1, 3)], slots=slots)))[1]
    marks = [element for element in drawing.iter() if element.attrib.get("class") == "mark"]
    lines = [float(e.attrib["y1"]) for e in drawing.iter() if e.attrib.get("class") == "limit"]
    assert len(marks) == len(lines) == 1 + (arena > 128)
    heights = [float(mark.attrib["y"]) for mark in marks]
    assert all(abs(y - min(lines)) < 6 for y in heights) if apart == 0 else heights[1] - heights[0] > apart


def test_without_nodes_there_is_nothing_to_draw() -> None:
    page = memory_page(view_of(0, []))
    assert "has no nodes" in page and "<svg" not in page


def test_many_nodes_stay_readable_and_small() -> None:
    count = 20_000
    view = view_of(count, [(1000 + i % 97, i, min(i + 3, count)) for i in range(count)])
    page = memory_page(view)
    assert len(page) < 3_000_000
    overview, near = drawings(page)
    assert len(list(near.iter("rect"))) == 2 * 80, "two places to point at for each node around the peak"
    assert len(list(overview.iter("text"))) < 60, "labels do not cover each other"


def test_a_plan_is_drawn_at_its_offsets() -> None:
    slots = [Slot("t0", 0, 2, 64, 0), Slot("t1", 1, 3, 64, 64)]
    page = memory_page(view_of(3, [(64, 0, 2), (64, 1, 3)], slots=slots))
    assert "The plan: 128 B for 2 tensors" in page
    rects = [r for r in drawings(page)[1].iter("rect") if "slot" in r.attrib["class"]]
    lower, upper = sorted(rects, key=lambda r: -float(r.attrib["y"]))
    assert float(lower.attrib["y"]) == pytest.approx(float(upper.attrib["y"]) + float(upper.attrib["height"]), abs=0.02)
    assert float(lower.attrib["x"]) < float(upper.attrib["x"])
    assert lower.attrib["width"] == upper.attrib["width"]


@given(st.integers(0, 2**60))
def test_ticks_reach_the_top_in_few_steps(most: int) -> None:
    result = byte_ticks(most)
    assert result[0] == 0 and result[-1] >= most and len(result) <= 7
    steps = {b - a for a, b in pairwise(result)}
    assert len(steps) == 1 and steps.pop().bit_count() == 1


@given(st.integers(0, 5000), st.integers(1, 5000))
def test_rectangles_lie_in_the_window(start: int, count: int) -> None:
    window = range(start, start + count)
    result = axis_ticks(window)
    assert set(result) <= set(window) and len(result) <= 11
    assert count < 10 or len(result) >= 2


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (1 << 30, "1 GiB"), (1023 << 10, "1023 KiB")],
)
def test_bytes_as_text(count: int, text: str) -> None:
    assert format_bytes(count) == text


def test_a_png_is_written_whatever_the_names_are(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: no PNG can be drawn")
    from shapeinf.report.memory_png import save_png

    path = tmp_path / "memory.png"
    slots = [Slot(f"{HOSTILE}0", 0, 2, 64, 0)]
    save_png(view_of(200, [(64, 0, 150), (32, 1, 2)], prefix=HOSTILE, title=HOSTILE, slots=slots), path)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_without_matplotlib_the_error_has_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    from shapeinf.errors import MissingPackageError
    from shapeinf.report.memory_png import save_png

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'shapeinf\[png\]'"):
        save_png(view_of(1, []), tmp_path / "memory.png")
