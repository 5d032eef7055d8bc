"""Memory over time as one self-contained page: inline SVG, tables, no scripts; light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shapeinf.report.memory_svg import draw_areas, draw_plan, near_peak, quote_text
from shapeinf.report.memory_view import Block, MemoryView
from shapeinf.texts import exact_bytes, format_bytes, format_count

COLORS = (
    "#4e79a7",
    "#f28e2b",
    "#59a14f",
    "#e15759",
    "#76b7b2",
    "#edc948",
    "#b07aa1",
    "#ff9da7",
    "#9c755f",
    "#7b86c6",
)
"""The colors of the named tensors, in the order of `MemoryView.named_blocks`."""

ROWS = 40
"""Rows of a table; the others are counted in one row."""

_STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --back: #ffffff; --rest: #c4cad1;
  --mark: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9198a1; --line: #3d444d; --back: #0d1117; --rest: #4b535d; --mark: #ff8a80; } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 24px auto;
  max-width: 1160px; padding: 0 16px; }
h1 { font-size: 20px; margin: 0 0 4px; overflow-wrap: anywhere; } h2 { font-size: 16px; margin: 28px 0 8px; }
p { margin: 4px 0; } .soft { color: var(--soft); } .warn { color: var(--mark); }
.wide { overflow-x: auto; } svg, table { min-width: 680px; }
svg { width: 100%; height: auto; display: block; } svg text { font: 12px system-ui, sans-serif; fill: var(--text); }
svg .tick, svg .axis { fill: var(--soft); } svg .name { fill: #111; font-size: 11px; pointer-events: none; }
svg .name.soft { fill: var(--text); }
svg .mark { fill: var(--mark); font-weight: 600; paint-order: stroke; stroke: var(--back); stroke-width: 4px; }
.grid { stroke: var(--line); stroke-width: 1; }
.total { fill: none; stroke: var(--text); stroke-width: 1; pointer-events: none; } .rest { fill: var(--rest); }
.peak { stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 4 3; pointer-events: none; }
.dot { fill: var(--mark); } .hover { fill: transparent; } .hover:hover { fill: var(--line); fill-opacity: .6; }
polygon:hover, .slot:hover { fill-opacity: .75; } .edge { stroke: var(--back); stroke-width: .6; }
.limit { stroke: var(--mark); stroke-dasharray: 4 3; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: 3px 10px 3px 0;
  border-bottom: 1px solid var(--line); vertical-align: top; } th { color: var(--soft); font-weight: 500; }
td.n, th.n { text-align: right; padding-right: 20px; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.t { overflow-wrap: anywhere; } .key { display: inline-block; width: 11px; height: 11px; border-radius: 2px; }
"""


def memory_page(view: MemoryView) -> str:
    """The page as text."""
    title = quote_text(f"Memory over time: {view.title}" if view.title else "Memory over time")
    body = "\n".join(_body(view, title))
    colors = "".join(
        f"svg .c{i} {{ fill: {color}; }} .key.c{i} {{ background: {color}; }}\n" for i, color in enumerate(COLORS)
    )
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    style = f"<style>{_STYLE}{colors}.key.rest {{ background: var(--rest); }}</style>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}{style}</head>\n<body>\n{body}\n</body></html>\n'


def _body(view: MemoryView, title: str) -> Iterator[str]:
    yield f"<h1>{title}</h1>"
    if view.sizes:
        yield f'<p class="soft">at {quote_text(view.sizes, 400)}</p>'
    if not view.points:
        yield "<p>The graph has no nodes.</p>"
        return
    yield (
        f"<p><b>Peak {view.peak_as(exact_bytes)}</b> at {quote_text(view.at(view.peak), 160)}, "
        f"of {format_count(len(view.points), 'node')} and {format_count(len(view.blocks), 'tensor')}. "
        f"Not counted: weights {format_bytes(view.apart['weight'])}, inputs {format_bytes(view.apart['input'])}.</p>"
    )
    if view.unknown:
        unknown = format_count(len(view.unknown), "tensor")
        yield f'<p class="warn">Not counted either: {unknown} of unknown size, listed below.</p>'
    yield _scrollable(draw_areas(view))
    window = near_peak(view)
    if window is not None:
        yield f"<h2>Around the peak: #{window[0]} to #{window[-1]}</h2>"
        yield _scrollable(draw_areas(view, window))
    if view.slots:
        yield f"<h2>The plan: {format_bytes(view.arena)} for {format_count(len(view.slots), 'tensor')}</h2>"
        yield _scrollable(draw_plan(view))
    yield from _tables(view)


def _tables(view: MemoryView) -> Iterator[str]:
    alive = view.alive(view.peak)
    yield f"<h2>Live at the peak: {len(alive)} of {len(view.blocks)}</h2>"
    yield from _table(view, alive)
    others = [block for block in view.named_blocks if not block.birth <= view.peak < block.death]
    if others:
        yield "<h2>Largest other tensors</h2>"
        yield from _table(view, others)
    if view.unknown:
        yield f"<h2>Without a known size: {len(view.unknown)}</h2>"
        yield "<div class='wide'><table><tr><th>tensor</th><th>why</th></tr>"
        for name, cause in view.unknown[:ROWS]:
            yield f'<tr><td class="t">{quote_text(name, 300)}</td><td class="t">{quote_text(cause, 300)}</td></tr>'
        yield _remaining_row(len(view.unknown), "")
        yield "</table></div>"


def _table(view: MemoryView, blocks: Sequence[Block]) -> Iterator[str]:
    colors = {id(block): f"c{i}" for i, block in enumerate(view.named_blocks)}
    yield (
        '<div class="wide"><table><tr><th></th><th>tensor</th><th>type</th><th class="n">bytes</th>'
        '<th class="n">of the peak</th><th>in use from</th><th class="n">to</th></tr>'
    )
    for block in blocks[:ROWS]:
        share = 100 * block.size / max(view.peak_bytes, 1)
        least = "at least " if block.at_least else ""
        yield (
            f'<tr><td><span class="key {colors.get(id(block), "rest")}"></span></td>'
            f'<td class="t">{quote_text(block.name, 300)}</td><td class="t">{quote_text(block.type)}</td>'
            f'<td class="n" title="{block.size:,}">{least}{format_bytes(block.size)}</td>'
            f'<td class="n">{share:.1f}%</td>'
            f'<td class="t">{quote_text(view.at(block.birth), 160)}</td><td class="n">#{block.death - 1}</td></tr>'
        )
    yield _remaining_row(len(blocks), f", {format_bytes(sum(b.size for b in blocks[ROWS:]))} together")
    yield "</table></div>"


def _scrollable(drawing: str) -> str:
    """A drawing that a narrow screen scrolls instead of shrinking."""
    return f'<div class="wide">{drawing}</div>'


def _remaining_row(count: int, sizes: str) -> str:
    return f'<tr><td></td><td colspan="6">and {count - ROWS} more{sizes}</td></tr>' if count > ROWS else ""
