"""Checks of the contract that a file states."""

from __future__ import annotations

from collections.abc import Iterator

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.registry import register_check
from shapeinf.contract.stored import parse_contract, stored_text
from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import ModelError
from shapeinf.graph.digest import graph_digest


@register_check(
    "C164",
    "warning",
    "a stored contract that differs from the contract of the graph",
    "The graph was changed after `infer --contract` stored the contract, or its text is malformed.",
    static=True,
)
def stale_contract(model: CheckedModel) -> Iterator[Diagnostic]:
    """The stored contract, if it is malformed or was stored for another graph."""
    source = model.graph.source
    if source is None or model.result.values:  # values replace the defaults of inputs in the graph
        return
    try:
        text = stored_text(model.graph, source)
        stored = None if text is None else parse_contract(text, source)
    except (ModelError, OSError) as error:
        cause = error.cause if isinstance(error, ModelError) else str(error)
        yield Diagnostic("warning", "C164", f"the stored contract cannot be read: {cause}")
        return
    digest = "" if stored is None else graph_digest(model.graph)
    if stored is not None and digest and digest != stored.digest:
        advice = "store it again: shapeinf infer MODEL -o OUT --contract"
        yield Diagnostic("warning", "C164", "the stored contract is that of another graph", help=advice)
