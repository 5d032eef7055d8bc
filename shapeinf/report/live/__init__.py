"""One HTML page about a model, without network: it contains the shape program, so that all values follow the sizes.

`docs/report.md` describes the page. The scripts and the style are files of this folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.formats.files import write_text
from shapeinf.memory import Memory
from shapeinf.report.live.data import LiveData, LiveSource
from shapeinf.report.live.page import StaticReport, render_page
from shapeinf.result import Result
from shapeinf.sharing import hold_locks

__all__ = ["render_report", "save_report"]


def render_report(
    result: Result,
    *,
    title: str = "",
    sizes: Mapping[str, int] | None = None,
    diagnostics: Sequence[Diagnostic] | None = None,
    memory: Memory | None = None,
) -> str:
    """The page of a model as text; arguments as for `save_report`."""
    memory = memory or result.memory()
    with hold_locks(result.engine.lock, memory.store.scope.lock), pause_garbage_collection():
        data = LiveData(LiveSource(result, memory, sizes or {}))
        reported = result.diagnostics if diagnostics is None else diagnostics
        report = StaticReport(title or result.graph.name or "Model", data, reported, result.unknowns())
        return render_page(report)


def save_report(
    result: Result,
    path: str | os.PathLike[str],
    *,
    title: str = "",
    sizes: Mapping[str, int] | None = None,
    diagnostics: Sequence[Diagnostic] | None = None,
    memory: Memory | None = None,
) -> None:
    """Write a model as one HTML page without network; the file appears whole or not at all.

    Args:
        result: the inference.
        path: the file.
        title: the heading; by default the name of the graph.
        sizes: the sizes that the page starts with, by dim; the other dims start with a legal size.
        diagnostics: the findings to list, such as those of `shapeinf.checks.check`; by default those of the inference.
        memory: the memory to show; by default `result.memory()`.

    Raises UnknownNameError for a name in `sizes` that no dim has, LimitError when functions and bodies expand to too
    many nodes, OSError where the file cannot be written.

    >>> from shapeinf import infer_shapes
    >>> result = infer_shapes("examples/decoder.onnx")
    >>> save_report(result, "report.html", sizes={"seq": 128})  # doctest: +SKIP
    """
    page = render_report(result, title=title, sizes=sizes, diagnostics=diagnostics, memory=memory)
    write_text(path, page)
