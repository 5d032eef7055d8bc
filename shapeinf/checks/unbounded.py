"""Sizes without an upper bound, and the node that loses it."""

from __future__ import annotations

from collections.abc import Iterator

from shapeinf.checks.registry import register_check
from shapeinf.checks.subject import CheckedModel
from shapeinf.diagnostics import Diagnostic
from shapeinf.expr import Dimension


@register_check(
    "C140",
    "note",
    "a tensor without an upper bound though all inputs have one",
    "The node is the one that loses the bound.",
)
def unbounded(subject: CheckedModel) -> Iterator[Diagnostic]:
    """The first tensor of each unknown that has no upper bound; nothing when an input has none either."""
    if any(subject.store.interval(symbol).hi is None for symbol in subject.axes):
        return
    seen: set[Dimension] = set()
    for tensor, node in subject.makers.items():
        for axis, dim in enumerate(subject.result.tensors[tensor].shape.dims or ()):
            if not isinstance(dim, Dimension):
                continue
            lost = {s for s in dim.symbols() if subject.store.interval(s).hi is None}
            if lost - seen and subject.store.interval(dim).hi is None:
                message = f"{tensor}.shape[{axis}] has no upper bound, though all inputs have one"
                yield Diagnostic("note", "C140", message, node, subject.op(node), tensor=tensor, axis=axis)
            seen |= lost
