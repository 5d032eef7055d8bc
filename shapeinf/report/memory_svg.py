"""Memory over time as inline SVG: the stacked areas, and a plan as rectangles of offsets and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import attrs

from shapeinf.report.memory_columns import Column, Step, areas, columns, outline, runs
from shapeinf.report.memory_view import Block, MemoryView
from shapeinf.texts import axis_ticks, byte_ticks, format_bytes, shorten_text

MOST_SLOTS = 4000
"""Rectangles of a plan that are drawn, the largest first."""

CHARACTER = 6.4
"""Pixels that a character of a label takes."""

BOLD = 7.6
"""Pixels that a character of a mark takes."""

LEAST_LABEL = 9
"""Characters below which a label says nothing."""

NEAR = 40
"""Moments to each side of the peak that are shown again, larger."""


def quoted(text: str, most: int = 120) -> str:
    """A text from a file for a page: printable, not too long, and no markup."""
    return escape(shorten_text(text, most))


@attrs.frozen
class Frame:
    """Where numbers lie in the drawing: moments from left to right, bytes from the bottom up."""

    window: range
    top: int
    width: int = 1120
    height: int = 420
    left: int = 76
    right: int = 16
    above: int = 34
    below: int = 42

    def x(self, moment: float) -> float:
        """The left edge of a moment."""
        share = (moment - self.window.start) / max(len(self.window), 1)
        return round(self.left + (self.width - self.left - self.right) * share, 2)

    def y(self, count: float) -> float:
        """The height of a number of bytes."""
        return round(self.base - (self.base - self.above) * count / max(self.top, 1), 2)

    @property
    def step(self) -> float:
        """The width of a moment."""
        return (self.width - self.left - self.right) / max(len(self.window), 1)

    @property
    def base(self) -> int:
        """Where 0 bytes are."""
        return self.height - self.below

    def axes(self, what: str) -> Iterator[str]:
        """Lines and labels of both axes."""
        for count in byte_ticks(self.top):
            if count > self.top:
                break
            y = self.y(count)
            yield f'<line class="grid" x1="{self.left}" x2="{self.width - self.right}" y1="{y}" y2="{y}"/>'
            yield f'<text class="tick" x="{self.left - 8}" y="{y + 4}" text-anchor="end">{format_bytes(count)}</text>'
        for moment in axis_ticks(self.window):
            x = self.x(moment + 0.5)
            yield f'<text class="tick" x="{x}" y="{self.base + 17}" text-anchor="middle">{moment}</text>'
        middle = (self.left + self.width - self.right) / 2
        yield f'<text class="axis" x="{middle}" y="{self.height - 6}" text-anchor="middle">{what}</text>'


def near_peak(view: MemoryView) -> range | None:
    """The moments around the peak that are worth a drawing of their own; None where all of them can be told apart."""
    count = len(view.moments)
    if count <= 3 * NEAR:
        return None
    start = min(max(view.peak - NEAR, 0), count - 2 * NEAR)
    return range(start, start + 2 * NEAR)


def over_time(view: MemoryView, window: range | None = None) -> str:
    """The areas of the named tensors, all others on top of them, the total and the peak; of all moments or a window."""
    window = window or range(len(view.moments))
    drawn = columns(view, window)
    frame = Frame(window, byte_ticks(view.peak_bytes)[-1])
    named, rest = areas(view, drawn)
    colours = {id(block): i for i, block in enumerate(view.named)}
    parts = [*frame.axes("node, in the order in which they run")]
    for block, steps in named:
        parts += [_area(frame, run, f"c{colours[id(block)]}", _told(view, block)) for run in runs(steps)]
    parts += [_area(frame, run, "rest", "all other tensors") for run in runs(rest)]
    if frame.step >= 2:  # nearer together the lines would be all that is seen
        parts += [_line(frame, run) for run in runs(outline(view, drawn))]
    parts += [_label(frame, block, steps) for block, steps in named]
    parts += _hovers(frame, view, drawn)
    parts += _peak(frame, view)
    return _svg(frame, parts, "Bytes in use over time, stacked by tensor")


def of_plan(view: MemoryView) -> str:
    """The slots of a plan: time from left to right, offsets from the bottom up."""
    frame = Frame(range(len(view.moments)), byte_ticks(view.arena)[-1])
    colours = {(block.name, block.birth): i for i, block in enumerate(view.named)}
    parts = [*frame.axes("node, in the order in which they run")]
    slots = sorted((s for s in view.slots if s.size), key=lambda s: -s.size)
    for slot in slots[:MOST_SLOTS]:
        colour = colours.get((slot.name, slot.lower))
        x, y = frame.x(slot.lower), frame.y(slot.offset + slot.size)
        width, height = frame.x(slot.upper) - x, frame.y(slot.offset) - y
        style = f"slot {_style(colour)}" + (" edge" if width > 4 and height > 3 else "")
        told = f"{quoted(slot.name)}\n{format_bytes(slot.size)} at {slot.offset}, #{slot.lower} to #{slot.upper - 1}"
        parts.append(
            f'<rect class="{style}" x="{x}" y="{y}" width="{width:.2f}" '
            f'height="{height:.2f}"><title>{told}</title></rect>'
        )
        if height > 13:
            parts.append(_name(slot.name, width, x + width / 2, y + height / 2, on_rest=colour is None))
    parts += _limits(frame, view)
    return _svg(frame, parts, "Places of tensors in memory over time")


def _limits(frame: Frame, view: MemoryView) -> Iterator[str]:
    """The end of the arena, and the peak, below which no plan gets."""
    left, right, top = frame.left, frame.width - frame.right, frame.y(view.arena)
    limits = [("arena", view.arena, right - 4, "end"), ("peak: no plan needs less", view.peak_bytes, left + 4, "start")]
    for what, count, x, anchor in limits[: 1 + (view.peak_bytes < view.arena)]:
        y = frame.y(count)
        above = top if y - top < 20 else y  # between two near lines there is no room, and below them are slots
        yield f'<line class="limit" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>'
        yield f'<text class="mark" x="{x}" y="{above - 5}" text-anchor="{anchor}">{what} ({format_bytes(count)})</text>'


def _style(colour: int | None) -> str:
    return "rest" if colour is None else f"c{colour}"


def _told(view: MemoryView, block: Block) -> str:
    return f"{block.name}\n{block.what}, {format_bytes(block.size)}, #{block.birth} to #{block.death - 1}"


def _area(frame: Frame, run: Sequence[Step], style: str, told: str) -> str:
    there = [p for s in run for p in ((frame.x(s.first), frame.y(s.high)), (frame.x(s.last), frame.y(s.high)))]
    back = [p for s in reversed(run) for p in ((frame.x(s.last), frame.y(s.low)), (frame.x(s.first), frame.y(s.low)))]
    points = " ".join(f"{x:g},{y:g}" for x, y in (*there, *back))
    title = "\n".join(quoted(line) for line in told.split("\n"))
    return f'<polygon class="{style}" points="{points}"><title>{title}</title></polygon>'


def _line(frame: Frame, run: Sequence[Step]) -> str:
    points = " ".join(f"{frame.x(e):g},{frame.y(s.high):g}" for s in run for e in (s.first, s.last))
    return f'<polyline class="total" points="{points}"/>'


def _label(frame: Frame, block: Block, steps: Sequence[Step]) -> str:
    """The name in the widest piece of the area, where it has room."""
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
    """A name in a place of some width, empty where it has no room."""
    room = int(width / CHARACTER) - 1
    if room < min(LEAST_LABEL, len(name)):
        return ""
    style = "name soft" if on_rest else "name"
    text = quoted(name, room)
    return f'<text class="{style}" x="{x:.2f}" y="{y + 4:.2f}" text-anchor="middle">{text}</text>'


def _hovers(frame: Frame, view: MemoryView, drawn: Sequence[Column]) -> Iterator[str]:
    """One strip over each column, above the areas' tops only, so that both can be pointed at."""
    for column in drawn:
        x, width = frame.x(column.first), frame.x(column.last) - frame.x(column.first)
        top = frame.y(view.totals[column.at])
        told = quoted(f"{view.at(column.at)}: {format_bytes(view.totals[column.at])} in use", 200)
        for y, height in ((frame.above, top - frame.above), (frame.base, 22)):
            yield (
                f'<rect class="hover" x="{x:g}" y="{y:g}" width="{width:.2f}" height="{height:.2f}">'
                f"<title>{told}</title></rect>"
            )


def _peak(frame: Frame, view: MemoryView) -> Iterator[str]:
    if not view.moments:
        return
    x, y = frame.x(view.peak + 0.5), frame.y(view.peak_bytes)
    end = x > frame.width / 2
    text = quoted(view.headline, int(max(x, frame.width - x) / BOLD) - 1)
    yield f'<line class="peak" x1="{x}" x2="{x}" y1="{frame.above - 12}" y2="{frame.base}"/>'
    yield f'<circle class="dot" cx="{x}" cy="{y}" r="4"/>'
    place = f'x="{x - 7 if end else x + 7}" y="{frame.above - 14}" text-anchor="{"end" if end else "start"}"'
    yield f'<text class="mark" {place}>{text}</text>'


def _svg(frame: Frame, parts: Sequence[str], label: str) -> str:
    body = "\n".join(filter(None, parts))
    return f'<svg viewBox="0 0 {frame.width} {frame.height}" role="img" aria-label="{label}">\n{body}\n</svg>'
