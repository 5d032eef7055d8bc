"""Requested ranges of dims that contain illegal sizes."""

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
from shapeinf.solver.budget import Budget

if TYPE_CHECKING:
    from shapeinf.contract import Precondition

MAX_TESTED_VALUES = 4096
"""The most sizes of a range that are tested, from the smallest on."""


def check_ranges(result: Result, ranges: Mapping[str, tuple[int | None, int | None]]) -> Iterator[Diagnostic]:
    """A diagnostic (S140) for each range that contains illegal values."""
    store, initial_store = result.engine.store, result.engine.inference.initial_store
    for name in ranges:
        symbol = store.scope.symbol(name)
        requested, legal = initial_store.bounds(symbol), store.bounds(symbol)
        if legal != requested and not _source(store, symbol).assumed:
            message = f"{name} is requested as {as_interval(requested)}, but the graph requires {as_interval(legal)}"
            source = _source(store, symbol)
            yield _report(result, message, source.node, source.reason)
            continue
        for precondition in result.contract.always:
            illegal = None if precondition.kind == "assumption" else _counterexample(store, precondition, symbol)
            if illegal is not None:
                message = f"{name} is requested as {as_interval(requested)}, but the graph fails where it is {illegal}"
                condition = precondition.with_sizes(store, Budget()).legal
                yield _report(result, f"{message}: {condition}", precondition.node, precondition.message)
                break


def _counterexample(store: ShapeStore, precondition: Precondition, symbol: Dimension) -> int | None:
    """The first tested size of a symbol that violates a precondition on it alone; None where there is none."""
    if precondition.free_symbols != {symbol}:
        return None
    low, high = store.bounds(symbol)
    first = 0 if low == -inf else int(low)
    last = first + MAX_TESTED_VALUES - 1 if high == inf else min(int(high), first + MAX_TESTED_VALUES - 1)
    return next((v for v in range(first, last + 1) if precondition.holds({symbol.name: v}) is False), None)


def _source(store: ShapeStore, symbol: Dimension) -> Source:
    """The source that solved a symbol, or else narrowed it."""
    if symbol in store.sources:
        return store.sources[symbol]
    return store.ranges[symbol.atom].source


def _report(result: Result, message: str, node: str, reason: str) -> Diagnostic:
    """An error (S140) at a node."""
    compiled = result.engine.inference.compiled
    steps = map(compiled.step, range(len(compiled.rows)))
    op = next((str(step.operation) for step in steps if step.node_name == node), "")
    return Diagnostic("error", "S140", message, node, op, because=reason, location=result.graph.locations.get(node, ""))
