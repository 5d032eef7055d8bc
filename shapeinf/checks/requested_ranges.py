"""Checks of the ranges that the user requests: sizes in them that a node does not allow."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from shapeinf.checks.axes import over_constrained_axes
from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.registry import register_check
from shapeinf.contract import Precondition
from shapeinf.diagnostics import Diagnostic
from shapeinf.expr import Dimension, Interval


@register_check(
    "C106",
    "warning",
    "a requested range that a node does not allow",
    "A bound of --dim or of a config is outside of what the graph requires. A range from 1 on does not count as a "
    "bound below.",
    static=True,
)
def forbidden_sizes(model: CheckedModel) -> Iterator[Diagnostic]:
    """The tightest bound of each dim for which the user requests a range with sizes outside of it."""
    for precondition in model.result.contract.always if model.ranges else ():
        symbol = precondition.terms[0] if precondition.kind == "range" else None
        if isinstance(symbol, Dimension) and symbol in model.axes and model.symbol_text(symbol) in model.ranges:
            yield from _report(model, symbol, precondition)


def _report(model: CheckedModel, symbol: Dimension, precondition: Precondition) -> Iterator[Diagnostic]:
    least, most = model.initial_store.bounds(symbol)
    too_large = precondition.least is None and precondition.bound is not None and precondition.bound < most < inf
    too_small = precondition.least is not None and precondition.least > least > 1
    if (too_large or too_small) and not _is_reported(model, precondition):
        name, node = model.symbol_text(symbol), precondition.node
        requested = Interval(int(least), None if most == inf else int(most))
        allowed = (
            Interval(requested.lo, precondition.bound) if too_large else Interval(precondition.least, requested.hi)
        )
        message = f"{name} is requested as {requested}, but the graph requires {precondition.text}"
        yield Diagnostic(
            "warning",
            "C106",
            message,
            node,
            model.op(node),
            because=precondition.message,
            help=f"request {name} as {allowed}",
            location=model.location(node),
        )


def _is_reported(model: CheckedModel, precondition: Precondition) -> bool:
    """Whether C101 reports the node, because few sizes remain."""
    return any(diagnostic.node == precondition.node for diagnostic in over_constrained_axes(model))
