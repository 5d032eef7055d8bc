"""Memory over time as a PNG, drawn by matplotlib, which is an extra."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from shapeinf.errors import MissingPackageError
from shapeinf.formats.files import replace_file
from shapeinf.report.memory_picture import COLORS
from shapeinf.report.memory_svg import X_LABEL, near_peak
from shapeinf.report.memory_view import AreaStep, MemoryView, areas, columns
from shapeinf.texts import axis_ticks, byte_ticks, format_bytes, shorten_text

REST = "#c4cad1"
MARK = "#b3261e"
MAX_NAME = 44
"""Characters of a name in the legend."""


def save_png(view: MemoryView, path: str | os.PathLike[str]) -> None:
    """Draw a view into a file: the areas over time, and the plan below them where there is one.

    Raises MissingPackageError without matplotlib.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackageError("a PNG", "matplotlib", "png") from error
    window = near_peak(view)
    count = 1 + (window is not None) + bool(view.slots)
    figure = Figure(figsize=(13, 0.6 + 4.4 * count), layout="constrained")
    FigureCanvasAgg(figure)
    rows = list(figure.subplots(count, 1, squeeze=False)[:, 0])
    _draw_areas(rows.pop(0), view, range(len(view.points)))
    if window is not None:
        _draw_areas(rows.pop(0), view, window)
    if view.slots:
        _draw_plan(rows.pop(0), view)
    title = " at ".join(filter(None, (view.title, view.sizes)))
    if title:
        figure.suptitle(_text(f"Memory over time: {title}", 120), fontsize=13)
    with replace_file(os.fspath(path)) as file:
        figure.savefig(file, format="png", dpi=110)


def _draw_areas(axes: Any, view: MemoryView, window: range) -> None:
    full = len(window) == len(view.points)
    drawn = columns(view, window)
    named, rest = areas(view, drawn)
    steps_of = {id(block): steps for block, steps in named}
    for block, color in zip(view.named_blocks, COLORS, strict=False):
        _fill(axes, steps_of[id(block)], color, f"{format_bytes(block.size)}  {_text(block.name, MAX_NAME)}")
    _fill(axes, rest, REST, "all others")
    if window:
        axes.axvline(view.peak + 0.5, color=MARK, linestyle="--", linewidth=1)
        axes.plot([view.peak + 0.5], [view.peak_bytes], "o", color=MARK, markersize=5)
        title = view.headline if full else f"around the peak: #{window[0]} to #{window[-1]}"
        axes.set_title(_text(title, 110), color=MARK, fontsize=11)
    if full:
        axes.legend(loc="center left", bbox_to_anchor=(1.005, 0.5), fontsize=8, frameon=False)
    _axes(axes, window, view.peak_bytes)


def _fill(axes: Any, steps: Sequence[AreaStep], color: str, label: str) -> None:
    """Draw steps as one collection of rectangles."""
    from matplotlib.collections import PolyCollection

    corners = [((s.first, s.low), (s.last, s.low), (s.last, s.high), (s.first, s.high)) for s in steps]
    axes.add_collection(PolyCollection(corners, facecolors=color, edgecolors=color, linewidths=0.2, label=label))


def _draw_plan(axes: Any, view: MemoryView) -> None:
    colors = {(block.name, block.birth): COLORS[i] for i, block in enumerate(view.named_blocks)}
    groups: dict[str, list[AreaStep]] = {}
    for slot in view.slots:
        step = AreaStep(slot.lower, slot.upper, slot.offset, slot.offset + slot.size)
        groups.setdefault(colors.get((slot.name, slot.lower), REST), []).append(step)
    for color, steps in groups.items():
        _fill(axes, steps, color, "")
    axes.axhline(view.arena, color=MARK, linestyle="--", linewidth=1)
    axes.set_title(f"the plan: {format_bytes(view.arena)}", color=MARK, fontsize=11)
    _axes(axes, range(len(view.points)), view.arena)


def _axes(axes: Any, window: range, limit: int) -> None:
    marks = byte_ticks(limit)
    axes.set_xlim(window.start, max(window.stop, 1))
    axes.set_ylim(0, max(limit * 1.04, 1))
    axes.set_yticks(
        [mark for mark in marks if mark <= limit * 1.04], [format_bytes(m) for m in marks if m <= limit * 1.04]
    )
    points = axis_ticks(window)
    axes.set_xticks([point + 0.5 for point in points], [str(point) for point in points])
    axes.set_xlabel(X_LABEL)
    axes.grid(axis="y", color="#d1d9e0", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _text(text: str, limit: int) -> str:
    """A shortened text with `$` escaped, which begins a formula in matplotlib."""
    return shorten_text(text, limit).replace("$", r"\$")
