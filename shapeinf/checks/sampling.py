"""Sizes to try: bindings of symbols under which everything known holds, to show a claim by an example."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Mapping

from shapeinf.algebra import Dim, Dimension, evaluate
from shapeinf.algebra.told import Guard
from shapeinf.lattice import ShapeFacts

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 32, 48, 64, 96, 128, 224, 256, 384, 512)
FEW = (1, 2, 3, 8, 16, 32, 64, 224, 256)
MAX_TRIED = 4096
MOST = 512
"""The largest size that is tried, unless ranges start above it."""
LARGE = 32
"""From here on a single size is tried at every number, and sizes are not small any more."""

Binding = dict[str, int]


def value(dim: Dim, binding: Mapping[str, int]) -> int | None:
    """The size under a binding; None where it has none."""
    try:
        return int(evaluate(dim, binding))
    except (KeyError, ZeroDivisionError, OverflowError):
        return None


def operands(facts: ShapeFacts, guard: Guard) -> tuple[Dim, ...]:
    """The dims that a kept condition is about, in the forms that they have today."""
    kept = guard.operands if guard.equation is None else (guard.equation,)
    return tuple(facts.canon(dim) for dim in kept)


def holds(facts: ShapeFacts, guard: Guard, binding: Mapping[str, int]) -> bool | None:
    """Whether a kept condition holds under a binding; None where that cannot be told."""
    sizes = [value(operand, binding) for operand in operands(facts, guard)]
    if guard.equation is not None:
        return None if sizes[0] is None else sizes[0] == 0
    if not sizes or None in sizes:
        return None
    try:
        return _truth(ast.parse(guard.template.format(*sizes), mode="eval").body)
    except (SyntaxError, ValueError):
        return None


def _truth(tree: ast.expr) -> bool:
    """The truth of `1 == 2 or 1 == 1`; ValueError for anything but comparisons of numbers joined by and, or."""
    if isinstance(tree, ast.BoolOp):
        parts = [_truth(part) for part in tree.values]
        return any(parts) if isinstance(tree.op, ast.Or) else all(parts)
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1:
        a, b = ast.literal_eval(tree.left), ast.literal_eval(tree.comparators[0])
        outcomes = {ast.Eq: a == b, ast.NotEq: a != b, ast.LtE: a <= b, ast.GtE: a >= b, ast.Lt: a < b, ast.Gt: a > b}
        return bool(outcomes[type(tree.ops[0])])
    raise ValueError("no condition on numbers")


def bindings(facts: ShapeFacts, symbols: Iterable[Dimension], least: int = 0) -> Iterator[Binding]:
    """Bindings of symbols within their ranges (and at least `least`), small sizes and powers of two first."""
    chosen = sorted(symbols, key=str)
    sizes = [_sizes(facts, symbol, least, SIZES if len(chosen) < 3 else FEW, len(chosen) == 1) for symbol in chosen]
    for values in itertools.islice(itertools.product(*sizes), MAX_TRIED):
        yield dict(zip((symbol.name for symbol in chosen), values, strict=True))


def _sizes(facts: ShapeFacts, symbol: Dimension, least: int, sizes: tuple[int, ...], alone: bool) -> list[int]:
    bounds = facts.interval(symbol)
    lo = max(least, bounds.lo or 0)
    found = {size for size in sizes if size >= lo} | {lo, lo + 1, lo + 7}
    if alone and least >= LARGE:
        found.update(range(least, MOST + 1))
    return sorted(size for size in found if bounds.hi is None or size <= bounds.hi)


def legal(facts: ShapeFacts, symbols: Iterable[Dimension]) -> Iterator[Binding]:
    """Bindings under which all that is known of these symbols holds; what is about others too is left out."""
    wanted = set(symbols)
    names = {symbol.name for symbol in wanted}
    guards = [g for g in facts.guards if _inside(facts, g, names)]
    relations = [r.expression for r in facts.relations if _names(r.expression) <= names]
    factors = [(d.expression, d.divisor) for d in facts.divisibilities if _names(d.expression) <= names]
    for binding in bindings(facts, wanted):
        if (
            all((value(e, binding) or 0) >= 0 for e in relations)
            and all((value(e, binding) or 0) % divisor == 0 for e, divisor in factors)
            and all(holds(facts, guard, binding) is not False for guard in guards)
        ):
            yield binding


def _names(dim: Dim) -> set[str]:
    return set() if isinstance(dim, int) else {s.name for s in dim.symbols()}


def _inside(facts: ShapeFacts, guard: Guard, names: set[str]) -> bool:
    found = {name for dim in operands(facts, guard) for name in _names(dim)}
    return bool(found) and found <= names
