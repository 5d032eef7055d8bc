"""Where a graph demands more of dims than the user gives them: broken laws, and ranges that are too wide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import inf

from shapeinf.algebra import Dim, Dimension, evaluate
from shapeinf.algebra.interval import as_interval
from shapeinf.driver.diagnostics import Diagnostic
from shapeinf.driver.inference import Inference
from shapeinf.errors import Source
from shapeinf.lattice import ShapeFacts

MAX_VALUES_TRIED = 4096

Holds = Callable[[int], bool]
Condition = tuple[Dim, Holds, str, Source]
"""An expression, whether a value of it is legal, the condition as text, and who demands it."""


def too_wide(inference: Inference, ranges: Mapping[str, tuple[int | None, int | None]]) -> Iterator[Diagnostic]:
    """A finding for each range that has values with which the graph cannot run."""
    facts, setup = inference.facts, inference.setup
    for name in ranges:
        symbol = facts.scope.symbol(name)
        given, left = setup.bounds(symbol), facts.bounds(symbol)
        if left != given and not _source(facts, symbol).assumed:
            law = f"{name} is to be {as_interval(given)}, but the graph runs only where it is {as_interval(left)}"
            yield _finding(inference, law, _source(facts, symbol))
            continue
        for expression, holds, text, source in _conditions(inference):
            bad = _counterexample(facts, expression, holds, symbol)
            if bad is not None:
                law = f"{name} is to be {as_interval(given)}, but the graph does not run where it is {bad}: {text}"
                yield _finding(inference, law, source)
                break


def _conditions(inference: Inference) -> Iterator[Condition]:
    """The divisibilities, relations and equations that nodes demand and that are not decided."""
    facts, setup = inference.facts, inference.setup
    for one in facts.divisibilities:
        if one not in setup.divisibilities and not one.source.assumed:
            e, divisor = facts.canon(one.expression), one.divisor
            yield e, partial(_divides, divisor), f"({e}) % {divisor} == 0", one.source
    for relation in facts.relations:
        if relation not in setup.relations and not relation.source.assumed:
            e = facts.canon(relation.expression)
            yield e, lambda value: value >= 0, f"{e} >= 0", relation.source
    for guard in facts.guards:
        if guard.equation is not None and guard not in setup.guards and not guard.source.assumed:
            e = facts.canon(guard.equation)
            yield e, lambda value: value == 0, f"{e} == 0", guard.source


def _divides(divisor: int, value: int) -> bool:
    return value % divisor == 0


def _counterexample(facts: ShapeFacts, expression: Dim, holds: Holds, symbol: Dimension) -> int | None:
    """The first value of the symbol within its bounds with which a condition on it alone does not hold."""
    if isinstance(expression, int) or expression.symbols() != {symbol}:
        return None
    low, high = facts.bounds(symbol)
    first = 0 if low == -inf else int(low)
    last = first + MAX_VALUES_TRIED - 1 if high == inf else min(int(high), first + MAX_VALUES_TRIED - 1)
    return next((v for v in range(first, last + 1) if not holds(evaluate(expression, {symbol.name: v}))), None)


def _source(facts: ShapeFacts, symbol: Dimension) -> Source:
    """Who solved a symbol, or else narrowed it."""
    if symbol in facts.sources:
        return facts.sources[symbol]
    return facts.ranges[symbol.terms[0][0][0]].source


def _finding(inference: Inference, law: str, source: Source) -> Diagnostic:
    """An error at the node that demands it."""
    program = inference.program
    sites = (program.step(place) for place in range(len(program.rows)))
    op = next((str(step.operation) for step in sites if step.site == source.node), "")
    at = program.graph.locations.get(source.node, "")
    return Diagnostic("error", "S140", law, source.node, op, (), source.reason, location=at)
