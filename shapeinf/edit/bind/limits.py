"""Ranges of dims that are wider than what the graph demands of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import Source
from shapeinf.expr import Dimension
from shapeinf.expr.interval import as_interval
from shapeinf.lattice import ShapeStore
from shapeinf.result import Result

if TYPE_CHECKING:
    from shapeinf.contract import Precondition

MAX_VALUES_TRIED = 4096


def too_wide(result: Result, ranges: Mapping[str, tuple[int | None, int | None]]) -> Iterator[Diagnostic]:
    """A finding for each range that has values with which the graph cannot run."""
    store, setup = result.store, result.inference.setup
    for name in ranges:
        symbol = store.scope.symbol(name)
        given, left = setup.bounds(symbol), store.bounds(symbol)
        if left != given and not _source(store, symbol).assumed:
            message = f"{name} is to be {as_interval(given)}, but the graph runs only where it is {as_interval(left)}"
            source = _source(store, symbol)
            yield _finding(result, message, source.node, source.reason)
            continue
        for condition in result.contract.always:
            bad = None if condition.kind == "assumption" else _counterexample(store, condition, symbol)
            if bad is not None:
                message = f"{name} is to be {as_interval(given)}, but the graph does not run where it is {bad}"
                yield _finding(result, f"{message}: {condition.text}", condition.node, condition.message)
                break


def _counterexample(store: ShapeStore, condition: Precondition, symbol: Dimension) -> int | None:
    """The first value of the symbol within its bounds with which a condition on it alone does not hold."""
    if condition.free != {symbol}:
        return None
    low, high = store.bounds(symbol)
    first = 0 if low == -inf else int(low)
    last = first + MAX_VALUES_TRIED - 1 if high == inf else min(int(high), first + MAX_VALUES_TRIED - 1)
    return next((v for v in range(first, last + 1) if condition.holds({symbol.name: v}) is False), None)


def _source(store: ShapeStore, symbol: Dimension) -> Source:
    """Who solved a symbol, or else narrowed it."""
    if symbol in store.sources:
        return store.sources[symbol]
    return store.ranges[symbol.atom].source


def _finding(result: Result, message: str, node: str, reason: str) -> Diagnostic:
    """An error at the node that demands it."""
    program = result.inference.program
    sites = (program.step(place) for place in range(len(program.rows)))
    op = next((str(step.operation) for step in sites if step.site == node), "")
    return Diagnostic("error", "S140", message, node, op, (), reason, location=result.graph.locations.get(node, ""))
