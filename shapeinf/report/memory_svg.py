"""Memory over time as inline SVG: the stacked areas, and a plan as rectangles of offsets and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from shapeinf.html import escape_html
from shapeinf.report.memory_view import AreaStep, Block, Column, MemoryView, areas, columns, outline, runs
from shapeinf.texts import axis_ticks, byte_ticks, format_bytes, shorten_text

MAX_SLOTS = 4000
"""The most rectangles of a plan that are drawn, largest first."""

CHARACTER = 6.4
"""The width of a character of a label in pixels."""

BOLD = 7.6
"""The width of a character of a mark in pixels."""

MIN_LABEL = 9
"""A label with fewer characters is omitted."""

NEAR = 40
"""Points on each side of the peak in the enlarged drawing."""


def quote_text(text: str, limit: int = 120) -> str:
    """A text from a file, escaped and shortened for a page."""
    return escape_html(shorten_text(text, limit))


X_LABEL = "node, in execution order"


@attrs.frozen
class Axes:
    """The coordinates of the drawing: program points from left to right, bytes from the bottom up."""

    window: range
    top: int
    width: int = 1120
    height: int = 420
    left: int = 76
    right: int = 16
    above: int = 34
    below: int = 42

    def x(self, point: float) -> float:
        """The left edge of a point."""
        share = (point - self.window.start) / max(len(self.window), 1)
        return round(self.left + (self.width - self.left - self.right) * share, 2)

    def y(self, count: float) -> float:
        """The height of a number of bytes."""
        return round(self.base - (self.base - self.above) * count / max(self.top, 1), 2)

    @property
    def step(self) -> float:
        """The width of a point."""
        return (self.width - self.left - self.right) / max(len(self.window), 1)

    @property
    def base(self) -> int:
        """The height of 0 bytes."""
        return self.height - self.below

    def grid(self) -> Iterator[str]:
        """Lines and labels of both axes."""
        for count in byte_ticks(self.top):
            if count > self.top:
                break
            y = self.y(count)
            yield f'<line class="grid" x1="{self.left}" x2="{self.width - self.right}" y1="{y}" y2="{y}"/>'
            yield f'<text class="tick" x="{self.left - 8}" y="{y + 4}" text-anchor="end">{format_bytes(count)}</text>'
        for point in axis_ticks(self.window):
            x = self.x(point + 0.5)
            yield f'<text class="tick" x="{x}" y="{self.base + 17}" text-anchor="middle">{point}</text>'
        middle = (self.left + self.width - self.right) / 2
        yield f'<text class="axis" x="{middle}" y="{self.height - 6}" text-anchor="middle">{X_LABEL}</text>'


def near_peak(view: MemoryView) -> range | None:
    """The points around the peak for an enlarged drawing; None where all points are wide enough."""
    count = len(view.points)
    if count <= 3 * NEAR:
        return None
    start = min(max(view.peak - NEAR, 0), count - 2 * NEAR)
    return range(start, start + 2 * NEAR)


def draw_areas(view: MemoryView, window: range | None = None) -> str:
    """The areas of the named tensors, all others on top of them, the total and the peak; of all points or a window."""
    window = window or range(len(view.points))
    drawn = columns(view, window)
    frame = Axes(window, byte_ticks(view.peak_bytes)[-1])
    named, rest = areas(view, drawn)
    colors = {id(block): i for i, block in enumerate(view.named_blocks)}
    parts = [*frame.grid()]
    for block, steps in named:
        parts += [_area(frame, run, f"c{colors[id(block)]}", _tooltip(block)) for run in runs(steps)]
    parts += [_area(frame, run, "rest", "all other tensors") for run in runs(rest)]
    if frame.step >= 2:  # closer lines would hide the areas
        parts += [_polyline(frame, run) for run in runs(outline(view, drawn))]
    parts += [_label(frame, block, steps) for block, steps in named]
    parts += _hovers(frame, view, drawn)
    parts += _peak(frame, view)
    return _svg(frame, parts, "Bytes in use over time, stacked by tensor")


def draw_plan(view: MemoryView) -> str:
    """The slots of a plan: time from left to right, offsets from the bottom up."""
    frame = Axes(range(len(view.points)), byte_ticks(view.arena)[-1])
    colors = {(block.name, block.birth): i for i, block in enumerate(view.named_blocks)}
    parts = [*frame.grid()]
    slots = sorted((s for s in view.slots if s.size), key=lambda s: -s.size)
    for slot in slots[:MAX_SLOTS]:
        color = colors.get((slot.name, slot.lower))
        x, y = frame.x(slot.lower), frame.y(slot.offset + slot.size)
        width, height = frame.x(slot.upper) - x, frame.y(slot.offset) - y
        style = f"slot {_style(color)}" + (" edge" if width > 4 and height > 3 else "")
        tooltip = (
            f"{quote_text(slot.name)}\n{format_bytes(slot.size)} at {slot.offset}, #{slot.lower} to #{slot.upper - 1}"
        )
        parts.append(
            f'<rect class="{style}" x="{x}" y="{y}" width="{width:.2f}" '
            f'height="{height:.2f}"><title>{tooltip}</title></rect>'
        )
        if height > 13:
            parts.append(_name(slot.name, width, x + width / 2, y + height / 2, on_rest=color is None))
    parts += _limits(frame, view)
    return _svg(frame, parts, "Offsets of tensors in memory over time")


def _limits(frame: Axes, view: MemoryView) -> Iterator[str]:
    """The end of the arena, and the peak, a lower bound of every plan."""
    left, right, top = frame.left, frame.width - frame.right, frame.y(view.arena)
    limits = [("arena", view.arena, right - 4, "end"), ("peak: no plan needs less", view.peak_bytes, left + 4, "start")]
    for label, count, x, anchor in limits[: 1 + (view.peak_bytes < view.arena)]:
        y = frame.y(count)
        above = top if y - top < 20 else y  # no room between two close lines, and slots below them
        yield f'<line class="limit" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>'
        text = f"{label} ({format_bytes(count)})"
        yield f'<text class="mark" x="{x}" y="{above - 5}" text-anchor="{anchor}">{text}</text>'


def _style(color: int | None) -> str:
    return "rest" if color is None else f"c{color}"


def _tooltip(block: Block) -> str:
    return f"{block.name}\n{block.type}, {format_bytes(block.size)}, #{block.birth} to #{block.death - 1}"


def _area(frame: Axes, run: Sequence[AreaStep], style: str, tooltip: str) -> str:
    there = [p for s in run for p in ((frame.x(s.first), frame.y(s.high)), (frame.x(s.last), frame.y(s.high)))]
    back = [p for s in reversed(run) for p in ((frame.x(s.last), frame.y(s.low)), (frame.x(s.first), frame.y(s.low)))]
    points = " ".join(f"{x:g},{y:g}" for x, y in (*there, *back))
    title = "\n".join(quote_text(line) for line in tooltip.split("\n"))
    return f'<polygon class="{style}" points="{points}"><title>{title}</title></polygon>'


def _polyline(frame: Axes, run: Sequence[AreaStep]) -> str:
    points = " ".join(f"{frame.x(e):g},{frame.y(s.high):g}" for s in run for e in (s.first, s.last))
    return f'<polyline class="total" points="{points}"/>'


def _label(frame: Axes, block: Block, steps: Sequence[AreaStep]) -> str:
    """The name in the widest piece of the area, where it fits."""
    if not steps:
        return ""
    widest = max(steps, key=lambda s: (s.last - s.first) * (s.high - s.low))
    width = frame.x(widest.last) - frame.x(widest.first)
    height = frame.y(widest.low) - frame.y(widest.high)
    if height < 14:
        return ""
    x = (frame.x(widest.first) + frame.x(widest.last)) / 2
    return _name(block.name, width, x, (frame.y(widest.low) + frame.y(widest.high)) / 2)


def _name(name: str, width: float, x: float, y: float, on_rest: bool = False) -> str:
    """A name, empty where it does not fit into the width."""
    room = int(width / CHARACTER) - 1
    if room < min(MIN_LABEL, len(name)):
        return ""
    style = "name soft" if on_rest else "name"
    text = quote_text(name, room)
    return f'<text class="{style}" x="{x:.2f}" y="{y + 4:.2f}" text-anchor="middle">{text}</text>'


def _hovers(frame: Axes, view: MemoryView, drawn: Sequence[Column]) -> Iterator[str]:
    """A strip over each column, above the areas only, so that the tooltips of both are reachable."""
    for column in drawn:
        x, width = frame.x(column.first), frame.x(column.last) - frame.x(column.first)
        top = frame.y(view.totals[column.at])
        tooltip = quote_text(f"{view.at(column.at)}: {format_bytes(view.totals[column.at])} in use", 200)
        for y, height in ((frame.above, top - frame.above), (frame.base, 22)):
            yield (
                f'<rect class="hover" x="{x:g}" y="{y:g}" width="{width:.2f}" height="{height:.2f}">'
                f"<title>{tooltip}</title></rect>"
            )


def _peak(frame: Axes, view: MemoryView) -> Iterator[str]:
    if not view.points:
        return
    x, y = frame.x(view.peak + 0.5), frame.y(view.peak_bytes)
    end = x > frame.width / 2
    text = quote_text(view.headline, int(max(x, frame.width - x) / BOLD) - 1)
    yield f'<line class="peak" x1="{x}" x2="{x}" y1="{frame.above - 12}" y2="{frame.base}"/>'
    yield f'<circle class="dot" cx="{x}" cy="{y}" r="4"/>'
    position = f'x="{x - 7 if end else x + 7}" y="{frame.above - 14}" text-anchor="{"end" if end else "start"}"'
    yield f'<text class="mark" {position}>{text}</text>'


def _svg(frame: Axes, parts: Sequence[str], label: str) -> str:
    body = "\n".join(filter(None, parts))
    return f'<svg viewBox="0 0 {frame.width} {frame.height}" role="img" aria-label="{label}">\n{body}\n</svg>'
